"""The notes on what compared evaluations do not have in common."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.common_ground import MetricMismatch, QueryMismatch
from retrieval_metrics.comparison.common_ground_wording import format_metric_mismatch, format_query_mismatch


@pytest.mark.parametrize(
    ("mismatch", "note"),
    [
        (
            QueryMismatch("only_in_one", ("old",), 1_200, 3_000, "q0"),
            "1,200 of 3,000 queries are only in 'old' (e.g. 'q0').",
        ),
        (
            QueryMismatch("worded_differently", ("old", "new"), 1, 10, 7),
            "1 of 10 queries has different text in 'old' and 'new' (7).",
        ),
        (
            QueryMismatch("judged_differently", ("old", "new"), 2, 10, "q4"),
            "2 of 10 queries have different judgments in 'old' and 'new' (e.g. 'q4').",
        ),
    ],
)
def test_queries_that_differ_are_counted_with_the_reason(mismatch: QueryMismatch, note: str) -> None:
    assert format_query_mismatch(mismatch) == note


def test_a_metric_is_left_out_because_it_is_missing_or_because_its_scales_differ() -> None:
    missing = format_metric_mismatch(MetricMismatch("mrr", ("a", "b")))
    assert missing == "mrr was not computed in 'a', 'b'."
    differing_scales = format_metric_mismatch(MetricMismatch("err", ()))
    assert differing_scales == "err is excluded: it divides by the largest grade, which differs."


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_what_differs_between_evaluations_ends_with_how_many_queries_are_the_same() -> None:
    old = rm.evaluate({f"q{number}": ["d"] for number in range(9)}, {"q0": ["d"]}, ["mrr", "map"])
    new = rm.evaluate({f"q{number}": ["d"] for number in range(8)}, {"q0": ["d"]}, ["map"])
    notes = rm.compare({"old": old, "new": new}).notes
    assert notes[1] == "Compared on the 8 queries that are the same in all evaluations."
    assert len(notes) == 3
    newest = rm.evaluate({"q0": ["d"]}, {"q0": ["d"]}, ["map"])
    notes = rm.compare({"old": old, "newest": newest}).notes
    assert notes[1] == "Compared on the 1 query that is the same in all evaluations."
