"""NDCG: does the ranking put the best first?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.matching.rank_rows import ordinals, within
from retrieval_metrics.metrics.base.definition import Definition, make_choice
from retrieval_metrics.metrics.base.gains import GAIN, GAINS, compute_gain
from retrieval_metrics.metrics.base.single_ranking import score_one
from retrieval_metrics.metrics.base.two_valued import select_all_at_cutoff_1
from retrieval_metrics.metrics.dcg import discounted_gains, mean_dcg, sum_discounted

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, Cut, FloatArray, Gains, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.plain_ranking import PlainRanking


def ndcg(gains: Gains, *, k: int | None = None, ideal: Gains | None = None, gain: str = "linear") -> float:
    """Return the discounted cumulative gain of the first `k` documents divided by the best possible one.

        NDCG@k = DCG@k / IDCG@k,   DCG@k = sum over i <= k of gain(g_i) / log2(i + 1)

    where g_i is the grade at rank i, gain(g) is g (`linear`), 2^g - 1 (`exponential`) or 1 (`binary`) for g > 0 and 0
    otherwise, and IDCG@k is the DCG@k of all relevant documents, best first, retrieved or not. With groups of
    alternatives, the ideal takes each group's largest grade once. With a budget such as `@2000chars`, the ideal uses
    all relevant documents. Range [0, 1]. A list without a relevant document scores 0; without one in the ideal, the
    value is undefined (NaN). Sources: Jarvelin and Kekalainen (2002); exponential gain: Burges et al. (2005).

    Args:
        gains: Grades in rank order; 0 is not relevant, None not judged.
        k: Cutoff in documents, of the list and of the ideal; None takes all.
        ideal: The grades of all relevant documents in any order; None means that all of them are in the list.
        gain: `linear`, `exponential` or `binary`.

    Raises:
        TypeError: If `gains` or `ideal` is not a list of numbers, or `k` is not an integer.
        ValueError: If a gain is not finite, `k` is not positive, `gain` is unknown, or the ideal lacks a gain of the
            list.

    Example:
        >>> round(ndcg([0, 1]), 4)  # (1 / log2(3)) / (1 / log2(2))
        0.6309
        >>> round(ndcg([1, 0], ideal=[1, 1]), 4)  # 1 / (1 + 1 / log2(3))
        0.6131
        >>> ndcg([3, 2, 1], k=2)
        1.0
    """
    return score_one(DEFINITION, gains, k=k, ideal=ideal, gain=gain)


def score(
    judged: JudgedRun,
    *,
    k: Cut,
    gain: str = "linear",
    gains: str | None = None,
    ideal: str = "all",
    of: str = "groups",
) -> FloatArray:
    """Return NDCG of every query, shape (queries,); NaN if the ideal is 0."""
    retrieved = _select_gaining_rows(judged, k, of)
    achieved = discounted_gains(judged, retrieved.query, retrieved.rank, compute_gain(retrieved.grade, gain, gains))
    best_dcg = ideal_dcg(judged, k, gain=gain, gains=gains, ideal=ideal, of=of)
    share = achieved / np.where(best_dcg > 0, best_dcg, np.nan)
    if ideal in {"retrieved", "expanded"}:
        share = np.where(judged.n_retrieved > 0, share, 0.0)  # this ideal is empty because the list is
    if judged.credits_duplicates and ideal != "expanded":
        return share  # a document that gains twice may exceed the ideal
    # The sums of two equal rankings may differ in the last bit if grades differ, and one item that satisfies several
    # documents may gain more than an ideal with one per row.
    return np.minimum(share, 1.0)


def score_plain(ranking: PlainRanking, k: int | None) -> float:
    """Return NDCG of one plain ranking."""
    achieved = sum_discounted(ranking.grades[: ranking.n_within(k)], ranking.ranks)
    ideal_ranks = range(1, len(ranking.ideal) + 1)
    return min(achieved / sum_discounted(ranking.ideal[:k], ideal_ranks), 1.0)


def ideal_dcg(
    judged: JudgedRun,
    k: Cut,
    *,
    gain: str = "linear",
    gains: str | None = None,
    ideal: str = "all",
    of: str = "groups",
) -> FloatArray:
    """Return the DCG of the ideal ranking of every query, shape (queries,)."""
    rows = _select_ideal_rows(judged, k, ideal, of)
    return discounted_gains(judged, rows.query, rows.rank, compute_gain(rows.grade, gain, gains))


class _GainingRows(NamedTuple):
    """The rows of rankings that gain something: their queries, ranks and grades."""

    query: IntArray
    rank: IntArray
    grade: FloatArray


def _select_gaining_rows(judged: JudgedRun, k: Cut, of: str) -> _GainingRows:
    """Return the retrieved rows that gain: one per hit of a group, or one per document."""
    if of == "groups":
        hits = judged.hits_within(k)
        return _GainingRows(hits.query, hits.row, hits.grade)
    items = judged.items
    is_gaining = items.grade > 0
    if k is not None:
        is_gaining &= within(items.query, items.rank, k)
    return _GainingRows(items.query[is_gaining], items.rank[is_gaining], items.grade[is_gaining])


def _select_ideal_rows(judged: JudgedRun, k: Cut, ideal: str, of: str) -> _GainingRows:
    """Return the rows of the ideal rankings, down to where these end."""
    query, grade, rank = judged.ideal(of_documents=of == "documents")
    if ideal == "expanded":
        query, rank, grade = _with_repeated_hits(judged, k, query, grade)
    # A budget does not cut the ideal: how many items fit depends on how texts are split; what is needed does not.
    is_counted = np.ones(len(query), dtype=bool)
    if isinstance(k, int) and ideal != "uncut":
        is_counted = rank <= k
    if ideal in {"retrieved", "expanded"}:
        is_counted &= rank <= judged.n_retrieved[query]
    return _GainingRows(query[is_counted], rank[is_counted], grade[is_counted])


def _with_repeated_hits(judged: JudgedRun, k: Cut, query: IntArray, grade: FloatArray) -> _GainingRows:
    """Return an ideal ranking extended by every repeat of a relevant document among the first `k`."""
    items = judged.items
    _, first_rows = np.unique(items.document, return_index=True)
    is_repeated = items.grade > 0
    is_repeated[first_rows] = False
    if k is not None:
        is_repeated &= within(items.query, items.rank, k)
    query = np.concatenate([query, items.query[is_repeated]])
    grade = np.concatenate([grade, items.grade[is_repeated]])
    best_first = np.lexsort((-grade, query))
    return _GainingRows(query[best_first], ordinals(query[best_first]), grade[best_first])


def mean_over_orders(
    judged: JudgedRun,
    *,
    k: int | None,
    gain: str = "linear",
    gains: str | None = None,
    ideal: str = "all",
    of: str = "groups",
) -> FloatArray:
    """Return NDCG over all orders of equal scores, from the mean DCG; the ideal is the same for every order."""
    best_dcg = ideal_dcg(judged, k, gain=gain, gains=gains, ideal=ideal, of=of)
    return mean_dcg(judged, k, gain, gains) / np.where(best_dcg > 0, best_dcg, np.nan)


def select_one_grade_at_cutoff_1(
    judged: JudgedRun, *, k: Cut, ideal: str = "all", of: str = "groups", **_: object
) -> BoolArray | None:
    """Return the queries whose relevant documents all have one grade, at a cutoff of one document."""
    if select_all_at_cutoff_1(judged, k=k) is None or ideal == "uncut" or of == "documents":
        return None
    query = judged.qrels.document_query
    grade = judged.qrels.document_grade
    lowest = np.full(judged.n_queries, np.inf)
    highest = np.zeros(judged.n_queries)
    np.minimum.at(lowest, query[grade > 0], grade[grade > 0])
    np.maximum.at(highest, query, grade)
    has_one_grade: BoolArray = lowest == highest
    return has_one_grade


DEFINITION = Definition(
    name="ndcg",
    score=score,
    score_plain=score_plain,
    summary="discounted cumulative gain of the first k / that of the ideal ranking",
    plain_summary="how close the ranking is to the ideal order; uses the grades",
    parameters={
        "gain": GAIN,
        "gains": GAINS,
        "ideal": make_choice(
            "all",
            "where the ideal ranking ends: at k; nowhere (`uncut`); at k or the number retrieved, whichever is smaller "
            "(`retrieved`); the same, with duplicate hits (`expanded`)",
            {
                "all": "the ideal ranking is cut at k only",
                "uncut": "the ideal ranking contains all relevant documents, even beyond k",
                "retrieved": "the ideal ranking is truncated to the retrieved list's length",
                "expanded": "the ideal ranking is truncated to the retrieved list's length and includes duplicate hits",
            },
            acts_on="lengths",
        ),
        "of": make_choice(
            "groups",
            "each group gains once (`groups`), or each of its documents (`documents`)",
            {"groups": "each group gains once", "documents": "every document of a group gains"},
            acts_on="groups",
        ),
    },
    two_valued=select_one_grade_at_cutoff_1,
    mean_over_orders=mean_over_orders,
)
