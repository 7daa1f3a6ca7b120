"""The randomisation test of paired differences: it exchanges the two systems query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.statistics import arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LARGEST_ENUMERATION = 2**20  # distinct sums held at once: 8 MB, about 20 ms
QUERIES_PER_TABLE = 8  # 2^8 sums of 8 signed differences: a random byte picks one


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
    array = arrays.vector(differences, "differences")
    p_value = exact_p(array)
    if p_value is not None:
        return SignFlip(p_value, exact=True)
    scaled = _scaled(array)
    reached = (np.abs(_random_sums(scaled, resamples, seed)) >= _reach(scaled)).sum()
    return SignFlip((int(reached) + 1) / (resamples + 1), exact=False)


def exact_p(differences: NDArray[np.float64]) -> float | None:
    """Return the p value of `sign_flip_test` from all choices of signs; None if their sums are too many to list."""
    scaled = _scaled(differences)
    reach = _reach(scaled)
    if reach <= 0:
        return 1.0
    magnitudes, counts = np.unique(np.abs(scaled).round(12), return_counts=True)
    if np.log2(counts + 1.0).sum() > np.log2(LARGEST_ENUMERATION):
        return None
    return _exact(magnitudes, counts, reach)


def _scaled(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the differences that are not 0, the largest as 1."""
    scaled = differences / max(np.abs(differences).max(initial=0.0), np.finfo(np.float64).tiny)
    moving: NDArray[np.float64] = scaled[np.abs(scaled) > arrays.ROUNDING]
    return moving


def _reach(scaled: NDArray[np.float64]) -> float:
    # Equal sums count as reaching as far, but may differ by rounding.
    return float(abs(scaled.sum()) - len(scaled) * arrays.ROUNDING)


def _exact(magnitudes: NDArray[np.float64], counts: NDArray[np.int64], reach: float) -> float:
    """Return the share of choices of signs that reach as far, from every distinct sum and its probability."""
    from scipy.stats import binom  # noqa: PLC0415 - importing the package must not load scipy

    negatives = [np.arange(count + 1) for count in counts]
    chances = binom.pmf(
        np.concatenate(negatives), np.repeat(counts, counts + 1), 0.5
    )  # one call, because each has a high overhead
    sums, probabilities = np.zeros(1), np.ones(1)
    for magnitude, negative, chance in zip(
        magnitudes, negatives, np.split(chances, np.cumsum(counts + 1)[:-1]), strict=True
    ):
        sums = np.add.outer(sums, magnitude * (negative[-1] - 2 * negative)).ravel()
        probabilities = np.multiply.outer(probabilities, chance).ravel()
    return min(1.0, float(probabilities[np.abs(sums) >= reach].sum()))


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
