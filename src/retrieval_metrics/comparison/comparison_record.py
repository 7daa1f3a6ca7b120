"""Hold the data of a comparison, and compute its means, intervals, conclusions and ranking from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.comparison_wording import judged_coverage_note
from retrieval_metrics.comparison.conclusions import conclude
from retrieval_metrics.comparison.failed_queries import group_by_failures
from retrieval_metrics.comparison.failure_wording import format_failed_queries
from retrieval_metrics.comparison.pair_selection import require_one_pair
from retrieval_metrics.comparison.selection_bias import MetricOfSystems, estimate_selection_bias
from retrieval_metrics.evaluation.by_metric import ByMetric, ReadOnly
from retrieval_metrics.evaluation.data_warnings import system_wide_warnings
from retrieval_metrics.evaluation.summary import mean_interval_of_sums, sum_clustered_values
from retrieval_metrics.evaluation.unequal_depth import describe_unequal_depth
from retrieval_metrics.evaluation.unequal_text import describe_unequal_text
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.comparison.conclusions import Conclusions
    from retrieval_metrics.comparison.difference import Difference, Differences
    from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds
    from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
    from retrieval_metrics.comparison.paired_values import PairedValues, SharedValues
    from retrieval_metrics.comparison.selection_bias import SelectionBias
    from retrieval_metrics.comparison.system_ranking import SystemRanking
    from retrieval_metrics.evaluation.budget_coverage import BudgetUse
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ComparisonRecord:
    """Several systems on the same queries; `Comparison` says what each attribute is."""

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
        """What the comparison shows: one conclusion for each pair of systems and metric."""
        return conclude(
            self.differences,
            level=self.level,
            margin=self.margin,
            bounds=self.unjudged,
            caveats=self._caveats(),
            scores=self.scores,
            selection_bias=self._selection_bias,
        )

    def _caveats(self) -> tuple[str, ...]:
        """Return the sentences about what all conclusions depend on."""
        notes = list(system_wide_warnings(self.scores))
        for failures, systems in group_by_failures(self.scores).items():
            notes.append(format_failed_queries(failures, systems))
        for budget in self.budgets:
            notes += budget.sentences
        notes.append(judged_coverage_note(self))
        notes.append(describe_unequal_text(self.scores, self.metrics, self.budgets))
        notes.append(describe_unequal_depth(self.scores, self.metrics))
        return tuple(filter(None, notes))

    @cached_property
    def _selection_bias(self) -> tuple[SelectionBias, ...]:
        """How much the best system of each metric is overrated by being chosen, from five systems on; else empty."""
        # Metrics that are defined for the same queries share their resamples.
        metrics_by_rows: dict[bytes, list[Metric]] = {}
        for metric in self.metrics:
            if metric.definition.is_quality_metric:
                metrics_by_rows.setdefault(self._shared[str(metric)].rows.tobytes(), []).append(metric)
        bias_by_metric = {}
        for metrics in metrics_by_rows.values():
            values = []
            for metric in metrics:
                values.append(MetricOfSystems(str(metric), self._shared[str(metric)].values, metric.definition.sign))
            labels = self.paired_values.shared_labels(self._shared[str(metrics[0])].rows)
            for bias in estimate_selection_bias(values, self.systems, labels):
                bias_by_metric[bias.metric] = bias
        return tuple(bias_by_metric[str(metric)] for metric in self.metrics if str(metric) in bias_by_metric)

    @cached_property
    def means(self) -> ByMetric[dict[str, float]]:
        """The mean of each metric for each system, over the queries for which it is defined in all systems."""
        means: dict[str, dict[str, float]] = {}
        for metric_name, sums_by_system in self._sums.items():
            means[metric_name] = ReadOnly({system: sums.mean for system, sums in sums_by_system.items()})
        return ByMetric(means)

    @cached_property
    def intervals(self) -> ByMetric[dict[str, Interval]]:
        """The confidence interval of each mean, at the comparison's level."""
        intervals: dict[str, dict[str, Interval]] = {}
        for metric in self.metrics:
            name = str(metric)
            shared = self._shared[name]
            labels = self.paired_values.shared_labels(shared.rows)
            interval_by_system: dict[str, Interval] = {}
            for (system, scores), column in zip(self.scores.items(), shared.values.T, strict=True):
                # Clustered queries are not independent, so the interval needs the sums of their clusters.
                sums = self._sums[name][system] if labels is None else sum_clustered_values(column, labels)
                interval_by_system[system] = mean_interval_of_sums(scores, metric, sums, self.level)
            intervals[name] = ReadOnly(interval_by_system)
        return ByMetric(intervals)

    @cached_property
    def _sums(self) -> dict[str, dict[str, Sums]]:
        sums = {}
        for metric_name, shared in self._shared.items():
            sums[metric_name] = dict(zip(self.systems, map(Sums.from_values, shared.values.T), strict=True))
        return sums

    @cached_property
    def n(self) -> ByMetric[int]:
        """The number of queries for which each metric is defined in all systems."""
        return ByMetric({metric_name: len(shared.rows) for metric_name, shared in self._shared.items()})

    @cached_property
    def _shared(self) -> dict[str, SharedValues]:
        return {str(metric): self.paired_values.shared(metric) for metric in self.metrics}

    @cached_property
    def ranking(self) -> SystemRanking:
        """The systems by metric, best first, and which are better or worse than the baseline or the best."""
        # Imported here because comparing and printing two systems ranks none.
        from retrieval_metrics.comparison.system_ranking import rank_systems

        return rank_systems(self)

    def difference(self, metric: str | Metric, system: str | None = None, baseline: str | None = None) -> Difference:
        """Return the difference of a system from a baseline in a metric; see `Conclusions.get`."""
        return require_one_pair(self.differences, "differences", metric, system, baseline)
