"""Which system is better: what a comparison concludes from paired differences."""

import math
import random
from typing import Any

import pandas as pd
import pytest

import retrieval_metrics as rm
from ranked_systems import METRICS, drawn, same_ranking, systems


def conclude(ranks: dict[str, list[int]], **options: Any) -> rm.types.Conclusion:
    (conclusion,) = rm.compare(*systems(ranks), "mrr", **options).conclusions
    return conclusion


def test_a_system_that_is_better_for_every_query_is_better() -> None:
    ranks = {"old": [2] * 8, "new": [1] * 8}
    conclusions = rm.compare(*systems(ranks), ["mrr", "hit_rate@1"]).conclusions
    assert [conclusion.kind for conclusion in conclusions] == ["better", "better"]
    assert [conclusion.difference for conclusion in conclusions] == [0.5, 1.0]
    swapped = rm.compare(*systems({"old": [1] * 8, "new": [2] * 8}), ["mrr", "hit_rate@1"]).conclusions
    assert [conclusion.kind for conclusion in swapped] == ["worse", "worse"]
    assert [conclusion.difference for conclusion in swapped] == [-0.5, -1.0]


def test_systems_with_the_same_values_are_identical() -> None:
    conclusion = conclude({"a": [1, 2, 3], "b": [1, 2, 3]})
    assert (conclusion.kind, conclusion.difference, conclusion.p_corrected) == ("identical", 0, 1)


def test_what_the_data_cannot_decide_has_a_minimum_detectable_effect() -> None:
    ranks = [1, 2, 3, 4, 5] * 8
    conclusion = conclude({"a": ranks, "b": [*ranks[1:], 2]})
    assert conclusion.kind == "not_significant"
    assert conclusion.interval.low < 0 < conclusion.interval.high
    assert 0 < conclusion.details.mde().spread < 1


def test_a_rare_effect_that_so_few_queries_miss_is_printed_last() -> None:
    # All 50 are better by 1/7 - 1/8, but 50 queries may well hold none of those that lose 1.
    comparison = rm.compare(*systems({"old": [8] * 25 + [9] * 25, "new": [7] * 25 + [8] * 25}), "mrr")
    difference = comparison.difference("mrr")
    assert difference.significant
    assert 0 < difference.interval.low < difference.mean < difference.rare_effect.mean_shift
    assert difference.rare_effect.share == difference.rare_effect.mean_shift == pytest.approx(1 - 0.05 ** (1 / 50))
    assert difference.rare_effect_matters
    assert comparison.summary[-1] == comparison.conclusions.get("mrr").rare_effect_note


def test_rare_effects_are_noted_once_per_metric_where_metrics_differ() -> None:
    ranks = systems({"old": [4] * 6, "new": [1] * 6})
    first, second = rm.compare(*ranks, ["mrr", "recall@5"]).conclusions.rare_effect_notes
    assert first.startswith("In mrr, ")
    assert second.startswith("In recall@5, ")


def test_a_rare_effect_in_one_metric_is_not_noted_for_others() -> None:
    qrels = {f"q{number}": {"d": 2 if number < 4 else 1, "e": 1} for number in range(12)}
    runs = {"old": same_ranking(qrels, "d", "e"), "new": same_ranking(qrels, "e", "d")}
    conclusions = rm.compare(qrels, runs, ["mrr", "mrr(rel=2)"]).conclusions
    assert [conclusion.rare_effect_matters for conclusion in conclusions] == [True, False]
    (note,) = conclusions.rare_effect_notes
    assert note.startswith("In mrr, effects too rare to occur in 12 queries")


def test_too_few_queries_cannot_show_a_difference() -> None:
    comparison = rm.compare(*systems({"a": [2] * 5, "b": [1] * 5}), "mrr")  # at best p = 2 / 2^5
    (conclusion,) = comparison.conclusions
    assert conclusion.has_too_few_units
    assert conclusion.details.min_units == 6
    assert conclusion.details.p_uncorrected == pytest.approx(2 / 2**5)
    assert math.isinf(conclusion.details.mde().spread)
    assert math.isnan(conclusion.interval.low)
    assert "no 95% CI of mrr: 5 queries are too few" in str(comparison)
    assert rm.compare(*systems({"a": [2] * 6, "b": [1] * 6}), "mrr").difference("mrr").significant


@pytest.mark.parametrize(("n_queries", "last_rank", "has_too_few"), [(6, 1, False), (6, 6, False), (5, 1, True)])
def test_a_joint_test_needs_no_more_queries_than_a_single_one(
    n_queries: int, last_rank: int, *, has_too_few: bool
) -> None:
    ranks = {"old": [4] * n_queries, "new": [*[1] * (n_queries - 1), last_rank]}
    conclusions = rm.compare(*systems(ranks), ["mrr", "recall@3"]).conclusions
    assert {conclusion.has_too_few_units for conclusion in conclusions} == {has_too_few}


def test_a_margin_is_tested_for_each_system() -> None:
    ranks = [1, 2, 3, 1] * 50
    comparison = rm.compare(
        *systems({"old": ranks, "new": ranks, "bad": [5] * 200}), "mrr", baseline="old", margin=0.02
    )
    margin_tests = {difference.system: difference.margin for difference in comparison.differences}
    assert margin_tests["new"] is not None
    assert margin_tests["bad"] is not None
    assert (margin_tests["new"].outcome, margin_tests["bad"].outcome) == ("noninferior", "inferior")
    outcomes = [conclusion.noninferiority for conclusion in comparison.conclusions]
    assert outcomes == ["noninferior", "inferior"]
    assert list(comparison.to_pandas().noninferiority) == outcomes


