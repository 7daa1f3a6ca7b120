"""Join judgments and a run stored in columns.

As with ids in dicts, only judged documents are looked up. The retrieved documents are filtered down to the few that are
judged; the rank of each is one more than the number of scores above its own. If the rows of a query are already best
first, the rank is the position in the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import require_same_id_type
from retrieval_metrics.matching.judged_run import Duplicates, Items, JudgedRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from retrieval_metrics._internal.validation import BoolArray, FloatArray, IntArray
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Run


class _FoundRows(NamedTuple):
    """Judged documents found in a batch: their positions in the judgments, and their rows and queries in the batch."""

    document: IntArray
    row: IntArray
    query: IntArray


def judge_by_column(qrels: Qrels, run: Run) -> JudgedRun:
    """Find the judged documents of every query in its rows; the result equals that of `judge_by_id` to the last bit."""
    judged = _judged_documents(qrels)
    any_query = judged["document"].unique().implode()
    n_retrieved = np.zeros(len(qrels), dtype=np.int64)
    parts: list[tuple[IntArray, ...]] = []
    repeats: list[tuple[IntArray, ...]] = []
    for batch in run.batches():
        _check_kind(qrels, batch)
        at = np.array([qrels.place.get(query, -1) for query in batch.queries], dtype=np.int64)
        n_retrieved[at[at >= 0]] = np.diff(batch.bounds)[at >= 0]
        found = _find(judged, any_query, batch, at)
        if batch.scores is None:
            parts.append(_first_ranks(found, batch))
            repeats.append(_repeats(found, batch, at))
        else:
            parts.append((found.document, *_by_score(found, batch, batch.scores)))
    document, rank, tied, tied_from = _joined(parts, 4)
    repeated, at_rank, repeated_document = _joined(repeats, 3)
    order = np.lexsort((at_rank, repeated))
    return JudgedRun(
        qrels,
        Items.ordered(qrels, document, rank, tied, tied_from),
        n_retrieved,
        Duplicates(repeated[order], at_rank[order], repeated_document[order]),
    )


def _joined(parts: Sequence[tuple[IntArray, ...]], width: int) -> tuple[IntArray, ...]:
    """Return the columns of all parts, concatenated."""
    none = (np.zeros(0, dtype=np.int64),) * width
    return tuple(np.concatenate(column) for column in zip(none, *parts, strict=True))


def _judged_documents(qrels: Qrels) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415  (an extra, which every Run already needs)

    if qrels.document_kind is int:
        # Columns hold 64-bit integers, which a larger judged id cannot match.
        held = [document if -(2**63) <= document < 2**63 else None for document in qrels.documents]  # type: ignore[operator]
        ids = pl.Series("document", held, dtype=pl.Int64)
    else:
        ids = pl.Series("document", qrels.documents, dtype=pl.String)
    return pl.DataFrame({"query": qrels.document_query, "document": ids, "at": np.arange(len(ids))})


def _check_kind(qrels: Qrels, batch: Batch) -> None:
    if len(batch.documents):
        kind = int if batch.documents.dtype.is_integer() else str
        require_same_id_type(qrels.document_kind, "document ids in the qrels", kind, "those in the run")


def _find(judged: pl.DataFrame, any_query: pl.Series, batch: Batch, at: IntArray) -> _FoundRows:
    """Return the rows that hold a document judged for their query."""
    import polars as pl  # noqa: PLC0415  (as above)

    if not (len(judged) and len(batch.documents)):
        none = np.zeros(0, dtype=np.int64)
        return _FoundRows(none, none, none)
    row = np.flatnonzero(batch.documents.is_in(any_query).to_numpy())
    query = np.searchsorted(batch.bounds, row, side="right") - 1
    candidates = pl.DataFrame({"query": at[query], "document": batch.documents.gather(row), "row": row, "in": query})
    found = candidates.join(judged, on=["query", "document"], how="inner")
    return _FoundRows(found["at"].to_numpy(), found["row"].to_numpy(), found["in"].to_numpy())


def _first_ranks(found: _FoundRows, batch: Batch) -> tuple[IntArray, ...]:
    """Return each document with its first rank, for rows in rank order, which have no ties."""
    order = np.argsort(found.row, kind="stable")
    document, first = np.unique(found.document[order], return_index=True)
    first = order[first]
    rank = found.row[first] - batch.bounds[found.query[first]] + 1
    return document, rank, np.ones_like(rank), rank


def _repeats(found: _FoundRows, batch: Batch, at: IntArray) -> tuple[IntArray, ...]:
    """Return query, rank and judged document (-1: none) of the rows that repeat a document, for rows in rank order."""
    import polars as pl  # noqa: PLC0415  (as above)

    sizes = np.diff(batch.bounds)
    query = np.repeat(np.arange(len(sizes)), sizes)
    rows = pl.DataFrame({"query": query, "document": batch.documents})
    again = np.flatnonzero(~rows.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy())
    again = again[at[query[again]] >= 0]
    document = np.full(len(query), -1, dtype=np.int64)
    document[found.row] = found.document
    return at[query[again]], again - batch.bounds[query[again]] + 1, document[again]


def _by_score(found: _FoundRows, batch: Batch, scores: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return for each found document its rank, how many documents have its score, and the first rank of those."""
    order = _best_first(found, batch, scores)
    row = found.row
    if order is not None:
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        scores, row = scores[order], place[row]
    start, end = batch.bounds[found.query], batch.bounds[found.query + 1]
    rank, tied = row - start + 1, np.ones(len(row), dtype=np.int64)
    tied_from = rank
    beside = np.flatnonzero(_beside_a_tie(row, start, end, scores))
    if len(beside):
        ties = _TiedBlocks(batch, order, scores, found.query[beside])
        first, place, tied[beside] = ties.of(row[beside])
        tied_from = rank.copy()
        tied_from[beside] = first - start[beside] + 1
        rank[beside] = tied_from[beside] + place
    return rank, tied, tied_from


