"""How MMR is computed: exact methods, chosen by size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.retrieval.similarity import Selection, as_numbers, cutoff, matrix, require_finite, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy import typing as npt

    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.retrieval.similarity import Indices, Vectors


# Measured with tests/benchmarks/mmr.py.
_FEW_CANDIDATES = 120
_FEW_CANDIDATES_PER_PICK = 3
_LAZY_CANDIDATES = 250
_LAZY_BYTES = 50_000_000  # read in all steps together
_LEADERS = 16, 100  # least and largest number of candidates that compete at once; in between, k
_PER_LEADER = 16  # candidates
_NUMBERS_AT_ONCE = 500_000  # in the vectors of a stack: about as many as fit in a cache
_WIDE = 4096  # dimensions summed at once where more rivals cost less than more products


def select_by_mmr(problems: Sequence[MmrProblem], k: int | None, lambda_mult: float) -> list[Selection]:
    """Select `k` candidates by MMR for each of several problems."""
    selections: dict[int, Selection] = {}
    of_shape: dict[tuple[int, ...], list[int]] = {}
    for i, problem in enumerate(problems):
        of_shape.setdefault(problem.vectors.shape, []).append(i)
    for (n, d), places in of_shape.items():
        wanted = cutoff(k, n)
        if not wanted:
            selections |= {i: Selection.of([], []) for i in places}
        elif n <= min(_FEW_CANDIDATES, _FEW_CANDIDATES_PER_PICK * wanted):
            shared = all(problems[i].vectors is problems[places[0]].vectors for i in places)
            size = max(1, _NUMBERS_AT_ONCE // (n * (n if shared else max(n, d))))
            for stack in (places[start : start + size] for start in range(0, len(places), size)):
                selections |= _solve_together({i: problems[i] for i in stack}, wanted, lambda_mult, shared=shared)
        left = [i for i in places if i not in selections]
        for _, sharing in groupby(left, key=lambda i: id(problems[i].vectors)):
            selections |= _solve_shared({i: problems[i] for i in sharing}, wanted, lambda_mult)
    return [selections[i] for i in range(len(problems))]


@np.errstate(all="ignore")  # results of vectors out of range are not used
def _solve_together(
    stack: Mapping[int, MmrProblem], wanted: int, lambda_mult: float, *, shared: bool
) -> dict[int, Selection]:
    """Select for problems of one size; leave out where scores are too close for float64, or a length out of range."""
    problems = list(stack.values())
    vectors = np.array([problem.vectors for problem in problems[: 1 if shared else None]], dtype=DOUBLE)
    n, d = vectors.shape[1:]
    products = vectors @ vectors.transpose(0, 2, 1)
    squares = products.diagonal(axis1=1, axis2=2).copy()
    lengths = np.sqrt(squares)
    products /= lengths[:, :, np.newaxis] * lengths[:, np.newaxis, :]
    asked = np.array([problem.unit for problem in problems])
    given = [problem.relevance for problem in problems if problem.relevance is not None]
    relevance = np.array(given) if given else (vectors @ asked[:, :, np.newaxis])[:, :, 0] / lengths
    table = lambda_mult * relevance[:, np.newaxis, :] - (1 - lambda_mult) * products
    table.reshape(len(problems), -1)[:, :: n + 1] = -np.inf  # what is picked is never the best again
    each, steps = np.arange(len(problems)), [relevance]
    while len(steps) < wanted:
        beside = table[each, steps[-1].argmax(axis=1)]
        steps.append(np.minimum(steps[-1], beside) if len(steps) > 1 else beside)
    scores = np.array(steps)  # of each candidate at each step
    picks, reached = scores.argmax(axis=2).T, scores.max(axis=2).T
    tolerance = resolution(DOUBLE, d, max(problem.largest for problem in problems), d)
    certain = (scores < reached.T[:, :, np.newaxis] - tolerance).sum(axis=(0, 2)) == wanted * (n - 1)
    certain &= ((squares >= RANGE[DOUBLE][0]) & (squares <= RANGE[DOUBLE][1])).all(axis=1)
    reached[:, 0] *= lambda_mult
    return {i: Selection(picks[at], reached[at]) for at, i in enumerate(stack) if certain[at]}


def _solve_shared(
    problems: Mapping[int, MmrProblem], wanted: int, lambda_mult: float
) -> Iterator[tuple[int, Selection]]:
    """Select for each of several problems that share their candidates."""
    one = next(iter(problems.values()))
    n = len(one.vectors)
    many = n > _LAZY_CANDIDATES and one.vectors.nbytes * wanted > _LAZY_BYTES
    candidates = UnitVectors(one.vectors, one.name, BLOCK if many else _WIDE)
    leaders = max(_LEADERS[0], min(wanted, _LEADERS[1], n // _PER_LEADER)) if many else n
    for i, problem in problems.items():
        picks = MmrPicks(candidates, problem, wanted, lambda_mult)
        rehearsal = ScoreBounds(picks, candidates, problem, leaders)
        while len(picks.rows) < wanted:
            rehearsal.pick()
            if rehearsal.blurred:
                double = UnitVectors(candidates.vectors.astype(DOUBLE), one.name)
                rehearsal = ScoreBounds(picks, double, problem, leaders)
        yield i, Selection.of(picks.rows, [lambda_mult * picks.scores[0], *picks.scores[1:]])


_COMPARED = 200  # the least number of candidates compared with the newer picks at once
_FEW = 32  # more candidates than this that seem to tie are settled at once


class ScoreBounds:
    """Upper bounds on the score of every candidate: the score given the picks that it was compared with so far."""

    def __init__(self, picks: MmrPicks, candidates: UnitVectors, problem: MmrProblem, leaders: int) -> None:
        """Prepare to let some leaders compete, or all candidates."""
        n = len(candidates.vectors)
        self._picks, self._candidates = picks, candidates
        self._tolerance = candidates.resolution(problem.largest)
        self._relevance = problem.measured(candidates)
        self._gain = picks.lambda_mult * self._relevance
        self._weights = (1 - picks.lambda_mult) * candidates.inverse_lengths
        self._leaders = min(leaders, n)
        self._bounds = np.full_like(self._gain, np.inf)
        self._bounds[picks.rows] = -np.inf
        self._compared = np.zeros(n, dtype=np.intp)  # with how many picks each candidate was compared
        self.blurred = False  # whether most scores are too close for float32, but not for float64

    def pick(self) -> None:
        """Rehearse as many steps as are certain to be among a few candidates, and pick among these."""
        picks, bounds = self._picks, self._bounds
        first = not picks.rows
        rows, beside, least = self._compete()
        scores = self._relevance.copy() if first else bounds[rows]
        steps = 1 if first and self._leaders < len(bounds) else min(len(rows), picks.wanted - len(picks.rows))
        expected, close, scores = self._rehearse(scores, beside, least + self._tolerance, steps)
        if not expected:
            apparent = self._relevance if first else bounds
            near = np.flatnonzero(apparent >= apparent.max() - self._tolerance)
            self.blurred = not picks.take_exactly(near) and 2 * len(near) > len(bounds)
        elif not picks.take_each(rows[expected].tolist(), rows[close].tolist()):
            expected = []
        if len(picks.rows) == picks.wanted:
            return
        if first and (steps == 1 or not expected):
            self._compare(ALL)
        elif expected:
            bounds[rows], self._compared[rows] = scores, len(picks.rows)
        bounds[picks.rows] = -np.inf

    def _rehearse(
        self, scores: Vectors, beside: Callable[[int], Vectors], least: float, steps: int
    ) -> tuple[list[int], list[int], Vectors]:
        """Return the apparent picks, who else could be picked, and the scores at the last step."""
        expected: list[int] = []
        close: list[int] = []
        for step in range(steps):
            if step == 1 and not self._picks.rows:  # the scores were the relevance
                scores = beside(expected[0]).copy()
                scores[expected[0]] = -np.inf
            elif step:
                np.minimum(scores, beside(expected[-1]), out=scores)
            at = int(scores.argmax())
            top, scores[at] = scores.item(at), -np.inf
            near = (scores >= top - self._tolerance).nonzero()[0].tolist()
            if top <= least or len(near) >= _FEW:
                scores[at] = top
                break
            expected.append(at)
            close += near
        return expected, close, scores

    def _compete(self) -> tuple[Indices, Callable[[int], Vectors], float]:
        """Return who competes, their scores given one of them as the only pick, and a bound on all others."""
        least = self._tighten() if self._picks.rows else -np.inf
        if self._leaders == len(self._bounds) or not self._picks.rows:
            return np.arange(len(self._bounds)), self._beside, least
        least = max(least, float(np.partition(self._bounds, -self._leaders)[-self._leaders]))
        rows = np.flatnonzero(self._bounds > least)
        table = self._gain[rows] - (1 - self._picks.lambda_mult) * self._candidates.cosines(rows, rows)
        return rows, table.__getitem__, least

    def _beside(self, pick: int) -> Vectors:
        products = self._candidates.products(self._candidates.vectors[pick])
        products *= self._weights * self._candidates.inverse_lengths[pick]
        return self._gain - products

    def _tighten(self) -> float:
        """Update bounds, largest first, until enough candidates are above every old bound, which is returned."""
        reach = max(_COMPARED, self._leaders)
        while 2 * reach < len(self._bounds):  # otherwise compare all, which needs no copy of their vectors
            least = float(np.partition(self._bounds, -reach)[-reach])
            self._compare(np.flatnonzero((self._bounds >= least) & (self._compared < len(self._picks.rows))))
            if np.count_nonzero(self._bounds > least + self._tolerance) >= self._leaders / 2:
                return least
            reach *= 2
        self._compare(ALL)
        return -np.inf

    def _compare(self, rows: Indices | slice) -> None:
        known = len(self._picks.rows)
        since = int(self._compared[rows].min(initial=known))
        if since < known:
            new = self._picks.rows[since:]
            units = self._candidates.vectors[new] * self._candidates.inverse_lengths[new, np.newaxis]
            products = self._candidates.products(units, rows)
            largest = np.ascontiguousarray(products.T).max(axis=0)  # numpy is slow on short rows
            self._bounds[rows] = np.minimum(self._bounds[rows], self._gain[rows] - self._weights[rows] * largest)
            self._compared[rows] = known


class MmrPicks:
    """The candidates picked so far, each with the largest `lambda * relevance - (1 - lambda) * redundancy` at its step.

    Attributes:
        rows: The picks, in the order of selection.
        scores: The score of each pick at its step; of the first, which is the most relevant at every lambda, relevance.
        wanted: How many are to be picked, at most n.
        lambda_mult: The weight of relevance.
    """

    def __init__(self, candidates: UnitVectors, problem: MmrProblem, wanted: int, lambda_mult: float) -> None:
        """Start without picks."""
        d = candidates.vectors.shape[1]
        self.rows: list[int] = []
        self.scores: list[float] = []
        self.wanted, self.lambda_mult = wanted, lambda_mult
        self._candidates, self._problem = candidates, problem
        self._units = np.empty((wanted, d))  # of the picks, in float64
        self._tolerance = resolution(DOUBLE, d, problem.largest, d)

    def take_exactly(self, rows: Indices) -> bool:
        """Pick the best of some candidates, ascending, and of all; return whether float64 might take another."""
        row, score, ties = self._settle(rows)
        self._units[len(self.rows)] = self._candidates.units(np.array([row]))
        self.rows.append(row)
        self.scores.append(score)
        return ties

    def take_each(self, expected: list[int], close: Sequence[int]) -> bool:
        """Pick as expected for as long as that is right, then what is right; return whether all was as expected."""
        before, steps = len(self.rows), len(expected)
        rows = np.array(list(dict.fromkeys([*expected, *close])))
        units = self._candidates.units(rows)
        relevance = self._problem.relevance_of(units, rows)
        gain = self.lambda_mult * relevance
        scores = np.empty((steps, len(rows)))  # of each candidate at each step
        scores[0] = relevance
        if before:
            scores[0] = gain - (1 - self.lambda_mult) * (self._units[:before] @ units.T).max(axis=0)
        scores[1:] = gain - (1 - self.lambda_mult) * (units[: steps - 1] @ units.T)
        scores.ravel()[len(rows) :: len(rows) + 1] = -np.inf  # each pick, at the step after its own
        later = scores if before else scores[1:]
        np.minimum.accumulate(later, axis=0, out=later)
        near = scores >= (scores.diagonal() - self._tolerance)[:, np.newaxis]
        for step, (pick, score, rivals) in enumerate(
            zip(expected, scores.diagonal().tolist(), near.sum(axis=1).tolist(), strict=True)
        ):
            if rivals == 1:
                self.rows.append(pick)
                self.scores.append(score)
                continue
            self.take_exactly(np.sort(rows[near[step]]))
            if self.rows[-1] != pick:
                self._units[before : before + step] = units[:step]
                return False
        if len(self.rows) < self.wanted:
            self._units[before : before + steps] = units[:steps]
        return True

    @cached_property
    def _settled(self) -> tuple[FloatArray, FloatArray, Indices]:
        """The exact values that `_settle` has computed: relevance, redundancy, and given how many picks."""
        n = len(self._candidates.vectors)
        return np.full(n, np.nan), np.full(n, -np.inf), np.zeros(n, dtype=np.intp)

    def _settle(self, rows: Indices) -> tuple[int, float, bool]:
        """Return the best of some candidates, its score from the definition, and if float64 might take another."""
        relevance, redundancy, compared = self._settled
        unknown = rows[np.isnan(relevance[rows])]
        relevance[unknown] = self._problem.exactly(self._candidates.vectors, unknown)
        scores = relevance[rows]
        if self.rows:
            self._compare(rows, int(compared[rows].min()), redundancy)
            compared[rows] = len(self.rows)
            scores = self.lambda_mult * scores - (1 - self.lambda_mult) * redundancy[rows]
        at = int(scores.argmax())
        ties = np.count_nonzero(scores >= scores[at] - self._tolerance)
        return int(rows[at]), float(scores[at]), bool(ties > 1)

    def _compare(self, rows: Indices, since: int, redundancy: FloatArray) -> None:
        """Make the redundancy of some candidates exact, which was so given the picks before `since`."""
        new, vectors = np.array(self.rows[since:]), self._candidates.vectors
        similarity = self._candidates.cosines(rows, new)
        largest = np.maximum(similarity.max(axis=1), redundancy[rows])
        row, pick = np.nonzero(similarity >= (largest - self._candidates.resolution(0))[:, np.newaxis])
        np.maximum.at(redundancy, rows[row], exact_cosines(vectors, rows[row], vectors, new[pick]))


# One query with its candidates: the checked input of `mmr` and `mmr_batch`.

_SHORT, _LONG = 1e-90, 1e130  # other queries are scaled by a power of two, which changes no digit of a cosine


@dataclass(frozen=True)
class MmrProblem:
    """The candidates of one query, with the query or their given relevance.

    Attributes:
        name: The name of the candidates in error messages.
        vectors: The candidates, shape (n, d).
        query: The query, shape (d,), scaled if its squared length would be out of range; zeros if relevance is given.
        unit: Its unit vector, shape (d,).
        relevance: The relevance of each candidate, shape (n,), or None.
    """

    name: str
    vectors: Vectors
    query: FloatArray
    unit: FloatArray
    relevance: FloatArray | None

    @property
    def largest(self) -> float:
        """A bound on the absolute value of every relevance."""
        return 1.0 if self.relevance is None else float(np.abs(self.relevance).max())

    def measured(self, candidates: UnitVectors) -> Vectors:
        """Return the relevance of each candidate, in the precision of the vectors unless it is given."""
        if self.relevance is not None:
            return self.relevance
        return candidates.products(self.unit) * candidates.inverse_lengths

    def relevance_of(self, units: FloatArray, rows: Indices | slice) -> FloatArray:
        """Return the float64 relevance of the candidates in these rows, given their unit vectors."""
        return units @ self.unit if self.relevance is None else self.relevance[rows]

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the relevance of some candidates from the definition, shape (rows,), given the vectors of all."""
        if self.relevance is not None:
            return self.relevance[rows]
        return exact_cosines(vectors, rows, self.query[np.newaxis], np.zeros(len(rows), dtype=np.intp))


