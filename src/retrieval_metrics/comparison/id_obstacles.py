"""Find differences about which nothing can be concluded, because ids do not or nearly do not match the judgments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics.comparison.difference import Differences
from retrieval_metrics.evaluation.near_miss_effect import measure_near_miss_effect
from retrieval_metrics.evaluation.shifted_ids import find_shifted_ids
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.metrics.base.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics.comparison.difference import Difference
    from retrieval_metrics.evaluation.near_miss_effect import ChangeByQuery
    from retrieval_metrics.evaluation.scores import Origin, Scores

Obstacle: TypeAlias = Literal["foreign_ids", "near_misses", "shifted_ids", "unlocated"]


def mark_id_obstacles(differences: Differences, scores: Mapping[str, Scores], metrics: Sequence[Metric]) -> Differences:
    """Mark the differences that say how ids match, not which system is better, as not comparable.

    These are the differences of a system that was not measured (`find_unmeasured`), and those that could have another
    sign or size if near misses counted as found.
    """
    unmeasured = find_unmeasured(scores)
    changes: dict[str, Mapping[Metric, ChangeByQuery]] = {}
    for name, system_scores in scores.items():
        if name not in unmeasured:
            changes[name] = measure_near_miss_effect(system_scores, metrics)
    if not unmeasured and not any(changes.values()):
        return differences
    marked = []
    for difference in differences:
        obstacle: Obstacle | None = unmeasured.get(difference.system, unmeasured.get(difference.baseline))
        if obstacle is None and _depends_on_near_misses(difference, changes):
            obstacle = "near_misses"
        if obstacle is None or not difference.comparable:
            marked.append(difference)
        else:
            marked.append(replace(difference, comparable=False, obstacle=obstacle))
    return Differences(marked)


def find_unmeasured(scores_by_system: Mapping[str, Scores]) -> dict[str, Obstacle]:
    """Return the systems that cannot be measured: no document of theirs is judged, for a reason other than quality.

    The ids of such a system are foreign: none is judged for any query, and no system that meets judgments retrieved
    one. Or spans are judged, and the position of its items is unknown. Or hardly any is found, and most would be if
    their ids were shifted by one. A system that retrieves known documents and finds nothing relevant is measured, and
    bad.
    """
    unmeasured = _find_shifted(scores_by_system)
    without_judged: dict[str, Origin] = {}
    with_judged: list[Origin] = []
    for name, scores in scores_by_system.items():
        origin = scores.origin
        if origin is None or name in unmeasured or not origin.judged.n_retrieved.any():
            continue
        if origin.judged.is_empty:
            without_judged[name] = origin
        else:
            with_judged.append(origin)
    if not without_judged:
        return unmeasured
    measured_ids: set[Any] = set()
    for origin in with_judged:
        measured_ids.update(_iterate_ids(origin))
    for name, origin in without_judged.items():
        if origin.judged.unlocated:
            unmeasured[name] = "unlocated"
        elif not origin.judged.qrels.has_pieces:
            familiar_ids = measured_ids.union(origin.judged.qrels.documents)
            if familiar_ids.isdisjoint(_iterate_ids(origin)):
                unmeasured[name] = "foreign_ids"
    return unmeasured


def _find_shifted(scores_by_system: Mapping[str, Scores]) -> dict[str, Obstacle]:
    """Return the systems whose ids or rankings seem to be shifted by one."""
    shifted: dict[str, Obstacle] = {}
    for name, scores in scores_by_system.items():
        if find_shifted_ids(scores) is not None:
            shifted[name] = "shifted_ids"
    return shifted


def _iterate_ids(origin: Origin) -> Iterator[Any]:
    """Yield the retrieved ids, as the judgments are compared with them."""
    if isinstance(origin.run, Run):
        for batch in origin.run.batches():
            yield from batch.documents.unique().to_list()
        return
    key = get_match_key(origin.match)
    for ranking in origin.run.values():
        for item in ranking:
            yield key(item) if isinstance(item, Retrieved) else item


def _depends_on_near_misses(difference: Difference, changes: Mapping[str, Mapping[Metric, ChangeByQuery]]) -> bool:
    """Return whether the sign of a significant difference, or the size of another, could change with near misses."""
    metric = Metric.parse(difference.metric)
    system_changes = changes.get(difference.system, {}).get(metric, {})
    baseline_changes = changes.get(difference.baseline, {}).get(metric, {})
    if not difference.n or not (system_changes or baseline_changes):
        return False
    system_shift = sum(system_changes.get(query, 0.0) for query in difference.queries) / difference.n
    baseline_shift = sum(baseline_changes.get(query, 0.0) for query in difference.queries) / difference.n
    # As if the near misses of the system counted, those of the baseline, or both.
    for shift in (system_shift, -baseline_shift, system_shift - baseline_shift):
        corrected = difference.mean + shift
        if difference.significant:
            if corrected * difference.mean <= 0:
                return True
        elif shift and not difference.interval.low <= corrected <= difference.interval.high:
            return True
    return False
