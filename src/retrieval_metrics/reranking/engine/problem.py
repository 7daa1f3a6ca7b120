"""One query with its candidates: the checked input of `mmr` and `mmr_batch`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reranking.engine.exact import exact_cosines
from retrieval_metrics.reranking.vectors import matrix, numbers, vector

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.reranking.engine.directions import Directions
    from retrieval_metrics.reranking.vectors import Indices, Vectors
_SHORT, _LONG = 1e-90, 1e130  # other queries are scaled by a power of two, which changes no digit of a cosine


@dataclass(frozen=True)
class Problem:
    """The candidates of one query, with the query or their given relevance.

    Attributes:
        name: The name of the candidates in error messages.
        vectors: The candidates, shape (n, d).
        query: The query, shape (d,), scaled if its squared length would be out of range; zeros if relevance is given.
        unit: Its unit vector, shape (d,).
        relevance: The relevance of each candidate, shape (n,), or None.
    """

    name: str
    vectors: Vectors
    query: FloatArray
    unit: FloatArray
    relevance: FloatArray | None

    @property
    def largest(self) -> float:
        """A bound on the absolute value of every relevance."""
        return 1.0 if self.relevance is None else float(np.abs(self.relevance).max())

    def measured(self, candidates: Directions) -> Vectors:
        """Return the relevance of each candidate, in the precision of the vectors unless it is given."""
        if self.relevance is not None:
            return self.relevance
        return candidates.products(self.unit) * candidates.inverse_lengths

    def relevance_of(self, units: FloatArray, rows: Indices | slice) -> FloatArray:
        """Return the float64 relevance of the candidates in these rows, given their unit vectors."""
        return units @ self.unit if self.relevance is None else self.relevance[rows]

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the relevance of some candidates from the definition, shape (rows,), given the vectors of all."""
        if self.relevance is not None:
            return self.relevance[rows]
        return exact_cosines(vectors, rows, self.query[np.newaxis], np.zeros(len(rows), dtype=np.intp))


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
        return Problem(name, vectors, np.zeros(d), np.zeros(d), given)
    if query is None:
        raise ValueError(f"{query_name} and {relevance_name} are both None; pass one of them")
    asked = vector(query, query_name, d if n else None)
    with np.errstate(over="ignore"):
        length = math.sqrt(asked @ asked)
    if not _SHORT < length < _LONG:
        asked = np.ldexp(asked, -np.frexp(np.abs(asked).max())[1])
        length = math.sqrt(asked @ asked) or 1.0
    return Problem(name, vectors, asked, asked / length, None)
