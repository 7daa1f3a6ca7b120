"""Every message that the page of errors quotes is one that the source can say."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "guides" / "errors.md"
SECTIONS = re.split(r"^##+ ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
HEADINGS = re.findall(r"^### (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
OF_PYTHON = {"… got an unexpected keyword argument 'k'"}
"""The headings that Python itself says; the page is run, so they are still true."""
VALUE = "\0"
"""Stands in a message for what is only known when it is raised."""


@cache
def messages() -> tuple[str, ...]:
    """Return every text of the source as it reads in Python, with its values left open."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    said = (read(node) for node in nodes if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Constant))
    return tuple({text for text in said if text != VALUE})


def read(node: ast.expr) -> str:
    """Return what an expression says, as far as it is written down."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(read, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return read(node.left) + read(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "in_python":
        return read(node.args[0])  # the words for Python; the command line has others
    return VALUE


def may_be_said(heading: str) -> bool:
    """Return whether one text of the source has all the words of a heading in their order, and values between them."""
    pattern = re.compile(".*".join(re.escape(part.strip()) for part in heading.split("…")), flags=re.DOTALL)
    return any(pattern.search(said) and (VALUE in said or "…" not in heading) for said in messages())


def test_the_page_has_messages() -> None:
    assert len(HEADINGS) >= 30
    assert len(set(HEADINGS)) == len(HEADINGS)


@pytest.mark.parametrize("heading", [heading for heading in HEADINGS if heading not in OF_PYTHON])
def test_every_message_is_one_of_the_source(heading: str) -> None:
    assert may_be_said(heading)


@pytest.mark.parametrize("heading", HEADINGS)
def test_every_message_stands_below_code_that_leads_to_it(heading: str) -> None:
    (section,) = [one for one in SECTIONS if one.startswith(f"{heading}\n")]
    code, _, rest = section.partition("\n```\n\n```text\n")
    assert "\n```python" in code
    assert rest.partition("\n```\n")[2].lstrip().startswith("Instead")


def test_a_message_that_nobody_says_is_found() -> None:
    assert not may_be_said("nothing was received for … of … judged queries")
    assert not may_be_said("judged queries … nothing was retrieved")
