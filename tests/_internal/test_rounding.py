"""What is printed of a value and of an interval."""

from math import nan

import pytest

import retrieval_metrics as rm
from retrieval_metrics._internal.rounding import format_ends
from retrieval_metrics.statistics.agreement import AgreementEstimate


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.29142, 0.51874, "[0.291, 0.519]"),
        (0.0001234, 0.0456, "[0.0001, 0.0456]"),
        (-0.0004, 12.345, "[0.0, 12.3]"),
        (nan, nan, "-"),
    ],
)
def test_both_ends_have_the_digits_of_the_larger(low: float, high: float, text: str) -> None:
    assert format_ends(low, high) == text
    assert str(rm.types.Interval(low, high)) == text


def test_an_interval_prints_rounded_and_its_repr_has_every_digit() -> None:
    estimate = AgreementEstimate(2 / 3, rm.types.Interval(1 / 3, 1.0))
    assert str(estimate) == "0.667 [0.333, 1.000]"
    assert repr(estimate).startswith("AgreementEstimate(value=0.6666666666666666, interval=Interval(low=0.33333333")
    assert str(AgreementEstimate(1.0, rm.types.Interval(nan, nan))) == "1.000"
