"""A difference of two systems: its sign, its interval, what it could have shown, and the queries that moved."""

import pandas as pd
import pytest

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, systems
from retrieval_metrics.statistics import (
    detectable_difference,
    queries_needed,
)


def test_the_intervals_are_simultaneous_and_exclude_0_where_the_corrected_p_value_is_a_finding() -> None:
    comparison = rm.compare(*drawn(40, 5, "abcdef"), [*METRICS, "recall@3"])
    alone = rm.compare(*drawn(40, 5, "abcdef"), "mrr", baseline="a").difference("mrr", "b")
    for one in comparison.differences:
        assert one.significant != (one.interval.low <= 0 <= one.interval.high)
        assert (
            one.interval.low
            <= one.interval_uncorrected.low
            <= one.mean
            <= one.interval_uncorrected.high
            <= one.interval.high
        )
    of_many = comparison.difference("mrr", "b", "a")
    assert of_many.interval_uncorrected.low == pytest.approx(alone.interval_uncorrected.low)
    assert of_many.interval_uncorrected.low > alone.interval.low > of_many.interval.low


def test_detectable_and_needed_are_at_the_level_that_the_joint_test_asks() -> None:
    qrels, runs = drawn(40, 9, "abc")
    difference = rm.compare(qrels, runs, METRICS).difference("mrr", "b", "a")
    assert 0.05 / 9 <= difference.corrected_alpha < 0.05
    assert difference.mde().spread < difference.mde().sparse
    assert difference.mde() == detectable_difference(difference.values, level=difference.corrected_alpha)
    assert difference.queries_needed(0.1) == queries_needed(difference.values, 0.1, level=difference.corrected_alpha)
    alone = rm.compare(qrels, {name: runs[name] for name in "ab"}, "mrr").difference("mrr")
    assert alone.corrected_alpha == pytest.approx(0.05)
    assert alone.mde().spread < difference.mde().spread
    assert alone.mde().sparse < difference.mde().sparse
    assert alone.queries_needed(0.1).high < difference.queries_needed(0.1).high


def test_the_queries_that_moved_most_come_first_and_those_that_did_not_are_left_out() -> None:
    comparison = rm.compare(*systems({"a": [2, 1, 1, 4], "b": [1, 4, 1, 5]}), "mrr")
    assert comparison.difference("mrr").largest_changes() == [("q1", -0.75), ("q0", 0.5), ("q3", pytest.approx(-0.05))]
    assert len(comparison.difference("mrr").largest_changes(2)) == 2
    assert "moved most in mrr: q1 -0.750, q0 +0.500, q3 -0.0500" in str(comparison)


def test_a_difference_is_found_by_any_spelling_and_its_absence_is_said() -> None:
    comparison = rm.compare(*drawn(10, 2, "abc"), METRICS)
    assert comparison.difference("RR", "c", "a") is comparison.difference("mrr", "c", "a")
    with pytest.raises(KeyError, match="3 differences match 'mrr', None, None; there are b - a, c - a, c - b"):
        comparison.difference("mrr")
    with pytest.raises(KeyError, match="0 differences match 'map'"):
        comparison.difference("map", "b", "a")


def test_a_dataframe_has_a_row_per_difference() -> None:
    comparison = rm.compare(*drawn(12, 7, "abc"), METRICS)
    frame = comparison.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 9
    row = frame[(frame.metric == "mrr") & (frame.system == "c") & (frame.baseline == "b")].iloc[0]
    difference = comparison.difference("mrr", "c", "b")
    assert (row.difference, row.ci_low, row.ci_high) == (difference.mean, *difference.interval)
    assert (row.p_corrected, row.p_uncorrected) == (difference.p_corrected, difference.p_uncorrected)
    assert (row.ci_low_uncorrected, row.ci_high_uncorrected) == difference.interval_uncorrected
    assert (row.mde, row.mde_sparse) == difference.mde()
