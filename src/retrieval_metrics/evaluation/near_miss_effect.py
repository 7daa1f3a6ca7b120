"""Compute what the values of metrics would be if near misses counted as found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.near_queries import find_near_queries
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import load_into_memory
from retrieval_metrics.matching.near_misses import NO_NEAR_MISSES, find_near_misses, find_type_mismatches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.data_findings import DataFindings
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.near_misses import NearMisses
    from retrieval_metrics.metrics.base.metric import Metric

    # The change of a metric by query.
    ChangeByQuery = Mapping[QueryId, float]


def near_misses_of(scores: Scores) -> NearMisses | None:
    """Return the near misses of scores; None if they have none, or are not computed from one run."""
    origin = scores.origin
    if origin is None or origin.rounds > 1:
        return None
    return find_near_misses(origin.judged, origin.run, origin.match) or None


def has_near_ids(scores: Scores) -> bool:
    """Return whether documents or queries count as not found, but are there under nearly their ids or values."""
    if scores.findings is not None:
        return scores.findings.has_near_ids
    if near_misses_of(scores) is not None:
        return True
    origin = scores.origin
    if origin is None or origin.rounds > 1:
        return False
    return bool(find_near_queries(origin)) or bool(find_type_mismatches(origin.judged, origin.run))


def measure_near_miss_effect(scores: Scores, metrics: Sequence[Metric]) -> dict[Metric, ChangeByQuery]:
    """Return by how much each metric would change in each query if near misses and near queries counted as found.

    Judgments that differ from results only in the type of a value are near misses, too.

    Queries whose value would stay are left out. Without near misses, nothing is computed.

    Args:
        scores: The scores of a run.
        metrics: The metrics; given ones are left out.
    """
    computed_metrics = [metric for metric in metrics if not metric.definition.is_given]
    if not has_near_ids(scores) or not computed_metrics:
        return {}
    if scores.findings is not None:
        return _read_changes(scores.findings, computed_metrics)
    origin = scores.require_origin("corrected")
    near_misses = near_misses_of(scores) or NO_NEAR_MISSES
    judged_by_retrieved = {near_miss.retrieved_id: near_miss.judged_id for near_miss in near_misses.entries}
    judged_by_run_query = {near_query.run_id: near_query.judged_id for near_query in find_near_queries(origin)}
    run: Any = load_into_memory(origin.run)
    type_mismatches = find_type_mismatches(origin.judged, origin.run)
    if type_mismatches:
        # Imported here because few runs have such values.
        from retrieval_metrics.matching.value_types import unify_value_types

        run = unify_value_types(run, type_mismatches)
    if judged_by_run_query:
        run = {judged_by_run_query.get(query, query): ranking for query, ranking in run.items()}
    match = origin.match
    if _holds_items(run):
        match = _correct_match(match, judged_by_retrieved)
    else:
        run = {query: _correct_ranking(ranking, judged_by_retrieved) for query, ranking in run.items()}
    corrected_scores = score_run(origin.judged.qrels, run, computed_metrics, scores.rules, match)
    changes: dict[Metric, ChangeByQuery] = {}
    for metric in computed_metrics:
        corrected = dict(zip(corrected_scores.queries, corrected_scores.column(metric).tolist(), strict=True))
        change_by_query: dict[QueryId, float] = {}
        for query, value in zip(scores.queries, scores.column(metric).tolist(), strict=True):
            change = corrected.get(query, value) - value
            if change and not isnan(change):
                change_by_query[query] = change
        changes[metric] = change_by_query
    return changes


def _read_changes(findings: DataFindings, metrics: Sequence[Metric]) -> dict[Metric, ChangeByQuery]:
    changes: dict[Metric, ChangeByQuery] = {}
    for metric in metrics:
        changes[metric] = findings.near_miss_changes.get(str(metric), {})
    return changes


def mean_with_near_misses(scores: Scores, metric: Metric) -> float:
    """Return the mean of a metric if near misses counted as found."""
    sums = scores.sums("value", metric)
    if sums is None or not sums.count:
        return nan
    changes = measure_near_miss_effect(scores, [metric]).get(metric, {})
    return float(sums.mean + sum(changes.values()) / sums.count)


def _holds_items(run: Mapping[Any, Any]) -> bool:
    for ranking in run.values():
        if isinstance(ranking, Mapping):
            return False
        first = next(iter(ranking), None)
        if first is not None:
            return isinstance(first, Retrieved)
    return False


def _correct_match(match: Any, judged_by_retrieved: Mapping[str, str]) -> Any:
    """Return matching options under which a nearly matching item has the judged id."""
    from retrieval_metrics.matching.matching_options import as_matching

    matching = as_matching(match)
    key: Key = matching.key

    def read_judged_id(item: Retrieved) -> Any:
        item_id: Any = key(item)
        return judged_by_retrieved.get(item_id, item_id)

    return replace(matching, by=read_judged_id)


def _correct_ranking(ranking: Any, judged_by_retrieved: Mapping[str, str]) -> Any:
    if not isinstance(ranking, Mapping):
        return [judged_by_retrieved.get(document_id, document_id) for document_id in ranking]
    corrected: dict[Any, float] = {}
    for document_id, score in ranking.items():
        judged_id = judged_by_retrieved.get(document_id, document_id)
        corrected[judged_id] = max(score, corrected.get(judged_id, score))
    return corrected
