"""The bounds of a comparison over all grades of the unjudged documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import integer
from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds
from retrieval_metrics.comparison.grade_allocations import bound_ndcg
from retrieval_metrics.comparison.partly_judged import PURPOSE, open_queries, score_completions
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.statistics import Interval, paired_differences
from retrieval_metrics.statistics.paired import subtract_exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.grade_allocations import BoundKey
    from retrieval_metrics.comparison.paired_values import PairedValues
    from retrieval_metrics.comparison.partly_judged import PartlyJudgedQuery
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# The largest number of ways to grade the unjudged documents of a query that are tried.
MAX_COMPLETIONS_OF_A_QUERY = 2**12
# The largest number of all queries and depths together, those with the fewest ways first; about ten seconds for two
# systems.
MAX_COMPLETIONS = 2**17


def bound_unjudged(
    scores: Mapping[str, Scores],
    paired_values: PairedValues,
    metrics: Sequence[Metric],
    differences: Sequence[Difference],
    *,
    resamples: int,
    seed: int,
    unretrieved_relevant: int | Mapping[QueryId, int] | None = None,
) -> UnjudgedBounds:
    """Return the bounds of means and differences over all grades of the unjudged documents."""
    first = next(iter(scores.values()))
    _require_boundable(metrics, first)
    n_further = _read_unretrieved_relevant(unretrieved_relevant, first.queries)
    qrels = first.require_origin(PURPOSE).judged.qrels
    known_grades = {0.0, *qrels.document_grade.tolist()}
    depths = {metric: metric.k if isinstance(metric.k, int) else None for metric in metrics}
    completions_by_metric: dict[str, _CompletionValues] = {}
    for depth in dict.fromkeys(depths.values()):
        metrics_of_depth = [metric for metric in metrics if depths[metric] == depth]
        # What is forbidden is another grade only where a metric looks for it.
        ignores_forbidden = all(metric.definition.higher_is_better for metric in metrics_of_depth)
        grades = tuple(sorted(grade for grade in known_grades if grade >= 0 or not ignores_forbidden))
        queries = open_queries(scores, depth, n_further)
        completions = _complete(scores, metrics_of_depth, queries, grades, MAX_COMPLETIONS // len({*depths.values()}))
        completions_by_metric |= {str(metric): completions for metric in metrics_of_depth}
    ends = [completions_by_metric[difference.metric].bound_difference(difference) for difference in differences]
    keys = [(difference.metric, *difference.pair) for difference in differences]
    low_p_values = _p_values(differences, [end.low for end in ends], resamples, seed)
    high_p_values = _p_values(differences, [end.high for end in ends], resamples, seed)
    return UnjudgedBounds(
        depths={str(metric): depth for metric, depth in depths.items()},
        grades=tuple(sorted(grade for grade in known_grades if grade >= 0)),
        unretrieved_relevant=max(n_further.values(), default=0),
        means={
            str(metric): completions_by_metric[str(metric)].bound_means(paired_values, metric) for metric in metrics
        },
        differences={key: end.mean() for key, end in zip(keys, ends, strict=True)},
        p_values=dict(zip(keys, zip(low_p_values, high_p_values, strict=True), strict=True)),
        queries={name: len(values.position) + len(values.skipped) for name, values in completions_by_metric.items()},
        outer={name: values.n_outer(name) for name, values in completions_by_metric.items()},
    )


def _require_boundable(metrics: Sequence[Metric], scores: Scores) -> None:
    for metric in metrics:
        if metric.definition.is_given:
            raise ValueError(f"{metric} is given, so unjudged='bounds' has nothing to grade; leave it out")
        if not metric.definition.bounded:
            raise ValueError(f"{metric} has no upper bound, which unjudged='bounds' needs; leave it out")
    if scores.rules.unjudged == "condensed":
        raise ValueError("unjudged='bounds' grades what unjudged='condensed' takes out of the rankings; choose one")


def _read_unretrieved_relevant(
    n_further: int | Mapping[QueryId, int] | None, queries: Sequence[QueryId]
) -> dict[QueryId, int]:
    """Return how many relevant documents nobody retrieved, for the queries that may have any."""
    if isinstance(n_further, Mapping):
        n_by_query = n_further
    else:
        n_by_query = dict.fromkeys(queries, 0 if n_further is None else n_further)
    unknown_queries = n_by_query.keys() - set(queries)
    if unknown_queries:
        raise ValueError(
            f"unretrieved_relevant has a number for {min(unknown_queries, key=str)!r}, which is no query that was "
            "evaluated"
        )
    for query, number in n_by_query.items():
        if integer(number, "unretrieved_relevant") < 0:
            raise ValueError(f"unretrieved_relevant must be 0 or more relevant documents; got {number} for {query!r}")
    return {query: number for query, number in n_by_query.items() if number}


@dataclass(frozen=True, slots=True)
class _Ends:
    """The least and the greatest value of each query."""

    low: FloatArray
    high: FloatArray

    def mean(self) -> Interval:
        return Interval(_mean(self.low), _mean(self.high))


class _CompletionValues(NamedTuple):
    """The values of every completion of the queries with documents of unknown grade.

    Attributes:
        metrics: The metrics, which have one depth.
        values: The values of each system, shape (completions, metrics).
        starts: Shape (queries tried,), the first completion of each.
        position: The position of each query among those tried.
        skipped: The queries with too many completions.
        exact_bounds: Of those, by metric, the ends of the means (a pair of one system) and differences that counts of
            grades give.
    """

    metrics: list[str]
    values: Mapping[str, FloatArray]
    starts: IntArray
    position: Mapping[QueryId, int]
    skipped: set[QueryId]
    exact_bounds: Mapping[str, Mapping[BoundKey, tuple[float, float]]]

    def n_outer(self, metric: str) -> int:
        """Return the number of queries of which only outer bounds are known."""
        bounded_queries = {key[0] for key in self.exact_bounds.get(metric, ())}
        return len(self.skipped - bounded_queries)

    def bound_means(self, paired_values: PairedValues, metric: Metric) -> dict[str, Interval]:
        """Return the least and the greatest mean of each system, over the queries that all have a value for."""
        rows, columns = paired_values.shared(metric)
        queries = paired_values.shared_queries(rows)
        index = self.metrics.index(str(metric))
        means = {}
        for system, column in zip(paired_values.systems, columns.T, strict=True):
            ends = self._ends(queries, column, self.values[system][:, index], self.metrics[index], (system,))
            means[system] = ends.mean()
        return means

    def bound_difference(self, difference: Difference) -> _Ends:
        """Return the least and the greatest difference of each query; a document has one grade in both systems."""
        index = self.metrics.index(difference.metric)
        system, baseline = difference.pair
        completed = subtract_exactly(self.values[system][:, index], self.values[baseline][:, index])
        return self._ends(difference.queries, difference.values, completed, self.metrics[index], difference.pair)

    def _ends(
        self,
        queries: Sequence[QueryId],
        judged_values: FloatArray,
        completed_values: FloatArray,
        metric: str,
        systems: tuple[str, ...],
    ) -> _Ends:
        """Return the least and the greatest value of each query."""
        low = judged_values.copy()
        high = judged_values.copy()
        exact_bounds = self.exact_bounds.get(metric, {})
        # Nothing is known of a query with too many completions: [0, 1], or of a difference [-1, 1].
        outer_bounds = (1.0 - len(systems), 1.0)
        if len(self.starts):  # fmin and fmax ignore NaN, with which a completion is undefined
            least = np.fmin.reduceat(completed_values, self.starts)
            greatest = np.fmax.reduceat(completed_values, self.starts)
        for row, query in enumerate(queries):
            if query in self.position:
                low[row] = least[self.position[query]]
                high[row] = greatest[self.position[query]]
            elif query in self.skipped:
                low[row], high[row] = exact_bounds.get((query, *systems), outer_bounds)
        return _Ends(low, high)


def _complete(
    scores: Mapping[str, Scores],
    metrics: list[Metric],
    queries: Sequence[PartlyJudgedQuery],
    grades: tuple[float, ...],
    max_completions: int,
) -> _CompletionValues:
    """Score every completion of the queries with the fewest, as long as there are not too many."""
    by_completions = sorted(queries, key=lambda partly_judged: _count_completions(partly_judged, grades))
    tried: list[PartlyJudgedQuery] = []
    for partly_judged in by_completions:
        n_completions = _count_completions(partly_judged, grades)
        max_completions -= n_completions
        if n_completions > MAX_COMPLETIONS_OF_A_QUERY or max_completions < 0:
            break
        tried.append(partly_judged)
    skipped = by_completions[len(tried) :]
    completions = [(partly_judged, _list_completions(partly_judged, grades)) for partly_judged in tried]
    counts = [len(query_completions) for _, query_completions in completions]
    has_standard_rules = all(system_scores.rules == STANDARD for system_scores in scores.values())
    exact_bounds = {}
    for metric in metrics:
        if has_standard_rules and metric.name == "ndcg" and not metric.parameters:
            exact_bounds[str(metric)] = bound_ndcg(scores, metric, skipped, grades)
    return _CompletionValues(
        metrics=[str(metric) for metric in metrics],
        values=score_completions(scores, metrics, completions),
        starts=np.cumsum([0, *counts], dtype=np.int64)[:-1],
        position={partly_judged.query: position for position, partly_judged in enumerate(tried)},
        skipped={partly_judged.query for partly_judged in skipped},
        exact_bounds=exact_bounds,
    )


def _count_completions(partly_judged: PartlyJudgedQuery, grades: tuple[float, ...]) -> int:
    # bounded, because the power of a long ranking is a number of many thousand digits
    n_documents = min(len(partly_judged.documents), MAX_COMPLETIONS_OF_A_QUERY.bit_length())
    n_relevant_grades = sum(grade > 0 for grade in grades)
    return int(len(grades) ** n_documents * (1 + partly_judged.unretrieved_relevant * n_relevant_grades))


def _list_completions(partly_judged: PartlyJudgedQuery, grades: tuple[float, ...]) -> list[dict[Any, float]]:
    """Return every way to grade what is unknown; documents that nobody retrieved have one grade, which is enough."""
    unretrieved = _list_unretrieved_completions(partly_judged, grades)
    completions = []
    for chosen_grades in product(grades, repeat=len(partly_judged.documents)):
        retrieved = dict(zip(partly_judged.documents, chosen_grades, strict=True))
        completions += [{**retrieved, **further} for further in unretrieved]
    return completions


def _list_unretrieved_completions(
    partly_judged: PartlyJudgedQuery, grades: tuple[float, ...]
) -> list[dict[Any, float]]:
    """Return the judgments of the relevant documents that nobody retrieved, under ids that no document has."""
    n_further = partly_judged.unretrieved_relevant
    known_ids = [*partly_judged.graded, *partly_judged.documents]
    new_ids: list[Any] = [f"\0{number}" for number in range(n_further)]
    if isinstance(known_ids[0], int):
        smallest_id = min(known_ids)
        new_ids = [smallest_id - 1 - number for number in range(n_further)]
    completions: list[dict[Any, float]] = [{}]
    for n_relevant in range(1, n_further + 1):
        completions += [dict.fromkeys(new_ids[:n_relevant], grade) for grade in grades if grade > 0]
    return completions


def _p_values(
    differences: Sequence[Difference], values: Sequence[FloatArray], resamples: int, seed: int
) -> list[float]:
    """Return the corrected p values that the differences would have with these values."""
    row_by_query: dict[QueryId, int] = {}
    for difference in differences:
        for query in difference.queries:
            row_by_query.setdefault(query, len(row_by_query))
    table = np.full((len(row_by_query), len(differences)), np.nan)
    clusters = None
    if differences[0].clusters is not None:
        clusters = np.zeros(len(row_by_query), dtype=np.int64)
    for index, (difference, column) in enumerate(zip(differences, values, strict=True)):
        rows = [row_by_query[query] for query in difference.queries]
        table[rows, index] = column
        if clusters is not None and difference.clusters is not None:
            clusters[rows] = difference.clusters
    max_differences = [difference.max_difference for difference in differences]
    level = differences[0].paired.level
    tested = paired_differences(
        table, spans=max_differences, level=level, resamples=resamples, seed=seed, clusters=clusters
    )
    return tested.corrected


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")
