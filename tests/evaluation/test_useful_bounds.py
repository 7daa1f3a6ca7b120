"""A bound that every value keeps, or no value can keep, is refused."""

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.useful_bounds import format_percentage_hint, require_useful_bound
from retrieval_metrics.metrics.base.user_metrics import forget_metric


@pytest.mark.parametrize(
    ("option", "metric", "bound", "message"),
    [
        ("at_least", "leak@5", 0.5, "lower is better for leak@5.*at_most"),
        ("at_least", "recall@5", -0.4, "at_least for recall@5 must be .* got -0.4: every value would pass"),
        ("at_least", "recall@5", 1.4, "at_least for recall@5 must be .* got 1.4: no value could pass"),
        ("at_most", "leak@5", 1.4, "at_most for leak@5 must be .* got 1.4: every value would pass"),
        ("at_most", "leak@5", -1, "at_most for leak@5 must be .* got -1: no value could pass"),
        ("at_least", "recall@5", 80, r"Did you mean 0\.8\?"),
    ],
)
def test_a_limit_that_says_nothing_is_refused(option: str, metric: str, bound: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        require_useful_bound(option, metric, bound)


@pytest.mark.parametrize(
    ("number", "high", "expected"), [(80, 1, True), (1.5, 1, False), (101, 1, False), (80, 5, False)]
)
def test_only_what_looks_like_a_percentage_is_taken_for_one(number: float, high: float, *, expected: bool) -> None:
    assert bool(format_percentage_hint(number, high)) is expected


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
