"""Join judgments and a run that is stored in columns, by document id.

As with ids in dicts, only judged documents are looked up. The retrieved documents are filtered down to the few that are
judged; the rank of each is one more than the number of scores above its own. If the rows of a query are already best
first, the rank is the position in the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import require_same_id_type
from retrieval_metrics.matching.judged_columns import Duplicates, Items
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.rank_rows import is_new

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Run


class _FoundRows(NamedTuple):
    """The rows of a batch that hold a judged document.

    Attributes:
        document: The position of the document in `Qrels.documents`.
        row: The row in the batch.
        query: The position of the query in the batch.
    """

    document: IntArray
    row: IntArray
    query: IntArray


class _DocumentRanks(NamedTuple):
    """The ranks of judged documents, in columns as in `Items`."""

    document: IntArray
    rank: IntArray
    tied: IntArray
    tied_from: IntArray


def judge_by_column(qrels: Qrels, run: Run) -> JudgedRun:
    """Find the judged documents of every query in its rows; the result equals that of `judge_by_id` to the last bit."""
    judged = _make_judged_frame(qrels)
    judged_ids = judged["document"].unique().implode()
    n_retrieved = np.zeros(len(qrels), dtype=np.int64)
    ranks: list[_DocumentRanks] = []
    duplicates: list[Duplicates] = []
    for batch in run.batches():
        _require_same_type_of_ids(qrels, batch)
        query_position = np.array([qrels.place.get(query, -1) for query in batch.queries], dtype=np.int64)
        is_judged = query_position >= 0
        n_retrieved[query_position[is_judged]] = np.diff(batch.bounds)[is_judged]
        matches = _find_judged(judged, judged_ids, batch, query_position)
        if batch.scores is None:
            ranks.append(_find_first_ranks(matches, batch))
            duplicates.append(_find_duplicates(matches, batch, query_position))
        else:
            ranks.append(_rank_by_score(matches, batch, batch.scores))
    document, rank, tied, tied_from = _concatenate(ranks, 4)
    duplicate_query, duplicate_rank, duplicate_document = _concatenate(duplicates, 3)
    order = np.lexsort((duplicate_rank, duplicate_query))
    return JudgedRun(
        qrels,
        Items.ordered(qrels, document, rank, tied, tied_from),
        n_retrieved,
        Duplicates(duplicate_query[order], duplicate_rank[order], duplicate_document[order]),
    )


def _concatenate(parts: Sequence[tuple[IntArray, ...]], n_columns: int) -> tuple[IntArray, ...]:
    """Return the columns of all parts, concatenated."""
    empty = (np.zeros(0, dtype=np.int64),) * n_columns
    return tuple(np.concatenate(column) for column in zip(empty, *parts, strict=True))


def _make_judged_frame(qrels: Qrels) -> pl.DataFrame:
    import polars as pl

    if qrels.document_kind is int:
        # Columns hold 64-bit integers, which a larger judged id cannot match.
        documents: list[Any] = list(qrels.documents)
        fitting = [document if -(2**63) <= document < 2**63 else None for document in documents]
        ids = pl.Series("document", fitting, dtype=pl.Int64)
    else:
        ids = pl.Series("document", qrels.documents, dtype=pl.String)
    return pl.DataFrame({"query": qrels.document_query, "document": ids, "position": np.arange(len(ids))})


def _require_same_type_of_ids(qrels: Qrels, batch: Batch) -> None:
    if len(batch.documents):
        id_type = int if batch.documents.dtype.is_integer() else str
        require_same_id_type(qrels.document_kind, "document IDs in the qrels", id_type, "those in the run")


def _find_judged(judged: pl.DataFrame, judged_ids: pl.Series, batch: Batch, query_position: IntArray) -> _FoundRows:
    """Return the rows that hold a document judged for their query."""
    import polars as pl

    if not (len(judged) and len(batch.documents)):
        empty = np.zeros(0, dtype=np.int64)
        return _FoundRows(empty, empty, empty)
    row = np.flatnonzero(batch.documents.is_in(judged_ids).to_numpy())
    batch_query = np.searchsorted(batch.bounds, row, side="right") - 1
    candidates = pl.DataFrame(
        {
            "query": query_position[batch_query],
            "document": batch.documents.gather(row),
            "row": row,
            "batch_query": batch_query,
        }
    )
    matches = candidates.join(judged, on=["query", "document"], how="inner")
    return _FoundRows(matches["position"].to_numpy(), matches["row"].to_numpy(), matches["batch_query"].to_numpy())


def _find_first_ranks(matches: _FoundRows, batch: Batch) -> _DocumentRanks:
    """Return each document with its first rank, for rows in rank order, which have no ties."""
    by_row = np.argsort(matches.row, kind="stable")
    document, first = np.unique(matches.document[by_row], return_index=True)
    first = by_row[first]
    rank = matches.row[first] - batch.bounds[matches.query[first]] + 1
    return _DocumentRanks(document, rank, np.ones_like(rank), rank)


def _find_duplicates(matches: _FoundRows, batch: Batch, query_position: IntArray) -> Duplicates:
    """Return the rows that repeat a document, for rows in rank order."""
    import polars as pl

    sizes = np.diff(batch.bounds)
    query = np.repeat(np.arange(len(sizes)), sizes)
    rows = pl.DataFrame({"query": query, "document": batch.documents})
    is_first = rows.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    row = np.flatnonzero(~is_first)
    row = row[query_position[query[row]] >= 0]
    document = np.full(len(query), -1, dtype=np.int64)
    document[matches.row] = matches.document
    return Duplicates(query_position[query[row]], row - batch.bounds[query[row]] + 1, document[row])


def _rank_by_score(matches: _FoundRows, batch: Batch, scores: FloatArray) -> _DocumentRanks:
    """Return for each found document its rank, how many documents have its score, and the first rank of those."""
    order = _find_best_first_order(matches, batch, scores)
    row = matches.row
    if order is not None:
        sorted_row = np.empty_like(order)
        sorted_row[order] = np.arange(len(order))
        scores = scores[order]
        row = sorted_row[row]
    start = batch.bounds[matches.query]
    end = batch.bounds[matches.query + 1]
    rank = row - start + 1
    tied = np.ones(len(row), dtype=np.int64)
    tied_from = rank
    beside_tie = np.flatnonzero(_is_beside_tie(row, start, end, scores))
    if len(beside_tie):
        blocks = _TiedBlocks(batch, order, scores, matches.query[beside_tie])
        places = blocks.locate(row[beside_tie])
        tied[beside_tie] = places.size
        tied_from = rank.copy()
        tied_from[beside_tie] = places.first_row - start[beside_tie] + 1
        rank[beside_tie] = tied_from[beside_tie] + places.n_above
    return _DocumentRanks(matches.document, rank, tied, tied_from)


def _find_best_first_order(matches: _FoundRows, batch: Batch, scores: FloatArray) -> IntArray | None:
    """Return an order of the rows that puts each query with a match best first; None if they already are."""
    rising = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    query = np.searchsorted(batch.bounds, rising, side="right") - 1
    is_unsorted = np.zeros(len(batch.queries), dtype=np.bool_)
    is_unsorted[query[batch.bounds[query] < rising]] = True  # the first row of a query has no row above it
    has_match = np.zeros_like(is_unsorted)
    has_match[matches.query] = True
    rows, query = _list_rows(batch, is_unsorted & has_match)
    if not len(rows):
        return None
    order = np.arange(len(scores))
    order[rows] = rows[_sort_within_parts(query, scores[rows])]
    return order


def _is_beside_tie(row: IntArray, start: IntArray, end: IntArray, scores: FloatArray) -> BoolArray:
    """Return which rows have the same score as a neighbour in their query."""
    score = scores[row]
    equals_previous = (row > start) & (scores[np.maximum(row - 1, 0)] == score)
    equals_next = (row + 1 < end) & (scores[np.minimum(row + 1, len(scores) - 1)] == score)
    is_beside_tie: BoolArray = equals_previous | equals_next
    return is_beside_tie


class _PlacesInBlocks(NamedTuple):
    """Where rows are in their blocks of equal scores.

    Attributes:
        first_row: The first row of the block.
        n_above: How many rows of the block are above the row.
        size: How many rows the block has.
    """

    first_row: IntArray
    n_above: IntArray
    size: IntArray


class _TiedBlocks:
    """The blocks of equal scores in some queries of a batch; in each, larger ids, compared as text, come first."""

    def __init__(self, batch: Batch, order: IntArray | None, scores: FloatArray, queries: IntArray) -> None:
        """Take the scores best first, and the order of the rows that sorts them this way."""
        has_ties = np.zeros(len(batch.queries), dtype=np.bool_)
        has_ties[queries] = True
        self._documents = batch.documents
        self._order = order
        self._rows, query = _list_rows(batch, has_ties)
        starts_block = is_new(scores[self._rows], query)
        self._starts = np.flatnonzero(starts_block)
        self._block = np.cumsum(starts_block) - 1
        self._sizes = np.diff(self._starts, append=len(self._rows))

    def locate(self, row: IntArray) -> _PlacesInBlocks:
        """Return where each row is in its block."""
        import polars as pl

        index = np.searchsorted(self._rows, row)
        block = self._block[index]
        is_needed = np.zeros(len(self._starts), dtype=np.bool_)
        is_needed[block] = True
        members = np.flatnonzero(is_needed[self._block])
        sorted_rows = self._rows[members]
        rows = sorted_rows if self._order is None else self._order[sorted_rows]
        ids = self._documents.gather(rows).cast(pl.String)
        member_block = self._block[members]
        n_above = np.empty(len(self._rows), dtype=np.int64)
        n_above[members[_sort_within_parts(member_block, ids)]] = members - self._starts[member_block]
        return _PlacesInBlocks(self._rows[self._starts[block]], n_above[index], self._sizes[block])


def _list_rows(batch: Batch, is_selected: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the rows of some queries, and the query of each."""
    all_sizes = np.diff(batch.bounds)
    sizes = np.where(is_selected, all_sizes, 0)
    query = np.repeat(np.arange(len(sizes)), sizes)
    return np.flatnonzero(np.repeat(is_selected, all_sizes)), query


def _sort_within_parts(part: IntArray, values: FloatArray | pl.Series) -> IntArray:
    """Return the order that sorts the entries of each part by value, descending; the entries of a part are adjacent."""
    import polars as pl

    entries = pl.DataFrame({"part": part, "value": values})
    index_in_part = entries.select(pl.col("value").arg_sort(descending=True).over("part")).to_series().to_numpy()
    first: IntArray = np.maximum.accumulate(np.where(is_new(part), np.arange(len(part)), 0))
    order: IntArray = first + index_in_part
    return order
