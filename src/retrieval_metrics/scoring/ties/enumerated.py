"""Try all orders of documents with equal scores, for metrics without a closed form."""

from __future__ import annotations

from itertools import chain, permutations, product
from math import perm, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import argument
from retrieval_metrics.definition.definition import OverOrders
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.judged_run import Items, JudgedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import IntArray
    from retrieval_metrics.definition.metric import Metric

MOST_ORDERS = 10_000
"""Trying this many orders takes a few tenths of a second."""


def enumerated(judged: JudgedRun, queries: IntArray, metric: Metric, parameters: Mapping[str, Any]) -> OverOrders:
    """Return mean, smallest and largest value over all orders of equal scores.

    Raises:
        ValueError: If a query has too many orders.
    """
    mean, low, high = np.zeros((3, judged.n_queries))
    for query in queries.tolist():
        values = metric.definition.score(_orders(judged, query, metric), k=judged.cutoff(metric.k), **parameters)
        mean[query], low[query], high[query] = values.mean(), values.min(), values.max()
    return OverOrders(mean, low, high)


def _orders(judged: JudgedRun, query: int, metric: Metric) -> JudgedRun:
    """Return a judged run with one query for each way to place the judged documents of a query."""
    items, qrels = judged.items, judged.qrels
    here = np.flatnonzero(items.query == query)
    ranks = np.unique(items.rank[here])
    blocks = [here[items.rank[here] == rank] for rank in ranks]
    sizes = [int(items.tied[block[0]]) for block in blocks]
    count = prod(perm(size, len(block)) for size, block in zip(sizes, blocks, strict=True))
    if count > MOST_ORDERS:
        raise ValueError(
            f"{metric} has no closed form for its mean over all orders of equal scores with these judgments, and query "
            f"{qrels.queries[query]!r} has {count:.3g} orders, too many to try; use {argument('ties', 'docid')} or "
            f"{argument('ties', 'input')}"
        )
    of_each_block = [list(permutations(range(size), len(block))) for size, block in zip(sizes, blocks, strict=True)]
    places = np.array([list(chain.from_iterable(chosen)) for chosen in product(*of_each_block)], dtype=np.int64)
    order = np.concatenate(blocks)
    rank = items.rank[order] + places
    copies = Qrels(dict.fromkeys(range(count), qrels.judgments(query))).with_largest_grade(qrels.largest_grade)
    start, end = qrels.bounds[query], qrels.bounds[query + 1]
    document = (items.document[order] - start) + (end - start) * np.arange(count)[:, None]
    by_rank = np.argsort(rank, axis=1, kind="stable")
    document = np.take_along_axis(document, by_rank, axis=1).ravel()
    rank = np.take_along_axis(rank, by_rank, axis=1).ravel()
    untied = np.ones_like(document)
    every = Items(document, copies.document_query[document], rank, copies.document_grade[document], untied, rank)
    return JudgedRun(copies, every, np.full(count, judged.n_retrieved[query]))