def _best_first(found: _FoundRows, batch: Batch, scores: FloatArray) -> IntArray | None:
    """Return an order of the rows that puts each query with a match best first; None if they already are."""
    rising = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    query = np.searchsorted(batch.bounds, rising, side="right") - 1
    unsorted = np.zeros(len(batch.queries), dtype=np.bool_)
    unsorted[query[batch.bounds[query] < rising]] = True
    looked_at = np.zeros_like(unsorted)
    looked_at[found.query] = True
    rows, query = _rows_of(batch, unsorted & looked_at)
    if not len(rows):
        return None
    order = np.arange(len(scores))
    order[rows] = rows[_sorted(query, scores[rows])]
    return order


def _beside_a_tie(row: IntArray, start: IntArray, end: IntArray, scores: FloatArray) -> BoolArray:
    """Return which rows have the same score as a neighbour in their query."""
    own = scores[row]
    before = (row > start) & (scores[np.maximum(row - 1, 0)] == own)
    after = (row + 1 < end) & (scores[np.minimum(row + 1, len(scores) - 1)] == own)
    tie: BoolArray = before | after
    return tie


class _TiedBlocks:
    """The blocks of equal scores in some queries of a batch; in each, larger ids, compared as text, come first."""

    def __init__(self, batch: Batch, order: IntArray | None, scores: FloatArray, queries: IntArray) -> None:
        """Take the scores best first, and the order of the rows that sorts them this way."""
        among = np.zeros(len(batch.queries), dtype=np.bool_)
        among[queries] = True
        self._rows, query = _rows_of(batch, among)
        self._documents, self._order = batch.documents, order
        own = scores[self._rows]
        new = np.concatenate([[True], (own[1:] != own[:-1]) | (query[1:] != query[:-1])])
        self._starts = np.flatnonzero(new)
        self._block = np.cumsum(new) - 1
        self._sizes = np.diff(self._starts, append=len(self._rows))

    def of(self, row: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return for each row where its block begins, how many rows of the block are above it, and the block's size."""
        import polars as pl  # noqa: PLC0415  (an extra, which every Run already needs)

        at = np.searchsorted(self._rows, row)
        block = self._block[at]
        asked = np.zeros(len(self._starts), dtype=np.bool_)
        asked[block] = True
        members = np.flatnonzero(asked[self._block])
        rows = self._rows[members] if self._order is None else self._order[self._rows[members]]
        ids = self._documents.gather(rows).cast(pl.String)
        place = np.empty(len(self._rows), dtype=np.int64)
        place[members[_sorted(self._block[members], ids)]] = members - self._starts[self._block[members]]
        return self._rows[self._starts[block]], place[at], self._sizes[block]


def _rows_of(batch: Batch, queries: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some queries, and the query of each."""
    sizes = np.where(queries, np.diff(batch.bounds), 0)
    query = np.repeat(np.arange(len(sizes)), sizes)
    return np.flatnonzero(np.repeat(queries, np.diff(batch.bounds))), query


def _sorted(part: IntArray, values: FloatArray | pl.Series) -> IntArray:
    """Return the order that sorts the entries of each part by value, descending; the entries of a part are adjacent."""
    import polars as pl  # noqa: PLC0415  (an extra, which every Run already needs)

    entries = pl.DataFrame({"part": part, "value": values})
    place = entries.select(pl.col("value").arg_sort(descending=True).over("part")).to_series().to_numpy()
    begins = np.diff(part, prepend=-1) != 0
    first: IntArray = np.maximum.accumulate(np.where(begins, np.arange(len(part)), 0))
    order: IntArray = first + place
    return order
