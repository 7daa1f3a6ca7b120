"""The sentences about what a lint finds, fixes and skips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.text_cutting import quote_beginning
from retrieval_metrics.evaluation.evaluation_wording import format_chance
from retrieval_metrics.evaluation.summary_wording import EXCLUDED
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.datasets.lint_report import LintFinding
    from retrieval_metrics.evaluation.chance import Chance
    from retrieval_metrics.inputs.pieces import Span


# How many documents a sentence names.
MAX_NAMES = 5

# How many questions a sentence names that are most suspected to have no answer.
MAX_SUSPECTS = 20


# What all findings of one name say, by that name.
FINDING_MEANINGS: Mapping[str, str] = {
    "missing_text": "a query is judged but has no text, so it cannot be run and scores 0",
    "no_relevant": "documents are judged, but none is relevant: treated as unanswerable",
    "short_quote": "a quote is too short to be matched",
    "unknown_document": "a judged document is not in the corpus, so it cannot be retrieved",
    "unknown_source": "the source of a span is not in the corpus",
    "missing_quote": "a quote is not in the corpus",
    "moved_span": "a span no longer matches its text",
    "impossible_group": "none of several alternatives is in the corpus",
    "conflicting_judgments": "a duplicate question has different judgments",
    "duplicate_question": "another question has the same words",
    "near_duplicate_question": "another question has almost the same words",
    "dependent_question": "the question is not self-contained",
    "short_question": "the question is too short to be specific",
    "ambiguous_quote": "a quote occurs in several places",
    "uncovered_span": "part of a span is not in any passage",
    "leaked_id": "the question contains the ID of one of its relevant documents",
    "cut_quote": "a quote is in its source, but split across passages",
    "shared_file_name": "a judged file name belongs to several files in different folders",
    "unjudged_duplicate": "an unjudged copy of a relevant passage",
    "possible_answer": "an unjudged passage overlaps with a relevant one",
    "echo": "the question repeats the words of its answer",
    "unanswered": "relevant documents are not retrieved, or only at low ranks",
    "ignores_query": "a run scores no better than chance, so it may be ignoring the query",
    "unanswerable": "no judgments, or forbidden documents only: treated as unanswerable",
    "forbidden": "grades below 0 mark forbidden documents",
    "unjudged_at_top": "an unjudged document in the top 3 of every run",
    "cut_span": "a span starts or ends inside a word",
    "easy": "a relevant document ranks first in every run (or in a BM25 ranking, if no runs are passed)",
    "few_sources": "the questions come from few documents",
    "too_few_questions": "more questions are needed to detect the target difference",
}


# The questions, one by one.


def format_missing_text(query: QueryId) -> str:
    """Say that a judged query has no text."""
    return f"query {query!r} is judged but has no text: add the text, or remove its judgments"


def format_dependent_question(question: str, pointing_words: str) -> str:
    """Say which words of a question refer to something unseen."""
    return (
        f"{quote_beginning(question)} is not self-contained: {pointing_words!r} refers to something that is not in the "
        "question"
    )


def format_unknown_languages_skipped(queries: Sequence[QueryId], n_questions: int, languages: Iterable[str]) -> str:
    """Say for how many questions the language is unknown, so that this check is skipped."""
    *first_languages, last_language = languages
    are = "is" if len(queries) == 1 else "are"
    example = numbers.format_example(len(queries), repr(queries[0]))
    return (
        f"whether {len(queries):,} of {n_questions:,} questions ({example}) {are} self-contained (language not "
        f"recognised as {', '.join(first_languages)} or {last_language})"
    )


def format_short_question(question: str, n_words: int, n_content_words: int) -> str:
    """Say how few words a question has."""
    return (
        f"{question!r} has {numbers.format_count(n_words, 'word')} and "
        f"{numbers.format_count(n_content_words, 'content word')}: too short to be specific"
    )


def format_leaked_id(question: str, document: str) -> str:
    """Say which id a question names."""
    return f"{quote_beginning(question)} contains {document!r}, the ID of one of its relevant documents"


def format_echo(question: str, judged: Any, share: float, shared_run: str, n_words: int) -> str:
    """Say which words a question shares with its answer."""
    answer = repr(judged) if isinstance(judged, Piece) else str(judged)
    return (
        f"{quote_beginning(question)} shares {share:.0%} of its content words with one sentence of "
        f"{quote_beginning(answer)}, and {n_words} consecutive words, {shared_run!r}: users would not know the wording "
        "of the answer"
    )


# Repeated questions.


def format_duplicate_question(question: str, first: QueryId) -> str:
    """Say which question is repeated."""
    return f"{quote_beginning(question)} has the same words as {first!r}, so the question counts twice"


def format_duplicate_question_fix(first: QueryId) -> str:
    """Say why a question is removed, after its id."""
    return f"removed, a duplicate of {first!r} with the same judgments"


def format_near_duplicate_question(question: str, first: QueryId, first_question: str, share: float) -> str:
    """Say which question is nearly repeated."""
    return (
        f"{quote_beginning(question)} is a near-duplicate of {first!r}, {quote_beginning(first_question)}: {share:.0%} "
        "of the content words are the same"
    )


def format_conflicting_judgments(question: str, first: QueryId, contradiction: str) -> str:
    """Say that two questions ask the same, and how their judgments differ."""
    return f"{quote_beginning(question)} is the same question as {first!r} with different judgments: {contradiction}"


def format_opposed_grades(judged: Any) -> str:
    """Say which document two questions grade differently."""
    return f"{judged!r} is relevant to one of them and not to the other"


def format_different_relevant(first: QueryId, only_first: str, repeat: QueryId, only_repeat: str) -> str:
    """Say what is relevant to only one of two questions."""
    return f"{only_first} is relevant only to {first!r}, and {only_repeat} only to {repeat!r}"


# The set as a whole.


def format_few_sources(
    counts: Mapping[str, int], n_questions: int, effective: float, *, are_clusters: bool = True
) -> str:
    """Say how few documents the questions come from, and what that does to intervals.

    Args:
        counts: The number of questions of each document, the largest first.
        n_questions: The number of questions.
        effective: The effective number of documents.
        are_clusters: Whether the set names the documents, so that evaluations cluster the questions by them.
    """
    largest = next(iter(counts))
    consequence = "evaluate and compare treat them as clusters, so confidence intervals are wide"
    if not are_clusters:
        consequence = "name the document of each as its source, so that evaluate and compare treat them as clusters"
    return (
        f"{n_questions} questions come from {numbers.format_count(len(counts), 'document')}, {counts[largest]} from "
        f"{largest!r} alone; effective number of documents: {effective:.1f}. Questions about one document are not "
        f"independent: {consequence}"
    )


def format_too_few_questions(
    *,
    metric: str,
    difference: float,
    needed_range: tuple[int, int],
    n_questions: int,
    spread: float,
    runs: Sequence[str],
) -> str:
    """Say how many questions a difference needs; without two runs, the published spreads are used."""
    spread_source = "typical SD"
    if runs:
        spread_source = f"SD of the difference between {' and '.join(runs)}:"
    return (
        f"detecting a difference of {difference:g} in {metric} with 80% power takes {needed_range[0]:,} to "
        f"{needed_range[1]:,} questions ({spread_source} {numbers.format_value(spread)}); "
        f"this set has {numbers.format_count(n_questions, 'answerable question')}"
    )


# The judgments.


def format_forbidden(n_judgments: int, n_questions: int) -> str:
    """Say how many judgments are below 0."""
    verb = "is" if n_judgments == 1 else "are"
    return (
        f"{numbers.format_count(n_judgments, 'judgment')} of {numbers.format_count(n_questions, 'question')} {verb} "
        "below 0, which means forbidden; if -1 means unjudged in your data, remove these judgments"
    )


def format_unanswerable(n_forbidden: int) -> str:
    """Say that a question counts as one without an answer, because nothing is judged or all of it is forbidden."""
    reason = "no judgments"
    if n_forbidden:
        reason = f"no relevant document ({numbers.format_count(n_forbidden, 'document')} forbidden)"
    return f"{reason}, so treated as unanswerable"


def format_no_relevant(n_judged: int) -> str:
    """Say that a question counts as one without an answer, because nothing judged is relevant."""
    return f"no relevant document ({n_judged} judged), so treated as unanswerable"


CORPUS_SKIPPED = (
    "whether IDs, quotes and spans are in the corpus, and whether other passages answer the questions (needs corpus=)"
)
IDS_SKIPPED = (
    "whether the judged documents are in the corpus (needs their IDs; without IDs, pass match='source' or "
    "match='filename')"
)
TEXTS_SKIPPED = "the texts of the passages (the corpus has only IDs; pass texts by ID)"


def format_unknown_document(document: Any, grade: float, n_documents: int, nearest: str | None = None) -> str:
    """Say which judged document is not in the corpus, and which there is most like it."""
    documents = numbers.format_count(n_documents, "document")
    suggestion = "" if nearest is None else f"; did you mean {nearest!r}?"
    return f"{document!r} (grade {grade:g}) is not in the corpus ({documents}), so it cannot be retrieved{suggestion}"


def format_shared_file_name(name: str, n_files: int, match: str) -> str:
    """Say which judged file name stands for several files, and what to judge instead."""
    return (
        f"{name!r} is the name of {n_files} files in different folders, each of which counts as the judged one; judge "
        f"whole paths, with match={match!r}"
    )


def format_unknown_document_fix(document: Any, *, is_relevant: bool) -> str:
    """Say why a document is removed from the judgments."""
    if is_relevant:
        return f"{document!r}, which is not in the corpus, is removed from its alternatives"
    return f"{document!r}, which is not relevant and not in the corpus, is removed"


def format_impossible_group(number: int, n_groups: int, group: Iterable[Any]) -> str:
    """Say which group nothing in the corpus can satisfy."""
    alternatives = ", ".join(map(repr, group))
    return f"no alternative of group {number} of {n_groups} is in the corpus: {alternatives}"


# Quotes.


def format_short_quote(quote: str, length: int, min_length: int) -> str:
    """Say how short a quote is."""
    return (
        f"the quote {quote!r} has {numbers.format_count(length, 'character')} and would match by chance, so it is "
        f"rejected when matching; quote at least {min_length} characters"
    )


def format_ambiguous_quote(quote: str, documents: Sequence[DocumentId], n_places: int) -> str:
    """Say where a quote occurs."""
    if len(documents) > 1:
        where = f"in {len(documents)} documents, such as {', '.join(map(repr, documents[:MAX_NAMES]))}"
    else:
        where = f"{n_places} times in {documents[0]!r}"
    return f"the quote {quote_beginning(quote)} occurs {where}, and each occurrence satisfies the judgment"


def format_cut_quote(quote: str, source: str) -> str:
    """Say in which source a quote is that the passages cut."""
    return f"the quote {quote_beginning(quote)} is in {source!r}, but split across passages; a Span can still match"


def format_cut_quote_fix(span: Span) -> str:
    """Say which span is added to a quote."""
    return f"{span!r} is added as an alternative to its quote"


def format_missing_quote(quote: str, n_passages: int, same_words: str | None) -> str:
    """Say that no passage has a quote, and what has the same words."""
    note = f"; the same words occur as {quote_beginning(same_words)}" if same_words else ""
    return f"the quote {quote_beginning(quote)} is not in any of the {n_passages:,} passages{note}"


def format_missing_quote_fix(same_words: str) -> str:
    """Say which words a quote takes."""
    return f"the quote is replaced by the wording of the source: {same_words!r}"


# Spans.


def format_unknown_source(span: Span) -> str:
    """Say which span is in an unknown source."""
    return f"{span!r} is in a source that is not in the corpus"


def format_span_after_end(span: Span, n_characters: int) -> str:
    """Say which span ends after its source."""
    return f"{span!r} ends after the end of its source, which has {n_characters:,} characters"


def format_uncovered_span(span: Span, n_missing: int, n_characters: int) -> str:
    """Say how much of a span no passage holds."""
    return (
        f"{n_missing:,} of the {n_characters:,} characters of {span!r} are not in any passage; the splitter may have "
        "dropped them"
    )


def format_cut_span(span: Span, text: str, surroundings: str) -> str:
    """Say which span cuts a word."""
    return (
        f"{span!r} starts or ends inside a word: its text is {quote_beginning(text)}, within "
        f"{quote_beginning(surroundings)}"
    )


def format_moved_span(span: Span, text: str, quote: str, new_range: tuple[int, int] | None) -> str:
    """Say which span does not hold its quote, and where that is now, if it is known."""
    where = "which is no longer in its source"
    if new_range is not None:
        where = f"which is now at {new_range[0]} to {new_range[1]}"
    return f"the text of {span!r} is {quote_beginning(text)}, not its quote {quote_beginning(quote)}, {where}"


def format_moved_span_fix(span: Span, moved: Span) -> str:
    """Say where a span is moved."""
    return f"{span!r} is moved to its quote: {moved!r}"


# Documents and passages that are not judged.


def format_agreement_skipped(*, has_pieces: bool) -> str:
    """Say what is needed to know whether documents that retrievers agree on are relevant."""
    needs = "judgments by ID and " if has_pieces else ""
    return f"unjudged documents at the top of all runs (needs {needs}at least two runs; pass runs=)"


def format_unjudged_at_top(question: str, document: DocumentId, n_first: int, runs: Sequence[str]) -> str:
    """Say which unjudged document all runs rank high."""
    return (
        f"{document!r}, which is unjudged and counts as not relevant, is in the top {n_first} of "
        f"{numbers.join_names(list(runs))} for {quote_beginning(question)}"
    )


def format_similar_passage(document: DocumentId, relevant: DocumentId, share: float, shared: str | None) -> str:
    """Say which unjudged passage is like a relevant one; of a copy, `shared` is None."""
    is_like = "has the same text as"
    if shared is not None:
        is_like = f"shares {share:.0%} of its {shared} with"
    return f"{document!r}, which is unjudged and counts as not relevant, {is_like} the relevant {relevant!r}"


def format_copy_fix(document: DocumentId, relevant: DocumentId) -> str:
    """Say which copy is added to the judgments."""
    return f"{document!r} is added as an alternative to {relevant!r}: a copy"


def format_text_elsewhere(span: Span, text: str, document: DocumentId) -> str:
    """Say where the text of a span is, too."""
    return f"the text of {span!r}, {quote_beginning(text)}, is also in {document!r}, which is unjudged"


# How hard the questions are.

DIFFICULTY_SKIPPED = "question difficulty (needs runs= or corpus=)"
SEARCH_SKIPPED = "question difficulty (needs runs= or: pip install 'retrieval-metrics[questions]')"


def format_few_passages_skipped(min_passages: int) -> str:
    """Say how many passages are needed to know how hard the questions are."""
    return f"question difficulty (needs at least {min_passages} passages)"


def format_unanswered_by_bm25(question: str, chance: float) -> str:
    """Say for which question BM25 finds hardly anything relevant."""
    return (
        f"the passages relevant to {quote_beginning(question)} rank low in BM25 (random passages would rank at least "
        f"as high with probability {chance:.0%}): the question may be hard, unanswerable, or paired with another "
        "question's judgments"
    )


def format_judgments_of_other_question(question: str, better_question: str) -> str:
    """Say which other question finds better what is relevant to both."""
    return (
        f"{quote_beginning(question)} and {quote_beginning(better_question)} have exactly the same relevant documents, "
        "which BM25 ranks higher for the second: the first may have the second's judgments"
    )


def format_easy_for_bm25(question: str) -> str:
    """Say which question is easy."""
    return (
        f"a passage relevant to {quote_beginning(question)} ranks first in BM25, so the question does not discriminate "
        "between retrievers"
    )


def format_unanswered_skipped(suspects: Sequence[QueryId | None], n_judged: int) -> str:
    """Say that BM25 finds nothing for so many questions that the search is to blame."""
    return (
        f"unanswerable questions (BM25 ranks the relevant passages low for {len(suspects):,} of {n_judged:,}, "
        "probably because their wording differs; pass runs= of a semantic retriever); unconfirmed suspects, worst "
        "first: "
        f"{numbers.join_names([repr(query) for query in suspects], most=MAX_SUSPECTS)}"
    )


def format_unanswered_by_runs(question: str, runs: Sequence[str]) -> str:
    """Say for which question no run finds anything relevant."""
    return (
        f"no document relevant to {quote_beginning(question)} is retrieved by "
        f"{numbers.join_names(list(runs), conjunction='or')}: "
        "the question may be hard, unanswerable, or paired with another question's judgments"
    )


def format_easy_for_runs(question: str, runs: Sequence[str]) -> str:
    """Say which question is easy for all runs."""
    return (
        f"a document relevant to {quote_beginning(question)} ranks first in {numbers.join_names(list(runs))}, so the "
        "question does not discriminate between retrievers"
    )


def format_ignores_query(run: str, chance: Chance) -> str:
    """Say which run is not better than its own rankings assigned to other questions."""
    return f"{run}: {format_chance(chance)}"


# The whole report.


def format_finding(finding: LintFinding) -> str:
    """Return a finding as one line of the report."""
    query = "" if finding.query is None else f" {finding.query!r}"
    return f"{finding.name}{query}: {finding.message}"


def format_further_findings(n_further: int) -> str:
    """Say how many findings are not printed."""
    return f"  and {n_further} more, in .to_pandas()"


def format_fixes(n_fixes: int) -> str:
    """Say how many findings can be fixed without a person."""
    pronoun = "it" if n_fixes == 1 else "them"
    return f"{numbers.format_count(n_fixes, 'safe fix', 'safe fixes')}: .fixed() applies {pronoun}"


def format_excluded(n_excluded: int) -> str:
    """Say how many documents were left out of the runs."""
    return f"{numbers.format_count(n_excluded, 'document')}{EXCLUDED}"


def format_skipped(sentence: str) -> str:
    """Return a sentence on what could not be checked as a note."""
    return f"skipped: {sentence}"


def format_title(n_questions: int, n_findings: int) -> str:
    """Return the title of the report."""
    return f"{numbers.format_count(n_questions, 'question')}, {numbers.format_count(n_findings, 'finding')}"
