"""A mean is compared with its ceiling, unless it cannot miss it."""

from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.evaluation.mean_limits import check_ceiling

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


@pytest.mark.parametrize("level", [0.5, 0.2, 1.0])
def test_the_level_of_a_one_sided_bound_is_above_a_half(result: rm.Evaluation, level: float) -> None:
    with pytest.raises(ValueError, match=f"above 0.5 and below 1, got {level}"):
        check_ceiling(result.scores, "leak@5", 0.5, level)


def test_a_check_holds_its_numbers_or_why_there_are_none(result: rm.Evaluation) -> None:
    numbers = check_ceiling(result.scores, "leak@5", 0.04).numbers
    assert numbers is not None
    assert (numbers.total, numbers.n_queries, numbers.is_share, numbers.ceiling) == (1, 20, True, 0.04)
    unchecked = check_ceiling(rm.evaluate({"q": ["a"]}, {"q": ["a"]}, "leak@5").scores, "leak@5", 1.0)
    assert unchecked.numbers is None
    assert unchecked.details == unchecked.reason