def read_problem(
    query: npt.ArrayLike | None,
    candidates: npt.ArrayLike,
    relevance: npt.ArrayLike | None,
    names: tuple[str, str, str] = ("query", "candidates", "relevance"),
) -> MmrProblem:
    """Return a checked problem; `names` are the names of the other three arguments in error messages."""
    query_name, name, relevance_name = names
    vectors = matrix(candidates, name)
    n, d = vectors.shape
    if relevance is not None:
        given = as_numbers(relevance, relevance_name, (n,)).astype(np.float64)
        return MmrProblem(name, vectors, np.zeros(d), np.zeros(d), given)
    if query is None:
        raise ValueError(f"{query_name} and {relevance_name} are both None; pass one of them")
    asked = vector(query, query_name, d if n else None)
    with np.errstate(over="ignore"):
        length = math.sqrt(asked @ asked)
    if not _SHORT < length < _LONG:
        asked = np.ldexp(asked, -np.frexp(np.abs(asked).max())[1])
        length = math.sqrt(asked @ asked) or 1.0
    return MmrProblem(name, vectors, asked, asked / length, None)


# Vectors prepared for computing cosines, and a bound on the rounding error of these.

ALL = slice(None)
BLOCK = 384  # dimensions; in float32 narrower blocks have a smaller error and take longer
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
# Cosines from squared lengths in this range neither overflow nor lose digits.
RANGE = {dtype: (float(np.finfo(dtype).tiny) ** 0.6, float(np.finfo(dtype).max) ** 0.9) for dtype in (SINGLE, DOUBLE)}


