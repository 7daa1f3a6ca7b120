"""The numbers of an evaluation, whether those of single queries are kept (`Scores`) or only their sums (`Totals`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import IntArray, QueryId
    from retrieval_metrics.inputs.question_clusters import Clusters
    from retrieval_metrics.judging.budget import Budget, Filled
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.ranking_order import Key, Matching
    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.scoring.rules import Rules

Column: TypeAlias = Literal["value", "ideal", "residual", "lowest", "highest", "depends"]
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


class Record(ABC):
    """The numbers of an evaluation.

    What only single queries tell is unknown here, and known in the subclass that keeps them.

    Attributes:
        metrics: The metrics, in the order of the call.
        counts: How many queries and documents were missing, repeated, unjudged, tied or undefined.
        rules: The rule set they were computed under.
        scale: The largest grade of the judgments, which some metrics divide by; None if it is unknown.
        origin: What the values were computed from; None if that is not kept.
        clusters: The clusters of the queries; None if queries are independent.
    """

    __slots__ = ()

    metrics: tuple[Metric, ...]
    counts: Counts
    rules: Rules
    scale: float | None
    origin: Origin | None = None
    clusters: Clusters | None = None

    @abstractmethod
    def sums(self, column: Column, metric: Metric) -> Sums | None:
        """Return the sums over the queries of one column, or None if it is not known."""

    def sums_of_values(self, metric: Metric) -> Sums:
        """Return the sums of a metric over the queries for which it is defined."""
        return self.sums("value", metric) or Sums.of_nothing()

    def independent_sums(self, metric: Metric) -> Sums:
        """Return the sums of a metric over as many independent queries as those for which it is defined are worth."""
        return self.sums_of_values(metric)

    def design_effect(self, metric: Metric) -> float:  # noqa: ARG002  (the queries of totals are independent)
        """Return by how much clusters widen the variance of a mean; NaN if the queries are independent."""
        return nan

    @property
    def labels(self) -> IntArray | None:
        """The cluster of each query, shape (queries,); None if queries are independent."""
        return None if self.clusters is None else self.clusters.labels

    @property
    def errors(self) -> dict[QueryId, Exception]:
        """The exception of each query whose retriever failed; none if the run has no exceptions or is not kept."""
        return {}

    @property
    def seconds(self) -> dict[QueryId, float]:
        """How long the retriever took for each query; nothing if the run does not say or is not kept."""
        return {}

    def all_fills(self) -> dict[Budget, Filled]:
        """Return how each query fills each budget of the metrics, as far as that is known."""
        return {}
