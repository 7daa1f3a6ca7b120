"""Means have their intervals, and a metric over its cut-off is the metric evaluated at each cut-off."""

import math
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import retrieval_metrics as rm
from conformance import CASES, METRICS, Case
from retrieval_metrics.evaluation.cutoffs import choose_cutoffs
from retrieval_metrics.evaluation.mean_limits import require_useful_bound
from retrieval_metrics.integration_api import Scorer
from retrieval_metrics.metrics.base.user_metrics import forget_metric
from retrieval_metrics.statistics import mean_interval
from retrieval_metrics.types import QueryScore

QRELS = {"q1": {"a": 2, "b": 1}, "q2": ["c"], "q3": {"c": 0}}
RUN = {"q1": ["x", "a", "y", "b"], "q2": ["c"], "q3": ["c"]}


def test_each_mean_is_that_of_an_evaluation_at_that_cut_off() -> None:
    result = rm.evaluate(QRELS, RUN, ["mrr@2"])
    over = result.at_cutoffs("ndcg(gain=exponential)@7", [1, 2, 5])
    assert over == {
        k: rm.evaluate(QRELS, RUN, f"ndcg(gain=exponential)@{k}").means[f"ndcg(gain=exponential)@{k}"]
        for k in (1, 2, 5)
    }


def test_a_slice_is_averaged_over_its_own_queries() -> None:
    assert rm.evaluate(QRELS, RUN, "mrr").group_by({"q1": "one"})["one"].at_cutoffs("recall", [1, 2, 4]) == {
        1: 0, 2: 0.5, 4: 1,
    }  # fmt: skip


def test_cut_offs_go_to_twice_the_largest_asked_for_or_the_longest_ranking() -> None:
    long = {"q": [f"d{at}" for at in range(300)]}
    assert choose_cutoffs([rm.evaluate({"q": ["d1"]}, long, "mrr@8").scores], rm.Metric.parse("mrr@8")) == list(
        range(1, 17)
    )
    assert choose_cutoffs([rm.evaluate(QRELS, RUN, "mrr@8").scores], rm.Metric.parse("mrr@8")) == [1, 2, 3, 4]
    far = choose_cutoffs([rm.evaluate({"q": ["d1"]}, long, "mrr@100").scores], rm.Metric.parse("mrr@100"))
    assert far[:20] == list(range(1, 21))
    assert far[-1] == 200
    assert sorted(set(far)) == far
    assert len(far) < 60


def test_cut_offs_of_a_budget_are_budgets() -> None:
    chunks = [rm.Retrieved(f"d{at}", "x" * 40) for at in range(10)]
    result = rm.evaluate({"q": ["d3"]}, {"q": chunks}, "recall@120chars")
    over = result.at_cutoffs("recall@120chars")
    assert list(over) == [20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240]
    assert over == {
        size: rm.evaluate({"q": ["d3"]}, {"q": chunks}, f"recall@{size}chars").means[f"recall@{size}chars"]
        for size in over
    }
    assert [size for size, mean in over.items() if mean] == [160, 180, 200, 220, 240]  # four chunks of 40
    assert result.at_cutoffs("mrr@1chars", [159, 160]) == {159: 0, 160: 0.25}


def test_what_takes_no_cut_off_is_refused() -> None:
    result = rm.evaluate(QRELS, RUN, "mrr")
    with pytest.raises(ValueError, match="r_precision takes no cut-off"):
        result.at_cutoffs("r_precision")
    with pytest.raises(ValueError, match="a cut-off must be a positive integer, got 0"):
        result.at_cutoffs("ndcg", [0])


def test_over_cut_offs_ties_are_treated_as_in_the_means() -> None:
    truth, run = {"q1": ["a"], "q2": ["a"]}, {"q1": {"a": 1.0, "x": 1.0}, "q2": {"a": 2.0, "x": 1.0}}
    result = rm.evaluate(truth, run, "mrr@10", ties="expected")
    assert result.means["mrr@10"] == 0.875  # ((1 + 1/2) / 2 + 1) / 2
    assert result.at_cutoffs("mrr", [10]) == {10: 0.875}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_the_values_are_those_of_evaluate_in_a_run_and_alone(case: Case) -> None:
    expected = rm.evaluate(case.qrels, case.run, METRICS).per_query
    together = Scorer(METRICS).queries(case.qrels, case.run)
    for metric, scores in together.items():
        assert list(scores) == list(case.qrels)
        for query, truth in case.qrels.items():
            alone = Scorer(metric).queries({query: truth}, {query: case.run.get(query, [])})[metric][query]
            assert repr(alone) == repr(scores[query])
            assert scores[query].value.hex() == expected[str(metric)][query].hex()
            assert scores[query].is_defined is not math.isnan(scores[query].value)


