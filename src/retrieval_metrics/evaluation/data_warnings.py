"""Find what is probably wrong with the data of an evaluation, such as swapped arguments or ids that never match.

The numbers computed from such data are right, but may not be what the user meant. `evaluate` issues each warning, a
comparison begins with the warnings about a whole system, and raises if no system retrieved a judged document.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from retrieval_metrics.evaluation import data_warning_wording as wording
from retrieval_metrics.evaluation.empty_rankings import find_empty_rankings
from retrieval_metrics.evaluation.hidden_calls import find_hidden_calls
from retrieval_metrics.evaluation.near_queries import find_near_queries
from retrieval_metrics.evaluation.own_id_first import find_own_id_first
from retrieval_metrics.evaluation.parents import count_chunks_in_parents
from retrieval_metrics.evaluation.score_order import are_distances
from retrieval_metrics.evaluation.shared_file_names import find_retrieved_shared_file_name
from retrieval_metrics.evaluation.shifted_ids import find_shifted_ids
from retrieval_metrics.evaluation.summary_wording import cluster_count_notes
from retrieval_metrics.evaluation.swapped_arguments import find_swapped_arguments
from retrieval_metrics.files.record_classes import register_record
from retrieval_metrics.inputs.items import NO_TEXTS
from retrieval_metrics.matching.near_misses import find_missing, find_near_misses, find_type_mismatches
from retrieval_metrics.metrics.base.metric import as_metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.near_miss_remedy import IdChange
    from retrieval_metrics.evaluation.scores import Origin, Scores
    from retrieval_metrics.evaluation.shifted_ids import ShiftedIds
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.matching.judged_columns import Unlocated, UnlocatedReason
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.near_ids import NearIdKind
    from retrieval_metrics.matching.near_misses import NearMiss, NearMisses
    from retrieval_metrics.matching.value_types import TypeMismatch

WarningKind: TypeAlias = Literal[
    "swapped_arguments",
    "no_common_ids",
    "near_misses",
    "near_queries",
    "value_types",
    "shifted_ids",
    "missing_values",
    "unused_exclusion",
    "shared_file_names",
    "without_match_value",
    "distances",
    "empty_rankings",
    "line_endings",
    "unlocated",
    "few_clusters",
    "cutoff_within_one_call",
    "own_id_first",
    "parents",
]
# Warnings that concern every number of a system; its conclusions and its report begin with them.
SYSTEM_WIDE: tuple[WarningKind, ...] = (
    "swapped_arguments",
    "no_common_ids",
    "near_misses",
    "near_queries",
    "value_types",
    "shifted_ids",
    "missing_values",
    "unused_exclusion",
    "shared_file_names",
    "without_match_value",
    "distances",
)


# What pandas, Python and JSON make of a missing cell if it becomes text.
MISSING_VALUES = frozenset({"nan", "NaN", "None", "<NA>", "NaT", "null"})


@register_record
class DataWarning(NamedTuple):
    """Something that is probably wrong with the data of an evaluation.

    Attributes:
        kind: The kind of problem.
        message: What is wrong, and what to write instead.
        is_blocking: Whether no conclusion may be drawn from such data.
    """

    kind: WarningKind
    message: str
    is_blocking: bool = False


def find_data_warnings(scores: Scores) -> Sequence[DataWarning]:
    """Return what is probably wrong with the data, the gravest first.

    It is looked for once. Scores without their run tell what was found before they were saved, or nothing.
    """
    if scores.origin is None:
        return () if scores.findings is None else scores.findings.warnings
    cache = scores.cache
    if cache.data_warnings is None:
        cache.data_warnings = _search_data_warnings(scores, scores.origin)
    return cache.data_warnings


def _search_data_warnings(scores: Scores, origin: Origin) -> list[DataWarning]:
    warnings = []
    swapped = find_swapped_arguments(origin.judged, origin.run)
    if swapped is not None:
        warnings.append(DataWarning("swapped_arguments", wording.format_swapped_arguments(swapped)))
    warnings += _find_id_warnings(origin, find_shifted_ids(scores))
    if origin.unused_exclusion is not None:
        warnings.append(DataWarning("unused_exclusion", wording.format_unused_exclusion(origin.unused_exclusion)))
    warnings += _find_match_warnings(origin)
    if are_distances(origin.judged, origin.run):
        warnings.append(DataWarning("distances", wording.format_distances()))
    empty_rankings = find_empty_rankings(scores)
    if empty_rankings is not None:
        message = wording.format_empty_rankings(empty_rankings)
        warnings.append(DataWarning("empty_rankings", message, is_blocking=empty_rankings.is_whole_run))
    warnings += find_location_warnings(origin.judged)
    if scores.clusters is not None and not scores.clusters.by_source:
        messages = cluster_count_notes(scores.clusters.count)
        warnings += [DataWarning("few_clusters", message) for message in messages]
    hidden_calls = find_hidden_calls(scores.metrics, origin.run, origin.judged.qrels.texts)
    if hidden_calls is not None:
        warnings.append(DataWarning("cutoff_within_one_call", wording.format_hidden_calls(hidden_calls)))
    own_id_first = find_own_id_first(origin)
    if own_id_first is not None:
        warnings.append(DataWarning("own_id_first", wording.format_own_id_first(own_id_first)))
    n_hidden_chunks = count_chunks_in_parents(origin)
    if n_hidden_chunks:
        warnings.append(DataWarning("parents", wording.format_chunks_in_parents(n_hidden_chunks)))
    return warnings


def _find_id_warnings(origin: Origin, shifted_ids: ShiftedIds | None) -> list[DataWarning]:
    """Return what is wrong with the ids: none meets a judgment, or those of documents or queries nearly match."""
    warnings = []
    type_messages = [wording.format_type_mismatches(report) for report in find_type_mismatch_reports(origin)]
    mismatch = None
    if origin.judged.is_empty:
        # Imported here because few evaluations need it.
        from retrieval_metrics.evaluation.id_mismatch import find_id_mismatch

        mismatch = find_id_mismatch(origin)
    if mismatch is not None and shifted_ids is not None:
        message = f"{wording.NOTHING_JUDGED_FOUND}; {wording.format_shifted_ids(shifted_ids)}"
        warnings.append(DataWarning("no_common_ids", message, is_blocking=True))
    elif mismatch is not None and type_messages:
        message = f"{wording.NOTHING_JUDGED_FOUND}; {type_messages.pop(0)}"
        warnings.append(DataWarning("no_common_ids", message, is_blocking=True))
    elif mismatch is not None:
        warnings.append(DataWarning("no_common_ids", wording.format_id_mismatch(mismatch), is_blocking=True))
    else:
        near_misses = find_near_miss_report(origin)
        if near_misses is not None:
            warnings.append(DataWarning("near_misses", wording.format_near_misses(near_misses)))
    near_queries = find_near_queries(origin)
    if near_queries:
        n_empty = len(origin.judged.without_results)
        warnings.append(DataWarning("near_queries", wording.format_near_queries(near_queries, n_empty)))
    warnings += [DataWarning("value_types", message) for message in type_messages]
    if shifted_ids is not None and mismatch is None:
        warnings.append(DataWarning("shifted_ids", wording.format_shifted_ids(shifted_ids)))
    missing_values = find_missing_values(origin.judged)
    if missing_values:
        warnings.append(DataWarning("missing_values", wording.format_missing_values(missing_values)))
    return warnings


def find_missing_values(judged: JudgedRun) -> list[str]:
    """Return the relevant ids that are how a missing cell is printed, if they were not found."""
    qrels = judged.qrels
    if qrels.document_kind is not str or MISSING_VALUES.isdisjoint(qrels.documents):
        return []
    positions = np.flatnonzero(find_missing(judged) & (qrels.document_grade > 0)).tolist()
    return [str(qrels.documents[position]) for position in positions if qrels.documents[position] in MISSING_VALUES]


def _find_match_warnings(origin: Origin) -> list[DataWarning]:
    """Return what is wrong with the values that `match=` compares: shared by several files, or missing."""
    warnings = []
    shared = find_retrieved_shared_file_name(origin)
    if shared is not None:
        warnings.append(DataWarning("shared_file_names", wording.format_shared_file_name(shared)))
    n_without = origin.judged.without_match_value
    if n_without:
        match = str(getattr(origin.match, "by", origin.match))
        if callable(getattr(origin.match, "by", origin.match)):
            match = ""
        n_results = int(origin.judged.n_retrieved.sum())
        option = getattr(origin.match, "option", "")
        message = wording.format_without_match_value(n_without, n_results, match, option)
        warnings.append(DataWarning("without_match_value", message))
    return warnings


def system_wide_warnings(scores_by_system: Mapping[str, Scores]) -> list[str]:
    """Return the warnings that concern every number of a system, a sentence each."""
    sentences = []
    for name, scores in scores_by_system.items():
        for message in find_system_wide_warnings(scores):
            sentences.append(wording.format_system_warning(name, message))
    return sentences


def require_judged_documents(scores_by_system: Mapping[str, Scores]) -> None:
    """Raise if no system retrieved a judged document for any query, because nothing can be concluded from zeros.

    Raises:
        ValueError: If no system did; the message says why, and what to write.
    """
    reasons: dict[str, str] = {}
    for name, scores in scores_by_system.items():
        messages = [warning.message for warning in find_data_warnings(scores) if warning.is_blocking]
        if not messages:
            return
        reasons[name] = messages[0]
    if reasons:
        name, reason = next(iter(reasons.items()))
        raise ValueError(wording.format_undecidable(name, reason))


def distances_note(judged: JudgedRun | None, run: Mapping[Any, Any]) -> str:
    """Return a warning that the scores of a run seem to be distances; empty if they do not."""
    return wording.format_distances() if are_distances(judged, run) else ""


# Ids that nearly match.


class NearMissReport(NamedTuple):
    """Relevant documents that were not found, but retrieved under nearly their ids.

    Attributes:
        n_near_misses: How many these are.
        n_missing: How many relevant documents were not found in queries with results.
        count_by_kind: The number of near misses of each kind, the most frequent first.
        example: The first near miss of the most frequent kind.
        change: What makes its two ids equal.
        query_texts: The texts of the queries that are known.
    """

    n_near_misses: int
    n_missing: int
    count_by_kind: Mapping[NearIdKind, int]
    example: NearMiss
    change: IdChange
    query_texts: QueryTexts = NO_TEXTS


def find_near_miss_report(origin: Origin) -> NearMissReport | None:
    """Return the relevant documents that were retrieved under nearly their ids; None if there are none."""
    return make_near_miss_report(find_near_misses(origin.judged, origin.run, origin.match), origin)


def make_near_miss_report(near_misses: NearMisses, origin: Origin | None) -> NearMissReport | None:
    """Return the report of near misses; None if there are none. Without their origin, a run of ids is meant."""
    example = near_misses.find_example()
    if example is None:
        return None
    # Imported here because few runs have near misses.
    from retrieval_metrics.evaluation.near_miss_remedy import find_id_change

    return NearMissReport(
        n_near_misses=len(near_misses),
        n_missing=near_misses.n_missing,
        count_by_kind=near_misses.count_by_kind(),
        example=example,
        change=find_id_change(example, origin),
        query_texts={} if origin is None else origin.judged.qrels.texts,
    )


def find_near_misses_note(scores: Scores, metric: str, floor: float) -> str:
    """Return why the mean of a metric misses a floor if its ids do it; else nothing.

    That is the warning about near misses if the mean would reach the floor with them, or the one that no retrieved
    document is judged.
    """
    # Imported here because only a mean below its floor needs it.
    from retrieval_metrics.evaluation.near_miss_effect import has_near_ids, mean_with_near_misses

    parsed_metric = as_metric(metric)
    if parsed_metric.definition.is_given:
        return ""
    if has_near_ids(scores) and mean_with_near_misses(scores, parsed_metric) >= floor:
        return _find_near_id_warning(scores)
    return _find_foreign_id_warning(scores)


def find_query_near_misses_note(scores: Scores, metric: str, floors: Mapping[QueryId, float]) -> str:
    """Return why the values of a metric in some queries miss their floors if ids do it in all of them; else nothing.

    Args:
        scores: The scores.
        metric: The metric.
        floors: The missed floors by query.
    """
    # Imported here because only a value below its floor needs it.
    from retrieval_metrics.evaluation.near_miss_effect import has_near_ids, measure_near_miss_effect

    parsed_metric = as_metric(metric)
    if parsed_metric.definition.is_given:
        return ""
    if has_near_ids(scores):
        changes = measure_near_miss_effect(scores, [parsed_metric]).get(parsed_metric, {})
        values = dict(zip(scores.queries, scores.column(parsed_metric).tolist(), strict=True))
        if all(values[query] + changes.get(query, 0.0) >= floor for query, floor in floors.items()):
            return _find_near_id_warning(scores)
    return _find_foreign_id_warning(scores)


def _find_near_id_warning(scores: Scores) -> str:
    for warning in find_data_warnings(scores):
        if warning.kind in {"near_misses", "near_queries", "value_types", "no_common_ids"}:
            return warning.message
    return ""


def _find_foreign_id_warning(scores: Scores) -> str:
    for warning in find_data_warnings(scores):
        if warning.kind == "no_common_ids" and warning.is_blocking:
            return warning.message
    return ""


def find_system_wide_warnings(scores: Scores) -> list[str]:
    """Return the warnings that concern every number of a system, as `evaluate` issues them."""
    messages = []
    for warning in find_data_warnings(scores):
        if warning.kind in SYSTEM_WIDE or warning.is_blocking:
            messages.append(warning.message)
    return messages


# Values of another type.


class TypeMismatchReport(NamedTuple):
    """Judgments that differ from results only in the type of a value.

    Attributes:
        n_mismatches: How many these are.
        n_missing: How many judgments were not found in queries with results.
        example: The first of them.
        query_texts: The texts of the queries that are known.
    """

    n_mismatches: int
    n_missing: int
    example: TypeMismatch
    query_texts: QueryTexts = NO_TEXTS


def find_type_mismatch_reports(origin: Origin) -> list[TypeMismatchReport]:
    """Return the judgments that differ from results only in the type of a value: those not found, and the negated."""
    mismatches = find_type_mismatches(origin.judged, origin.run)
    reports = []
    for is_negated in (False, True):
        entries = [mismatch for mismatch in mismatches if mismatch.is_negated is is_negated]
        if entries:
            n_missing = int(find_missing(origin.judged).sum())
            reports.append(TypeMismatchReport(len(entries), n_missing, entries[0], origin.judged.qrels.texts))
    return reports


# Items and spans that could not be located in their sources.


class UnlocatedItems(NamedTuple):
    """Retrieved items in which no span could be looked for.

    Attributes:
        first: The first such item.
        counts: The number of such items by reason.
        is_nothing_judged: Whether no other item is judged either, so that every metric is 0.
    """

    first: Unlocated
    counts: Counter[UnlocatedReason]
    is_nothing_judged: bool


def find_location_warnings(judged: JudgedRun) -> list[DataWarning]:
    """Return the warnings about items and spans that could not be located, with their reasons and what to pass."""
    warnings = []
    if judged.line_ending_spans:
        warnings.append(DataWarning("line_endings", wording.format_line_ends(judged.line_ending_spans)))
    if judged.unlocated:
        counts = Counter(item.reason for item in judged.unlocated)
        unlocated = UnlocatedItems(judged.unlocated[0], counts, judged.is_empty)
        message = wording.format_unlocated_items(unlocated)
        warnings.append(DataWarning("unlocated", message, is_blocking=judged.is_empty))
    return warnings
