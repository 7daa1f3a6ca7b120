"""What is said of each kind of data that is probably wrong."""

from collections import Counter

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation import data_warning_wording as wording
from retrieval_metrics.evaluation.data_warnings import EmptyRankings, HiddenCalls, NearMissReport, UnlocatedItems
from retrieval_metrics.evaluation.id_mismatch import (
    IdMismatch,
    IdRemedy,
    IdWithin,
    JudgedPath,
    MatchedAttribute,
    OtherQuery,
    PieceMismatch,
    SpellingDifference,
)
from retrieval_metrics.evaluation.near_miss_remedy import IdChange
from retrieval_metrics.evaluation.swapped_arguments import SwappedArguments
from retrieval_metrics.matching.judged_columns import Unlocated, UnlocatedReason
from retrieval_metrics.matching.near_misses import NearMiss


@pytest.mark.parametrize(
    ("swapped", "text"),
    [
        (
            SwappedArguments("q0", "x", 12.25, 2.0),
            (
                "judgments and run seem to be exchanged: grades such as 12.25 of 'x' for query 'q0' are fractions, as "
                "scores are, and the scores of the run are whole, such as 2; evaluate(qrels, run) takes the judgments "
                "first"
            ),
        ),
        (
            SwappedArguments("q0", "x", 0.5, None),
            (
                "judgments and run seem to be exchanged: grades such as 0.5 of 'x' for query 'q0' fall in the order "
                "given, and its lists are longer than those of the run; evaluate(qrels, run) takes the judgments first"
            ),
        ),
    ],
)
def test_swapped_arguments(swapped: SwappedArguments, text: str) -> None:
    assert wording.format_swapped_arguments(swapped) == text


def test_distances() -> None:
    assert wording.format_distances() == (
        "the scores of the run rise in the order given in every ranking, and the largest counts as the best: if they "
        "are distances, pass {id: -distance}, or a list of ids, best first"
    )


@pytest.mark.parametrize(
    ("remedy", "text"),
    [
        (None, wording.ID_MISMATCH_HINT),
        (OtherQuery("b"), "'b' is judged, but for another query: do the query ids of both mean the same questions?"),
        (
            MatchedAttribute("a", "metadata:file"),
            "what was retrieved has the judged id 'a': pass match='metadata:file'",
        ),
        (
            SpellingDifference("A ", "a ", "case", IdChange(expression="id.casefold()")),
            ("the judged 'a ' and the retrieved 'A ' differ in case; write id.casefold() for the ids of both sides"),
        ),
        (
            JudgedPath("a.md", "docs/a.md", "id"),
            "'a.md' is the last part of the judged id 'docs/a.md': write name.rpartition('/')[2] for each judged id",
        ),
        (
            JudgedPath("a.md", "docs/a.md", "source"),
            (
                "'a.md' is the last part of the judged id 'docs/a.md': write name.rpartition('/')[2] for each judged "
                "id, and pass match='source'"
            ),
        ),
        (
            IdWithin("a#3", "id.rpartition('#')[0]", is_attribute=False),
            "a part of 'a#3' is a judged id: write id.rpartition('#')[0] for each id",
        ),
        (
            IdWithin("a#3", "item.id.rpartition('#')[0]", is_attribute=True),
            "a part of 'a#3' is a judged id: pass match=lambda item: item.id.rpartition('#')[0]",
        ),
    ],
)
def test_ids_that_do_not_match(remedy: IdRemedy | None, text: str) -> None:
    assert wording.format_id_mismatch(IdMismatch(["d0", "d1", "d2", "d3"], ["x", "y"], remedy)) == (
        "none of the retrieved documents is judged for its query, so every metric is 0; the judgments have 'd0', 'd1', "
        f"'d2' and 1 more, the run 'x' and 'y'; {text}"
    )


def test_other_mismatches() -> None:
    assert wording.format_id_mismatch(IdMismatch(["a"], [], None)) == (
        "none of the retrieved documents is judged for its query, so every metric is 0; the judgments have 'a', the "
        f"run none; {wording.ID_MISMATCH_HINT}"
    )
    assert wording.format_id_mismatch(PieceMismatch([rm.Quote("a closure")])) == (
        "none of the retrieved documents is judged for its query, so every metric is 0; do the items have the texts, "
        "sources and offsets that the judgments need? The qrels have, for example, [Quote(text='a closure')]"
    )


