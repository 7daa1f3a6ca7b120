"""Agreement between two people, or a person and a model: Cohen's kappa, with intervals by cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from retrieval_metrics.checks import proportion
from retrieval_metrics.statistics.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

Weights = Literal["linear", "quadratic"] | None
"""How disagreements are weighted: all alike (None), by their distance, or by its square."""


class Agreed(NamedTuple):
    """A measure of agreement with its confidence interval; NaN where it is undefined."""

    value: float
    interval: Interval


def cohens_kappa(confusion: ArrayLike, weights: Weights = None) -> float:
    """Return Cohen's kappa of a table of counts: agreement beyond chance.

        kappa = 1 - sum w n / sum w e         e(i, j) = n(i, .) n(., j) / n

    with w(i, j) = 1 for i != j, |i - j|, or (i - j)^2. Range [-1, 1]: 0 is the agreement of two people who grade
    independently, 1 perfect agreement. NaN without counts, or if both always gave the same grade.

    Args:
        confusion: Shape (grades, grades), how often one gave i and the other j.
        weights: None counts every disagreement alike.

    Raises:
        ValueError: If the weights are unknown or the table is not square.

    Example:
        Of 10, they agree on 4 + 3, and chance would have them agree on 10 (.6 * .5 + .4 * .5) = 5: (7 - 5) / (10 - 5).

        >>> round(cohens_kappa([[4, 2], [1, 3]]), 12)
        0.4

    References:
        J. Cohen (1960). A coefficient of agreement for nominal scales.
        J. Cohen (1968). Weighted kappa.
    """
    table = np.asarray(confusion, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:  # noqa: PLR2004  (a table has rows and columns)
        raise ValueError(f"the table must have as many rows as columns, got shape {table.shape}")
    total = table.sum()
    if not total:
        return math.nan
    at = np.arange(len(table))
    apart = np.abs(at[:, None] - at[None, :])
    match weights:
        case None:
            cost = (apart > 0).astype(np.float64)
        case "linear":
            cost = apart.astype(np.float64)
        case "quadratic":
            cost = apart.astype(np.float64) ** 2
        case _:
            raise ValueError(f"weights must be 'linear', 'quadratic' or None, got {weights!r}")
    chance = float((cost * np.outer(table.sum(axis=1), table.sum(axis=0))).sum()) / total
    return float(1 - (cost * table).sum() / chance) if chance else math.nan


def share_alike(confusion: ArrayLike) -> float:
    """Return the share of counts on the diagonal; NaN without counts."""
    table = np.asarray(confusion, dtype=np.float64)
    total = table.sum()
    return float(np.trace(table) / total) if total else math.nan


def jackknifed(
    tables: ArrayLike, measure: Callable[[NDArray[np.float64]], float], *, level: float = 0.95, lowest: float = -1.0
) -> Agreed:
    """Return a measure of the sum of several tables, with an interval that treats each table as one unit.

    The passages of a query are not independent, so each table holds those of one query. The variance is that of the
    delete-one jackknife, with t(G - 1) for G tables; the interval is cut at `lowest` and 1.

    Args:
        tables: Shape (G, grades, grades), the counts of each query.
        measure: A function of a table that returns the measure.
        level: Confidence level, strictly between 0 and 1.
        lowest: The least value of the measure.

    Returns:
        The value with its interval; the interval is (nan, nan) with fewer than two tables, or if the measure is
        undefined without one of them.

    References:
        R. G. Miller (1974). The jackknife: a review.
    """
    proportion(level, "level")
    counts = np.asarray(tables, dtype=np.float64)
    total = counts.sum(axis=0)
    value = measure(total)
    units = len(counts)
    without = np.array([measure(total - one) for one in counts]) if units > 1 else np.array([math.nan])
    if np.isnan(without).any() or math.isnan(value):
        return Agreed(value, Interval(math.nan, math.nan))

    from scipy.special import stdtrit  # noqa: PLC0415 - importing the package must not load scipy

    error = math.sqrt((units - 1) * float(without.var()))
    half = float(stdtrit(units - 1, (1 + level) / 2)) * error
    return Agreed(value, Interval(max(value - half, lowest), min(value + half, 1.0)))
