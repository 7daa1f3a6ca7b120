"""Test one hypothesis by sign flips; comparisons test many at once, in `multiple_comparisons.py`."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.statistics.value_arrays import ROUNDING, vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Distinct sums held at once: 8 MB, about 20 ms.
MAX_ENUMERATION = 2**20

# Up to this length, rows are computed column by column.
MAX_SHORT_ROW = 8

# 2^8 sums of 8 signed differences: a random byte picks one.
QUERIES_PER_TABLE = 8


class SignFlip(NamedTuple):
    """Result of a sign-flip test."""

    p_value: float
    exact: bool


def sign_flip_test(differences: ArrayLike, *, resamples: int = 10_000, seed: int = 0) -> SignFlip:
    """Test whether paired differences are centred on zero by a two-sided randomisation test.

    If two systems do not differ, each query's two values are interchangeable, and every difference d could equally have
    the other sign. The p value is the share of all 2^n choices of signs s for which the sum is at least as far from
    zero as observed:

        p = share of s in {-1, 1}^n with |sum s d| >= |sum d|

    Range (0, 1]. It is exact if the distinct sums can be listed. Queries without a difference do not change the sum,
    and c differences of equal size contribute one of c + 1 sums with binomial probabilities. So it is exact for twenty
    different differences, and for any number of queries with a 0/1 metric (McNemar's exact test). Otherwise `resamples`
    random choices are drawn and p = (b + 1) / (resamples + 1), where b of them reach as far (Phipson and Smyth 2010),
    which is a valid p value and never 0. If all differences are 0, or there are no queries, p = 1.

    Args:
        differences: One difference per query, shape (n,).
        resamples: Number of random choices of signs if there are too many to list.
        seed: Seed of the random choices; the same seed gives the same p value.

    Raises:
        ValueError: If a difference is NaN or infinite, or `resamples` is below 1.

    Example:
        Of the 2^3 choices of signs for 1, 2, 3 only + + + and - - - reach |6|: p = 2 / 8.

        >>> p_value, exact = sign_flip_test([1, 2, 3])
        >>> round(p_value, 6), exact
        (0.25, True)

    References:
        R. A. Fisher (1935). The design of experiments.
        B. Phipson, G. K. Smyth (2010). Permutation p-values should never be zero.
        M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
        retrieval evaluation.
    """
    positive_integer(resamples, "resamples")
    scaled = scale_to_one(vector(differences, "differences"))
    threshold = abs(float(scaled.sum())) - sum_rounding(len(scaled))
    signed_sums = enumerate_sums(scaled)
    if signed_sums is not None:
        is_reached = np.abs(signed_sums.sums) >= threshold
        return SignFlip(min(1.0, float(signed_sums.probabilities[is_reached].sum())), exact=True)
    n_reached = (np.abs(_random_sums(scaled, resamples, seed)) >= threshold).sum()
    return SignFlip((int(n_reached) + 1) / (resamples + 1), exact=False)


class SignedSums(NamedTuple):
    """Every distinct sum of some differences with random signs, and its probability."""

    sums: NDArray[np.float64]
    probabilities: NDArray[np.float64]


def enumerate_sums(differences: NDArray[np.float64], max_sums: int = MAX_ENUMERATION) -> SignedSums | None:
    """Return every distinct sum of the differences with random signs; None if there are too many."""
    magnitudes, counts = np.unique(np.abs(differences).round(12), return_counts=True)
    if np.log2(counts + 1.0).sum() > np.log2(max_sums):
        return None
    sums = np.zeros(1)
    probabilities = np.ones(1)
    for magnitude, count in zip(magnitudes.tolist(), counts.tolist(), strict=True):
        n_negative = np.arange(count + 1)
        sums = _combine(np.add, sums, magnitude * (count - 2 * n_negative))
        probabilities = _combine(np.multiply, probabilities, heads_probabilities(count))
    return SignedSums(sums, probabilities)


def _combine(operation: np.ufunc, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the results for each number of the first array with each of the second, in this order."""
    if len(second) > MAX_SHORT_ROW:
        return np.asarray(operation.outer(first, second)).ravel()
    # Column by column, because numpy takes up to ten times as long for many short rows.
    results = np.empty((len(first), len(second)))
    for column, number in enumerate(second.tolist()):
        operation(first, number, out=results[:, column])
    return results.ravel()


def heads_probabilities(count: int) -> NDArray[np.float64]:
    """Return the probabilities of 0 to `count` heads in as many tosses of a fair coin.

    Example:
        >>> heads_probabilities(3).tolist()
        [0.125, 0.375, 0.375, 0.125]
    """
    middle = (count + 1) // 2
    n_heads = np.arange(middle, count)
    # Each probability from the one before, from the middle up; below it they are the same.
    ratios = np.concatenate([[1.0], (count - n_heads) / (n_heads + 1)])
    upper_half = comb(count, middle) / 2**count * np.cumprod(ratios)
    lower_half = upper_half[::-1][: count + 1 - len(upper_half)]
    return np.concatenate([lower_half, upper_half])


def scale_to_one(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the differences that are not 0, the largest as 1."""
    scaled = differences / max(np.abs(differences).max(initial=0.0), np.finfo(np.float64).tiny)
    moving: NDArray[np.float64] = scaled[np.abs(scaled) > ROUNDING]
    return moving


def sum_rounding(count: int) -> float:
    """Return how much two equal sums of `count` differences of at most 1 may differ by rounding."""
    return count * ROUNDING


def _random_sums(differences: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Return sums of the differences with random signs, in memory of the order of `resamples`."""
    random = np.random.default_rng(seed)
    sums = np.zeros(resamples)
    for start in range(0, len(differences), QUERIES_PER_TABLE):
        table = np.zeros(1)
        for difference in differences[start : start + QUERIES_PER_TABLE]:
            table = np.concatenate([table - difference, table + difference])
        sums += table[random.integers(len(table), size=resamples, dtype=np.uint16)]
    return sums
