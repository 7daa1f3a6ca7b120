"""Documents that are retrieved again: counted as hits again, or taken out of the ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.judged_run import Items, JudgedRun, Repeats, count_above, within

if TYPE_CHECKING:
    from retrieval_metrics.types import Cut, FloatArray


def repeats_of(judged: JudgedRun) -> Repeats:
    """Return where documents stand that stood in the ranking before.

    Raises:
        ValueError: If it is not known, because the run stands in columns.
    """
    if judged.repeats is None:
        query = judged.qrels.queries[int(judged.n_repeated.argmax())]
        raise ValueError(
            f"the ranking of query {query!r} holds a document twice, and where it does is not known of a run in "
            "columns; pass it query by query, as run.as_dict()"
        )
    return judged.repeats


def counted(judged: JudgedRun) -> JudgedRun:
    """Return the judged run in which a judged document that is retrieved again is judged again.

    A group of alternatives is credited again where the document that it was credited for is retrieved again.
    """
    items, repeats = judged.items, repeats_of(judged)
    again = repeats.document >= 0
    document = np.concatenate([items.document, repeats.document[again]])
    query = np.concatenate([items.query, repeats.query[again]])
    rank = np.concatenate([items.rank, repeats.rank[again]])
    order = np.lexsort((rank, query))
    document = document[order]
    tied = np.concatenate([items.tied, np.ones(int(again.sum()), dtype=np.int64)])[order]
    every = Items(document, query[order], rank[order], judged.qrels.document_grade[document], tied)
    again_counted = _like(judged, JudgedRun(judged.qrels, every, judged.n_retrieved, judged.n_repeated))
    again_counted.counts_repeats = True
    return again_counted


def collapsed(judged: JudgedRun) -> JudgedRun:
    """Return the judged run without the repeats: what stands below them moves up."""
    items, repeats = judged.items, repeats_of(judged)
    above = count_above(items.query, items.rank, repeats.query, repeats.rank)
    moved = items._replace(rank=items.rank - above)
    return _like(judged, JudgedRun(judged.qrels, moved, judged.n_retrieved - judged.n_repeated, judged.n_repeated))


def n_distinct(judged: JudgedRun, k: Cut) -> FloatArray:
    """Return how many distinct documents there are among the first `k` of each query, shape (queries,)."""
    places = judged.n_retrieved if k is None else np.minimum(judged.n_retrieved, k)
    if judged.places is not judged.items or not judged.n_repeated.any():
        return places.astype(np.float64)
    repeats = repeats_of(judged)
    return places - judged.per_query(
        repeats.query if k is None else repeats.query[within(repeats.query, repeats.rank, k)]
    )


def _like(judged: JudgedRun, changed: JudgedRun) -> JudgedRun:
    changed.repeats, changed.lengths, changed.coverage = judged.repeats, judged.lengths, judged.coverage
    return changed
