"""Other grades of unjudged documents can undo a significant difference, or show one."""

import warnings
from pathlib import Path

import pytest

import retrieval_metrics as rm
from ranked_systems import systems
from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds, bound_difference
from retrieval_metrics.statistics import Interval
from retrieval_metrics.types import Difference


def make_bounds(low: float, high: float, p_low: float, p_high: float) -> UnjudgedBounds:
    key = ("mrr", "b", "a")
    return UnjudgedBounds(
        depths={"mrr": 10},
        grades=(0.0, 1.0),
        unretrieved_relevant=2,
        means={},
        differences={key: Interval(low, high)},
        p_values={key: (p_low, p_high)},
        queries={"mrr": 7},
        outer={"mrr": 0},
    )


def compare_ranks(first: list[int], second: list[int]) -> Difference:
    return rm.compare(*systems({"a": first, "b": second}), "mrr").difference("mrr")


@pytest.mark.parametrize(
    ("interval", "p_values", "changes_conclusion"),
    [
        ((0.1, 0.5), (0.01, 0.001), False),
        ((0.1, 0.5), (0.2, 0.001), True),
        ((-0.1, 0.5), (0.01, 0.001), True),
    ],
)
def test_a_significant_gain_depends_on_the_lowest_difference(
    interval: tuple[float, float], p_values: tuple[float, float], *, changes_conclusion: bool
) -> None:
    gain = compare_ranks([2] * 20, [1] * 20)
    assert gain.significant
    assert bound_difference(gain, make_bounds(*interval, *p_values), 0.95).changes_conclusion == changes_conclusion


@pytest.mark.parametrize(
    ("interval", "p_values", "changes_conclusion"),
    [
        ((-0.5, -0.1), (0.001, 0.01), False),
        ((-0.5, -0.1), (0.001, 0.2), True),
        ((-0.5, 0.1), (0.001, 0.01), True),
    ],
)
def test_a_significant_loss_depends_on_the_highest_difference(
    interval: tuple[float, float], p_values: tuple[float, float], *, changes_conclusion: bool
) -> None:
    loss = compare_ranks([1] * 20, [2] * 20)
    assert loss.significant
    assert bound_difference(loss, make_bounds(*interval, *p_values), 0.95).changes_conclusion == changes_conclusion


@pytest.mark.parametrize(
    ("interval", "p_values", "changes_conclusion"),
    [
        ((-0.1, 0.1), (0.2, 0.2), False),
        ((-0.1, 0.1), (0.01, 0.2), True),
        ((-0.1, 0.1), (0.2, 0.01), True),
        ((0.0, 0.0), (0.01, 0.01), False),
    ],
)
def test_identical_systems_could_differ_in_either_direction(
    interval: tuple[float, float], p_values: tuple[float, float], *, changes_conclusion: bool
) -> None:
    identical = compare_ranks([1] * 20, [1] * 20)
    bounds = bound_difference(identical, make_bounds(*interval, *p_values), 0.95)
    assert bounds.changes_conclusion == changes_conclusion


def test_the_bounds_of_a_difference_are_those_of_its_metric() -> None:
    bounds = bound_difference(compare_ranks([2] * 20, [1] * 20), make_bounds(-0.1, 0.5, 1.0, 0.01), 0.95)
    assert bounds.interval == (-0.1, 0.5)
    assert (bounds.depth, bounds.unretrieved_relevant, bounds.n_queries) == (10, 2, 7)


def test_bounds_with_too_many_grades_to_try_are_not_exact() -> None:
    bounds = make_bounds(-0.1, 0.1, 1.0, 1.0)
    assert bounds.exact
    outer = UnjudgedBounds(bounds.depths, bounds.grades, 0, {}, bounds.differences, bounds.p_values, {}, {"mrr": 3})
    assert not outer.exact


def test_what_other_grades_could_change_is_corrected_for_the_choice_too(tmp_path: Path) -> None:
    """If all the unjudged were relevant, 6 queries would be left that differ, too few for the best of three."""
    qrels = {}
    for number in range(14):
        qrels[f"q{number}"] = {"d": 1, "x": 0} if number < 6 else {"d": 1}
    history = rm.History(tmp_path / "history.jsonl")
    for name, ranking in {"new": ["d"], "between": ["x", "d"], "old": ["x"]}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rm.RetrievalWarning)
            result = rm.evaluate(qrels, dict.fromkeys(qrels, ranking), "mrr")
        history.add(result, name, save=tmp_path / f"{name}.json")
    (planned,) = history.compare("old", "new", planned=True, unjudged="bounds").conclusions
    (chosen,) = history.compare("old", "new", unjudged="bounds").conclusions
    assert (planned.kind, chosen.kind) == ("better", "depends_on_unjudged")
