"""The selection of each of several queries, by the fastest way for the number of candidates."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import BLOCK, DOUBLE, RANGE, Directions, resolution
from retrieval_metrics.reranking.engine.picks import Picks
from retrieval_metrics.reranking.engine.rehearsal import Rehearsal
from retrieval_metrics.reranking.selection import Selection
from retrieval_metrics.reranking.vectors import cutoff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.reranking.engine.problem import Problem
    from retrieval_metrics.reranking.vectors import Vectors

# Measured with tests/benchmarks/mmr.py.
_FEW_CANDIDATES = 120
_FEW_CANDIDATES_PER_PICK = 3
_LAZY_CANDIDATES = 250
_LAZY_BYTES = 50_000_000  # read in all steps together
_LEADERS = 16, 100  # least and largest number of candidates that compete at once; in between, k
_PER_LEADER = 16  # candidates
_NUMBERS_AT_ONCE = 500_000  # in the vectors of a stack: about as many as fit in a cache
_WIDE = 4096  # dimensions summed at once where more rivals cost less than more products


def are_few(vectors: Vectors, k: int) -> bool:
    """Return whether to compute all cosines in advance in float64: fastest if most candidates are to be picked."""
    return len(vectors) <= min(_FEW_CANDIDATES, _FEW_CANDIDATES_PER_PICK * k)


def are_many(vectors: Vectors, k: int) -> bool:
    """Return whether only a few leaders should compete."""
    return len(vectors) > _LAZY_CANDIDATES and vectors.nbytes * k > _LAZY_BYTES


def solve(problems: Sequence[Problem], k: int | None, lambda_mult: float) -> list[Selection]:
    """Select `k` candidates by MMR for each of several problems that share their candidates."""
    vectors = problems[0].vectors
    wanted = cutoff(k, len(vectors))
    if not wanted:
        return [Selection.of([], []) for _ in problems]
    few, many = are_few(vectors, wanted), are_many(vectors, wanted)
    if few:
        vectors = vectors.astype(DOUBLE, copy=False)
    candidates = Directions(vectors, problems[0].name, BLOCK if many else _WIDE)
    leaders = max(_LEADERS[0], min(wanted, _LEADERS[1], len(vectors) // _PER_LEADER)) if many else len(vectors)
    selections = []
    for problem in problems:
        picks = Picks(candidates, problem, wanted, lambda_mult)
        rehearsal = Rehearsal(picks, candidates, problem, leaders, few=few)
        while len(picks.rows) < wanted:
            rehearsal.pick()
            if rehearsal.blurred:
                rehearsal = Rehearsal(picks, candidates.double, problem, leaders, few=False)
        selections.append(Selection.of(picks.rows, [lambda_mult * picks.scores[0], *picks.scores[1:]]))
    return selections


def solve_each(problems: Sequence[Problem], k: int | None, lambda_mult: float) -> list[Selection]:
    """Select `k` candidates by MMR for each of several problems; those of one size, if small, are solved together."""
    selections: dict[int, Selection] = {}
    shapes = [problem.vectors.shape for problem in problems]
    for (n, d), alike in groupby(sorted(range(len(problems)), key=shapes.__getitem__), shapes.__getitem__):
        places, wanted = list(alike), cutoff(k, n)
        if wanted and len(places) > 1 and are_few(problems[places[0]].vectors, wanted):
            size = max(1, _NUMBERS_AT_ONCE // (n * d))
            for stack in (places[start : start + size] for start in range(0, len(places), size)):
                selections |= _solve_stack({i: problems[i] for i in stack}, wanted, lambda_mult)
    return [selections.get(i) or solve([problem], k, lambda_mult)[0] for i, problem in enumerate(problems)]


def _solve_stack(problems: dict[int, Problem], wanted: int, lambda_mult: float) -> dict[int, Selection]:
    """Take the same steps with one more axis; leave out where scores are too close or a length is out of range."""
    vectors = np.stack([problem.vectors for problem in problems.values()]).astype(DOUBLE, copy=False)
    asked = np.stack([problem.unit for problem in problems.values()])
    given = [problem.relevance for problem in problems.values() if problem.relevance is not None]
    d, largest = vectors.shape[2], max(problem.largest for problem in problems.values())
    tolerance = resolution(DOUBLE, d, largest, d)
    with np.errstate(all="ignore"):  # results of vectors out of range are not used
        products = vectors @ vectors.transpose(0, 2, 1)
        squares = np.einsum("qii->qi", products).copy()
        lengths = np.sqrt(squares)
        products /= lengths[:, :, np.newaxis] * lengths[:, np.newaxis, :]
        scores = np.stack(given) if given else (vectors @ asked[:, :, np.newaxis])[:, :, 0] / lengths
        table = lambda_mult * scores[:, np.newaxis, :] - (1 - lambda_mult) * products
    sure = ((squares >= RANGE[DOUBLE][0]) & (squares <= RANGE[DOUBLE][1])).all(axis=1)
    each, bounds = np.arange(len(vectors)), np.full_like(scores, np.inf)
    picks, reached = np.empty((len(each), wanted), dtype=np.int64), np.empty((len(each), wanted))
    for step in range(wanted):
        picks[:, step] = pick = scores.argmax(axis=1)
        reached[:, step] = scores[each, pick]
        scores[each, pick] = bounds[each, pick] = -np.inf
        sure &= scores.max(axis=1) < reached[:, step] - tolerance
        scores = bounds = np.minimum(bounds, table[each, pick])
    reached[:, 0] *= lambda_mult
    return {i: Selection(picks[at], reached[at]) for at, i in enumerate(problems) if sure[at]}
