"""Convert the scores or ranks of a retriever to relevance between 0 and 1, comparable with cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.checks import FloatArray

DocumentT = TypeVar("DocumentT")


def scaled(scores: FloatArray) -> FloatArray:
    """Return the scores scaled so that the lowest is 0 and the highest 1; if all are equal, all are 1.

    Scores of BM25 or a cross-encoder have other scales, which lambda cannot weigh against cosines.

    Example:
        >>> scaled(np.array([10.0, 20.0, 12.5])).tolist()
        [0.0, 1.0, 0.25]
    """
    if not len(scores):
        return scores
    low, high = scores.min() / 2, scores.max() / 2  # halves: the difference of two large scores may overflow
    result: FloatArray = (scores / 2 - low) / (high - low) if low < high else np.ones_like(scores)
    return result


def by_rank(n: int) -> FloatArray:
    """Return a relevance that falls in equal steps from 1 for the first of `n` documents to 0 for the last.

    Example:
        >>> by_rank(3).tolist()
        [1.0, 0.5, 0.0]
    """
    return scaled(-np.arange(n, dtype=np.float64))


def relevance_by(
    kind: Literal["query", "score", "rank"], documents: Sequence[DocumentT], score_of: Callable[[DocumentT], float]
) -> FloatArray | None:
    """Return the relevance that `mmr` takes for the documents of a host, best first.

    Args:
        kind: `"score"` scales the scores of the documents to [0, 1], `"rank"` takes their order, and `"query"` leaves
            relevance to the vector of the query: None.
        documents: The documents.
        score_of: Returns the score of a document, or raises if it has none.

    Example:
        >>> relevance_by("rank", ["d1", "d7"], float)
        array([1., 0.])
    """
    if kind == "score":
        return scaled(np.array([score_of(document) for document in documents], dtype=np.float64))
    return by_rank(len(documents)) if kind == "rank" else None
