"""Consistent formatting of numbers and of what they count."""

from __future__ import annotations

from math import floor, isinf, isnan, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.statistics.intervals import Interval

SMALLEST_P = 0.001
NOTHING = 5e-7
"""A number that is closer to 0 is rounding, or nothing that anybody cares for."""


def interval(ends: Interval, *, signed: bool = False) -> str:
    """Return `[0.721, 0.882]`, or `-` if the interval is NaN; signed, as of differences, `[-0.0123, +0.0457]`."""
    if isnan(ends.low):
        return "-"
    low, high = (three(end, signed=True) if signed else _without_minus_zero(f"{end:.3f}") for end in ends)
    return f"[{low}, {high}]"


def _without_minus_zero(text: str) -> str:
    return text if text.strip("-0.") else text.removeprefix("-")


def signed(value: float, digits: int = 4) -> str:
    """Return `+0.0445`; NaN and values that round to zero have no sign."""
    text = f"{value:+.{digits}f}"
    return text[1:] if isnan(value) or not text.strip("+-0.") else text


def three(value: float, *, signed: bool = False) -> str:
    """Return a number with three significant digits, such as `0.0123`; 0 and NaN have no sign.

    Example:
        >>> three(0.25), three(-0.01234), three(0.5, signed=True), three(0.0, signed=True)
        ('0.250', '-0.0123', '+0.500', '0')
    """
    if isnan(value) or isinf(value):
        return f"{value}"
    if abs(value) < NOTHING:
        return "0"
    digits = max(2 - floor(log10(abs(value))), 0)
    return f"{value:{'+' if signed else ''}.{digits}f}"


def level_name(level: float) -> str:
    """Return the heading of a column of intervals, such as `95 % interval`."""
    return f"{100 * level:g} % interval"


def p_value(p: float) -> str:
    """Return a p value with three significant digits, or `< 0.001`."""
    return f"< {SMALLEST_P}" if p < SMALLEST_P else three(p)


def size(value: float) -> str:
    """Return `0.0512`, or `-` if the size is infinite or NaN."""
    return "-" if isinf(value) or isnan(value) else three(value)


def count(number: int, thing: str, plural: str = "") -> str:
    """Return `1 query`, `1,250 queries`."""
    return f"{number:,} {thing if number == 1 else plural or thing + 's'}"


def queries(number: int) -> str:
    """Return `1 query`, `1,250 queries`."""
    return count(number, "query", "queries")


def listed(names: list[str], most: int | None = None) -> str:
    """Return names joined as in a sentence: `a`, `a and b`, `a, b and c`; of more than `most`, only the first.

    Example:
        >>> listed(["map", "mrr", "ndcg@10"])
        'map, mrr and ndcg@10'
        >>> listed(["map", "mrr", "ndcg@10"], most=1)
        'map and 2 more'
    """
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def cutoff(unit: str) -> str:
    """Return what an axis of cut-offs is called: `cut-off k`, or `cut-off in characters` for another unit than `k`."""
    return "cut-off k" if unit == "k" else f"cut-off in {unit}"
