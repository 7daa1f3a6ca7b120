"""Hold the numbers of an evaluation: the values of every query."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from retrieval_metrics._internal.validation import UnknownKeyError
from retrieval_metrics.evaluation.by_metric import ByMetric, ReadOnly
from retrieval_metrics.evaluation.counts import find_failed_queries
from retrieval_metrics.inputs.clusters import Clusters, cluster_queries, find_clusters
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.metrics.base.value_bounds import find_two_valued_queries, ideal_values
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.data_findings import DataFindings
    from retrieval_metrics.evaluation.data_warnings import DataWarning
    from retrieval_metrics.evaluation.shifted_ids import ShiftedIds
    from retrieval_metrics.evaluation.stage_losses import JudgedStage
    from retrieval_metrics.evaluation.stage_sources import StageSources
    from retrieval_metrics.evaluation.summary import Summary
    from retrieval_metrics.evaluation.totals import Totals
    from retrieval_metrics.evaluation.unused_exclusion import UnusedExclusion
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.budget import Budget, BudgetFills
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.statistics import Interval


# The columns for each metric: see `Scores.per_query_column`.
Column: TypeAlias = Literal["value", "ideal", "residual", "lowest", "highest", "depends", "two_valued"]

COLUMNS: tuple[Column, ...] = get_args(Column)

# Two orders of equal value may differ in the last bits of a sum.
MAX_ROUNDING_DIFFERENCE = 1e-12


class Origin(NamedTuple):
    """What values were computed from.

    Attributes:
        judged: The judged run.
        run: The run, as given.
        match: What ids of the judgments were compared with.
        rounds: Over how many runs each value is a mean; of several, `run` holds one ranking for each query.
        unused_exclusion: Why `exclude=` left nothing out of the run; None if nothing looks wrong.
    """

    judged: JudgedRun
    run: Mapping[Any, Any]
    match: str | Key | Matching
    rounds: int = 1
    unused_exclusion: UnusedExclusion | None = None


@dataclass(eq=False)
class ScoresCache:
    """Results that were computed from scores; None until they are first needed.

    Attributes:
        summary: Everything that is printed.
        intervals_by_level: The intervals of the means, by confidence level.
        stages: The judged stages of the run.
        stage_sources: Which of the stages are sources.
        texts: The text of each retrieved id.
        data_warnings: What is probably wrong with the data.
        shifted_ids: How ids or rankings are shifted by one; empty if they are not.
    """

    summary: Summary | None = None
    intervals_by_level: dict[float, ByMetric[Interval]] = field(default_factory=dict)
    stages: list[JudgedStage] | None = None
    stage_sources: StageSources | None = None
    texts: Mapping[Any, str] | None = None
    data_warnings: Sequence[DataWarning] | None = None
    shifted_ids: Sequence[ShiftedIds] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores:
    """The values of metrics for queries.

    Scores are equal if they have the same numbers to the last bit, undefined ones included, for the same queries,
    metrics, rules and clusters. What they were computed from is not compared.

    Attributes:
        metrics: The metrics, in the order of the call.
        queries: The ids of the queries, in the order of the judgments.
        columns: One number per query, shape (queries,), read-only, by column and metric; see `column`.
        counts: How many queries and documents were missing, repeated, unjudged, tied or undefined.
        rules: The rule set they were computed under.
        origin: What they were computed from; None if the values came without it.
        scale: The largest grade of the judgments, which some metrics divide by; None if it is unknown.
        budget_fills: How each query fills the budgets of the metrics; needed only if `origin` is None.
        clusters: The clusters of the queries; None if queries are independent.
        findings: What was found in the data, such as ids that nearly match; needed only if `origin` is None.
    """

    metrics: tuple[Metric, ...]
    queries: tuple[QueryId, ...]
    columns: Mapping[tuple[Column, Metric], FloatArray]
    counts: Counts
    rules: Rules
    origin: Origin | None = None
    scale: float | None = None
    budget_fills: Mapping[Budget, BudgetFills] = field(default_factory=dict)
    clusters: Clusters | None = None
    findings: DataFindings | None = None

    def __post_init__(self) -> None:
        views = {key: column.view() for key, column in self.columns.items()}
        # Views, so that the flags of the caller's arrays do not change.
        for view in views.values():
            view.flags.writeable = False
        object.__setattr__(self, "columns", views)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        if self._facts() != other._facts():
            return False
        for own_column, other_column in zip(self._numbers(), other._numbers(), strict=True):
            if not _are_equal(own_column, other_column):
                return False
        return True

    def __hash__(self) -> int:
        return hash((self.metrics, self.queries))

    def _facts(self) -> tuple[Any, ...]:
        metrics = [(metric, metric.definition.bounds, metric.definition.higher_is_better) for metric in self.metrics]
        return metrics, self.queries, self.rules, self.counts

    def _numbers(self) -> Iterator[FloatArray | IntArray | None]:
        yield self.labels
        for metric in self.metrics:
            for column in COLUMNS:
                yield self.per_query_column(column, metric)

    @cached_property
    def values(self) -> FloatArray:
        """Shape (queries, metrics), read-only; NaN if a metric is undefined for a query."""
        table = np.column_stack([self.column(metric) for metric in self.metrics])
        table.flags.writeable = False
        return table

    def column(self, metric: Metric) -> FloatArray:
        """Return the values of one of the metrics, shape (queries,); NaN where it is undefined."""
        return self.columns["value", metric]

    def per_query_column(self, column: Column, metric: Metric) -> FloatArray | None:
        """Return one number per query, shape (queries,), NaN for missing ones; None if the column is unknown.

        Args:
            column: `value`: the metric. `ideal`: the value of an ideal ranking, if it can be less than 1. `residual`:
                how much unjudged and unseen documents could add. `lowest`, `highest` and `depends`: the range over all
                orders of equal scores, and whether the two differ (1 or 0). `two_valued`: whether a query can only be
                0 or 1 (1 or 0), if that depends on what it needs.
            metric: One of the metrics.
        """
        values = self.columns.get((column, metric))
        if values is not None:
            return values
        if column == "depends" and ("lowest", metric) in self.columns:
            width = self.columns["highest", metric] - self.columns["lowest", metric]
            return (width > MAX_ROUNDING_DIFFERENCE).astype(np.float64)
        if column in {"ideal", "two_valued"} and self.origin is not None:
            return self._column_from_judgments(column, metric, self.origin)
        return None

    def _column_from_judgments(self, column: Column, metric: Metric, origin: Origin) -> FloatArray | None:
        """Return what a metric can be for each query, whatever was retrieved: `ideal` or `two_valued`."""
        key = (column, metric)
        try:
            return self._judgment_columns[key]
        except KeyError:
            values = self._ideal(metric, origin) if column == "ideal" else self._two_valued(metric, origin)
            self._judgment_columns[key] = values
            return values

    @cached_property
    def _judgment_columns(self) -> dict[tuple[Column, Metric], FloatArray | None]:
        return {}

    def _ideal(self, metric: Metric, origin: Origin) -> FloatArray | None:
        ideal = ideal_values(metric, origin.judged, self.rules)
        return None if ideal is None else ideal[self.positions]

    def _two_valued(self, metric: Metric, origin: Origin) -> FloatArray | None:
        """Return the column `two_valued`, which is 0 where a mean over runs, or over orders of ties, is a fraction."""
        is_two_valued_by_position = find_two_valued_queries(metric, origin.judged, self.rules)
        if is_two_valued_by_position is None:
            return None
        two_valued = is_two_valued_by_position[self.positions].astype(np.float64)
        values = self.columns.get(("value", metric))
        if values is None:
            return two_valued
        return np.where(np.isnan(values), np.nan, two_valued * np.isin(values, (0.0, 1.0)))

    def sums(self, column: Column, metric: Metric) -> Sums | None:
        """Return the sums over the queries of one column, or None if the column is unknown."""
        key = (column, metric)
        try:
            return self._sums[key]
        except KeyError:
            values = self.per_query_column(column, metric)
            sums = None if values is None else Sums.from_defined_values(values)
            self._sums[key] = sums
            return sums

    @cached_property
    def _sums(self) -> dict[tuple[Column, Metric], Sums | None]:
        return {}

    def best(self, metric: Metric) -> FloatArray:
        """Return the best value that the metric can have for each query, shape (queries,); infinite if unknown."""
        ideal = self.per_query_column("ideal", metric)
        if ideal is not None:
            return np.where(np.isnan(ideal), np.inf, ideal)
        low, high = metric.definition.bounds
        return np.full(len(self.queries), high if metric.definition.higher_is_better else low)

    @cached_property
    def per_query(self) -> ByMetric[dict[QueryId, float]]:
        """The value of each metric for each query; NaN if it is undefined."""
        values_by_metric: dict[str, dict[QueryId, float]] = {}
        for metric in self.metrics:
            values = self.column(metric).tolist()
            values_by_metric[str(metric)] = ReadOnly(zip(self.queries, values, strict=True))
        return ByMetric(values_by_metric)

    @property
    def labels(self) -> IntArray | None:
        """The cluster of each query, shape (queries,); None if queries are independent."""
        return None if self.clusters is None else self.clusters.labels

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets of text among the metrics.

        One of calls is not among them: an agent that stops early has used its calls well.
        """
        budgets: dict[Budget, None] = {}
        for metric in self.metrics:
            if metric.k is not None and not isinstance(metric.k, int) and metric.k.unit != "calls":
                budgets[metric.k] = None
        return tuple(budgets)

    def filled(self, budget: Budget) -> BudgetFills | None:
        """Return how each query fills a budget; None if that is unknown."""
        if self.origin is None:
            return self.budget_fills.get(budget)
        judged = self.origin.judged
        return None if judged.lengths is None else judged.filled(budget).take(self.positions)

    def all_fills(self) -> dict[Budget, BudgetFills]:
        """Return how each query fills each budget of the metrics, as far as that is known."""
        fills_by_budget = {}
        for budget in self.budgets:
            fills = self.filled(budget)
            if fills is not None:
                fills_by_budget[budget] = fills
        return fills_by_budget

    def totals(self) -> Totals:
        """Return the exact sums of all columns, ignoring clusters."""
        # Imported here because most evaluations are never merged.
        from retrieval_metrics.evaluation.totals import Totals
        from retrieval_metrics.statistics.exact_sums import ExactSums

        exact = {}
        for metric in self.metrics:
            for column in COLUMNS:
                values = self.per_query_column(column, metric)
                if values is not None:
                    exact[column, metric] = ExactSums.from_values(values)
        return Totals(self.metrics, self.rules, self.counts, exact, self.scale)

    @property
    def per_query_scores(self) -> Scores:
        """These scores."""
        return self

    @cached_property
    def cache(self) -> ScoresCache:
        """Results that were computed from these scores, such as the printed summary."""
        return ScoresCache()

    def require_origin(self, purpose: str) -> Origin:
        """Return what the values were computed from.

        Args:
            purpose: What it is needed for, as in "explained".

        Raises:
            ValueError: If the values came without it.
        """
        if self.origin is None:
            raise ValueError(
                f"this evaluation cannot be {purpose}: that needs the rankings, and it holds values only. "
                "Use one from evaluate(qrels, run), or the unmerged parts"
            )
        return self.origin

    def rankings(self, purpose: str) -> OrderedRankings:
        """Return the rankings of the run in the order in which they were scored; see `require_origin`."""
        origin = self.require_origin(purpose)
        return OrderedRankings(origin.run, origin.match, self.rules.order)

    @property
    def unused_exclusion(self) -> UnusedExclusion | None:
        """Why `exclude=` left nothing out of the run; None if nothing looks wrong, or it is not known."""
        if self.origin is None:
            return None if self.findings is None else self.findings.unused_exclusion
        return self.origin.unused_exclusion

    @property
    def query_texts(self) -> QueryTexts:
        """The texts of the queries, where the judgments came with them."""
        return {} if self.origin is None else self.origin.judged.qrels.texts

    def position(self, query: QueryId) -> int:
        """Return the position of an evaluated query among the judged ones.

        Raises:
            KeyError: If the query was not evaluated.
            ValueError: If the values came without a run.
        """
        self.require_origin("inspected query by query")
        if query not in self._position_by_query:
            examples = ", ".join(map(repr, self.queries[:3]))
            raise UnknownKeyError(f"query {query!r} was not evaluated; the evaluated queries include {examples}")
        return self._position_by_query[query]

    @property
    def errors(self) -> dict[QueryId, Exception]:
        """The exception of each query whose retriever failed; none if the run has no exceptions or is not kept."""
        return {} if self.origin is None else find_failed_queries(self.origin.judged, self.origin.run)

    @property
    def failed_queries(self) -> frozenset[QueryId]:
        """The queries whose retriever failed, as far as it is known; its exceptions are not needed."""
        if self.origin is None:
            return frozenset(() if self.findings is None else self.findings.failed_queries)
        return frozenset(self.errors)

    @property
    def seconds(self) -> dict[QueryId, float]:
        """How long the retriever took for each query; nothing if the run does not say or is not kept."""
        run = None if self.origin is None else self.origin.run
        return dict(run.seconds) if isinstance(run, RetrievedRun) else {}

    @cached_property
    def positions(self) -> IntArray:
        """The position of each query among the judged ones, shape (queries,)."""
        judged_queries = self.require_origin("inspected query by query").judged.qrels.queries
        if len(judged_queries) == len(self.queries) and tuple(judged_queries) == self.queries:
            return np.arange(len(self.queries), dtype=np.int64)
        return np.fromiter(self._position_by_query.values(), np.int64, len(self._position_by_query))

    @cached_property
    def _position_by_query(self) -> dict[QueryId, int]:
        position_by_query = self.require_origin("inspected query by query").judged.qrels.place
        return {query: position_by_query[query] for query in self.queries}

    def clustered(self, by: ClustersBy) -> Scores:
        """Return the scores with the clusters of their queries.

        Args:
            by: What defines a cluster, as in `evaluate`; `"source"` takes what the judgments say, if they are known.

        Raises:
            TypeError: If `by` has another type.
            ValueError: If a mapping has none of the queries, or all queries are in one cluster.
        """
        if self.origin is not None:
            qrels = self.origin.judged.qrels
            by = find_clusters(qrels, qrels, by)
        elif by == "source":
            by = None
        if by is None:
            return self
        clusters = by if isinstance(by, Clusters) else cluster_queries(self.queries, by)
        return replace(self, clusters=clusters.select(self.queries))

    def with_values(self, values: FloatArray) -> Scores:
        """Return the scores with other values, shape (queries, metrics), without a range over orders of ties."""
        columns = columns_by_metric("value", self.metrics, values)
        for (column, metric), column_values in self.columns.items():
            if column in {"ideal", "residual"}:
                columns[column, metric] = column_values
        return replace(self, columns=columns)

    def select(self, rows: IntArray, counts: Counts) -> Scores:
        """Return the scores of some of the queries."""
        queries = tuple(self.queries[row] for row in rows.tolist())
        return replace(
            self,
            queries=queries,
            columns={key: column[rows] for key, column in self.columns.items()},
            counts=counts,
            budget_fills={budget: fills.take(rows) for budget, fills in self.budget_fills.items()},
            clusters=None if self.clusters is None else self.clusters.select(queries),
            findings=None if self.findings is None else self.findings.take(rows),
        )


