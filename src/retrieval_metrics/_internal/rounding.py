"""Round values and their intervals to the digits that every table shows."""

from __future__ import annotations

from math import isinf, isnan

# A number that is closer to 0 is rounding, or nothing that anybody cares for.
NEGLIGIBLE = 5e-7


def format_value(number: float) -> str:
    """Return a value of a metric with three significant digits, and at least three decimals up to 1, as in a column.

    Example:
        >>> format_value(0.81666), format_value(0.0123456), format_value(1.0), format_value(0.0), format_value(1234.5)
        ('0.817', '0.0123', '1.000', '0.000', '1234')
    """
    return without_minus_zero(f"{number:.{_count_decimals(number)}f}")


def format_ends(low: float, high: float) -> str:
    """Return the ends of an interval as `[0.721, 0.882]`, or `-` if nothing is known."""
    if isnan(low) or isinf(low) or isinf(high):
        return "-"
    digits = _count_decimals(max(abs(low), abs(high)))  # no more digits of the smaller end than of the larger
    return f"[{without_minus_zero(f'{low:.{digits}f}')}, {without_minus_zero(f'{high:.{digits}f}')}]"


def _count_decimals(number: float) -> int:
    if isnan(number) or isinf(number) or abs(number) < NEGLIGIBLE:
        return 3
    decimals = count_decimals(number, 3)
    return max(decimals, 3) if abs(number) <= 1 else decimals


def count_decimals(number: float, n_digits: int) -> int:
    """Return how many decimals show some significant digits of a number, as it is after rounding: 0.9996 is 1.00.

    Example:
        >>> count_decimals(0.0123, 3), count_decimals(0.9996, 3), count_decimals(1234.5, 2)
        (4, 2, 0)
    """
    exponent = int(f"{number:.{n_digits - 1}e}".partition("e")[2])
    return max(n_digits - 1 - exponent, 0)


def without_minus_zero(text: str) -> str:
    """Return the text of a number, without the sign if all its digits are 0."""
    return text if text.strip("-0.") else text.removeprefix("-")
