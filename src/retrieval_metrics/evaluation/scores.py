"""The numbers of an evaluation: values per query, or only their exact sums."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar, cast, get_args

import numpy as np

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.evaluation.counts import find_failed_queries
from retrieval_metrics.inputs.clusters import Clusters, cluster_queries, find_clusters
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.metrics.base.definition import divides_by_largest_grade
from retrieval_metrics.metrics.base.given_metrics import require_same_properties
from retrieval_metrics.metrics.base.metric import Metric, match_metric_name
from retrieval_metrics.metrics.base.score import ideal_values, is_two_valued
from retrieval_metrics.statistics.means import ExactSums, Sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.items import Key, QueryTexts
    from retrieval_metrics.matching.budget import BudgetFills
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.ranking_order import Matching
    from retrieval_metrics.metrics.base.rules import Rules


Column: TypeAlias = Literal["value", "ideal", "residual", "lowest", "highest", "depends", "two_valued"]
"""The columns for each metric: see `Scores.column`."""

COLUMNS: tuple[Column, ...] = get_args(Column)


class Origin(NamedTuple):
    """What values were computed from.

    Attributes:
        judged: The judged run.
        run: The run, as given.
        match: What ids of the judgments were compared with.
        rounds: Over how many runs each value is a mean; of several, `run` holds one ranking for each query.
    """

    judged: JudgedRun
    run: Mapping[Any, Any]
    match: str | Key | Matching
    rounds: int = 1


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
        budget_fills: How each query fills the budgets of the metrics, if the values came without their origin, which knows.
        clusters: The clusters of the queries; None if queries are independent.
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

    def __post_init__(self) -> None:
        views = {key: column.view() for key, column in self.columns.items()}
        for view in views.values():  # so that the flags of the caller's arrays do not change
            view.flags.writeable = False
        object.__setattr__(self, "columns", views)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scores):
            return NotImplemented
        return self._facts() == other._facts() and all(
            np.array_equal(ours, theirs, equal_nan=True) if ours is not None and theirs is not None else ours is theirs
            for ours, theirs in zip(self._numbers(), other._numbers(), strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.metrics, self.queries))

    def _facts(self) -> tuple[Any, ...]:
        metrics = [(metric, metric.definition.bounds, metric.definition.higher_is_better) for metric in self.metrics]
        return metrics, self.queries, self.rules, self.counts

    def _numbers(self) -> Iterator[FloatArray | IntArray | None]:
        yield self.labels
        for metric in self.metrics:
            yield from (self.per_query_column(column, metric) for column in COLUMNS)

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
                how much unjudged and unseen documents could add. `lowest`, `highest` and `depends_on_unjudged`: the range over all
                orders of equal scores, and whether the two differ (1 or 0). `two_valued`: whether a query can only be
                0 or 1 (1 or 0), if that depends on what it needs.
            metric: One of the metrics.
        """
        known = self.columns.get((column, metric))
        if known is None and column == "ideal" and self.origin is not None:
            ideal = ideal_values(metric, self.origin.judged, self.rules)
            return None if ideal is None else ideal[self.positions]
        if known is None and column == "two_valued" and self.origin is not None:
            return self._two_valued(metric, self.origin)
        if known is None and column == "depends" and ("lowest", metric) in self.columns:
            # Two orders of equal value may differ in the last bits of a sum.
            apart = self.columns["highest", metric] - self.columns["lowest", metric] > 1e-12
            return apart.astype(np.float64)
        return known

    def _two_valued(self, metric: Metric, origin: Origin) -> FloatArray | None:
        """Return the column of that name; a mean over runs or orders of equal scores can be a fraction all the same."""
        found, values = is_two_valued(metric, origin.judged, self.rules), self.columns.get(("value", metric))
        if found is None:
            return None
        of = found[self.positions].astype(np.float64)
        return of if values is None else np.where(np.isnan(values), np.nan, of * np.isin(values, (0.0, 1.0)))

    def sums(self, column: Column, metric: Metric) -> Sums | None:
        """Return the sums over the queries of one column, or None if the column is unknown."""
        if (column, metric) not in self._sums:
            values = self.per_query_column(column, metric)
            self._sums[column, metric] = None if values is None else Sums.from_defined_values(values)
        return self._sums[column, metric]

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
        of_metrics = ((str(metric), self.column(metric).tolist()) for metric in self.metrics)
        return ByMetric({name: dict(zip(self.queries, values, strict=True)) for name, values in of_metrics})

    @property
    def labels(self) -> IntArray | None:
        """The cluster of each query, shape (queries,); None if queries are independent."""
        return None if self.clusters is None else self.clusters.labels

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets of text among the metrics.

        One of calls is not among them: an agent that stops early has used its calls well.
        """
        budgets = (metric.k for metric in self.metrics)
        return tuple(dict.fromkeys(k for k in budgets if isinstance(k, Budget) and k.unit != "calls"))

    def filled(self, budget: Budget) -> BudgetFills | None:
        """Return how each query fills a budget; None if that is unknown."""
        if self.origin is None:
            return self.budget_fills.get(budget)
        judged = self.origin.judged
        return None if judged.lengths is None else judged.filled(budget).take(self.positions)

    def all_fills(self) -> dict[Budget, BudgetFills]:
        """Return how each query fills each budget of the metrics, as far as that is known."""
        found = {budget: self.filled(budget) for budget in self.budgets}
        return {budget: filled for budget, filled in found.items() if filled is not None}

    def totals(self) -> Totals:
        """Return the exact sums of all columns, ignoring clusters."""
        columns = {
            (column, metric): self.per_query_column(column, metric) for metric in self.metrics for column in COLUMNS
        }
        exact = {key: ExactSums.from_values(column) for key, column in columns.items() if column is not None}
        return Totals(self.metrics, self.rules, self.counts, exact, self.scale)

    @property
    def per_query_scores(self) -> Scores:
        """These scores."""
        return self

    @cached_property
    def cache(self) -> dict[str, Any]:
        """A cache of values computed from the origin that need a pass over the whole run."""
        return {}

    def require_origin(self, done: str) -> Origin:
        """Return what the values were computed from.

        Args:
            done: What it is needed for, as in "explained".

        Raises:
            ValueError: If the values came without it.
        """
        if self.origin is None:
            raise ValueError(
                f"this evaluation cannot be {done}, because it holds only values"
                + python_or_cli_text("; use one from evaluate(qrels, run), or the parts of a merged one")
            )
        return self.origin

    def rankings(self, done: str) -> OrderedRankings:
        """Return the rankings of the run in the order in which they were scored; see `needed_origin`."""
        origin = self.require_origin(done)
        return OrderedRankings(origin.run, origin.match, self.rules.order)

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
        self.require_origin("looked into")
        if query not in self._judged_at:
            some = ", ".join(map(repr, self.queries[:3]))
            raise KeyError(f"query {query!r} was not evaluated; the evaluated queries begin with {some}")
        return self._judged_at[query]

    @property
    def errors(self) -> dict[QueryId, Exception]:
        """The exception of each query whose retriever failed; none if the run has no exceptions or is not kept."""
        return {} if self.origin is None else find_failed_queries(self.origin.judged, self.origin.run)

    @property
    def seconds(self) -> dict[QueryId, float]:
        """How long the retriever took for each query; nothing if the run does not say or is not kept."""
        run = None if self.origin is None else self.origin.run
        return dict(run.seconds) if isinstance(run, RetrievedRun) else {}

    @cached_property
    def positions(self) -> IntArray:
        """The position of each query among the judged ones, shape (queries,)."""
        return np.fromiter(self._judged_at.values(), np.int64, len(self._judged_at))

    @cached_property
    def _judged_at(self) -> dict[QueryId, int]:
        place = self.require_origin("looked into").judged.qrels.place
        return {query: place[query] for query in self.queries}

    def clustered(self, by: ClustersBy) -> Scores:
        """Return the scores with the clusters of their queries.

        Args:
            by: What defines a cluster, as in `evaluate`; `"source"` takes what the judgments say, if they are known.

        Raises:
            TypeError: If `by` has another type.
            ValueError: If a mapping has none of the queries, or all queries are in one cluster.
        """
        if self.origin is not None:
            truth = self.origin.judged.qrels
            by = find_clusters(truth, truth, by)
        elif by == "source":
            by = None
        if by is None:
            return self
        known = by if isinstance(by, Clusters) else cluster_queries(self.queries, by)
        return replace(self, clusters=known.select(self.queries))

    def with_values(self, values: FloatArray) -> Scores:
        """Return the scores with other values, shape (queries, metrics), of which no range over orders is known."""
        kept = {key: column for key, column in self.columns.items() if key[0] in {"ideal", "residual"}}
        return replace(self, columns=kept | columns_by_metric("value", self.metrics, values))

    def select(self, rows: IntArray, counts: Counts) -> Scores:
        """Return the scores of some of the queries."""
        queries = tuple(self.queries[at] for at in rows.tolist())
        return replace(
            self,
            queries=queries,
            columns={key: column[rows] for key, column in self.columns.items()},
            counts=counts,
            budget_fills={budget: filled.take(rows) for budget, filled in self.budget_fills.items()},
            clusters=None if self.clusters is None else self.clusters.select(queries),
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """The exact sums and the counts of an evaluation: as small for a billion queries as for ten.

    They can be pickled, saved and sent. `merge` makes an evaluation from any number of them.

    Attributes:
        metrics: The metrics.
        rules: The rule set they were computed under.
        counts: How many queries and documents were missing, repeated, unjudged, tied or undefined.
        exact: The exact sums over all queries, of each metric and of each known column.
        scale: The largest grade of the judgments, which some metrics divide by; None if it is unknown.
    """

    metrics: tuple[Metric, ...]
    rules: Rules
    counts: Counts
    exact: Mapping[tuple[Column, Metric], ExactSums]
    scale: float | None

    origin: ClassVar[None] = None
    clusters: ClassVar[None] = None
    labels: ClassVar[None] = None

    def sums(self, column: Column, metric: Metric) -> Sums | None:
        """Return the sums over the queries of one column, or None if it is not known."""
        exact = self.exact.get((column, metric))
        return None if exact is None else exact.rounded()

    def totals(self) -> Totals:
        """Return these totals."""
        return self

    @property
    def per_query_scores(self) -> NoReturn:
        """The values of single queries, which totals do not hold.

        Raises:
            ValueError: Always.
        """
        raise ValueError(
            "this evaluation was merged from totals, which hold no single queries; merge evaluations instead"
        )

    def merged_with(self, other: Totals) -> Totals:
        """Return the totals of the queries of both.

        Raises:
            ValueError: If they have different metrics or rules, or a metric divides by the largest grade and that
                differs.
        """
        if self.metrics != other.metrics:
            raise ValueError(
                f"parts must have the same metrics, got {_names(self.metrics)} and {_names(other.metrics)}"
            )
        require_same_properties(self.metrics, other.metrics)
        if self.rules != other.rules:
            raise ValueError(f"parts must be computed under the same rules, got {_difference(self.rules, other.rules)}")
        _check_scale(self, other)
        theirs = cast("dict[str, int]", other.counts)
        counts = {name: number + theirs[name] for name, number in cast("dict[str, int]", self.counts).items()}
        known = [key for key in self.exact if key in other.exact]  # what is unknown of one part is unknown of the whole
        exact = {key: ExactSums.merge([self.exact[key], other.exact[key]]) for key in known}
        scale = None if self.scale is None or other.scale is None else max(self.scale, other.scale)
        return Totals(self.metrics, self.rules, cast("Counts", counts), exact, scale)


Record: TypeAlias = Scores | Totals
"""The numbers of an evaluation, whether those of single queries are kept or only their sums."""


def columns_by_metric(
    column: Column, metrics: Iterable[Metric], table: FloatArray
) -> dict[tuple[Column, Metric], FloatArray]:
    """Return the columns of a table, shape (queries, metrics), for `Scores`."""
    return {(column, metric): values for metric, values in zip(metrics, table.T, strict=True)}


def _check_scale(one: Totals, other: Totals) -> None:
    if one.scale is None or other.scale is None or one.scale == other.scale:
        return
    for metric in one.metrics:
        if divides_by_largest_grade(metric):
            raise ValueError(
                f"{metric} divides by the largest grade, which is {one.scale:g} in one part and {other.scale:g} in "
                f"another; set it: {metric.name}(max_grade={max(one.scale, other.scale):g})"
            )


def _difference(one: Rules, other: Rules) -> str:
    """Return the first difference of two rule sets in words; their names can be equal, as ties= changes no name."""
    name = next(field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name))
    if name == "name":
        return f"{one.name} and {other.name}"
    return f"{one.name} with {name}={getattr(one, name)!r} and with {name}={getattr(other, name)!r}"


def _names(metrics: Sequence[Metric]) -> str:
    return ", ".join(map(str, metrics))


T = TypeVar("T")


class ByMetric(dict[str, T]):
    """A dict by metric names that accepts every spelling, `result["ap"]` for `result["map"]`, and cannot be changed."""

    def __init__(self, values: Mapping[str, T]) -> None:
        super().__init__(values)

    if TYPE_CHECKING:

        def __getitem__(self, metric: str | Metric, /) -> T: ...

    def __missing__(self, metric: str | Metric) -> T:
        name = match_metric_name(metric, self.keys())
        if not super().__contains__(name):
            raise KeyError(f"{name} was not computed; the computed metrics are {', '.join(self)}")
        return self[name]

    def __contains__(self, metric: object) -> bool:
        try:
            return super().__contains__(match_metric_name(metric, self.keys()))  # type: ignore[arg-type]  # parse refuses other types
        except (TypeError, ValueError):
            return False

    def get(self, metric: Any, default: Any = None) -> Any:
        """Return the value of a metric under any spelling, or the default if it was not computed."""
        return self[metric] if metric in self else default  # noqa: SIM401  (this is get)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("results cannot be changed; dict(results) returns a copy that can")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)  # otherwise a dict is filled item by item, which is refused
