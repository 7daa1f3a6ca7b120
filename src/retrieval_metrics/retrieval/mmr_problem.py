"""Check the input of `mmr` and `mmr_batch`: one query with its candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.retrieval.unit_vectors import UnitVectors, exact_cosines
from retrieval_metrics.retrieval.vectors import read_matrix, read_numbers, read_vector

if TYPE_CHECKING:
    from numpy import typing as npt

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.retrieval.vectors import Indices, Vectors


# Queries of other lengths are scaled by a power of two, which changes no digit of a cosine.
_MIN_LENGTH = 1e-90
_MAX_LENGTH = 1e130


@dataclass(frozen=True)
class MmrProblem:
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
    def max_relevance(self) -> float:
        """A bound on the absolute value of every relevance."""
        if self.relevance is None:
            return 1.0
        return float(np.abs(self.relevance).max())

    def measure_relevance(self, candidates: UnitVectors) -> Vectors:
        """Return the relevance of each candidate, in the precision of the vectors unless it is given."""
        if self.relevance is not None:
            return self.relevance
        return candidates.products(self.unit) * candidates.inverse_lengths

    def relevance_of(self, units: FloatArray, rows: Indices | slice) -> FloatArray:
        """Return the float64 relevance of the candidates in these rows, given their unit vectors."""
        if self.relevance is not None:
            return self.relevance[rows]
        relevance: FloatArray = units @ self.unit
        return relevance

    def exact_relevance(self, vectors: Vectors, rows: Indices) -> FloatArray:
        """Return the relevance of some candidates from the definition, shape (rows,), given the vectors of all."""
        if self.relevance is not None:
            return self.relevance[rows]
        return exact_cosines(vectors, rows, self.query[np.newaxis], np.zeros(len(rows), dtype=np.intp))


class ProblemNames(NamedTuple):
    """What error messages call the parts of a problem."""

    query: str = "query"
    candidates: str = "candidates"
    relevance: str = "relevance"


DEFAULT_NAMES = ProblemNames()


def read_problem(
    query: npt.ArrayLike | None,
    candidates: npt.ArrayLike,
    relevance: npt.ArrayLike | None,
    names: ProblemNames = DEFAULT_NAMES,
) -> MmrProblem:
    """Return a checked problem; `names` are the names of the other three arguments in error messages."""
    vectors = read_matrix(candidates, names.candidates)
    n, d = vectors.shape
    if relevance is not None:
        relevance_array = read_numbers(relevance, names.relevance, (n,)).astype(np.float64)
        return MmrProblem(names.candidates, vectors, np.zeros(d), np.zeros(d), relevance_array)
    if query is None:
        raise ValueError(f"{names.query} and {names.relevance} are both None; pass one of them")
    query_vector = read_vector(query, names.query, d if n else None)
    with np.errstate(over="ignore"):
        length = math.sqrt(query_vector @ query_vector)
    if not _MIN_LENGTH < length < _MAX_LENGTH:
        query_vector = np.ldexp(query_vector, -np.frexp(np.abs(query_vector).max())[1])
        length = math.sqrt(query_vector @ query_vector) or 1.0
    return MmrProblem(names.candidates, vectors, query_vector, query_vector / length, None)
