"""The sentences about data that are probably wrong: what is wrong, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.redaction import show_error
from retrieval_metrics.evaluation.summary_wording import format_treatment
from retrieval_metrics.inputs.match_key import METADATA_PREFIX
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import quote_query_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.data_warnings import (
        DataWarning,
        NearMissReport,
        TypeMismatchReport,
        UnlocatedItems,
        WarningKind,
    )
    from retrieval_metrics.evaluation.empty_rankings import EmptyRankings
    from retrieval_metrics.evaluation.hidden_calls import HiddenCalls
    from retrieval_metrics.evaluation.id_mismatch import IdMismatch, IdRemedy, PieceMismatch
    from retrieval_metrics.evaluation.near_miss_remedy import IdChange
    from retrieval_metrics.evaluation.near_queries import NearQuery
    from retrieval_metrics.evaluation.own_id_first import OwnIdFirst
    from retrieval_metrics.evaluation.shared_file_names import SharedFileName
    from retrieval_metrics.evaluation.shifted_ids import ShiftedIds
    from retrieval_metrics.evaluation.swapped_arguments import SwappedArguments
    from retrieval_metrics.evaluation.unused_exclusion import UnusedExclusion
    from retrieval_metrics.matching.judged_columns import UnlocatedReason
    from retrieval_metrics.matching.near_ids import NearIdKind
    from retrieval_metrics.matching.value_types import TypeMismatch

NOTHING_JUDGED_FOUND = "no retrieved document is judged for its query, so every metric is 0"
ID_MISMATCH_HINT = (
    "Check the retriever, whether chunk IDs are being compared with document IDs, and whether the index was rebuilt "
    "under new IDs (quote-based judgments stay valid)"
)
JUDGE_BY_TEXT = (
    "the index was probably rebuilt: judge by text, which stays valid, with rm.Text(text) or rm.Quote(part) in place "
    "of the ID"
)
# Ids that are shown of each side.
MAX_IDS = 3
SEE_EXAMPLES = "Evaluate again to see examples"
# What is said of a warning where no ids, texts and errors may be, as in files without rankings.
WITHOUT_EXAMPLES: Mapping[WarningKind, str] = {
    "swapped_arguments": "qrels and run look swapped. Write evaluate(qrels, run)",
    "no_common_ids": (
        f"{NOTHING_JUDGED_FOUND}. Check the retriever and the IDs of both sides, or the texts and offsets that "
        "judgments need"
    ),
    "near_misses": (
        "relevant documents that count as missing were retrieved under a slightly different ID, or with the same text "
        "under another ID"
    ),
    "near_queries": "judged queries without results are in the run under nearly the same ID",
    "value_types": "values in the judgments differ from those in the results only in type; write the same type in both",
    "shifted_ids": (
        "hardly any relevant documents are among the first results, but many would be if IDs or rankings were shifted "
        "by one. Check whether one side counts from 0 and the other from 1, or rankings were joined with queries by "
        "position, and one is missing"
    ),
    "missing_values": (
        "relevant documents were not found, and their IDs look like empty cells read as text; remove such judgments"
    ),
    "shared_file_names": (
        "a judged file name is that of several files in different folders, each of which counts as the judged one; "
        "judge by full path"
    ),
    "empty_rankings": "judged queries have no results, or the retriever failed on them",
    "line_endings": (
        'spans start or end inside words, but would not if "\\r\\n" counted as one character. Pass documents= (the '
        "texts that the spans refer to), or add a quote to each span"
    ),
    "unlocated": (
        "results could not be located in their sources. Pass documents= (texts by source, or the framework's "
        "documents), or check what changed the texts"
    ),
    "cutoff_within_one_call": (
        "in some queries a single call fills a cutoff, so a metric ignores later calls. Use a cutoff in calls, such as "
        "recall@3calls, or the interleaved view"
    ),
    "own_id_first": (
        "for most of the first queries, the first result is the query itself, which is not judged relevant; "
        "exclude='query_id' leaves it out, as BEIR and MTEB do"
    ),
}
# Kinds of warnings that name nothing of the data, only numbers and options.
WITHOUT_NAMES: frozenset[WarningKind] = frozenset({"distances", "few_clusters", "parents", "without_match_value"})


def format_without_examples(warning: DataWarning) -> str:
    """Return the message of a warning without ids, texts and errors, and how to see them.

    That of an unused exclusion is `format_unused_exclusion` of one without an example.
    """
    if warning.kind in WITHOUT_NAMES:
        return warning.message
    return f"{WITHOUT_EXAMPLES[warning.kind]}. {SEE_EXAMPLES}"


def format_warning_of_parts(message: str, n_parts: int, n_all_parts: int) -> str:
    """Return a warning that holds for some of the parts that were merged, or for all with other numbers."""
    return f"{message} (in {n_parts} of the {n_all_parts} merged parts)"


def format_own_id_first(own_id_first: OwnIdFirst) -> str:
    """Return the warning that the first result of most queries is the query itself."""
    queries = numbers.format_count(own_id_first.n_checked, "query", "queries")
    return (
        f"in {own_id_first.n_queries} of {queries} the first result is the query itself, such as "
        f"{own_id_first.example!r}, which is not judged relevant; exclude='query_id' leaves it out, as BEIR and MTEB do"
    )


def format_chunks_in_parents(n_chunks: int) -> str:
    """Return the warning that judged chunks were perhaps answered by documents that contain them."""
    chunks = numbers.format_count(n_chunks, "judged chunk")
    return f"{chunks} may be contained in retrieved parent documents; judge by quotes, rm.Quote(...)"


def format_system_warning(system: str, message: str) -> str:
    """Return a warning as a sentence that begins with the system, if it has a name."""
    prefix = f"{system}: " if system else ""
    return f"{prefix}{message}."


def format_undecidable(system: str, message: str) -> str:
    """Return the error for data on which nothing can be decided, with the warning of the first system."""
    return f"cannot compare: no system retrieved a judged document for any query. {system!r}: {message}"


def format_swapped_arguments(swapped: SwappedArguments) -> str:
    """Return that judgments and run look swapped."""
    example = f"{swapped.grade:g} for {swapped.document!r} of query {swapped.query!r}"
    if swapped.largest_score is None:
        evidence = (
            f"grades decrease in the order given, as scores do ({example}), and the qrels list more documents than "
            "the run"
        )
    else:
        evidence = (
            f"grades are fractional like scores ({example}), and run scores are whole numbers like grades "
            f"(such as {swapped.largest_score:g})"
        )
    return f"qrels and run look swapped: {evidence}. Write evaluate(qrels, run)"


def format_distances() -> str:
    """Return that the scores seem to be distances."""
    return (
        "scores increase from first to last in every ranking, but larger scores rank first. If they are distances, "
        "pass {id: -distance}, or IDs in rank order"
    )


def format_id_mismatch(mismatch: IdMismatch | PieceMismatch) -> str:
    """Return that no retrieved document is judged, the ids of both sides, and what would make them match."""
    # Imported here because few evaluations need it.
    from retrieval_metrics.evaluation.id_mismatch import PieceMismatch

    if isinstance(mismatch, PieceMismatch):
        return (
            f"{NOTHING_JUDGED_FOUND}. Check that results have the texts, sources and offsets that judgments such as "
            f"{mismatch.pieces!r} need"
        )
    judged_ids = _list_ids(mismatch.judged_ids)
    run_ids = _list_ids(mismatch.run_ids)
    remedy = ID_MISMATCH_HINT if mismatch.remedy is None else _format_id_remedy(mismatch.remedy)
    return f"{NOTHING_JUDGED_FOUND}. Judged IDs: {judged_ids}; run IDs: {run_ids}. {remedy}"


def _list_ids(ids: Sequence[Any]) -> str:
    if not ids:
        return "none"
    return numbers.join_names(list(map(repr, ids)), MAX_IDS)


def _format_id_remedy(remedy: IdRemedy) -> str:
    from retrieval_metrics.evaluation.id_mismatch import (
        IdWithin,
        JudgedPath,
        MatchedAttribute,
        OtherQuery,
        SpellingDifference,
    )

    match remedy:
        case OtherQuery(document):
            return f"{document!r} is judged, but for another query; check that query IDs agree"
        case MatchedAttribute(value, option):
            return f"The results contain the judged ID {value!r}: pass match={option!r}"
        case SpellingDifference(value, judged_id, kind, change):
            return f"{_format_difference(judged_id, value, kind, article='The')}; {_format_id_change(change)}"
        case JudgedPath(value, path, option):
            text = (
                f"{value!r} is the file name in the judged ID {path!r}: use name.rpartition('/')[2] for each judged ID"
            )
            if option != "id":
                text += f", and pass match={option!r}"
            return text
        case IdWithin(value, expression, is_attribute):
            instruction = f"use {expression} for each ID in the run"
            if is_attribute:
                instruction = f"pass match=lambda item: {expression}"
            return f"Part of {value!r} is a judged ID: {instruction}"


NEAR_ID_KINDS: Mapping[NearIdKind, str] = {
    "unicode_form": "in Unicode form",
    "invisible_characters": "in invisible characters",
    "blanks": "in whitespace",
    "case": "in case",
    "percent_encoding": "in percent encoding",
    "slashes": "in forward and backward slashes",
    "markup": "in HTML entities",
    "quotation_marks": "in quotation marks, brackets or dashes",
    "separators": "in word separators ('-', '_', spaces)",
    "encoding": "in their encoding",
    "diacritics": "in accents",
    "uuid_form": "in UUID format",
    "url_form": "at the beginning or end of the URL",
    "leading_zeros": "in leading zeros",
    "decimal_point": "in a trailing '.0'",
    "number_form": "in number format",
    "several": "in several ways",
    "printed": "in a list, pair or dict printed around the ID",
    "joined": "in the number of IDs listed",
    "query_prefix": "in a query ID at the beginning",
    "prefix": "in a prefix",
    "path": "in the folder path",
    "part": "in a chunk suffix",
    "numbered_part": "in a chunk number at the end",
    "version": "in a version number at the end",
    "truncated": "in length, because one is cut off",
    "file_extension": "in a file extension",
    "same_text": "in the whole ID, though the texts are the same",
}
# Kinds in which two ids look alike when printed.
INVISIBLE_KINDS = frozenset({"unicode_form", "invisible_characters", "blanks", "several"})


def format_near_misses(near: NearMissReport) -> str:
    """Return how many relevant documents were retrieved under nearly their ids, an example, and what to write."""
    example = near.example
    counts = [f"{count} {NEAR_ID_KINDS[kind]}" for kind, count in near.count_by_kind.items()]
    kinds = ""
    if len(counts) > 1:
        kinds = f" (differences: {numbers.join_names(counts, len(counts))})"
    other_id = "another ID" if "same_text" in near.count_by_kind else "a slightly different ID"
    verb = "was" if near.n_near_misses == 1 else "were"
    missing = numbers.format_count(near.n_missing, "missing relevant document")
    return (
        f"{near.n_near_misses} of {missing} {verb} retrieved under {other_id}{kinds}: for query "
        f"{example.query!r}{quote_query_text(example.query, near.query_texts)}, "
        f"{_format_difference(example.judged_id, example.retrieved_id, example.kind)}; {_format_id_change(near.change)}"
    )


def format_type_mismatches(report: TypeMismatchReport) -> str:
    """Return how many judgments differ from results only in the type of a value, an example, and what to write."""
    example = report.example
    if example.is_negated:
        judgments = numbers.format_count(report.n_mismatches, "negated judgment")
        verb = "matches" if report.n_mismatches == 1 else "match"
        fact = f"{judgments} {verb} results that have the value, but with another type"
    else:
        missing = numbers.format_count(report.n_missing, "unmatched judgment")
        verb = "differs" if report.n_mismatches == 1 else "differ"
        fact = f"{report.n_mismatches} of {missing} {verb} from results only in the type of a value"
    judged_value = _format_value_with_type(example.judged_value)
    retrieved_value = _format_value_with_type(example.retrieved_value)
    return (
        f"{fact}: for query {example.query!r}{quote_query_text(example.query, report.query_texts)}, {example.name!r} "
        f"is {judged_value} in the judgments and {retrieved_value} in the results; {_format_type_remedy(example)}"
    )


def _format_value_with_type(value: Any) -> str:
    return f"{value!r} ({type(value).__name__})"


def _format_type_remedy(mismatch: TypeMismatch) -> str:
    if mismatch.corrected is None:
        return f"write {mismatch.judged_value!r} in the results, or the same type in both"
    sign = "~" if mismatch.is_negated else ""
    return f"judge {sign}rm.{repr(mismatch.corrected).removeprefix('~')}"


def format_shifted_ids(shifted: ShiftedIds) -> str:
    """Return that ids of documents, or the rankings of queries, are shifted by one, with an example."""
    statement = f"{shifted.n_found} of {shifted.n_relevant} relevant documents are among the first results, and "
    if shifted.n_found == 1:
        statement = f"1 of {shifted.n_relevant} relevant documents is among the first results, and "
    statement += f"{shifted.n_shifted}"
    if shifted.side == "queries":
        neighbour = "next" if shifted.offset > 0 else "previous"
        return (
            f"{statement} are among those of the {neighbour} query: {shifted.judged_id!r} is among those of "
            f"{shifted.retrieved_id!r}. Check whether rankings were joined with queries by position, and one is missing"
        )
    return (
        f"{statement} would be with IDs shifted by {shifted.offset:+d}: {shifted.retrieved_id!r} is retrieved where "
        f"{shifted.judged_id!r} is judged. Check whether one side counts from 0 and the other from 1"
    )


def format_missing_values(names: Sequence[str]) -> str:
    """Return that judgments hold ids that are missing cells."""
    documents = numbers.format_count(len(names), "relevant document")
    verb = "was" if len(names) == 1 else "were"
    ids_look = "its ID looks" if len(names) == 1 else "their IDs look"
    kinds = numbers.join_names(sorted({*map(repr, names)}), MAX_IDS)
    return (
        f"{documents} {verb} not found, and {ids_look} like an empty cell read as text ({kinds}); remove such judgments"
    )


def format_shared_file_name(shared: SharedFileName) -> str:
    """Return that a judged file name stands for several files, and what to judge instead."""
    others = ""
    n_others = shared.n_names - 1
    if n_others:
        verb = "is" if n_others == 1 else "are"
        others = f"; {numbers.format_count(n_others, 'other judged name')} {verb} ambiguous too"
    return (
        f"{shared.name!r} is the name of {shared.n_files} files in different folders, each of which counts as the "
        f"judged one{others}; judge by full path, with match={shared.match!r}"
    )


def format_without_match_value(n_without: int, n_results: int, match: str, host_option: str = "") -> str:
    """Return how many results have nothing that the judgments can be compared with.

    Args:
        n_without: How many have no value.
        n_results: How many results there are.
        match: The option that reads the value; empty for a function.
        host_option: The option of an integration that stands for it; empty for none.
    """
    option = f"match={match!r}"
    lacking = "no source"
    if not match:
        option = "match="
        lacking = "no value from the match= function"
    elif match.startswith(METADATA_PREFIX):
        lacking = f"no {match.removeprefix(METADATA_PREFIX)!r} in the metadata"
    if host_option:
        option = host_option
        lacking = f"no {match.removeprefix(METADATA_PREFIX)}"
    verb = "has" if n_without == 1 else "have"
    them = "it" if n_without == 1 else "them"
    results = numbers.format_count(n_results, "result")
    problem = f"{n_without:,} of {results} {verb} {lacking}, so {option} cannot judge {them}"
    if host_option:
        return f"{problem}; add it when you index, or compare by something else"
    return f"{problem}; add it when you index, or judge by quotes, rm.Quote(...)"


def format_near_queries(near_queries: Sequence[NearQuery], n_empty: int) -> str:
    """Return how many queries without results are in the run under nearly their ids, an example, and what to write."""
    # Imported here because few runs have such queries.
    from retrieval_metrics.evaluation.near_miss_remedy import find_spelling_change

    example = near_queries[0]
    verb = "is" if len(near_queries) == 1 else "are"
    show = ascii if example.kind in INVISIBLE_KINDS else repr
    change = find_spelling_change(example.judged_id, example.run_id, example.kind)
    queries = numbers.format_count(n_empty, "judged query", "judged queries")
    return (
        f"{len(near_queries)} of {queries} without results {verb} in the run under nearly the same ID: "
        f"{show(example.judged_id)} in the judgments and {show(example.run_id)} in the run differ "
        f"{NEAR_ID_KINDS[example.kind]}; {_format_id_change(change)}"
    )


def _format_difference(judged_id: str, retrieved_id: str, kind: NearIdKind, article: str = "the") -> str:
    """Return two ids in a form in which their difference is visible."""
    if kind == "same_text":
        return f"{article} judged {judged_id!r} and the retrieved {retrieved_id!r} have the same text"
    show = ascii if kind in INVISIBLE_KINDS else repr
    return f"{article} judged {show(judged_id)} and the retrieved {show(retrieved_id)} differ {NEAR_ID_KINDS[kind]}"


def format_excluded_relevant(excluded: Sequence[tuple[Any, Any]]) -> str:
    """Return that relevant documents are left out by `exclude=`, so that no ranking can be perfect."""
    query, document = excluded[0]
    verb = "is"
    them = "it"
    if len(excluded) > 1:
        verb = "are"
        them = "them"
    documents = numbers.format_count(len(excluded), "relevant document")
    example = numbers.format_example(len(excluded), f"{document!r} of query {query!r}")
    return (
        f"{documents} {verb} excluded by exclude= ({example}) and can never be found; leave {them} out of the "
        "judgments too"
    )


def format_unused_exclusion(unused: UnusedExclusion) -> str:
    """Return that `exclude=` left out nothing, why, and what to write."""
    return f"exclude= removed no documents: {_explain_unused_exclusion(unused)}"


def _explain_unused_exclusion(unused: UnusedExclusion) -> str:
    excluded_id = unused.excluded_id
    if excluded_id is None:
        return _explain_without_example(unused)
    remedy = f"list {unused.retrieved_id!r} there, as in the results"
    if unused.is_own_id:
        remedy = f"pass exclude={{{unused.query!r}: [{unused.retrieved_id!r}], ...}}, as in the results"
    compared = _name_comparison(unused)
    match unused.issue:
        case "no_value":
            return _explain_missing_value(compared)
        case "not_in_corpus":
            return (
                f"none of the excluded IDs, such as {excluded_id!r}, is in the corpus of the dataset; list IDs of the "
                "corpus"
            )
        case "attribute":
            value_name = unused.attribute.removeprefix(METADATA_PREFIX)
            return (
                f"for query {unused.query!r}, {excluded_id!r} is the {value_name} of a result, but {compared} "
                f"{unused.retrieved_id!r}; {remedy}"
            )
    show = ascii if unused.kind in INVISIBLE_KINDS else repr
    difference = f"in type ({type(excluded_id).__name__}, {type(unused.retrieved_id).__name__})"
    if unused.kind is not None:
        difference = NEAR_ID_KINDS[unused.kind]
    excluded = f"{show(excluded_id)} in exclude="
    if unused.is_own_id:
        excluded = f"the query ID {show(excluded_id)}"
    return (
        f"for query {unused.query!r}, {excluded} and the retrieved {show(unused.retrieved_id)} differ {difference}; "
        f"{remedy}"
    )


def _explain_without_example(unused: UnusedExclusion) -> str:
    excluded_id = "an ID in exclude="
    remedy = "list the IDs of the results there"
    if unused.is_own_id:
        excluded_id = "a query ID"
        remedy = "pass exclude={query: [ID], ...} with the IDs of the results"
    compared = _name_comparison(unused)
    match unused.issue:
        case "no_value":
            return _explain_missing_value(compared)
        case "not_in_corpus":
            return f"the corpus of the dataset has none of its IDs; list IDs of the corpus. {SEE_EXAMPLES}"
        case "attribute":
            value_name = unused.attribute.removeprefix(METADATA_PREFIX)
            fact = f"{excluded_id} is the {value_name} of a result, but {compared} another value"
        case "spelling" | "type":
            difference = "in type" if unused.kind is None else NEAR_ID_KINDS[unused.kind]
            fact = f"{excluded_id} and a retrieved one differ {difference}"
    return f"{fact}; {remedy}. {SEE_EXAMPLES}"


def _name_comparison(unused: UnusedExclusion) -> str:
    return f"match={unused.match!r} compares" if unused.match else "match= compares"


def _explain_missing_value(compared: str) -> str:
    return f"no result has the value that {compared}, so none can be removed; pass a match= that the results have"


def format_rebuilt_index(systems: Sequence[str]) -> str:
    """Return that texts of the corpus are judged in place of ids, and for which systems, if there are several."""
    names = ""
    if systems:
        names = f" of {numbers.join_names(list(map(repr, systems)), MAX_IDS, conjunction='or')}"
    return (
        f"no retrieved ID{names} is in the corpus of the dataset, but retrieved texts are: the index was probably "
        "rebuilt. Documents are judged by the texts of the corpus, not by ID; judge by rm.Text(text) to do so without "
        "a warning"
    )


def _format_id_change(change: IdChange) -> str:
    if change.is_by_text:
        return JUDGE_BY_TEXT
    if change.is_read_as_number:
        return "read the IDs on both sides as text, as with dtype=str in pandas"
    if change.characters:
        return (
            f"remove {numbers.join_names(list(change.characters), len(change.characters))} from the IDs on both sides"
        )
    if change.is_by_whole_path:
        return f"several files have this name: judge by full path, with match={change.match!r}"
    if change.match is not None:
        return f"pass match={change.match!r}"
    side = {"both": "on both sides", "judgments": "in the judgments", "run": "in the run"}[change.side]
    if change.expression is None:
        return f"change the IDs {side} so that they are equal"
    return f"use {change.expression} for the IDs {side}"


def format_empty_rankings(empty: EmptyRankings) -> str:
    """Return for how many queries nothing was retrieved, what they score, and the first error."""
    kind = "judged" if empty.is_every_query_expected else "answerable judged"
    expected = f"{empty.n_expected} {kind} {'query' if empty.n_expected == 1 else 'queries'}"
    have = "has" if empty.n_empty == 1 else "have"
    treatment = format_treatment(empty.treatment, empty.n_empty)
    first_query = f"{empty.first_query!r}{quote_query_text(empty.first_query, empty.query_texts)}"
    example = numbers.format_example(empty.n_empty, first_query)
    if not empty.failures:
        return f"{empty.n_empty} of {expected} ({example}) {have} no results and {treatment}"
    query, error = next(iter(empty.failures.items()))
    first_failure = f"{query!r}{quote_query_text(query, empty.query_texts)}: {show_error(error)}"
    failure_example = numbers.format_example(len(empty.failures), first_failure)
    if len(empty.failures) == empty.n_empty:
        return f"the retriever failed on {empty.n_empty} of {expected}, which {treatment} ({failure_example})"
    return (
        f"{empty.n_empty} of {expected} ({example}) have no results and {treatment}; "
        f"the retriever failed on {len(empty.failures)} of them ({failure_example})"
    )


def format_line_ends(spans: Sequence[Any]) -> str:
    """Return that spans cut words, but would not if line ends had another length."""
    count = "1 span starts or ends inside a word"
    if len(spans) != 1:
        count = f"{len(spans)} spans start or end inside words"
    example = numbers.format_example(len(spans), repr(spans[0]))
    return (
        f'{count}, but would not if "\\r\\n" counted as one character '
        f"({example}). Pass documents= (the texts that the spans refer to), or add a quote to each span"
    )


UNLOCATED_REASONS: Mapping[UnlocatedReason, str] = {
    "no offsets": "without offsets",
    "unchecked": "with unverified offsets recorded by a framework",
    "wrong length": "with offsets that contradict their text",
    "not in the source": "with text that is not in the source",
    "another source": "from a run whose sources are not the judged ones, as when texts are split twice",
}


def format_unlocated_items(unlocated: UnlocatedItems) -> str:
    """Return in how many items no span could be looked for, why, and what to pass."""
    n_items = unlocated.counts.total()
    reasons = []
    for reason, text in UNLOCATED_REASONS.items():
        if unlocated.counts[reason]:
            reasons.append(f"{unlocated.counts[reason]:,} {text}")
    if unlocated.counts["not in the source"] == n_items:
        remedy = "Check what changed the text, or judge by Quote"
    else:
        remedy = "Pass documents= (texts by source, or the framework's documents) to locate results by text"
    consequence = ""
    if unlocated.is_nothing_judged:
        consequence = " and nothing else matched, so every metric is 0"
    first = unlocated.first
    source = "its source" if n_items == 1 else "their sources"
    example = numbers.format_example(n_items, f"{first.document!r} of query {first.query!r}: {first.reason}")
    return (
        f"{numbers.format_count(n_items, 'result')} could not be located in {source}{consequence}: "
        f"{', '.join(reasons)} ({example}). {remedy}"
    )


def format_hidden_calls(hidden: HiddenCalls) -> str:
    """Return in how many queries one call fills a cutoff, and which metrics would show the later ones."""
    name = hidden.metric.name
    first_query = f"{hidden.first_query!r}{quote_query_text(hidden.first_query, hidden.query_texts)}"
    example = numbers.format_example(hidden.n_queries, first_query)
    return (
        f"in {hidden.n_queries} of {hidden.n_with_calls} queries ({example}) a single call fills the "
        f"top {hidden.k}, so {hidden.metric} ignores later calls. Use a cutoff in calls, such as {name}@3calls, or the "
        "interleaved view"
    )
