"""Notice a run whose scores are none: its ranks say the opposite."""

from __future__ import annotations

import warnings
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from retrieval_metrics.checks import RetrievalWarning

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

FEWEST_RANKS = 3
"""Of fewer documents, ranks and scores may disagree by an accident."""
ROWS = 2000
"""The rows at the beginning of a run that are looked at."""


def warn_of_doubt(rows: Iterable[tuple[Hashable, float, float]], source: str) -> None:
    """Warn if the ranks at the beginning of a run speak against its scores.

    Args:
        rows: The query, the rank and the score of each row.
        source: The name of the run, for the message.

    Warns:
        RetrievalWarning: If the scores rise with the ranks in every query, or seem to be exchanged with them.
    """
    if doubt := doubt_about_scores(rows):
        warnings.warn(
            f"{source} is ordered by score, the largest first, as trec_eval does it; but {doubt}",
            RetrievalWarning,
            stacklevel=4,
        )


def doubt_about_scores(rows: Iterable[tuple[Hashable, float, float]]) -> str:
    """Return why the scores of a run seem to be none, judged by its ranks; empty if nothing speaks against them.

    Example:
        >>> doubt_about_scores([("q", 1, 0.1), ("q", 2, 0.2), ("q", 3, 0.3)])
        'the scores in it rise with the ranks: if they are distances, negate them'
        >>> doubt_about_scores([("q", 1, 0.3), ("q", 2, 0.2), ("q", 3, 0.1)])
        ''
    """
    ranked: dict[Hashable, list[tuple[float, float]]] = {}
    for query, rank, score in rows:
        ranked.setdefault(query, []).append((rank, score))
    queries = [sorted(of_query) for of_query in ranked.values() if len(of_query) >= FEWEST_RANKS]
    if not queries:
        return ""
    ranks, scores = zip(*chain.from_iterable(queries), strict=True)
    if all(score.is_integer() for score in scores) and not all(rank.is_integer() for rank in ranks):
        return "its ranks are no whole numbers and its scores are: if the columns are exchanged, put them right"
    if all(_rising(of_query) for of_query in queries):
        return "the scores in it rise with the ranks: if they are distances, negate them"
    return ""


def _rising(ranking: list[tuple[float, float]]) -> bool:
    """Return whether the larger rank has the larger score, for documents in the order of their ranks."""
    return ranking[0][1] < ranking[-1][1] and all(
        before[0] < after[0] and before[1] <= after[1] for before, after in pairwise(ranking)
    )
