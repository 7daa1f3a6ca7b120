"""The values of metrics over all orders of documents with equal scores."""

from __future__ import annotations

from itertools import chain, permutations, product
from math import comb, perm, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import format_argument
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.judged_run import Items, JudgedRun, is_relevant
from retrieval_metrics.metrics.base.definition import TieOrderValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.validation import BoolArray, FloatArray, IntArray
    from retrieval_metrics.metrics.base.metric import Metric


def score_over_orders(
    judged: JudgedRun, queries: IntArray, metric: Metric, parameters: Mapping[str, Any]
) -> TieOrderValues:
    """Return a metric over all orders of equal scores, in closed form if it has one."""
    definition, judged = metric.definition, _with_ties_joined(judged)
    if definition.mean_over_orders is not None and (judged.qrels.is_flat or definition.ignores_groups):
        cut = judged.cutoff(metric.k)
        # Scored rankings have no item lengths; a budget of calls differs by query, and has no closed form.
        if cut is None or isinstance(cut, int):
            found = definition.mean_over_orders(judged, k=cut, **parameters)
            if isinstance(found, TieOrderValues):
                return found
            if found is not None:
                # What says how much is judged is best with everything judged first.
                first = (
                    judged.items.grade > 0
                    if definition.is_quality_metric
                    else np.ones(len(judged.items.rank), np.bool_)
                )
                best, worst = (
                    definition.score(run, k=cut, **parameters) for run in best_and_worst_orders(judged, first)
                )
                return TieOrderValues(found, np.minimum(worst, best), np.maximum(worst, best))
    return enumerated(judged, queries, metric, parameters)


def _with_ties_joined(judged: JudgedRun) -> JudgedRun:
    """Return the judged run with all documents of a tie at its first rank."""
    items, in_qrels = judged.items, np.argsort(judged.items.document)
    document, tied, first = (column[in_qrels] for column in (items.document, items.tied, items.tied_from))
    return judged.with_items(Items.ordered(judged.qrels, document, first, tied, first))


def best_and_worst_orders(judged: JudgedRun, first: BoolArray) -> tuple[JudgedRun, JudgedRun]:
    """Return a judged run in the best order of equal scores and in the worst, which is the reverse."""
    grade = judged.items.grade
    best, worst = _ordered(judged, first, grade), _ordered(judged, ~first, -grade)
    return judged.with_items(best), judged.with_items(worst)


def _ordered(judged: JudgedRun, first: BoolArray, worth: FloatArray) -> Items:
    """Return the items with some of them first in their block and the other judged ones last."""
    items = judged.items
    order = np.lexsort((-worth, ~first, items.rank, items.query))
    query, above, size, first = items.query[order], items.rank[order] - 1, items.tied[order], first[order]
    new = np.diff(query, prepend=-1).astype(bool) | np.diff(above, prepend=-1).astype(bool)
    start = np.flatnonzero(new)
    block = np.cumsum(new) - 1
    place = np.arange(len(order)) - start[block]
    length = np.diff(np.append(start, len(order)))[block]
    rank = above + 1 + np.where(first, place, size - length + place)
    return Items(items.document[order], query, rank, items.grade[order], size, above + 1)


MOST_ORDERS = 10_000
"""Trying this many orders takes a few tenths of a second."""


def enumerated(judged: JudgedRun, queries: IntArray, metric: Metric, parameters: Mapping[str, Any]) -> TieOrderValues:
    """Return mean, smallest and largest value over all orders of equal scores."""
    mean, low, high = np.zeros((3, judged.n_queries))
    for query in queries.tolist():
        values = metric.definition.score(_orders(judged, query, metric), k=judged.cutoff(metric.k), **parameters)
        mean[query], low[query], high[query] = values.mean(), values.min(), values.max()
    return TieOrderValues(mean, low, high)


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
            f"{qrels.queries[query]!r} has {count:.3g} orders, too many to try; use {format_argument('ties', 'docid')} or "
            f"{format_argument('ties', 'input')}"
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


