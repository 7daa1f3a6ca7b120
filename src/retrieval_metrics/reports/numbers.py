"""Format numbers, and what they count, the same way everywhere."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING

from retrieval_metrics._internal import rounding
from retrieval_metrics._internal.rounding import NEGLIGIBLE, count_decimals, format_ends

if TYPE_CHECKING:
    from retrieval_metrics.statistics.mean_intervals import Interval


SMALLEST_P = 0.001

# Also used by what stands below reports: intervals print themselves.
format_value = rounding.format_value


def format_known_value(number: float) -> str:
    """Return a value as `format_value` does, or `-` if it is NaN, as the mean over no query is."""
    return "-" if isnan(number) else format_value(number)


def format_distinct(number: float, other_number: float) -> tuple[str, str]:
    """Return two values with as many digits as it takes to see which is larger, and three at least.

    Example:
        >>> format_distinct(0.5, 1 / 3), format_distinct(0.79996, 0.8), format_distinct(0.5, 0.5)
        (('0.500', '0.333'), ('0.79996', '0.80000'), ('0.500', '0.500'))
    """
    texts = format_value(number), format_value(other_number)
    for digits in range(4, 16):
        if float(texts[0]) != float(texts[1]) or number == other_number:
            break
        texts = f"{number:.{digits}f}", f"{other_number:.{digits}f}"
    return texts


def format_change(before: float, now: float) -> str:
    """Return `0.500 -> 0.333`, with as many digits as it takes to see the change."""
    return " -> ".join(format_distinct(before, now))


def format_interval(ends: Interval, *, difference: bool = False) -> str:
    """Return `[0.721, 0.882]`, or `-` if nothing is known; of a difference `[-0.0123, +0.0457]`."""
    if isnan(ends.low) or isinf(ends.low) or isinf(ends.high):
        return "-"
    if difference:
        return f"[{format_signed(ends.low)}, {format_signed(ends.high)}]"
    return format_ends(ends.low, ends.high)


def format_mean(number: float, ends: Interval) -> str:
    """Return a mean with its interval, `0.850 [0.721, 0.882]`, or alone if nothing is known of it; `-` for NaN."""
    return f"{format_known_value(number)} {format_interval(ends)}".removesuffix(" -")


def format_three_digits(number: float) -> str:
    """Return a number with three significant digits, such as `0.0123`; next to 0 it is `0`.

    Example:
        >>> format_three_digits(0.25), format_three_digits(-0.01234), format_three_digits(0.0)
        ('0.250', '-0.0123', '0')
    """
    if isnan(number) or isinf(number):
        return f"{number}"
    if abs(number) < NEGLIGIBLE:
        return "0"
    return f"{number:.{count_decimals(number, 3)}f}"


def format_rounded(number: float, digits: int) -> str:
    """Return a number rounded to significant digits, without trailing zeros and without an exponent.

    Example:
        >>> format_rounded(0.0304, 2), format_rounded(347.2, 2), format_rounded(0.5, 2), format_rounded(1234.5, 3)
        ('0.03', '350', '0.5', '1230')
    """
    return f"{float(f'{number:.{digits}g}'):.15g}"


def format_two_digits(number: float) -> str:
    """Return a number with two significant digits, such as `0.40`, as all minimum detectable effects are shown.

    Example:
        >>> format_two_digits(0.4), format_two_digits(0.0996), format_two_digits(0.0304), format_two_digits(347.2)
        ('0.40', '0.10', '0.030', '350')
    """
    if isnan(number) or isinf(number):
        return f"{number}"
    return f"{float(f'{number:.1e}'):.{count_decimals(number, 2)}f}"


def format_signed(number: float) -> str:
    """Return `+0.0445`; NaN and values next to 0 have no sign."""
    return f"+{format_three_digits(number)}" if number >= NEGLIGIBLE else format_three_digits(number)


def level_name(level: float) -> str:
    """Return the heading of a column of intervals, such as `95% CI`."""
    return f"{100 * level:g}% CI"


def format_p_value(p: float) -> str:
    """Return a p value with three significant digits, or `< 0.001`."""
    return f"< {SMALLEST_P}" if p < SMALLEST_P else format_three_digits(p)


def format_size(number: float) -> str:
    """Return a minimum detectable effect, `0.051`, or `-` if it is infinite or NaN."""
    return "-" if isinf(number) or isnan(number) else format_two_digits(number)


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Return `1 query`, `1,250 queries`."""
    noun = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {noun}"


def format_query_count(number: int) -> str:
    """Return `1 query`, `1,250 queries`."""
    return format_count(number, "query", "queries")


def format_example(number: int, example: str) -> str:
    """Return `e.g. 'q1'` for one of several cases; the only case is no example, so it stands alone: `'q1'`."""
    return example if number == 1 else f"e.g. {example}"


def join_names(names: list[str], most: int | None = None, conjunction: str = "and") -> str:
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
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"
