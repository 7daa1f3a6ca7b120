"""The settings over a number, and by two parameters."""

from collections.abc import Sequence
from typing import Any

import pytest

import retrieval_metrics as rm
from retrieval_metrics.comparison.tuning_curves import find_curve
from tried_settings import data


def lambdas(*, sizes: Sequence[int] = (20,), repeats: int = 30) -> rm.types.Tuning:
    """Return the choice of a number: the nearer to 0.5, the more questions have their document first."""

    def made(lambda_mult: float, fetch_k: int) -> dict[str, list[str]]:
        right = repeats * (1 - abs(lambda_mult - 0.5)) - (fetch_k == 10)
        return {f"q{number}": ["d", "x"] if number < right else ["x", "d"] for number in range(repeats)}

    qrels = {f"q{number}": ["d"] for number in range(repeats)}
    grid: dict[str, Any] = {"lambda_mult": [1.0, 0.1, 0.5, 0.9], "fetch_k": list(sizes)}
    return rm.tune(made, qrels, "mrr", default={"lambda_mult": 1.0, "fetch_k": sizes[0]}, parameters=grid)


@pytest.mark.parametrize("sizes", [(20,), (20, 10)])
def test_a_number_is_drawn_as_a_curve_in_its_order_with_whole_intervals(sizes: tuple[int, ...]) -> None:
    tuning = lambdas(sizes=sizes)
    axes = tuning.plot().axes[0]
    curve = find_curve(tuning)
    assert curve is not None
    assert curve.parameter == "lambda_mult"
    assert list(curve.lines) == ([""] if len(sizes) == 1 else ["fetch_k=10", "fetch_k=20"])
    for points in curve.lines.values():
        assert [point.value for point in points] == [0.1, 0.5, 0.9, 1.0]
    low, high = axes.get_ylim()
    for setting in tuning.settings:
        if setting.difference is not None:
            assert low < setting.difference.interval.low
            assert setting.difference.interval.high < high
    assert {"winner", "default"} <= {text.get_text() for text in axes.texts}


def test_without_three_numbers_there_is_no_curve() -> None:
    qrels, runs = data(3)
    named = rm.tune(runs, qrels, "mrr", default="s0")
    assert find_curve(named) is None
    assert named.plot().axes
    with pytest.raises(ValueError, match="needs a parameter with three numbers"):
        named.plot("curve")
