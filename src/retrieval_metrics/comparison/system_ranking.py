"""Several systems on the same queries: the record of a comparison, and how each stands to the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import isfinite, isnan
from numbers import Real
from typing import TYPE_CHECKING, Literal, TypeAlias

from retrieval_metrics.comparison.conclusion_wording import (
    MAX_NAMES,
    ConclusionGroup,
    combine_sentences,
    group_by_outcome,
)
from retrieval_metrics.comparison.conclusions import SelectionBias, conclude, estimate_selection_bias
from retrieval_metrics.comparison.difference import require_one_pair
from retrieval_metrics.evaluation.budget_coverage import unequal_depth_note, unequal_text_note
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.scores import ByMetric
from retrieval_metrics.evaluation.summary import mean_interval_of_sums, sum_clustered_values
from retrieval_metrics.metrics.base.metric import match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics import min_significant_units
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray
    from retrieval_metrics.comparison.conclusion_wording import ConclusionKind
    from retrieval_metrics.comparison.conclusions import Conclusion, Conclusions, JudgedCoverage, UnjudgedBounds
    from retrieval_metrics.comparison.difference import Difference, Differences, PairedValues
    from retrieval_metrics.evaluation.budget_coverage import BudgetUse
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval
    from retrieval_metrics.statistics.noninferiority import MarginOutcome


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ComparisonRecord:
    """What is known of several systems on the same queries; `Comparison` says what each attribute is."""

    scores: Mapping[str, Scores]
    metrics: tuple[Metric, ...]
    paired_values: PairedValues
    baseline: str | None
    level: float
    differences: Differences
    margin: float | None = None
    clusters: Clusters | None = None
    judged_coverage: JudgedCoverage | None = None
    unjudged: UnjudgedBounds | None = None
    notes: tuple[str, ...] = ()
    budgets: tuple[BudgetUse, ...] = ()
    resampling: tuple[int, int] | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.scores)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of systems that are compared, each as system and baseline."""
        return list(self.differences.by_pair)

    @cached_property
    def conclusions(self) -> Conclusions:
        """What the comparison shows: one entry for each pair of systems and metric, from which all else speaks."""
        caveats = system_wide_warnings(self.scores)
        caveats += [said for use in self.budgets for said in use.sentences]
        caveats += [judged_coverage_note(self), unequal_text_note(self.scores, self.metrics, self.budgets)]
        caveats.append(unequal_depth_note(self.scores, self.metrics))
        return conclude(
            self.differences,
            level=self.level,
            margin=self.margin,
            bounds=self.unjudged,
            caveats=tuple(filter(None, caveats)),
            selection_bias=self._flattered,
        )

    @cached_property
    def _flattered(self) -> tuple[SelectionBias, ...]:
        """How much the best system of each metric is flattered by being chosen, from five systems on; else empty."""
        found = []
        for metric in self.metrics:
            if metric.definition.is_quality_metric:
                rows, values = self._shared[str(metric)]
                sign = metric.definition.sign
                found.append(
                    estimate_selection_bias(
                        str(metric), self.systems, values.T, sign, self.paired_values.shared_labels(rows)
                    )
                )
        return tuple(one for one in found if one is not None)

    @cached_property
    def means(self) -> ByMetric[dict[str, float]]:
        """The mean of each metric for each system, over the queries for which it is defined in all systems."""
        return ByMetric({name: {system: one.mean for system, one in of.items()} for name, of in self._sums.items()})

    @cached_property
    def intervals(self) -> ByMetric[dict[str, Interval]]:
        """The confidence interval of each mean of the table, at the comparison's level."""
        found: dict[str, dict[str, Interval]] = {}
        for metric, (name, sums) in zip(self.metrics, self._sums.items(), strict=True):
            rows, values = self._shared[name]
            labels = self.paired_values.shared_labels(rows)
            worth = sums.values() if labels is None else (sum_clustered_values(column, labels) for column in values.T)
            systems = zip(self.scores.items(), worth, strict=True)
            found[name] = {system: mean_interval_of_sums(one, metric, of, self.level) for (system, one), of in systems}
        return ByMetric(found)

    @cached_property
    def _sums(self) -> dict[str, dict[str, Sums]]:
        return {
            name: {system: Sums.from_values(column) for system, column in zip(self.systems, values.T, strict=True)}
            for name, (_, values) in self._shared.items()
        }

    @cached_property
    def n(self) -> ByMetric[int]:
        """The number of queries for which each metric is defined in all systems."""
        return ByMetric({name: len(rows) for name, (rows, _) in self._shared.items()})

    @cached_property
    def _shared(self) -> dict[str, tuple[IntArray, FloatArray]]:
        return {str(metric): self.paired_values.shared(metric) for metric in self.metrics}

    def difference(self, metric: str | Metric, system: str | None = None, baseline: str | None = None) -> Difference:
        """Return one of the differences."""
        return require_one_pair(self.differences, "differences", metric, system, baseline)


