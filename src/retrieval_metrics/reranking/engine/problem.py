"""One query with its candidates: the checked input of `mmr` and `mmr_batch`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.directions import Directions
from retrieval_metrics.reranking.engine.exact import exact_cosines
from retrieval_metrics.reranking.vectors import matrix, numbers, vector

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.reranking.vectors import Indices, Vectors


@dataclass(frozen=True)
class Problem:
    """The candidates of one query, with the query or their given relevance.

    Attributes:
        name: The name of the candidates in error messages.
        vectors: The candidates, shape (n, d).
        query: The query, shape (1, d); shape (0, d) if `relevance` is given.
        relevance: The relevance of each candidate, shape (n,), or None.
    """

    name: str
    vectors: Vectors
    query: FloatArray
    relevance: FloatArray | None

    @cached_property
    def largest(self) -> float:
        """A bound on the absolute value of every relevance."""
        return 1.0 if self.relevance is None else float(np.abs(self.relevance).max())

    @cached_property
    def _asked(self) -> Directions:
        return Directions(self.query, "query")

    def measured(self, candidates: Directions, rows: Indices | slice) -> Vectors:
        """Return the relevance of the candidates in these rows of the problem, in the precision of their cosines."""
        return candidates.cosines(self._asked.unit(0)) if self.relevance is None else self.relevance[rows]

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the float64 relevance of some candidates, shape (rows,), given the vectors of all."""
        if self.relevance is not None:
            return self.relevance[rows]
        return exact_cosines(vectors, rows, self._asked.vectors, np.zeros_like(rows))


def read_problem(
    query: npt.ArrayLike | None,
    candidates: npt.ArrayLike,
    relevance: npt.ArrayLike | None,
    names: tuple[str, str, str] = ("query", "candidates", "relevance"),
) -> Problem:
    """Return a checked problem; `names` are the names of the other three arguments in error messages.

    Raises:
        TypeError: If an argument holds something other than real numbers.
        ValueError: If shapes do not fit together, the query or the relevance holds a NaN or infinite number, or both
            are None. The numbers of the candidates are checked when their lengths are computed.
    """
    query_name, name, relevance_name = names
    vectors = matrix(candidates, name)
    n, d = vectors.shape
    if relevance is not None:
        given = numbers(relevance, relevance_name, (n,)).astype(np.float64)
        return Problem(name, vectors, np.empty((0, d)), given)
    if query is None:
        raise ValueError(f"{query_name} and {relevance_name} are both None; pass one of them")
    return Problem(name, vectors, vector(query, query_name, d if n else None), None)
