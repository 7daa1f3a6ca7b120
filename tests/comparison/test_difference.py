"""A difference of two systems: its sign, its interval, what it could have shown, and the queries that moved."""

from math import isnan

import pytest

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, systems
from retrieval_metrics.comparison.difference import difference_cells
from retrieval_metrics.statistics import detectable_difference, queries_needed


def test_intervals_are_simultaneous_and_exclude_0_where_the_corrected_p_value_is_significant() -> None:
    comparison = rm.compare(*drawn(40, 5, "abcdef"), [*METRICS, "recall@3"])
    for difference in comparison.differences:
        joint = difference.interval
        single = difference.interval_uncorrected
        assert difference.significant != (joint.low <= 0 <= joint.high)
        assert joint.low <= single.low <= difference.mean <= single.high <= joint.high
    alone = rm.compare(*drawn(40, 5, "abcdef"), "mrr", baseline="a").difference("mrr", "b")
    among_many = comparison.difference("mrr", "b", "a")
    assert among_many.interval_uncorrected.low == pytest.approx(alone.interval_uncorrected.low)
    assert among_many.interval_uncorrected.low > alone.interval.low > among_many.interval.low


def test_power_is_computed_at_the_level_that_the_joint_test_requires() -> None:
    qrels, runs = drawn(40, 9, "abc")
    difference = rm.compare(qrels, runs, METRICS).difference("mrr", "b", "a")
    assert 0.05 / 9 <= difference.corrected_alpha < 0.05
    assert difference.mde().spread < difference.mde().sparse
    assert difference.mde() == detectable_difference(difference.values, alpha=difference.corrected_alpha)
    assert difference.queries_needed(0.1) == queries_needed(difference.values, 0.1, alpha=difference.corrected_alpha)
    alone = rm.compare(qrels, {name: runs[name] for name in "ab"}, "mrr").difference("mrr")
    assert alone.corrected_alpha == pytest.approx(0.05)
    assert alone.mde().spread < difference.mde().spread
    assert alone.mde().sparse < difference.mde().sparse
    assert alone.queries_needed(0.1).high < difference.queries_needed(0.1).high


def test_the_minimum_detectable_effect_is_computed_once_for_the_usual_power() -> None:
    difference = rm.compare(*drawn(40, 9, "ab"), "mrr").difference("mrr")
    assert difference.mde() is difference.mde()
    assert difference.mde(0.9).spread > difference.mde(0.8).spread
    assert difference.mde(max_difference=0.0) == (float("inf"), float("inf"))


def test_the_queries_that_moved_most_come_first_and_those_that_did_not_are_left_out() -> None:
    difference = rm.compare(*systems({"a": [2, 1, 1, 4], "b": [1, 4, 1, 5]}), "mrr").difference("mrr")
    assert difference.largest_changes() == [("q1", -0.75), ("q0", 0.5), ("q3", pytest.approx(-0.05))]
    assert len(difference.largest_changes(2)) == 2
    with pytest.raises(ValueError, match="n must be a positive integer, got -1"):
        difference.largest_changes(-1)


def test_differences_are_printed_in_a_table_per_pair() -> None:
    comparison = rm.compare(*drawn(10, 2, "abc"), METRICS)
    assert list(comparison.differences.by_pair) == comparison.pairs
    tables = comparison.differences.tables
    assert [table.title for table in tables] == ["b - a", "c - a", "c - b"]
    for table in tables:
        assert [row[0] for row in table.rows] == METRICS
        assert list(table.header[-2:]) == ["d_z", "MDE"]
    short = comparison.differences.by_pair["b", "a"].table()
    assert short.header[-1] == "W/T/L"


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_without_a_common_query_no_number_is_shown() -> None:
    evaluations = {}
    for name, queries in (("one", ["q1", "q2"]), ("two", ["q3", "q4"])):
        evaluation = rm.evaluate({f"q{n}": ["a"] for n in range(5)}, {f"q{n}": ["a"] for n in range(5)}, "mrr")
        evaluations[name] = evaluation.with_scores({"faithfulness": dict.fromkeys(queries, 0.5)})
    comparison = rm.compare(evaluations)
    difference = comparison.difference("faithfulness")
    assert (difference.n, difference.comparable) == (0, True)
    assert difference_cells(difference) == ["-"] * 4
    assert "no common query" in repr(difference)
    frame = comparison.to_pandas()
    (numbers,) = frame[frame["metric"] == "faithfulness"].to_dict("records")
    for column in ("difference", "ci_low", "p_corrected", "p_uncorrected", "p_t", "effect_size", "wins", "mde"):
        assert isnan(numbers[column]), column
    conclusion = comparison.conclusions.get("faithfulness").as_dict()
    assert (conclusion["p_corrected"], conclusion["interval"]) == (None, None)
    assert comparison.differences.table(whole=True).rows[-1] == ["faithfulness", *["-"] * 6]


def test_the_values_of_a_difference_cannot_be_changed() -> None:
    difference = rm.compare(*drawn(10, 2, "ab"), "mrr").differences.leading
    with pytest.raises(ValueError, match="read-only"):
        difference.values[0] = 1.0
