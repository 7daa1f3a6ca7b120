"""Let the sentences of printed output wrap on the page, and leave its tables as wide as they are.

Only a line that is too long for a phone and has no two spaces in a row is wrapped: two or more separate columns.
"""

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

START = '<div class="highlight-text notranslate"><div class="highlight"><pre><span></span>'
BLOCK = re.compile(f"(?<={re.escape(START)})(.*?)(?=</pre>)", re.DOTALL)
FITS = 40
"""Characters in a line of code on a narrow phone."""


def wrapping(printed: str) -> str:
    """Return the lines of a block, those that are sentences in a span that wraps."""
    return "\n".join(
        f'<span class="sentence">{line}</span>' if is_sentence(html.unescape(line)) else line
        for line in printed.split("\n")
    )


def is_sentence(line: str) -> bool:
    """Tell whether a line is long and is no row of a table."""
    return len(line) > FITS and "  " not in line.strip()


def _wrap(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None) -> None:
    if body := context.get("body"):
        context["body"] = BLOCK.sub(lambda found: wrapping(found[1]), body)


def setup(app: Sphinx) -> dict[str, bool]:
    """Change a page after it is written as HTML."""
    app.connect("html-page-context", _wrap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
