"""How much of what systems retrieved is judged, and what the unjudged rest could change."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.checks import argument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import DocumentId, QueryId
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
    def judged_less(self) -> str | None:
        """The system with the smallest share, if that is much smaller than another's."""
        shares = {name: share for name, share in self.judged.items() if not isnan(share)}
        if not shares or max(shares.values()) - min(shares.values()) <= IMBALANCE:
            return None
        return min(shares, key=shares.__getitem__)

    @property
    def unbalanced(self) -> bool:
        """Whether one system is judged so much less than another that this alone could explain a difference."""
        return self.has_nonrelevant and self.judged_less is not None

    def sentence(self, *, condensed: bool, bounded: bool) -> str:
        """Return how unjudged documents were treated; empty if that alone could not explain a difference.

        Args:
            condensed: Whether unjudged documents were taken out of the rankings.
            bounded: Whether bounds over their grades are known.
        """
        shares = ", ".join(f"{name} {_percent(share)}" for name, share in self.judged.items())
        if condensed:
            favoured = "" if self.judged_less is None else f", so it favours {self.judged_less}"
            return (
                "Unjudged documents were taken out of the rankings, which favours the system that is judged less "
                f"(Sakai and Kando 2008): judged@{self.k}: {shares}{favoured}."
            )
        if not self.unbalanced:
            return ""
        better = "" if bounded else f"; {argument('unjudged', 'bounds')} shows how much"
        return (
            f"The systems are not judged alike (judged@{self.k}: {shares}). Unjudged documents count as not relevant, "
            f"which alone can make a difference{better}."
        )


def _percent(share: float) -> str:
    return "-" if isnan(share) else f"{100 * share:.0f} %"


@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """The bounds of means and differences over all possible grades of the unjudged documents.

    Queries without a relevant document stay out of the means of metrics that need one, as usual.

    Attributes:
        depths: Per metric, among how many first documents of each compared run the unjudged ones are graded: its
            cut-off, or None for the whole ranking. All other unjudged documents count as not relevant, as usual.
        grades: The grades that each of them can have: 0, and those that occur in the judgments.
        unseen: The largest number of further relevant documents per query, neither judged nor retrieved, that the
            bounds allow for.
        means: Per metric and system, the least and the greatest mean.
        differences: Per metric, system and baseline, the least and the greatest mean difference. A document has one
            grade in both systems.
        p_values: Per metric, system and baseline, the corrected p value if every query had its least difference, and if
            every query had its greatest. No other grades give a smaller p value in the same direction.
        queries: Per metric, how many queries have documents of unknown grade.
        outer: Per metric, how many of these queries have too many combinations of grades to try. Their values are taken
            as anything from 0 to 1, so the bounds hold but may be wider than necessary.
    """

    depths: Mapping[str, int | None]
    grades: tuple[float, ...]
    unseen: int
    means: Mapping[str, Mapping[str, Interval]]
    differences: Mapping[tuple[str, str, str], Interval]
    p_values: Mapping[tuple[str, str, str], tuple[float, float]]
    queries: Mapping[str, int]
    outer: Mapping[str, int]

    @property
    def exact(self) -> bool:
        """Whether the bounds are exact, that is, can be reached."""
        return not any(self.outer.values())

    def graded(self, metric: str) -> str:
        """Return in words which documents the bounds of a metric give other grades."""
        depth = self.depths[metric]
        where = "that were retrieved" if depth is None else f"among the first {depth}"
        further = f" and of up to {self.unseen:,} more relevant ones per query that nobody retrieved"
        return f"the unjudged {where}{further if self.unseen else ''}"


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
