"""The golden texts of the gates: what each record is printed as."""

import math

import pytest

import retrieval_metrics as rm
from pytest_retrieval_metrics.baseline_gates import (
    MetricChange,
    MetricLosses,
    QueryLoss,
    UnitsAtRisk,
    compare_with_baseline,
)
from pytest_retrieval_metrics.floor_and_ceiling_gates import MeanBelowFloor, QueryBelowFloor
from pytest_retrieval_metrics.gate_wording import (
    bound_hint,
    format_acceptance_hint,
    format_below_floor,
    format_below_floor_details,
    format_change,
    format_change_details,
    format_deterministic_losses,
    format_failed_queries,
    format_left_out,
    format_missing_metric,
    format_no_baseline,
    format_not_comparable_queries,
    format_outcome,
    format_queries_below_floor,
    format_required_losses,
    format_too_few_values,
    format_unguarded,
    format_verdict_with_details,
    format_worse_than_best,
    mde_note,
    round_notes,
    share_causes,
    too_few_note,
)
from pytest_retrieval_metrics.verdicts import Verdict
from retrieval_metrics.types import Interval

INTERVAL = Interval(0.2, 0.4)


def make_below_floor(mean: float, checked: float, *, is_interval_checked: bool, n: int) -> MeanBelowFloor:
    return MeanBelowFloor(mean, INTERVAL, 0.95, checked, is_interval_checked, floor=0.35, n=n, n_queries=40)


SIX_LOSSES = MetricLosses("mrr", 40, [QueryLoss(f"q{number}", 1.0, 0.5) for number in range(6)])

GOLDEN = [
    (bound_hint("ndcg@10"), "a floor in at_least"),
    (bound_hint("leak@5"), "a ceiling in at_most"),
    (format_outcome("inconclusive"), "inconclusive"),
    (format_outcome("worse"), "worse"),
    (
        format_unguarded("mrr"),
        (
            "without a baseline or an effective bound, the check cannot fail; set a floor in at_least, or pass "
            "baseline=True"
        ),
    ),
    (format_too_few_values(4, 40, 30), "only 4 of 40 queries have a value; at least 30 are needed"),
    (
        format_below_floor(make_below_floor(0.3, 0.3, is_interval_checked=False, n=40)),
        "0.300 < 0.35, n = 40",
    ),
    (
        format_below_floor(make_below_floor(0.3, 0.2, is_interval_checked=True, n=39)),
        "CI lower end 0.200 < 0.35, n = 39 of 40",
    ),
    (
        format_below_floor(make_below_floor(math.nan, math.nan, is_interval_checked=False, n=0)),
        "undefined: no query has a relevant document",
    ),
    (
        format_below_floor_details(make_below_floor(0.3, 0.3, is_interval_checked=False, n=40)),
        "mean 0.300, 95% CI [0.200, 0.400]",
    ),
    (
        format_queries_below_floor([QueryBelowFloor("q1", math.nan, 0.5), QueryBelowFloor("q2", 0.25, 0.5)], 3),
        (
            "2 of 3 queries: q1 is undefined, q2 0.250 < 0.5; an undefined value reaches no floor: judge a relevant "
            "document, or remove the floor of the query"
        ),
    ),
    (
        format_queries_below_floor([QueryBelowFloor("q2", 0.25, 0.5)], 3, 1),
        "1 of 3 queries: q2 0.250 < 0.5; 1 of 4 queries left out: undefined",
    ),
    (format_left_out(1, 4), "1 of 4 queries left out: undefined"),
    (too_few_note(UnitsAtRisk(6, 40, "query"), 6, 0.025, "mrr"), ""),
    (
        too_few_note(UnitsAtRisk(5, 5, "query"), 6, 0.025, "mrr"),
        (
            "with 5 queries no drop can be significant (at least 6 needed, alpha 0.025); "
            "set a floor in at_least, or add queries"
        ),
    ),
    (
        too_few_note(UnitsAtRisk(5, 40, "document"), 6, 0.025, "leak@5"),
        (
            "with 5 of 40 documents able to get worse, no rise can be significant (at least 6 needed, alpha 0.025); "
            "set a ceiling in at_most, or add documents, or pass clusters=None"
        ),
    ),
    (mde_note(math.inf, math.inf), ""),
    (mde_note(0.1, math.inf), "MDE 0.10"),
    (
        mde_note(0.1, 0.26),
        "MDE 0.10, 0.26 however distributed",
    ),
    (
        format_required_losses(SIX_LOSSES, 8),
        (
            "6 of 8 no_regression queries: q0 1.000 -> 0.500, q1 1.000 -> 0.500, q2 1.000 -> 0.500, "
            "q3 1.000 -> 0.500, q4 1.000 -> 0.500 and 1 more"
        ),
    ),
    (
        format_deterministic_losses(MetricLosses("mrr", 40, [QueryLoss("q0", 1.0, 1 / 3)])),
        "1 of 40 queries (deterministic retriever): q0 1.000 -> 0.333",
    ),
    (
        format_not_comparable_queries(["q0", "q1"]),
        "no_regression queries without a comparable baseline (new, rejudged or reworded): q0, q1",
    ),
    (format_missing_metric("test_words.json"), "test_words.json does not contain it"),
    (format_no_baseline("a/b.json"), "no baseline a/b.json; create it with --retrieval-update"),
    (format_worse_than_best("1.000 -> 0.800"), "1.000 -> 0.800, compared with the best approved baseline"),
    (format_failed_queries(1, 40), "the retriever failed on 1 of 40 queries"),
    (
        format_acceptance_hint(["ndcg@10", "mrr"]),
        "baseline not updated; accept the loss with --retrieval-accept-worse=ndcg@10,mrr",
    ),
    (
        format_verdict_with_details(Verdict(metric="mrr", outcome="below_floor", figures="0.1 < 0.2", details="mean")),
        "mrr below floor: 0.1 < 0.2; mean",
    ),
    (format_verdict_with_details(Verdict(metric="mrr", outcome="passed")), "mrr passed"),
]


