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
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics.reranking.engine.problem import Problem

# Measured with tests/benchmarks/mmr.py.
_FEW_CANDIDATES = 120
_FEW_CANDIDATES_PER_PICK = 3
_LAZY_CANDIDATES = 250
_LAZY_BYTES = 50_000_000  # read in all steps together
_LEADERS = 16, 100  # least and largest number of candidates that compete at once; in between, k
_PER_LEADER = 16  # candidates
_NUMBERS_AT_ONCE = 500_000  # in the vectors of a stack: about as many as fit in a cache
_WIDE = 4096  # dimensions summed at once where more rivals cost less than more products


def solve(problems: Sequence[Problem], k: int | None, lambda_mult: float) -> list[Selection]:
    """Select `k` candidates by MMR for each of several problems.

    Problems of one size whose candidates are few, compared with `k`, are solved together. Of the others, and of those
    that this leaves open, problems that follow each other share what is computed for the same candidates.
    """
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
    stack: Mapping[int, Problem], wanted: int, lambda_mult: float, *, shared: bool
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


def _solve_shared(problems: Mapping[int, Problem], wanted: int, lambda_mult: float) -> Iterator[tuple[int, Selection]]:
    """Select for each of several problems that share their candidates."""
    one = next(iter(problems.values()))
    n = len(one.vectors)
    many = n > _LAZY_CANDIDATES and one.vectors.nbytes * wanted > _LAZY_BYTES
    candidates = Directions(one.vectors, one.name, BLOCK if many else _WIDE)
    leaders = max(_LEADERS[0], min(wanted, _LEADERS[1], n // _PER_LEADER)) if many else n
    for i, problem in problems.items():
        picks = Picks(candidates, problem, wanted, lambda_mult)
        rehearsal = Rehearsal(picks, candidates, problem, leaders)
        while len(picks.rows) < wanted:
            rehearsal.pick()
            if rehearsal.blurred:
                double = Directions(candidates.vectors.astype(DOUBLE), one.name)
                rehearsal = Rehearsal(picks, double, problem, leaders)
        yield i, Selection.of(picks.rows, [lambda_mult * picks.scores[0], *picks.scores[1:]])
