"""A mean is compared with its ceiling, and a limit that cannot be missed, or cannot be kept, is refused."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.mean_limits import check_ceiling, percentage_hint, require_useful_bound
from retrieval_metrics.metrics.base.user_metrics import forget_metric

QRELS: Any = {f"q{number}": {"a": 1, "z": -1} for number in range(20)}
RUN: Any = {query: ["z", "a"] if query == "q0" else ["a"] for query in QRELS}


@pytest.fixture(scope="module")
def result() -> rm.Evaluation:
    return rm.evaluate(QRELS, RUN, ["leak@5", "mrr"])


@pytest.mark.parametrize(
    ("ceiling", "by_bound", "outcome"),
    [(0.05, False, "passed"), (0.04, False, "above_ceiling"), (0.05, True, "above_ceiling"), (0.25, True, "passed")],
)
def test_the_mean_or_its_upper_bound_is_compared(
    result: rm.Evaluation, ceiling: float, outcome: str, *, by_bound: bool
) -> None:
    check = check_ceiling(result.scores, "leak@5", ceiling, by_bound=by_bound)
    assert (check.metric, check.outcome) == ("leak@5", outcome)


def test_what_has_no_value_is_not_checked() -> None:
    nothing_forbidden = rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "leak@5")
    assert check_ceiling(nothing_forbidden.scores, "leak@5", 1.0).outcome == "not_checked"


@pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")
def test_where_nothing_judged_came_back_no_ceiling_is_kept() -> None:
    other_ids = rm.evaluate(QRELS, {query: ["chunk 1"] for query in QRELS}, "leak@5")
    assert check_ceiling(other_ids.scores, "leak@5", 0.5).outcome == "not_checked"


@pytest.mark.parametrize(
    ("option", "metric", "bound", "message"),
    [
        ("at_least", "leak@5", 0.5, "lower is better in leak@5.*at_most"),
        ("at_least", "recall@5", -0.4, "at_least of recall@5 is -0.4.*every value keeps"),
        ("at_least", "recall@5", 1.4, "at_least of recall@5 is 1.4.*no value can keep"),
        ("at_most", "leak@5", 1.4, "at_most of leak@5 is 1.4.*every value keeps"),
        ("at_most", "leak@5", -1, "at_most of leak@5 is -1.*no value can keep"),
        ("at_least", "recall@5", 80, "0.8 may be meant"),
    ],
)
def test_a_limit_that_says_nothing_is_refused(option: str, metric: str, bound: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        require_useful_bound(option, metric, bound)


@pytest.mark.parametrize(
    ("number", "high", "expected"), [(80, 1, True), (1.5, 1, False), (101, 1, False), (80, 5, False)]
)
def test_only_what_looks_like_a_percentage_is_taken_for_one(number: float, high: float, *, expected: bool) -> None:
    assert bool(percentage_hint(number, high)) is expected


def test_a_metric_of_ones_own_without_bounds_may_be_below_0_and_have_any_floor() -> None:
    rm.define_metric("negative_rank", lambda grades: -float(grades.argmax()), bounded=False, replace=True)
    try:
        require_useful_bound("at_least", "negative_rank", -0.5)
        require_useful_bound("at_least", "negative_rank", 60.0)
        result = rm.evaluate({"q1": ["d"], "q2": ["d"]}, {"q1": ["x", "d"], "q2": ["x", "y", "d"]}, "negative_rank")
        assert result.means["negative_rank"] == -1.5
        low, high = result.intervals()["negative_rank"]
        assert low < -2 < -1 < high
    finally:
        forget_metric("negative_rank")
