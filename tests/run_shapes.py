"""A run of ids, best first, in the other shapes that `evaluate` takes."""

from collections.abc import Mapping, Sequence
from typing import Any

import retrieval_metrics as rm

RankedIds = Mapping[str, Sequence[str]]


def with_scores(run: RankedIds) -> dict[str, dict[str, float]]:
    """Return the run with scores that fall with the rank."""
    scored: dict[str, dict[str, float]] = {}
    for query, documents in run.items():
        scored[query] = {document: -float(rank) for rank, document in enumerate(documents)}
    return scored


def with_items(run: RankedIds) -> dict[str, list[rm.Retrieved]]:
    """Return the run with items that have only their ids."""
    return {query: list(map(rm.Retrieved, documents)) for query, documents in run.items()}


def list_rows(run: RankedIds) -> list[dict[str, Any]]:
    """Return a row for each retrieved document."""
    rows = []
    for query, scores in with_scores(run).items():
        for document, score in scores.items():
            rows.append({"query_id": query, "doc_id": document, "score": score})
    return rows


def in_columns(run: RankedIds) -> rm.Run:
    """Return the run in columns."""
    rows = list_rows(run)
    return rm.Run.from_frame({name: [row[name] for row in rows] for name in ("query_id", "doc_id", "score")})
