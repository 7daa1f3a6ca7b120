"""The systems of a comparison in order, and in groups that the data cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.statistics import fewest_units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.compared import Compared
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.statistics import Interval

NAMED = 4
"""The largest number of systems named in a sentence; the table has all of them."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of one system in one metric.

    Attributes:
        system: The system.
        mean: Its mean.
        interval: The confidence interval of its mean.
        group: 1 for the best system and all that the data cannot tell from it, 2 for the best of the others and all
            that the data cannot tell from that one, and so on.
    """

    system: str
    mean: float
    interval: Interval
    group: int


@dataclass(frozen=True, repr=False)
class Standings(Printed):
    """The systems by metric, best first, in groups that the data cannot tell apart.

    Attributes:
        places: The places by metric, best first.
        impossible: How many of the tests could not find any difference with this many queries.
        tests: How many differences were tested.
        units: How many queries, or clusters of them, the comparison has.
        baseline: The system all others were compared with; None if every pair was compared.
        seconds: The mean time per query of each system whose run has it.
        level: The confidence level of the intervals.

    Example:
        >>> import retrieval_metrics as rm
        >>> qrels = {f"q{i}": ["d"] for i in range(12)}
        >>> good, bad = {query: ["d"] for query in qrels}, {query: ["x", "y", "d"] for query in qrels}
        >>> comparison = rm.compare(qrels, {"bad": bad, "good": good, "same": good}, "mrr")
        >>> [(place.system, place.group) for place in comparison.ranking.places["mrr"]]
        [('good', 1), ('same', 1), ('bad', 2)]
    """

    places: Mapping[str, tuple[Standing, ...]]
    impossible: int
    tests: int
    units: int
    baseline: str | None
    seconds: Mapping[str, float]
    level: float

    @property
    def best(self) -> dict[str, tuple[str, ...]]:
        """The systems of the first group of each metric."""
        return {
            metric: tuple(place.system for place in places if place.group == 1)
            for metric, places in self.places.items()
        }

    def _tables(self) -> list[Table]:
        order = [place.system for place in next(iter(self.places.values()))]
        found = {metric: {place.system: place for place in places} for metric, places in self.places.items()}
        rows = []
        for system in order:
            cells = [_cell(found[metric][system], self.places[metric][0].system) for metric in found]
            timed = [f"{self.seconds[system]:.3g}"] if system in self.seconds else ["-"] if self.seconds else []
            rows.append([system, *cells, *timed])
        header = ["system", *found, *(["seconds per query"] if self.seconds else [])]
        return [Table(header, rows, self.notes, words=range(len(found) + 1))]

    @property
    def sentences(self) -> list[str]:
        """The best systems of each metric in words, or those that are better than the baseline."""
        said = []
        for metric, best in self.best.items():
            names = numbers.listed(list(best), most=NAMED)
            if self.baseline in best:
                said.append(f"No system is shown to be better than {self.baseline} in {metric}.")
            elif self.baseline is not None:
                apart = "" if len(best) == 1 else "; they were not compared with each other"
                said.append(f"Better than {self.baseline} in {metric}: {names}{apart}.")
            elif len(best) == len(self.places[metric]):
                said.append(f"The data cannot tell any system from the best in {metric}.")
            else:
                apart = "" if len(best) == 1 else "; the data cannot tell them apart"
                said.append(f"Best in {metric}: {names}{apart}.")
        return said

    @property
    def notes(self) -> list[str]:
        """What the numbers in front of the means are, and which tests could not find anything."""
        kind = f"the best with its {numbers.level_name(self.level)}"
        said = [f"1, 2 ...: groups; systems of one group cannot be told apart from the best of it; {kind}"]
        if self.baseline is not None:
            said = [f"1, 2 ...: better than {self.baseline}, not told apart from it, worse, if there are such; {kind}"]
        if self.impossible:
            tests = numbers.count(self.tests, "test")
            these = f"{self.impossible:,} of these {tests} cannot succeed"
            if self.impossible == self.tests:
                these = f"none of these {tests} can succeed"
            advice = "choose fewer metrics" if self.baseline is not None else "choose a baseline or fewer metrics"
            if self.units < (fewest := fewest_units(self.level)):
                advice = f"one test alone needs {fewest}"
            said.insert(
                0,
                f"with {numbers.queries(self.units)} {these}; {advice}",
            )
        return said

    def __repr__(self) -> str:
        metric, places = next(iter(self.places.items()))
        return f"<Standings by {metric}: {', '.join(f'{place.group} {place.system}' for place in places)}>"


def ranking_of(comparison: Compared) -> Standings:
    """Return the ranking of a comparison."""
    places = {}
    for metric, means in comparison.table.items():
        ordered = sorted(means, key=lambda system: -means[system] if not isnan(means[system]) else float("inf"))
        groups = _groups(ordered, [each for each in comparison.differences if each.metric == metric])
        if comparison.baseline is not None:
            groups = _around(comparison.baseline, ordered, comparison.differences, metric)
        ends = comparison.intervals[metric]
        places[metric] = tuple(
            Standing(system, means[system], ends[system], groups[system])
            for system in sorted(ordered, key=lambda system: groups[system])
        )
    return Standings(
        places,
        sum(each.units < each.fewest for each in comparison.differences),
        len(comparison.differences),
        max(each.units for each in comparison.differences),
        comparison.baseline,
        _seconds(comparison),
        comparison.level,
    )


def _cell(place: Standing, best: str) -> str:
    interval = f" {numbers.interval(place.interval)}" if place.system == best else ""
    return f"{place.group}  {place.mean:.4f}{interval}"


def _groups(ordered: Sequence[str], differences: Sequence[Difference]) -> dict[str, int]:
    """Return the group of each system: the best, with all that are not worse than it, then the best of the rest."""
    apart = {frozenset(each.pair) for each in differences if each.significant}
    groups: dict[str, int] = {}
    while rest := [system for system in ordered if system not in groups]:
        number = max(groups.values(), default=0) + 1
        groups |= {system: number for system in rest if frozenset((rest[0], system)) not in apart}
    return groups


def _around(baseline: str, ordered: Sequence[str], differences: Sequence[Difference], metric: str) -> dict[str, int]:
    """Return the group of each system if all were compared with one: better, not told apart, worse."""
    sign = dict.fromkeys(ordered, 0)
    for each in differences:
        if each.metric == metric and each.significant:
            sign[each.system if each.baseline == baseline else each.baseline] = -1 if each.mean > 0 else 1
    number = {value: at for at, value in enumerate(sorted(set(sign.values())), start=1)}
    return {system: number[value] for system, value in sign.items()}


def _seconds(comparison: Compared) -> dict[str, float]:
    """Return the mean time per query of each system whose run was timed."""
    found = {}
    for system, scores in comparison.scores.items():
        timed = getattr(scores.origin.run, "seconds", None) if scores.origin is not None else None
        if timed:
            found[system] = sum(timed.values()) / len(timed)
    return found


def main_pair(comparison: Compared, metric: Metric) -> tuple[str, str]:
    """Return the pair to show first: the two compared systems with the largest means."""
    means = comparison.table[metric]

    def height(pair: tuple[str, str]) -> float:
        both = [means[system] for system in pair]
        return -1.0 if any(map(isnan, both)) else sum(both)

    return max(comparison.pairs, key=height)
