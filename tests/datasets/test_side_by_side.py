"""The page of rankings side by side."""

import re
from pathlib import Path

import retrieval_metrics as rm


def items(page: str, side: int) -> list[tuple[str, str, str]]:
    """Return the class, the words and the id of each result of one column of the first query."""
    column = re.findall(r'<div class="system">.*?</ol></div>', page, re.DOTALL)[side]
    pattern = r'<li class="result (state\d)">.*?<span class="id">(.*?)</span><span class="state">(.*?)</span>'
    return [(state, document, label) for state, document, label in re.findall(pattern, column)]


def test_the_page_shows_what_stayed_moved_entered_and_left(tmp_path: Path) -> None:
    before = {"q1": ["a", "b", "c", "d"], "q2": ["a"]}
    after = {"q1": ["b", "a", "d", "x"], "q2": ["a"]}
    path = tmp_path / "page.html"
    changes = rm.changes(before, after, "overlap@3")
    changes.report(path, queries={"q1": "<why>?"}, corpus={"x": "new", "a": "<b>old</b>"})
    page = path.read_text()
    assert "&lt;why&gt;?" in page
    assert "&lt;b&gt;old&lt;/b&gt;" in page
    assert page.count('<details class="query"') == 1  # q2 did not change
    assert items(page, 0) == [("state3", "a", "to 2"), ("state3", "b", "to 1"), ("state1", "c", "left")]
    assert items(page, 1) == [("state3", "b", "from 2"), ("state3", "a", "from 1"), ("state0", "d", "entered from 4")]


def test_no_more_queries_are_shown_than_asked_for(tmp_path: Path) -> None:
    before = {f"q{number}": ["a", "b"] for number in range(5)}
    after = {query: ["b", "a"] for query in before}
    path = tmp_path / "page.html"
    rm.changes(before, after, "rbo").report(path, n=2)
    page = path.read_text()
    assert page.count('<details class="query"') == 2
    assert "3 more queries changed less" in page
