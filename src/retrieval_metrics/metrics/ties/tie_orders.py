"""Compute metrics over all orders of documents with equal scores."""

from __future__ import annotations

from itertools import chain, permutations, product
from math import perm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.judged_columns import Items
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.rank_rows import is_new
from retrieval_metrics.metrics.base.definition import TieOrderValues

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray
    from retrieval_metrics.metrics.base.definition import Definition
    from retrieval_metrics.metrics.base.metric import Metric


def score_over_orders(
    judged: JudgedRun, queries: IntArray, metric: Metric, parameters: Mapping[str, Any]
) -> TieOrderValues:
    """Return a metric over all orders of equal scores, in closed form if it has one."""
    judged = _join_ties(judged)
    k = judged.cutoff(metric.k)
    # Scored rankings have no item lengths; a budget of calls differs by query, and has no closed form.
    if k is None or isinstance(k, int):
        values = _score_in_closed_form(judged, metric.definition, k, parameters)
        if values is not None:
            return values
    return score_each_order(judged, queries, metric, parameters)


def _score_in_closed_form(
    judged: JudgedRun, definition: Definition, k: int | None, parameters: Mapping[str, Any]
) -> TieOrderValues | None:
    if definition.mean_over_orders is None or not (judged.qrels.is_flat or definition.ignores_groups):
        return None
    mean = definition.mean_over_orders(judged, k=k, **parameters)
    if mean is None or isinstance(mean, TieOrderValues):
        return mean
    goes_first = judged.items.grade > 0
    if not definition.is_quality_metric:  # what says how much is judged is best with everything judged first
        goes_first = np.ones(len(judged.items.rank), np.bool_)
    best_order, worst_order = best_and_worst_orders(judged, goes_first)
    best = definition.score(best_order, k=k, **parameters)
    worst = definition.score(worst_order, k=k, **parameters)
    return TieOrderValues(mean, np.minimum(worst, best), np.maximum(worst, best))


def _join_ties(judged: JudgedRun) -> JudgedRun:
    """Return the judged run with all documents of a tie at its first rank."""
    items = judged.items
    by_document = np.argsort(items.document)
    first_rank = items.tied_from[by_document]
    joined = Items.ordered(
        judged.qrels,
        document=items.document[by_document],
        rank=first_rank,
        tied=items.tied[by_document],
        tied_from=first_rank,
    )
    return judged.with_items(joined)


def best_and_worst_orders(judged: JudgedRun, goes_first: BoolArray) -> tuple[JudgedRun, JudgedRun]:
    """Return a judged run in the best order of equal scores and in the worst, which is the reverse."""
    grade = judged.items.grade
    best = _order_within_blocks(judged, goes_first, grade)
    worst = _order_within_blocks(judged, ~goes_first, -grade)
    return judged.with_items(best), judged.with_items(worst)


def _order_within_blocks(judged: JudgedRun, goes_first: BoolArray, worth: FloatArray) -> Items:
    """Return the items with some of them first in their block and the other judged ones last."""
    items = judged.items
    order = np.lexsort((-worth, ~goes_first, items.rank, items.query))
    query = items.query[order]
    first_rank = items.rank[order]
    block_size = items.tied[order]
    starts_block = is_new(query, first_rank)
    start = np.flatnonzero(starts_block)
    block = np.cumsum(starts_block) - 1
    index_in_block = np.arange(len(order)) - start[block]
    n_judged = np.diff(np.append(start, len(order)))[block]
    index_if_last = block_size - n_judged + index_in_block
    rank = first_rank + np.where(goes_first[order], index_in_block, index_if_last)
    return Items(items.document[order], query, rank, items.grade[order], block_size, first_rank)


# Trying this many orders takes a few tenths of a second.
MAX_ORDERS = 10_000


def score_each_order(
    judged: JudgedRun, queries: IntArray, metric: Metric, parameters: Mapping[str, Any]
) -> TieOrderValues:
    """Return mean, smallest and largest value over all orders of equal scores."""
    mean = np.zeros(judged.n_queries)
    lowest = np.zeros(judged.n_queries)
    highest = np.zeros(judged.n_queries)
    for query in queries.tolist():
        values = metric.definition.score(_list_orders(judged, query, metric), k=judged.cutoff(metric.k), **parameters)
        mean[query] = values.mean()
        lowest[query] = values.min()
        highest[query] = values.max()
    return TieOrderValues(mean, lowest, highest)


def _list_orders(judged: JudgedRun, query: int, metric: Metric) -> JudgedRun:
    """Return a judged run with one query for each way to place the judged documents of a query."""
    items = judged.items
    qrels = judged.qrels
    rows = np.flatnonzero(items.query == query)
    ranks = items.rank[rows]
    blocks = [rows[ranks == rank] for rank in np.unique(ranks)]
    sizes = [int(items.tied[block[0]]) for block in blocks]
    n_orders = prod(perm(size, len(block)) for size, block in zip(sizes, blocks, strict=True))
    if n_orders > MAX_ORDERS:
        raise ValueError(
            f"{metric} has no closed form for its mean over all orders of equal scores with these judgments, and query "
            f"{qrels.queries[query]!r} has {n_orders:.3g} orders, too many to try; use ties='docid' or ties='input'"
        )
    places_by_block = [list(permutations(range(size), len(block))) for size, block in zip(sizes, blocks, strict=True)]
    places = np.array([list(chain.from_iterable(choice)) for choice in product(*places_by_block)], dtype=np.int64)
    block_rows = np.concatenate(blocks)
    rank = items.rank[block_rows] + places
    copies = Qrels.unchecked(dict.fromkeys(range(n_orders), qrels.judgments(query)))
    copies = copies.with_largest_grade(qrels.largest_grade)
    start = qrels.bounds[query]
    n_documents = qrels.bounds[query + 1] - start
    document = (items.document[block_rows] - start) + n_documents * np.arange(n_orders)[:, None]
    by_rank = np.argsort(rank, axis=1, kind="stable")
    document = np.take_along_axis(document, by_rank, axis=1).ravel()
    rank = np.take_along_axis(rank, by_rank, axis=1).ravel()
    untied = np.ones_like(document)
    all_items = Items(document, copies.document_query[document], rank, copies.document_grade[document], untied, rank)
    return JudgedRun(copies, all_items, np.full(n_orders, judged.n_retrieved[query]))
