"""Alpha-NDCG: does each further document add something new?"""

from __future__ import annotations

from itertools import pairwise
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.matching.rank_rows import is_new, is_relevant, ordinals
from retrieval_metrics.metrics.base.definition import REL, Definition, Parameter
from retrieval_metrics.metrics.base.group_ranking import hits_per_group
from retrieval_metrics.metrics.dcg import discounted_gains
from retrieval_metrics.metrics.ties.rank_weights import mean_discounted_gain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics._internal.plain_types import Cut, FloatArray
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.definition import ParameterValue

DEFAULT_ALPHA = 0.5


def score(judged: JudgedRun, *, k: Cut, alpha: float = DEFAULT_ALPHA, rel: float | None = None) -> FloatArray:
    """Return the alpha-DCG of each ranking divided by that of a greedily built ideal, shape (queries,).

        alpha-NDCG@k = alpha-DCG@k / alpha-IDCG@k
        alpha-DCG@k = sum over i <= k of G_i / log2(i + 1),   G_i = sum over t of (1 - alpha)^n_t

    where alpha-IDCG@k is the alpha-DCG@k of the ideal ranking, t runs over the groups that the document at rank i
    belongs to, and n_t is the number of documents above it that belong to t. The more often a group has been satisfied,
    the less another of its members gains. Grades only decide which documents belong to a group. The ideal ranking
    takes, at each rank up to k, the document that gains most there; if several gain the same, it takes the highest id,
    as ndeval does. With a budget such as `@2000chars` the ideal ranking uses all relevant documents. Finding the best
    ranking of all is infeasible, so a ranking can surpass this one: range [0, infinity), though values above 1 are
    rare. Without a relevant document the value is undefined (NaN). With flat judgments every document is a group of its
    own, and the value is NDCG with binary gain. A duplicate gets no credit. Source: Clarke et al., Novelty and
    Diversity in Information Retrieval Evaluation (2008).

    Args:
        judged: Judgments and rankings, joined.
        k: Cutoff in documents, of the ranking and of the ideal; None takes all.
        alpha: How much of a group each member is expected to cover, from 0 (repetition costs nothing) to 1 (only the
            first member of a group gains).
        rel: A document belongs to a group if its grade is at least this; by default, if it is above 0.

    Example:
        >>> import retrieval_metrics as rm
        >>> qrels = {"q": [["a", "b"], ["c"]]}  # two aspects; a and b say the same
        >>> result = rm.evaluate(qrels, {"q": ["a", "b", "c"]}, "alpha_ndcg@2")
        >>> round(result.means["alpha_ndcg@2"], 4)  # (1 + 0.5 / log2(3)) / (1 + 1 / log2(3))
        0.8066
    """
    member_hits = hits_per_group(judged, k, rel)
    # An item that satisfies several pieces of a group counts once: keep each pair of group and rank once.
    is_first = is_new(member_hits.group, member_hits.rank)
    group = member_hits.group[is_first]
    rank = member_hits.rank[is_first]
    gain = np.power(1.0 - alpha, ordinals(group) - 1.0)
    query = judged.qrels.group_query[group]
    # In rank order, so that the order of the judgments does not affect the rounding.
    order = np.lexsort((-gain, rank, query))
    achieved = discounted_gains(judged, query[order], rank[order], gain[order])
    ideal_dcg = _compute_ideal_dcg(judged, k if isinstance(k, int) else None, alpha, rel)
    return achieved / np.where(ideal_dcg > 0, ideal_dcg, np.nan)


def _compute_ideal_dcg(judged: JudgedRun, k: int | None, alpha: float, rel: float | None) -> FloatArray:
    """Return the alpha-DCG of the greedy ideal ranking of every query."""
    discount = (1.0 / np.log2(np.arange(2.0, len(judged.qrels.documents) + 3.0))).tolist()
    ideal_dcg = np.zeros(judged.n_queries)
    for query, groups_by_document in enumerate(_iterate_memberships(judged.qrels, rel)):
        gains = _pick_greedily(groups_by_document, k, alpha)
        ideal_dcg[query] = fsum(gain * discount[index] for index, gain in enumerate(gains))
    return ideal_dcg


def _iterate_memberships(qrels: Qrels, rel: float | None) -> Iterator[list[list[int]]]:
    """Yield for each query the groups of each relevant document, with the documents by descending id."""
    relevant = is_relevant(qrels.member_grade, rel)
    members = zip(qrels.member_document[relevant].tolist(), qrels.member_group[relevant].tolist(), strict=True)
    groups_of_document: dict[int, list[int]] = {}
    for document, group in members:
        groups_of_document.setdefault(document, []).append(group)
    document_ids: Any = qrels.documents
    for start, end in pairwise(qrels.bounds):
        documents = [document for document in range(start, end) if document in groups_of_document]
        if not qrels.has_pieces:  # pieces have no order other than the given one
            documents.sort(key=lambda document: document_ids[document], reverse=True)
        yield [groups_of_document[document] for document in documents]


def _pick_greedily(groups_by_document: list[list[int]], k: int | None, alpha: float) -> list[float]:
    """Return the gain of the document that gains most, then of the one that gains most after it, and so on."""
    from heapq import heapify, heappop, heapreplace

    n_satisfying: dict[int, int] = {}
    gains: list[float] = []
    # A document's gain only ever falls, so the best is found once the top of the heap is up to date.
    heap = [
        (-float(len(groups_of_document)), document) for document, groups_of_document in enumerate(groups_by_document)
    ]
    heapify(heap)
    while heap and (k is None or len(gains) < k):
        former_loss, document = heap[0]
        loss = -sum((1.0 - alpha) ** n_satisfying.get(group, 0) for group in groups_by_document[document])
        if loss > former_loss:
            heapreplace(heap, (loss, document))
            continue
        heappop(heap)
        gains.append(-loss)
        for group in groups_by_document[document]:
            n_satisfying[group] = n_satisfying.get(group, 0) + 1
    return gains


def _read_alpha(value: Any) -> ParameterValue:
    try:
        alpha = float(value)
    except (TypeError, ValueError, OverflowError):
        alpha = -1.0
    if not 0 <= alpha <= 1:
        raise ValueError("must be a number from 0 to 1")
    return int(alpha) if alpha.is_integer() else alpha


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    alpha: float = DEFAULT_ALPHA,
    rel: float | None = None,
) -> FloatArray:
    """Return alpha-NDCG over all orders of equal scores; as each document is a group, it is NDCG with binary gain."""
    ideal_dcg = _compute_ideal_dcg(judged, k, alpha, rel)
    gain = is_relevant(judged.items.grade, rel).astype(np.float64)
    return mean_discounted_gain(judged, gain, k) / np.where(ideal_dcg > 0, ideal_dcg, np.nan)


DEFINITION = Definition(
    name="alpha_ndcg",
    score=score,
    summary="alpha-DCG of the first k / that of a greedy ideal ranking; each repeat of a group gains less",
    plain_summary="relevance and diversity of the ranking: repeated content counts less",
    aliases=("andcg", "alphandcg", "alpha_n_dcg"),
    parameters={
        "alpha": Parameter(
            _read_alpha,
            DEFAULT_ALPHA,
            "how much less each further member of a group gains, 0 to 1",
            examples=(0, 0.25, 1),
        ),
        "rel": REL,
    },
    bounded=False,
    mean_over_orders=mean_over_orders,
)
