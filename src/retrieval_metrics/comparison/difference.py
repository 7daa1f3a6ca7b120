"""The difference of two systems in one metric, and all differences of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from retrieval_metrics._internal.validation import group_pairs, positive_integer
from retrieval_metrics.files.saved_records import register_record
from retrieval_metrics.metrics.base.metric import Metric, choose_leading_metric, match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table
from retrieval_metrics.statistics import (
    Detectable,
    Units,
    critical_value_to_p,
    detectable_difference,
    difference_interval,
    min_significant_units,
    queries_needed,
    rare_change,
    student_critical_value,
)
from retrieval_metrics.statistics.paired import is_significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.statistics import Interval, MarginTest, PairedDifference, QueriesNeeded, RareChange


POWER = 0.8


@register_record
@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Difference:
    """One system minus another in one metric, on the queries for which both are defined.

    Attributes:
        metric: The metric.
        system: The system.
        baseline: The system it is compared with.
        queries: The queries for which the metric is defined in both systems.
        values: Shape (queries,), system minus baseline per query.
        paired: Mean, interval, both p values, effect size, wins, ties and losses.
        comparisons: How many differences were tested together.
        p_corrected: The randomisation test's p value, corrected for all of them.
        max_difference: The largest possible difference.
        clusters: Shape (queries,), the cluster of each query; None if queries are independent.
        margin: The result of the test against the margin; None if there is no margin.
        comparable: Whether the two systems fill the budget of the metric alike; see `Comparison.budgets`. Otherwise the
            difference says how much text was retrieved, not which system is better, and is never significant.
        selected_from: From how many pairs of results the two were chosen, by what they showed; the p value and the
            interval are corrected for that too.
        higher_is_better: Whether a higher value of the metric is better; queries are won and lost accordingly.
    """

    metric: str
    system: str
    baseline: str
    queries: Sequence[QueryId]
    values: FloatArray
    paired: PairedDifference
    comparisons: int
    p_corrected: float
    max_difference: float
    clusters: IntArray | None = None
    margin: MarginTest | None = None
    comparable: bool = True
    selected_from: int = 1
    higher_is_better: bool = True

    @property
    def pair(self) -> tuple[str, str]:
        """The system and its baseline."""
        return self.system, self.baseline

    @property
    def n(self) -> int:
        """The number of queries for which the metric is defined in both systems."""
        return self.paired.count

    @property
    def n_units(self) -> int:
        """The number of independent units: clusters, or the queries themselves."""
        return self.paired.clusters

    @property
    def mean(self) -> float:
        """The mean difference, system minus baseline."""
        return self.paired.mean

    @property
    def gain(self) -> float:
        """How much better the system is than the baseline: the mean difference, negative where lower is better."""
        return self.mean if self.higher_is_better else -self.mean

    @property
    def interval(self) -> Interval:
        """The confidence interval of the mean difference: it excludes 0 exactly if the difference is significant.

        With several comparisons it is simultaneous: all of them together contain the true differences with the
        probability `level`.
        """
        return self.paired.interval

    @property
    def interval_uncorrected(self) -> Interval:
        """The confidence interval as if nothing else had been compared; never wider than `interval`."""
        if self.comparisons == 1 or self.n_units < min_significant_units(level := self.paired.level):
            return self.interval
        units = self._units
        critical = min(student_critical_value(units.effective_units, level), self.paired.critical_value)
        return difference_interval(units, critical, span=self.max_difference, level=level)

    @cached_property
    def rare_effect(self) -> RareChange:
        """What so few queries cannot have shown: rare, large differences, none of which they happen to contain."""
        return rare_change(self._units, span=self.max_difference, level=1 - self.alpha)

    @property
    def rare_effect_matters(self) -> bool:
        """Whether rare differences could shift the mean beyond the interval."""
        return not self.rare_effect.mean_shift <= (self.interval.high - self.interval.low) / 2

    @property
    def corrected_alpha(self) -> float:
        """The p value below which this difference is significant: at least alpha divided by the comparisons."""
        alpha = 1 - self.paired.level
        if self.comparisons == 1:
            return alpha
        found = critical_value_to_p(self.paired.critical_value, self.n_units)
        return min(max(found, alpha / self.comparisons), alpha)

    @property
    def p_uncorrected(self) -> float:
        """The p value as if nothing else had been compared; decide by `p_corrected`."""
        return self.paired.p_randomisation

    @property
    def alpha(self) -> float:
        """The accepted rate of false findings over all comparisons together: 1 - level."""
        return (1 - self.paired.level) * self.selected_from

    @property
    def significant(self) -> bool:
        """Whether the data can tell the two systems apart: comparable, and the corrected p value is at most alpha."""
        return self.comparable and is_significant(self.p_corrected, 1 - self.alpha)

    @property
    def identical(self) -> bool:
        """Whether both systems have the same value for every query."""
        return not self.values.any()

    @property
    def min_units(self) -> int:
        """The smallest number of queries, or clusters, with which the corrected test can find anything.

        The joint test needs no more of them than a single one, if all differences have the same sign on every query.
        """
        return min_significant_units(self.paired.level)

    def mde(self, power: float = POWER, max_difference: float | None = None) -> Detectable:
        """Return the true difference that a comparison like this one finds with a given power, as a range.

        The lower end is found if the difference is spread over the queries as the differences seen are, the upper one
        even if a few queries carry all of it. Both are computed at the level that the correction requires, so the power
        holds for any outcome of the other comparisons. Infinite if no difference could be found, or if no query
        differs. See `retrieval_metrics.statistics.detectable_difference`.

        Args:
            power: Probability of finding it.
            max_difference: The largest change of a query; None takes the largest possible difference.
        """
        reach = self.max_difference if max_difference is None else max_difference
        if reach <= 0:
            return Detectable(inf, inf)
        level, clusters = self.corrected_alpha, self.clusters
        return detectable_difference(self.values, power=power, level=level, span=reach, clusters=clusters)

    def queries_needed(self, difference: float, power: float = POWER) -> QueriesNeeded:
        """Return how many queries a comparison like this one needs to find a difference of a given size, as a range.

        Pass the smallest difference that matters to you, not the observed one: if the data cannot decide, that is
        mostly chance.

        Args:
            difference: The true mean difference to find.
            power: Probability of finding it.

        Raises:
            ValueError: If there are fewer than two queries, or the difference is 0 or larger than possible.
        """
        level, span, clusters = self.corrected_alpha, self.max_difference, self.clusters
        return queries_needed(self.values, difference, power=power, level=level, span=span, clusters=clusters)

    @cached_property
    def _units(self) -> Units:
        return Units.from_values(self.values, self.clusters)

    def largest_changes(self, n: int = 5) -> list[tuple[QueryId, float]]:
        """Return the `n` queries with the largest differences in either direction; equal queries are left out.

        Raises:
            ValueError: If `n` is not positive.
        """
        positive_integer(n, "n")
        order = np.argsort(-np.abs(self.values), kind="stable")[:n].tolist()
        return [(self.queries[at], float(self.values[at])) for at in order if self.values[at] != 0]

    def __repr__(self) -> str:
        return (
            f"<Difference {self.system} - {self.baseline} in {self.metric}: {numbers.signed(self.mean)}, "
            f"p {numbers.p_value(self.p_uncorrected)}, corrected {numbers.p_value(self.p_corrected)}, n={self.n}>"
        )


MOVED = 3
"""The number of queries named as those that moved most."""


class Differences(tuple[Difference, ...], Printed):
    """The differences of every pair of systems in every metric, as a printable tuple."""

    __slots__ = ()

    @property
    def by_pair(self) -> dict[tuple[str, str], Differences]:
        """The differences of each pair of systems, under system and baseline."""
        return {pair: Differences(those) for pair, those in group_pairs((each.pair, each) for each in self).items()}

    @property
    def leading(self) -> Difference:
        """The first whose metric is computed, or else the first."""
        main = str(choose_leading_metric([Metric.parse(each.metric) for each in self]))
        return next(each for each in self if each.metric == main)

    def table(self, *, whole: bool = False) -> Table:
        """Return the differences of a single pair of systems, a row per metric."""
        header = ["metric", "difference", numbers.level_name(1 - self[0].alpha), "p", "won/tied/lost"]
        header += ["effect", "detects"] if whole else []
        main = self.leading
        moved = ", ".join(f"{query} {numbers.signed(change)}" for query, change in main.largest_changes(MOVED))
        notes = [f"moved most in {main.metric}: {moved or 'none'}"]
        return Table(header, [_row(each, whole=whole) for each in self], notes, f"{main.system} - {main.baseline}")

    def _tables(self) -> list[Table]:
        return [those.table(whole=True) for those in self.by_pair.values()]

    def __str__(self) -> str:  # of two parents, tuple would win
        return Printed.__str__(self)

    def __repr__(self) -> str:
        return f"<{len(self)} differences>"


def _row(each: Difference, *, whole: bool) -> list[str]:
    paired = each.paired
    cells = [
        each.metric,
        numbers.signed(each.mean),
        numbers.interval(each.interval, difference=True),
        numbers.p_value(each.p_corrected),
        f"{paired.wins}/{paired.ties}/{paired.losses}",
    ]
    return [*cells, numbers.signed(paired.effect_size), numbers.size(each.mde().spread)] if whole else cells


# Choose differences by metric and systems.


class PairRecord(Protocol):
    """A difference of two systems in a metric."""

    @property
    def metric(self) -> str:
        """The name of the metric."""

    @property
    def system(self) -> str:
        """The system."""

    @property
    def baseline(self) -> str:
        """The system it is compared with."""


PairT = TypeVar("PairT", bound=PairRecord)


def select_pairs(differences: Iterable[PairT], metric: str, system: str | None, baseline: str | None) -> list[PairT]:
    """Return the differences in a metric between a system and a baseline; None stands for any."""
    return [
        each
        for each in differences
        if each.metric == metric and system in {None, each.system} and baseline in {None, each.baseline}
    ]


def require_one_pair(
    differences: Sequence[PairT], kind: str, metric: str | Metric, system: str | None, baseline: str | None
) -> PairT:
    """Return the one that fits, of `differences` of a kind; the metric is in any spelling."""
    name = match_metric_name(metric, {each.metric for each in differences})
    found = select_pairs(differences, name, system, baseline)
    if len(found) != 1:
        there = ", ".join(dict.fromkeys(f"{each.system} - {each.baseline}" for each in differences))
        metrics = ", ".join(dict.fromkeys(each.metric for each in differences))
        raise KeyError(f"{len(found)} {kind} match {name!r}, {system!r}, {baseline!r}; there are {there} in {metrics}")
    return found[0]


@dataclass(frozen=True, slots=True)
class PairedValues:
    """The values of systems in metrics, query by query.

    Attributes:
        systems: The names of the systems.
        queries: Every query that any system has, in the order of the first system that has it.
        metrics: The place of each metric.
        values: Shape (systems, queries, metrics); NaN where a system has no value for a query.
        labels: Shape (queries,), the cluster of each query; None if queries are independent.
    """

    systems: tuple[str, ...]
    queries: Sequence[QueryId]
    metrics: Mapping[Metric, int]
    values: FloatArray
    labels: IntArray | None

    @classmethod
    def from_scores(
        cls, scores: Mapping[str, Scores], metrics: Sequence[Metric], clusters: Clusters | None
    ) -> PairedValues:
        """Align the scores of systems."""
        first, *others = scores.values()
        queries: Sequence[QueryId] = first.queries
        if not all(other.queries == queries for other in others):
            queries = list(dict.fromkeys(query for one in scores.values() for query in one.queries))
        place = {query: at for at, query in enumerate(queries)}
        values = np.full((len(scores), len(queries), len(metrics)), np.nan)
        for of_system, one in zip(values, scores.values(), strict=True):
            rows = [place[query] for query in one.queries]
            of_system[rows] = np.column_stack([one.column(metric) for metric in metrics])
        labels = None if clusters is None else clusters.select(queries).labels
        return cls(tuple(scores), queries, {metric: at for at, metric in enumerate(metrics)}, values, labels)

    def shared_queries(self, rows: IntArray) -> Sequence[QueryId]:
        """Return the queries at some places."""
        return self.queries if len(rows) == len(self.queries) else [self.queries[row] for row in rows.tolist()]

    def shared_labels(self, rows: IntArray) -> IntArray | None:
        """Return the clusters of the queries at some places."""
        return None if self.labels is None else self.labels[rows]

    def shared(self, metric: Metric, systems: Sequence[str] | None = None) -> tuple[IntArray, FloatArray]:
        """Return the places of the queries that have a value in all systems, and the values (places, systems)."""
        chosen = slice(None) if systems is None else [self.systems.index(name) for name in systems]
        values = self.values[chosen, :, self.metrics[metric]].T
        rows = np.flatnonzero(~np.isnan(values).any(axis=1))
        return rows, values[rows]
