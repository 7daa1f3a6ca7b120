"""Keep what was found in the data of an evaluation, so that it can be said and decided without the rankings.

A file without rankings holds these findings, because they cannot be computed from values: its evaluation warns of the
same things, and what could not be compared before it was saved cannot be compared afterwards. They name queries alone:
who saves no rankings may not be free to share ids of documents, texts or errors of retrievers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics.evaluation.data_warning_wording import format_unused_exclusion, format_without_examples
from retrieval_metrics.evaluation.data_warnings import find_data_warnings
from retrieval_metrics.evaluation.empty_rankings import find_empty_rankings
from retrieval_metrics.evaluation.near_miss_effect import has_near_ids, measure_near_miss_effect
from retrieval_metrics.evaluation.shifted_ids import find_shifted_ids
from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.score import score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.data_warnings import DataWarning
    from retrieval_metrics.evaluation.scores import Origin, Scores
    from retrieval_metrics.evaluation.unused_exclusion import UnusedExclusion

OwnObstacle: TypeAlias = Literal["no_results", "foreign_ids", "shifted_ids", "unlocated"]

# The depth within which judged documents are counted if no metric has a cutoff.
DEFAULT_DEPTH = 10


@register_record
@dataclass(frozen=True, slots=True)
class DataFindings:
    """What was found in the data of an evaluation.

    Attributes:
        warnings: What is probably wrong with the data, without examples.
        own_obstacle: Why the system cannot be measured; see `find_own_obstacle`.
        has_near_ids: Whether documents or queries count as not found, but are there under nearly their ids.
        near_miss_changes: By metric, how much near misses would change the value of a query if they counted as found.
        unused_exclusion: Why `exclude=` left nothing out of the run, without an example; None if nothing looks
            wrong.
        match: What ids of the judgments were compared with, in words.
        is_excluding: Whether documents were to be left out.
        judged_shares: By depth, the share of the first documents that is judged, shape (queries,); empty if it is
            unknown or says nothing.
        has_nonrelevant: Whether the judgments include documents that are not relevant.
        question_fingerprints: The fingerprint of the text of each query whose text is known.
        judgments_fingerprints: The fingerprint of the judgments of each query.
        ranked_ids_fingerprint: The fingerprint of the ranked ids of all queries; None if they are unknown, or of
            several runs, or on disk.
        failed_queries: The queries whose retriever failed; those of the whole evaluation if it is of some queries.
    """

    warnings: tuple[DataWarning, ...]
    own_obstacle: OwnObstacle | None
    has_near_ids: bool
    near_miss_changes: Mapping[str, Mapping[QueryId, float]]
    unused_exclusion: UnusedExclusion | None
    match: str | None
    is_excluding: bool
    judged_shares: Mapping[int, FloatArray]
    has_nonrelevant: bool
    question_fingerprints: Mapping[QueryId, str]
    judgments_fingerprints: Mapping[QueryId, str]
    ranked_ids_fingerprint: str | None
    failed_queries: tuple[QueryId, ...] = ()

    def take(self, rows: IntArray) -> DataFindings:
        """Return the findings about some of the queries; warnings stay those of all."""
        shares_by_depth = {depth: shares[rows] for depth, shares in self.judged_shares.items()}
        # Those of some of the queries are others.
        return replace(self, judged_shares=shares_by_depth, ranked_ids_fingerprint=None)


def collect_data_findings(scores: Scores, *, with_fingerprints: bool = True) -> DataFindings | None:
    """Return what is found in the data of scores; None if they came without it.

    Args:
        scores: The scores.
        with_fingerprints: Whether to compute the fingerprints of judgments and rankings, which takes long.
    """
    origin = scores.origin
    if origin is None:
        return scores.findings
    # Imported here because only a file without rankings needs fingerprints.
    from retrieval_metrics.evaluation.score_fingerprints import (
        describe_match,
        judgments_fingerprints,
        question_fingerprints,
    )

    unused_exclusion = None
    if scores.unused_exclusion is not None:
        unused_exclusion = scores.unused_exclusion.without_example()
    changes = measure_near_miss_effect(scores, scores.metrics)
    depths = {DEFAULT_DEPTH}
    for metric in scores.metrics:
        if isinstance(metric.k, int):
            depths.add(metric.k)
    judged_shares = {}
    for depth in sorted(depths):
        shares = find_judged_shares(scores, depth)
        if shares is not None:
            judged_shares[depth] = shares
    return DataFindings(
        warnings=find_warnings_without_examples(scores),
        own_obstacle=find_own_obstacle(scores),
        has_near_ids=has_near_ids(scores),
        near_miss_changes={str(metric): dict(change_by_query) for metric, change_by_query in changes.items()},
        unused_exclusion=unused_exclusion,
        match=describe_match(scores),
        is_excluding=bool(find_is_excluding(scores)),
        judged_shares=judged_shares,
        has_nonrelevant=has_nonrelevant_judgments(scores),
        question_fingerprints=question_fingerprints(scores),
        judgments_fingerprints=judgments_fingerprints(scores) if with_fingerprints else {},
        ranked_ids_fingerprint=_fingerprint_ranked_ids(scores, origin) if with_fingerprints else None,
        failed_queries=tuple(scores.errors),
    )


def find_warnings_without_examples(scores: Scores) -> tuple[DataWarning, ...]:
    """Return what is probably wrong with the data, without ids, texts and errors; equal warnings once."""
    if scores.origin is None:
        return tuple(find_data_warnings(scores))
    warnings: dict[DataWarning, None] = {}
    for warning in find_data_warnings(scores):
        if warning.kind == "unused_exclusion" and scores.unused_exclusion is not None:
            message = format_unused_exclusion(scores.unused_exclusion.without_example())
        else:
            message = format_without_examples(warning)
        warnings[warning._replace(message=message)] = None
    return tuple(warnings)


def _fingerprint_ranked_ids(scores: Scores, origin: Origin) -> str | None:
    """Return a fingerprint that is equal for runs in which `have_same_rankings` finds the same ids."""
    if origin.rounds > 1 or isinstance(origin.run, Run):
        return None
    # Imported here because only a file without rankings needs it.
    from hashlib import sha256

    from retrieval_metrics.inputs.fingerprints import N_DIGITS

    digest = sha256()
    rankings = scores.rankings("compared")
    for query in scores.queries:
        ids = rankings.ids(origin.run.get(query, ()))
        if None in ids:
            return None
        digest.update(repr((query, list(ids))).encode())
    return digest.hexdigest()[:N_DIGITS]


def find_judged_shares(scores: Scores, k: int) -> FloatArray | None:
    """Return which share of the first k documents of each query is judged, NaN without any; None if it is unknown."""
    origin = scores.origin
    if origin is None:
        return None if scores.findings is None else scores.findings.judged_shares.get(k)
    if not origin.judged.is_by_id or origin.judged.qrels.has_pieces:
        return None
    return score(origin.judged, Metric.parse(f"judged@{k}"), scores.rules).values[scores.positions]


def has_nonrelevant_judgments(scores: Scores) -> bool:
    """Return whether documents are judged not relevant; False if that is unknown."""
    if scores.origin is None:
        return scores.findings is not None and scores.findings.has_nonrelevant
    return bool((scores.origin.judged.qrels.document_grade <= 0).any())


def find_is_excluding(scores: Scores) -> bool | None:
    """Return whether documents were to be left out of the rankings; None if that is unknown."""
    if scores.origin is None:
        return None if scores.findings is None else scores.findings.is_excluding
    return scores.origin.judged.n_excluded is not None


def find_own_obstacle(scores: Scores) -> OwnObstacle | None:
    """Return why a system cannot be measured, as far as its own run says it; None if it can, or nothing is known.

    It retrieved nothing for any query, though something should be. Or no document is judged for its query, and its ids
    are foreign: none of them is judged for any query. Or spans are judged, and the position of its items is unknown. Or
    hardly anything is found, and most would be if ids were shifted by one.
    """
    if scores.origin is None:
        return None if scores.findings is None else scores.findings.own_obstacle
    return _search_own_obstacle(scores, scores.origin)


def _search_own_obstacle(scores: Scores, origin: Origin) -> OwnObstacle | None:
    if find_shifted_ids(scores) is not None:
        return "shifted_ids"
    judged = origin.judged
    if not judged.n_retrieved.any():
        return None if find_empty_rankings(scores) is None else "no_results"
    if not judged.is_empty:
        return None
    if judged.unlocated:
        return "unlocated"
    if judged.qrels.has_pieces or not set(judged.qrels.documents).isdisjoint(iterate_retrieved_ids(origin)):
        return None
    return "foreign_ids"


def iterate_retrieved_ids(origin: Origin) -> Iterator[Any]:
    """Yield the retrieved ids, as the judgments are compared with them."""
    if isinstance(origin.run, Run):
        for batch in origin.run.batches():
            yield from batch.documents.unique().to_list()
        return
    key = get_match_key(origin.match)
    for ranking in origin.run.values():
        for item in ranking:
            yield key(item) if isinstance(item, Retrieved) else item
