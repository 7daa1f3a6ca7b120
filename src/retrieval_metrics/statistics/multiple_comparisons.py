"""Test several hypotheses together by sign flips, corrected for their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_integer, proportion
from retrieval_metrics.statistics.randomisation_tests import (
    MAX_ENUMERATION,
    enumerate_sums,
    heads_probabilities,
    scale_to_one,
    sum_rounding,
)
from retrieval_metrics.statistics.value_arrays import ROUNDING, finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

# More joint choices of signs than this are drawn, not listed.
MAX_JOINT_ENUMERATION = 2**15

# Random signs, and sums, that are held at once: 8 MB each.
MAX_NUMBERS_AT_ONCE = 2**20

# Standardised sums this close differ by rounding only.
SUM_TOLERANCE = 1e-9

# A share of choices that exceeds alpha by less than this, relative to alpha, does so by rounding only.
ALPHA_TOLERANCE = 1e-9

# Largest sums that are kept until it is known which steps need their own critical values: 8 MB.
MAX_KEPT_SUMS = 2**20

# The share of the choices, those furthest from 0, that is sorted to find a critical value.
SORTED_SHARE = 0.25


class JointTest(NamedTuple):
    """Result of a joint sign-flip test.

    Attributes:
        p_values: Shape (m,), the p value of each hypothesis by itself.
        corrected: Shape (m,), the p values corrected for all hypotheses.
        exact: Shape (m,), whether `p_values` come from all choices of signs.
        critical: Shape (m,), how far from 0 the standardised sum of each hypothesis may be without a rejection: its
            corrected p value is at most alpha if and only if |sum d| / sqrt(sum d^2) exceeds it.
        simultaneous: The critical value of the first step, which holds for all hypotheses together.
    """

    p_values: NDArray[np.float64]
    corrected: NDArray[np.float64]
    exact: NDArray[np.bool_]
    critical: NDArray[np.float64]
    simultaneous: float


class Contrasts(NamedTuple):
    """Hypotheses as differences of columns.

    The sums of a few columns give those of all pairs of them, so that testing all pairs of systems costs little more
    than adding up the values of each system.

    Attributes:
        columns: Shape (n, c), a row per query (or sums per cluster).
        plus: Shape (m,), the column of each hypothesis.
        minus: Shape (m,), the column that is subtracted from it.
    """

    columns: NDArray[np.float64]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]


def joint_sign_flips(
    differences: ArrayLike,
    *,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
    contrasts: Contrasts | None = None,
    advance: Callable[[int], None] | None = None,
) -> JointTest:
    """Test several hypotheses on the same queries together, by exchanging signs of whole queries.

    A random choice of signs gives each query one sign for all hypotheses, which preserves their dependence. For each
    choice b and hypothesis j

        z_j(b) = |sum of s d_j| / sqrt(sum of d_j^2)

    whose denominator no choice changes. With the observed z sorted, z(1) >= ... >= z(m),

        corrected p(i) = max over j <= i of (share of b with max over l >= j of z_(l)(b) at least z(j))

    the step-down max-t method (Westfall and Young 1993; Student's t is a monotone function of z). If hypotheses nearly
    repeat each other, as ndcg@5 and ndcg@10 do, testing both costs little. Range (0, 1].

    The critical value of the first step is the 1 - alpha quantile of the largest z; it holds for all hypotheses
    together. A hypothesis that only a later step rejects has the critical value of that step, so that z exceeds it
    exactly where the corrected p value is at most alpha.

    All choices are listed if there are few distinct ones, as for two systems and 0/1 metrics. Otherwise `resamples` are
    drawn, and the observed choice counts as one of them (Phipson and Smyth 2010).

    The test assumes that if systems do not differ, the vector of a query's differences is as likely as its negative. A
    skewed difference of mean 0 violates that and is rejected more often than `alpha`.

    Args:
        differences: One row per query (or sums per cluster), one column per hypothesis, shape (n, m); 0 if a query has
            no value for a hypothesis.
        alpha: The accepted probability of any false rejection.
        resamples: Number of random choices where they cannot be listed.
        seed: Seed of the random choices; the same seed gives the same p values.
        contrasts: The same differences as those of fewer columns, which makes the test faster.
        advance: Told how many random choices are done, beginning with 0; not called where the choices are listed.

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
    if array.ndim != 2:
        raise ValueError(
            f"differences must have a row per query and a column per hypothesis; got an array of shape {array.shape}"
        )
    finite(array, "differences")
    n_hypotheses = array.shape[1]
    # A hypothesis without any difference has p value 1 and is never rejected.
    p_values = np.ones(n_hypotheses)
    corrected = np.ones(n_hypotheses)
    is_exact = np.ones(n_hypotheses, dtype=np.bool_)
    critical = np.full(n_hypotheses, np.inf)
    tested = np.flatnonzero(array.any(axis=0))
    if not len(tested):
        return JointTest(p_values, corrected, is_exact, critical, simultaneous=np.inf)
    own_critical = np.zeros(n_hypotheses)
    for hypothesis in tested.tolist():
        exact_test = _test_exactly(array[:, hypothesis], alpha, MAX_ENUMERATION // len(tested))
        is_exact[hypothesis] = exact_test is not None
        if exact_test is not None:
            p_values[hypothesis] = exact_test.p_value
            own_critical[hypothesis] = exact_test.critical
    if len(tested) == 1 and is_exact[tested[0]]:
        corrected[tested] = p_values[tested]
        critical[tested] = own_critical[tested]
        return JointTest(p_values, corrected, is_exact, critical, simultaneous=float(own_critical[tested[0]]))
    if contrasts is None:
        contrasts = Contrasts(array, np.arange(n_hypotheses), np.full(n_hypotheses, -1))
    choices = _SignChoices.from_contrasts(contrasts, array, tested, resamples, seed)
    steps = _step_down(choices, alpha, advance if choices.counts is None else None)
    hypotheses = tested[choices.order]
    is_sampled = ~is_exact[hypotheses]
    p_values[hypotheses[is_sampled]] = steps.p_values[is_sampled]
    # A hypothesis is rejected if both its own test and the joint one reject it.
    corrected[hypotheses] = np.maximum(steps.corrected, p_values[hypotheses])
    critical[hypotheses] = np.maximum(steps.critical, own_critical[hypotheses])
    return JointTest(p_values, corrected, is_exact, critical, steps.simultaneous)


class _ExactTest(NamedTuple):
    """The p value and the critical value of one hypothesis by itself."""

    p_value: float
    critical: float


def _test_exactly(column: NDArray[np.float64], alpha: float, max_sums: int) -> _ExactTest | None:
    """Return the exact test of one hypothesis; None if its sums are too many to list."""
    scaled = scale_to_one(column)
    signed_sums = enumerate_sums(scaled, max_sums)
    if signed_sums is None:
        return None
    distances = np.abs(signed_sums.sums)
    tolerance = sum_rounding(len(scaled))
    is_reached = distances >= abs(scaled.sum()) - tolerance
    p_value = min(1.0, float(signed_sums.probabilities[is_reached].sum()))
    # Reversed, the sums are their own negatives, so the first half holds every distance, and each stands for two.
    n_first_half = (len(distances) + 1) // 2
    weights = 2 * signed_sums.probabilities[:n_first_half]
    if len(distances) % 2:
        weights[-1] /= 2  # the sum in the middle has no other
    critical_sum = _find_critical_value(distances[:n_first_half], weights, alpha, tolerance)
    return _ExactTest(p_value, critical_sum / float(np.sqrt(scaled @ scaled)))


def _find_critical_value(
    distances: NDArray[np.float64], weights: NDArray[np.float64], alpha: float, tolerance: float
) -> float:
    """Return the largest value that more than a share alpha of the choices reach."""
    n_furthest = int(len(distances) * SORTED_SHARE)
    if n_furthest:
        # The value is nearly always among these, and sorting all would take longer than the rest of the test.
        smallest = np.partition(distances, -n_furthest)[-n_furthest]
        is_far = distances >= smallest
        furthest = _sort_distances(distances[is_far], weights[is_far], tolerance)
        position = furthest.find_position(alpha)
        if position < len(furthest.values) - 1:  # the values equal to the last one may go on below it
            return float(furthest.values[position]) + tolerance
    everything = _sort_distances(distances, weights, tolerance)
    position = min(everything.find_position(alpha), len(everything.values) - 1)
    return float(everything.values[position]) + tolerance


class _SortedDistances(NamedTuple):
    """The different distances of choices from 0, the furthest first, and which share of all choices reaches each."""

    values: NDArray[np.float64]
    shares: NDArray[np.float64]

    def find_position(self, alpha: float) -> int:
        """Return the position of the first distance that more than a share alpha reaches."""
        return int(np.searchsorted(self.shares, alpha * (1 + ALPHA_TOLERANCE), side="right"))


def _sort_distances(distances: NDArray[np.float64], weights: NDArray[np.float64], tolerance: float) -> _SortedDistances:
    """Return the different distances in order; those that differ by rounding are one, which all their choices reach."""
    order = np.argsort(-distances, kind="stable")
    furthest_first = distances[order]
    ends_of_ties = np.append(np.flatnonzero(np.diff(furthest_first) < -tolerance), len(order) - 1)
    return _SortedDistances(furthest_first[ends_of_ties], np.cumsum(weights[order])[ends_of_ties])


class _WeightedSums(NamedTuple):
    """Sums under some choices of signs, shape (choices, columns), and the weight of each choice."""

    sums: NDArray[np.float64]
    weights: NDArray[np.float64]


class _SignChoices(NamedTuple):
    """Choices of signs, and the standardised sums that they lead to.

    Attributes:
        rows: Shape (n, c), the columns that the hypotheses are made of.
        counts: Shape (n,), how often each row occurs, if the choices are listed; None if they are drawn.
        plus: Shape (m,), the column of each hypothesis, those furthest from 0 first.
        minus: Shape (m,), the column that is subtracted.
        scale: Shape (m,), the root of the sum of squares of each hypothesis.
        observed: Shape (m,), the standardised sums observed.
        order: Shape (m,), the position of each hypothesis among the tested ones.
        resamples: How many choices are drawn.
        seed: The seed they are drawn with.
    """

    rows: NDArray[np.float64]
    counts: NDArray[np.int64] | None
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    scale: NDArray[np.float64]
    observed: NDArray[np.float64]
    order: NDArray[np.int64]
    resamples: int
    seed: int

    @classmethod
    def from_contrasts(
        cls,
        contrasts: Contrasts,
        differences: NDArray[np.float64],
        tested: NDArray[np.int64],
        resamples: int,
        seed: int,
    ) -> _SignChoices:
        """Return the choices of signs for the tested hypotheses, which are enumerated where there are few."""
        scale = np.sqrt(np.einsum("ij,ij->j", differences, differences))[tested]
        observed = np.abs(differences.sum(axis=0)[tested]) / scale
        order = np.argsort(-observed, kind="stable")
        zeros = np.zeros((len(differences), 1))  # the last column, which -1 stands for
        rows = np.hstack([contrasts.columns, zeros])[differences.any(axis=1)]
        distinct_rows, row_counts = _count_distinct_rows(rows)
        counts = None
        if np.log2(row_counts + 1.0).sum() <= np.log2(MAX_JOINT_ENUMERATION):
            rows = rows[distinct_rows]
            counts = row_counts
        hypotheses = tested[order]
        return cls(
            rows=rows,
            counts=counts,
            plus=contrasts.plus[hypotheses],
            minus=contrasts.minus[hypotheses],
            scale=scale[order],
            observed=observed[order],
            order=order,
            resamples=resamples,
            seed=seed,
        )

    @property
    def observed_weight(self) -> float:
        """How much the observed choice counts besides the others; the choices that are listed hold it."""
        return 0.0 if self.counts is not None else 1 / (self.resamples + 1)

    @property
    def n_choices(self) -> int:
        """How many choices are listed or drawn."""
        if self.counts is None:
            return self.resamples
        return int(np.prod(self.counts + 1))

    def blocks(self) -> Iterator[_WeightedSums]:
        """Yield the standardised sums of some choices, shape (choices, hypotheses), and the weights of the choices."""
        block_size = max(1, MAX_NUMBERS_AT_ONCE // max(len(self.rows), len(self.plus)))
        if self.counts is None:
            column_sums = self._draw_column_sums(block_size)
        else:
            column_sums = self._enumerate_column_sums(self.counts, block_size)
        for sums, weights in column_sums:
            yield _WeightedSums(np.abs(sums[:, self.plus] - sums[:, self.minus]) / self.scale, weights)

    def _draw_column_sums(self, block_size: int) -> Iterator[_WeightedSums]:
        """Yield the sums of the columns under random signs, shape (choices, c), and the weights of the choices."""
        random = np.random.default_rng(self.seed)
        n_rows = len(self.rows)
        total = self.rows.sum(axis=0)
        for start in range(0, self.resamples, block_size):
            size = min(block_size, self.resamples - start)
            random_bytes = np.frombuffer(random.bytes(size * ((n_rows + 7) // 8)), np.uint8).reshape(size, -1)
            signs = np.unpackbits(random_bytes, axis=1, count=n_rows).astype(np.float64)
            weights = np.full(size, 1 / (self.resamples + 1))
            # With signs of 0 and 1 in place of -1 and 1: the sum of s d is twice that of the chosen d, less all d.
            yield _WeightedSums(2 * (signs @ self.rows) - total, weights)

    def _enumerate_column_sums(self, counts: NDArray[np.int64], block_size: int) -> Iterator[_WeightedSums]:
        """Yield the sums of the columns for all choices of signs, and their probabilities, each distinct row once."""
        sums = np.zeros((1, self.rows.shape[1]))
        weights = np.ones(1)
        for row, count in zip(self.rows, counts.tolist(), strict=True):
            # Of equal rows, only the number of positive signs matters: h of n of them add 2 h - n times the row.
            shifts = (2 * np.arange(count + 1) - count)[None, :, None] * row
            sums = (sums[:, None, :] + shifts).reshape(-1, len(row))
            weights = np.multiply.outer(weights, heads_probabilities(count)).ravel()
        for start in range(0, len(sums), block_size):
            yield _WeightedSums(sums[start : start + block_size], weights[start : start + block_size])


def _count_distinct_rows(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first index of each different row, and how often it occurs; a row and its negative are the same."""
    scaled = rows / np.maximum(np.abs(rows).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
    leading_columns = (np.abs(scaled) > ROUNDING).argmax(axis=1)
    leading_entries = scaled[np.arange(len(scaled)), leading_columns]
    rounded = (scaled * np.sign(leading_entries)[:, None]).round(12) + 0.0  # no negative zeros, whose bytes differ
    _, first_indices, counts = np.unique(rounded, axis=0, return_index=True, return_counts=True)
    return first_indices, counts


class _Steps(NamedTuple):
    """The joint test of the hypotheses with any difference, those furthest from 0 first.

    Attributes:
        p_values: Shape (m,), the p value of each hypothesis by itself, from the same choices of signs.
        corrected: Shape (m,), the p values of the step-down test.
        critical: Shape (m,), the critical values of the step that decides on each hypothesis.
        simultaneous: The critical value of the first step.
    """

    p_values: NDArray[np.float64]
    corrected: NDArray[np.float64]
    critical: NDArray[np.float64]
    simultaneous: float


def _step_down(choices: _SignChoices, alpha: float, advance: Callable[[int], None] | None) -> _Steps:
    """Return the step-down test of the hypotheses with any difference."""
    thresholds = choices.observed - SUM_TOLERANCE
    uncorrected = np.full(len(thresholds), choices.observed_weight)
    corrected = np.full(len(thresholds), choices.observed_weight)
    n_kept_steps = len(thresholds) if choices.n_choices * len(thresholds) <= MAX_KEPT_SUMS else 1
    # Where choices are drawn, the observed one counts as one of them.
    largest_blocks = [choices.observed[None, :n_kept_steps]]
    weight_blocks = [np.array([choices.observed_weight])]
    n_done = 0
    if advance is not None:
        advance(n_done)
    for sums, weights in choices.blocks():
        uncorrected += weights @ (sums >= thresholds)
        largest_by_step = _largest_by_step(sums)
        corrected += weights @ (largest_by_step >= thresholds)
        largest_blocks.append(largest_by_step[:, :n_kept_steps].copy())
        weight_blocks.append(weights)
        n_done += len(sums)
        if advance is not None:
            advance(n_done)
    corrected = np.minimum(np.maximum.accumulate(corrected), 1.0)
    largest = np.concatenate(largest_blocks)
    all_weights = np.concatenate(weight_blocks)
    first_critical = _find_critical_value(largest[:, 0], all_weights, alpha, SUM_TOLERANCE)
    critical = np.full(len(thresholds), first_critical)
    later_steps = np.flatnonzero((corrected <= alpha * (1 + ALPHA_TOLERANCE)) & (choices.observed <= critical))
    if len(later_steps):
        if later_steps[-1] < n_kept_steps:
            largest_of_steps = largest[:, later_steps]
        else:
            largest_of_steps = _compute_largest_of_steps(choices, later_steps)
        for step, column in zip(later_steps.tolist(), largest_of_steps.T, strict=True):
            critical[step] = _find_critical_value(column, all_weights, alpha, SUM_TOLERANCE)
    return _Steps(np.minimum(uncorrected, 1.0), corrected, critical, first_critical)


def _largest_by_step(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each choice and step the largest sum of the hypotheses that the step still tests."""
    largest: NDArray[np.float64] = np.maximum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
    return largest


def _compute_largest_of_steps(choices: _SignChoices, steps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest sums of some steps from the same choices once more, the observed one first."""
    largest_blocks = [choices.observed[None, steps]]
    for block in choices.blocks():
        largest_blocks.append(_largest_by_step(block.sums)[:, steps])
    return np.concatenate(largest_blocks)
