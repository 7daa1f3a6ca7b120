"""A chunk scores by what it holds, whatever splitters wrote about its place: never a silent wrong number."""

from __future__ import annotations

import pytest

from splitters import Case, cases, table

REFUSED = {"LlamaIndex: 5 pages by file_name", "LangChain: 5 pages, one source"}
"""Several documents of one name: which of them a span means, nobody can say."""


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_only_the_chunk_that_holds_a_fact_is_a_hit(case: Case) -> None:
    assert case.spans()
    for right, value in ((True, 1.0), (False, 0.0)):
        outcome = case.scored(right=right, documents=True)
        if case.name in REFUSED:
            assert outcome.value is None
            assert "named 'a.pdf'" in outcome.said
        else:
            assert (outcome.value, outcome.unplaced) == (value, 0)
        blind = case.scored(right=right, documents=False)
        if blind.value is None:
            assert "named 'a.pdf'" in blind.said
        elif blind.value != value or blind.unplaced:
            assert blind.value == 0
            assert blind.warned
            assert "none of the retrieved documents is judged" not in blind.said  # one finding for one fact
            assert not right or blind.unplaced == case.retrieved(right=right)


def test_they_are_all_in_one_table() -> None:
    assert len(table(cases()[:1]).splitlines()) == 2
