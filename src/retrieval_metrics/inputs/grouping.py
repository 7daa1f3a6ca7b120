"""Cut columns of rows into whole queries, and find repeated documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.inputs.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from retrieval_metrics.checks import FloatArray, IntArray

LARGEST_INT32 = 2**31
ODD = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio, whose multiples differ in every bit."""


def stretches(queries: pl.Series) -> IntArray:
    """Return the rows at which a new query begins; the first is 0."""
    changes: IntArray = np.flatnonzero((queries[1:] != queries[:-1]).to_numpy()) + 1
    return np.concatenate([[0], changes])


def batch_of(queries: pl.Series, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return rows as a batch, in which a query may still occur more than once."""
    starts = stretches(queries)
    return Batch(queries.gather(starts).to_list(), np.append(starts, len(queries)), documents, scores)


def grouped(queries: pl.Series, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return rows as a batch in which every query has its rows together, in their original order."""
    starts = stretches(queries)
    return _gathered(queries.gather(starts), np.append(starts, len(queries)), documents, scores)


def regrouped(batches: Iterable[Batch]) -> Batch:
    """Return one batch in which every query has its rows together, in their original order."""
    import polars as pl  # noqa: PLC0415  (an extra; installed wherever there is a batch)

    parts = list(batches)
    names = pl.Series([query for part in parts for query in part.queries])
    sizes = np.concatenate([np.diff(part.bounds) for part in parts])
    documents = pl.concat([part.documents for part in parts])
    scores = None
    if parts[0].scores is not None:
        scores = np.concatenate([part.scores for part in parts if part.scores is not None])
    return _gathered(names, np.append(0, np.cumsum(sizes)), documents, scores)


def _gathered(names: pl.Series, bounds: IntArray, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return stretches of rows with those of a query next to each other; stretch `i` belongs to query `names[i]`."""
    import polars as pl  # noqa: PLC0415  (as above)

    of_query = pl.DataFrame({"query": names, "at": np.arange(len(names))}).group_by("query", maintain_order=True)
    stretch = of_query.agg("at")
    if len(stretch) == len(names):
        return Batch(names.to_list(), bounds, documents, scores)
    at = stretch["at"].explode().to_numpy()
    sizes = np.diff(bounds)[at]
    ends = np.cumsum(sizes)
    order = np.repeat(bounds[at] - (ends - sizes), sizes) + np.arange(len(documents))
    of_each = np.append(0, ends)[np.append(0, stretch["at"].list.len().cum_sum().to_numpy())]
    gathered = None if scores is None else scores[order]
    return Batch(stretch["query"].to_list(), of_each, documents.gather(order), gathered)


def whole_queries(parts: Iterable[tuple[pl.Series, pl.Series, FloatArray]]) -> Iterator[Batch]:
    """Cut rows that arrive in parts so that a query whose rows are consecutive is in one batch.

    Args:
        parts: Query, document and score of successive rows.
    """
    kept: Batch | None = None
    for queries, documents, scores in parts:
        if not len(queries):
            continue
        batch = batch_of(queries, documents, scores)
        if kept is not None:
            batch = _joined(kept, batch)
        whole = len(batch.queries) - 1
        row = int(batch.bounds[whole])
        if whole:
            yield Batch(batch.queries[:whole], batch.bounds[: whole + 1], batch.documents[:row], _cut(batch, 0, row))
        # The next part may continue the last query.
        kept = Batch(batch.queries[whole:], batch.bounds[whole:] - row, batch.documents[row:], _cut(batch, row, None))
    if kept is not None:
        yield kept


def _cut(batch: Batch, start: int, end: int | None) -> FloatArray | None:
    return None if batch.scores is None else batch.scores[start:end]


def _joined(kept: Batch, batch: Batch) -> Batch:
    """Return the rows of one query followed by a batch, which may continue that query."""
    import polars as pl  # noqa: PLC0415  (an extra; installed wherever there is a batch)

    more = kept.queries[0] == batch.queries[0]
    bounds = np.append(0, batch.bounds[1 if more else 0 :] + len(kept.documents))
    queries = batch.queries if more else [*kept.queries, *batch.queries]
    documents = pl.concat([kept.documents, batch.documents], rechunk=False)
    scores = None
    if kept.scores is not None and batch.scores is not None:
        scores = np.concatenate([kept.scores, batch.scores])
    return Batch(queries, bounds, documents, scores)


def first_repeat(batch: Batch) -> int | None:
    """Return the first row whose document appears earlier in its query; None if there is none.

    Every row writes its number into a table, into the slot of its hash. A row that finds another number there has the
    same document as that row, or the same slot by chance; only these few rows are compared.
    """
    rows = len(batch.documents)
    salt = np.arange(len(batch.queries), dtype=np.uint64) * ODD
    hashes = batch.documents.hash().to_numpy() + np.repeat(salt, np.diff(batch.bounds))
    bits = rows.bit_length() + 3
    slot = (hashes >> np.uint64(64 - bits)).view(np.int64)
    number = np.arange(rows, dtype=np.int32 if rows < LARGEST_INT32 else np.int64)
    table = np.empty(1 << bits, number.dtype)
    table[slot] = number
    holder = table[slot]
    crowded = np.flatnonzero(holder != number)
    others = np.sort(hashes[crowded])
    if not ((hashes[crowded] == hashes[holder[crowded]]).any() or (others[1:] == others[:-1]).any()):
        return None
    return _first_equal(batch, np.union1d(crowded, holder[crowded]))


def _first_equal(batch: Batch, suspects: IntArray) -> int | None:
    """Return the first of the suspected rows that repeats an earlier one; equal hashes alone prove nothing."""
    seen: set[tuple[int, object]] = set()
    owner = np.searchsorted(batch.bounds, suspects, side="right").tolist()
    documents = batch.documents.gather(suspects).to_list()
    for row, query, document in zip(suspects.tolist(), owner, documents, strict=True):
        if (query, document) in seen:
            return int(row)
        seen.add((query, document))
    return None
