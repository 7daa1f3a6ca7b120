"""Compute the bounds of a comparison over all grades of the unjudged documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import integer
from retrieval_metrics.comparison.difference_bounds import UnjudgedBounds
from retrieval_metrics.comparison.grade_allocations import BoundedValue, ValueRange, bound_ndcg
from retrieval_metrics.comparison.partly_judged import (
    PURPOSE,
    QueryCompletions,
    find_partly_judged_queries,
    score_completions,
)
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.statistics import Interval, paired_differences
from retrieval_metrics.statistics.paired import subtract_exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.paired_values import PairedValues
    from retrieval_metrics.comparison.partly_judged import PartlyJudgedQuery
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# The largest number of ways to grade the unjudged documents of a query that are tried.
MAX_COMPLETIONS_OF_A_QUERY = 2**12
# The largest number that is tried for all queries and depths together, which takes about ten seconds for two systems.
# Queries with the fewest ways come first.
MAX_COMPLETIONS = 2**17
# What is known of a query with too many completions: the range of a bounded metric, and that of a difference in it.
VALUE_RANGE = ValueRange(0.0, 1.0)
DIFFERENCE_RANGE = ValueRange(-1.0, 1.0)


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
    first_scores = next(iter(scores.values()))
    _require_boundable(metrics, first_scores)
    n_unretrieved_by_query = _read_unretrieved_relevant(unretrieved_relevant, first_scores.queries)
    qrels = first_scores.require_origin(PURPOSE).judged.qrels
    known_grades = {0.0, *qrels.document_grade.tolist()}
    if all(metric.definition.higher_is_better for metric in metrics):  # none looks for forbidden documents
        known_grades = {grade for grade in known_grades if grade >= 0}
    completions_by_metric = _score_completions_by_metric(scores, metrics, known_grades, n_unretrieved_by_query)
    means = {}
    for metric in metrics:
        means[str(metric)] = completions_by_metric[str(metric)].bound_means(paired_values, metric)
    bounded = _bound_differences(completions_by_metric, differences, resamples, seed)
    return UnjudgedBounds(
        depths={str(metric): _cutoff_depth(metric) for metric in metrics},
        grades=tuple(sorted(known_grades)),
        unretrieved_relevant=max(n_unretrieved_by_query.values(), default=0),
        means=means,
        differences=bounded.intervals,
        p_values=bounded.p_values,
        queries={name: completions.n_queries for name, completions in completions_by_metric.items()},
        outer={name: completions.n_outer(name) for name, completions in completions_by_metric.items()},
    )


def _cutoff_depth(metric: Metric) -> int | None:
    """Return down to which rank documents count; None if there is no such rank."""
    return metric.k if isinstance(metric.k, int) else None


def _score_completions_by_metric(
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    known_grades: set[float],
    n_unretrieved_by_query: Mapping[QueryId, int],
) -> dict[str, _CompletionValues]:
    """Score every completion of the queries, by metric; metrics of one depth share their completions."""
    qrels = next(iter(scores.values())).require_origin(PURPOSE).judged.qrels
    metrics_by_depth: dict[int | None, list[Metric]] = {}
    for metric in metrics:
        metrics_by_depth.setdefault(_cutoff_depth(metric), []).append(metric)
    completions_by_metric: dict[str, _CompletionValues] = {}
    for depth, metrics_of_depth in metrics_by_depth.items():
        # A forbidden document is another case than one that is not relevant only if a metric looks for it.
        ignores_forbidden = all(metric.definition.higher_is_better for metric in metrics_of_depth)
        grades = tuple(sorted(grade for grade in known_grades if grade >= 0 or not ignores_forbidden))
        partly_judged_queries = find_partly_judged_queries(scores, depth, n_unretrieved_by_query)
        max_completions = MAX_COMPLETIONS // len(metrics_by_depth)
        completions = _score_completions_within_limit(
            scores, metrics_of_depth, partly_judged_queries, grades, max_completions, qrels.document_kind
        )
        completions_by_metric |= dict.fromkeys(map(str, metrics_of_depth), completions)
    return completions_by_metric


class _BoundedDifferences(NamedTuple):
    """The bounds of the mean of each difference, by metric and pair, and its p values at the two bounds."""

    intervals: dict[tuple[str, str, str], Interval]
    p_values: dict[tuple[str, str, str], tuple[float, float]]


def _bound_differences(
    completions_by_metric: Mapping[str, _CompletionValues],
    differences: Sequence[Difference],
    resamples: int,
    seed: int,
) -> _BoundedDifferences:
    """Return the smallest and the largest mean of each difference, and how significant it would be there."""
    bounds_of_differences = []
    for difference in differences:
        bounds_of_differences.append(completions_by_metric[difference.metric].bound_difference(difference))
    lowest_values = [bounds.low for bounds in bounds_of_differences]
    highest_values = [bounds.high for bounds in bounds_of_differences]
    p_values_if_low = _test_bounded_differences(differences, lowest_values, resamples, seed)
    p_values_if_high = _test_bounded_differences(differences, highest_values, resamples, seed)
    bounded = _BoundedDifferences({}, {})
    for index, difference in enumerate(differences):
        key = (difference.metric, *difference.pair)
        bounded.intervals[key] = bounds_of_differences[index].mean()
        bounded.p_values[key] = (p_values_if_low[index], p_values_if_high[index])
    return bounded


def _require_boundable(metrics: Sequence[Metric], scores: Scores) -> None:
    for metric in metrics:
        if metric.definition.is_given:
            raise ValueError(
                f"{metric} has given values, so unjudged='bounds' has nothing to grade; leave out {metric}"
            )
        if not metric.definition.bounded:
            raise ValueError(f"{metric} has no upper bound, which unjudged='bounds' needs; leave out {metric}")
    if scores.rules.unjudged == "condensed":
        raise ValueError("unjudged='bounds' grades the documents that unjudged='condensed' removes; choose one")


def _read_unretrieved_relevant(
    unretrieved_relevant: int | Mapping[QueryId, int] | None, queries: Sequence[QueryId]
) -> dict[QueryId, int]:
    """Return how many relevant documents nobody retrieved, for the queries that may have any."""
    n_by_query: Mapping[QueryId, int]
    if isinstance(unretrieved_relevant, Mapping):
        n_by_query = unretrieved_relevant
    elif unretrieved_relevant is None:
        n_by_query = dict.fromkeys(queries, 0)
    else:
        n_by_query = dict.fromkeys(queries, unretrieved_relevant)
    unknown_queries = n_by_query.keys() - set(queries)
    if unknown_queries:
        raise ValueError(
            f"unretrieved_relevant has a number for {min(unknown_queries, key=str)!r}, which was not evaluated"
        )
    for query, number in n_by_query.items():
        if integer(number, "unretrieved_relevant") < 0:
            raise ValueError(f"unretrieved_relevant must be 0 or more relevant documents; got {number} for {query!r}")
    return {query: number for query, number in n_by_query.items() if number}


@dataclass(frozen=True, slots=True)
class _QueryBounds:
    """The smallest and the largest value of each query."""

    low: FloatArray
    high: FloatArray

    def mean(self) -> Interval:
        """Return the smallest and the largest mean; NaN without queries."""
        return Interval(_mean(self.low), _mean(self.high))


@dataclass(frozen=True, slots=True)
class _CompletionValues:
    """The values of every completion of the queries with documents of unknown grade.

    Attributes:
        metrics: The metrics, which have one depth.
        values: The values of each system, shape (completions, metrics).
        starts: Shape (queries tried,), the first completion of each.
        position_by_query: The position of each query among those tried.
        skipped: The queries with too many completions to try.
        exact_ranges: By metric, the ranges of skipped queries that are known exactly; see `bound_ndcg`.
    """

    metrics: list[str]
    values: Mapping[str, FloatArray]
    starts: IntArray
    position_by_query: Mapping[QueryId, int]
    skipped: set[QueryId]
    exact_ranges: Mapping[str, Mapping[BoundedValue, ValueRange]]

    @property
    def n_queries(self) -> int:
        """The number of queries with documents of unknown grade."""
        return len(self.position_by_query) + len(self.skipped)

    def n_outer(self, metric: str) -> int:
        """Return the number of queries of which only outer bounds are known."""
        exact_queries = {bounded.query for bounded in self.exact_ranges.get(metric, ())}
        return len(self.skipped - exact_queries)

    def bound_means(self, paired_values: PairedValues, metric: Metric) -> dict[str, Interval]:
        """Return the smallest and the largest mean of each system, over the queries for which all have a value."""
        name = str(metric)
        column = self.metrics.index(name)
        shared = paired_values.shared(metric)
        queries = paired_values.shared_queries(shared.rows)
        means = {}
        for system, judged_values in zip(paired_values.systems, shared.values.T, strict=True):
            completed_values = self.values[system][:, column]
            means[system] = self._bound_queries(queries, judged_values, completed_values, name, (system,)).mean()
        return means

    def bound_difference(self, difference: Difference) -> _QueryBounds:
        """Return the bounds of the difference of each query; a document has one grade in both systems."""
        metric = difference.metric
        column = self.metrics.index(metric)
        system, baseline = difference.pair
        completed_values = subtract_exactly(self.values[system][:, column], self.values[baseline][:, column])
        return self._bound_queries(difference.queries, difference.values, completed_values, metric, difference.pair)

    def _bound_queries(
        self,
        queries: Sequence[QueryId],
        judged_values: FloatArray,
        completed_values: FloatArray,
        metric: str,
        systems: tuple[str, ...],
    ) -> _QueryBounds:
        """Return the smallest and the largest value of each query.

        Args:
            queries: The queries.
            judged_values: Shape (queries,), their values as judged.
            completed_values: Shape (completions,), the value of each completion.
            metric: The metric.
            systems: The system whose value is bounded, or the two whose difference is.
        """
        low = judged_values.copy()
        high = judged_values.copy()
        exact_ranges = self.exact_ranges.get(metric, {})
        lowest = highest = np.empty(0)
        # Without any completion, there is nothing to reduce.
        if len(self.starts):
            # fmin and fmax ignore NaN, the value of a completion for which the metric is undefined.
            lowest = np.fmin.reduceat(completed_values, self.starts)
            highest = np.fmax.reduceat(completed_values, self.starts)
        outer_range = VALUE_RANGE if len(systems) == 1 else DIFFERENCE_RANGE
        for row, query in enumerate(queries):
            if query in self.position_by_query:
                position = self.position_by_query[query]
                low[row] = lowest[position]
                high[row] = highest[position]
            elif query in self.skipped:
                value_range = exact_ranges.get(BoundedValue(query, systems), outer_range)
                low[row] = value_range.low
                high[row] = value_range.high
        return _QueryBounds(low, high)


def _score_completions_within_limit(
    scores: Mapping[str, Scores],
    metrics: list[Metric],
    partly_judged_queries: Sequence[PartlyJudgedQuery],
    grades: tuple[float, ...],
    max_completions: int,
    document_kind: type | None,
) -> _CompletionValues:
    """Score every completion of the queries with the fewest, up to a number of completions; skip the others."""
    by_completions = sorted(partly_judged_queries, key=lambda query: _count_completions(query, grades))
    tried = _select_tried(by_completions, grades, max_completions)
    skipped = by_completions[len(tried) :]
    completions_by_query = [
        QueryCompletions(partly_judged, _list_completions(partly_judged, grades, document_kind))
        for partly_judged in tried
    ]
    counts = [len(query_completions.completions) for query_completions in completions_by_query]
    has_standard_rules = all(system_scores.rules == STANDARD for system_scores in scores.values())
    exact_ranges = {}
    for metric in metrics:
        if has_standard_rules and metric.name == "ndcg" and not metric.parameters:
            exact_ranges[str(metric)] = bound_ndcg(scores, metric, skipped, grades)
    return _CompletionValues(
        metrics=[str(metric) for metric in metrics],
        values=score_completions(scores, metrics, completions_by_query),
        starts=np.cumsum([0, *counts], dtype=np.int64)[:-1],
        position_by_query={partly_judged.query: position for position, partly_judged in enumerate(tried)},
        skipped={partly_judged.query for partly_judged in skipped},
        exact_ranges=exact_ranges,
    )


def _select_tried(
    by_completions: Sequence[PartlyJudgedQuery], grades: tuple[float, ...], max_completions: int
) -> list[PartlyJudgedQuery]:
    """Return the queries to try: from the one with the fewest completions on, as long as there are not too many."""
    tried: list[PartlyJudgedQuery] = []
    n_left = max_completions
    for partly_judged in by_completions:
        n_completions = _count_completions(partly_judged, grades)
        n_left -= n_completions
        if n_completions > MAX_COMPLETIONS_OF_A_QUERY or n_left < 0:
            break
        tried.append(partly_judged)
    return tried


def _count_completions(partly_judged: PartlyJudgedQuery, grades: tuple[float, ...]) -> int:
    """Return the number of completions of a query, or any number that is too large if it has too many."""
    # Without this limit, the power for a long ranking would be a number of many thousand digits.
    n_documents = min(len(partly_judged.documents), MAX_COMPLETIONS_OF_A_QUERY.bit_length())
    n_relevant_grades = sum(grade > 0 for grade in grades)
    n_unretrieved_completions = 1 + partly_judged.unretrieved_relevant * n_relevant_grades
    return int(len(grades) ** n_documents * n_unretrieved_completions)


def _list_completions(
    partly_judged: PartlyJudgedQuery, grades: tuple[float, ...], document_kind: type | None
) -> list[dict[Any, float]]:
    """Return every way to grade what is unknown.

    The documents that nobody retrieved all have the same grade: other combinations give no value beyond these bounds.
    """
    unretrieved = _list_unretrieved_completions(partly_judged, grades, document_kind)
    completions = []
    for chosen_grades in product(grades, repeat=len(partly_judged.documents)):
        retrieved = dict(zip(partly_judged.documents, chosen_grades, strict=True))
        completions += [{**retrieved, **further_grades} for further_grades in unretrieved]
    return completions


def _list_unretrieved_completions(
    partly_judged: PartlyJudgedQuery, grades: tuple[float, ...], document_kind: type | None
) -> list[dict[Any, float]]:
    """Return the judgments of the relevant documents that nobody retrieved, under ids that no document has."""
    n_unretrieved = partly_judged.unretrieved_relevant
    new_ids: list[Any] = [f"\0{number}" for number in range(n_unretrieved)]
    if document_kind is int:
        known_ids: list[Any] = [*partly_judged.graded, *partly_judged.documents]
        smallest_id = min(known_ids, default=0)
        new_ids = [smallest_id - 1 - number for number in range(n_unretrieved)]
    completions: list[dict[Any, float]] = [{}]
    for n_relevant in range(1, n_unretrieved + 1):
        completions += [dict.fromkeys(new_ids[:n_relevant], grade) for grade in grades if grade > 0]
    return completions


def _test_bounded_differences(
    differences: Sequence[Difference], values: Sequence[FloatArray], resamples: int, seed: int
) -> list[float]:
    """Return the corrected p values that the differences would have with these values."""
    row_by_query: dict[QueryId, int] = {}
    for difference in differences:
        for query in difference.queries:
            row_by_query.setdefault(query, len(row_by_query))
    values_by_query = np.full((len(row_by_query), len(differences)), np.nan)
    clusters = None
    if differences[0].clusters is not None:
        clusters = np.zeros(len(row_by_query), dtype=np.int64)
    for index, (difference, column) in enumerate(zip(differences, values, strict=True)):
        rows = [row_by_query[query] for query in difference.queries]
        values_by_query[rows, index] = column
        if clusters is not None and difference.clusters is not None:
            clusters[rows] = difference.clusters
    max_differences = [difference.max_difference for difference in differences]
    level = differences[0].paired.level
    tested = paired_differences(
        values_by_query, spans=max_differences, level=level, resamples=resamples, seed=seed, clusters=clusters
    )
    return tested.corrected


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")
