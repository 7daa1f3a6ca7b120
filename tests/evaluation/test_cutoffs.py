"""A metric over its cutoff is the metric evaluated at each cutoff."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.cutoffs import choose_cutoffs, cutoff_size, cutoff_unit, means_and_intervals

QRELS = {"q1": {"a": 2, "b": 1}, "q2": ["c"], "q3": {"c": 0}}
RUN = {"q1": ["x", "a", "y", "b"], "q2": ["c"], "q3": ["c"]}


def test_each_mean_is_that_of_an_evaluation_at_that_cut_off() -> None:
    result = rm.evaluate(QRELS, RUN, ["mrr@2"])
    mean_by_cutoff = result.at_cutoffs("ndcg(gain=exponential)@7", [1, 2, 5])
    assert list(mean_by_cutoff) == [1, 2, 5]
    for cutoff, mean in mean_by_cutoff.items():
        name = f"ndcg(gain=exponential)@{cutoff}"
        assert mean == rm.evaluate(QRELS, RUN, name).means[name]


def test_a_slice_is_averaged_over_its_own_queries() -> None:
    slices = rm.evaluate(QRELS, RUN, "mrr").group_by({"q1": "first"})
    assert slices["first"].at_cutoffs("recall", [1, 2, 4]) == {1: 0, 2: 0.5, 4: 1}


def test_cut_offs_go_to_twice_the_largest_asked_for_or_the_longest_ranking() -> None:
    def choose(qrels: Any, run: Any, metric: str) -> list[int]:
        return choose_cutoffs([rm.evaluate(qrels, run, metric).scores], rm.Metric.parse(metric))

    long_run = {"q": [f"d{number}" for number in range(300)]}
    assert choose({"q": ["d1"]}, long_run, "mrr@8") == list(range(1, 17))
    assert choose(QRELS, RUN, "mrr@8") == [1, 2, 3, 4]
    cutoffs = choose({"q": ["d1"]}, long_run, "mrr@100")
    assert cutoffs[:20] == list(range(1, 21))
    assert cutoffs[-1] == 200
    assert sorted(set(cutoffs)) == cutoffs
    assert len(cutoffs) < 60


def test_cut_offs_of_a_budget_are_budgets() -> None:
    chunks = [rm.Retrieved(f"d{number}", "x" * 40) for number in range(10)]
    result = rm.evaluate({"q": ["d3"]}, {"q": chunks}, "recall@120chars")
    mean_by_size = result.at_cutoffs("recall@120chars")
    assert list(mean_by_size) == [20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240]
    for size, mean in mean_by_size.items():
        name = f"recall@{size}chars"
        assert mean == rm.evaluate({"q": ["d3"]}, {"q": chunks}, name).means[name]
        assert mean == (size >= 160)  # four chunks of 40
    assert result.at_cutoffs("mrr@1chars", [159, 160]) == {159: 0, 160: 0.25}


def test_what_takes_no_cut_off_is_refused() -> None:
    result = rm.evaluate(QRELS, RUN, "mrr")
    with pytest.raises(ValueError, match="r_precision takes no cutoff"):
        result.at_cutoffs("r_precision")
    with pytest.raises(ValueError, match=r"cutoff .* got 0"):
        result.at_cutoffs("ndcg", [0])


def test_over_cut_offs_ties_are_treated_as_in_the_means() -> None:
    qrels = {"q1": ["a"], "q2": ["a"]}
    run = {"q1": {"a": 1.0, "x": 1.0}, "q2": {"a": 2.0, "x": 1.0}}
    result = rm.evaluate(qrels, run, "mrr@10", ties="expected")
    assert result.means["mrr@10"] == 0.875  # ((1 + 1/2) / 2 + 1) / 2
    assert result.at_cutoffs("mrr", [10]) == {10: 0.875}


@pytest.mark.filterwarnings("ignore:only .* clusters")
def test_each_interval_is_that_of_an_evaluation_at_that_cut_off() -> None:
    qrels = {"q1": ["a", "b"], "q2": ["c"], "q3": ["a"]}
    clusters = {"q1": "x", "q2": "x", "q3": "y"}
    result = rm.evaluate(qrels, RUN, "mrr@2", clusters=clusters)
    means, intervals = means_and_intervals(result.scores, rm.Metric.parse("recall@9"), [1, 4])
    for cutoff in (1, 4):
        name = f"recall@{cutoff}"
        expected = rm.evaluate(qrels, RUN, name, clusters=clusters)
        assert means[cutoff] == expected.means[name]
        assert intervals[cutoff] == expected.intervals()[name]


@pytest.mark.parametrize(
    ("name", "unit", "size"),
    [
        ("recall@10", "k", 10),
        ("recall@200chars", "characters", 200),
        ("recall@50tokens", "tokens", 50),
        ("map", "k", None),
    ],
)
def test_the_unit_of_a_cut_off_is_what_it_counts(name: str, unit: str, size: int | None) -> None:
    metric = rm.Metric.parse(name)
    assert (cutoff_unit(metric), cutoff_size(metric)) == (unit, size)
