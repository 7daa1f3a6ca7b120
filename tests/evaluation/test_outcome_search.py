"""Which ids are parts of which documents, told by their spelling alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import retrieval_metrics as rm
from retrieval_metrics.evaluation import outcome_search as granularity
from retrieval_metrics.evaluation.outcome_search import RunIds, document_of, same_document
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    assert not same_document("d7", "#d7")
    assert not same_document("", "d7")


def test_a_word_after_a_hyphen_is_a_name_and_a_number_may_be_a_part() -> None:
    assert not same_document("closure", "closure-scope")
    assert same_document("closure", "closure-2")
    assert same_document("report", "report.pdf")
    assert same_document("corpus/d7", "d7")


def names(ranking: Sequence[Any]) -> RunIds:
    return RunIds(OrderedRankings({"q": ranking}, "id", TIES_BY_ID), ranking)


def test_relatives_are_found_in_the_order_of_the_ranking_and_exclude_the_id_itself() -> None:
    ranking = names(["d70", "d7#2", "d7", "x-d7", "d7#1", "d8#1"])
    assert ranking.ids_of_other_granularity("d7") == ["d7#2", "d7#1"]
    assert names(["d7", "d7#2"]).ids_of_other_granularity("d7#1") == ["d7"]
    assert names([70, 17]).ids_of_other_granularity(7) == []


@given(st.lists(st.text("ab1-#_ \n", max_size=5), max_size=6, unique=True), st.text("ab1-#_ \n", max_size=5))
def test_relatives_are_all_that_look_like_the_same_document(ranking: list[str], document: str) -> None:
    scored = {name: float(-at) for at, name in enumerate(ranking)}
    expected = [other for other in ranking if other != document and same_document(document, other)]
    assert names(ranking).ids_of_other_granularity(document) == expected
    assert (
        RunIds(OrderedRankings({"q": scored}, "id", TIES_BY_ID), scored).ids_of_other_granularity(document) == expected
    )


def test_parts_beyond_the_first_are_counted_by_source_where_there_is_one_and_else_by_id() -> None:
    given = [
        ("a", "S"),
        ("b", "S"),
        ("c", "S"),
        ("d7#1", None),
        ("d7#2", None),
        ("e", None),
        ("c", "S"),
        ("d8#1", None),
    ]
    items = [rm.Retrieved(name, source=source) for name, source in given]
    assert names(items).sibling_chunks(len(items)) == {"S": 2, "d7": 1}
    assert names(items).sibling_chunks(2) == {"S": 1}
    assert names([name for name, _ in given]).sibling_chunks(len(items)) == {"d7": 1}


@pytest.mark.parametrize(
    ("ranking", "above", "least", "expected"),
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
def test_so_many_further_parts_or_more(ranking: list[str], above: int, least: int, *, expected: bool) -> None:
    assert names(ranking).has_further_parts(above, least) is expected
    assert (names(ranking).sibling_chunks(above).total() >= least) is expected


@given(st.text("ab1-#:_. \n", max_size=8))
def test_the_usual_spelling_is_read_as_any_other(part: str) -> None:
    found = granularity._MARKED.fullmatch(part) or granularity._NUMBERED.fullmatch(part)  # noqa: SLF001  (the rule itself)
    assert document_of(part) == (found["document"] if found else None)


A, B = (rm.Retrieved(name, name * 500, "d", start, tokens=120) for name, start in (("a", 0), ("b", 500)))
SPAN = {"q": [rm.Span("d", 600, 700)]}


def became(evaluation: rm.Evaluation, metric: str | None = None) -> list[str]:
    return [finding.detail for finding in evaluation.explain("q", metric).findings]


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("recall@400chars", "does not fit into the first 400 characters: it ends at 1,000"),
        ("recall@999chars", "does not fit into the first 999 characters: it ends at 1,000"),
        ("recall@1000chars", "found"),
        ("ndcg@239tokens", "does not fit into the first 239 tokens: it ends at 240"),
        ("ndcg@240tokens", "found"),
    ],
)
def test_what_ends_beyond_a_budget_is_not_found(metric: str, said: str) -> None:
    evaluation = rm.evaluate(SPAN, {"q": [A, B]}, metric)
    assert became(evaluation) == became(evaluation, metric) == [said]
    assert evaluation.means[metric] > 0 or said != "found"
    lowest = evaluation.worst(metric)
    assert lowest.failures == ({} if said == "found" else {"over_budget": 1})


def test_of_several_cut_offs_the_one_that_keeps_most_counts() -> None:
    for metrics, said in (
        (["recall@400chars", "recall@1"], "beyond the cut-off 1"),
        (["recall@700chars", "recall@400chars"], "does not fit into the first 700 characters: it ends at 1,000"),
        (["recall@400chars", "recall@2"], "found"),
        (["recall@1", "recall@1200chars", "map"], "found"),
    ):
        assert became(rm.evaluate(SPAN, {"q": [A, B]}, metrics)) == [said]


def test_repeats_may_be_what_takes_the_room() -> None:
    evaluation = rm.evaluate(SPAN, {"q": [A, A, B]}, ["recall@1000chars", "recall@900chars"])
    assert became(evaluation, "recall@1000chars") == ["behind 1 repeated document"]
    assert became(evaluation, "recall@900chars") == ["does not fit into the first 900 characters: it ends at 1,500"]


def test_results_as_relevant_leave_no_room_within_a_budget() -> None:
    evaluation = rm.evaluate({"q": ["a", "b"]}, {"q": [A, B]}, "r_precision")
    assert became(evaluation) == ["found", "found"]
    within = rm.evaluate({"q": ["a", "b"]}, {"q": [A, B]}, "recall@600chars")
    assert became(within) == ["found", "no room: the first 600 characters are as relevant"]


def test_calls_are_a_budget_too() -> None:
    calls = [rm.SearchCall("one", ["x"]), rm.SearchCall("two", ["d"])]
    run = rm.Trajectories({"q": rm.Trajectory(calls)}).union()
    evaluation = rm.evaluate({"q": ["d"]}, run, "recall@1calls")
    assert became(evaluation) == ["beyond the first 1 call: call 2 found it"]


def test_the_report_speaks_of_the_budget(tmp_path: Path) -> None:
    rm.evaluate(SPAN, {"q": [A, B]}, "recall@400chars").report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "does not fit into the first 400 characters: it ends at 1,000" in page
    assert "how much of what is relevant is in the first 400 characters" in page
    assert "cut-off 0" not in page
