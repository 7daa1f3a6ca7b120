"""Select by MMR, with the exact method that is fastest for the size of the input."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.retrieval.selection import Selection
from retrieval_metrics.retrieval.unit_vectors import (
    ALL,
    BLOCK,
    DOUBLE,
    SAFE_RANGES,
    UnitVectors,
    exact_cosines,
    resolution,
)
from retrieval_metrics.retrieval.vectors import resolve_k

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.retrieval.mmr_problem import MmrProblem
    from retrieval_metrics.retrieval.vectors import Indices, Vectors


# Which method is the fastest was measured with tests/benchmarks/mmr.py.
# Up to so many candidates all cosines are computed in advance, if most candidates are picked.
_FEW_CANDIDATES = 120
_FEW_CANDIDATES_PER_PICK = 3
# From so many candidates on, and so many bytes read in all steps together, only a few leaders compete.
_LAZY_CANDIDATES = 250
_LAZY_BYTES = 50_000_000
# Between these numbers as many compete at once as are to be picked, but no more than one of so many candidates.
_MIN_LEADERS = 16
_MAX_LEADERS = 100
_CANDIDATES_PER_LEADER = 16
# The numbers in the vectors of problems that are computed together: about as many as fit in a cache.
_NUMBERS_AT_ONCE = 500_000
# Dimensions summed at once where more rivals cost less than more products.
_WIDE_BLOCK = 4096
# At least so many candidates are compared with the newer picks at once.
_MIN_COMPARED = 200
# More candidates than this that seem to tie are settled at once.
_MAX_CLOSE = 32


def select_by_mmr(problems: Sequence[MmrProblem], k: int | None, lambda_mult: float) -> list[Selection]:
    """Select `k` candidates by MMR for each of several problems."""
    selections: dict[int, Selection] = {}
    indices_by_shape: dict[tuple[int, ...], list[int]] = {}
    for index, problem in enumerate(problems):
        indices_by_shape.setdefault(problem.vectors.shape, []).append(index)
    for (n, _), indices in indices_by_shape.items():
        n_picks = resolve_k(k, n)
        if not n_picks:
            for index in indices:
                selections[index] = Selection.of([], [])
            continue
        if n <= min(_FEW_CANDIDATES, _FEW_CANDIDATES_PER_PICK * n_picks):
            selections |= _select_few({index: problems[index] for index in indices}, n_picks, lambda_mult)
        unsolved = [index for index in indices if index not in selections]
        for _, sharing in groupby(unsolved, key=lambda index: id(problems[index].vectors)):
            selections |= _solve_shared({index: problems[index] for index in sharing}, n_picks, lambda_mult)
    return [selections[index] for index in range(len(problems))]


def _select_few(problems: Mapping[int, MmrProblem], n_picks: int, lambda_mult: float) -> dict[int, Selection]:
    """Select for problems of few candidates, as many at once as fit in a cache; leave out those too close to tell."""
    any_problem = next(iter(problems.values()))
    n, d = any_problem.vectors.shape
    is_shared = all(problem.vectors is any_problem.vectors for problem in problems.values())
    numbers_per_problem = n * (n if is_shared else max(n, d))
    n_at_once = max(1, _NUMBERS_AT_ONCE // numbers_per_problem)
    indices = list(problems)
    selections: dict[int, Selection] = {}
    for start in range(0, len(indices), n_at_once):
        stack = {index: problems[index] for index in indices[start : start + n_at_once]}
        selections |= _solve_together(stack, n_picks, lambda_mult, is_shared=is_shared)
    return selections


@np.errstate(all="ignore")  # results of vectors out of range are not used
def _solve_together(
    stack: Mapping[int, MmrProblem], n_picks: int, lambda_mult: float, *, is_shared: bool
) -> dict[int, Selection]:
    """Select for problems of one size; leave out where scores are too close for float64, or a length out of range."""
    problems = list(stack.values())
    vectors = np.array([problem.vectors for problem in problems[: 1 if is_shared else None]], dtype=DOUBLE)
    n, d = vectors.shape[1:]
    products = vectors @ vectors.transpose(0, 2, 1)
    squares = products.diagonal(axis1=1, axis2=2).copy()
    lengths = np.sqrt(squares)
    products /= lengths[:, :, np.newaxis] * lengths[:, np.newaxis, :]
    relevance = _stack_relevance(problems, vectors, lengths)
    table = lambda_mult * relevance[:, np.newaxis, :] - (1 - lambda_mult) * products
    table.reshape(len(problems), -1)[:, :: n + 1] = -np.inf  # what is picked is never the best again
    every_problem = np.arange(len(problems))
    steps = [relevance]
    while len(steps) < n_picks:
        scores_beside_pick = table[every_problem, steps[-1].argmax(axis=1)]
        if len(steps) > 1:
            scores_beside_pick = np.minimum(steps[-1], scores_beside_pick)
        steps.append(scores_beside_pick)
    scores = np.array(steps)  # of each candidate at each step
    picks = scores.argmax(axis=2).T
    pick_scores = scores.max(axis=2).T
    tolerance = resolution(DOUBLE, d, max(problem.max_relevance for problem in problems), d)
    n_clearly_lower = (scores < pick_scores.T[:, :, np.newaxis] - tolerance).sum(axis=(0, 2))
    is_certain = n_clearly_lower == n_picks * (n - 1)
    safe = SAFE_RANGES[DOUBLE]
    is_certain &= ((squares >= safe.low) & (squares <= safe.high)).all(axis=1)
    pick_scores[:, 0] *= lambda_mult
    selections = {}
    for row, index in enumerate(stack):
        if is_certain[row]:
            selections[index] = Selection(picks[row], pick_scores[row])
    return selections


def _stack_relevance(problems: Sequence[MmrProblem], vectors: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the relevance of each candidate of each problem, shape (problems, n)."""
    given_relevance = [problem.relevance for problem in problems if problem.relevance is not None]
    if given_relevance:
        return np.array(given_relevance)
    query_units = np.array([problem.unit for problem in problems])
    relevance: FloatArray = (vectors @ query_units[:, :, np.newaxis])[:, :, 0] / lengths
    return relevance


