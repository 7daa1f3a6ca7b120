"""Warn about a run whose ranks contradict its scores: distances taken for scores, or exchanged columns."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics._internal.warn import warn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

# Rankings of fewer documents are not checked, because their ranks and scores may disagree by chance.
MIN_RANKS = 3
# If scores in a random order rise with a larger chance, the order proves nothing.
MAX_CHANCE_OF_RANKS = 0.2
# The rows at the beginning of a run that are checked.
MAX_CHECKED_ROWS = 2000


def warn_about_score_direction(rows: Iterable[tuple[Hashable, float, float]], source: str) -> None:
    """Warn if the ranks at the beginning of a run speak against its scores."""
    note = score_direction_note(rows)
    if note:
        warn(f"{source} is ordered by score, the largest first, as in trec_eval; but {note}")


def score_direction_note(rows: Iterable[tuple[Hashable, float, float]]) -> str:
    """Return why the scores of a run contradict its ranks; empty if they agree.

    Args:
        rows: The query, the rank and the score of each row.

    Example:
        >>> score_direction_note([("q", 1, 0.1), ("q", 2, 0.2), ("q", 3, 0.3)])
        'its scores increase with rank: if they are distances, negate them'
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
    # Ranks are whole numbers and scores seldom are, so the two columns are probably exchanged.
    if all(score.is_integer() for score in scores) and not all(rank.is_integer() for rank in ranks):
        return "its ranks are not whole numbers but its scores are: if the columns are swapped, correct them"
    if _has_equal_ranks(rankings):
        return ""
    scores_in_rank_order = [[score for _, score in ranking] for ranking in rankings]
    chance = chance_of_increase(scores_in_rank_order)
    if chance is not None and chance < MAX_CHANCE_OF_RANKS:
        return "its scores increase with rank: if they are distances, negate them"
    return ""


def _has_equal_ranks(rankings: Iterable[Iterable[tuple[float, float]]]) -> bool:
    """Return whether two ranks of a query are equal (or NaN); each ranking is sorted by its ranks."""
    for ranking in rankings:
        for (rank, _), (next_rank, _) in pairwise(ranking):
            if not rank < next_rank:
                return True
    return False


def chance_of_increase(rankings: Iterable[Iterable[float]]) -> float | None:
    """Return the chance that scores in a random order never fall; None if one of these falls.

    In a random order, each ranking rises with a chance of 1 / n!, where n is the number of its distinct scores; the
    chances of all rankings are multiplied. 1 if there are no scores.

    Args:
        rankings: The scores of each ranking, in the order in question.

    Example:
        The chance is 1 / (3! * 2!) for the first rankings; in the second ones, 2 falls to 1.

        >>> round(chance_of_increase([[1, 2, 3], [1, 1, 4]]), 6)
        0.083333
        >>> chance_of_increase([[1, 2, 3], [2, 1]]) is None
        True
    """
    chance = 1.0
    for scores in rankings:
        previous_score = None
        n_distinct = 1
        for score in scores:
            if previous_score is not None and score != previous_score:
                if score < previous_score:
                    return None
                n_distinct += 1
                # Of the orders of n distinct scores, the last step leaves one in n: together, one in n!.
                chance /= n_distinct
            previous_score = score
    return chance
