"""Which ids are parts of which documents, told by their spelling alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_metrics.explaining.granularity import document_of, further_parts, relatives, same_document

NAMES = st.text("abcdefgh0123456789", min_size=1, max_size=8)


@given(NAMES, st.sampled_from(["#", "::", "_chunk_", "-p", "/part-", ".page"]), st.integers(0, 500))
def test_a_numbered_part_names_its_document(document: str, separator: str, number: int) -> None:
    part = f"{document}{separator}{number}"
    assert document_of(part) == document
    assert same_document(document, part)
    assert same_document(part, document)


@given(NAMES, NAMES)
def test_without_a_separator_nothing_is_a_part(one: str, other: str) -> None:
    assert not same_document(one, other)
    assert document_of(one) is None


@pytest.mark.parametrize("name", ["MED-10", "wiki:Closure", "arxiv:17", "docs/a.md", "closure", 7])
def test_the_name_of_a_document_is_not_taken_for_a_part(name: str | int) -> None:
    assert document_of(name) is None


def test_siblings_and_equal_ids_are_not_part_and_whole() -> None:
    assert not same_document("d7#1", "d7#2")
    assert not same_document("d7", "d7")
    assert not same_document("d7", "d7#")
    assert not same_document("", "d7")


def test_a_word_after_a_hyphen_is_a_name_and_a_number_may_be_a_part() -> None:
    assert not same_document("closure", "closure-scope")
    assert same_document("closure", "closure-2")
    assert same_document("report", "report.pdf")
    assert same_document("corpus/d7", "d7")


def test_relatives_are_found_in_the_order_of_the_ranking_and_exclude_the_id_itself() -> None:
    ranking = ["d70", "d7#2", "d7", "x-d7", "d7#1", "d8#1"]
    assert relatives("d7", ranking) == ["d7#2", "d7#1"]
    assert relatives("d7#1", ["d7", "d7#2"]) == ["d7"]
    assert relatives(7, [70, 17]) == []


class Item:
    def __init__(self, id: str, source: str | None) -> None:  # noqa: A002  (the name that hosts use)
        self.id = id
        self.source = source


def test_parts_beyond_the_first_are_counted_by_source_where_there_is_one_and_else_by_id() -> None:
    items = [Item("a", "S"), Item("b", "S"), Item("c", "S"), Item("d7#1", None), Item("d7#2", None), Item("e", None)]
    assert further_parts(items, [item.id for item in items]) == {"S": 2, "d7": 1}
