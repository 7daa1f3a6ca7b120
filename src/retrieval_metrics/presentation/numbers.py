"""Consistent formatting of numbers and of what they count."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_metrics.statistics.intervals import Interval

SMALLEST_P = 0.0001


def interval(ends: Interval, *, signed: bool = False) -> str:
    """Return `[0.721, 0.882]`, or `-` if the interval is NaN."""
    if isnan(ends.low):
        return "-"
    low, high = (_with_sign(end, 3) if signed else _without_minus_zero(f"{end:.3f}") for end in ends)
    return f"[{low}, {high}]"


def _with_sign(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text if text.strip("+-0.") else f"+{text[1:]}"


def _without_minus_zero(text: str) -> str:
    return text if text.strip("-0.") else text.removeprefix("-")


def signed(value: float, digits: int = 4) -> str:
    """Return `+0.0445`; NaN and values that round to zero have no sign."""
    text = f"{value:+.{digits}f}"
    return text[1:] if isnan(value) or not text.strip("+-0.") else text


def level_name(level: float) -> str:
    """Return the heading of a column of intervals, such as `95 % interval`."""
    return f"{100 * level:g} % interval"


def p_value(p: float) -> str:
    """Return a p value to four places, or `<0.0001`."""
    return f"<{SMALLEST_P}" if p < SMALLEST_P else f"{p:.4f}"


def size(value: float) -> str:
    """Return `0.0512`, or `-` if the size is infinite or NaN."""
    return "-" if isinf(value) or isnan(value) else f"{value:.4f}"


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