# Mean weights of ranks, for metrics that sum a gain times a weight of the rank over documents.


def mean_rank_weights(
    judged: JudgedRun, weight: Callable[[FloatArray], FloatArray], cut: int | IntArray | None
) -> FloatArray:
    """Return for each item the mean weight of the ranks of its block; ranks beyond the cut weigh 0."""
    items = judged.items
    above, below = items.rank - 1, items.rank - 1 + items.tied
    if cut is not None:
        last = np.broadcast_to(cut, judged.n_queries)[items.query]
        above, below = np.minimum(above, last), np.minimum(below, last)
    so_far = np.concatenate([[0.0], np.cumsum(weight(np.arange(1.0, below.max(initial=0) + 1)))])
    mean: FloatArray = (so_far[below] - so_far[above]) / items.tied
    return mean


def mean_n_relevant(judged: JudgedRun, cut: int | IntArray | None, rel: float | None) -> FloatArray:
    """Return the mean number of relevant documents within the cut, shape (queries,)."""
    weight = mean_rank_weights(judged, np.ones_like, cut) * is_relevant(judged.items.grade, rel)
    return judged.sum_by_query(judged.items.query, weight)


def mean_discounted_gain(judged: JudgedRun, gain: FloatArray, cut: int | None) -> FloatArray:
    """Return the mean sum of gain / log2(rank + 1) within the cut, shape (queries,)."""
    weight = mean_rank_weights(judged, lambda rank: 1 / np.log2(rank + 1), cut)
    return judged.sum_by_query(judged.items.query, gain * weight)


# Blocks of documents with equal scores, query by query: for metrics that depend on several documents at once.


class Block(NamedTuple):
    """Documents of one query with the same score, of which at least one is judged; a block of one has no ties.

    Attributes:
        above: How many documents are ranked above the block.
        size: How many documents it has.
        relevant: How many of them are relevant.
        grades: The grades of those that are judged.
    """

    above: int
    size: int
    relevant: int
    grades: FloatArray

    def within(self, k: int | None) -> int:
        """Return how many documents of the block are among the first `k` of the ranking."""
        return self.size if k is None else min(max(k - self.above, 0), self.size)


def average_by_block(
    judged: JudgedRun, rel: float | None, mean_of: Callable[[int, Sequence[Block]], float]
) -> FloatArray:
    """Return the mean of a metric over all orders of equal scores, computed query by query, shape (queries,)."""
    mean = np.zeros(judged.n_queries)
    for query, blocks in blocks_of(judged, rel):
        mean[query] = mean_of(query, blocks)
    return mean


def blocks_of(judged: JudgedRun, rel: float | None) -> Iterator[tuple[int, list[Block]]]:
    """Yield each query with ties and its blocks, top first."""
    items, queries = judged.items, judged.tied_queries()
    first, end = np.searchsorted(items.query, queries), np.searchsorted(items.query, queries, side="right")
    for query, start, stop in zip(queries.tolist(), first.tolist(), end.tolist(), strict=True):
        ranks, inverse = np.unique(items.rank[start:stop], return_inverse=True)
        blocks = []
        for number, rank in enumerate(ranks.tolist()):
            here = np.flatnonzero(inverse == number) + start
            grades = items.grade[here]
            blocks.append(Block(rank - 1, int(items.tied[here[0]]), int(is_relevant(grades, rel).sum()), grades))
        yield query, blocks


def hit_probability(size: int, relevant: int, drawn: int, hits: int) -> float:
    """Return the probability that `drawn` documents of a block include exactly `hits` of its relevant ones.

    Example:
        >>> hit_probability(4, 2, 2, 1)  # 2 * 2 of the 6 pairs
        0.6666666666666666
    """
    if not 0 <= hits <= drawn:
        return 0.0
    return comb(relevant, hits) * comb(size - relevant, drawn - hits) / comb(size, drawn)