@pytest.mark.parametrize(("text", "expected"), GOLDEN)
def test_each_record_is_printed_so(text: str, expected: str) -> None:
    assert text == expected


def test_a_change_is_printed_with_its_p_value_and_its_intervals() -> None:
    qrels = {f"q{number}": ["d"] for number in range(40)}
    before = rm.evaluate(qrels, {query: ["d"] for query in qrels}, "mrr")
    run = {query: ["x", "d"] if number < 8 else ["d"] for number, query in enumerate(qrels)}
    comparison = compare_with_baseline(rm.evaluate(qrels, run, "mrr"), before, alpha=0.025)
    change = MetricChange.from_comparison(comparison, comparison.differences[0], level=0.95)
    assert format_change(change) == "1.000 -> 0.900 (p 0.00391), 8 of 40 queries worse"
    assert format_change_details(change).startswith("was [")
    assert format_change_details(change).endswith(
        ", worse if p is at most 0.025; W/T/L 0/32/8",
    )
    assert "; difference -0.100 [-0." in format_change_details(change)


def test_the_means_of_rounds_are_printed_if_there_are_several() -> None:
    assert round_notes(1, {"mrr": [0.5]}) == []
    assert round_notes(2, {"mrr": [0.4, 0.6]}) == [
        "2 rounds, pooled per query; means of the rounds: mrr 0.400 to 0.600, SD 0.141"
    ]


def test_metrics_that_were_not_measured_for_one_cause_share_a_line() -> None:
    lines = [
        "mrr not measured: no judged document was retrieved",
        "map below floor: 0.100 < 0.5",
        "ndcg@5 not measured: another cause",
        "recall@5 not measured: no judged document was retrieved",
        "mrr not measured: no judged document was retrieved",
    ]
    assert share_causes(lines) == [
        "mrr and recall@5 not measured: no judged document was retrieved",
        *lines[1:3],
        "",
        "",
    ]
    assert share_causes(lines[1:3]) == lines[1:3]
    assert share_causes([]) == []
