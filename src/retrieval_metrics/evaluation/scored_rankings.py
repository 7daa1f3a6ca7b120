"""Read the scores of rankings, and keep the part of a run that scores above a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import RunMapping


def read_scores(ranking: Any, query: QueryId) -> list[float]:
    """Return the scores of a ranking in the order in which it is given."""
    if isinstance(ranking, Mapping):
        require_finite_scores(ranking, query)
        return list(ranking.values())
    items = as_list(ranking, query)
    for item in items:
        if not isinstance(item, Retrieved) or item.score is None:
            raise ValueError(
                f"the ranking of query {query!r} has no scores, which a threshold needs; pass documents with their "
                "scores, or Retrieved(..., score=...)"
            )
    require_finite_scores({position: item.score for position, item in enumerate(items)}, query)
    return [item.score for item in items]


def find_best_scores(rankings: Mapping[Any, Any]) -> dict[QueryId, float]:
    """Return the best score of each query; minus infinity if nothing was retrieved.

    Raises:
        ValueError: If a ranking has no scores, or the scores of most lists rise, as distances do.
    """
    scores_by_query = {query: read_scores(ranking, query) for query, ranking in rankings.items()}
    n_with_order = 0
    n_rising = 0
    for query, scores in scores_by_query.items():
        is_list = not isinstance(rankings[query], Mapping)
        if is_list and len(scores) > 1 and scores[0] != scores[-1]:
            n_with_order += 1
            if np.all(np.diff(scores) >= 0):
                n_rising += 1
    if n_rising > n_with_order / 2:
        raise ValueError(
            f"the scores rise in {n_rising} of {n_with_order} rankings, as distances do, so a threshold would cut the "
            "best results first; pass them negated"
        )
    return {query: max(scores, default=-inf) for query, scores in scores_by_query.items()}


def keep_above(run: RunMapping | Run, score: float) -> RetrievedRun:
    """Return the part of a run that scores above a threshold, with the errors and times of the run."""
    retrieved_run = run if isinstance(run, RetrievedRun) else RetrievedRun({})
    rankings: Mapping[Any, Any] = run.as_dict() if isinstance(run, Run) else run
    kept: dict[Any, Any] = {}
    calls: dict[Any, Any] = {}
    for query, ranking in rankings.items():
        item_scores = read_scores(ranking, query)
        positions = [position for position, item_score in enumerate(item_scores) if item_score > score]
        if isinstance(ranking, Mapping):
            documents = list(ranking)
            kept[query] = {documents[position]: ranking[documents[position]] for position in positions}
        else:
            items = as_list(ranking, query)
            kept[query] = [items[position] for position in positions]
        if query in retrieved_run.calls:
            calls[query] = [retrieved_run.calls[query][position] for position in positions]
    return RetrievedRun(kept, retrieved_run.errors, retrieved_run.seconds, calls=calls)
