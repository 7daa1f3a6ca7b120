"""Rank the systems of a comparison in each metric, and compare each with the baseline or with the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import inf, isfinite, isnan
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeAlias

from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.comparison import ranking_wording as wording
from retrieval_metrics.comparison.conclusion_groups import group_by_outcome
from retrieval_metrics.comparison.conclusion_wording import combine_sentences
from retrieval_metrics.metrics.base.metric import match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics import min_significant_units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.comparison.comparison_record import ComparisonRecord
    from retrieval_metrics.comparison.conclusion_groups import ConclusionGroup
    from retrieval_metrics.comparison.conclusions import Conclusion, ConclusionKind
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval
    from retrieval_metrics.statistics.noninferiority import MarginOutcome

Status: TypeAlias = Literal["better", "best", "baseline", "not_significant", "undetermined", "worse"]
# The sign of each status.
SIGN_BY_STATUS: dict[Status, str] = {
    "better": "▲",
    "best": " ",
    "baseline": " ",
    "not_significant": "=",
    "undetermined": "?",
    "worse": "▼",
}
# How a system stands to its baseline; undetermined for every other kind.
STATUS_BY_KIND: dict[ConclusionKind, Status] = {
    "better": "better",
    "worse": "worse",
    "not_significant": "not_significant",
    "identical": "not_significant",
}
# How the baseline stands to the system; any other status is mutual.
REVERSED_STATUS: dict[Status, Status] = {"better": "worse", "worse": "better"}
# Better systems stand above the others, worse ones below.
SORT_KEY: dict[Status, int] = {"better": -1, "worse": 1}
# With two systems, the test says already which of them is worth its time.
MIN_SYSTEMS_FOR_PARETO = 3

# Whether a system is worth its cost.
OnFrontier: TypeAlias = Literal["on", "possibly", "off"]


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """The place of one system in one metric.

    Attributes:
        system: The system.
        mean: Its mean.
        interval: The confidence interval of its mean.
        status: How it compares with the baseline: `"better"`, `"not_significant"`, `"worse"`, or `"undetermined"` if
            that depends on unjudged documents or cannot be compared; the baseline has `"baseline"`. Without a baseline,
            systems are compared with the one that has the best mean of those that no other is better than; it has
            `"best"`.
    """

    system: str
    mean: float
    interval: Interval
    status: Status


@dataclass(frozen=True, slots=True)
class PairwiseGain:
    """What one system gains over another.

    Attributes:
        is_better: Whether it is significantly better.
        smallest: The smallest gain in the joint interval; negative for a loss, minus infinity if nothing bounds it.
    """

    is_better: bool
    smallest: float


@dataclass(frozen=True, repr=False, kw_only=True)
class SystemRanking(Printed):
    """The systems by metric, best first, and how each stands to the baseline or to the best.

    Attributes:
        by_metric: The places by metric, best first.
        n_unattainable: How many of the tests can find nothing with so few queries, unless other tests agree with them
            on every query.
        tests: How many differences were tested.
        n_units: How many queries, or clusters of them, the comparison has.
        has_clusters: Whether these are clusters.
        min_units: How many of them a single test needs to find anything.
        baseline: The system all others were compared with; None if every pair was compared.
        seconds: The mean time per query of each system whose run has it.
        level: The confidence level of the intervals.
        margin: The largest acceptable loss; None if there is none, or no baseline.
        noninferiority: By metric, whether each system is no worse than the baseline by more than the margin.
        _gains: By metric, the gain of each two systems compared, in both orders.
        _groups: By metric, the conclusions about the best system beside the others, or about the others beside the
            baseline.

    Example:
        >>> import retrieval_metrics as rm
        >>> qrels = {f"q{i}": ["d"] for i in range(12)}
        >>> good, bad = {query: ["d"] for query in qrels}, {query: ["x", "y", "d"] for query in qrels}
        >>> comparison = rm.compare(qrels, {"bad": bad, "good": good, "same": good}, "mrr")
        >>> [(place.system, place.status) for place in comparison.ranking.by_metric["mrr"]]
        [('good', 'best'), ('same', 'not_significant'), ('bad', 'worse')]
    """

    by_metric: Mapping[str, tuple[RankedSystem, ...]]
    n_unattainable: int
    tests: int
    n_units: int
    min_units: int
    baseline: str | None
    seconds: Mapping[str, float]
    level: float
    has_clusters: bool = False
    margin: float | None = None
    noninferiority: Mapping[str, Mapping[str, MarginOutcome]] = field(default_factory=dict)
    _gains: Mapping[str, Mapping[tuple[str, str], PairwiseGain]] = field(default_factory=dict, compare=False)
    _groups: Mapping[str, Sequence[ConclusionGroup]] = field(default_factory=dict, compare=False)

    @property
    def first_metric(self) -> str:
        """The first metric, whose order the table has."""
        return next(iter(self.by_metric))

    @property
    def systems(self) -> list[str]:
        """The systems, by the first metric, best first."""
        return [place.system for place in self.by_metric[self.first_metric]]

    def pareto_frontier(
        self, cost: Mapping[str, float] | Literal["seconds"] = "seconds", metric: str | Metric | None = None
    ) -> dict[str, OnFrontier]:
        """Return which systems are worth their cost: `"on"` the frontier, `"off"` it, or `"possibly"` on it.

        A system is off if one that costs no more is better, and on if it is better than each that costs no more. Both
        words are as sure as the comparison: they come from its corrected tests. Costs count as exact, which measured
        seconds are not.

        Args:
            cost: The cost of each system, less is better; `"seconds"` takes the mean time per query.
            metric: The metric; None takes the first.

        Raises:
            KeyError: If a system has no cost, or the metric was not compared.
            ValueError: If all systems were compared with a baseline only.

        Example:
            >>> import retrieval_metrics as rm
            >>> qrels = {f"q{i}": ["d"] for i in range(12)}
            >>> good, bad = {query: ["d"] for query in qrels}, {query: ["x", "y", "d"] for query in qrels}
            >>> ranking = rm.compare(qrels, {"bad": bad, "good": good, "big": good}, "mrr").ranking
            >>> ranking.pareto_frontier({"bad": 1, "good": 2, "big": 9})
            {'bad': 'on', 'good': 'on', 'big': 'possibly'}
        """
        gains = self._pairwise_gains(metric)
        costs = self._costs(cost)
        frontier: dict[str, OnFrontier] = {}
        for system in costs:
            cheaper = [other for other in costs if other != system and costs[other] <= costs[system]]
            if any(gains[other, system].is_better for other in cheaper):
                frontier[system] = "off"
            elif all(gains[system, other].is_better for other in cheaper):
                frontier[system] = "on"
            else:
                frontier[system] = "possibly"
        return frontier

    def cheapest_noninferior(
        self,
        margin: float,
        cost: Mapping[str, float] | Literal["seconds"] = "seconds",
        metric: str | Metric | None = None,
    ) -> str | None:
        """Return the cheapest system shown to be no worse than any other by more than a margin; None if none is.

        Args:
            margin: The largest acceptable loss, such as 0.02.
            cost: As in `pareto_frontier`.
            metric: As in `pareto_frontier`.

        Raises:
            KeyError: As in `pareto_frontier`.
            ValueError: As in `pareto_frontier`.
        """
        gains = self._pairwise_gains(metric)
        costs = self._costs(cost)
        for system in costs:
            others = [other for other in costs if other != system]
            if all(gains[system, other].smallest >= -margin for other in others):
                return system
        return None

    def _pairwise_gains(self, metric: str | Metric | None) -> Mapping[tuple[str, str], PairwiseGain]:
        if self.baseline is not None:
            raise ValueError(
                f"the Pareto frontier needs all pairs compared, but baseline={self.baseline!r} was given. Leave out "
                "baseline="
            )
        name = next(iter(self._gains)) if metric is None else match_metric_name(metric, self._gains)
        if name not in self._gains:
            raise UnknownKeyError(f"{name} was not compared; compared metrics: {', '.join(self._gains)}")
        return self._gains[name]

    def _costs(self, cost: Mapping[str, float] | Literal["seconds"]) -> dict[str, float]:
        """Return the cost of each system, the cheapest first."""
        costs = self.seconds if isinstance(cost, str) else cost
        systems = self.systems
        # Names before numbers, so that a misspelt system is reported as such.
        for system in systems:
            if system not in costs:
                raise UnknownKeyError(
                    f"{system!r} has no cost; pass cost={{...}}, a number for each of {', '.join(systems)}"
                )
        for system in systems:
            if not isinstance(costs[system], Real) or not isfinite(costs[system]):
                raise ValueError(f"the cost of {system!r} must be a finite number, got {costs[system]!r}")
        return {system: costs[system] for system in sorted(systems, key=costs.__getitem__)}

    @property
    def best(self) -> dict[str, tuple[str, ...]]:
        """The systems of each metric that are not shown to be worse than the best."""
        best = {}
        for metric, places in self.by_metric.items():
            better = tuple(place.system for place in places if place.status == "better")
            not_worse = tuple(place.system for place in places if place.status != "worse")
            best[metric] = better or not_worse
        return best

    def _tables(self) -> list[Table]:
        header = ["system", *self.by_metric]
        if self.seconds:
            header.append("seconds per query")
        if self.pareto:
            header.append("Pareto")
        rows = list(map(self._table_row, self.systems))
        return [Table(header, rows, self.notes, words=range(len(self.by_metric) + 1))]

    def _table_row(self, system: str) -> list[str]:
        cells = [system]
        for places in self.by_metric.values():
            place_by_system = {place.system: place for place in places}
            cells.append(_format_place(place_by_system[system]))
        if self.seconds:
            cells.append(f"{self.seconds[system]:.3g}" if system in self.seconds else "-")
        if self.pareto:
            cells.append(self.pareto[system])
        return cells

    @cached_property
    def pareto(self) -> dict[str, OnFrontier]:
        """Which systems are worth their seconds; empty unless all were timed, and compared without a baseline."""
        n_systems = len(self.systems)
        is_timed = len(self.seconds) == n_systems
        if self.baseline is not None or not is_timed or n_systems < MIN_SYSTEMS_FOR_PARETO:
            return {}
        return self.pareto_frontier()

    @property
    def sentences(self) -> list[str]:
        """How the systems stand in each metric, in words."""
        groups = chain(*self._groups.values())
        return [*combine_sentences(groups), *wording.format_noninferiority(self)]

    @property
    def sentences_by_metric(self) -> dict[str, list[str]]:
        """What is concluded in each metric, in words."""
        return {metric: combine_sentences(groups) for metric, groups in self._groups.items()}

    @property
    def notes(self) -> list[str]:
        """What the signs behind the means are, and which tests could not find anything."""
        return wording.ranking_notes(self)

    def __repr__(self) -> str:
        places = self.by_metric[self.first_metric]
        means = ", ".join(f"{place.system} {numbers.format_known_value(place.mean)}" for place in places)
        return f"<SystemRanking by {self.first_metric}: {means}>"


def _format_place(place: RankedSystem) -> str:
    """Return a mean and the sign of its status; the mean of the baseline, or of the best, has its interval instead."""
    mean = numbers.format_known_value(place.mean)
    if place.status in {"best", "baseline"}:
        mean = numbers.format_mean(place.mean, place.interval)
    # Behind the mean, because "= 0.3" would be read as its value, and "▲ 0.3" as a change by 0.3.
    return f"{mean} {SIGN_BY_STATUS[place.status]}".rstrip()


def rank_systems(comparison: ComparisonRecord) -> SystemRanking:
    """Return the ranking of a comparison."""
    places: dict[str, tuple[RankedSystem, ...]] = {}
    groups: dict[str, list[ConclusionGroup]] = {}
    gains: dict[str, dict[tuple[str, str], PairwiseGain]] = {}
    for metric in comparison.metrics:
        name = str(metric)
        conclusions = [conclusion for conclusion in comparison.conclusions if conclusion.metric == name]
        ordered = _sort_by_mean(comparison.means[metric], metric.definition.sign)
        reference = comparison.baseline or _find_best(ordered, conclusions)
        places[name] = _place_systems(comparison, name, ordered, reference, conclusions)
        groups[name] = _group_beside(reference, places[name], conclusions, system_first=comparison.baseline is None)
        gains[name] = _compute_gains(conclusions)
    has_baseline = comparison.baseline is not None
    largest = max(comparison.differences, key=lambda difference: difference.n_units)
    return SystemRanking(
        by_metric=places,
        n_unattainable=sum(map(_is_unattainable, comparison.differences)),
        tests=len(comparison.differences),
        n_units=largest.n_units,
        has_clusters=largest.clusters is not None,
        min_units=min_significant_units(comparison.level),
        baseline=comparison.baseline,
        seconds=_mean_seconds(comparison),
        level=comparison.level,
        margin=comparison.margin if has_baseline else None,
        noninferiority=_margin_outcomes(comparison) if has_baseline else {},
        _gains=gains,
        _groups=groups,
    )


def _sort_by_mean(means: Mapping[str, float], sign: int) -> list[str]:
    """Return the systems by their means, those without one last; `sign` is -1 where lower is better."""

    def sort_key(system: str) -> float:
        mean = means[system]
        return inf if isnan(mean) else -sign * mean

    return sorted(means, key=sort_key)


def _find_best(ordered: Sequence[str], conclusions: Sequence[Conclusion]) -> str:
    """Return the system with the best mean that no other is better than; one without values only if all are."""
    beaten = set()
    compared: set[str] = set()
    for conclusion in conclusions:
        if conclusion.kind == "better":
            beaten.add(conclusion.baseline)
        if conclusion.kind == "worse":
            beaten.add(conclusion.system)
        if conclusion.n:
            compared.update(conclusion.details.pair)
    # A system without values is beaten by none, but it must not lead those that have some.
    candidates = [system for system in ordered if system in compared] or ordered
    for system in candidates:
        if system not in beaten:
            return system
    return candidates[0]


def _place_systems(
    comparison: ComparisonRecord,
    metric: str,
    ordered: Sequence[str],
    reference: str,
    conclusions: Sequence[Conclusion],
) -> tuple[RankedSystem, ...]:
    """Return the systems of a metric with their status, those better than the reference first.

    Systems that were not measured stand among the worse ones, in the order of their means.
    """
    statuses: dict[str, Status] = dict.fromkeys(ordered, "undetermined")
    sort_keys: dict[str, int] = {}
    for conclusion in conclusions:
        status = STATUS_BY_KIND.get(conclusion.kind, "undetermined")
        other = conclusion.system
        if conclusion.system == reference:
            other = conclusion.baseline
            status = REVERSED_STATUS.get(status, status)
        elif conclusion.baseline != reference:
            continue
        statuses[other] = status
        sort_keys[other] = SORT_KEY.get(status, 0)
        if not conclusion.details.measured:
            sort_keys[other] = SORT_KEY["worse"]
    statuses[reference] = "best" if comparison.baseline is None else "baseline"
    means = comparison.means[metric]
    intervals = comparison.intervals[metric]
    places = []
    for system in sorted(ordered, key=lambda system: sort_keys.get(system, 0)):
        places.append(RankedSystem(system, means[system], intervals[system], statuses[system]))
    return tuple(places)


def _group_beside(
    reference: str, places: Sequence[RankedSystem], conclusions: Sequence[Conclusion], *, system_first: bool
) -> list[ConclusionGroup]:
    """Group the conclusions about the reference and the other systems, in the order of these."""
    conclusion_by_other: dict[str, Conclusion] = {}
    for conclusion in conclusions:
        if conclusion.baseline == reference:
            conclusion_by_other[conclusion.system] = conclusion
        elif conclusion.system == reference:
            conclusion_by_other[conclusion.baseline] = conclusion
    in_order = [conclusion_by_other[place.system] for place in places if place.system in conclusion_by_other]
    return group_by_outcome(reference, in_order, system_first=system_first)


def _compute_gains(conclusions: Sequence[Conclusion]) -> dict[tuple[str, str], PairwiseGain]:
    """Return the gain of each two systems, in both orders; nothing bounds that of systems that are not comparable."""
    gains = {}
    for conclusion in conclusions:
        system = conclusion.system
        baseline = conclusion.baseline
        if not conclusion.details.comparable:
            gains[system, baseline] = PairwiseGain(is_better=False, smallest=-inf)
            gains[baseline, system] = PairwiseGain(is_better=False, smallest=-inf)
            continue
        interval = conclusion.gain_interval
        gains[system, baseline] = PairwiseGain(conclusion.kind == "better", interval.low)
        gains[baseline, system] = PairwiseGain(conclusion.kind == "worse", -interval.high)
    return gains


def _is_unattainable(difference: Difference) -> bool:
    """Return whether a test could find nothing with so few queries at its corrected level."""
    return not difference.significant and difference.n_units < min_significant_units(1 - difference.corrected_alpha)


def _margin_outcomes(comparison: ComparisonRecord) -> dict[str, dict[str, MarginOutcome]]:
    """Return by metric and system the outcome of the test against the margin, best first; nothing without one."""
    outcomes: dict[str, dict[str, MarginOutcome]] = {str(metric): {} for metric in comparison.metrics}
    for conclusion in sorted(comparison.conclusions, key=lambda conclusion: -conclusion.gain):
        if conclusion.noninferiority is not None:
            outcomes[conclusion.metric][conclusion.system] = conclusion.noninferiority
    return {metric: by_system for metric, by_system in outcomes.items() if by_system}


def _mean_seconds(comparison: ComparisonRecord) -> dict[str, float]:
    """Return the mean time per query of each system whose run was timed."""
    means = {}
    for system, scores in comparison.scores.items():
        if scores.origin is None:
            continue
        seconds = getattr(scores.origin.run, "seconds", None)
        if seconds:
            means[system] = sum(seconds.values()) / len(seconds)
    return means


def systems_in_order(comparison: ComparisonRecord, metric: Metric) -> list[str]:
    """Return the systems as the ranking has them in a metric, the best first."""
    return [place.system for place in comparison.ranking.by_metric[str(metric)]]


def choose_main_pair(comparison: ComparisonRecord, metric: Metric) -> tuple[str, str]:
    """Return the pair to show first: the best systems in a metric that differ, or the best beside the baseline.

    Systems that are not comparable are shown first only if no others differ.
    """
    position_by_system = {system: position for position, system in enumerate(systems_in_order(comparison, metric))}
    differing = []
    comparable = []
    for difference in comparison.differences:
        if difference.metric == str(metric) and not difference.identical:
            differing.append(difference.pair)
            if difference.comparable:
                comparable.append(difference.pair)
    return min(
        comparable or differing or comparison.pairs, key=lambda pair: sorted(map(position_by_system.__getitem__, pair))
    )
