"""Let commands, sentences of printed output and long names in tables wrap, so that a phone need not scroll.

Tables of printed output stay as wide as they are: a line with two spaces in a row is taken for one of their rows.
"""

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from retrieval_metrics.cli.output import WIDTH

BLOCK = re.compile(
    r'(?P<head><div class="highlight-(?:text|console|sh) notranslate"><div class="highlight"><pre>(?:<span></span>)?)'
    r"(?P<printed>.*?)(?=</pre>)",
    re.DOTALL,
)
FITS = 40
"""Characters in a line of code on a narrow phone."""
ENDS = re.compile(r"(?<=\S)</span>$")
GOES_ON = re.compile(r'<span class="go">  (?=\S)')
"""How a line begins that may go on with the sentence of the line before."""
TAG = re.compile(r"<[^>]+>")
CELL = re.compile(r"(?<=<td>).*?(?=</td>)", re.DOTALL)
NAME = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)')
BREAK = re.compile(r"(?<=[_.(/])(?=[^\W\d])|(?<=[a-z])(?=[A-Z])")
SHORT = 14
"""Characters in a name that stays whole: a browser would break `--margin` after its hyphens."""


LONG = 40
"""Characters in a name that may break on a screen, too."""


def wrapping(printed: str) -> str:
    """Return the lines of a block, those that are sentences in a span that wraps."""
    lines: list[str] = []
    width = 0  # of the line before, as it was printed
    for line in printed.split("\n"):
        plain = html.unescape(TAG.sub("", line))
        word = plain.split(maxsplit=1)[0] if plain.strip() else ""
        # The command breaks a sentence where the next word has no place, and goes on two places to the right.
        broken = width <= WIDTH < width + 1 + len(word)
        starts = bool(lines) and not TAG.sub("", lines[-1]).startswith(" ")
        if starts and broken and ENDS.search(lines[-1]) and GOES_ON.match(line):
            lines[-1] = ENDS.sub(" ", lines[-1]) + GOES_ON.sub("", line)
        else:
            lines.append(line)
        width = len(plain)
    return "\n".join(f'<span class="sentence">{line}</span>' if is_sentence(line) else line for line in lines)


def is_sentence(line: str) -> bool:
    """Tell whether a line of HTML is long and is no row of a table."""
    text = html.unescape(TAG.sub("", line))
    return len(text) > FITS and "  " not in text.strip()


def breaking(cell: str) -> str:
    """Return a cell of a table whose short names stay whole, and whose long ones may break between their words."""
    return NAME.sub(_broken, cell)


def _broken(name: re.Match[str]) -> str:
    if len(html.unescape(name[0])) <= SHORT:
        return f'<span class="whole">{name[0]}</span>'
    return BREAK.sub('<wbr class="long">' if len(html.unescape(name[0])) > LONG else "<wbr>", name[0])


def _wrap(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None) -> None:
    if body := context.get("body"):
        body = BLOCK.sub(lambda match: match["head"] + wrapping(match["printed"]), body)
        context["body"] = CELL.sub(lambda match: breaking(match[0]), body)


def setup(app: Sphinx) -> dict[str, bool]:
    """Change a page after it is written as HTML."""
    app.connect("html-page-context", _wrap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
