"""Rows of several queries in columns, read from files and DataFrames without a dict of dicts in between."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from retrieval_metrics.checks import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.shapes import Ranking


class Batch(NamedTuple):
    """All rows of several queries: their retrieved documents, or their judgments.

    Attributes:
        queries: The ids of the queries.
        bounds: Shape (queries + 1,): query `i` owns the rows from `bounds[i]` to `bounds[i + 1]`.
        documents: The document of each row, as a polars Series of text or whole numbers.
        scores: Shape (rows,), finite: the scores of a run or the grades of judgments. None if a run is in rank order
            or every judged document has grade 1.
    """

    queries: list[QueryId]
    bounds: IntArray
    documents: pl.Series
    scores: FloatArray | None

    def query_of(self, row: int) -> QueryId:
        """Return the query that owns a row."""
        return self.queries[bisect_right(self.bounds, row) - 1]

    def ranking(self, at: int) -> Ranking:
        """Return what was retrieved for query `at`: documents with scores, or documents best first."""
        rows = slice(int(self.bounds[at]), int(self.bounds[at + 1]))
        documents: list[Any] = self.documents[rows].to_list()
        return documents if self.scores is None else dict(zip(documents, self.scores[rows].tolist(), strict=True))
