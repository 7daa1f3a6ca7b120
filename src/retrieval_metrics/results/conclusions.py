"""The record of conclusions: one entry for each pair of systems and metric of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.chosen import only_one
from retrieval_metrics.results.conclusion import Conclusion, OtherGrades
from retrieval_metrics.results.flattered import said_of_flattery
from retrieval_metrics.statistics.paired import is_found

if TYPE_CHECKING:
    from retrieval_metrics.results.conclusion import ConclusionKind
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.differences import Differences
    from retrieval_metrics.results.flattered import Flattered
    from retrieval_metrics.results.ignorance import UnjudgedBounds
    from retrieval_metrics.scoring.metric import Metric


class Conclusions(tuple[Conclusion, ...], Printed):  # noqa: SLOT001  (holds what is said of all pairs together)
    """One conclusion for each pair of systems and metric, pair by pair; printed as sentences.

    Attributes:
        flattered: How much the best system of each metric is flattered by being chosen, from five systems on.

    Example:
        >>> import retrieval_metrics as rm
        >>> qrels = {f"q{i}": ["d"] for i in range(8)}
        >>> runs = {"second": {q: ["x", "d"] for q in qrels}, "first": {q: ["d", "x"] for q in qrels}}
        >>> found = rm.compare(qrels, runs, ["mrr", "recall@2"]).conclusions
        >>> [(each.metric, each.kind) for each in found]
        [('mrr', 'better'), ('recall@2', 'the same')]
    """

    flattered: tuple[Flattered, ...] = ()

    def of(self, metric: str | Metric, system: str | None = None, baseline: str | None = None) -> Conclusion:
        """Return one of the conclusions.

        Args:
            metric: The metric, in any spelling.
            system: The system; None if there is only one to choose from.
            baseline: The system it is compared with; None likewise.

        Raises:
            KeyError: If there is no such conclusion, or more than one.
        """
        return only_one(self, "conclusions", metric, system, baseline)

    @property
    def caveats(self) -> list[str]:
        """The caveats of all conclusions, each once."""
        return list(dict.fromkeys(said for each in self for said in each.caveats))

    @property
    def sentences(self) -> list[str]:
        """The conclusions in words, one sentence each, between the caveats and what so few queries cannot show."""
        return [*self.caveats, *(each.sentence for each in self), *self.flattery, *self.unseen]

    @property
    def flattery(self) -> list[str]:
        """What the best of many systems are worth on new questions, in a sentence; nothing if there are few."""
        return said_of_flattery(self.flattered)

    @property
    def unseen(self) -> list[str]:
        """What so few queries cannot have shown, each once, and of which metrics if it is not the same of all."""
        metrics: dict[str, list[str]] = {}
        for each in self:
            if each.unseen and each.metric not in metrics.setdefault(each.unseen, []):
                metrics[each.unseen].append(each.metric)
        whole = len({each.metric for each in self})
        return [
            said if len(names) == whole else f"In {numbers.listed(names)}, {said}" for said, names in metrics.items()
        ]

    def _tables(self) -> list[Table]:
        return [Table((), (), self.sentences)]

    def __str__(self) -> str:  # of two parents, tuple would win
        return Printed.__str__(self)

    def __repr__(self) -> str:
        return f"<{len(self)} conclusions>"


def conclude(
    differences: Differences,
    *,
    level: float,
    margin: float | None,
    bounds: UnjudgedBounds | None,
    caveats: tuple[str, ...],
    flattered: tuple[Flattered, ...] = (),
) -> Conclusions:
    """Return the conclusions that the differences of a comparison allow, pair by pair."""
    found = []
    for those in differences.by_pair.values():
        for each in those:
            grades = None if bounds is None or not each.n else _other_grades(each, bounds, level)
            kind = _kind(each, grades)
            compared = kind not in {"not comparable", "no common query"}
            found.append(
                Conclusion(
                    kind=kind,
                    found=each,
                    level=level,
                    margin=margin if compared else None,
                    other_grades=grades if compared else None,
                    caveats=caveats,
                )
            )
    conclusions = Conclusions(found)
    conclusions.flattered = flattered
    return conclusions


def _kind(one: Difference, grades: OtherGrades | None) -> ConclusionKind:
    if not one.n:
        return "no common query"
    if not one.comparable:
        return "not comparable"
    if one.identical:
        return "the same"
    if not one.significant:
        return "no clear difference"
    if grades is not None and grades.change:
        return "depends on what is unjudged"
    return "better" if one.gain > 0 else "worse"


def _other_grades(one: Difference, bounds: UnjudgedBounds, level: float) -> OtherGrades:
    """Return what other grades could change: a finding could vanish, or one could appear.

    It is enough to test the least and the greatest differences, because the p value of a positive sum falls as any of
    its differences rises.
    """
    key = one.metric, *one.pair
    low, high = bounds.differences[key]
    p_low, p_high = (min(p * one.looks, 1.0) for p in bounds.p_values[key])
    worse, better = high < 0 and is_found(p_high, level), low > 0 and is_found(p_low, level)
    may_be_worse, may_be_better = low < 0 and is_found(p_low, level), high > 0 and is_found(p_high, level)
    if one.significant and not one.identical:
        change = not (better if one.mean > 0 else worse)
    else:
        change = may_be_worse or may_be_better
    return OtherGrades(bounds.differences[key], bounds.graded(one.metric), bounds.queries[one.metric], change)