def _solve_shared(
    problems: Mapping[int, MmrProblem], n_picks: int, lambda_mult: float
) -> Iterator[tuple[int, Selection]]:
    """Select for each of several problems that share their candidates."""
    any_problem = next(iter(problems.values()))
    n = len(any_problem.vectors)
    block = _WIDE_BLOCK
    n_leaders = n
    if n > _LAZY_CANDIDATES and any_problem.vectors.nbytes * n_picks > _LAZY_BYTES:
        block = BLOCK
        n_leaders = max(_MIN_LEADERS, min(n_picks, _MAX_LEADERS, n // _CANDIDATES_PER_LEADER))
    candidates = UnitVectors(any_problem.vectors, any_problem.name, block)
    for index, problem in problems.items():
        picks = MmrPicks(candidates, problem, n_picks, lambda_mult)
        rehearsal = ScoreBounds(picks, candidates, problem, n_leaders)
        while len(picks.rows) < n_picks:
            rehearsal.pick()
            if rehearsal.is_blurred:
                double = UnitVectors(candidates.vectors.astype(DOUBLE), any_problem.name)
                rehearsal = ScoreBounds(picks, double, problem, n_leaders)
        yield index, Selection.of(picks.rows, [lambda_mult * picks.scores[0], *picks.scores[1:]])


class _Competition(NamedTuple):
    """Who competes for the next picks.

    Attributes:
        rows: The candidates.
        scores_beside: Returns their scores given one of them, by its place among `rows`, as the only pick.
        bound: The largest score that any other candidate can have.
    """

    rows: Indices
    scores_beside: Callable[[int], Vectors]
    bound: float


class _Rehearsal(NamedTuple):
    """The steps that were rehearsed.

    Attributes:
        expected: The apparent picks.
        close: Who else could be picked.
        scores: The scores at the last step.
    """

    expected: list[int]
    close: list[int]
    scores: Vectors


class ScoreBounds:
    """Upper bounds on the score of every candidate: the score given the picks that it was compared with so far.

    Attributes:
        is_blurred: Whether most scores are too close for float32, but not for float64.
    """

    def __init__(self, picks: MmrPicks, candidates: UnitVectors, problem: MmrProblem, n_leaders: int) -> None:
        """Prepare to let some leaders compete, or all candidates."""
        n = len(candidates.vectors)
        self._picks = picks
        self._candidates = candidates
        self._tolerance = candidates.resolution(problem.max_relevance)
        self._relevance = problem.measure_relevance(candidates)
        self._gain = picks.lambda_mult * self._relevance
        self._weights = (1 - picks.lambda_mult) * candidates.inverse_lengths
        self._n_leaders = min(n_leaders, n)
        self._bounds = np.full_like(self._gain, np.inf)
        self._bounds[picks.rows] = -np.inf
        # With how many picks each candidate was compared.
        self._n_compared = np.zeros(n, dtype=np.intp)
        self.is_blurred = False

    def pick(self) -> None:
        """Rehearse as many steps as are certain to be among a few candidates, and pick among these."""
        picks = self._picks
        bounds = self._bounds
        is_first = not picks.rows
        competition = self._compete()
        rows = competition.rows
        scores = self._relevance.copy() if is_first else bounds[rows]
        n_steps = min(len(rows), picks.n_picks - len(picks.rows))
        if is_first and self._n_leaders < len(bounds):  # who competes after it depends on the first
            n_steps = 1
        rehearsal = self._rehearse(scores, competition, n_steps)
        is_as_expected = bool(rehearsal.expected)
        if not rehearsal.expected:
            apparent = self._relevance if is_first else bounds
            near = np.flatnonzero(apparent >= apparent.max() - self._tolerance)
            has_ties = picks.take_exactly(near)
            self.is_blurred = not has_ties and 2 * len(near) > len(bounds)
        elif not picks.take_each(rows[rehearsal.expected].tolist(), rows[rehearsal.close].tolist()):
            is_as_expected = False
        if len(picks.rows) == picks.n_picks:
            return
        if is_first and (n_steps == 1 or not is_as_expected):
            self._compare(ALL)
        elif is_as_expected:
            bounds[rows] = rehearsal.scores
            self._n_compared[rows] = len(picks.rows)
        bounds[picks.rows] = -np.inf

    def _rehearse(self, scores: Vectors, competition: _Competition, n_steps: int) -> _Rehearsal:
        """Pick among those who compete for as long as the best is above the bound on all others."""
        bound = competition.bound + self._tolerance
        expected: list[int] = []
        close: list[int] = []
        for step in range(n_steps):
            if step == 1 and not self._picks.rows:  # the scores were the relevance
                scores = competition.scores_beside(expected[0]).copy()
                scores[expected[0]] = -np.inf
            elif step:
                np.minimum(scores, competition.scores_beside(expected[-1]), out=scores)
            best = int(scores.argmax())
            best_score = scores.item(best)
            scores[best] = -np.inf
            near = (scores >= best_score - self._tolerance).nonzero()[0].tolist()
            if best_score <= bound or len(near) >= _MAX_CLOSE:
                scores[best] = best_score
                break
            expected.append(best)
            close += near
        return _Rehearsal(expected, close, scores)

    def _compete(self) -> _Competition:
        """Return who competes for the next picks."""
        bound = self._tighten() if self._picks.rows else -np.inf
        if self._n_leaders == len(self._bounds) or not self._picks.rows:
            return _Competition(np.arange(len(self._bounds)), self._scores_beside, bound)
        bound = max(bound, float(np.partition(self._bounds, -self._n_leaders)[-self._n_leaders]))
        rows = np.flatnonzero(self._bounds > bound)
        table = self._gain[rows] - (1 - self._picks.lambda_mult) * self._candidates.cosines(rows, rows)
        return _Competition(rows, table.__getitem__, bound)

    def _scores_beside(self, pick: int) -> Vectors:
        products = self._candidates.products(self._candidates.vectors[pick])
        products *= self._weights * self._candidates.inverse_lengths[pick]
        return self._gain - products

    def _tighten(self) -> float:
        """Update bounds, largest first, until enough candidates are above every old bound, which is returned."""
        n_updated = max(_MIN_COMPARED, self._n_leaders)
        while 2 * n_updated < len(self._bounds):  # otherwise compare all, which needs no copy of their vectors
            old_bound = float(np.partition(self._bounds, -n_updated)[-n_updated])
            is_outdated = self._n_compared < len(self._picks.rows)
            self._compare(np.flatnonzero((self._bounds >= old_bound) & is_outdated))
            if np.count_nonzero(self._bounds > old_bound + self._tolerance) >= self._n_leaders / 2:
                return old_bound
            n_updated *= 2
        self._compare(ALL)
        return -np.inf

    def _compare(self, rows: Indices | slice) -> None:
        """Compare some candidates with the picks that one of them was not yet compared with."""
        n_picked = len(self._picks.rows)
        first_new = int(self._n_compared[rows].min(initial=n_picked))
        if first_new == n_picked:
            return
        new = self._picks.rows[first_new:]
        units = self._candidates.vectors[new] * self._candidates.inverse_lengths[new, np.newaxis]
        products = self._candidates.products(units, rows)
        largest = np.ascontiguousarray(products.T).max(axis=0)  # numpy is slow on short rows
        self._bounds[rows] = np.minimum(self._bounds[rows], self._gain[rows] - self._weights[rows] * largest)
        self._n_compared[rows] = n_picked


class _SettledValues(NamedTuple):
    """Exact values of each candidate.

    Attributes:
        relevance: Its relevance; NaN where it is not yet known.
        redundancy: Its largest cosine with the picks that it was compared with.
        n_compared: With how many picks it was compared.
    """

    relevance: FloatArray
    redundancy: FloatArray
    n_compared: Indices


class _SettledPick(NamedTuple):
    """The best of some candidates, its exact score, and whether float64 might take another."""

    row: int
    score: float
    has_ties: bool


class MmrPicks:
    """The candidates picked so far, each with the largest `lambda * relevance - (1 - lambda) * redundancy` at its step.

    Attributes:
        rows: The picks, in the order of selection.
        scores: The score of each pick at its step; of the first, which is the most relevant at every lambda, relevance.
        n_picks: How many are to be picked, at most n.
        lambda_mult: The weight of relevance.
    """

    def __init__(self, candidates: UnitVectors, problem: MmrProblem, n_picks: int, lambda_mult: float) -> None:
        """Start without picks."""
        d = candidates.vectors.shape[1]
        self.rows: list[int] = []
        self.scores: list[float] = []
        self.n_picks = n_picks
        self.lambda_mult = lambda_mult
        self._candidates = candidates
        self._problem = problem
        # The unit vectors of the picks, in float64.
        self._units = np.empty((n_picks, d))
        self._tolerance = resolution(DOUBLE, d, problem.max_relevance, d)

    def take_exactly(self, rows: Indices) -> bool:
        """Pick the best of some candidates, ascending, and of all; return whether float64 might take another."""
        pick = self._settle(rows)
        self._units[len(self.rows)] = self._candidates.units(np.array([pick.row]))
        self.rows.append(pick.row)
        self.scores.append(pick.score)
        return pick.has_ties

    def take_each(self, expected: list[int], close: Sequence[int]) -> bool:
        """Pick as expected for as long as that is right, then what is right; return whether all was as expected."""
        n_before = len(self.rows)
        n_steps = len(expected)
        rows = np.array(list(dict.fromkeys([*expected, *close])))
        units = self._candidates.units(rows)
        scores = self._score_steps(rows, units, n_steps)
        expected_scores = scores.diagonal()
        is_near = scores >= (expected_scores - self._tolerance)[:, np.newaxis]
        n_near = is_near.sum(axis=1).tolist()
        for step, (pick, score) in enumerate(zip(expected, expected_scores.tolist(), strict=True)):
            if n_near[step] == 1:
                self.rows.append(pick)
                self.scores.append(score)
                continue
            self.take_exactly(np.sort(rows[is_near[step]]))
            if self.rows[-1] != pick:
                self._units[n_before : n_before + step] = units[:step]
                return False
        if len(self.rows) < self.n_picks:
            self._units[n_before : n_before + n_steps] = units[:n_steps]
        return True

    def _score_steps(self, rows: Indices, units: FloatArray, n_steps: int) -> FloatArray:
        """Return the float64 score of each candidate at each step if the first are picked, shape (steps, rows)."""
        n_before = len(self.rows)
        relevance = self._problem.relevance_of(units, rows)
        gain = self.lambda_mult * relevance
        scores = np.empty((n_steps, len(rows)))
        scores[0] = relevance
        if n_before:
            scores[0] = gain - (1 - self.lambda_mult) * (self._units[:n_before] @ units.T).max(axis=0)
        scores[1:] = gain - (1 - self.lambda_mult) * (units[: n_steps - 1] @ units.T)
        scores.ravel()[len(rows) :: len(rows) + 1] = -np.inf  # each pick, at the step after its own
        scores_beside_picks = scores if n_before else scores[1:]  # without picks the first scores are the relevance
        np.minimum.accumulate(scores_beside_picks, axis=0, out=scores_beside_picks)
        return scores

    @cached_property
    def _settled(self) -> _SettledValues:
        """The exact values that `_settle` has computed."""
        n = len(self._candidates.vectors)
        return _SettledValues(np.full(n, np.nan), np.full(n, -np.inf), np.zeros(n, dtype=np.intp))

    def _settle(self, rows: Indices) -> _SettledPick:
        """Return the best of some candidates, by its score from the definition."""
        settled = self._settled
        unknown = rows[np.isnan(settled.relevance[rows])]
        settled.relevance[unknown] = self._problem.exact_relevance(self._candidates.vectors, unknown)
        scores = settled.relevance[rows]
        if self.rows:
            first_new = int(settled.n_compared[rows].min())
            self._compare(rows, first_new, settled.redundancy)
            settled.n_compared[rows] = len(self.rows)
            scores = self.lambda_mult * scores - (1 - self.lambda_mult) * settled.redundancy[rows]
        best = int(scores.argmax())
        n_near = np.count_nonzero(scores >= scores[best] - self._tolerance)
        return _SettledPick(int(rows[best]), float(scores[best]), has_ties=bool(n_near > 1))

    def _compare(self, rows: Indices, first_new: int, redundancy: FloatArray) -> None:
        """Make the redundancy of some candidates exact, which was so given the picks before `first_new`."""
        new = np.array(self.rows[first_new:])
        vectors = self._candidates.vectors
        similarity = self._candidates.cosines(rows, new)
        largest = np.maximum(similarity.max(axis=1), redundancy[rows])
        is_near = similarity >= (largest - self._candidates.resolution(0))[:, np.newaxis]
        row, pick = np.nonzero(is_near)
        np.maximum.at(redundancy, rows[row], exact_cosines(vectors, rows[row], vectors, new[pick]))
