"""The result of an evaluation: per query, means, counts; printed, in a notebook, or as a DataFrame."""

from __future__ import annotations

from functools import cached_property
from math import fsum, isnan, nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retrieval_metrics.evaluation.by_metric import ByMetric
from retrieval_metrics.evaluation.counts import describe, failures
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.extras import require
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.explanation import Explanation, Worst
    from retrieval_metrics.evaluation.slices import Slices
    from retrieval_metrics.evaluation.tie_range import TieRange
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.matching import Key, Matching
    from retrieval_metrics.judging.rules import Rules
    from retrieval_metrics.metrics.metric import Metric
    from retrieval_metrics.statistics import Interval
    from retrieval_metrics.types import FloatArray, QueryId, QueryTexts


class Evaluation(Printed):
    """The values of some metrics for some queries.

    Attributes:
        metrics: The metrics, in the order asked for.
        queries: The ids of the queries, in the order of the judgments.
        values: Shape (queries, metrics); NaN where a metric is undefined for a query.
        counts: What was missing, repeated, unjudged, tied or undefined.
        residuals: For metrics that know it (rbp): by how much unjudged and unseen documents could raise the mean.
        rules: The rule set it was computed under.
        tie_range: The smallest and the largest values over all orders of equal scores; None unless ties="expected".
        judged: The judged run it was computed from, and
        run: the run itself, as it was given; None where the values came without them.
        match: What ids of the judgments were compared with.

    Example:
        >>> import retrieval_metrics as rm
        >>> result = rm.evaluate(
        ...     {"q1": ["d7"], "q2": ["d1"]}, {"q1": ["d3", "d7"], "q2": ["d1"]}, ["mrr", "hit_rate@1"]
        ... )
        >>> print(result)
        metric        mean   95 % interval  n
        mrr         0.7500  [0.265, 0.955]  2
        hit_rate@1  0.5000  [0.013, 0.987]  2
        2 queries
        >>> result.per_query["rr"]["q1"]
        0.5
    """

    def __init__(
        self,
        *,
        metrics: Sequence[Metric],
        queries: Sequence[QueryId],
        values: FloatArray,
        counts: Counts,
        residuals: Mapping[Metric, float],
        rules: Rules,
        tie_range: TieRange | None = None,
        judged: JudgedRun | None = None,
        run: Mapping[Any, Any] | None = None,
        match: str | Key | Matching = "id",
    ) -> None:
        self.metrics = tuple(metrics)
        self.queries = tuple(queries)
        self.values = values
        self.counts = counts
        self.residuals = ByMetric({str(metric): value for metric, value in residuals.items()})
        self.rules = rules
        self.tie_range = tie_range
        self.judged = judged
        self.run = run
        self.match = match
        self._intervals: dict[float, ByMetric[Interval]] = {}

    @property
    def errors(self) -> dict[QueryId, Exception]:
        """The exception of each query whose retriever failed; empty where the run knows of none."""
        return {} if self.judged is None or self.run is None else failures(self.judged, self.run)

    @cached_property
    def means(self) -> ByMetric[float]:
        """The mean of each metric over the queries for which it is defined; NaN if there is none.

        Sums are exact before their one rounding, so the order of the queries never shows.
        """
        return ByMetric({name: fsum(column) / len(column) if column else nan for name, column in self._defined.items()})

    @cached_property
    def n(self) -> ByMetric[int]:
        """For how many queries each metric is defined: what its mean divides by."""
        return ByMetric({name: len(column) for name, column in self._defined.items()})

    @cached_property
    def per_query(self) -> ByMetric[dict[QueryId, float]]:
        """The value of each metric for each query, NaN where it is undefined."""
        return ByMetric(
            {
                str(metric): dict(zip(self.queries, column, strict=True))
                for metric, column in zip(self.metrics, self.values.T.tolist(), strict=True)
            }
        )

    @cached_property
    def _defined(self) -> dict[str, list[float]]:
        return {
            str(metric): [value for value in column if not isnan(value)]
            for metric, column in zip(self.metrics, self.values.T.tolist(), strict=True)
        }

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
            self._intervals[level] = ByMetric({str(metric): self._interval(metric, level) for metric in self.metrics})
        return self._intervals[level]

    def _interval(self, metric: Metric, level: float) -> Interval:
        from retrieval_metrics.evaluation.reachable import bounds  # noqa: PLC0415  (only means that are printed need it)
        from retrieval_metrics.statistics import mean_interval  # noqa: PLC0415  (as above)

        values = np.array(self._defined[str(metric)])
        limits = bounds(metric, values, self.judged, self.rules)
        return mean_interval(values, level=level, binary=metric.definition.binary, bounds=limits)

    def source(self, done: str) -> tuple[JudgedRun, Mapping[Any, Any]]:
        """Return the judged run and the run that the values come from.

        Args:
            done: What they are wanted for, as in "explained".

        Raises:
            ValueError: If the evaluation was made without them.
        """
        if self.judged is None or self.run is None:
            msg = f"this evaluation cannot be {done}: it holds values only; make it with evaluate(qrels, run)"
            raise ValueError(msg)
        return self.judged, self.run

    def position(self, query: QueryId) -> int:
        """Return the position of an evaluated query among the judged ones.

        Raises:
            KeyError: If the query was not evaluated.
        """
        if query not in self._positions:
            some = ", ".join(map(repr, self.queries[:3]))
            msg = f"query {query!r} was not evaluated; the evaluated queries begin with {some}"
            raise KeyError(msg)
        return self._positions[query]

    @cached_property
    def _positions(self) -> dict[QueryId, int]:
        evaluated = set(self.queries)
        judged = self.source("looked into")[0].qrels.queries
        return {query: at for at, query in enumerate(judged) if query in evaluated}

    def explain(self, query: QueryId, metric: str | Metric | None = None) -> Explanation:
        """Return what became of each relevant document of a query, and of each needed one that is missing, why.

        Args:
            query: The query.
            metric: The metric whose cut-off and relevance threshold count; None takes the largest cut-off there is.

        Raises:
            KeyError: If the query was not evaluated.
            ValueError: If the evaluation was made without its run.

        Example:
            >>> import retrieval_metrics as rm
            >>> print(rm.evaluate({"q1": ["d7", "d9"]}, {"q1": ["d3", "d7"]}, "ndcg@10").explain("q1"))
            q1: ndcg@10 0.3869
            document  grade  rank  what became of it
            d7            1     2  found
            d9            1     -  never retrieved; the ranking has 2 documents
        """
        from retrieval_metrics.evaluation.explanation import explain  # noqa: PLC0415  (seldom asked for)

        return explain(self, query, metric)

    def worst(self, metric: str | Metric, n: int = 10) -> Worst:
        """Return the `n` queries with the lowest values, explained, and the failures of all queries, summed.

        Args:
            metric: A metric that was computed.
            n: How many queries.

        Raises:
            KeyError: If the metric was not computed.
            ValueError: If the evaluation was made without its run, or n is not positive.
        """
        from retrieval_metrics.evaluation.explanation import worst  # noqa: PLC0415  (seldom asked for)

        return worst(self, metric, n)

    def by(self, labels: Mapping[Any, Any] | Callable[[Any], Any]) -> Slices:
        """Return the same table for every slice of the queries: short and long ones, one per topic, per customer.

        Args:
            labels: The label of each query, as a mapping or a function of the query id; queries without a label (None)
                are left out and counted.

        Raises:
            TypeError: If it is neither.
            ValueError: If no query has a label, or the evaluation was made without its run.

        Example:
            >>> import retrieval_metrics as rm
            >>> result = rm.evaluate({"q1": ["a"], "q2": ["b"]}, {"q1": ["a"], "q2": ["x"]}, "mrr")
            >>> result.by({"q1": "short", "q2": "long"})["short"].means["mrr"]
            1.0
        """
        from retrieval_metrics.evaluation.slices import slices  # noqa: PLC0415  (seldom asked for)

        return slices(self, labels)

    def over_cutoffs(self, metric: str | Metric, cutoffs: Sequence[int] | None = None) -> dict[int, float]:
        """Return the mean of a metric at each of several cut-offs k.

        Args:
            metric: A metric that takes a cut-off, whether it was computed or not; its own is ignored.
            cutoffs: The k; None takes 1, 2, 3 and so on, to twice the largest k of the metrics or the longest ranking.

        Raises:
            ValueError: If the metric takes no cut-off, or the evaluation was made without its run.
        """
        from retrieval_metrics.evaluation.cutoffs import over_cutoffs  # noqa: PLC0415  (seldom asked for)

        return over_cutoffs(self, metric, cutoffs)

    def plot(
        self, kind: Literal["overview", "intervals", "cutoffs"] = "overview", metric: str | Metric | None = None
    ) -> Figure:
        """Return a figure; see it in a notebook, or write it with `figure.savefig(path)`.

        Args:
            kind: `intervals`: the means with their intervals. `cutoffs`: the metrics over k. `overview`: both.
            metric: The metric of `cutoffs`; None takes all that have a cut-off.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
            ValueError: If the kind is unknown, or no metric takes a cut-off.
        """
        require("matplotlib", "plot")
        from retrieval_metrics.evaluation.figures import evaluation_figure  # noqa: PLC0415  (brings matplotlib)

        return evaluation_figure(self, kind, metric)

    def report(
        self, path: str | PathLike[str], *, title: str = "", queries: QueryTexts | None = None, n: int = 20
    ) -> None:
        """Write one HTML file with the table, plots and the failing queries; it needs nothing beside it.

        Args:
            path: Where to write it.
            title: Its heading.
            queries: Query texts by query id, to be shown beside the ids.
            n: How many of the worst queries to show for the first metric that was asked for.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
            ValueError: If the evaluation was made without its run.
        """
        require("matplotlib", "report")
        from retrieval_metrics.evaluation.reports import evaluation_report  # noqa: PLC0415  (brings matplotlib)

        evaluation_report(self, path, title, queries, n)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with a row per query and a column per metric.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        pandas = require("pandas", "to_pandas")
        index = pandas.Index(self.queries, name="query")
        frame: pd.DataFrame = pandas.DataFrame(self.values, index=index, columns=list(map(str, self.metrics)))
        return frame

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {mean:.4f}" for name, mean in self.means.items())
        return f"<Evaluation of {len(self.queries)} queries: {means}>"

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
