"""Consistent formatting of numbers and of what they count."""

from __future__ import annotations

from math import floor, isinf, isnan, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.statistics.means import Interval


SMALLEST_P = 0.001

# A number that is closer to 0 is rounding, or nothing that anybody cares for.
NEGLIGIBLE = 5e-7


def value(number: float) -> str:
    """Return a value of a metric with three significant digits, and at least three decimals up to 1, as in a column.

    Example:
        >>> value(0.81666), value(0.0123456), value(1.0), value(0.0), value(1234.5)
        ('0.817', '0.0123', '1.000', '0.000', '1234')
    """
    return _without_minus_zero(f"{number:.{_decimals(number)}f}")


def _decimals(number: float) -> int:
    if isnan(number) or isinf(number) or abs(number) < NEGLIGIBLE:
        return 3
    decimals = _three_digits(number)
    return max(decimals, 3) if abs(number) <= 1 else decimals


def _three_digits(number: float) -> int:
    """Return how many decimals show three significant digits of a number other than 0."""
    return max(2 - floor(log10(abs(number))), 0)


def format_distinct(first: float, second: float) -> tuple[str, str]:
    """Return two values with as many digits as it takes to see which is larger, and three at least.

    Example:
        >>> format_distinct(0.5, 1 / 3), format_distinct(0.79996, 0.8), format_distinct(0.5, 0.5)
        (('0.500', '0.333'), ('0.79996', '0.80000'), ('0.500', '0.500'))
    """
    texts = value(first), value(second)
    for digits in range(4, 16):
        if float(texts[0]) != float(texts[1]) or first == second:
            break
        texts = f"{first:.{digits}f}", f"{second:.{digits}f}"
    return texts


def change(before: float, now: float) -> str:
    """Return `0.500 -> 0.333`, with as many digits as it takes to see the change."""
    return " -> ".join(format_distinct(before, now))


def interval(ends: Interval, *, difference: bool = False) -> str:
    """Return `[0.721, 0.882]`, or `-` if nothing is known; of a difference `[-0.0123, +0.0457]`."""
    if isnan(ends.low) or isinf(ends.low) or isinf(ends.high):
        return "-"
    if difference:
        return f"[{signed(ends.low)}, {signed(ends.high)}]"
    digits = _decimals(max(abs(ends.low), abs(ends.high)))  # no more digits of the smaller end than of the larger
    low = _without_minus_zero(f"{ends.low:.{digits}f}")
    high = _without_minus_zero(f"{ends.high:.{digits}f}")
    return f"[{low}, {high}]"


def mean(number: float, ends: Interval) -> str:
    """Return a mean with its interval, `0.850 [0.721, 0.882]`, or alone if nothing is known of the interval."""
    return f"{value(number)} {interval(ends)}".removesuffix(" -")


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
    if abs(value) < NEGLIGIBLE:
        return "0"
    return f"{value:.{_three_digits(value)}f}"


def signed(value: float) -> str:
    """Return `+0.0445`; NaN and values next to 0 have no sign."""
    return f"+{three(value)}" if value >= NEGLIGIBLE else three(value)


def level_name(level: float) -> str:
    """Return the heading of a column of intervals, such as `95 % interval`."""
    return f"{100 * level:g} % interval"


def p_value(p: float) -> str:
    """Return a p value with three significant digits, or `< 0.001`."""
    return f"< {SMALLEST_P}" if p < SMALLEST_P else three(p)


def size(value: float) -> str:
    """Return `0.0512`, or `-` if the size is infinite or NaN."""
    return "-" if isinf(value) or isnan(value) else three(value)


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Return `1 query`, `1,250 queries`."""
    noun = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {noun}"


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
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
