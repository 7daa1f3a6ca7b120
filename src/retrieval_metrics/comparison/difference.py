"""Define the difference of two systems in one metric, and the differences of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan
from types import MappingProxyType
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.comparison.comparison_wording import largest_changes_note
from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.metrics.base.metric import Metric, choose_leading_metric
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
from retrieval_metrics.statistics.clustered_values import MIN_UNITS_FOR_SPREAD
from retrieval_metrics.statistics.paired import is_significant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.statistics import Interval, MarginTest, PairedDifference, QueriesNeeded, RareChange

# The conventional power of a comparison.
POWER = 0.8

NO_TEXTS: QueryTexts = MappingProxyType({})

# The cell of a table where nothing is known.
UNKNOWN = "-"


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
        comparable: Whether the difference says which system is better. Otherwise it is never significant.
        obstacle: Why it does not say so, if it is not comparable: the two systems fill the budget of the metric
            unequally (`"budget"`, see `Comparison.budgets`); one retrieved nothing (`"no_results"`); the ids of one
            match no judgment on half of the queries or more and, as far as rankings are known, are unknown to the
            others (`"foreign_ids"`); ids or values that nearly match could change the conclusion (`"near_misses"`);
            those of one seem to be shifted (`"shifted_ids"`); spans are judged and the position of the items of one is
            unknown (`"unlocated"`); or one alone kept the documents that `exclude=` should leave out
            (`"unused_exclusion"`).
        selected_from: From how many pairs of results this pair was selected by its results; the p value and the
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
    obstacle: str = "budget"
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
        """The confidence interval of the mean difference: it excludes 0 if and only if the difference is significant.

        With several comparisons it is simultaneous: all of them together contain the true differences with the
        probability `level`.
        """
        return self.paired.interval

    @property
    def interval_uncorrected(self) -> Interval:
        """The confidence interval as if nothing else had been compared; never wider than `interval`."""
        level = self.paired.level
        if self.comparisons == 1 or self.n_units < min_significant_units(level):
            return self.interval
        single_critical = student_critical_value(self._units.effective_units, level)
        critical = min(single_critical, self.paired.critical_value)
        return difference_interval(self._units, critical, span=self.max_difference, level=level)

    @cached_property
    def rare_effect(self) -> RareChange:
        """The rare, large differences that so few queries can have missed altogether."""
        return rare_change(self._units, span=self.max_difference, level=1 - self.alpha)

    @property
    def rare_effect_matters(self) -> bool:
        """Whether rare differences could shift the mean beyond the interval."""
        half_width = (self.interval.high - self.interval.low) / 2
        # Negated, so that the property is true if the interval is not known: comparisons with NaN are false.
        return not self.rare_effect.mean_shift <= half_width

    @property
    def corrected_alpha(self) -> float:
        """The p value below which this difference is significant: at least alpha divided by the comparisons."""
        single_alpha = 1 - self.paired.level
        if self.comparisons == 1:
            return single_alpha
        # The joint test is never stricter than Bonferroni, and never laxer than a single test.
        joint_alpha = critical_value_to_p(self.paired.critical_value, self.n_units)
        return min(max(joint_alpha, single_alpha / self.comparisons), single_alpha)

    @property
    def p_uncorrected(self) -> float:
        """The p value as if nothing else had been compared; decide by `p_corrected`."""
        return self.paired.p_randomisation

    @property
    def alpha(self) -> float:
        """The accepted family-wise error rate over all comparisons, and all pairs of results chosen from.

        It is 1 minus the level that was asked for; the level of `interval` is higher if the two systems were chosen.
        """
        return (1 - self.paired.level) * self.selected_from

    @property
    def significant(self) -> bool:
        """Whether the difference is significant: comparable, and the corrected p value is at most alpha."""
        return self.comparable and is_significant(self.p_corrected, 1 - self.alpha)

    @property
    def measured(self) -> bool:
        """Whether the values are those of the two systems; false if ids or missing results, not systems, explain them.

        Systems that fill a budget unequally are measured, as far as their rankings go, but not comparable.
        """
        return self.comparable or self.obstacle == "budget"

    @property
    def identical(self) -> bool:
        """Whether both systems have the same value for every query."""
        return not self.values.any()

    @property
    def min_units(self) -> int:
        """The smallest number of queries, or clusters, with which the corrected test can detect any difference.

        If all differences have the same sign on every query, the joint test needs no more queries than a single test.
        """
        return min_significant_units(self.paired.level)

    def mde(self, power: float = POWER, max_difference: float | None = None) -> Detectable:
        """Return the true difference that a comparison like this one detects with a given power, as a range.

        The lower end is detected if the difference is spread over the queries as observed, the upper end even if a few
        queries carry all of it. Both are computed at the level that the correction requires, so the power holds for any
        outcome of the other comparisons. Infinite if no difference could be detected, or if no query differs. See
        `retrieval_metrics.statistics.detectable_difference`.

        Args:
            power: Probability of detecting it.
            max_difference: The largest change of a query; None takes the largest possible difference.
        """
        if power == POWER and max_difference is None:
            return self._default_mde
        return self._detectable(power, self.max_difference if max_difference is None else max_difference)

    @cached_property
    def _default_mde(self) -> Detectable:
        return self._detectable(POWER, self.max_difference)

    def _detectable(self, power: float, max_difference: float) -> Detectable:
        if max_difference <= 0:
            return Detectable(inf, inf)
        return detectable_difference(
            self.values, power=power, alpha=self.corrected_alpha, span=max_difference, clusters=self.clusters
        )

    def queries_needed(self, difference: float, power: float = POWER) -> QueriesNeeded:
        """Return how many queries a comparison like this one needs to detect a difference of a given size, as a range.

        Pass the smallest difference that matters to you, not the observed one, which in an inconclusive comparison is
        mostly chance.

        Args:
            difference: The true mean difference to detect.
            power: Probability of detecting it.

        Raises:
            ValueError: If there are fewer than two queries, or the difference is 0 or larger than possible.
        """
        return queries_needed(
            self.values,
            difference,
            power=power,
            alpha=self.corrected_alpha,
            span=self.max_difference,
            clusters=self.clusters,
        )

    @cached_property
    def _units(self) -> Units:
        return Units.from_values(self.values, self.clusters)

    def largest_changes(self, n: int = 5) -> list[tuple[QueryId, float]]:
        """Return the `n` queries with the largest differences in either direction; equal queries are left out.

        Raises:
            ValueError: If `n` is not positive.
        """
        positive_integer(n, "n")
        rows = np.argsort(-np.abs(self.values), kind="stable")[:n].tolist()
        changes = []
        for row in rows:
            change = float(self.values[row])
            if change != 0:
                changes.append((self.queries[row], change))
        return changes

    def __repr__(self) -> str:
        if not self.comparable:
            return f"<Difference {self.system} - {self.baseline} in {self.metric}: not comparable, n={self.n}>"
        if not self.n:
            return f"<Difference {self.system} - {self.baseline} in {self.metric}: no common query>"
        return (
            f"<Difference {self.system} - {self.baseline} in {self.metric}: {numbers.format_signed(self.mean)}, "
            f"p {numbers.format_p_value(self.p_corrected)} (uncorrected {numbers.format_p_value(self.p_uncorrected)}), "
            f"n={self.n}>"
        )


class Differences(tuple[Difference, ...], Printed):
    """The differences of every pair of systems in every metric, as a printable tuple."""

    __slots__ = ()

    @property
    def by_pair(self) -> dict[tuple[str, str], Differences]:
        """The differences of each pair of systems, under system and baseline."""
        differences_by_pair = group_pairs((difference.pair, difference) for difference in self)
        return {pair: Differences(differences) for pair, differences in differences_by_pair.items()}

    @property
    def leading(self) -> Difference:
        """The first difference whose metric was computed by this package, or else the first difference."""
        metric_names = [difference.metric for difference in self]
        leading_metric = choose_leading_metric([Metric.parse(name) for name in metric_names])
        return self[metric_names.index(str(leading_metric))]

    def table(self, *, whole: bool = False, texts: QueryTexts = NO_TEXTS) -> Table:
        """Return the differences of a single pair of systems, a row per metric.

        What says nothing about the systems is shown as `-`; see `difference_cells`.

        Args:
            whole: Whether to add the effect size and the minimum detectable effect.
            texts: The texts of the queries that are known, by query id.
        """
        header = ["metric", "difference", numbers.level_name(1 - self[0].alpha), "p", "W/T/L"]
        if whole:
            header += ["d_z", "MDE"]
        rows = []
        for difference in self:
            cells = [difference.metric, *difference_cells(difference)]
            if whole:
                cells += [_format_effect_size(difference), _format_mde(difference)]
            rows.append(cells)
        changes = ""
        if self.leading.measured:
            changes = largest_changes_note(self.leading, texts)
        title = f"{self.leading.system} - {self.leading.baseline}"
        return Table(header, rows, [changes] if changes else [], title)

    def _tables(self) -> list[Table]:
        return [differences.table(whole=True) for differences in self.by_pair.values()]

    def __str__(self) -> str:  # tuple is the first base, so its method would be inherited
        return Printed.__str__(self)

    def __repr__(self) -> str:
        return f"<Differences: {len(self)}>"


def if_measured(difference: Difference, number: float) -> float:
    """Return a number of a difference if both systems were measured on a query; else NaN, for it would be no result."""
    return number if difference.measured and difference.n else nan


def if_comparable(difference: Difference, number: float) -> float:
    """Return an interval end, p value or the like if the systems are comparable and share a query; else NaN."""
    return number if difference.comparable and difference.n else nan


class SupportedNumbers(TypedDict):
    """The numbers of a difference from which something can be concluded; NaN in place of the others.

    A DataFrame and a spreadsheet have them so; JSON has null where they are not finite (`null_unless_finite`).
    """

    difference: float
    ci_low: float
    ci_high: float
    p_corrected: float
    p_uncorrected: float


def supported_numbers(difference: Difference) -> SupportedNumbers:
    """Return the numbers of a difference from which something can be concluded."""
    return SupportedNumbers(
        difference=if_measured(difference, difference.mean),
        ci_low=if_comparable(difference, difference.interval.low),
        ci_high=if_comparable(difference, difference.interval.high),
        p_corrected=if_comparable(difference, difference.p_corrected),
        p_uncorrected=if_comparable(difference, difference.p_uncorrected),
    )


def null_unless_finite(number: float) -> float | None:
    """Return a number for JSON, which has neither NaN nor infinity but null."""
    return number if isfinite(number) else None


def difference_cells(difference: Difference) -> list[str]:
    """Return a difference with its interval, its p value and its wins, ties and losses, as cells of a table.

    Of systems that are not comparable, nothing is shown that would support a conclusion: no interval and no p value,
    and no difference at all unless both systems were measured. Without a common query, nothing is shown.
    """
    if not difference.n:
        return [UNKNOWN] * 4
    mean = UNKNOWN
    counts = UNKNOWN
    if difference.measured:
        paired = difference.paired
        mean = numbers.format_signed(difference.mean)
        counts = f"{paired.wins}/{paired.ties}/{paired.losses}"
    interval = UNKNOWN
    p_value = UNKNOWN
    if difference.comparable:
        interval = numbers.format_interval(difference.interval, difference=True)
        p_value = numbers.format_p_value(difference.p_corrected)
    return [mean, interval, p_value, counts]


def _format_effect_size(difference: Difference) -> str:
    """Return the effect size; `-` if a system was not measured, or the differences do not vary, so that it has none."""
    effect_size = difference.paired.effect_size
    has_no_spread = difference.n_units < MIN_UNITS_FOR_SPREAD and not difference.identical
    if not difference.n or not difference.measured or has_no_spread or not isfinite(effect_size):
        return UNKNOWN
    return numbers.format_signed(effect_size)


def _format_mde(difference: Difference) -> str:
    """Return the minimum detectable effect; `-` if it is unknown, or the systems are not comparable."""
    if not difference.comparable:
        return UNKNOWN
    return numbers.format_size(difference.mde().spread)
