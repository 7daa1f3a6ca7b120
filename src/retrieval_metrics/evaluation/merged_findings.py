"""Merge what was found in the data of evaluations, so that the whole is warned of and refused like its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.data_findings import (
    DEFAULT_DEPTH,
    DataFindings,
    collect_data_findings,
    iterate_retrieved_ids,
)
from retrieval_metrics.evaluation.data_warning_wording import format_warning_of_parts
from retrieval_metrics.evaluation.data_warnings import DataWarning
from retrieval_metrics.evaluation.score_fingerprints import fingerprint_judgments
from retrieval_metrics.evaluation.summary_wording import cluster_count_notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.evaluation.data_findings import OwnObstacle
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.inputs.qrels import Qrels

# A part of which no document is judged makes the whole unmeasured if it has at least this many queries, and all would
# miss by chance with less than this probability. A query or two that find nothing judged are ordinary.
MIN_UNMEASURED_QUERIES = 10
MAX_CHANCE = 0.001
# The obstacles of parts whose ids do not match the judgments.
UNMATCHED = frozenset({"foreign_ids", "shifted_ids"})


class _UnmeasuredPart(NamedTuple):
    """Why a part cannot be measured, and how many queries it has."""

    obstacle: OwnObstacle
    n_queries: int


class _JudgmentsFingerprints(Mapping["QueryId", str]):
    """The fingerprint of the judgments of each query of several parts.

    They are computed when they are first read, because that takes as long as evaluating. Rankings are not kept for it.
    """

    def __init__(self, parts: Sequence[Scores]) -> None:
        self._known: dict[QueryId, str] = {}
        self._qrels_of_parts: list[Qrels] = []
        for part in parts:
            if part.origin is not None:
                self._qrels_of_parts.append(part.origin.judged.qrels)
            elif part.findings is not None:
                self._known.update(part.findings.judgments_fingerprints)

    def _compute(self) -> Mapping[QueryId, str]:
        while self._qrels_of_parts:
            self._known.update(fingerprint_judgments(self._qrels_of_parts[-1]))
            self._qrels_of_parts.pop()
        return self._known

    def __getitem__(self, query: QueryId) -> str:
        return self._compute()[query]

    def __iter__(self) -> Iterator[QueryId]:
        return iter(self._compute())

    def __len__(self) -> int:
        return len(self._compute())


def merge_findings(parts: Sequence[Scores], clusters: Clusters | None) -> DataFindings | None:
    """Return what was found in the data of evaluations of different queries; None if nothing is known of any.

    Args:
        parts: The scores of the parts.
        clusters: The clusters of all queries.
    """
    findings_of_parts = [collect_data_findings(part, with_fingerprints=False) for part in parts]
    known = [findings for findings in findings_of_parts if findings is not None]
    if not known:
        return None
    is_complete = len(known) == len(parts)
    obstacle = _find_obstacle(parts, findings_of_parts)
    changes_by_metric: dict[str, dict[QueryId, float]] = {}
    question_fingerprints: dict[QueryId, str] = {}
    for findings in known:
        question_fingerprints.update(findings.question_fingerprints)
        for metric, change_by_query in findings.near_miss_changes.items():
            changes_by_metric.setdefault(metric, {}).update(change_by_query)
    matches = {findings.match for findings in known}
    unused_exclusions = [findings.unused_exclusion for findings in known if findings.unused_exclusion is not None]
    return DataFindings(
        warnings=_merge_warnings(findings_of_parts, obstacle, clusters),
        own_obstacle=obstacle,
        has_near_ids=any(findings.has_near_ids for findings in known),
        near_miss_changes=changes_by_metric,
        unused_exclusion=next(iter(unused_exclusions), None),
        match=next(iter(matches)) if is_complete and len(matches) == 1 else None,
        is_excluding=any(findings.is_excluding for findings in known),
        judged_shares=_merge_judged_shares(known) if is_complete else {},
        has_nonrelevant=any(findings.has_nonrelevant for findings in known),
        question_fingerprints=question_fingerprints,
        judgments_fingerprints=_JudgmentsFingerprints(parts),
        ranked_ids_fingerprint=None,
        failed_queries=tuple(query for findings in known for query in findings.failed_queries),
    )


def _merge_judged_shares(findings_of_parts: Sequence[DataFindings]) -> dict[int, FloatArray]:
    """Return which share of the first documents of each query is judged, by the depths that are known in every part."""
    merged = {}
    for depth in findings_of_parts[0].judged_shares:
        if all(depth in findings.judged_shares for findings in findings_of_parts):
            merged[depth] = np.concatenate([findings.judged_shares[depth] for findings in findings_of_parts])
    return merged


def _merge_warnings(
    findings_of_parts: Sequence[DataFindings | None], obstacle: OwnObstacle | None, clusters: Clusters | None
) -> tuple[DataWarning, ...]:
    """Return the warnings of the parts, one of each kind, and those about the clusters of the whole.

    A warning blocks a conclusion if the whole cannot be measured, or every part has one that does.
    """
    is_whole_blocked = obstacle is not None or all(
        findings is not None and any(warning.is_blocking for warning in findings.warnings)
        for findings in findings_of_parts
    )
    warnings_by_kind: dict[str, list[DataWarning]] = {}
    n_parts_by_kind: Counter[str] = Counter()
    for findings in findings_of_parts:
        if findings is None:
            continue
        kinds = set()
        for warning in findings.warnings:
            # That a few queries find nothing judged is ordinary, unless their ids nearly match.
            is_ordinary = warning.kind == "no_common_ids" and not (is_whole_blocked or findings.has_near_ids)
            if warning.kind == "few_clusters" or is_ordinary:
                continue
            warnings_by_kind.setdefault(warning.kind, []).append(warning)
            kinds.add(warning.kind)
        n_parts_by_kind.update(kinds)
    merged = []
    for kind, warnings in warnings_by_kind.items():
        messages = {warning.message for warning in warnings}
        message = warnings[0].message
        if len(messages) > 1 or n_parts_by_kind[kind] < len(findings_of_parts):
            message = format_warning_of_parts(message, n_parts_by_kind[kind], len(findings_of_parts))
        is_blocking = is_whole_blocked and any(warning.is_blocking for warning in warnings)
        merged.append(DataWarning(warnings[0].kind, message, is_blocking=is_blocking))
    if clusters is not None and not clusters.by_source:
        for message in cluster_count_notes(clusters.count):
            merged.append(DataWarning("few_clusters", message))
    return tuple(merged)


def _find_obstacle(parts: Sequence[Scores], findings_of_parts: Sequence[DataFindings | None]) -> OwnObstacle | None:
    """Return why the whole cannot be measured; None if it can.

    It cannot if no part can, though a few queries whose ids match no judgment are ordinary. Or parts whose ids do not
    match have half of the queries or more, and one of them is too large to miss all by chance.
    """
    unmeasured: list[_UnmeasuredPart] = []
    foreign_parts: list[Scores] = []
    for part, findings in zip(parts, findings_of_parts, strict=True):
        if findings is not None and findings.own_obstacle is not None:
            unmeasured.append(_UnmeasuredPart(findings.own_obstacle, len(part.queries)))
            if findings.own_obstacle == "foreign_ids":
                foreign_parts.append(part)
    if foreign_parts and _are_judged_elsewhere(foreign_parts, parts):
        unmeasured = [part for part in unmeasured if part.obstacle != "foreign_ids"]
    if not unmeasured:
        return None
    n_queries = sum(len(part.queries) for part in parts)
    n_by_obstacle: Counter[OwnObstacle] = Counter()
    for unmeasured_part in unmeasured:
        n_by_obstacle[unmeasured_part.obstacle] += unmeasured_part.n_queries
    largest_first = sorted(unmeasured, key=lambda part: -part.n_queries)
    if len(unmeasured) == len(parts):
        obstacle, n_unmeasured = n_by_obstacle.most_common(1)[0]
        # Few queries may find nothing by chance, and whether another system retrieved the same cannot be known later.
        if obstacle == "foreign_ids" and n_unmeasured < MIN_UNMEASURED_QUERIES:
            return None
        return obstacle
    miss_rate = 1 - _estimate_judged_rate(findings_of_parts)
    for part_of_whole in largest_first:
        # With more parts, it is likelier that one of them misses all by chance.
        chance = len(parts) * miss_rate**part_of_whole.n_queries
        is_large = part_of_whole.n_queries >= MIN_UNMEASURED_QUERIES and chance < MAX_CHANCE
        is_half = 2 * n_by_obstacle[part_of_whole.obstacle] >= n_queries
        if is_large and is_half and part_of_whole.obstacle in UNMATCHED:
            return part_of_whole.obstacle
    return None


def _are_judged_elsewhere(foreign_parts: Sequence[Scores], parts: Sequence[Scores]) -> bool:
    """Return whether documents that some parts retrieved are judged in others, so that they are not foreign."""
    judged_ids: set[Any] = set()
    for part in parts:
        if part.origin is not None and not part.origin.judged.qrels.has_pieces:
            judged_ids.update(part.origin.judged.qrels.documents)
    for part in foreign_parts:
        if part.origin is not None and not judged_ids.isdisjoint(iterate_retrieved_ids(part.origin)):
            return True
    return False


def _estimate_judged_rate(findings_of_parts: Sequence[DataFindings | None]) -> float:
    """Return which share of the queries retrieves a judged document, drawn towards one half.

    Large parts that cannot be measured do not count, because they are what is in question. Small ones do: without
    them, only queries that retrieve something judged would count where each part has one query.
    """
    n_queries = 0
    n_judged = 0
    for findings in findings_of_parts:
        shares = None if findings is None else findings.judged_shares.get(DEFAULT_DEPTH)
        if findings is None or shares is None:
            continue
        if findings.own_obstacle is None or len(shares) < MIN_UNMEASURED_QUERIES:
            n_queries += len(shares)
            n_judged += int((shares > 0).sum())
    return (n_judged + 1) / (n_queries + 2)
