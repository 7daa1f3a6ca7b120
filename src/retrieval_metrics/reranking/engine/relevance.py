"""The relevance of candidates to a query: given, or the cosine with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from retrieval_metrics.reranking.engine.exact import exact_cosines

if TYPE_CHECKING:
    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.reranking.engine.directions import Directions
    from retrieval_metrics.reranking.engine.vectors import Indices, Vectors


class Relevance(Protocol):
    """The relevance of candidates to one query."""

    @property
    def largest(self) -> float:
        """A bound on the absolute value of every relevance."""

    def of(self, candidates: Directions, rows: Indices | slice) -> Vectors:
        """Return the relevance of the candidates in these rows, in the precision of their cosines."""

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the float64 relevance of some of the candidates, shape (rows,)."""


@dataclass(frozen=True)
class GivenRelevance:
    """Relevance given by the caller, for example from a cross-encoder."""

    values: FloatArray

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return float(np.abs(self.values).max())

    def of(self, candidates: Directions, rows: Indices | slice) -> Vectors:  # noqa: ARG002  # not needed for given values
        """Return the given values of these rows."""
        return self.values[rows]

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:  # noqa: ARG002  # not needed for given values
        """Return the given values of these rows."""
        return self.values[rows]


@dataclass(frozen=True)
class CosineRelevance:
    """The cosine with the query."""

    query: Directions  # a single vector, in float64
    largest: float = 1.0

    @cached_property
    def _unit(self) -> Vectors:
        return self.query.unit(0)

    def of(self, candidates: Directions, rows: Indices | slice) -> Vectors:  # noqa: ARG002  # the cosine needs the vectors only
        """Return the cosine of each candidate with the query."""
        return candidates.cosines(self._unit)

    def exactly(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the exact cosine of some candidates with the query."""
        return exact_cosines(vectors, rows, self.query.vectors, np.zeros_like(rows))
