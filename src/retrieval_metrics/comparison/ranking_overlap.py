"""How far two rankings of one query agree, and the most that a metric can differ between them, without one judgment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf, log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import format_argument
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores
from retrieval_metrics.metrics.base.metric import Metric, as_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from retrieval_metrics._internal.validation import DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.matching.ranking_order import OrderedRankings


class DistinctRanking(NamedTuple):
    """A ranking, each document once.

    Attributes:
        documents: The documents, best first.
        scores: Shape (documents,), their scores, descending; those of a list are all different.
    """

    documents: Sequence[DocumentId]
    scores: FloatArray


def distinct_ranking(rankings: OrderedRankings, ranking: Any, query: QueryId) -> DistinctRanking:
    """Return a ranking of a run as what can be compared."""
    given = ranking if isinstance(ranking, Mapping) else as_list(ranking, query)
    documents = list(dict.fromkeys(rankings.ids(given)))
    if None in documents:
        raise ValueError(
            f"an item in the ranking of query {query!r} has no value for "
            f"{format_argument('match', str(rankings.matching))}; "
            f"say what makes two items the same, such as {format_argument('match', 'source')}"
        )
    if not isinstance(ranking, Mapping):
        return DistinctRanking(documents, -np.arange(len(documents), dtype=np.float64))
    scores = np.array([ranking[document] for document in documents], dtype=np.float64)
    if not np.isfinite(scores).all():
        require_finite_scores(ranking, query)
    return DistinctRanking(documents, scores)


# What can be told of two rankings alone.

RBO_PERSISTENCE = 0.9
"""The persistence of rank-biased overlap: the first ten ranks have 86 % of the weight."""
_OVERLAP = re.compile(r"overlap@([1-9]\d*)")
_RBO = re.compile(r"rbo(?:\(p=([-\d.]+)\))?")
MAX_LOSS = "max_loss"
MAX_GAIN = "max_gain"
_BOUND = re.compile(rf"(?P<side>{MAX_LOSS}|{MAX_GAIN})\((?P<metric>.+)\)")
_SINGLE = ("mrr", "recall", "hit_rate")


class RankingSimilarity(NamedTuple):
    """A measure of two rankings.

    Attributes:
        columns: The names of its values; two for a metric that needs judgments: how much it can have lost and gained,
            such as `max_loss(ndcg@10)` and `max_gain(ndcg@10)`.
        of: Returns the values of two rankings, before and after.
        k: How many ranks it looks at; None for all.
    """

    columns: tuple[str, ...]
    of: Callable[[DistinctRanking, DistinctRanking], tuple[float, ...]]
    k: int | None


def as_similarity(name: str | Metric, tolerance: float = 0.0) -> RankingSimilarity:
    """Return what a name means: `overlap@k`, `rbo`, a metric whose change has bounds, or one of these."""
    given = str(name).strip()
    if found := _OVERLAP.fullmatch(given):
        depth = int(found[1])
        return RankingSimilarity((given,), lambda one, other: (overlap(one, other, depth, tolerance),), depth)
    if found := _RBO.fullmatch(given):
        p = float(found[1] or RBO_PERSISTENCE)
        if not 0 < p < 1:
            raise ValueError(f"p of rbo must be between 0 and 1, got {p:g}")
        column = "rbo" if p == RBO_PERSISTENCE else f"rbo(p={p:g})"
        return RankingSimilarity((column,), lambda one, other: (rank_biased_overlap(one, other, p),), None)
    if re.match(r"overlap|rbo", given):
        raise ValueError(f"{given!r} must be written overlap@10 or rbo, which sees every rank, or rbo(p=0.8)")
    bound = _BOUND.fullmatch(given)
    metric = as_metric(name if bound is None else bound["metric"])
    refuse_unbounded(metric)
    k = metric.k if isinstance(metric.k, int) else None
    columns = (f"{MAX_LOSS}({metric})", f"{MAX_GAIN}({metric})")
    if bound is None:
        return RankingSimilarity(columns, lambda one, other: most_moved(one, other, metric.name, k), k)
    side = 0 if bound["side"] == MAX_LOSS else 1
    return RankingSimilarity((columns[side],), lambda one, other: (most_moved(one, other, metric.name, k)[side],), k)


def is_change_bound(column: str) -> bool:
    """Return whether a column is the most that a metric can have lost or gained."""
    return _BOUND.fullmatch(column) is not None


def refuse_unbounded(metric: Metric) -> None:
    """Refuse a metric whose largest possible change has no closed form here."""
    known = metric.name in {"ndcg", "precision", *_SINGLE}
    cut = metric.k is None or isinstance(metric.k, int)
    if not (known and cut and not metric.parameters) or (metric.name == "precision" and metric.k is None):
        raise ValueError(
            f"nothing is known of how far {metric} can have moved without judgments; choose among overlap@k, rbo, "
            "ndcg@k, precision@k, mrr, recall@k and hit_rate@k, or grade what entered and left, and compare"
        )


def overlap(one: DistinctRanking, other: DistinctRanking, k: int, tolerance: float = 0.0) -> float:
    """Return the share of the first k that two rankings have in common, of the longer of the two.

    Ties at rank k, on either side, are broken in favour of agreement, so a tie that is broken otherwise is no change.

    Example:
        >>> first = DistinctRanking(["a", "b", "c"], np.array([3.0, 2.0, 2.0]))  # b and c tie
        >>> overlap(first, DistinctRanking(["a", "c"], np.array([2.0, 1.0])), 2)
        1.0
    """
    longest = max(min(k, len(one.documents)), min(k, len(other.documents)))
    if not longest:
        return 1.0
    (ours, our_ties, our_room), (theirs, their_ties, their_room) = _cut(one, k, tolerance), _cut(other, k, tolerance)
    mine, yours = min(len(ours & their_ties), their_room), min(len(our_ties & theirs), our_room)
    both = min(len(our_ties & their_ties), their_room - mine, our_room - yours)
    return (len(ours & theirs) + mine + yours + both) / longest


def _cut(ranking: DistinctRanking, k: int, tolerance: float) -> tuple[set[DocumentId], set[DocumentId], int]:
    """Return what is surely among the first k, what ties at rank k, and how many of these fit."""
    documents, scores = ranking
    if len(documents) <= k:
        return set(documents), set(), 0
    apart = np.abs(scores - scores[k - 1]) > tolerance
    first, last = int(apart.argmin()), len(apart) - int(apart[::-1].argmin())
    if last <= k:
        return set(documents[:k]), set(), 0
    return set(documents[:first]), set(documents[first:last]), k - first


def rank_biased_overlap(one: DistinctRanking, other: DistinctRanking, p: float = RBO_PERSISTENCE) -> float:
    """Return the rank-biased overlap, extrapolated beyond the shorter ranking and beyond both.

    With ties, agreement at depth d is the cosine of the shares of the documents in the first d, so a ranking agrees
    with itself (Webber, Moffat, Zobel 2010, equation 32; Corsi, Urbano 2024, the variant b).

    Example:
        >>> first, second = DistinctRanking("ab", np.array([2.0, 1.0])), DistinctRanking("ba", np.array([2.0, 1.0]))
        >>> round(rank_biased_overlap(first, second, 0.5), 6)  # half for the first rank, 1 for all others
        0.5
    """
    short, long = (one, other) if len(one.documents) <= len(other.documents) else (other, one)
    s, l = len(short.documents), len(long.documents)  # noqa: E741  (as in the source)
    if not s:
        return float(not l)
    depth = np.arange(1, l + 1, dtype=np.float64)
    common, of_short, of_long = _overlaps(short, long)
    of_short[s:] = depth[s:]  # the unseen rest has no ties
    common[s:] += common[s - 1] / np.sqrt(of_short[s - 1] * of_long[s - 1]) * (depth[s:] - s)
    agreement = common / np.sqrt(of_short * of_long)
    return float((1 - p) / p * (agreement * p**depth).sum() + agreement[-1] * p**l)


def _overlaps(short: DistinctRanking, long: DistinctRanking) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return, at each depth, the product of the shares of both rankings, and of each with itself."""
    s, l = len(short.documents), len(long.documents)  # noqa: E741  (as above)
    if not (_ties(short.scores) or _ties(long.scores)):
        rank = {document: at for at, document in enumerate(short.documents)}
        met = [max(at, rank[document]) for at, document in enumerate(long.documents) if document in rank]
        depth = np.arange(1, l + 1, dtype=np.float64)
        return np.bincount(met, minlength=l).cumsum().astype(np.float64), depth.copy(), depth
    place = {document: at for at, document in enumerate(dict.fromkeys([*short.documents, *long.documents]))}
    ours, theirs = _shares(short, place, l), _shares(long, place, l)
    of_short = np.zeros(l)
    of_short[:s] = (ours[:, :s] ** 2).sum(axis=0)
    return (ours * theirs).sum(axis=0), of_short, (theirs**2).sum(axis=0)


