"""The sentences about data that are probably wrong: what is wrong, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.redaction import describe_error
from retrieval_metrics.evaluation.id_mismatch import (
    IdWithin,
    JudgedPath,
    MatchedAttribute,
    OtherQuery,
    PieceMismatch,
    SpellingDifference,
)
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.data_warnings import EmptyRankings, HiddenCalls, UnlocatedItems
    from retrieval_metrics.evaluation.id_mismatch import IdMismatch, IdRemedy
    from retrieval_metrics.evaluation.swapped_arguments import SwappedArguments
    from retrieval_metrics.matching.judged_columns import UnlocatedReason

NOTHING_JUDGED_FOUND = "none of the retrieved documents is judged for its query, so every metric is 0"
ID_MISMATCH_HINT = "is the retriever broken, or are the ids of chunks compared with the ids of documents?"
# Ids that are shown of each side.
MAX_IDS = 3


def format_system_warning(system: str, message: str) -> str:
    """Return a warning as a sentence that begins with the system, if it has a name."""
    prefix = f"{system}: " if system else ""
    end = "" if message.endswith("?") else "."
    return f"{prefix}{message}{end}"


def format_undecidable(system: str, message: str) -> str:
    """Return the error for data on which nothing can be decided, with the warning of the first system."""
    return f"nothing can be decided on this data. In {system!r}: {message}"


def format_swapped_arguments(swapped: SwappedArguments) -> str:
    """Return that judgments and run seem to be exchanged."""
    example = f"{swapped.grade:g} of {swapped.document!r} for query {swapped.query!r}"
    if swapped.largest_score is None:
        evidence = "fall in the order given, and its lists are longer than those of the run"
    else:
        evidence = (
            f"are fractions, as scores are, and the scores of the run are whole, such as {swapped.largest_score:g}"
        )
    return (
        f"judgments and run seem to be exchanged: grades such as {example} {evidence}; "
        "evaluate(qrels, run) takes the judgments first"
    )


def format_distances() -> str:
    """Return that the scores seem to be distances."""
    return (
        "the scores of the run rise in the order given in every ranking, and the largest counts as the best: "
        "if they are distances, pass {id: -distance}, or a list of ids, best first"
    )


def format_id_mismatch(mismatch: IdMismatch | PieceMismatch) -> str:
    """Return that no retrieved document is judged, the ids of both sides, and what would make them match."""
    if isinstance(mismatch, PieceMismatch):
        return (
            f"{NOTHING_JUDGED_FOUND}; do the items have the texts, sources and offsets that the judgments need? "
            f"The qrels have, for example, {mismatch.pieces!r}"
        )
    judged_ids = _list_ids(mismatch.judged_ids)
    run_ids = _list_ids(mismatch.run_ids)
    remedy = ID_MISMATCH_HINT if mismatch.remedy is None else _format_id_remedy(mismatch.remedy)
    return f"{NOTHING_JUDGED_FOUND}; the judgments have {judged_ids}, the run {run_ids}; {remedy}"


def _list_ids(ids: Sequence[Any]) -> str:
    if not ids:
        return "none"
    return numbers.join_names(list(map(repr, ids)), MAX_IDS)


def _format_id_remedy(remedy: IdRemedy) -> str:
    match remedy:
        case OtherQuery(document):
            return f"{document!r} is judged, but for another query: do the query ids of both mean the same questions?"
        case MatchedAttribute(value, option):
            return f"what was retrieved has the judged id {value!r}: pass match={option!r}"
        case SpellingDifference(value, judged_id):
            return f"{value!r} and {judged_id!r} differ only in case or blanks"
        case JudgedPath(value, path, option):
            text = (
                f"{value!r} is the last part of the judged id {path!r}: "
                "write name.rpartition('/')[2] for each judged id"
            )
            if option != "id":
                text += f", and pass match={option!r}"
            return text
        case IdWithin(value, expression, is_attribute):
            instruction = f"write {expression} for each id"
            if is_attribute:
                instruction = f"pass match=lambda item: {expression}"
            return f"a part of {value!r} is a judged id: {instruction}"


def format_empty_rankings(empty: EmptyRankings) -> str:
    """Return for how many queries nothing was retrieved, what they score, and the first error."""
    expected = f"{empty.n_expected}"
    if not empty.is_every_query_expected:
        expected += " answerable"
    treatment = "they score 0" if empty.scored_zero else "those not in the run are left out"
    text = (
        f"nothing was retrieved for {empty.n_empty} of {expected} judged queries, "
        f"for example {empty.first_query!r}; {treatment}"
    )
    if not empty.failures:
        return text
    query, error = next(iter(empty.failures.items()))
    return (
        f"{text}; the retriever failed for {len(empty.failures)} of them, "
        f"for example {query!r}: {describe_error(error)}"
    )


def format_line_ends(spans: Sequence[Any]) -> str:
    """Return that spans cut words, but would not if line ends had another length."""
    return (
        f'{len(spans)} spans cut words of their sources as they stand, but would not if "\\r\\n" and '
        f'"\\n" were of one length; for example {spans[0]!r}. Pass the texts that they were written '
        f"against, documents=, or put a quote beside each span, which settles it"
    )


UNLOCATED_REASONS: Mapping[UnlocatedReason, str] = {
    "no offsets": "without offsets",
    "unchecked": "with offsets that a framework recorded and nothing confirms",
    "wrong length": "with offsets that do not fit their text",
    "not in the source": "whose text is not in their source",
    "another source": "of a run in which no source is a judged one, as after two splitters",
}


def format_unlocated_items(unlocated: UnlocatedItems) -> str:
    """Return in how many items no span could be looked for, why, and what to pass."""
    n_items = unlocated.counts.total()
    reasons = []
    for reason, text in UNLOCATED_REASONS.items():
        if unlocated.counts[reason]:
            reasons.append(f"{unlocated.counts[reason]} {text}")
    if unlocated.counts["not in the source"] == n_items:
        remedy = "look at how their texts were changed, or judge by Quote"
    else:
        remedy = (
            "pass documents=, the texts by source or the documents of the framework, and they are found by their texts"
        )
    consequence = ", nor is anything else judged, so every metric is 0" if unlocated.is_nothing_judged else ""
    first = unlocated.first
    return (
        f"the place of {n_items} retrieved items is unknown, so no span was found in them{consequence}: "
        f"{', '.join(reasons)}; for example {first.document!r} for query {first.query!r} ({first.reason}). "
        f"To place them, {remedy}"
    )


def format_hidden_calls(hidden: HiddenCalls) -> str:
    """Return in how many queries one call fills a cutoff, and which metrics would show the later ones."""
    name = hidden.metric.name
    return (
        f"for {hidden.n_queries} of {hidden.n_with_calls} queries, for example {hidden.first_query!r}, "
        f"one call alone fills the first {hidden.k}, so {hidden.metric} sees nothing of the later calls; "
        f"evaluate {name}@ncalls, such as {name}@3calls, or the interleaved view"
    )
