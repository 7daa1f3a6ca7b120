"""Join judgments and a run that stands in columns.

As with ids in dicts, only what is judged is looked at: the retrieved documents are filtered by the few judged ones, and
the rank of each that remains is one more than the number of scores above its own. Where the rows of a query stand best
first, that is its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.checks import same_kind
from retrieval_metrics.judging.judged_run import Items, JudgedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.run import Batch, Run
    from retrieval_metrics.types import BoolArray, FloatArray, IntArray


class _Found(NamedTuple):
    """Judged documents found in a batch: which document of the judgments, and in which row and query of the batch."""

    document: IntArray
    row: IntArray
    query: IntArray


def judge_by_column(qrels: Qrels, run: Run) -> JudgedRun:
    """Find the judged documents of every query in its rows; the same, to the last bit, as `judge_by_id`.

    Raises:
        TypeError: If the document ids of run and judgments are of different types.
    """
    judged = _judged_documents(qrels)
    any_query = judged["document"].unique().implode()
    position = {query: at for at, query in enumerate(qrels.queries)}
    n_retrieved = np.zeros(len(qrels), dtype=np.int64)
    n_repeated = np.zeros(len(qrels), dtype=np.int64)
    parts: list[tuple[IntArray, IntArray, IntArray]] = []
    for batch in run.batches():
        _check_kind(qrels, batch)
        at = np.array([position.get(query, -1) for query in batch.queries], dtype=np.int64)
        n_retrieved[at[at >= 0]] = np.diff(batch.bounds)[at >= 0]
        found = _find(judged, any_query, batch, at)
        if batch.scores is None:
            n_repeated[at[at >= 0]] = _repeats(batch)[at >= 0]
            parts.append(_first_places(found, batch))
        else:
            parts.append((found.document, *_by_score(found, batch, batch.scores)))
    if not parts:
        parts.append((position_of_none := np.zeros(0, dtype=np.int64), position_of_none, position_of_none))
    document, above, tied = (np.concatenate(column) for column in zip(*parts, strict=True))
    return JudgedRun(qrels, Items.ordered(qrels, document, above + 1, tied), n_retrieved, n_repeated)


def _judged_documents(qrels: Qrels) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415  (an extra; whoever holds a Run has it)

    ids = pl.Series("document", qrels.documents, dtype=pl.Int64 if qrels.document_kind is int else pl.String)
    return pl.DataFrame({"query": qrels.document_query, "document": ids, "at": np.arange(len(ids))})


def _check_kind(qrels: Qrels, batch: Batch) -> None:
    if len(batch.documents):
        kind = int if batch.documents.dtype.is_integer() else str
        same_kind(qrels.document_kind, "document ids in the qrels", kind, "those in the run")


def _find(judged: pl.DataFrame, any_query: pl.Series, batch: Batch, at: IntArray) -> _Found:
    """Return the rows that hold a document judged for their query."""
    import polars as pl  # noqa: PLC0415  (as above)

    if not (len(judged) and len(batch.documents)):
        none = np.zeros(0, dtype=np.int64)
        return _Found(none, none, none)
    row = np.flatnonzero(batch.documents.is_in(any_query).to_numpy())
    query = np.searchsorted(batch.bounds, row, side="right") - 1
    candidates = pl.DataFrame({"query": at[query], "document": batch.documents.gather(row), "row": row, "in": query})
    found = candidates.join(judged, on=["query", "document"], how="inner")
    return _Found(found["at"].to_numpy(), found["row"].to_numpy(), found["in"].to_numpy())


def _first_places(found: _Found, batch: Batch) -> tuple[IntArray, IntArray, IntArray]:
    """Return document, number of rows above, and 1 (nothing ties), for rows in rank order: a repeat stands first."""
    order = np.argsort(found.row, kind="stable")
    document, first = np.unique(found.document[order], return_index=True)
    first = order[first]
    above = found.row[first] - batch.bounds[found.query[first]]
    return document, above, np.ones(len(document), dtype=np.int64)


def _repeats(batch: Batch) -> IntArray:
    """Return for each query how many of its rows hold a document that stood there before."""
    import polars as pl  # noqa: PLC0415  (as above)

    sizes = np.diff(batch.bounds)
    query = np.repeat(np.arange(len(sizes)), sizes)
    distinct = pl.DataFrame({"query": query, "document": batch.documents}).unique()["query"].to_numpy()
    return sizes - np.bincount(distinct, minlength=len(sizes))


def _by_score(found: _Found, batch: Batch, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return how many documents stand above each found one, and how many share its score, itself included."""
    start, end = batch.bounds[found.query], batch.bounds[found.query + 1]
    above, tied = found.row - start, np.ones(len(found.row), dtype=np.int64)
    counted = ~_best_first(batch, scores)[found.query] | _beside_a_tie(found.row, start, end, scores)
    for query, places in _by_query(found.query, np.flatnonzero(counted)).items():
        rows = slice(int(batch.bounds[query]), int(batch.bounds[query + 1]))
        ascending = np.sort(scores[rows])
        own = scores[found.row[places]]
        right = np.searchsorted(ascending, own, side="right")
        above[places] = len(ascending) - right
        tied[places] = right - np.searchsorted(ascending, own, side="left")
        _break_ties(found, batch, scores, places[tied[places] > 1], above)
    return above, tied


def _best_first(batch: Batch, scores: FloatArray) -> BoolArray:
    """Return for which queries no score is above that of the row before."""
    rising = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    query = np.searchsorted(batch.bounds, rising, side="right") - 1
    best_first = np.ones(len(batch.queries), dtype=np.bool_)
    best_first[query[batch.bounds[query] < rising]] = False
    return best_first


def _beside_a_tie(row: IntArray, start: IntArray, end: IntArray, scores: FloatArray) -> BoolArray:
    """Return which rows have the score of a neighbour in their query."""
    own = scores[row]
    before = (row > start) & (scores[np.maximum(row - 1, 0)] == own)
    after = (row + 1 < end) & (scores[np.minimum(row + 1, len(scores) - 1)] == own)
    tie: BoolArray = before | after
    return tie


def _by_query(query: IntArray, places: IntArray) -> Mapping[int, IntArray]:
    """Return some places by the query they belong to."""
    places = places[np.argsort(query[places], kind="stable")]
    queries, first = np.unique(query[places], return_index=True)
    return dict(zip(queries.tolist(), np.split(places, first[1:]), strict=True)) if len(places) else {}


def _break_ties(found: _Found, batch: Batch, scores: FloatArray, places: IntArray, above: IntArray) -> None:
    """Add to the tied documents of one query those that tie with them and come first: larger ids, as text."""
    import polars as pl  # noqa: PLC0415  (as above)

    for score in np.unique(scores[found.row[places]]).tolist():
        query = int(found.query[places[0]])
        start, end = int(batch.bounds[query]), int(batch.bounds[query + 1])
        block = np.flatnonzero(scores[start:end] == score) + start
        order = batch.documents.gather(block).cast(pl.String).arg_sort(descending=True).to_numpy()
        rank_in_block = np.empty(len(block), dtype=np.int64)
        rank_in_block[order] = np.arange(len(block))
        here = places[scores[found.row[places]] == score]
        above[here] += rank_in_block[np.searchsorted(block, found.row[here])]
