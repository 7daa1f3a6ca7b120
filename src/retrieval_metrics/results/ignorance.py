"""How much of what systems retrieved is judged, and what the unjudged rest could change."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.aliases import DocumentId, QueryId
    from retrieval_metrics.statistics import Interval

IMBALANCE = 0.1
"""Systems whose judged shares differ by more than this are not judged alike."""


class Ignorance(NamedTuple):
    """How much of each system's first k documents is judged.

    Attributes:
        k: How many documents of each ranking are counted.
        judged: The mean of judged@k of each system; NaN if it retrieved nothing.
        has_nonrelevant: Whether the judgments include documents that are not relevant. If not, judged means relevant,
            and a better system has a larger share.
    """

    k: int
    judged: Mapping[str, float]
    has_nonrelevant: bool

    @property
    def unbalanced(self) -> bool:
        """Whether one system is judged so much less than another that this alone could explain a difference."""
        shares = [share for share in self.judged.values() if not isnan(share)]
        return self.has_nonrelevant and len(shares) > 1 and max(shares) - min(shares) > IMBALANCE


@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """The bounds of means and differences over all possible grades of the unjudged documents.

    Attributes:
        k: The bounds cover the unjudged documents among the first k of any compared run. All other unjudged documents
            count as not relevant, as usual.
        grades: The grades that each of them can have: 0, and those that occur in the judgments.
        means: Per metric and system, the least and the greatest mean.
        differences: Per metric, system and baseline, the least and the greatest mean difference. A document has one
            grade in both systems.
        queries: How many queries have such documents.
        outer: How many of these queries have too many combinations of grades to try. Their values are taken as anything
            from 0 to 1, so the bounds hold but may be wider than necessary.
    """

    k: int
    grades: tuple[float, ...]
    means: Mapping[str, Mapping[str, Interval]]
    differences: Mapping[tuple[str, str, str], Interval]
    queries: int
    outer: int

    @property
    def exact(self) -> bool:
        """Whether the bounds are exact, that is, can be reached."""
        return not self.outer


class ToJudge(NamedTuple):
    """A document whose judgment could change a comparison.

    Attributes:
        query: The query.
        document: The document.
        effect: How much the largest mean difference between two systems would change if it had the highest grade.
        ranks: Its rank in each system that has it among its first k.
    """

    query: QueryId
    document: DocumentId
    effect: float
    ranks: Mapping[str, int]
