"""Measure the agreement of two or more graders beyond chance, with intervals by cluster."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from retrieval_metrics._internal.rounding import format_value
from retrieval_metrics._internal.validation import proportion
from retrieval_metrics.statistics.clustered_values import MIN_UNITS_FOR_SPREAD, effective_sums
from retrieval_metrics.statistics.distributions import t_quantile
from retrieval_metrics.statistics.mean_intervals import Interval, interval_from_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

# How disagreements are weighted: all alike (None), by their distance, or by its square.
Weights = Literal["linear", "quadratic"] | None

# Fewer queries with a disagreement do not show how much disagreements vary, so a kappa has no interval.
MIN_DISAGREEMENTS = 3


class AgreementEstimate(NamedTuple):
    """A measure of agreement with its confidence interval; NaN where it is undefined."""

    value: float
    interval: Interval

    def __str__(self) -> str:
        return f"{format_value(self.value)} {self.interval}".removesuffix(" -")


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
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"the table must have as many rows as columns, got shape {table.shape}")
    total = table.sum()
    if not total:
        return math.nan
    cost = _disagreement_costs(len(table), weights)
    chance = float((cost * np.outer(table.sum(axis=1), table.sum(axis=0))).sum()) / total
    if not chance:
        return math.nan
    return float(1 - (cost * table).sum() / chance)


def _disagreement_costs(n_grades: int, weights: Weights) -> NDArray[np.float64]:
    """Return what each disagreement costs, shape (grades, grades)."""
    grade = np.arange(n_grades)
    distance: NDArray[np.float64] = np.abs(grade[:, None] - grade[None, :]).astype(np.float64)
    match weights:
        case None:
            return (distance > 0).astype(np.float64)
        case "linear":
            return distance
        case "quadratic":
            return np.square(distance)
        case _:
            raise ValueError(f"weights must be 'linear', 'quadratic' or None, got {weights!r}")


def kappa_by_cluster(tables: ArrayLike, weights: Weights = None, *, level: float = 0.95) -> AgreementEstimate:
    """Return Cohen's kappa of the sum of several tables, with an interval that treats each table as one unit.

    The passages of a query are not independent, so each table holds those of one query. The variance is that of the
    delete-one jackknife. With d the weighted disagreements of each table, t has the degrees of freedom of as many
    tables as disagree equally much, (sum d)^2 / sum d^2, at most one less than there are.

    Args:
        tables: Shape (G, grades, grades), the counts of each query.
        weights: As in `cohens_kappa`.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        The value with its interval, cut at -1 and 1; the interval is (nan, nan) if fewer than 3 tables hold a
        disagreement, or kappa is undefined without one of them.

    References:
        R. G. Miller (1974). The jackknife: a review.
    """
    proportion(level, "level")
    counts = np.asarray(tables, dtype=np.float64)
    total = counts.sum(axis=0)
    disagreements = np.einsum("qij,ij->q", counts, _disagreement_costs(len(total), weights))
    return _estimate_by_cluster(counts, lambda table: cohens_kappa(table, weights), disagreements, level)


def _estimate_by_cluster(
    counts: NDArray[np.float64],
    measure: Callable[[NDArray[np.float64]], float],
    disagreements: NDArray[np.float64],
    level: float,
) -> AgreementEstimate:
    """Return a measure of the sum of tables with its interval; `disagreements` are the weighted ones of each."""
    total = counts.sum(axis=0)
    n_clusters = len(counts)
    value = measure(total)
    if np.count_nonzero(disagreements) < MIN_DISAGREEMENTS or math.isnan(value):
        return AgreementEstimate(value, Interval(math.nan, math.nan))
    without_each = np.array([measure(total - table) for table in counts])
    standard_error = math.sqrt((n_clusters - 1) * float(without_each.var()))
    effective_clusters = float(disagreements.sum()) ** 2 / float(disagreements @ disagreements)
    half_width = t_quantile(min(n_clusters - 1.0, effective_clusters), (1 + level) / 2) * standard_error
    return AgreementEstimate(value, Interval(max(value - half_width, -1.0), min(value + half_width, 1.0)))


def krippendorffs_alpha(tables: ArrayLike, weights: Weights = None, *, level: float = 0.95) -> AgreementEstimate:
    """Return Krippendorff's alpha, the agreement of any number of graders beyond chance, with an interval by query.

        alpha = 1 - (n - 1) sum w o / sum w n(i) n(j)

    with o(i, j) the coincidences: of a document with m >= 2 grades, each ordered pair counts 1 / (m - 1); n(i) is how
    often i occurs in them, n all of them, and w as in `cohens_kappa`. At most 1, perfect agreement; 0 is that of
    chance. NaN without coincidences, or if one grade alone occurs. The variance is that of the jackknife by query; with
    d the weighted disagreements of each, t has (sum d)^2 / sum d^2 degrees of freedom, at most one less than queries.

    Args:
        tables: Shape (G, grades, grades), the coincidences of each query.
        weights: None counts every disagreement alike.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        The value and its interval, cut at -1 and 1; (nan, nan) if graders disagree in fewer than 3 queries.

    Raises:
        ValueError: If the weights are unknown.

    Example:
        Three graders, two documents: 0, 0, 1 and 1, 1, 1. The first counts 1 for 0-0 and for each order of 0-1, the
        second 3 for 1-1: o = [[1, 1], [1, 3]], n = 6, n(0) = 2, n(1) = 4, and alpha = 1 - 5 * 2 / (2 * 2 * 4).

        >>> krippendorffs_alpha([[[1, 1], [1, 0]], [[0, 0], [0, 3]]]).value
        0.375

    References:
        K. Krippendorff (2011). Computing Krippendorff's alpha-reliability.
    """
    proportion(level, "level")
    counts = np.asarray(tables, dtype=np.float64)
    cost = _disagreement_costs(counts.shape[1], weights)
    disagreements = np.einsum("qij,ij->q", counts, cost)

    def alpha(table: NDArray[np.float64]) -> float:
        grade_counts = table.sum(axis=1)
        chance = float(grade_counts @ cost @ grade_counts)
        if not chance:
            return math.nan
        return float(1 - (grade_counts.sum() - 1) * (cost * table).sum() / chance)

    return _estimate_by_cluster(counts, alpha, disagreements, level)


def share_by_cluster(hits: ArrayLike, counts: ArrayLike, *, level: float = 0.95) -> AgreementEstimate:
    """Return a share of all counts, with the interval of a proportion in clusters; see `effective_sums`.

    Args:
        hits: Shape (G,), how many of each cluster count.
        counts: Shape (G,), how many there are in each.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        The share with its interval; both are NaN without counts, the interval if only one cluster has any.

    Example:
        In 25 clusters of 12 nothing failed. If failures come cluster by cluster, 15% of them may fail.

        >>> share = share_by_cluster([12] * 25, [12] * 25)
        >>> "{:.2f} [{:.2f}, {:.2f}]".format(share.value, *share.interval)
        '1.00 [0.85, 1.00]'
    """
    proportion(level, "level")
    n_hits = np.asarray(hits, np.int64)
    n_counted = np.asarray(counts, np.int64)
    value = float(n_hits.sum() / n_counted.sum()) if n_counted.any() else math.nan
    if np.count_nonzero(n_counted) < MIN_UNITS_FOR_SPREAD:
        return AgreementEstimate(value, Interval(math.nan, math.nan))
    hits_and_misses = np.column_stack([n_hits, n_counted - n_hits]).ravel()
    outcomes = np.repeat(np.tile([1.0, 0.0], len(n_counted)), hits_and_misses)
    sums = effective_sums(outcomes, np.repeat(np.arange(len(n_counted)), n_counted))
    return AgreementEstimate(value, interval_from_sums(sums, level=level, binary=1.0))
