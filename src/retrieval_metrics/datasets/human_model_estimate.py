"""The result of `evaluate_with_labels`: means and differences estimated from people's and a model's grades."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeVar

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.comparison.pair_selection import select_pairs
from retrieval_metrics.datasets.estimate_wording import estimate_tables
from retrieval_metrics.datasets.grader_agreement import Agreement
from retrieval_metrics.evaluation.by_metric import ByMetric
from retrieval_metrics.files.saved_fields import SavedFields
from retrieval_metrics.metrics.base.metric import as_metric, match_metric_name
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.statistics import CorrectedMean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike

    import pandas as pd

    from retrieval_metrics.datasets.sample import Sample
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.reports.tables import Table
    from retrieval_metrics.statistics import Interval, RareChange

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class EstimatedMean:
    """The estimated mean of one metric for one system if people graded all queries.

    Attributes:
        metric: The metric.
        system: The system.
        estimate: The estimate with its variance.
        bounds: The least and the largest value the metric can have on these queries.
        binary: The share of queries for which the metric can only be 0 or 1.
    """

    metric: str
    system: str
    estimate: CorrectedMean
    bounds: tuple[float, float]
    binary: float

    def interval(self, level: float = 0.95) -> Interval:
        """Return the confidence interval of the mean; see `retrieval_metrics.statistics.CorrectedMean`."""
        return self.estimate.interval(level, bounds=self.bounds, binary=self.binary)


@dataclass(frozen=True, slots=True, repr=False)
class EstimatedDifference:
    """The estimated difference of two systems in one metric if people graded all queries.

    It is estimated from the differences of each query, so it may differ slightly from that of the two means.

    Attributes:
        metric: The metric.
        system: The system.
        baseline: The system it is compared with.
        estimate: The estimate with its variance.
        max_difference: The largest possible difference.
        level: The confidence level of the interval.
        comparisons: The number of differences in all.
    """

    metric: str
    system: str
    baseline: str
    estimate: CorrectedMean
    max_difference: float
    level: float
    comparisons: int

    @property
    def pair(self) -> tuple[str, str]:
        """The system and its baseline."""
        return self.system, self.baseline

    @property
    def mean(self) -> float:
        """The mean difference, system minus baseline."""
        return self.estimate.mean

    @property
    def interval(self) -> Interval:
        """The confidence interval of the mean difference, not corrected for other differences."""
        return self.estimate.difference_interval(self.level, span=self.max_difference)

    @property
    def significant(self) -> bool:
        """Whether the difference is significant: the interval excludes 0 at a level corrected for all differences.

        If the model's differences lie outside the graded ones (`extrapolates`), people's own interval must exclude it
        as well, on the same side.
        """
        corrected_level = 1 - (1 - self.level) / self.comparisons
        estimates = [self.estimate]
        if self.estimate.human_only and self.extrapolates:
            estimates.append(self.estimate.human_only)
        intervals = [estimate.difference_interval(corrected_level, span=self.max_difference) for estimate in estimates]
        return all(low > 0 for low, _ in intervals) or all(high < 0 for _, high in intervals)

    @property
    def extrapolates(self) -> bool:
        """Whether the mean rests on differences of the model that lie outside those of the graded queries."""
        return self.estimate.extrapolates(self.level)

    @property
    def human_interval(self) -> Interval:
        """The confidence interval from human grades alone."""
        return (self.estimate.human_only or self.estimate).difference_interval(self.level, span=self.max_difference)

    @property
    def rare_effect(self) -> RareChange:
        """The rare, large differences that so few labels may have missed."""
        return self.estimate.rare(self.level)

    @property
    def rare_effect_matters(self) -> bool:
        """Whether it matters: rare differences could shift the mean beyond the interval."""
        return self.rare_effect.mean_shift > self.interval.high - self.mean

    @property
    def n(self) -> int:
        """The number of queries for which human grades define it."""
        return self.estimate.labelled

    def labels_needed(self, width: float) -> float:
        """Return how many more queries people must grade for an interval of a given width, from end to end.

        In simulations, this number sufficed in 71 to 97% of samples, and in 55 to 89% in the worst setting: a simple
        random sample, and a model that errs on a few queries or reverses the scale. Infinite if all queries would not
        be enough.
        """
        return self.estimate.labels_needed(width, level=self.level)

    def __repr__(self) -> str:
        interval = numbers.format_interval(self.interval, difference=True)
        subject = f"{self.system} - {self.baseline} in {self.metric}"
        return f"<EstimatedDifference {subject}: {numbers.format_signed(self.mean)} {interval}>"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Estimate(SavedFields):
    """Means and differences of systems from a model's grades for all queries and human grades for a sample of them.

    They estimate the mean over the population of queries of which these are a random sample, as graded by people.

    Attributes:
        estimated: The mean of each metric and system.
        differences: The difference of each pair of systems in each metric.
        sample: The queries that people graded, and how they were drawn.
        level: The confidence level of the printed intervals.
        agreement: The agreement of people and the model on the documents that both graded; None if grades are not of
            documents.
        names: The names of people and the model.
        notes: Further notes, as sentences.
    """

    kind: ClassVar[str] = "estimate"
    records: ClassVar[tuple[type, ...]] = (Agreement, CorrectedMean, EstimatedDifference, EstimatedMean)

    estimated: Mapping[tuple[str, str], EstimatedMean]
    differences: tuple[EstimatedDifference, ...]
    sample: Sample
    level: float
    agreement: Agreement | None
    names: tuple[str, str]
    notes: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics."""
        return tuple(dict.fromkeys(metric for metric, _ in self.estimated))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems."""
        return tuple(dict.fromkeys(system for _, system in self.estimated))

    @cached_property
    def means(self) -> ByMetric[dict[str, float]]:
        """The corrected mean of each metric for each system."""
        return self._group_by_metric(lambda mean: mean.estimate.mean)

    @cached_property
    def human(self) -> ByMetric[dict[str, float]]:
        """The means from people's grades of the sample alone."""
        return self._group_by_metric(lambda mean: mean.estimate.human)

    @cached_property
    def model(self) -> ByMetric[dict[str, float]]:
        """The means from the model's grades of all queries alone."""
        return self._group_by_metric(lambda mean: mean.estimate.model)

    @cached_property
    def effective_n(self) -> ByMetric[dict[str, float]]:
        """How many queries people would have to grade for the same precision without the model."""
        return self._group_by_metric(lambda mean: mean.estimate.effective_n)

    @cached_property
    def ranking(self) -> ByMetric[list[str]]:
        """The systems by corrected mean, best first; `difference(...).significant` says which differ."""
        systems_by_metric = {}
        for metric, means in self.means.items():
            sign = as_metric(metric).definition.sign
            gains = {system: sign * mean for system, mean in means.items()}
            systems_by_metric[metric] = sorted(gains, key=gains.__getitem__, reverse=True)
        return ByMetric(systems_by_metric)

    def intervals(self, level: float | None = None) -> ByMetric[dict[str, Interval]]:
        """Return the confidence interval of each mean.

        Args:
            level: Confidence level, strictly between 0 and 1; None takes the level of the estimate.
        """
        if level is None:
            level = self.level
        return self._group_by_metric(lambda mean: mean.interval(level))

    def difference(
        self, metric: str | Metric, system: str | None = None, baseline: str | None = None
    ) -> EstimatedDifference:
        """Return the difference of two systems in a metric.

        Args:
            metric: The metric, in any spelling.
            system: The system; None if there is only one difference to choose from.
            baseline: The system it is compared with; None likewise.

        Raises:
            KeyError: If there is no such difference, or more than one.
        """
        name = match_metric_name(metric, self.metrics)
        differences = select_pairs(self.differences, name, system, baseline)
        if system is None or baseline is None:  # both directions of a pair match, and the printed one is meant
            differences = self._select_listed(differences) or differences
        if len(differences) != 1:
            raise UnknownKeyError(
                f"{len(differences)} differences match {name!r}, {system!r}, {baseline!r}; the systems are "
                f"{', '.join(self.systems)}, the metrics {', '.join(self.metrics)}"
            )
        return differences[0]

    def _select_listed(self, differences: Iterable[EstimatedDifference]) -> list[EstimatedDifference]:
        """Return the differences of a later system from an earlier one, which are the ones that are printed."""
        position = {system: index for index, system in enumerate(self.systems)}
        listed = []
        for difference in differences:
            if position[difference.system] > position[difference.baseline]:
                listed.append(difference)
        return listed

    def labels_needed(self, width: float, metric: str | Metric, system: str | None = None) -> float:
        """Return how many more queries people must grade for an interval of a given width.

        In simulations, this number sufficed in 71 to 97% of samples, and in 55 to 89% in the worst setting. Infinite if
        all queries would not be enough. For a difference: `difference(...).labels_needed(width)`.

        Args:
            width: The requested width, from end to end.
            metric: The metric, in any spelling.
            system: The system; None takes the one that needs the most.

        Raises:
            KeyError: If there is no such metric or system.
            ValueError: If the width is not positive.
        """
        metric_name = ByMetric({name: name for name in self.metrics})[metric]
        estimates = [
            mean.estimate
            for mean in self.estimated.values()
            if mean.metric == metric_name and system in {None, mean.system}
        ]
        if not estimates:
            raise UnknownKeyError(f"no system {system!r}; the systems are {', '.join(self.systems)}")
        return max(estimate.labels_needed(width, level=self.level) for estimate in estimates)

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write the estimate as a self-contained HTML file.

        Args:
            path: The file to write.
            title: The title.

        Raises:
            OSError: If the file cannot be written.
        """
        sections = []
        for table in self._tables():
            heading = page.section(table.title) if table.title else ""
            sections.append(heading + page.table(table._replace(title="")))
        if self.agreement is not None:
            sections.append(page.section("Agreement", *map(page.table, self.agreement.tables)))
        default_title = f"{numbers.join_names(list(self.systems))}, from human and model grades"
        page.write(path, title or default_title, sections)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per metric and system.

        The columns are `metric`, `system`, `mean`, `ci_low`, `ci_high`, `human`, `model`, `effective_n`, `n` and
        `queries`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        rows = []
        for mean in self.estimated.values():
            estimate = mean.estimate
            low, high = mean.interval(self.level)
            rows.append(
                (
                    mean.metric,
                    mean.system,
                    estimate.mean,
                    low,
                    high,
                    estimate.human,
                    estimate.model,
                    estimate.effective_n,
                    estimate.labelled,
                    estimate.queries,
                )
            )
        columns = ["metric", "system", "mean", "ci_low", "ci_high", "human", "model", "effective_n", "n", "queries"]
        return to_data_frame(rows, columns)

    def _group_by_metric(self, read_value: Callable[[EstimatedMean], Value]) -> ByMetric[dict[str, Value]]:
        values: dict[str, dict[str, Value]] = {}
        for (metric, system), mean in self.estimated.items():
            values.setdefault(metric, {})[system] = read_value(mean)
        return ByMetric(values)

    def __repr__(self) -> str:
        return f"<Estimate: {', '.join(self.systems)} in {', '.join(self.metrics)}, {len(self.sample)} queries graded>"

    def _tables(self) -> list[Table]:
        return estimate_tables(self, self._select_listed(self.differences))
