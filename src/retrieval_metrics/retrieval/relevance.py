"""Convert the scores or ranks of a retriever to relevance between 0 and 1, comparable with cosines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray

# Two candidates in the wrong order are no sign that scores are distances.
MIN_RISING = 3

DocumentT = TypeVar("DocumentT")


def scale_scores(scores: FloatArray) -> FloatArray:
    """Return the scores scaled so that the lowest is 0 and the highest 1; if all are equal, all are 1.

    Example:
        >>> scale_scores(np.array([10.0, 20.0, 12.5])).tolist()
        [0.0, 1.0, 0.25]
    """
    if not len(scores):
        return scores
    # Halves, because the difference of two large scores may overflow.
    half_lowest = scores.min() / 2
    half_highest = scores.max() / 2
    if not half_lowest < half_highest:
        return np.ones_like(scores)
    scaled: FloatArray = (scores / 2 - half_lowest) / (half_highest - half_lowest)
    return scaled


def relevance_by_rank(n: int) -> FloatArray:
    """Return a relevance that falls in equal steps from 1 for the first of `n` documents to 0 for the last.

    Example:
        >>> relevance_by_rank(3).tolist()
        [1.0, 0.5, 0.0]
    """
    return scale_scores(-np.arange(n, dtype=np.float64))


def relevance_by(
    kind: Literal["query", "score", "rank"], documents: Sequence[DocumentT], score_of: Callable[[DocumentT], float]
) -> FloatArray | None:
    """Return the relevance that `mmr` takes for the documents of a host, best first.

    Args:
        kind: `"score"` scales the scores of the documents to [0, 1], `"rank"` takes their order, and `"query"` leaves
            relevance to the vector of the query: None.
        documents: The documents.
        score_of: Returns the score of a document, or raises if it has none.

    Raises:
        ValueError: If the scores never fall and the last is above the first: distances, of which the smallest is best.

    Example:
        >>> relevance_by("rank", ["d1", "d7"], float)
        array([1., 0.])
    """
    if kind == "rank":
        return relevance_by_rank(len(documents))
    if kind != "score":
        return None
    scores = np.array([score_of(document) for document in documents], dtype=np.float64)
    if _are_distances(scores):
        raise ValueError(
            f"relevance='score' takes the highest score as the best, but those of the {len(scores)} candidates, "
            f"best first, rise from {scores[0]:.4g} to {scores[-1]:.4g}: these look like distances; use "
            "relevance='rank', the order of the candidates, or score each with its negative distance"
        )
    return scale_scores(scores)


def _are_distances(scores: FloatArray) -> bool:
    """Return whether the scores of documents, best first, rise."""
    if len(scores) < MIN_RISING or not scores[-1] > scores[0]:
        return False
    return bool((scores[1:] >= scores[:-1]).all())
