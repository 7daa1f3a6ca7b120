"""Find differences about which nothing can be concluded: nothing was retrieved, or ids hardly match the judgments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics.comparison.difference import Differences
from retrieval_metrics.evaluation.data_findings import find_own_obstacle, iterate_retrieved_ids
from retrieval_metrics.evaluation.near_miss_effect import has_near_ids, measure_near_miss_effect
from retrieval_metrics.metrics.base.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.comparison.paired_values import PairedValues
    from retrieval_metrics.evaluation.near_miss_effect import ChangeByQuery
    from retrieval_metrics.evaluation.scores import Origin, Scores

Obstacle: TypeAlias = Literal[
    "no_results", "foreign_ids", "near_misses", "shifted_ids", "unlocated", "unused_exclusion"
]


def mark_id_obstacles(
    differences: Differences,
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    paired_values: PairedValues,
    test_differences: Callable[[PairedValues], Differences],
) -> Differences:
    """Mark the differences that say how ids match, not which system is better, as not comparable.

    These are the differences of a system that was not measured (`find_unmeasured`), those that could have another sign,
    size or significance if near misses counted as found, and those of two systems of which one alone kept the documents
    that were to be left out.

    Args:
        differences: The differences.
        scores: The scores of each system.
        metrics: The metrics of the differences.
        paired_values: The values that the differences were computed from.
        test_differences: Returns the differences of other values, tested in the same way.
    """
    unmeasured = find_unmeasured(scores)
    changes: dict[str, Mapping[Metric, ChangeByQuery]] = {}
    for name, system_scores in scores.items():
        if name not in unmeasured:
            changes[name] = measure_near_miss_effect(system_scores, metrics)
    with_unused_exclusion = {name for name, system_scores in scores.items() if has_unused_exclusion(system_scores)}
    if not unmeasured and not with_unused_exclusion and not any(changes.values()):
        return differences
    corrected_differences = differences
    if any(any(system_changes.values()) for system_changes in changes.values()):
        corrected_differences = test_differences(_count_near_misses(paired_values, changes))
    marked = []
    for difference, corrected in zip(differences, corrected_differences, strict=True):
        obstacle: Obstacle | None = unmeasured.get(difference.system, unmeasured.get(difference.baseline))
        affected = with_unused_exclusion.intersection(difference.pair)
        if obstacle is None and len(affected) == 1:
            obstacle = "unused_exclusion"
        if obstacle is None and _depends_on_near_misses(difference, corrected, changes):
            obstacle = "near_misses"
        if obstacle is None or not difference.comparable:
            marked.append(difference)
        else:
            marked.append(replace(difference, comparable=False, obstacle=obstacle))
    return Differences(marked)


def find_systems_at_fault(scores: Mapping[str, Scores], differences: Differences) -> set[str]:
    """Return the systems because of which some differences say nothing: unmeasured, or with near ids that matter."""
    at_fault = set(find_unmeasured(scores))
    for difference in differences:
        for name in difference.pair:
            if difference.obstacle == "near_misses" and has_near_ids(scores[name]):
                at_fault.add(name)
            if difference.obstacle == "unused_exclusion" and has_unused_exclusion(scores[name]):
                at_fault.add(name)
    return at_fault


def has_unused_exclusion(scores: Scores) -> bool:
    """Return whether documents that were to be left out are probably still there, in another form."""
    return scores.unused_exclusion is not None


def find_unmeasured(scores_by_system: Mapping[str, Scores]) -> dict[str, Obstacle]:
    """Return the systems that cannot be measured: no document of theirs is judged, for a reason other than quality.

    Such a system retrieved nothing for any query, though something should be. Or its ids are foreign: none is judged
    for any query, and no system that meets judgments retrieved one. Or spans are judged, and the position of its items
    is unknown. Or hardly any is found, and most would be if their ids were shifted by one. A system that retrieves
    known documents and finds nothing relevant is measured, and bad.
    """
    unmeasured: dict[str, Obstacle] = {}
    with_foreign_ids: dict[str, Origin | None] = {}
    for name, scores in scores_by_system.items():
        obstacle = find_own_obstacle(scores)
        if obstacle == "foreign_ids":
            with_foreign_ids[name] = scores.origin
        elif obstacle is not None:
            unmeasured[name] = obstacle
    if not with_foreign_ids:
        return unmeasured
    measured_ids: set[Any] = set()
    for name, scores in scores_by_system.items():
        is_measured = name not in unmeasured and name not in with_foreign_ids
        if is_measured and scores.origin is not None and not scores.origin.judged.is_empty:
            measured_ids.update(iterate_retrieved_ids(scores.origin))
    for name, origin in with_foreign_ids.items():
        # Without its rankings, nobody knows whether another system retrieved its documents.
        if origin is None or measured_ids.isdisjoint(iterate_retrieved_ids(origin)):
            unmeasured[name] = "foreign_ids"
    return unmeasured


def _count_near_misses(values: PairedValues, changes: Mapping[str, Mapping[Metric, ChangeByQuery]]) -> PairedValues:
    """Return the values as if all near misses counted as found."""
    corrected = values.values.copy()
    row_by_query = {query: row for row, query in enumerate(values.queries)}
    for system, changes_by_metric in changes.items():
        position = values.systems.index(system)
        for metric, change_by_query in changes_by_metric.items():
            column = values.metrics[metric]
            for query, change in change_by_query.items():
                corrected[position, row_by_query[query], column] += change
    return values._replace(values=corrected)


def _depends_on_near_misses(
    difference: Difference, corrected_difference: Difference, changes: Mapping[str, Mapping[Metric, ChangeByQuery]]
) -> bool:
    """Return whether near misses could change what is concluded.

    They do if the significance or the outcome against a margin is another with all of them, or if some of them change
    the sign of a significant difference, or move another out of its interval.
    """
    metric = Metric.parse(difference.metric)
    system_changes = changes.get(difference.system, {}).get(metric, {})
    baseline_changes = changes.get(difference.baseline, {}).get(metric, {})
    if not difference.n or not (system_changes or baseline_changes):
        return False
    system_shift = sum(system_changes.get(query, 0.0) for query in difference.queries) / difference.n
    baseline_shift = sum(baseline_changes.get(query, 0.0) for query in difference.queries) / difference.n
    if corrected_difference.significant != difference.significant:
        return True
    margin = difference.margin
    corrected_margin = corrected_difference.margin
    if margin is not None and corrected_margin is not None and corrected_margin.outcome != margin.outcome:
        return True
    # As if the near misses of the system counted, those of the baseline, or both.
    for shift in (system_shift, -baseline_shift, system_shift - baseline_shift):
        corrected = difference.mean + shift
        if difference.significant:
            if corrected * difference.mean <= 0:
                return True
        elif shift and not difference.interval.low <= corrected <= difference.interval.high:
            return True
    return False
