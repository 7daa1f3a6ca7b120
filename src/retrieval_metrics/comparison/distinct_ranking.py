"""Reduce a ranking to distinct documents, to compare rankings without judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, QueryId
    from retrieval_metrics.matching.ranking_order import OrderedRankings


class DistinctRanking(NamedTuple):
    """A ranking, each document once.

    Attributes:
        documents: The documents, best first.
        scores: Shape (documents,), their scores, descending; those of a list are all different.
    """

    documents: Sequence[DocumentId]
    scores: FloatArray


def make_distinct_ranking(rankings: OrderedRankings, ranking: Any, query: QueryId) -> DistinctRanking:
    """Return a ranking of a run with each document once, at its first rank.

    Args:
        rankings: The run, which knows the ids of items and the order of ties.
        ranking: One of its rankings, a list or a mapping of ids to scores.
        query: The query of the ranking, for messages.

    Raises:
        ValueError: If an item has no id, or a score is not finite.
    """
    ids = rankings.ids(ranking if isinstance(ranking, Mapping) else as_list(ranking, query))
    documents = list(dict.fromkeys(ids))
    if None in documents:
        raise ValueError(
            f"an item in the ranking of query {query!r} has no value for match={str(rankings.matching)!r}; "
            "say what makes two items the same, such as match='source'"
        )
    if not isinstance(ranking, Mapping):
        return DistinctRanking(documents, -np.arange(len(documents), dtype=np.float64))
    scores = np.array([ranking[document] for document in documents], dtype=np.float64)
    if not np.isfinite(scores).all():
        require_finite_scores(ranking, query)
    return DistinctRanking(documents, scores)
