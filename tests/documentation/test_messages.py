"""Every message that the page of errors quotes is one that the source can say."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "guides" / "errors.md"
TEXT = PAGE.read_text(encoding="utf-8")
SHOWN = re.findall(r"^### (.+)$", TEXT, flags=re.MULTILINE)
"""The messages with code of their own."""
LISTED = re.findall(r"^\| (?!message|sentence|---)(.+?) \|", TEXT, flags=re.MULTILINE)
"""The messages in tables."""
OF_PYTHON = {"… got an unexpected keyword argument 'k'"}
"""What Python itself says."""
VALUE = "\0"
"""Stands in a message for what is only known when it is raised."""


@cache
def messages() -> tuple[str, ...]:
    """Return every text of the source as it reads in Python, with its values left open."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    texts = (read(node) for node in nodes if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Constant))
    return tuple({text for text in texts if text != VALUE})


def read(node: ast.expr) -> str:
    """Return what an expression says, as far as it is written down."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(map(read, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return read(node.left) + read(node.right)
    return VALUE


def words(message: str) -> re.Pattern[str]:
    """Return what finds the words of a message in their order, with values between them."""
    return re.compile(".*".join(re.escape(part.strip()) for part in message.split("…")), flags=re.DOTALL)


def may_be_said(message: str) -> bool:
    """Return whether one text of the source has all the words of a message."""
    return any(words(message).search(text) and (VALUE in text or "…" not in message) for text in messages())


def test_the_page_has_messages() -> None:
    assert len(SHOWN) >= 5
    assert len(SHOWN + LISTED) == len({*SHOWN, *LISTED}) > 20


@pytest.mark.parametrize("message", [message for message in SHOWN + LISTED if message not in OF_PYTHON])
def test_every_message_is_one_of_the_source(message: str) -> None:
    assert may_be_said(message)


@pytest.mark.parametrize("message", SHOWN)
def test_a_message_with_code_stands_above_code_that_leads_to_it(message: str) -> None:
    section = TEXT.partition(f"### {message}\n")[2].partition("\n#")[0]
    raised = re.search(r"```python raises\n.*?```\n\n```text\n(.+?)\n```", section, flags=re.DOTALL)
    assert raised
    assert words(message).search(raised[1])


def test_a_message_that_nobody_says_is_found() -> None:
    assert not may_be_said("nothing was received for … of … judged queries")
    assert not may_be_said("judged queries … nothing was retrieved")
