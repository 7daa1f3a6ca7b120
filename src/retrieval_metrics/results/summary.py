"""What sums over the queries tell: means, their intervals, and what was met, as a table."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.results.counts import describe
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.evaluation.totals import Kind
    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.results.tie_range import TieMeans, TieRange
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.statistics import Interval


class Summary(Printed):
    """The half of an `Evaluation` that needs no single query, but their sums alone.

    Attributes:
        metrics: The metrics, in the order asked for.
        counts: What was missing, repeated, unjudged, tied or undefined.
        rules: The rule set it was computed under.
        tie_range: The smallest and the largest values over all orders of equal scores; None unless ties="expected".
    """

    def __init__(
        self, metrics: Sequence[Metric], counts: Counts, rules: Rules, tie_range: TieRange | TieMeans | None
    ) -> None:
        self.metrics = tuple(metrics)
        self.counts = counts
        self.rules = rules
        self.tie_range = tie_range
        self._intervals: dict[float, ByMetric[Interval]] = {}

    @abstractmethod
    def _sums_of(self, kind: Kind, metric: Metric) -> Sums | None:
        """Return the sums of one kind of number, or None if it is not known at all."""

    @cached_property
    def means(self) -> ByMetric[float]:
        """The mean of each metric over the queries for which it is defined; NaN if there is none.

        Sums are exact before their one rounding, so the order of the queries never shows.
        """
        return ByMetric({str(metric): self._sums_of_values(metric).mean for metric in self.metrics})

    @cached_property
    def n(self) -> ByMetric[int]:
        """For how many queries each metric is defined: what its mean divides by."""
        return ByMetric({str(metric): self._sums_of_values(metric).count for metric in self.metrics})

    @cached_property
    def residuals(self) -> ByMetric[float]:
        """For metrics that know it (rbp): by how much unjudged and unseen documents could raise the mean."""
        sums = {str(metric): self._sums_of("residual", metric) for metric in self.metrics}
        return ByMetric({name: one.mean for name, one in sums.items() if one is not None and one.count})

    def _sums_of_values(self, metric: Metric) -> Sums:
        return self._sums_of("value", metric) or Sums.of(np.empty(0))

    def intervals(self, level: float = 0.95) -> ByMetric[Interval]:
        """Return the confidence interval of each mean, computed when first asked for.

        Metrics that are 0 or 1 get the Clopper-Pearson interval, all others a Beta interval between 0 and the largest
        value that an ideal ranking reaches on these queries; see `retrieval_metrics.statistics.mean_interval` for the
        formulas, the reasons and their sources. Nothing in them is random. Of no values it is (nan, nan).

        Args:
            level: Confidence level, strictly between 0 and 1.

        Raises:
            ValueError: If the level is not between 0 and 1.

        Example:
            >>> import retrieval_metrics as rm
            >>> qrels = {query: ["d"] for query in range(10)}
            >>> run = {query: ["d" if query < 8 else "x"] for query in range(10)}  # 8 of 10 answered
            >>> low, high = rm.evaluate(qrels, run, "hit_rate@1").intervals()["hit_rate@1"]
            >>> f"0.80 [{low:.2f}, {high:.2f}]"
            '0.80 [0.44, 0.97]'
        """
        if level not in self._intervals:
            self._intervals[level] = ByMetric(
                {str(metric): self.interval_of(metric, self._sums_of_values(metric), level) for metric in self.metrics}
            )
        return self._intervals[level]

    def interval_of(self, metric: Metric, sums: Sums, level: float) -> Interval:
        """Return the interval of the mean of a metric over some of these queries, given the sums of its values."""
        from retrieval_metrics.scoring.ideal import is_binary  # noqa: PLC0415  (only means that are printed need it)
        from retrieval_metrics.statistics import interval_from_sums  # noqa: PLC0415  (as above)

        return interval_from_sums(sums, level=level, binary=is_binary(metric, sums), bounds=self.bounds(metric, sums))

    def bounds(self, metric: Metric, sums: Sums) -> tuple[float, float]:
        """Return the least and the largest value that a metric can have on these queries, given some that it has."""
        from retrieval_metrics.scoring.ideal import bounds  # noqa: PLC0415  (as above)

        ideal = self._sums_of("ideal", metric)
        return bounds(metric, sums.smallest, sums.largest, ideal.largest if ideal is not None and ideal.count else None)

    def _tables(self) -> list[Table]:
        level = 0.95
        ends = self.intervals(level)
        rows = [
            [name, f"{mean:.4f}", numbers.interval(ends[name]), str(self.n[name])] for name, mean in self.means.items()
        ]
        return [Table(["metric", "mean", numbers.level_name(level), "n"], rows, self._notes())]

    def _notes(self) -> list[str]:
        notes = describe(self.counts, self.rules)
        if self.tie_range is not None:
            notes += self.tie_range.notes()
        return notes + [
            f"{name}: residual {residual:.4f}, what unjudged and unseen documents could add to the mean"
            for name, residual in self.residuals.items()
        ]