@pytest.mark.parametrize(
    ("empty", "text"),
    [
        (
            EmptyRankings(
                n_empty=1,
                n_expected=2,
                is_every_query_expected=False,
                is_whole_run=False,
                first_query="missed",
                scored_zero=True,
                failures={},
            ),
            "nothing was retrieved for 1 of 2 answerable judged queries, for example 'missed'; they score 0",
        ),
        (
            EmptyRankings(
                n_empty=2,
                n_expected=3,
                is_every_query_expected=True,
                is_whole_run=False,
                first_query="q1",
                scored_zero=False,
                failures={"q2": TimeoutError("slow")},
            ),
            (
                "nothing was retrieved for 2 of 3 judged queries, for example 'q1'; those not in the run are left out; "
                "the retriever failed for 1 of them, for example 'q2': TimeoutError: slow"
            ),
        ),
    ],
)
def test_empty_rankings(empty: EmptyRankings, text: str) -> None:
    assert wording.format_empty_rankings(empty) == text


def test_line_ends() -> None:
    assert wording.format_line_ends([rm.Span("book", 3, 9), rm.Span("book", 20, 30)]) == (
        '2 spans cut words of their sources as they stand, but would not if "\\r\\n" and "\\n" were of one length; for '
        "example Span(source='book', start=3, end=9). Pass the texts that they were written against, documents=, or "
        "put a quote beside each span, which settles it"
    )


@pytest.mark.parametrize(
    ("counts", "is_nothing_judged", "text"),
    [
        (
            Counter({"no offsets": 2, "another source": 1}),
            False,
            (
                "the place of 3 retrieved items is unknown, so no span was found in them: 2 without offsets, 1 of a "
                "run in which no source is a judged one, as after two splitters; for example 'c1' for query 'q' (no "
                "offsets). To place them, pass documents=, the texts by source or the documents of the framework, and "
                "they are found by their texts"
            ),
        ),
        (
            Counter({"not in the source": 1}),
            True,
            (
                "the place of 1 retrieved items is unknown, so no span was found in them, nor is anything else judged, "
                "so every metric is 0: 1 whose text is not in their source; for example 'c1' for query 'q' (no "
                "offsets). To place them, look at how their texts were changed, or judge by Quote"
            ),
        ),
    ],
)
def test_unlocated_items(counts: Counter[UnlocatedReason], text: str, *, is_nothing_judged: bool) -> None:
    first = Unlocated("q", "c1", "no offsets")
    assert wording.format_unlocated_items(UnlocatedItems(first, counts, is_nothing_judged)) == text


def test_hidden_calls() -> None:
    hidden = HiddenCalls(rm.Metric("recall", 2), 2, n_queries=1, n_with_calls=3, first_query="q1")
    assert wording.format_hidden_calls(hidden) == (
        "for 1 of 3 queries, for example 'q1', one call alone fills the first 2, so recall@2 sees nothing of the later "
        "calls; evaluate recall@ncalls, such as recall@3calls, or the interleaved view"
    )


def test_a_system_is_named_before_its_warning() -> None:
    assert wording.format_system_warning("old", "nothing was retrieved") == "old: nothing was retrieved."
    assert wording.format_system_warning("", "is the retriever broken?") == "is the retriever broken?"
    assert wording.format_undecidable("old", "nothing was retrieved") == (
        "nothing can be decided on this data. In 'old': nothing was retrieved"
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (IdChange(is_read_as_number=True), "read the ids of both sides as text, as with dtype=str in pandas"),
        (
            IdChange(characters=("U+200B (ZERO WIDTH SPACE)",)),
            "remove U+200B (ZERO WIDTH SPACE) from the ids of both sides",
        ),
        (IdChange("run", "id.rpartition('/')[2]", "filename"), "pass match='filename'"),
        (IdChange("judgments"), "change the ids of the judgments so that they are equal"),
        (IdChange("run", "id.rpartition('#')[0]"), "write id.rpartition('#')[0] for the ids of the run"),
    ],
)
def test_near_misses(change: IdChange, text: str) -> None:
    example = NearMiss(0, "q1", "Café", "Cafe\u0301", "unicode_form")
    report = NearMissReport(7, 9, {"unicode_form": 5, "blanks": 2}, example, change)
    assert wording.format_near_misses(report) == (
        "7 of 9 relevant documents that count as not found were retrieved for their queries under nearly the same id "
        "(5 in Unicode form and 2 in blanks): for query 'q1', the judged 'Caf\\xe9' and the retrieved 'Cafe\\u0301' "
        f"differ in Unicode form; {text}"
    )
