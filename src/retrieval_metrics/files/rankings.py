"""Runs as JSON files have them: a mapping of queries to rankings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from retrieval_metrics.inputs.batch import Batch
from retrieval_metrics.inputs.frames import Table
from retrieval_metrics.inputs.run import Run


def run_of_mapping(rankings: Mapping[Any, Any], source: str) -> Run:
    """Return the run that a mapping of queries holds: documents with scores, or documents best first.

    Raises:
        ValueError: If a ranking is neither, an id is missing, or a score is not finite.
    """
    scored = {query: ranking for query, ranking in rankings.items() if isinstance(ranking, Mapping)}
    listed = {query: ranking for query, ranking in rankings.items() if isinstance(ranking, (list, tuple))}
    if stray := [query for query in rankings if query not in scored and query not in listed]:
        raise ValueError(
            f"{source}, query {stray[0]!r}: a ranking is a list of documents, best first, or an object of documents "
            f"with scores, got {rankings[stray[0]]!r}"
        )
    return Run(_batch(part, source, scores=part is scored) for part in (scored, listed) if part)


def _batch(rankings: Mapping[Any, Any], source: str, *, scores: bool) -> Batch:
    import polars as pl

    documents = [document for ranking in rankings.values() for document in ranking]
    columns: dict[str, Any] = {"document": documents or pl.Series([], dtype=pl.String)}
    if scores:
        columns["score"] = [score for ranking in rankings.values() for score in ranking.values()]
    table = Table(columns, source, {role: role for role in columns})
    bounds = np.cumsum([0, *map(len, rankings.values())])
    return Batch(list(rankings), bounds, table.ids("document"), table.numbers("score") if scores else None)
