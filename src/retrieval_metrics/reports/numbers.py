"""Consistent formatting of numbers and of what they count."""

from __future__ import annotations

from math import floor, isinf, isnan, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.statistics.means import Interval


SMALLEST_P = 0.001
NOTHING = 5e-7
"""A number that is closer to 0 is rounding, or nothing that anybody cares for."""


def value(number: float) -> str:
    """Return a value of a metric with three significant digits, and at least three decimals up to 1, as in a column.

    Example:
        >>> value(0.81666), value(0.0123456), value(1.0), value(0.0), value(1234.5)
        ('0.817', '0.0123', '1.000', '0.000', '1234')
    """
    return _without_minus_zero(f"{number:.{_decimals(number)}f}")


def _decimals(number: float) -> int:
    if isnan(number) or isinf(number) or abs(number) < NOTHING:
        return 3
    digits = max(2 - floor(log10(abs(number))), 0)
    return max(digits, 3) if abs(number) <= 1 else digits


def apart(one: float, other: float) -> tuple[str, str]:
    """Return two values with as many digits as it takes to see which is larger, and three at least.

    Example:
        >>> apart(0.5, 1 / 3), apart(0.79996, 0.8), apart(0.5, 0.5)
        (('0.500', '0.333'), ('0.79996', '0.80000'), ('0.500', '0.500'))
    """
    both = value(one), value(other)
    for digits in range(4, 16):
        if float(both[0]) != float(both[1]) or one == other:
            break
        both = f"{one:.{digits}f}", f"{other:.{digits}f}"
    return both


def change(before: float, now: float) -> str:
    """Return `0.500 -> 0.333`, with as many digits as it takes to see the change."""
    return " -> ".join(apart(before, now))


def interval(ends: Interval, *, difference: bool = False) -> str:
    """Return `[0.721, 0.882]`, or `-` if nothing is known; of a difference `[-0.0123, +0.0457]`."""
    if isnan(ends.low) or isinf(ends.low) or isinf(ends.high):
        return "-"
    if difference:
        return f"[{signed(ends.low)}, {signed(ends.high)}]"
    digits = _decimals(max(map(abs, ends)))  # no more digits of the smaller end than of the larger
    low, high = (_without_minus_zero(f"{end:.{digits}f}") for end in ends)
    return f"[{low}, {high}]"


def mean(found: float, ends: Interval) -> str:
    """Return a mean with its interval, `0.850 [0.721, 0.882]`, or alone if nothing is known of the interval."""
    return f"{value(found)} {interval(ends)}".removesuffix(" -")


def _without_minus_zero(text: str) -> str:
    return text if text.strip("-0.") else text.removeprefix("-")


def three(value: float) -> str:
    """Return a number with three significant digits, such as `0.0123`; next to 0 it is `0`.

    Example:
        >>> three(0.25), three(-0.01234), three(0.0)
        ('0.250', '-0.0123', '0')
    """
    if isnan(value) or isinf(value):
        return f"{value}"
    if abs(value) < NOTHING:
        return "0"
    return f"{value:.{max(2 - floor(log10(abs(value))), 0)}f}"


def signed(value: float) -> str:
    """Return `+0.0445`; NaN and values next to 0 have no sign."""
    return f"+{three(value)}" if value >= NOTHING else three(value)


def level_name(level: float) -> str:
    """Return the heading of a column of intervals, such as `95 % interval`."""
    return f"{100 * level:g} % interval"


def p_value(p: float) -> str:
    """Return a p value with three significant digits, or `< 0.001`."""
    return f"< {SMALLEST_P}" if p < SMALLEST_P else three(p)


def size(value: float) -> str:
    """Return `0.0512`, or `-` if the size is infinite or NaN."""
    return "-" if isinf(value) or isnan(value) else three(value)


def format_count(number: int, thing: str, plural: str = "") -> str:
    """Return `1 query`, `1,250 queries`."""
    return f"{number:,} {thing if number == 1 else plural or thing + 's'}"


def format_query_count(number: int) -> str:
    """Return `1 query`, `1,250 queries`."""
    return format_count(number, "query", "queries")


def join_names(names: list[str], most: int | None = None) -> str:
    """Return names joined as in a sentence: `a`, `a and b`, `a, b and c`; of more than `most`, only the first.

    Example:
        >>> join_names(["map", "mrr", "ndcg@10"])
        'map, mrr and ndcg@10'
        >>> join_names(["map", "mrr", "ndcg@10"], most=1)
        'map and 2 more'
    """
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
