"""Hold the rows of several queries in columns, and cut or join rows so that a query has all its rows together."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import Ranking


# From this number of rows on, row numbers need 64 bits.
MIN_ROWS_OF_64_BITS = 2**31
# Its multiples distinguish the hashes of a document in different queries. It is 2**64 divided by the golden ratio, so
# that the multiples differ in every bit.
SALT_FACTOR = np.uint64(0x9E3779B97F4A7C15)

N_HASH_BITS = 64
# There are at least 2**3 slots for each row, so that few rows share a slot by chance.
N_SPARE_SLOT_BITS = 3


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

    def find_query(self, row: int) -> QueryId:
        """Return the query that owns a row."""
        return self.queries[bisect_right(self.bounds, row) - 1]

    def ranking(self, index: int) -> Ranking:
        """Return what was retrieved for a query, by its position: documents with scores, or documents best first."""
        rows = slice(int(self.bounds[index]), int(self.bounds[index + 1]))
        documents: list[Any] = self.documents[rows].to_list()
        if self.scores is None:
            return documents
        return dict(zip(documents, self.scores[rows].tolist(), strict=True))

    def slice_queries(self, start: int, end: int) -> Batch:
        """Return the rows of the queries from one position to before another."""
        first_row = int(self.bounds[start])
        end_row = int(self.bounds[end])
        scores = None
        if self.scores is not None:
            scores = self.scores[first_row:end_row]
        bounds = self.bounds[start : end + 1] - first_row
        return Batch(self.queries[start:end], bounds, self.documents[first_row:end_row], scores)


def _find_query_starts(queries: pl.Series) -> IntArray:
    """Return the rows at which a new query begins; the first is 0."""
    changes: IntArray = np.flatnonzero((queries[1:] != queries[:-1]).to_numpy()) + 1
    return np.concatenate([[0], changes])


def batch_at_changes(queries: pl.Series, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return rows as a batch, in which a query may still occur more than once."""
    starts = _find_query_starts(queries)
    return Batch(queries.gather(starts).to_list(), np.append(starts, len(queries)), documents, scores)


