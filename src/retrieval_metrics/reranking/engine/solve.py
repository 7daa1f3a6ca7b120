"""The selection of each of several queries, by the fastest way for the number of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import ALL, BLOCK, Directions
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
        vectors = vectors.astype(np.float64, copy=False)
    candidates = Directions(vectors, problems[0].name, BLOCK if many else _WIDE)
    leaders = max(_LEADERS[0], min(wanted, _LEADERS[1], len(vectors) // _PER_LEADER)) if many else None
    cosines = candidates.cosines(ALL, ALL) if few else None
    selections = []
    for problem in problems:
        picks = Picks(candidates, problem, wanted, lambda_mult)
        rehearsal = Rehearsal(picks, candidates, problem, leaders=leaders, cosines=cosines)
        while len(picks.rows) < wanted:
            rehearsal.pick()
        selections.append(Selection.of(picks.rows, picks.scores))
    return selections
