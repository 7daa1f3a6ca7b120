"""Detect runs whose scores seem to be distances, which rise from the best document to the worst."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.run import Run
from retrieval_metrics.inputs.score_checks import chance_of_increase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from retrieval_metrics.matching.judged_run import JudgedRun

# Scores that rise in all rankings are no accident if less than this share of all orders would rise.
MAX_CHANCE = 1e-3
# The number of rankings that are checked; checking more would cost time without changing the result.
MAX_RANKINGS = 1000


def iterate_scores(run: Mapping[Any, Any]) -> Iterator[Iterable[float]]:
    """Yield the scores of each ranking that has some, in the order given."""
    if not isinstance(run, Run):
        for ranking in run.values():
            if isinstance(ranking, (list, tuple)):  # asked first, because it is faster
                continue
            if isinstance(ranking, Mapping):
                yield ranking.values()
        return
    for batch in run.batches():
        if batch.scores is not None:
            for scores in np.split(batch.scores, batch.bounds[1:-1]):
                yield scores.tolist()


def are_distances(judged: JudgedRun | None, run: Mapping[Any, Any]) -> bool:
    """Return whether the scores of a run seem to be distances, by the order given and by the judgments if any."""
    chance = chance_of_increase(islice(iterate_scores(run), MAX_RANKINGS))
    if chance is None or chance >= MAX_CHANCE:
        return False
    # Scores that were sorted in ascending order, as by argsort, rise too; they rank relevant documents high.
    return judged is None or not _rank_relevant_high(judged)


def _rank_relevant_high(judged: JudgedRun) -> bool:
    """Return whether relevant documents have better ranks by score than in the order given."""
    is_relevant = judged.ranks.grade > 0
    query = judged.ranks.query[is_relevant]
    rank = judged.ranks.rank[is_relevant]
    if not len(query):
        return False
    rank_as_given = judged.n_retrieved[query] + 1 - rank
    return bool((1 / rank).sum() >= (1 / rank_as_given).sum())
