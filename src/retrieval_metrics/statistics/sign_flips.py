"""Sign-flip tests: of one hypothesis, and of all hypotheses of a comparison together."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_integer, proportion
from retrieval_metrics.statistics import means as arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray


QUERIES_BY_HYPOTHESES = 2  # dimensions
LARGEST_JOINT_ENUMERATION = 2**15  # joint choices of signs that are listed
NUMBERS_AT_ONCE = 2**20  # of random signs, and of sums: 8 MB each
NEAR = 1e-9  # standardised sums this close differ by rounding only


class JointTest(NamedTuple):
    """Result of a joint sign-flip test.

    Attributes:
        p_values: Shape (m,), the p value of each hypothesis by itself.
        corrected: Shape (m,), the p values corrected for all hypotheses.
        exact: Shape (m,), whether `p_values` come from all choices of signs.
        critical: Shape (m,), how far from 0 the standardised sum of each hypothesis may be without a rejection: its
            corrected p value is at most alpha exactly if |sum d| / sqrt(sum d^2) exceeds it.
        simultaneous: The critical value of the first step, which holds for all hypotheses together.
    """

    p_values: NDArray[np.float64]
    corrected: NDArray[np.float64]
    exact: NDArray[np.bool_]
    critical: NDArray[np.float64]
    simultaneous: float


class Contrasts(NamedTuple):
    """Hypotheses as differences of columns, so that many pairs of few systems cost as much as the systems.

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
    if array.ndim != QUERIES_BY_HYPOTHESES:
        raise ValueError(
            f"differences must have a row per query and a column per hypothesis; got an array of shape {array.shape}"
        )
    arrays.finite(array, "differences")
    hypotheses = array.shape[1]
    nothing, exact = np.ones(hypotheses), np.ones(hypotheses, dtype=np.bool_)
    found = JointTest(nothing, nothing.copy(), exact, np.full(hypotheses, np.inf), np.inf)
    moving = np.flatnonzero(array.any(axis=0))
    if not len(moving):
        return found
    for at in moving.tolist():
        alone = _by_itself(array[:, at], alpha, LARGEST_ENUMERATION // len(moving))
        found.exact[at] = alone is not None
        if alone is not None:
            found.p_values[at], found.critical[at] = alone
    if len(moving) == 1 and found.exact[moving[0]]:
        found.corrected[moving] = found.p_values[moving]
        return found._replace(simultaneous=float(found.critical[moving[0]]))
    given = Contrasts(array, np.arange(hypotheses), np.full(hypotheses, -1)) if contrasts is None else contrasts
    choices = _SignChoices.from_contrasts(given, array, moving, resamples, seed)
    first = _step_down(choices, moving, alpha, found, advance if choices.counts is None else None)
    return found._replace(simultaneous=first)


def _by_itself(column: NDArray[np.float64], alpha: float, most: int) -> tuple[float, float] | None:
    """Return the exact p value and the critical value of one hypothesis; None if its sums are too many to list."""
    scaled = of_size_one(column)
    listed = all_sums(scaled, most)
    if listed is None:
        return None
    sums, chances = np.abs(listed[0]), listed[1]
    tolerance = rounding_of_sums(len(scaled))
    p_value = min(1.0, float(chances[sums >= abs(scaled.sum()) - tolerance].sum()))
    return p_value, _critical(sums, chances, alpha, tolerance) / float(np.sqrt(scaled @ scaled))


def _critical(reached: NDArray[np.float64], weights: NDArray[np.float64], alpha: float, tolerance: float) -> float:
    """Return the largest value that more than a share alpha of the choices reach."""
    order = np.argsort(-reached, kind="stable")
    furthest_first = reached[order]
    # Values that differ by rounding are one value, which all of their choices reach.
    last = np.append(np.flatnonzero(np.diff(furthest_first) < -tolerance), len(order) - 1)
    shares = np.cumsum(weights[order])[last]
    at = last[min(int(np.searchsorted(shares, alpha * (1 + 1e-9), side="right")), len(last) - 1)]
    return float(furthest_first[at]) + tolerance


class _SignChoices(NamedTuple):
    """Choices of signs, and the standardised sums that they lead to.

    Attributes:
        rows: Shape (n, c), the columns that the hypotheses are made of.
        counts: Shape (n,), how often each row occurs, if the choices are listed; None if they are drawn.
        plus: Shape (m,), the column of each hypothesis, those furthest from 0 first.
        minus: Shape (m,), the column that is subtracted.
        scale: Shape (m,), the root of the sum of squares of each hypothesis.
        observed: Shape (m,), the standardised sums observed.
        order: Shape (m,), the place of each hypothesis among those that move.
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
        moving: NDArray[np.int64],
        resamples: int,
        seed: int,
    ) -> _SignChoices:
        scale = np.sqrt(np.einsum("ij,ij->j", differences, differences))[moving]
        observed = np.abs(differences.sum(axis=0)[moving]) / scale
        order = np.argsort(-observed, kind="stable")
        nothing = np.zeros((len(differences), 1))  # the last column, which -1 stands for
        rows = np.hstack([contrasts.columns, nothing])[differences.any(axis=1)]
        kinds, counts = _kinds(rows)
        listed = bool(np.log2(counts + 1.0).sum() <= np.log2(LARGEST_JOINT_ENUMERATION))
        place = moving[order]
        return cls(
            rows[kinds] if listed else rows,
            counts if listed else None,
            contrasts.plus[place],
            contrasts.minus[place],
            scale[order],
            observed[order],
            order,
            resamples,
            seed,
        )

    @property
    def observed_weight(self) -> float:
        """How much the observed choice counts besides the others; the choices that are listed hold it."""
        return 0.0 if self.counts is not None else 1 / (self.resamples + 1)

    def blocks(self) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Yield the standardised sums of some choices, shape (choices, hypotheses), and the weights of the choices."""
        at_once = max(1, NUMBERS_AT_ONCE // max(len(self.rows), len(self.plus)))
        if self.counts is None:
            each = self._drawn(at_once)
        else:
            sums, weights = self._listed(self.counts)
            each = ((sums[at : at + at_once], weights[at : at + at_once]) for at in range(0, len(sums), at_once))
        for sums, weights in each:
            yield np.abs(sums[:, self.plus] - sums[:, self.minus]) / self.scale, weights

    def _drawn(self, at_once: int) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        random, n = np.random.default_rng(self.seed), len(self.rows)
        total = self.rows.sum(axis=0)
        for start in range(0, self.resamples, at_once):
            size = min(at_once, self.resamples - start)
            drawn = np.frombuffer(random.bytes(size * ((n + 7) // 8)), np.uint8).reshape(size, -1)
            signs = np.unpackbits(drawn, axis=1, count=n).astype(np.float64)
            yield 2 * (signs @ self.rows) - total, np.full(size, 1 / (self.resamples + 1))

    def _listed(self, counts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums of all choices of signs and how probable each is; equal rows give equal sums."""
        sums, weights = np.zeros((1, self.rows.shape[1])), np.ones(1)
        for row, count in zip(self.rows, counts.tolist(), strict=True):
            shifts = (2 * np.arange(count + 1) - count)[None, :, None] * row
            sums = (sums[:, None, :] + shifts).reshape(-1, len(row))
            weights = np.multiply.outer(weights, heads(count)).ravel()
        return sums, weights


def _kinds(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first place of each different row, and how often it occurs; a row and its negative are one kind."""
    shape = rows / np.maximum(np.abs(rows).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
    leading = shape[np.arange(len(shape)), (np.abs(shape) > arrays.ROUNDING).argmax(axis=1)]
    alike = (shape * np.sign(leading)[:, None]).round(12) + 0.0  # no negative zeros, whose bytes differ
    _, first, counts = np.unique(alike, axis=0, return_index=True, return_counts=True)
    return first, counts


def _step_down(
    choices: _SignChoices,
    moving: NDArray[np.int64],
    alpha: float,
    found: JointTest,
    advance: Callable[[int], None] | None,
) -> float:
    """Put p values and critical values of the hypotheses that move into the result; return that of the first step."""
    hypotheses, start = len(moving), choices.observed_weight
    reach = choices.observed - NEAR
    alone, stepped = np.full(hypotheses, start), np.full(hypotheses, start)
    largest, weights = [choices.observed[:1]], [np.array([start])]
    done = 0
    if advance is not None:
        advance(done)
    for sums, weight in choices.blocks():
        alone += weight @ (sums >= reach)
        of_steps = _largest_left(sums)
        stepped += weight @ (of_steps >= reach)
        largest.append(of_steps[:, 0].copy())
        weights.append(weight)
        done += len(sums)
        if advance is not None:
            advance(done)
    places = moving[choices.order]
    sampled = ~found.exact[places]
    found.p_values[places[sampled]] = np.minimum(alone, 1.0)[sampled]
    stepped = np.minimum(np.maximum.accumulate(stepped), 1.0)
    found.corrected[places] = np.maximum(stepped, found.p_values[places])
    first = _critical(np.concatenate(largest), np.concatenate(weights), alpha, NEAR)
    of_step = np.full(hypotheses, first)
    later = np.flatnonzero((stepped <= alpha * (1 + 1e-9)) & (choices.observed <= of_step))
    if len(later):
        of_step[later] = _of_steps(choices, later, alpha)
    # A hypothesis is rejected if both its own test and the joint one reject it.
    by_itself = np.where(np.isinf(found.critical[places]), 0.0, found.critical[places])
    found.critical[places] = np.maximum(of_step, by_itself)
    return first


def _largest_left(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each choice and step the largest sum of the hypotheses that the step still tests."""
    largest: NDArray[np.float64] = np.maximum.accumulate(sums[:, ::-1], axis=1)[:, ::-1]
    return largest


def _of_steps(choices: _SignChoices, steps: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
    """Return the critical values of later steps, from the same choices once more."""
    largest, weights = [choices.observed[None, steps]], [np.array([choices.observed_weight])]
    for sums, weight in choices.blocks():
        largest.append(_largest_left(sums)[:, steps])
        weights.append(weight)
    together, of_each = np.concatenate(largest), np.concatenate(weights)
    return np.array([_critical(column, of_each, alpha, NEAR) for column in together.T])


# The randomisation test of paired differences: it exchanges the two systems query by query.

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
    scaled = of_size_one(arrays.vector(differences, "differences"))
    reach = abs(float(scaled.sum())) - rounding_of_sums(len(scaled))
    listed = all_sums(scaled)
    if listed is not None:
        sums, chances = listed
        return SignFlip(min(1.0, float(chances[np.abs(sums) >= reach].sum())), exact=True)
    reached = (np.abs(_random_sums(scaled, resamples, seed)) >= reach).sum()
    return SignFlip((int(reached) + 1) / (resamples + 1), exact=False)


def all_sums(
    differences: NDArray[np.float64], most: int = LARGEST_ENUMERATION
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return every distinct sum of the differences with random signs, and its probability."""
    magnitudes, counts = np.unique(np.abs(differences).round(12), return_counts=True)
    if np.log2(counts + 1.0).sum() > np.log2(most):
        return None
    sums, probabilities = np.zeros(1), np.ones(1)
    for magnitude, count in zip(magnitudes.tolist(), counts.tolist(), strict=True):
        negative = np.arange(count + 1)
        sums = np.add.outer(sums, magnitude * (count - 2 * negative)).ravel()
        probabilities = np.multiply.outer(probabilities, heads(count)).ravel()
    return sums, probabilities


def heads(count: int) -> NDArray[np.float64]:
    """Return the probabilities of 0 to `count` heads in as many tosses of a fair coin.

    Example:
        >>> heads(3).tolist()
        [0.125, 0.375, 0.375, 0.125]
    """
    middle = (count + 1) // 2
    steps = np.arange(middle, count)
    above = comb(count, middle) / 2**count * np.cumprod(np.concatenate([[1.0], (count - steps) / (steps + 1)]))
    return np.concatenate([above[::-1][: count + 1 - len(above)], above])


def of_size_one(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the differences that are not 0, the largest as 1."""
    scaled = differences / max(np.abs(differences).max(initial=0.0), np.finfo(np.float64).tiny)
    moving: NDArray[np.float64] = scaled[np.abs(scaled) > arrays.ROUNDING]
    return moving


def rounding_of_sums(count: int) -> float:
    """Return by how much two equal sums of so many differences of size one may differ."""
    return count * arrays.ROUNDING


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
