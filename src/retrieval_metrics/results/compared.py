"""The result of a comparison, as a plain record: several systems, and the difference of each pair in each metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.results.chosen import only_one
from retrieval_metrics.results.clustered import clustered_sums
from retrieval_metrics.results.conclusions import conclude
from retrieval_metrics.results.flattered import Flattered, flattered
from retrieval_metrics.results.room import said_of_room
from retrieval_metrics.results.summary import interval_of
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import FloatArray, IntArray
    from retrieval_metrics.inputs.question_clusters import Clusters
    from retrieval_metrics.results.aligned import Aligned
    from retrieval_metrics.results.conclusions import Conclusions
    from retrieval_metrics.results.difference import Difference
    from retrieval_metrics.results.differences import Differences
    from retrieval_metrics.results.ignorance import Ignorance, UnjudgedBounds
    from retrieval_metrics.results.room import BudgetUse
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.statistics import Interval


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Compared:
    """What is known of several systems on the same queries; `Comparison` says what each attribute is."""

    scores: Mapping[str, Scores]
    metrics: tuple[Metric, ...]
    aligned: Aligned
    baseline: str | None
    level: float
    differences: Differences
    margin: float | None = None
    clusters: Clusters | None = None
    ignorance: Ignorance | None = None
    unjudged: UnjudgedBounds | None = None
    notes: tuple[str, ...] = ()
    budgets: tuple[BudgetUse, ...] = ()
    drawn: tuple[int, int] | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.scores)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of systems that are compared, each as system and baseline."""
        return list(self.differences.by_pair)

    @cached_property
    def said_of_ignorance(self) -> str:
        """How unjudged documents were treated, in a sentence; empty if that alone could not explain a difference."""
        if self.ignorance is None:
            return ""
        condensed = any(one.rules.unjudged == "condensed" for one in self.scores.values())
        return self.ignorance.sentence(condensed=condensed, bounded=self.unjudged is not None)

    @cached_property
    def conclusions(self) -> Conclusions:
        """What the comparison shows: one entry for each pair of systems and metric, from which all else speaks."""
        caveats = [said for use in self.budgets for said in use.sentences]
        caveats += [self.said_of_ignorance, said_of_room(self.scores, self.metrics, self.budgets)]
        return conclude(
            self.differences,
            level=self.level,
            margin=self.margin,
            bounds=self.unjudged,
            caveats=tuple(filter(None, caveats)),
            flattered=tuple(self.flattered.values()),
        )

    @cached_property
    def flattered(self) -> ByMetric[Flattered]:
        """How much the best system of each metric is flattered by being chosen, from five systems on; else empty."""
        found = []
        for metric in self.metrics:
            if metric.definition.says_how_good:
                rows, values = self._shared[str(metric)]
                sign = metric.definition.sign
                found.append(flattered(str(metric), self.systems, values.T, sign, self.aligned.labels_at(rows)))
        return ByMetric({one.metric: one for one in found if one is not None})

    @cached_property
    def table(self) -> ByMetric[dict[str, float]]:
        """The mean of each metric for each system, over the queries for which it is defined in all systems."""
        return ByMetric({name: {system: one.mean for system, one in of.items()} for name, of in self._sums.items()})

    @cached_property
    def intervals(self) -> ByMetric[dict[str, Interval]]:
        """The confidence interval of each mean of the table, at the comparison's level."""
        found: dict[str, dict[str, Interval]] = {}
        for metric, (name, sums) in zip(self.metrics, self._sums.items(), strict=True):
            rows, values = self._shared[name]
            labels = self.aligned.labels_at(rows)
            worth = sums.values() if labels is None else (clustered_sums(column, labels) for column in values.T)
            systems = zip(self.scores.items(), worth, strict=True)
            found[name] = {system: interval_of(one, metric, of, self.level) for (system, one), of in systems}
        return ByMetric(found)

    @cached_property
    def _sums(self) -> dict[str, dict[str, Sums]]:
        return {
            name: {system: Sums.of(column) for system, column in zip(self.systems, values.T, strict=True)}
            for name, (_, values) in self._shared.items()
        }

    @cached_property
    def n(self) -> ByMetric[int]:
        """The number of queries for which each metric is defined in all systems."""
        return ByMetric({name: len(rows) for name, (rows, _) in self._shared.items()})

    @cached_property
    def _shared(self) -> dict[str, tuple[IntArray, FloatArray]]:
        return {str(metric): self.aligned.shared(metric) for metric in self.metrics}

    def difference(self, metric: str | Metric, system: str | None = None, baseline: str | None = None) -> Difference:
        """Return one of the differences.

        Args:
            metric: The metric, in any spelling.
            system: The system; None if there is only one difference to choose from.
            baseline: The system it is compared with; None likewise.

        Raises:
            KeyError: If there is no such difference, or more than one.
        """
        return only_one(self.differences, "differences", metric, system, baseline)