class UnitVectors:
    """Vectors and their inverse lengths; a zero vector has cosine 0 with every vector.

    Attributes:
        vectors: The vectors, float32 or float64, shape (n, d), scaled where a squared length would be out of range.
        block: How many dimensions of a dot product are summed at once.
        inverse_lengths: 1 / length of each vector, 0 for a zero vector, shape (n,), in the precision of the vectors.
    """

    def __init__(self, vectors: Vectors, what: str, block: int = BLOCK) -> None:
        """Compute the lengths of the vectors, which a ValueError calls `what` if a number is NaN or infinite."""
        self.vectors, squares = _in_range(vectors, what)
        self.block = block if vectors.dtype == SINGLE else vectors.shape[1]
        self.inverse_lengths: Vectors = (1 / np.sqrt(squares)).astype(vectors.dtype, copy=False)

    def resolution(self, largest: float) -> float:
        """Return how far apart two scores must be to prove which is larger, if no absolute relevance is larger."""
        return resolution(self.vectors.dtype, self.vectors.shape[1], largest, self.block)

    def units(self, rows: Indices | slice = ALL) -> FloatArray:
        """Return float64 unit vectors, shape (rows, d); of a zero vector, the vector itself."""
        vectors, squares = _in_range(self.vectors[rows].astype(DOUBLE), "vectors")
        units: FloatArray = vectors * (1 / np.sqrt(squares))[:, np.newaxis]
        return units

    def products(self, others: Vectors, rows: Indices | slice = ALL) -> Vectors:
        """Return the dot products of some vectors with one other vector, or each of several, in their precision."""
        return dot_products(self.vectors[rows], others.astype(self.vectors.dtype, copy=False), self.block)

    def cosines(self, rows: Indices | slice, others: Indices | slice) -> Vectors:
        """Return the cosine of each of some vectors with each of some others, in their precision."""
        left = self.vectors[rows]
        # The product of a matrix with its own transpose takes half the time.
        right = left if others is rows else self.vectors[others]
        lengths = self.inverse_lengths
        return dot_products(left, right, self.block) * lengths[others] * lengths[rows, np.newaxis]