def group_rows(queries: pl.Series, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return rows as a batch in which every query has its rows together, in their original order."""
    starts = _find_query_starts(queries)
    return _join_blocks(queries.gather(starts), np.append(starts, len(queries)), documents, scores)


def regroup_by_query(batches: Iterable[Batch]) -> Batch:
    """Return one batch in which every query has its rows together, in their original order."""
    import polars as pl

    all_batches = list(batches)
    queries: list[QueryId] = []
    for batch in all_batches:
        queries += batch.queries
    sizes = np.concatenate([np.diff(batch.bounds) for batch in all_batches])
    documents = pl.concat([batch.documents for batch in all_batches])
    scores = None
    if all_batches[0].scores is not None:
        scores = np.concatenate([batch.scores for batch in all_batches if batch.scores is not None])
    return _join_blocks(pl.Series(queries), np.append(0, np.cumsum(sizes)), documents, scores)


def _join_blocks(queries: pl.Series, bounds: IntArray, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return blocks of rows as a batch, in which all blocks of a query are next to each other.

    Args:
        queries: The query of each block; several blocks may belong to one.
        bounds: Shape (blocks + 1,): block `i` owns the rows from `bounds[i]` to `bounds[i + 1]`.
        documents: The document of each row.
        scores: The score of each row; None if there are none.
    """
    import polars as pl

    numbered = pl.DataFrame({"query": queries, "block": np.arange(len(queries))})
    by_query = numbered.group_by("query", maintain_order=True).agg("block")
    if len(by_query) == len(queries):
        return Batch(queries.to_list(), bounds, documents, scores)
    blocks = by_query["block"].explode().to_numpy()
    sizes = np.diff(bounds)[blocks]
    ends = np.cumsum(sizes)
    order = np.repeat(bounds[blocks] - (ends - sizes), sizes) + np.arange(len(documents))
    n_blocks_so_far = np.append(0, by_query["block"].list.len().cum_sum().to_numpy())
    query_bounds = np.append(0, ends)[n_blocks_so_far]
    if scores is not None:
        scores = scores[order]
    return Batch(by_query["query"].to_list(), query_bounds, documents.gather(order), scores)


def split_by_query(parts: Iterable[tuple[pl.Series, pl.Series, FloatArray]]) -> Iterator[Batch]:
    """Cut rows that arrive in parts of any size into batches, so that consecutive rows of a query are in one batch.

    Args:
        parts: The query, the document and the score of each row, as columns.
    """
    unfinished: Batch | None = None
    for queries, documents, scores in parts:
        if not len(queries):
            continue
        batch = batch_at_changes(queries, documents, scores)
        if unfinished is not None:
            batch = _append(unfinished, batch)
        # The next part may continue the last query.
        n_finished = len(batch.queries) - 1
        if n_finished:
            yield batch.slice_queries(0, n_finished)
        unfinished = batch.slice_queries(n_finished, n_finished + 1)
    if unfinished is not None:
        yield unfinished


def _append(unfinished: Batch, batch: Batch) -> Batch:
    """Return the rows of one query followed by a batch, which may continue that query."""
    import polars as pl

    n_rows_before = len(unfinished.documents)
    if unfinished.queries[0] == batch.queries[0]:
        queries = batch.queries
        bounds = np.append(0, batch.bounds[1:] + n_rows_before)
    else:
        queries = [*unfinished.queries, *batch.queries]
        bounds = np.append(0, batch.bounds + n_rows_before)
    documents = pl.concat([unfinished.documents, batch.documents], rechunk=False)
    scores = None
    if unfinished.scores is not None and batch.scores is not None:
        scores = np.concatenate([unfinished.scores, batch.scores])
    return Batch(queries, bounds, documents, scores)


def drop_repeated_rows(batch: Batch) -> Batch:
    """Return judgments without the rows that repeat a document of their query with the same grade; the first is kept.

    Rows with another grade stay, for `find_first_duplicate` to find.
    """
    import polars as pl

    if find_first_duplicate(batch) is None:
        return batch
    owners = np.repeat(np.arange(len(batch.queries)), np.diff(batch.bounds))
    columns = {"owner": pl.Series(owners), "document": batch.documents}
    if batch.scores is not None:
        columns["grade"] = pl.Series(batch.scores)
    rows = pl.DataFrame(columns).with_row_index("row")
    kept = rows.unique(list(columns), keep="first", maintain_order=True)
    kept_rows = kept["row"].to_numpy()
    n_kept = np.bincount(kept["owner"].to_numpy(), minlength=len(batch.queries))
    scores = None if batch.scores is None else batch.scores[kept_rows]
    return Batch(batch.queries, np.append(0, np.cumsum(n_kept)), batch.documents.gather(kept_rows), scores)


def find_first_duplicate(batch: Batch) -> int | None:
    """Return the first row whose document appears earlier in its query; None if there is none.

    Sorting all rows would take several times as long. Instead each row writes its number into a slot that its hash
    determines, and only rows that share a slot, a few by chance, are compared.
    """
    n_rows = len(batch.documents)
    salt = np.arange(len(batch.queries), dtype=np.uint64) * SALT_FACTOR
    hashes = batch.documents.hash().to_numpy() + np.repeat(salt, np.diff(batch.bounds))
    n_bits = n_rows.bit_length() + N_SPARE_SLOT_BITS
    slots = (hashes >> np.uint64(N_HASH_BITS - n_bits)).view(np.int64)
    number_type = np.int32 if n_rows < MIN_ROWS_OF_64_BITS else np.int64
    row_numbers = np.arange(n_rows, dtype=number_type)
    row_by_slot = np.empty(1 << n_bits, row_numbers.dtype)
    row_by_slot[slots] = row_numbers
    slot_owners = row_by_slot[slots]
    # The rows whose number another row of their slot has overwritten.
    overwritten = np.flatnonzero(slot_owners != row_numbers)
    overwritten_hashes = np.sort(hashes[overwritten])
    equals_owner = (hashes[overwritten] == hashes[slot_owners[overwritten]]).any()
    equals_another = (overwritten_hashes[1:] == overwritten_hashes[:-1]).any()
    if not (equals_owner or equals_another):
        return None
    return _find_first_equal(batch, np.union1d(overwritten, slot_owners[overwritten]))


def _find_first_equal(batch: Batch, suspects: IntArray) -> int | None:
    """Return the first of the suspected rows whose query and document equal those of an earlier one."""
    seen_documents: set[tuple[int, object]] = set()
    owners = np.searchsorted(batch.bounds, suspects, side="right").tolist()
    documents = batch.documents.gather(suspects).to_list()
    for row, query, document in zip(suspects.tolist(), owners, documents, strict=True):
        if (query, document) in seen_documents:
            return int(row)
        seen_documents.add((query, document))
    return None
