"""Which ids are parts of which documents, told by their spelling alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.evaluation import id_granularity
from retrieval_metrics.evaluation.id_granularity import RunIds, document_of, is_same_document
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = st.text("abcdefgh0123456789", min_size=1, max_size=8)


@given(NAMES, st.sampled_from(["#", "::", "_chunk_", "-p", "/part-", ".page"]), st.integers(0, 500))
def test_a_numbered_part_names_its_document(document: str, separator: str, number: int) -> None:
    part = f"{document}{separator}{number}"
    assert document_of(part) == document
    assert is_same_document(document, part)
    assert is_same_document(part, document)


@given(NAMES, NAMES)
def test_without_a_separator_nothing_is_a_part(first: str, second: str) -> None:
    assert not is_same_document(first, second)
    assert document_of(first) is None


@pytest.mark.parametrize("name", ["MED-10", "wiki:Closure", "arxiv:17", "docs/a.md", "closure", 7])
def test_the_name_of_a_document_is_not_taken_for_a_part(name: str | int) -> None:
    assert document_of(name) is None


def test_siblings_and_equal_ids_are_not_part_and_whole() -> None:
    assert not is_same_document("d7#1", "d7#2")
    assert not is_same_document("d7", "d7")
    assert not is_same_document("d7", "d7#")
    assert not is_same_document("d7", "#d7")
    assert not is_same_document("", "d7")


def test_a_word_after_a_hyphen_is_a_name_and_a_number_may_be_a_part() -> None:
    assert not is_same_document("closure", "closure-scope")
    assert is_same_document("closure", "closure-2")
    assert is_same_document("report", "report.pdf")
    assert is_same_document("corpus/d7", "d7")


def names(ranking: Sequence[Any]) -> RunIds:
    return RunIds(OrderedRankings({"q": ranking}, "id", TIES_BY_ID), ranking)


def test_relatives_are_found_in_the_order_of_the_ranking_and_exclude_the_id_itself() -> None:
    ranking = names(["d70", "d7#2", "d7", "x-d7", "d7#1", "d8#1"])
    assert ranking.find_ids_of_other_granularity("d7") == ["d7#2", "d7#1"]
    assert names(["d7", "d7#2"]).find_ids_of_other_granularity("d7#1") == ["d7"]
    assert names([70, 17]).find_ids_of_other_granularity(7) == []


@given(st.lists(st.text("ab1-#_ \n", max_size=5), max_size=6, unique=True), st.text("ab1-#_ \n", max_size=5))
def test_relatives_are_all_that_look_like_the_same_document(ranking: list[str], document: str) -> None:
    scored = {name: float(-rank) for rank, name in enumerate(ranking)}
    expected = [other for other in ranking if other != document and is_same_document(document, other)]
    assert names(ranking).find_ids_of_other_granularity(document) == expected
    assert (
        RunIds(OrderedRankings({"q": scored}, "id", TIES_BY_ID), scored).find_ids_of_other_granularity(document)
        == expected
    )


def test_parts_beyond_the_first_are_counted_by_source_where_there_is_one_and_else_by_id() -> None:
    sources = [
        ("a", "S"),
        ("b", "S"),
        ("c", "S"),
        ("d7#1", None),
        ("d7#2", None),
        ("e", None),
        ("c", "S"),
        ("d8#1", None),
    ]
    items = [rm.Retrieved(name, source=source) for name, source in sources]
    assert names(items).count_sibling_chunks(len(items)) == {"S": 2, "d7": 1}
    assert names(items).count_sibling_chunks(2) == {"S": 1}
    assert names([name for name, _ in sources]).count_sibling_chunks(len(items)) == {"d7": 1}


@pytest.mark.parametrize(
    ("ranking", "n_above", "min_count", "expected"),
    [
        (["d1#1", "d1#2", "d2#1"], 2, 1, True),  # one further part in all, and one is asked for
        (["d1#1", "d1#2", "d2#1"], 2, 2, False),
        (["d1#1", "d2#1", "d1#2"], 2, 1, False),  # it is not among the first two
        (["d1#1", "d2#1", "d3#1"], 3, 1, False),  # every document has one part
        (["d1_chunk_1", "d1_chunk_2"], 2, 1, True),
        (["d1_chunk_1", "d1_chunk_2"], 2, 2, False),
        (["d1_chunk_1", "d1_chunk_2"], 2, 3, False),  # more than there are ids
    ],
)
def test_so_many_further_parts_or_more(ranking: list[str], n_above: int, min_count: int, *, expected: bool) -> None:
    assert names(ranking).has_further_parts(n_above, min_count) is expected
    assert (names(ranking).count_sibling_chunks(n_above).total() >= min_count) is expected


@given(st.text("ab1-#:_. \n", max_size=8))
def test_the_usual_spelling_is_read_as_any_other(part: str) -> None:
    match = id_granularity._MARKED_PART.fullmatch(part) or id_granularity._NUMBERED_PART.fullmatch(part)
    assert document_of(part) == (match["document"] if match else None)
