"""Which of several systems is better, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Literal

from retrieval_metrics.checks import require
from retrieval_metrics.comparing.aligned import aligned
from retrieval_metrics.comparing.paired_tests import RESAMPLES, common_metrics, tested
from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.reporting.verdict import comparison_tables, verdict
from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.statistics import Interval, Sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.comparing.difference import Difference
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.presentation.tables import Table
    from retrieval_metrics.types import FloatArray, QueryTexts


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison(Printed):
    """Several systems on the same queries: their means, their differences, and what these allow to be said.

    Attributes:
        evaluations: The evaluation of each system, by name.
        metrics: The metrics.
        baseline: The system all others are compared with; None if every pair is compared.
        level: Confidence level of the intervals; 1 - level is the accepted rate of false findings.
        differences: One per metric and pair of systems.
    """

    evaluations: Mapping[str, Evaluation]
    metrics: tuple[Metric, ...]
    baseline: str | None
    level: float
    differences: tuple[Difference, ...]

    @classmethod
    def of(
        cls,
        evaluations: Mapping[str, Evaluation],
        *,
        baseline: str | None = None,
        level: float = 0.95,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> Comparison:
        """Compare evaluations that are there already; see `compare`.

        Raises:
            TypeError: If it is no mapping of names to evaluations.
            ValueError: If there are fewer than two, they have no metric in common or different rules, or there is no
                system of the baseline's name.
        """
        metrics = common_metrics(evaluations)
        differences = tested(evaluations, metrics, baseline, level=level, resamples=resamples, seed=seed)
        return cls(
            evaluations=dict(evaluations), metrics=metrics, baseline=baseline, level=level, differences=differences
        )

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.evaluations)

    @cached_property
    def table(self) -> ByMetric[dict[str, float]]:
        """The mean of each metric for each system, over the queries for which all systems are defined."""
        return ByMetric(
            {
                name: {system: Sums.of(column).mean for system, column in zip(self.systems, columns, strict=True)}
                for name, columns in self._columns.items()
            }
        )

    @cached_property
    def intervals(self) -> ByMetric[dict[str, Interval]]:
        """The confidence interval of each mean of the table, at the comparison's level."""
        found: dict[str, dict[str, Interval]] = {}
        for metric in self.metrics:
            found[str(metric)] = {}
            for (system, evaluation), column in zip(self.evaluations.items(), self._columns[str(metric)], strict=True):
                found[str(metric)][system] = evaluation.interval_of(metric, Sums.of(column), self.level)
        return ByMetric(found)

    @cached_property
    def n(self) -> ByMetric[int]:
        """For how many queries all systems are defined."""
        return ByMetric({name: columns.shape[1] for name, columns in self._columns.items()})

    @cached_property
    def _columns(self) -> dict[str, FloatArray]:
        evaluations = list(self.evaluations.values())
        return {str(metric): aligned(evaluations, metric)[1].T for metric in self.metrics}

    def difference(self, metric: str | Metric, system: str | None = None, baseline: str | None = None) -> Difference:
        """Return one of the differences.

        Args:
            metric: The metric, in any spelling.
            system: The system; None where only one difference is left to choose from.
            baseline: The system it is compared with; None likewise.

        Raises:
            KeyError: If there is no such difference, or more than one.
        """
        name = str(metric if isinstance(metric, Metric) else Metric.parse(metric))
        chosen = [
            each
            for each in self.differences
            if each.metric == name and system in {None, each.system} and baseline in {None, each.baseline}
        ]
        if len(chosen) != 1:
            there = ", ".join(dict.fromkeys(f"{each.system} - {each.baseline}" for each in self.differences))
            metrics = ", ".join(map(str, self.metrics))
            raise KeyError(
                f"{len(chosen)} differences fit {name!r}, {system!r}, {baseline!r}; there are {there} in {metrics}"
            )
        return chosen[0]

    @property
    def verdict(self) -> list[str]:
        """What the data allow to be said, one sentence or two per pair of systems."""
        return verdict(self)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with a row per difference.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        rows = [
            {
                "metric": each.metric,
                "system": each.system,
                "baseline": each.baseline,
                "n": each.n,
                "difference": each.mean,
                "low": each.interval.low,
                "high": each.interval.high,
                "p": each.p_value,
                "p_t": each.paired.p_t,
                "p_holm": each.p_holm,
                "p_tukey": nan if each.p_tukey is None else each.p_tukey,
                "effect_size": each.paired.effect_size,
                "wins": each.paired.wins,
                "ties": each.paired.ties,
                "losses": each.paired.losses,
                "detectable": each.detectable(),
                "significant": each.significant,
            }
            for each in self.differences
        ]
        frame: pd.DataFrame = require("pandas", "to_pandas").DataFrame(rows)
        return frame

    def plot(
        self,
        kind: Literal["overview", "intervals", "differences", "wins", "cutoffs"] = "overview",
        metric: str | Metric | None = None,
    ) -> Figure:
        """Return a figure; see it in a notebook, or write it with `figure.savefig(path)`.

        Args:
            kind: `intervals`: the means of every system and metric, side by side. `differences`: the difference of
                every query, sorted. `wins`: the queries won, tied and lost. `cutoffs`: the metric over k. `overview`:
                all four.
            metric: The metric of `differences` and `cutoffs`; None takes the first that the comparison has.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
            ValueError: If the kind is unknown, or the metric takes no cut-off.
            KeyError: If the metric was not compared.
        """
        require("matplotlib", "plot")
        from retrieval_metrics.reporting.figures import comparison_figure  # noqa: PLC0415  (brings matplotlib)

        return comparison_figure(self, kind, metric)

    def report(self, path: str | PathLike[str], *, title: str = "", queries: QueryTexts | None = None) -> None:
        """Write one HTML file with tables, plots and the queries that moved most; it needs nothing beside it.

        Args:
            path: Where to write it.
            title: Its heading; empty names the systems.
            queries: Query texts by query id, to be shown beside the ids.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
        """
        require("matplotlib", "report")
        from retrieval_metrics.reporting.reports import comparison_report  # noqa: PLC0415  (brings matplotlib)

        comparison_report(self, path, title, queries)

    def _tables(self) -> Sequence[Table]:
        return comparison_tables(self)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.systems)} in {', '.join(map(str, self.metrics))}>"
