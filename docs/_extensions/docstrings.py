"""Make reStructuredText of docstrings that are written to be read in a terminal.

An indented paragraph is a formula and is typeset; a name in single backticks is code, and a link where it is public;
signs that mean something in reStructuredText alone are taken as they stand.
"""

import re
from collections.abc import Iterator
from typing import Any

from formulas import latex
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

import retrieval_metrics

logger = getLogger(__name__)

SECTION = re.compile(r"^(Args|Attributes|Example|Examples|Raises|Returns|Yields|Source|Sources):\s*$")
ITEM = re.compile(r"\s*[*-] ")
SYMBOL = re.compile(r"(?P<formula>(?<![\w:])(?:[A-Za-z]_[a-z]|2\^\w)(?!\w))|[*|]|(?<=\w)_(?!\w)|(?<=: )[A-Z]\. ")
START = re.compile(r"\s*(?:[*-] |(?<= )[A-Za-z]_[a-z]: )?")
"""What comes before the prose of a line; an attribute with the name of a symbol, such as p_t, is no formula."""
FIELD = "Alias for field number"
"""What Python says of a field of a named tuple."""
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def restructured(lines: list[str], name: str) -> Iterator[str]:
    """Yield the lines of a docstring as reStructuredText, still in Google style for napoleon."""
    in_section = in_example = in_formula = False
    previous = ""
    for line in _joined(lines):
        in_section = in_section or bool(SECTION.match(line))
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        in_formula = line.startswith("    ") and (in_formula or not (previous.strip() or in_section or in_example))
        if in_formula:
            yield from _typeset(line, name)
        else:
            yield line if in_example else _prose(line)
        previous = line


def _joined(lines: list[str]) -> Iterator[str]:
    """Yield the lines with each item of a list, and each piece of code, in one, wherever the lines were broken."""
    pending = ""
    in_example = False
    for line in lines:
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        broken = not in_example and line.strip() and not ITEM.match(line)
        if pending and broken and (ITEM.match(pending) or pending.count("`") % 2):
            pending += f" {line.strip()}"
            continue
        if pending:
            yield pending
        pending = ""
        if not in_example and (ITEM.match(line) or line.count("`") % 2):
            pending = line
        else:
            yield line
    if pending:
        yield pending


def _typeset(line: str, name: str) -> list[str]:
    try:
        return ["", f".. math:: {latex(line)}", ""]
    except ValueError as error:
        logger.warning("%s: %s", name, error)  # ends the build, as all warnings do
        return ["", "::", "", f"    {line}", ""]


def _prose(line: str) -> str:
    """Return a line with its code marked as code, and everything else as plain text."""
    start = START.match(line)
    indent = start[0] if start else ""
    parts = CODE.split(line[len(indent) :])
    parts[::2] = [SYMBOL.sub(_symbol, plain) for plain in parts[::2]]
    parts[1::2] = [_code(name) for name in parts[1::2]]
    return indent + "".join(parts)


def _symbol(match: re.Match[str]) -> str:
    return f":math:`{latex(match[0])}`" if match["formula"] else f"\\{match[0]}"


def _code(name: str) -> str:
    if name in retrieval_metrics.__all__:
        return f":py:obj:`{name} <retrieval_metrics.{name}>`"
    return f"``{name}``"


def _process(_app: Sphinx, object_type: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
    of_its_type = object_type == "data" and obj.__doc__ == type(obj).__doc__
    lines[:] = [] if of_its_type or FIELD in "".join(lines[:1]) else restructured(lines, name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Run before napoleon, which has the priority 500."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