def judged_coverage_note(comparison: ComparisonRecord) -> str:
    """Return how unjudged documents were treated, in a sentence; empty if that alone could not explain a difference."""
    if comparison.judged_coverage is None:
        return ""
    condensed = any(one.rules.unjudged == "condensed" for one in comparison.scores.values())
    return comparison.judged_coverage.sentence(condensed=condensed, bounded=comparison.unjudged is not None)


# The systems of a comparison in order, and how each stands to the baseline or to the best.

Status: TypeAlias = Literal["better", "best", "baseline", "not_significant", "undetermined", "worse"]
SIGN_BY_STATUS: dict[Status, str] = {
    "better": "▲",
    "best": " ",
    "baseline": " ",
    "not_significant": "=",
    "undetermined": "?",
    "worse": "▼",
}
"""The sign of each standing, in the order of a ranking."""
OF_KIND: dict[ConclusionKind, Status] = {
    "better": "better",
    "worse": "worse",
    "not_significant": "not_significant",
    "identical": "not_significant",
}
"""How a system stands to the other of a pair; not known if it is not here."""
OnFrontier: TypeAlias = Literal["on", "possibly", "off"]
"""Whether a system is worth its cost."""
HEIGHT: dict[Status, int] = {"better": -1, "worse": 1}
OPPOSITE: dict[Status, Status] = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """The place of one system in one metric.

    Attributes:
        system: The system.
        mean: Its mean.
        interval: The confidence interval of its mean.
        status: How it stands to the baseline, which is `"baseline"` itself: `"better"`, `"not_significant"`, `"worse"`,
            or `"undetermined"` if that depends on what is unjudged or cannot be compared. Without a baseline, how it
            stands to the system with the largest mean that none is better than, which is `"best"`.
    """

    system: str
    mean: float
    interval: Interval
    status: Status