def test_ranks_and_numbers_are_counted_by_hand() -> None:
    qrels: dict[str, Any] = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": [["a", "b"], ["c"]], "q3": ["z"], "q4": []}
    run = {"q1": ["c", "b", "x", "a", "b"], "q2": ["b", "a", "x"], "q3": []}
    metric = rm.Metric("recall", 2)
    scores = Scorer(metric).queries(qrels, run)[metric]
    assert scores["q1"] == QueryScore(0.5, (2, 4), 2, 5)
    assert scores["q2"] == QueryScore(0.5, (1, 2), 2, 3)
    assert scores["q3"] == QueryScore(0.0, (), 1, 0)
    assert scores["q4"][1:4] == ((), 0, 0)
    strict = rm.Metric("recall", rel=2)
    assert Scorer(strict).queries(qrels, run)[strict]["q1"] == QueryScore(1.0, (4,), 1, 5)


def test_it_never_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Scorer("map").queries({"q": ["a"]}, {"q": []})
        Scorer("map").queries({"q": ["a"]}, {})


def test_pieces_are_scored_and_their_ranks_are_those_of_what_is_relevant() -> None:
    qrels = {"q": [rm.Quote("a block with methods"), rm.Text("A block is a piece of text.")]}
    items = [
        rm.Retrieved("c1", "something else"),
        rm.Retrieved("c2", "wraps a block with methods. A block is a piece of text."),
        rm.Retrieved("c3", "Again: a block is a piece of text."),
    ]
    metric = rm.Metric("map")
    (score,) = Scorer(metric).queries(qrels, {"q": items})[metric].values()
    assert score.value.hex() == rm.evaluate(qrels, {"q": items}, "map").means["map"].hex()
    assert score[1:4] == ((2, 3), 2, 3)


QUERIES = range(20)
JUDGED = {query: {"a": 2, "b": 1} for query in QUERIES}
FOUND = {query: ["a", "x", "b"] if query % 4 else ["x", "b"] for query in QUERIES}


@pytest.fixture(scope="module")
def result() -> rm.Evaluation:
    return rm.evaluate(JUDGED, FOUND, ["hit_rate@1", "mrr", "ndcg@3", "precision@5", "dcg"])


def test_a_metric_that_is_0_or_1_has_the_interval_of_clopper_and_pearson(result: rm.Evaluation) -> None:
    expected = stats.binomtest(15, 20).proportion_ci(0.9, method="exact")
    assert result.intervals(0.9)["success@1"] == pytest.approx((expected.low, expected.high), abs=1e-12)


NEED_ONE = ["hit_rate@5", "full_recall@5", "recall@5", "r_precision", "mrr@1", "map@1", "ndcg@1", "f1@1", "precision@1"]


def test_the_same_data_have_the_same_interval_whatever_the_metric_is_called(tmp_path: Path) -> None:
    qrels = {query: ["a"] for query in QUERIES}
    run = {query: ["a"] if query % 4 else ["x"] for query in QUERIES}
    found = rm.evaluate(qrels, run, NEED_ONE)
    parts = [rm.evaluate({q: qrels[q] for q in some}, run, NEED_ONE) for some in (QUERIES[:7], QUERIES[7:])]

    assert len(set(found.intervals().values())) == 1
    assert found.intervals()["recall@5"] == mean_interval(found.values[:, 2], binary=True)
    assert rm.merge([part.totals() for part in parts]).intervals() == found.intervals()
    for rankings in (True, False):
        found.save(tmp_path / "saved.json", rankings=rankings)
        assert rm.load(tmp_path / "saved.json").intervals() == found.intervals()


def test_one_question_that_needs_two_changes_the_interval_a_little() -> None:
    widths = []
    for two in range(21):  # each with both of its documents, or none: the values stay the same
        qrels = {query: ["a", "b"] if query < two else ["a"] for query in QUERIES}
        run = {query: ["a", "b"] if query % 4 else ["x"] for query in QUERIES}
        low, high = rm.evaluate(qrels, run, "recall@5").intervals()["recall@5"]
        widths.append(high - low)

    steps = [one - other for one, other in pairwise(widths)]
    assert all(0 < step < 0.1 * (widths[0] - widths[-1]) for step in steps)
    assert widths[-1] == pytest.approx(float(np.ptp(mean_interval([1.0] * 15 + [0.0] * 5))))


def test_a_mean_over_orders_of_equal_scores_is_not_two_valued() -> None:
    run = {query: {"a": 1.0, "x": 1.0} for query in QUERIES}
    found = rm.evaluate({query: ["a"] for query in QUERIES}, run, "recall@1", ties="expected")
    assert found.intervals()["recall@1"] == mean_interval([0.5] * 20)


