"""Means have their intervals, computed once with the scores."""

import math
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import retrieval_metrics as rm
from retrieval_metrics.evaluation.summary import MetricSummary, summarize
from retrieval_metrics.statistics import mean_interval

QUERIES = range(20)
JUDGED = {query: {"a": 2, "b": 1} for query in QUERIES}
FOUND = {query: ["a", "x", "b"] if query % 4 else ["x", "b"] for query in QUERIES}


@pytest.fixture(scope="module")
def result() -> rm.Evaluation:
    return rm.evaluate(JUDGED, FOUND, ["hit_rate@1", "mrr", "ndcg@3", "precision@5", "dcg"])


def test_a_metric_that_is_0_or_1_has_the_interval_of_clopper_and_pearson(result: rm.Evaluation) -> None:
    expected = stats.binomtest(15, 20).proportion_ci(0.9, method="exact")
    assert result.intervals(0.9)["success@1"] == pytest.approx((expected.low, expected.high), abs=1e-12)


# Metrics that are the same number if each query needs one document.
SINGLE_DOCUMENT_METRICS = [
    "hit_rate@5",
    "full_recall@5",
    "recall@5",
    "r_precision",
    "mrr@1",
    "map@1",
    "ndcg@1",
    "f1@1",
    "precision@1",
]


def test_the_same_data_have_the_same_interval_whatever_the_metric_is_called(tmp_path: Path) -> None:
    qrels = {query: ["a"] for query in QUERIES}
    run = {query: ["a"] if query % 4 else ["x"] for query in QUERIES}
    result = rm.evaluate(qrels, run, SINGLE_DOCUMENT_METRICS)
    totals = []
    for part_queries in (QUERIES[:7], QUERIES[7:]):
        part_qrels = {query: qrels[query] for query in part_queries}
        totals.append(rm.evaluate(part_qrels, run, SINGLE_DOCUMENT_METRICS).totals())

    assert len(set(result.intervals().values())) == 1
    assert result.intervals()["recall@5"] == mean_interval(result.values[:, 2], binary=True)
    assert rm.merge(totals).intervals() == result.intervals()
    for rankings in (True, False):
        result.save(tmp_path / "saved.json", rankings=rankings)
        assert rm.load(tmp_path / "saved.json").intervals() == result.intervals()


def test_one_question_that_needs_two_changes_the_interval_a_little() -> None:
    widths = []
    for n_with_two in range(21):  # each with both of its documents, or none: the values stay the same
        qrels = {query: ["a", "b"] if query < n_with_two else ["a"] for query in QUERIES}
        run = {query: ["a", "b"] if query % 4 else ["x"] for query in QUERIES}
        low, high = rm.evaluate(qrels, run, "recall@5").intervals()["recall@5"]
        widths.append(high - low)

    for width, next_width in pairwise(widths):
        assert 0 < width - next_width < 0.1 * (widths[0] - widths[-1])
    assert widths[-1] == pytest.approx(float(np.ptp(mean_interval([1.0] * 15 + [0.0] * 5))))


def test_a_mean_over_orders_of_equal_scores_is_not_two_valued() -> None:
    run = {query: {"a": 1.0, "x": 1.0} for query in QUERIES}
    result = rm.evaluate({query: ["a"] for query in QUERIES}, run, "recall@1", ties="expected")
    assert result.intervals()["recall@1"] == mean_interval([0.5] * 20)


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
def test_every_interval_contains_its_mean(
    judgments_and_ranking_by_query: dict[int, tuple[dict[str, int], list[str]]], level: float
) -> None:
    qrels: dict[int, dict[str, int]] = {}
    run: dict[int, list[str]] = {}
    for query, (judgments, ranking) in judgments_and_ranking_by_query.items():
        qrels[query] = judgments
        run[query] = ranking
    metrics = [*rm.DEFAULT_METRICS, "f1@3", "rbp", "err", "dcg", "bpref", "r_precision", "err(max_grade=9)", "judged@3"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rm.RetrievalWarning)
        result = rm.evaluate(qrels, run, metrics)
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


def test_a_summary_has_what_is_printed_of_each_metric() -> None:
    qrels = {"q1": ["a"], "q2": ["a"], "q3": []}
    result = rm.evaluate(qrels, {"q1": ["a"], "q2": ["x", "a"], "q3": ["a"]}, ["mrr", "rbp(p=0.5)"])
    mrr, rbp = summarize(result.scores).metrics
    assert mrr == MetricSummary(rm.Metric("mrr"), "mrr", 0.75, 2, result.intervals()["mrr"], None)
    assert (rbp.name, rbp.residual) == ("rbp(p=0.5)", result.residuals["rbp(p=0.5)"])
    assert summarize(result.scores) is summarize(result.scores)
    assert summarize(result.totals()).metrics == (mrr, rbp)


@pytest.mark.filterwarnings("ignore:only .* clusters")
def test_clusters_have_a_design_effect_for_each_metric_with_values() -> None:
    qrels = {query: ["a"] for query in QUERIES}
    run = {query: ["a"] if query % 4 else ["x"] for query in QUERIES}
    result = rm.evaluate(qrels, run, ["mrr", "judged@1"], clusters=lambda query: query // 2)
    clusters = summarize(result.scores).clusters
    assert clusters is not None
    assert clusters.clusters.count == 10
    assert list(map(str, clusters.design_effects)) == ["mrr", "judged@1"]
    assert summarize(rm.evaluate(qrels, run, "mrr").scores).clusters is None


# What computes values; printing reads what was computed with them.
COMPUTING_FOLDERS = ("matching", "metrics", "statistics")

CORE = Path(rm.__file__).parent


def test_printing_again_computes_nothing() -> None:
    qrels = {f"q{number}": {f"d{number}": 2, f"d{number + 1}": 1} for number in range(5)}
    run = {query: {f"d{rank}": 1 / (rank + 1) for rank in range(6)} for query in qrels}
    result = rm.evaluate(qrels, run)
    result.intervals()
    printed = str(result)
    calls: list[CodeType] = []

    def record_call(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Comprehensions are functions of their own up to Python 3.11.
        if event == "call" and Path(code.co_filename).is_relative_to(CORE) and not code.co_name.startswith("<"):
            calls.append(code)

    # A coverage measurement or a debugger may have set another.
    profile = sys.getprofile()
    sys.setprofile(record_call)
    try:
        printed_again = str(result)
    finally:
        sys.setprofile(profile)
    assert printed_again == printed
    computing = [CORE / folder for folder in COMPUTING_FOLDERS]
    for code in calls:
        is_computing = any(Path(code.co_filename).is_relative_to(folder) for folder in computing)
        assert not is_computing or code.co_qualname == "Metric.__str__"
    assert 0 < len(calls) <= 120