@dataclass(frozen=True, repr=False)
class SystemRanking(Printed):
    """The systems by metric, best first, and how each stands to the baseline or to the best.

    Attributes:
        by_metric: The places by metric, best first.
        n_unattainable: How many of the tests find nothing with this many queries, unless others agree with them on
            each.
        tests: How many differences were tested.
        n_units: How many queries, or clusters of them, the comparison has.
        baseline: The system all others were compared with; None if every pair was compared.
        seconds: The mean time per query of each system whose run has it.
        level: The confidence level of the intervals.
        margin: The largest acceptable loss; None if there is none, or no baseline.
        noninferiority: By metric, whether each system is no worse than the baseline by more than the margin.
        _gains: By metric, for each two systems compared, in both orders: whether the first is better, and the least
            that it gains by the joint interval.
        _concluded: By metric, what is concluded of the best system beside the others, or of the others beside the
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
    baseline: str | None
    seconds: Mapping[str, float]
    level: float
    margin: float | None = None
    noninferiority: Mapping[str, Mapping[str, MarginOutcome]] = field(default_factory=dict)
    _gains: Mapping[str, Mapping[tuple[str, str], tuple[bool, float]]] = field(default_factory=dict, compare=False)
    _concluded: Mapping[str, Sequence[ConclusionGroup]] = field(default_factory=dict, compare=False)

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
        gains, costs = self._all_gains(metric), self._costs(cost)
        found: dict[str, OnFrontier] = {}
        for one in costs:
            cheaper = [other for other in costs if other != one and costs[other] <= costs[one]]
            if any(gains[other, one][0] for other in cheaper):
                found[one] = "off"
            else:
                found[one] = "on" if all(gains[one, other][0] for other in cheaper) else "possibly"
        return found

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
        gains, costs = self._all_gains(metric), self._costs(cost)
        kept = [one for one in costs if all(gains[one, other][1] >= -margin for other in costs if other != one)]
        return min(kept, key=costs.__getitem__, default=None)

    def _all_gains(self, metric: str | Metric | None) -> Mapping[tuple[str, str], tuple[bool, float]]:
        if self.baseline is not None:
            raise ValueError(
                f"only {self.baseline} was compared with the others; leave out baseline= to learn which are worth "
                "their cost"
            )
        name = next(iter(self._gains)) if metric is None else match_metric_name(metric, self._gains)
        if name not in self._gains:
            raise KeyError(f"{name} was not compared; there are {', '.join(self._gains)}")
        return self._gains[name]

    def _costs(self, cost: Mapping[str, float] | Literal["seconds"]) -> dict[str, float]:
        costs = self.seconds if isinstance(cost, str) else cost
        systems = [place.system for place in next(iter(self.by_metric.values()))]
        if missing := [system for system in systems if system not in costs]:
            raise KeyError(f"{missing[0]!r} has no cost; pass cost={{...}}, a number for each of {', '.join(systems)}")
        for system in systems:
            if not isinstance(costs[system], Real) or not isfinite(costs[system]):
                raise ValueError(f"the cost of {system!r} must be a finite number, got {costs[system]!r}")
        return {system: costs[system] for system in sorted(systems, key=costs.__getitem__)}

    @property
    def best(self) -> dict[str, tuple[str, ...]]:
        """The systems of each metric that are not shown to be worse than the best."""
        found = {}
        for metric, places in self.by_metric.items():
            better = tuple(place.system for place in places if place.status == "better")
            rest = {"best", "baseline", "not_significant", "undetermined"}
            found[metric] = better or tuple(place.system for place in places if place.status in rest)
        return found

    def _tables(self) -> list[Table]:
        order = [place.system for place in next(iter(self.by_metric.values()))]
        found = {metric: {place.system: place for place in places} for metric, places in self.by_metric.items()}
        rows, worth = [], self.pareto
        for system in order:
            cells = [_cell(found[metric][system]) for metric in found]
            timed = [f"{self.seconds[system]:.3g}"] if system in self.seconds else ["-"] if self.seconds else []
            rows.append([system, *cells, *timed, *([worth[system]] if worth else [])])
        header = [
            "system",
            *found,
            *(["seconds per query"] if self.seconds else []),
            *(["worth them"] if worth else []),
        ]
        return [Table(header, rows, self.notes, words=range(len(found) + 1))]

    @property
    def pareto(self) -> dict[str, OnFrontier]:
        """Which systems are worth their seconds; empty unless all were timed, and compared without a baseline."""
        systems = len(next(iter(self.by_metric.values())))
        asked = self.baseline is None and len(self.seconds) == systems > 2
        return self.pareto_frontier() if asked else {}

    @property
    def sentences(self) -> list[str]:
        """How the systems stand in each metric, in words."""
        return [
            *combine_sentences(chain(*self._concluded.values())),
            *self._said_of_margin(),
        ]

    @property
    def sentences_by_metric(self) -> dict[str, list[str]]:
        """What is concluded in each metric, in words."""
        return {metric: combine_sentences(parts) for metric, parts in self._concluded.items()}

    def _said_of_margin(self) -> list[str]:
        words: dict[MarginOutcome, str] = {"noninferior": "no worse", "inferior": "worse", "inconclusive": "no worse"}
        alike: dict[tuple[MarginOutcome, frozenset[str]], list[str]] = {}
        for metric, outcomes in self.noninferiority.items():
            for outcome in words:
                if systems := frozenset(system for system, found in outcomes.items() if found == outcome):
                    alike.setdefault((outcome, systems), []).append(metric)
        said = []
        for (outcome, systems), metrics in alike.items():
            named = [system for system in self.noninferiority[metrics[0]] if system in systems]
            are = f"{numbers.join_names(named, most=MAX_NAMES)} {'is' if len(named) == 1 else 'are'}"
            in_these = f"by more than {self.margin:g} in {numbers.join_names(metrics)}"
            one = f"{are} {words[outcome]} than {self.baseline} {in_these}"
            said.append(f"That {one} is not shown." if outcome == "inconclusive" else f"{one}.")
        return said

    @property
    def notes(self) -> list[str]:
        """What the signs in front of the means are, and which tests could not find anything."""
        there = {place.status for places in self.by_metric.values() for place in places}
        other = "the best" if self.baseline is None else self.baseline
        words = {
            "better": f"▲ better than {other}",
            "not_significant": f"= no clear difference from {other}",
            "worse": f"▼ worse than {other}",
            "undetermined": "? not known",
        }
        signs = [said for standing, said in words.items() if standing in there]
        kind = f"{other} with its {numbers.level_name(self.level)}"
        said = [f"{', '.join(signs)}; {kind}" if signs else kind]
        if self.pareto:
            said.insert(
                0,
                f"worth them, in {next(iter(self._gains))}: on, better than each that is as fast; off, one as fast is "
                "better; seconds count as exact",
            )
        if self.n_unattainable:
            tests = numbers.format_count(self.tests, "test")
            these = f"{self.n_unattainable:,} of these {tests} can hardly succeed"
            advice = "choose fewer metrics" if self.baseline is not None else "choose a baseline or fewer metrics"
            if self.n_units < (fewest := min_significant_units(self.level)):
                these = f"none of these {tests} can succeed" if self.tests > 1 else "the test cannot succeed"
                advice = f"one test alone needs {fewest}" if self.tests > 1 else f"it needs {fewest}"
            said.insert(0, f"with {numbers.format_query_count(self.n_units)} {these}; {advice}")
        return said

    def __repr__(self) -> str:
        metric, places = next(iter(self.by_metric.items()))
        return (
            f"<Standings by {metric}: {', '.join(f'{place.system} {numbers.value(place.mean)}' for place in places)}>"
        )


def rank_systems(comparison: ComparisonRecord) -> SystemRanking:
    """Return the ranking of a comparison."""
    places, found = {}, {}
    for each_metric in comparison.metrics:
        metric, means = str(each_metric), comparison.means[each_metric]
        ordered = _best_first(means, each_metric.definition.sign)
        concluded = [each for each in comparison.conclusions if each.metric == metric]
        other = comparison.baseline or _best(ordered, concluded)
        standings = _beside(other, ordered, concluded)
        standings[other] = "best" if comparison.baseline is None else "baseline"
        ends = comparison.intervals[metric]
        places[metric] = tuple(
            RankedSystem(system, means[system], ends[system], standings[system])
            for system in sorted(ordered, key=lambda system: HEIGHT.get(standings[system], 0))
        )
        by_system = {system: one for one in concluded if other in one.details.pair for system in one.details.pair}
        these = [by_system[place.system] for place in places[metric] if place.system in by_system.keys() - {other}]
        found[metric] = group_by_outcome(other, these, system_first=comparison.baseline is None)
    return SystemRanking(
        places,
        sum(
            not each.significant and each.n_units < min_significant_units(1 - each.corrected_alpha)
            for each in comparison.differences
        ),
        len(comparison.differences),
        max(each.n_units for each in comparison.differences),
        comparison.baseline,
        _seconds(comparison),
        comparison.level,
        comparison.margin if comparison.baseline is not None else None,
        _within(comparison) if comparison.baseline is not None else {},
        {str(metric): _gains(comparison, str(metric)) for metric in comparison.metrics},
        found,
    )


def _gains(comparison: ComparisonRecord, metric: str) -> dict[tuple[str, str], tuple[bool, float]]:
    """Return for each two systems, in both orders, whether the first is better, and the least that it gains."""
    found = {}
    for each in comparison.conclusions:
        if each.metric == metric:
            low, high = (
                each.details.interval
                if each.details.higher_is_better
                else [-end for end in each.details.interval][::-1]
            )
            found[each.system, each.baseline] = (each.kind == "better", low)
            found[each.baseline, each.system] = (each.kind == "worse", -high)
    return found


def _within(comparison: ComparisonRecord) -> dict[str, dict[str, MarginOutcome]]:
    """Return by metric and system the outcome of the test against the margin, best first; nothing without one."""
    found: dict[str, dict[str, MarginOutcome]] = {}
    for each in sorted(comparison.conclusions, key=lambda one: -one.gain):
        if each.noninferiority is not None:
            found.setdefault(each.metric, {})[each.system] = each.noninferiority
    return {str(metric): found[str(metric)] for metric in comparison.metrics if str(metric) in found}


def _best_first(means: Mapping[str, float], sign: int) -> list[str]:
    """Return the systems by their means, those without one last; `sign` is -1 where lower is better."""
    return sorted(means, key=lambda system: -sign * means[system] if not isnan(means[system]) else float("inf"))


def _cell(place: RankedSystem) -> str:
    has_interval = place.status in {"best", "baseline"}
    mean = numbers.mean(place.mean, place.interval) if has_interval else numbers.value(place.mean)
    return f"{SIGN_BY_STATUS[place.status]} {mean}"


def _best(ordered: Sequence[str], concluded: Sequence[Conclusion]) -> str:
    """Return the system with the largest mean that no other is better than; one without values only if all are."""
    beaten = {each.baseline if each.kind == "better" else each.system for each in concluded if each.kind in OPPOSITE}
    compared = {system for each in concluded if each.n for system in each.details.pair}
    leading = [system for system in ordered if system in compared] or ordered
    return next((system for system in leading if system not in beaten), leading[0])


def _beside(other: str, ordered: Sequence[str], concluded: Sequence[Conclusion]) -> dict[str, Status]:
    """Return how each system stands to one of them."""
    found: dict[str, Status] = dict.fromkeys(ordered, "undetermined")
    for each in concluded:
        standing = OF_KIND.get(each.kind, "undetermined")
        if each.baseline == other:
            found[each.system] = standing
        elif each.system == other:
            found[each.baseline] = OPPOSITE.get(standing, standing)
    return found


def _seconds(comparison: ComparisonRecord) -> dict[str, float]:
    """Return the mean time per query of each system whose run was timed."""
    found = {}
    for system, scores in comparison.scores.items():
        timed = getattr(scores.origin.run, "seconds", None) if scores.origin is not None else None
        if timed:
            found[system] = sum(timed.values()) / len(timed)
    return found


def systems_in_order(comparison: ComparisonRecord, metric: Metric) -> list[str]:
    """Return the systems as the ranking has them in a metric, the best first."""
    return [place.system for place in rank_systems(comparison).by_metric[str(metric)]]


def choose_main_pair(comparison: ComparisonRecord, metric: Metric) -> tuple[str, str]:
    """Return the pair to show first: the best systems in a metric that differ, or the best beside the baseline."""
    order = systems_in_order(comparison, metric)
    differ = [pair for pair in comparison.pairs if not comparison.difference(metric, *pair).identical]
    return min(differ or comparison.pairs, key=lambda pair: sorted(map(order.index, pair)))
