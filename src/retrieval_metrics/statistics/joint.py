"""One randomisation test for all hypotheses of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.checks import positive_integer, proportion
from retrieval_metrics.statistics import arrays
from retrieval_metrics.statistics.sign_flip import exact_p

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

QUERIES_BY_HYPOTHESES = 2  # dimensions
LARGEST_ENUMERATION = 2**15  # joint choices of signs that are listed
FINENESS = 5
"""With m hypotheses, the smallest p value of m / resamples is at most a fifth of alpha."""
ROWS_AT_ONCE = 512  # units whose random signs are held at once


class JointTest(NamedTuple):
    """Result of a joint sign-flip test.

    Attributes:
        p_values: Shape (m,), the p value of each hypothesis by itself.
        corrected: Shape (m,), the p values corrected for all hypotheses.
        exact: Shape (m,), whether `p_values` come from all choices of signs.
        level: The largest p value at which the first hypothesis is rejected: at least alpha / m, and more if the
            hypotheses are correlated.
    """

    p_values: NDArray[np.float64]
    corrected: NDArray[np.float64]
    exact: NDArray[np.bool_]
    level: float


def joint_sign_flips(
    differences: ArrayLike, *, alpha: float = 0.05, resamples: int = 10_000, seed: int = 0
) -> JointTest:
    """Test several hypotheses on the same queries together, by exchanging signs of whole queries.

    A random choice of signs gives each query one sign for all hypotheses, which preserves their dependence. For each
    choice b, every hypothesis j has a p value p_j(b): the share of choices whose sum is at least as far from zero. With
    the observed p values sorted, p(1) <= ... <= p(m),

        corrected p(i) = max over j <= i of (share of b with min over l >= j of p_(l)(b) at most p(j))

    the step-down min-p method (Westfall and Young 1993). If hypotheses nearly repeat each other, as ndcg@5 and ndcg@10
    do, testing both costs little; if they are independent, it is as strict as Holm's method. Range (0, 1].

    All choices are listed if there are few distinct ones, as for two systems and 0/1 metrics. Otherwise `resamples` are
    drawn, or more if m hypotheses need finer p values; the observed choice counts as one of them (Phipson and Smyth
    2010).

    The test assumes that if systems do not differ, the vector of a query's differences is as likely as its negative. A
    skewed difference of mean 0 violates that and is rejected more often than `alpha`.

    Args:
        differences: One row per query (or sums per cluster), one column per hypothesis, shape (n, m); 0 if a query has
            no value for a hypothesis.
        alpha: The accepted probability of any false rejection.
        resamples: Number of random choices where they cannot be listed.
        seed: Seed of the random choices; the same seed gives the same p values.

    Raises:
        ValueError: If a difference is NaN or infinite, the array is not two-dimensional, or another argument is out of
            range.

    Example:
        Of the 2^3 choices only + + + and - - - reach |1 + 2 + 3|. A second metric with the same values costs nothing.

        >>> joint_sign_flips([[1, 2], [2, 4], [3, 6]]).corrected.round(6).tolist()
        [0.25, 0.25]

    References:
        P. H. Westfall, S. S. Young (1993). Resampling-based multiple testing.
        B. Phipson, G. K. Smyth (2010). Permutation p-values should never be zero.
    """
    proportion(alpha, "alpha")
    positive_integer(resamples, "resamples")
    array = np.asarray(differences, dtype=np.float64)
    if array.ndim != QUERIES_BY_HYPOTHESES:
        raise ValueError(
            f"differences must have a row per query and a column per hypothesis; got an array of shape {array.shape}"
        )
    arrays.finite(array, "differences")
    hypotheses = array.shape[1]
    p_values, corrected = np.ones(hypotheses), np.ones(hypotheses)
    exact = np.ones(hypotheses, dtype=np.bool_)
    scaled = array / np.maximum(np.abs(array).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
    scaled[np.abs(scaled) <= arrays.ROUNDING] = 0
    moving = np.flatnonzero(scaled.any(axis=0))
    if not len(moving):
        return JointTest(p_values, corrected, exact, alpha)
    scaled = scaled[:, moving]
    by_itself = [exact_p(column) for column in scaled.T]
    if len(moving) == 1 and by_itself[0] is not None:
        p_values[moving] = corrected[moving] = by_itself
        return JointTest(p_values, corrected, exact, alpha)
    resamples = max(resamples, round(FINENESS * len(moving) / alpha))
    sums, weights = _sums(scaled[scaled.any(axis=1)], resamples, seed)
    of_choices = _p_values(np.abs(sums), weights, tolerance=len(scaled) * arrays.ROUNDING)
    p_values[moving] = [p if known is None else known for p, known in zip(of_choices[0], by_itself, strict=True)]
    exact[moving] = [known is not None for known in by_itself]
    stepped, smallest = _stepped_down(of_choices, weights)
    corrected[moving] = np.maximum(stepped, p_values[moving])
    return JointTest(p_values, corrected, exact, _level(smallest, weights, alpha, len(moving)))


def _sums(rows: NDArray[np.float64], resamples: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of every choice of signs, shape (choices, hypotheses), the observed first, and their weights."""
    observed = rows.sum(axis=0, keepdims=True)
    # A query's vector and its negative have the same two choices.
    leading = rows[np.arange(len(rows)), (rows != 0).argmax(axis=1)]
    vectors, counts = np.unique((rows * np.sign(leading)[:, None]).round(12), axis=0, return_counts=True)
    if np.log2(counts + 1.0).sum() <= np.log2(LARGEST_ENUMERATION):
        sums, weights = _all_sums(vectors, counts)
        return np.concatenate([observed, sums]), np.concatenate([[0.0], weights])
    random = np.random.default_rng(seed)
    sums = np.zeros((resamples, rows.shape[1]))
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        drawn = np.frombuffer(random.bytes(resamples * ((len(some) + 7) // 8)), np.uint8).reshape(resamples, -1)
        heads = np.unpackbits(drawn, axis=1, count=len(some)).astype(np.float64)
        sums += 2 * (heads @ some) - some.sum(axis=0)
    return np.concatenate([observed, sums]), np.full(resamples + 1, 1 / (resamples + 1))


def _all_sums(
    vectors: NDArray[np.float64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of all choices of signs and how probable each is; equal vectors give equal sums."""
    from scipy.stats import binom  # noqa: PLC0415 - importing the package must not load scipy

    sums, weights = np.zeros((1, vectors.shape[1])), np.ones(1)
    for vector, count in zip(vectors, counts.tolist(), strict=True):
        heads = np.arange(count + 1)
        sums = (sums[:, None, :] + (2 * heads - count)[None, :, None] * vector).reshape(-1, len(vector))
        weights = np.multiply.outer(weights, binom.pmf(heads, count, 0.5)).ravel()
    return sums, weights


def _p_values(reached: NDArray[np.float64], weights: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """Return for each choice and hypothesis the share of choices that reach as far, up to rounding."""
    p_values = np.empty_like(reached)
    for column in range(reached.shape[1]):
        order = np.argsort(-reached[:, column])
        furthest_first = reached[order, column]
        last = np.append(np.flatnonzero(np.diff(furthest_first) < -tolerance), len(order) - 1)
        shares = np.cumsum(weights[order])[last]
        p_values[order, column] = np.repeat(shares, np.diff(last, prepend=-1))
    return np.minimum(p_values, 1.0)


def _stepped_down(
    p_values: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corrected p values, and the smallest p value of each choice."""
    order = np.argsort(p_values[0], kind="stable")
    smallest = np.ones(len(p_values))
    corrected = np.empty(len(order))
    for place in range(len(order) - 1, -1, -1):
        smallest = np.minimum(smallest, p_values[:, order[place]])
        corrected[place] = weights[smallest <= p_values[0, order[place]] * (1 + 1e-9)].sum()
    in_order = np.empty_like(corrected)
    in_order[order] = np.minimum(np.maximum.accumulate(corrected), 1.0)
    return in_order, smallest


def _level(smallest: NDArray[np.float64], weights: NDArray[np.float64], alpha: float, hypotheses: int) -> float:
    """Return the largest p value that is the smallest of all hypotheses in at most a share alpha of the choices."""
    order = np.argsort(smallest, kind="stable")
    allowed = np.cumsum(weights[order]) <= alpha
    largest = float(smallest[order][allowed].max(initial=0.0))
    return min(max(largest, alpha / hypotheses), alpha)
