"""The best of several systems is overrated by its own mean, from five systems on."""

import random

import numpy as np
import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.selection_bias import MetricOfSystems, SelectionBias, estimate_selection_bias

SYSTEMS = list("abcdefgh")


def estimate_one(
    systems: list[str], values: np.ndarray, sign: int, clusters: np.ndarray | None
) -> SelectionBias | None:
    """The bias for one metric, whose values have the shape (systems, queries)."""
    biases = estimate_selection_bias([MetricOfSystems("ndcg", values.T, sign)], systems, clusters)
    return biases[0] if biases else None


def compare_random_systems(n_systems: int, metrics: list[str]) -> rm.Comparison:
    rng = random.Random(1)
    qrels = {f"q{number}": ["d"] for number in range(40)}
    runs: dict[str, dict[str, list[str]]] = {}
    for number in range(n_systems):
        run = {}
        for query in qrels:
            above = [f"x{rank}" for rank in range(rng.randrange(6))]
            run[query] = [*above, "d"]
        runs[f"s{number}"] = run
    return rm.compare(qrels, runs, metrics)


def test_the_best_of_equal_systems_is_expected_to_have_their_common_mean() -> None:
    rng = np.random.default_rng(0)
    observed = []
    expected = []
    for _ in range(60):
        bias = estimate_one(SYSTEMS, rng.normal(0.5, 0.25, (8, 40)), 1, None)
        assert bias is not None
        observed.append(bias.observed - 0.5)
        expected.append(bias.expected - 0.5)

    assert np.mean(observed) > 0.04
    assert abs(np.mean(expected)) < 0.015


def test_where_lower_is_better_the_lowest_mean_is_the_best() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.25, (8, 40))
    highest = estimate_one(SYSTEMS, values, 1, None)
    lowest = estimate_one(SYSTEMS, -values, -1, None)
    assert highest is not None
    assert lowest is not None
    assert (lowest.system, lowest.observed, lowest.expected) == (highest.system, -highest.observed, -highest.expected)
    assert lowest.is_optimistic == highest.is_optimistic


def test_a_clear_winner_is_not_overrated() -> None:
    values = np.full((6, 30), 0.3)
    values[2] = 0.8
    bias = estimate_one(SYSTEMS[:6], values, 1, None)
    assert bias is not None
    assert bias.system == "c"
    assert bias.observed == pytest.approx(0.8)
    assert bias.expected == pytest.approx(0.8)


def test_clusters_are_left_out_whole() -> None:
    values = np.random.default_rng(2).normal(0.5, 0.25, (6, 10))
    repeated = estimate_one(SYSTEMS[:6], values.repeat(4, axis=1), 1, np.arange(10).repeat(4))
    single = estimate_one(SYSTEMS[:6], values, 1, None)
    assert repeated is not None
    assert single is not None
    assert repeated.expected == pytest.approx(single.expected)


def test_few_systems_and_no_queries_have_no_estimate() -> None:
    assert estimate_one(SYSTEMS[:4], np.zeros((4, 10)), 1, None) is None
    assert estimate_one(SYSTEMS, np.zeros((8, 0)), 1, None) is None


def test_a_comparison_of_five_systems_has_the_bias_of_each_metric() -> None:
    comparison = compare_random_systems(6, ["mrr", "ndcg@10", "judged@10"])
    biases = {bias.metric: bias for bias in comparison.conclusions.selection_bias}
    assert list(biases) == ["mrr", "ndcg@10"]
    bias = biases["mrr"]
    assert bias.n_systems == 6
    assert bias.observed == comparison.means["mrr"][bias.system] == max(comparison.means["mrr"].values())
    assert bias.expected < bias.observed
    assert not compare_random_systems(4, ["mrr"]).conclusions.selection_bias


def test_the_note_is_printed_with_the_comparison_and_its_conclusions() -> None:
    comparison = compare_random_systems(6, ["mrr", "ndcg@10"])
    (note,) = comparison.conclusions.selection_bias_notes
    assert note in str(comparison)
    assert note in str(comparison.conclusions)
    assert note.split(":", maxsplit=1)[0] in comparison._repr_html_()
    assert compare_random_systems(4, ["mrr"]).conclusions.selection_bias_notes == []