def test_other_metrics_have_the_interval_of_the_kernel(result: rm.Evaluation) -> None:
    assert result.intervals()["mrr"] == mean_interval([1.0] * 15 + [0.5] * 5)
    dcg = result.values[:, 4]
    assert result.intervals()["dcg"] == mean_interval(dcg, bounds=(0, math.inf))


def test_the_upper_bound_is_what_an_ideal_ranking_reaches(result: rm.Evaluation) -> None:
    # Two relevant documents: no ranking has a precision@5 above 2/5.
    assert result.intervals()["precision@5"] == mean_interval([0.4] * 15 + [0.2] * 5, bounds=(0, 0.4))


@pytest.mark.parametrize(
    ("metric", "upper"),
    [("f1@5", 4 / 7), ("rbp(p=0.5)", 0.625), ("precision(norm=retrieved)@5", 1.0), ("precision(rel=2)@5", 0.2)],
)
def test_other_metrics_that_stop_below_1_are_bounded_there(metric: str, upper: float) -> None:
    # f1: 2 (2/5) 1 / (2/5 + 1); rbp: .5 (2/2 + .5 * 1/2)
    result = rm.evaluate(JUDGED, FOUND, metric)
    assert result.intervals()[metric] == pytest.approx(mean_interval(result.values[:, 0], bounds=(0, upper)))


def test_with_groups_the_reach_of_precision_counts_every_member() -> None:
    result = rm.evaluate({"p": [["a", "b"], ["c"]], "q": [["a"]]}, {"p": ["a"], "q": ["a"]}, "precision@5")
    assert result.intervals()["precision@5"] == mean_interval([0.2, 0.2], bounds=(0, 0.6))


def test_an_interval_contains_a_mean_that_is_rounded_beyond_its_bound() -> None:
    result = rm.evaluate({query: ["a"] for query in range(3)}, {query: ["a"] for query in range(3)}, "precision@5")
    assert result.means["precision@5"] > 0.2  # the float nearest to 3 * 0.2 is above 0.6
    assert result.intervals()["precision@5"].high == result.means["precision@5"]


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.integers(0, 30),
        st.tuples(
            st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), max_size=4),
            st.lists(st.sampled_from("abcdxyz"), min_size=1, max_size=6),
        ),
        min_size=1,
    ),
    st.sampled_from([0.5, 0.95, 0.99]),
)
def test_every_interval_contains_its_mean(queries: dict[int, tuple[dict[str, int], list[str]]], level: float) -> None:
    metrics = [*rm.DEFAULT_METRICS, "f1@3", "rbp", "err", "dcg", "bpref", "r_precision", "err(max_grade=9)", "judged@3"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        result = rm.evaluate({q: j for q, (j, _) in queries.items()}, {q: r for q, (_, r) in queries.items()}, metrics)
    for name, (low, high) in result.intervals(level).items():
        if result.n[name]:
            assert low <= result.means[name] <= high
        else:
            assert math.isnan(low)
    assert str(result)


def test_a_metric_without_a_defined_query_prints_no_interval() -> None:
    result = rm.evaluate({"q": {"d": 0}}, {"q": ["d"]}, "mrr")
    assert str(result).splitlines()[1].split() == ["mrr", "nan", "-", "0"]


def test_a_level_that_makes_no_sense_is_refused(result: rm.Evaluation) -> None:
    with pytest.raises(ValueError, match="level must be strictly between 0 and 1"):
        result.intervals(95)


def test_a_mean_of_few_values_without_a_bound_says_that_its_interval_may_hold_less_often() -> None:
    def said(n: int, bounds: tuple[float, float]) -> str:
        return str(rm.Evaluation.from_scores({"latency": {f"q{at}": 0.5 + at for at in range(n)}}, bounds=bounds))

    assert "a 95 % interval from fewer than 25 queries may be right in only 77 to 94 of 100 cases" in said(
        24, (0, math.inf)
    )
    assert "of 100 cases" not in said(25, (0, math.inf))
    assert "of 100 cases" not in said(24, (0, 100))


def test_a_metric_of_ones_own_without_bounds_may_be_below_0_and_have_any_floor() -> None:
    rm.define_metric("negative_rank", lambda grades: -float(grades.argmax()), bounded=False, replace=True)
    try:
        require_useful_bound("at_least", "negative_rank", -0.5)
        require_useful_bound("at_least", "negative_rank", 60.0)
        found = rm.evaluate({"q1": ["d"], "q2": ["d"]}, {"q1": ["x", "d"], "q2": ["x", "y", "d"]}, "negative_rank")
        assert found.means["negative_rank"] == -1.5
        assert found.intervals()["negative_rank"].low < -2 < -1 < found.intervals()["negative_rank"].high
    finally:
        forget_metric("negative_rank")