def _ties(scores: FloatArray) -> bool:
    return bool((scores[1:] == scores[:-1]).any())


def _shares(ranking: DistinctRanking, place: Mapping[DocumentId, int], depths: int) -> FloatArray:
    """Return the share of each document's ties that is among the first d, shape (documents of both, depths)."""
    first, last = _blocks(ranking.scores)
    shares = np.zeros((len(place), depths))
    rows = [place[document] for document in ranking.documents]
    reached = np.minimum(np.arange(1, depths + 1), len(rows))  # beyond its end a ranking holds what it held
    shares[rows] = np.clip((reached - first[:, None]) / (last - first)[:, None], 0, 1)
    return shares


def _blocks(scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return where the ties of each document begin and end."""
    return np.searchsorted(-scores, -scores, "left"), np.searchsorted(-scores, -scores, "right")


# What can be told of a metric that needs judgments: the most it can have moved, whatever they are.


def most_moved(before: DistinctRanking, after: DistinctRanking, name: str, k: int | None) -> tuple[float, float]:
    """Return the most that a metric of one query can have lost and gained, over every judgment of every document.

    NDCG: let d be what the place of a document is worth after minus before. The gain is at most the largest sum of the
    r largest d over the ideal of r documents, for any r: graded gains are mixtures of binary ones, and a ratio of sums
    is at most its largest term. Each bound is attained by some judgment.

    Example:
        >>> first, second = DistinctRanking("ab", np.array([2.0, 1.0])), DistinctRanking("ac", np.array([2.0, 1.0]))
        >>> loss, gain = most_moved(first, second, "ndcg", 2)
        >>> round(loss, 4), round(gain, 4)  # if b, or c, alone is relevant: 1 / log2(3)
        (0.6309, 0.6309)
    """
    if name == "mrr":
        moved = worth_moved(before, after, name, k).values()
        return max(0.0, *(-one for one in moved)) if moved else 0.0, max(0.0, *moved) if moved else 0.0
    if name == "ndcg":
        moved = worth_moved(before, after, name, k).values()
        return _most_of_ndcg((-one for one in moved), k), _most_of_ndcg(moved, k)
    held, holds = set(before.documents[:k]), set(after.documents[:k])
    left, entered = len(held - holds), len(holds - held)
    if name == "precision":
        return left / (k or 1), entered / (k or 1)
    return float(left > 0), float(entered > 0)


def worth_moved(before: DistinctRanking, after: DistinctRanking, name: str, k: int | None) -> dict[DocumentId, float]:
    """Return how much more the place of each document is worth after than before, to a metric."""
    was, is_ = document_weights(before.documents, name, k), document_weights(after.documents, name, k)
    return {document: is_.get(document, 0.0) - was.get(document, 0.0) for document in was | is_}


def document_weights(documents: Sequence[Any], name: str, k: int | None) -> dict[Any, float]:
    """Return what the place of each of the first k documents is worth to a metric, if it is relevant."""
    if name == "ndcg":
        return {document: 1 / log2(rank + 1) for rank, document in enumerate(documents[:k], start=1)}
    if name == "mrr":
        return {document: 1 / rank for rank, document in enumerate(documents[:k], start=1)}
    return dict.fromkeys(documents[:k], 1 / k if name == "precision" and k else 1.0)


def _most_of_ndcg(moved: Iterable[float], k: int | None) -> float:
    gains = np.array(sorted((one for one in moved if one > 0), reverse=True))
    if not gains.size:
        return 0.0
    relevant = np.arange(1, len(gains) + 1)
    ideals = np.cumsum(1 / np.log2(relevant + 1))
    return float((gains.cumsum() / ideals[np.minimum(relevant, inf if k is None else k).astype(int) - 1]).max())