def dot_products(left: Vectors, right: Vectors, block: int = BLOCK) -> Vectors:
    """Return the dot products of all vectors on the left with one vector, shape (d,), or several, shape (m, d)."""
    d = left.shape[1]
    if d <= block:
        products: Vectors = left @ right.T
        return products
    parts = (left[:, at : at + block] @ right[..., at : at + block].T for at in range(0, d, block))
    return reduce(np.add, parts)


def rounding_error(dtype: np.dtype[Any], d: int, block: int = BLOCK) -> float:
    """Return a bound on the error of a cosine of two vectors of `d` numbers, from these products in `dtype`."""
    terms = sum(min(d, width) + math.ceil(d / width) for width in (block, d if dtype == DOUBLE else BLOCK))
    relative = (terms + 8) * float(np.finfo(dtype).eps) / 2
    return relative / (1 - relative)


@lru_cache
def resolution(dtype: np.dtype[Any], d: int, largest: float, block: int) -> float:
    """Return how far apart two scores from such cosines must be to prove which is larger, also in plain float64."""
    arithmetic = 4 * float(np.finfo(dtype).eps) * (1 + largest)
    return 2 * (rounding_error(dtype, d, block) + rounding_error(DOUBLE, d, d) + arithmetic)


def squared_lengths(vectors: Vectors) -> FloatArray:
    """Return the dot product of each vector with itself, shape (n,), also in blocks, which are summed in float64."""
    n, d = vectors.shape
    whole = d - d % BLOCK
    blocks = vectors[:, :whole].reshape(n, whole // BLOCK, BLOCK)
    squares: FloatArray = np.add.reduce(_row_by_row(blocks), axis=1, dtype=DOUBLE)
    return squares + _row_by_row(vectors[:, whole:]) if whole < d else squares


def _row_by_row(vectors: Vectors) -> Vectors:
    products: Vectors = np.matmul(vectors[..., np.newaxis, :], vectors[..., np.newaxis])[..., 0, 0]
    return products


def _in_range(vectors: Vectors, what: str) -> tuple[Vectors, FloatArray]:
    """Return vectors and their squared lengths, with infinity in place of 0."""
    with np.errstate(over="ignore", invalid="ignore"):  # such vectors are found by their squares below
        squares = squared_lengths(vectors)
    low, high = RANGE[vectors.dtype]
    if squares[squares.argmin()] >= low and squares[squares.argmax()] <= high:  # both are NaN if one is
        return vectors, squares
    rows = np.flatnonzero(~((squares >= low) & (squares <= high)))
    require_finite(vectors[rows], what, rows)
    vectors = vectors.copy()
    exponents = np.frexp(np.abs(vectors[rows]).max(axis=1))[1]
    vectors[rows] = np.ldexp(vectors[rows], -exponents[:, np.newaxis])
    squares[rows] = squared_lengths(vectors[rows])
    squares[squares == 0] = np.inf
    return vectors, squares


_NUMBERS_AT_ONCE_EXACT = 8192  # in the buffer of einsum, which splits a sum where it ends


def exact_cosines(left: Vectors, rows: Indices, right: Vectors, others: Indices) -> FloatArray:
    """Return the float64 cosines a.b / (|a| |b|) of pairs of vectors, 0 for a zero vector, shape (pairs,)."""
    cosines = np.zeros(len(rows))
    pairs = max(1, _NUMBERS_AT_ONCE_EXACT // left.shape[1])
    for start in range(0, len(rows), pairs):
        some = slice(start, start + pairs)
        a, b = left[rows[some]].astype(np.float64), right[others[some]].astype(np.float64)
        products, left_squares, right_squares = (np.einsum("ij,ij->i", *pair) for pair in ((a, b), (a, a), (b, b)))
        lengths = np.sqrt(left_squares) * np.sqrt(right_squares)
        np.divide(products, lengths, out=cosines[some], where=lengths > 0)
    return cosines
