"""The difference between two systems in one metric, and the conclusions that it allows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.presentation import numbers
from retrieval_metrics.statistics import (
    Detectable,
    Units,
    detectable_difference,
    difference_interval,
    fewest_units,
    level_of_critical,
    queries_needed,
    rare_change,
    students_critical,
)
from retrieval_metrics.statistics.paired import is_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import FloatArray, IntArray, QueryId
    from retrieval_metrics.statistics import Interval, PairedDifference, QueriesNeeded, RareChange, WithinMargin

POWER = 0.8


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
        span: The largest possible difference.
        clusters: Shape (queries,), the cluster of each query; None if queries are independent.
        margin: The result of the test against the margin; None if there is no margin.
        comparable: Whether the two systems fill the budget of the metric alike; see `Comparison.budgets`. Otherwise the
            difference says how much text was retrieved, not which system is better, and is never significant.
        looks: From how many pairs of results the two were chosen, by what they showed; the p value and the interval are
            corrected for that too.
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
    span: float
    clusters: IntArray | None = None
    margin: WithinMargin | None = None
    comparable: bool = True
    looks: int = 1
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
    def units(self) -> int:
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
    def interval_alone(self) -> Interval:
        """The confidence interval as if nothing else had been compared; never wider than `interval`."""
        if self.comparisons == 1 or self.units < fewest_units(level := self.paired.level):
            return self.interval
        units = self._units
        critical = min(students_critical(units.alike, level), self.paired.critical)
        return difference_interval(units, critical, span=self.span, level=level)

    @cached_property
    def rare(self) -> RareChange:
        """What so few queries cannot have shown: rare, large differences, none of which they happen to contain."""
        return rare_change(self._units, span=self.span, level=1 - self.alpha)

    @property
    def rare_matters(self) -> bool:
        """Whether rare differences could shift the mean beyond the interval."""
        return not self.rare.shift <= (self.interval.high - self.interval.low) / 2

    @property
    def test_level(self) -> float:
        """The p value below which this difference is significant: at least alpha divided by the comparisons."""
        alpha = 1 - self.paired.level
        if self.comparisons == 1:
            return alpha
        found = level_of_critical(self.paired.critical, self.units)
        return min(max(found, alpha / self.comparisons), alpha)

    @property
    def p_value(self) -> float:
        """The p value of the randomisation test, not corrected for the number of comparisons."""
        return self.paired.p_randomisation

    @property
    def alpha(self) -> float:
        """The accepted rate of false findings over all comparisons together: 1 - level."""
        return (1 - self.paired.level) * self.looks

    @property
    def significant(self) -> bool:
        """Whether the data can tell the two systems apart: comparable, and the corrected p value is at most alpha."""
        return self.comparable and is_found(self.p_corrected, 1 - self.alpha)

    @property
    def identical(self) -> bool:
        """Whether both systems have the same value for every query."""
        return not self.values.any()

    @property
    def fewest(self) -> int:
        """The smallest number of queries, or clusters, with which the corrected test can find anything.

        The joint test needs no more of them than a single one, if all differences have the same sign on every query.
        """
        return fewest_units(self.paired.level)

    def detectable(self, power: float = POWER, span: float | None = None) -> Detectable:
        """Return the true difference that a comparison like this one finds with a given power, as a range.

        The lower end is found if the difference is spread over the queries as the differences seen are, the upper one
        even if a few queries carry all of it. Both are computed at the level that the correction requires, so the power
        holds for any outcome of the other comparisons. Infinite if no difference could be found, or if no query
        differs. See `retrieval_metrics.statistics.detectable_difference`.

        Args:
            power: Probability of finding it.
            span: The largest change of a query; None takes the largest possible difference.
        """
        reach = self.span if span is None else span
        if reach <= 0:
            return Detectable(inf, inf)
        level, clusters = self.test_level, self.clusters
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
        level, span, clusters = self.test_level, self.span, self.clusters
        return queries_needed(self.values, difference, power=power, level=level, span=span, clusters=clusters)

    @cached_property
    def _units(self) -> Units:
        return Units.of(self.values, self.clusters)

    def moved(self, n: int = 5) -> list[tuple[QueryId, float]]:
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
            f"p {numbers.p_value(self.p_value)}, corrected {numbers.p_value(self.p_corrected)}, n={self.n}>"
        )