def test_a_small_set_has_the_number_of_queries_that_a_margin_takes() -> None:
    conclusion = conclude({"old": [1] * 40, "new": [1] * 40}, margin=0.02)
    assert (conclusion.kind, conclusion.noninferiority) == ("identical", "inconclusive")
    assert conclusion.details.margin is not None
    assert conclusion.details.margin.min_units == 149


def test_a_margin_is_passed_with_few_queries_if_rare_losses_would_leave_the_system_better() -> None:
    conclusion = conclude({"old": [2, 3] * 15, "new": [1, 2, 1] * 10}, margin=0.05)
    assert (conclusion.kind, conclusion.noninferiority) == ("better", "noninferior")
    assert "rare losses" not in conclusion.sentence


def test_a_loss_on_two_queries_is_not_bounded() -> None:
    conclusion = conclude({"old": [1] * 150, "new": [1] * 148 + [500] * 2}, margin=0.05)
    assert conclusion.noninferiority == "inconclusive"
    assert conclusion.details.margin is not None
    assert conclusion.details.margin.low <= -1 < conclusion.interval.low


def test_worse_by_more_than_a_margin_needs_an_interval_beyond_it() -> None:
    comparison = rm.compare(*systems({"old": [1, 2] * 40, "new": [1, 2] * 32 + [2, 4] * 8}), "mrr", margin=0.02)
    (conclusion,) = comparison.conclusions
    assert conclusion.details.margin is not None
    assert (conclusion.kind, conclusion.details.margin.outcome) == ("worse", "inferior")
    assert (conclusion.noninferiority == "inferior") == (conclusion.interval.high < -0.02)
    assert list(comparison.to_pandas().noninferiority) == [conclusion.noninferiority]
    between = (conclusion.details.margin.high + conclusion.interval.high) / 2
    (undecided,) = rm.compare(comparison.evaluations, margin=-between).conclusions
    assert (undecided.kind, undecided.noninferiority) == ("worse", "inconclusive")


def test_one_giant_cluster_bounds_nothing_and_finds_no_small_difference() -> None:
    rng = random.Random(1)
    old = [rng.choice([1, 2, 5, 9]) for _ in range(60)]
    other = [rng.choice([1, 2, 5, 9]) for _ in range(60)]
    qrels, runs = systems({"old": old, "new": list(map(min, old, other))})
    giant = {query: 0 if number < 50 else number for number, query in enumerate(qrels)}
    with pytest.warns(rm.RetrievalWarning, match="only .* clusters"):
        comparison = rm.compare(qrels, runs, ["mrr", "recall@3", "recall@1"], clusters=giant)
    for conclusion in comparison.conclusions:
        assert (conclusion.p_corrected <= 0.05) == (conclusion.interval.low > 0)
        assert math.isinf(conclusion.details.mde().spread)


def retrieve_chunks(size: int) -> dict[str, list[rm.Retrieved]]:
    chunks = [rm.Retrieved(f"{size}-{number}", "x" * size, "a", number * size) for number in range(9)]
    return {f"q{number}": chunks for number in range(12)}


def test_chunks_of_different_sizes_at_the_same_k_are_a_caveat() -> None:
    qrels = {f"q{number}": [rm.Span("a", 500, 510)] for number in range(12)}
    runs = {"small": retrieve_chunks(100), "large": retrieve_chunks(300), "tiny": retrieve_chunks(80)}
    for compared in (["small", "large"], ["small", "large", "tiny"]):
        comparison = rm.compare(qrels, {name: runs[name] for name in compared}, "recall@5")
        (caveat,) = comparison.conclusions.caveats
        smallest = compared[-1] if "tiny" in compared else "small"
        assert caveat.startswith("The top 5 results average 1,500 characters for large and ")
        assert f" for {smallest}, so @5 " in caveat
        assert comparison.summary[0] == caveat
    for metrics in ("recall@700chars", "recall"):
        assert rm.compare(qrels, runs, metrics).conclusions.caveats == []
    similar = {"one": retrieve_chunks(100), "other": retrieve_chunks(140)}
    assert rm.compare(qrels, similar, "recall@5").conclusions.caveats == []


def test_rankings_of_ids_have_no_amount_of_text() -> None:
    qrels = {f"q{number}": ["100-4", "300-1"] for number in range(12)}
    runs = {}
    for name, size in {"small": 100, "large": 300}.items():
        ids = [f"{size}-{number}" for number in range(9)]
        runs[name] = same_ranking(qrels, *ids)
    assert rm.compare(qrels, runs, "recall@5").conclusions.caveats == []


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
    assert row.conclusion == comparison.conclusions.get("mrr", "c", "b").kind
    assert "noninferiority" not in frame


def test_what_is_printed_of_a_comparison_without_times_has_no_seconds() -> None:
    comparison = rm.compare({"q": ["d"]}, {"a": {"q": ["d"]}, "b": {"q": ["x", "d"]}}, "mrr")
    assert comparison.seconds == {"a": {}, "b": {}}
    assert comparison.errors == {"a": {}, "b": {}}
    assert "seconds" not in str(comparison)


@pytest.mark.parametrize(("key", "advice"), [("mrr", r"means\['mrr'\]"), ("a", r"means\['mrr'\]\['a'\]"), (0, "means")])
def test_a_comparison_in_brackets_says_what_to_write(key: object, advice: str) -> None:
    comparison: Any = rm.compare(*systems({"a": [1] * 8, "b": [2] * 8}), "mrr")
    with pytest.raises(TypeError, match=rf"not subscriptable; use comparison\.{advice}, or comparison.conclusions"):
        comparison[key]
