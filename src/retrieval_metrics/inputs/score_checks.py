"""Warn about a run whose scores rise with its ranks, because they are probably distances."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics._internal.warn import warn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

# Rankings of fewer documents are not checked, because their ranks and scores may disagree by chance.
MIN_RANKS = 3
# If the scores would rise in more than this share of all orders, they may rise by chance.
MAX_CHANCE_OF_RANKS = 0.2
# The rows at the beginning of a run that are checked.
MAX_CHECKED_ROWS = 2000


def warn_about_score_direction(rows: Iterable[tuple[Hashable, float, float]], source: str) -> None:
    """Warn if the ranks at the beginning of a run speak against its scores."""
    note = score_direction_note(rows)
    if note:
        warn(f"{source} is ordered by score, the largest first, as trec_eval does it; but {note}")


def score_direction_note(rows: Iterable[tuple[Hashable, float, float]]) -> str:
    """Return why the scores of a run contradict its ranks; empty if they agree.

    Args:
        rows: The query, the rank and the score of each row.

    Example:
        >>> score_direction_note([("q", 1, 0.1), ("q", 2, 0.2), ("q", 3, 0.3)])
        'the scores in it rise with the ranks: if they are distances, negate them'
        >>> score_direction_note([("q", 1, 0.3), ("q", 2, 0.2), ("q", 3, 0.1)])
        ''
    """
    by_query = group_pairs((query, (rank, score)) for query, rank, score in rows)
    rankings = []
    for pairs in by_query.values():
        if len(pairs) >= MIN_RANKS:
            rankings.append(sorted(pairs))
    if not rankings:
        return ""
    ranks, scores = zip(*chain.from_iterable(rankings), strict=True)
    if all(score.is_integer() for score in scores) and not all(rank.is_integer() for rank in ranks):
        return "its ranks are no whole numbers and its scores are: if the columns are exchanged, put them right"
    if _has_equal_ranks(rankings):
        return ""
    scores_in_rank_order = [[score for _, score in ranking] for ranking in rankings]
    if is_increasing(scores_in_rank_order, MAX_CHANCE_OF_RANKS):
        return "the scores in it rise with the ranks: if they are distances, negate them"
    return ""


def _has_equal_ranks(rankings: Iterable[Iterable[tuple[float, float]]]) -> bool:
    """Return whether two ranks of a query are equal (or NaN); each ranking is sorted by its ranks."""
    for ranking in rankings:
        for (rank, _), (next_rank, _) in pairwise(ranking):
            if not rank < next_rank:
                return True
    return False


def is_increasing(rankings: Iterable[Iterable[float]], chance: float) -> bool:
    """Return whether scores never fall in the given order, and whether that is improbable.

    Args:
        rankings: The scores of each ranking, in the order in question.
        chance: The share of all orders of the rankings below which the share of orders without a fall must be.

    Example:
        >>> is_increasing([[1, 2, 3], [1, 1, 4]], 0.1)
        True
        >>> is_increasing([[1, 2, 3], [2, 1]], 0.1)  # 1 of 3! * 2! orders; one falls
        False
    """
    share = 1.0
    for scores in rankings:
        score_before = None
        n_distinct = 1
        for score in scores:
            if score_before is not None and score != score_before:
                if score < score_before:
                    return False
                n_distinct += 1
                share /= n_distinct
            score_before = score
    return share < chance
