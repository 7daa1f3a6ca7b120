"""The result of an evaluation: per query, means, counts; printed, in a notebook, or as a DataFrame."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from retrieval_metrics.checks import require
from retrieval_metrics.results.by_metric import ByMetric
from retrieval_metrics.results.counts import failures
from retrieval_metrics.results.summary import Summary
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.evaluation.slices import Slices
    from retrieval_metrics.evaluation.totals import Kind, Totals
    from retrieval_metrics.explaining.explanation import Explanation, Worst
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.matching.matching import Key, Matching
    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.results.tie_range import TieMeans, TieRange
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.types import FloatArray, IntArray, QueryId, QueryTexts

T = TypeVar("T")


class Evaluation(Summary):
    """The values of some metrics for some queries.

    Attributes:
        metrics: The metrics, in the order asked for.
        counts: What was missing, repeated, unjudged, tied or undefined.
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
        queries: Sequence[QueryId] | None,
        values: FloatArray | None,
        counts: Counts,
        rules: Rules,
        residuals: Mapping[Metric, FloatArray] | None = None,
        tie_range: TieRange | TieMeans | None = None,
        judged: JudgedRun | None = None,
        run: Mapping[Any, Any] | None = None,
        match: str | Key | Matching = "id",
        totals: Totals | None = None,
    ) -> None:
        super().__init__(metrics, counts, rules, tie_range)
        self._queries = None if queries is None else tuple(queries)
        self._values = values
        self._residuals = dict(residuals or {})
        self.judged = judged
        self.run = run
        self.match = match
        self._merged = totals
        self._sums: dict[tuple[Kind, Metric], Sums | None] = {}

    @property
    def queries(self) -> tuple[QueryId, ...]:
        """The ids of the queries, in the order of the judgments."""
        return self._of_each(self._queries)

    @property
    def values(self) -> FloatArray:
        """Shape (queries, metrics); NaN where a metric is undefined for a query."""
        return self._of_each(self._values)

    @property
    def holds_queries(self) -> bool:
        """Whether it holds the values of single queries, not sums alone."""
        return self._values is not None

    def _of_each(self, held: T | None) -> T:
        if held is None:
            raise ValueError(
                "this evaluation was merged from totals, which hold no query by itself; merge evaluations instead"
            )
        return held

    @property
    def errors(self) -> dict[QueryId, Exception]:
        """The exception of each query whose retriever failed; empty where the run knows of none, or is not held."""
        return {} if self.judged is None or self.run is None else failures(self.judged, self.run)

    @cached_property
    def per_query(self) -> ByMetric[dict[QueryId, float]]:
        """The value of each metric for each query, NaN where it is undefined."""
        return ByMetric(
            {
                str(metric): dict(zip(self.queries, column, strict=True))
                for metric, column in zip(self.metrics, self.values.T.tolist(), strict=True)
            }
        )

    def column(self, kind: Kind, metric: Metric) -> FloatArray | None:
        """Return one number per query, shape (queries,), NaN where there is none; None if it is not known at all.

        Args:
            kind: `value`: the metric. `ideal`: what an ideal ranking reaches, where that may be less than 1.
                `residual`: by how much unjudged and unseen documents could raise it. `lowest`, `highest` and `depends`:
                its range over all orders of equal scores, and whether they differ.
            metric: One of the metrics.
        """
        if kind == "value":
            return self.values[:, self.metrics.index(metric)]
        if kind == "residual":
            return self._residuals.get(metric)
        if kind == "ideal":
            from retrieval_metrics.scoring.ideal import ideal_values  # noqa: PLC0415  (intervals alone need it)

            ideal = None if self.judged is None else ideal_values(metric, self.judged, self.rules)
            return None if ideal is None else ideal[self.positions]
        return None if self.tie_range is None else self.tie_range.column(kind, metric)

    def totals(self) -> Totals:
        """Return what the evaluation comes down to: exact sums, which can be kept, sent and merged.

        Example:
            >>> import retrieval_metrics as rm
            >>> halves = [
            ...     rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr"),
            ...     rm.evaluate({"q2": ["d1"]}, {"q2": ["d1"]}, "mrr"),
            ... ]
            >>> rm.merge(half.totals() for half in halves).means["mrr"]  # (1/2 + 1) / 2
            0.75
        """
        from retrieval_metrics.evaluation.totals import totals_of  # noqa: PLC0415  (who merges nothing needs none)

        return totals_of(self) if self._merged is None else self._merged

    def _sums_of(self, kind: Kind, metric: Metric) -> Sums | None:
        if (kind, metric) not in self._sums:
            if self._merged is not None:
                exact = self._merged.sums.get((kind, metric))
                self._sums[kind, metric] = None if exact is None else exact.rounded()
            else:
                column = self.column(kind, metric)
                self._sums[kind, metric] = None if column is None else Sums.of(column[~np.isnan(column)])
        return self._sums[kind, metric]

    def source(self, done: str) -> tuple[JudgedRun, Mapping[Any, Any]]:
        """Return the judged run and the run that the values come from.

        Args:
            done: What they are wanted for, as in "explained".

        Raises:
            ValueError: If the evaluation was made without them.
        """
        if self.judged is None or self.run is None:
            held = "values" if self.holds_queries else "sums"
            merged = "" if self._merged is None else "; of a merged one, ask the parts"
            raise ValueError(
                f"this evaluation cannot be {done}: it holds {held} only; make it with evaluate(qrels, run){merged}"
            )
        return self.judged, self.run

    def position(self, query: QueryId) -> int:
        """Return the position of an evaluated query among the judged ones.

        Raises:
            KeyError: If the query was not evaluated.
        """
        self.source("looked into")
        if query not in self._judged_at:
            some = ", ".join(map(repr, self.queries[:3]))
            raise KeyError(f"query {query!r} was not evaluated; the evaluated queries begin with {some}")
        return self._judged_at[query]

    @cached_property
    def positions(self) -> IntArray:
        """The position of each query among the judged ones, shape (queries,)."""
        return np.fromiter(self._judged_at.values(), np.int64, len(self._judged_at))

    @cached_property
    def _judged_at(self) -> dict[QueryId, int]:
        judged = () if self.judged is None else self.judged.qrels.queries
        position = {query: at for at, query in enumerate(judged)}
        return {query: position[query] for query in self.queries}

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
        from retrieval_metrics.explaining.explanation import explain  # noqa: PLC0415  (seldom asked for)

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
        from retrieval_metrics.explaining.explanation import worst  # noqa: PLC0415  (seldom asked for)

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
        from retrieval_metrics.results.cutoffs import over_cutoffs  # noqa: PLC0415  (seldom asked for)

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
        from retrieval_metrics.reporting.figures import evaluation_figure  # noqa: PLC0415  (brings matplotlib)

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
        from retrieval_metrics.reporting.reports import evaluation_report  # noqa: PLC0415  (brings matplotlib)

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
        n_queries = self.counts["queries"] if self._queries is None else len(self._queries)
        return f"<Evaluation of {n_queries} queries: {means}>"
