"""Find what evaluations have in common: the queries with the same text and judgments, and the metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from retrieval_metrics.comparison.common_ground_wording import format_metric_mismatch, format_query_mismatch
from retrieval_metrics.evaluation.counts import count_given_scores, count_issues_of_slice
from retrieval_metrics.evaluation.data_findings import find_is_excluding
from retrieval_metrics.evaluation.score_fingerprints import (
    describe_match,
    describe_rule_differences,
    judgments_fingerprints,
    question_fingerprints,
)
from retrieval_metrics.inputs.fingerprints import judgments_fingerprint
from retrieval_metrics.metrics.base.given_metrics import require_same_properties
from retrieval_metrics.metrics.base.grade_scale import divides_by_largest_grade

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.metrics.base.metric import Metric


MismatchKind: TypeAlias = Literal["only_in_one", "worded_differently", "judged_differently"]


@dataclass(frozen=True, slots=True)
class QueryMismatch:
    """Queries of two evaluations that cannot be compared.

    Attributes:
        kind: Why: they are in one evaluation only, or their texts or judgments differ.
        systems: The only system that has them, or both systems.
        n_queries: The number of these queries.
        n_total: The number of all queries of that system, or of those that both systems have.
        example: One of these queries.
    """

    kind: MismatchKind
    systems: tuple[str, ...]
    n_queries: int
    n_total: int
    example: QueryId


@dataclass(frozen=True, slots=True)
class MetricMismatch:
    """A metric that cannot be compared.

    Attributes:
        metric: The metric.
        missing_in: The systems for which it was not computed; empty if its values depend on a largest grade that
            differs between the evaluations.
    """

    metric: str
    missing_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommonGround:
    """What some evaluations have in common.

    Attributes:
        scores: The scores of each system, on the common queries.
        metrics: The common metrics.
        n_queries: How many queries are the same in all evaluations.
        query_mismatches: The queries that were left out.
        metric_mismatches: The metrics that were left out.
    """

    scores: dict[str, Scores]
    metrics: tuple[Metric, ...]
    n_queries: int
    query_mismatches: tuple[QueryMismatch, ...]
    metric_mismatches: tuple[MetricMismatch, ...]


def find_common_ground(scores: Mapping[str, Scores], metrics: tuple[Metric, ...] | None = None) -> CommonGround:
    """Find the queries and metrics of evaluations that can be compared.

    Args:
        scores: The scores of each system.
        metrics: The metrics to compare; None takes all that the evaluations share.

    Raises:
        ValueError: If the rules differ, no query is identical in all evaluations, or they share no metric.
    """
    (first_name, first_scores), *others = scores.items()
    query_mismatches: list[QueryMismatch] = []
    common_queries = list(_judged_queries(first_scores))
    for other_name, other_scores in others:
        _require_same_rules(first_name, first_scores, other_name, other_scores)
        if _has_same_qrels(first_scores, other_scores):
            continue
        pair = _PairOfEvaluations(first_name, first_scores, other_name, other_scores)
        query_mismatches += pair.find_mismatches()
        same_queries = pair.find_same_queries()
        common_queries = [query for query in common_queries if query in same_queries]
    if not common_queries:
        notes = " ".join(map(format_query_mismatch, query_mismatches))
        raise ValueError(
            f"no query is identical in {' and '.join(map(repr, scores))}: {notes} Re-evaluate the "
            "saved rankings with the current questions: evaluate(questions, rm.load(path).scores.origin.run)"
        )
    compared_metrics = _find_common_metrics(scores, metrics)
    return CommonGround(
        scores={name: _select_queries(system_scores, common_queries) for name, system_scores in scores.items()},
        metrics=compared_metrics.common,
        n_queries=len(common_queries),
        query_mismatches=tuple(query_mismatches),
        metric_mismatches=compared_metrics.mismatches,
    )


class _PairOfEvaluations:
    """Two evaluations under the same rules, and the queries in which they differ."""

    def __init__(self, first_name: str, first_scores: Scores, other_name: str, other_scores: Scores) -> None:
        self._first_name = first_name
        self._other_name = other_name
        self._first_queries = set(_judged_queries(first_scores))
        self._other_queries = set(_judged_queries(other_scores))
        self._reworded = _find_reworded(first_scores, other_scores)
        self._rejudged = _find_rejudged(first_scores, other_scores) - self._reworded

    def find_same_queries(self) -> set[QueryId]:
        """Return the queries of the other evaluation whose text and judgments do not differ, as far as known."""
        return self._other_queries - self._reworded - self._rejudged

    def find_mismatches(self) -> list[QueryMismatch]:
        """Count the queries that are not the same in both, by the reason."""
        first_only = self._first_queries - self._other_queries
        other_only = self._other_queries - self._first_queries
        n_shared = len(self._first_queries & self._other_queries)
        both = (self._first_name, self._other_name)
        mismatches = [
            _count_mismatch("only_in_one", (self._first_name,), first_only, len(self._first_queries)),
            _count_mismatch("only_in_one", (self._other_name,), other_only, len(self._other_queries)),
            _count_mismatch("worded_differently", both, self._reworded, n_shared),
            _count_mismatch("judged_differently", both, self._rejudged, n_shared),
        ]
        return [mismatch for mismatch in mismatches if mismatch is not None]


def _count_mismatch(
    kind: MismatchKind, systems: tuple[str, ...], queries: Collection[QueryId], n_total: int
) -> QueryMismatch | None:
    """Return the record of queries that cannot be compared; None if there are none."""
    if not queries:
        return None
    return QueryMismatch(kind, systems, len(queries), n_total, example=min(queries, key=str))


def _judged_queries(scores: Scores) -> Sequence[QueryId]:
    """Return the judged queries, including those that the rules leave out because they are missing from the run."""
    qrels = _find_qrels(scores)
    return scores.queries if qrels is None else qrels.queries


def _find_qrels(scores: Scores) -> Qrels | None:
    """Return the judgments; None if the values were computed elsewhere."""
    if scores.origin is None:
        return None
    return scores.origin.judged.qrels


def _has_same_qrels(first_scores: Scores, other_scores: Scores) -> bool:
    """Return whether two systems were scored with the same judgments, as one object."""
    first_qrels = _find_qrels(first_scores)
    return first_qrels is not None and first_qrels is _find_qrels(other_scores)


def _find_reworded(first_scores: Scores, other_scores: Scores) -> set[QueryId]:
    """Return the queries whose texts are known in both and differ."""
    first_qrels = _find_qrels(first_scores)
    other_qrels = _find_qrels(other_scores)
    if first_qrels is None or other_qrels is None:
        return _find_different(question_fingerprints(first_scores), question_fingerprints(other_scores))
    shared = first_qrels.texts.keys() & other_qrels.texts.keys()
    return {query for query in shared if first_qrels.texts[query] != other_qrels.texts[query]}


def _find_different(first: Mapping[QueryId, str], other: Mapping[QueryId, str]) -> set[QueryId]:
    """Return the queries whose fingerprints are known in both and differ."""
    return {query for query in first.keys() & other.keys() if first[query] != other[query]}


def _find_rejudged(first_scores: Scores, other_scores: Scores) -> set[QueryId]:
    """Return the queries whose judgments are known in both and differ."""
    first_qrels = _find_qrels(first_scores)
    other_qrels = _find_qrels(other_scores)
    if first_qrels is None or other_qrels is None:
        return _find_different(judgments_fingerprints(first_scores), judgments_fingerprints(other_scores))
    if first_qrels.has_same_columns(other_qrels):
        return set()
    rejudged = set()
    for position, query in enumerate(first_qrels.queries):
        if query not in other_qrels.place:
            continue
        first_judgments = first_qrels.judgments(position)
        other_judgments = other_qrels.judgments(other_qrels.place[query])
        # Comparing values is fast. Fingerprints also find equal judgments whose groups are in another order.
        if first_judgments == other_judgments:
            continue
        if judgments_fingerprint(first_judgments) != judgments_fingerprint(other_judgments):
            rejudged.add(query)
    return rejudged


def _require_same_rules(first_name: str, first_scores: Scores, other_name: str, other_scores: Scores) -> None:
    differences = describe_rule_differences(first_scores.rules, other_scores.rules)
    first_match = describe_match(first_scores)
    other_match = describe_match(other_scores)
    if first_match is not None and other_match is not None and first_match != other_match:
        differences.append(f"match={first_match} vs {other_match}")
    is_known = True
    excluding_names = []
    for name, scores in ((first_name, first_scores), (other_name, other_scores)):
        is_excluding = find_is_excluding(scores)
        is_known = is_known and is_excluding is not None
        if is_excluding:
            excluding_names.append(name)
    if len(excluding_names) == 1 and is_known:
        differences.append(f"exclude= for {excluding_names[0]!r} alone")
    if not differences:
        return
    rule_names = ""
    if first_scores.rules.name != other_scores.rules.name:
        rule_names = f" ({first_scores.rules.name} vs {other_scores.rules.name})"
    raise ValueError(
        f"{first_name!r} and {other_name!r} use different rules{rule_names}: {'; '.join(differences)}. Re-evaluate one "
        "under the other's rules"
    )


@dataclass(frozen=True, slots=True)
class _ComparedMetrics:
    """The metrics that all evaluations have on one scale, and those that were left out."""

    common: tuple[Metric, ...]
    mismatches: tuple[MetricMismatch, ...]


def _find_common_metrics(scores: Mapping[str, Scores], metrics: tuple[Metric, ...] | None) -> _ComparedMetrics:
    """Find which of the metrics can be compared; None stands for all metrics of any evaluation."""
    first_metrics = next(iter(scores.values())).metrics
    all_metrics: dict[Metric, None] = {}
    scales = set()
    for system_scores in scores.values():
        require_same_properties(first_metrics, system_scores.metrics)
        all_metrics.update(dict.fromkeys(system_scores.metrics))
        if system_scores.scale is not None:
            scales.add(system_scores.scale)
    common = []
    mismatches = []
    for metric in all_metrics if metrics is None else metrics:
        missing_in = tuple(name for name, system_scores in scores.items() if metric not in system_scores.metrics)
        has_different_scales = len(scales) > 1 and divides_by_largest_grade(metric)
        if missing_in or has_different_scales:
            mismatches.append(MetricMismatch(str(metric), missing_in))
        else:
            common.append(metric)
    if not common:
        notes = " ".join(map(format_metric_mismatch, mismatches))
        raise ValueError(
            f"the evaluations have no metric in common: {notes} Evaluate all of them with the metrics to compare"
        )
    positions = list(map(first_metrics.index, common))
    # Metrics that the caller named keep the caller's order.
    if metrics is None:
        positions.sort()
    return _ComparedMetrics(tuple(first_metrics[position] for position in positions), tuple(mismatches))


def _select_queries(scores: Scores, queries: list[QueryId]) -> Scores:
    """Return the scores of these queries; a query without scores is left out."""
    selected = set(queries)
    rows = np.array([row for row, query in enumerate(scores.queries) if query in selected], dtype=np.int64)
    if len(rows) == len(scores.queries):
        return scores
    counts = scores.counts
    if scores.origin is not None:
        positions = scores.positions[rows]
        origin = scores.origin
        counts = count_issues_of_slice(origin.judged, origin.run, scores.metrics, scores.rules, positions)
    elif all(metric.definition.is_given for metric in scores.metrics):
        counts = count_given_scores(scores.values[rows])
    return scores.select(rows, counts)
