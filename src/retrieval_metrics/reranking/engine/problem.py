"""One query with its candidates: what `mmr` and `mmr_batch` are given, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import Directions
from retrieval_metrics.reranking.engine.relevance import CosineRelevance, GivenRelevance
from retrieval_metrics.reranking.engine.vectors import matrix, numbers, vector

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.reranking.engine.relevance import Relevance
    from retrieval_metrics.reranking.engine.vectors import FloatArray, Vectors


@dataclass(frozen=True)
class Problem:
    """The candidates of one query, and how relevant they are or the query that tells.

    Attributes:
        name: What the candidates are called in an error.
        vectors: The candidates, shape (n, d).
        query: The query, shape (1, d); shape (0, d) if there is `relevance`.
        relevance: How relevant each candidate is, shape (n,), or None.
    """

    name: str
    vectors: Vectors
    query: FloatArray
    relevance: FloatArray | None

    def measure(self) -> Relevance:
        """Return how the relevance of the candidates is found."""
        if self.relevance is None:
            return CosineRelevance(Directions(self.query, "query"))
        return GivenRelevance(self.relevance)


def read_problem(
    query: npt.ArrayLike | None,
    candidates: npt.ArrayLike,
    relevance: npt.ArrayLike | None,
    names: tuple[str, str, str] = ("query", "candidates", "relevance"),
) -> Problem:
    """Return a checked problem; `names` are those of the three arguments before it in the messages.

    Raises:
        TypeError: If something is no real number.
        ValueError: If shapes do not fit together, a number of the query or the relevance is not finite, or both are
            None. That of a candidate is found by whoever computes the lengths of all.
    """
    query_name, name, relevance_name = names
    vectors = matrix(candidates, name)
    n, d = vectors.shape
    if relevance is not None:
        given = numbers(relevance, relevance_name, (n,)).astype(np.float64)
        return Problem(name, vectors, np.empty((0, d)), given)
    if query is None:
        raise ValueError(f"{query_name} and {relevance_name} are both None; give one of them")
    return Problem(name, vectors, vector(query, query_name, d if n else None), None)