def columns_by_metric(
    column: Column, metrics: Iterable[Metric], table: FloatArray
) -> dict[tuple[Column, Metric], FloatArray]:
    """Return the columns of a table, shape (queries, metrics), for `Scores`."""
    return {(column, metric): values for metric, values in zip(metrics, table.T, strict=True)}


def have_same_rankings(scores: Scores, other: Scores) -> bool:
    """Return whether two systems are known to have the same ranking for every query that both have.

    Runs in columns or files are not read for it: unless they are one object, it is not known. Of scores without their
    runs, it is known if they are for the same queries.
    """
    if scores.findings is not None and other.findings is not None and scores.queries == other.queries:
        fingerprint = scores.findings.ranked_ids_fingerprint
        return fingerprint is not None and fingerprint == other.findings.ranked_ids_fingerprint
    if scores.origin is None or other.origin is None or max(scores.origin.rounds, other.origin.rounds) > 1:
        return False
    run = scores.origin.run
    other_run = other.origin.run
    if run is other_run:
        return True
    if isinstance(run, Run) or isinstance(other_run, Run):
        return False
    rankings = scores.rankings("compared")
    other_rankings = other.rankings("compared")
    for query in set(scores.queries).intersection(other.queries):
        ids = rankings.ids(run.get(query, ()))
        if None in ids or ids != other_rankings.ids(other_run.get(query, ())):
            return False
    return True


def _are_equal(column: FloatArray | IntArray | None, other: FloatArray | IntArray | None) -> bool:
    """Return whether two columns have the same numbers, undefined ones included, or are both unknown."""
    if column is None or other is None:
        return column is other
    return np.array_equal(column, other, equal_nan=True)
