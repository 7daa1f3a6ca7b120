"""How relevant the candidates are to the query: as given, or by their cosine with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from retrieval_metrics.reranking.exact import exact_cosines

if TYPE_CHECKING:
    import numpy.typing as npt

    from retrieval_metrics.reranking.directions import Directions
    from retrieval_metrics.reranking.vectors import FloatArray, Indices, Vectors


class Relevance(Protocol):
    """The relevance of candidates to one query."""

    @property
    def largest(self) -> float:
        """A bound on the absolute value of every relevance."""

    def of_all(self, candidates: Directions) -> Vectors:
        """Return the relevance of every candidate, shape (n,), in the precision of their cosines."""

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the float64 relevance of some of the candidates, shape (rows,)."""

    def same(self, rows: Indices, row: int) -> npt.NDArray[np.bool_]:
        """Return which of some candidates would be as relevant as one if their vectors were equal, shape (rows,)."""


@dataclass(frozen=True)
class GivenRelevance:
    """Numbers from elsewhere, for example from a cross-encoder."""

    values: FloatArray

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return float(np.abs(self.values).max())

    def of_all(self, candidates: Directions) -> Vectors:  # noqa: ARG002  # they need not be looked at
        """Return what was given."""
        return self.values

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:  # noqa: ARG002  # they need not be looked at
        """Return what was given for these rows."""
        return self.values[rows]

    def same(self, rows: Indices, row: int) -> npt.NDArray[np.bool_]:
        """Return which relevances are equal to one."""
        same: npt.NDArray[np.bool_] = self.values[rows] == self.values[row]
        return same


@dataclass(frozen=True)
class CosineRelevance:
    """The cosine with the query."""

    query: Directions  # a single one, in float64
    largest: float = 1.0

    def of_all(self, candidates: Directions) -> Vectors:
        """Return the cosine of every candidate with the query."""
        return candidates.cosines(self.query.unit(0))

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the cosine of some candidates with the query, as the definition reads."""
        return exact_cosines(vectors, rows, self.query.vectors, np.zeros_like(rows))

    def same(self, rows: Indices, row: int) -> npt.NDArray[np.bool_]:  # noqa: ARG002  # the vectors are all there is
        """Return that all are."""
        return np.ones(len(rows), dtype=np.bool_)
