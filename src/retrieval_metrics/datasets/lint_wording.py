"""The sentences about what a lint finds, fixes and skips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets.text_cutting import quote_beginning
from retrieval_metrics.evaluation.evaluation_wording import format_chance
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.datasets.lint_report import LintFinding
    from retrieval_metrics.evaluation.chance import Chance
    from retrieval_metrics.inputs.items import Span


# How many documents a sentence names.
MAX_NAMES = 5

# How many questions a sentence names that are most suspected to have no answer.
MAX_SUSPECTS = 20


# The questions, one by one.


def format_dependent_question(question: str, pointing_words: str) -> str:
    """Say which words of a question refer to something unseen."""
    return f"{quote_beginning(question)} says {pointing_words!r}, which cannot be understood without the passage"


def format_unknown_languages_skipped(queries: Sequence[QueryId], n_questions: int, languages: Iterable[str]) -> str:
    """Say for how many questions the language is unknown, so that this check is skipped."""
    *first_languages, last_language = languages
    return (
        f"whether {len(queries):,} of {n_questions:,} questions make sense without their passage, such as "
        f"{queries[0]!r}, because their language seems to be none of {', '.join(first_languages)} and {last_language}"
    )


def format_short_question(question: str, n_words: int, n_content_words: int) -> str:
    """Say how few words a question has."""
    return (
        f"{question!r} has {n_words} {'word' if n_words == 1 else 'words'}, {n_content_words} of them content words: "
        "many passages would match"
    )


def format_leaked_id(question: str, document: str) -> str:
    """Say which id a question names."""
    return f"{quote_beginning(question)} names {document!r}, the id of a document that is relevant to it"


def format_echo(question: str, judged: Any, share: float, shared_run: str, n_words: int) -> str:
    """Say which words a question shares with its answer."""
    answer = repr(judged) if isinstance(judged, Piece) else str(judged)
    return (
        f"{quote_beginning(question)} shares {share:.0%} of its content words with one sentence of "
        f"{quote_beginning(answer)}, and {n_words} words in a row, {shared_run!r}: users do not know the words of the "
        "answer"
    )


# Repeated questions.


def format_duplicate_question(question: str, first: QueryId) -> str:
    """Say which question is repeated."""
    return f"{quote_beginning(question)} is already asked as {first!r}, so it counts twice"


def format_duplicate_question_fix(first: QueryId, repeat: QueryId) -> str:
    """Say why a question is removed."""
    return f"question {repeat!r} is removed, because {first!r} asks the same and is judged alike"


def format_near_duplicate_question(question: str, first: QueryId, first_question: str, share: float) -> str:
    """Say which question is nearly repeated."""
    return (
        f"{quote_beginning(question)} is nearly {quote_beginning(first_question)} of {first!r}: {share:.0%} of the "
        "content words are the same"
    )


def format_contradicting_judgments(question: str, first: QueryId, contradiction: str) -> str:
    """Say that two questions ask the same, and how their judgments differ."""
    return f"{quote_beginning(question)} asks the same as {first!r}, but is judged differently: {contradiction}"


def format_opposed_grades(judged: Any) -> str:
    """Say which document two questions grade differently."""
    return f"{judged!r} is relevant to one of them and not to the other"


def format_different_relevant(first: QueryId, only_first: str, repeat: QueryId, only_repeat: str) -> str:
    """Say what is relevant to only one of two questions."""
    return f"{only_first} is relevant only to {first!r}, {only_repeat} only to {repeat!r}"


# The set as a whole.


def format_few_sources(counts: Mapping[str, int], n_questions: int, effective: float) -> str:
    """Say how few documents the questions come from; `counts` begins with the largest."""
    largest = next(iter(counts))
    return (
        f"{n_questions} questions come from {numbers.format_count(len(counts), 'document')}, {counts[largest]} of them "
        f"from {largest!r}, and tell as much as questions from {effective:.1f} would in equal shares. Questions about "
        "one document depend on each other: evaluate and compare take them as clusters, so intervals are wide"
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
    where = f"how much {' and '.join(runs)} differ" if runs else "how much retrievers usually differ"
    return (
        f"to find a difference of {difference:g} in {metric} in four of five cases takes {needed_range[0]:,} to "
        f"{needed_range[1]:,} questions, by {where} ({numbers.format_value(spread)}); "
        f"{n_questions:,} have something relevant"
    )


# The judgments.


def format_forbidden(n_judgments: int, n_questions: int) -> str:
    """Say how many judgments are below 0."""
    return (
        f"{n_judgments} judgments of {n_questions} questions are below 0, which must not come back; if -1 means "
        "unjudged where they come from, leave them out"
    )


def format_unanswerable(n_forbidden: int) -> str:
    """Say that a question counts as one without an answer, because nothing is judged or all of it is forbidden."""
    reason = f"{n_forbidden} documents are forbidden and none is relevant" if n_forbidden else "nothing is judged"
    return f"{reason}, so it counts as a question without an answer"


def format_no_relevant(n_judged: int) -> str:
    """Say that a question counts as one without an answer, because nothing judged is relevant."""
    return f"nothing is relevant to it ({n_judged} judged), so it counts as a question without an answer"


CORPUS_SKIPPED = "whether ids, quotes and spans are in the corpus, and what else answers, which needs corpus="
TEXTS_SKIPPED = "the texts of the passages, because the corpus has only ids; pass texts by id"


def format_unknown_document(document: Any, grade: float, n_documents: int) -> str:
    """Say which judged document is not in the corpus."""
    return f"{document!r} (grade {grade:g}) is not in the corpus of {n_documents:,}, so nothing finds it"


def format_unknown_document_fix(document: Any, *, is_relevant: bool) -> str:
    """Say why a document is removed from the judgments."""
    if is_relevant:
        return f"{document!r}, which is not in the corpus, is removed from its alternatives"
    return f"{document!r}, which is not relevant and not in the corpus, is removed"


def format_impossible_group(number: int, n_groups: int, group: Iterable[Any]) -> str:
    """Say which group nothing in the corpus can satisfy."""
    alternatives = ", ".join(map(repr, group))
    return f"nothing in the corpus can satisfy group {number} of {n_groups}: {alternatives}"


# Quotes.


def format_short_quote(quote: str, length: int, min_length: int) -> str:
    """Say how short a quote is."""
    return (
        f"the quote {quote!r} has {length} characters and would be found by chance, so comparing refuses it; quote at "
        f"least {min_length}"
    )


def format_ambiguous_quote(quote: str, documents: Sequence[DocumentId], n_places: int) -> str:
    """Say where a quote occurs."""
    if len(documents) > 1:
        where = f"in {len(documents)} documents, such as {', '.join(map(repr, documents[:MAX_NAMES]))}"
    else:
        where = f"{n_places} times in {documents[0]!r}"
    return f"the quote {quote_beginning(quote)} occurs {where}: each of these places satisfies it"


def format_cut_quote(quote: str, source: str) -> str:
    """Say in which source a quote is that the passages cut."""
    return f"the quote {quote_beginning(quote)} is in {source!r}, but the passages cut it; a Span survives that"


def format_cut_quote_fix(span: Span) -> str:
    """Say which span is added to a quote."""
    return f"{span!r} is an alternative to the quote that it holds"


def format_missing_quote(quote: str, n_passages: int, same_words: str | None) -> str:
    """Say that no passage has a quote, and what has the same words."""
    note = f"; {quote_beginning(same_words)} is, which has the same words" if same_words else ""
    return f"the quote {quote_beginning(quote)} is in none of the {n_passages:,} passages{note}"


def format_missing_quote_fix(same_words: str) -> str:
    """Say which words a quote takes."""
    return f"the quote becomes {same_words!r}, as the source writes it"


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
        f"{n_missing:,} of the {n_characters:,} characters of {span!r} are in no passage, as if a splitter had dropped "
        "them"
    )


def format_cut_span(span: Span, text: str, surroundings: str) -> str:
    """Say which span cuts a word."""
    return (
        f"{span!r} begins or ends within a word: it holds {quote_beginning(text)}, of {quote_beginning(surroundings)}"
    )


def format_moved_span(span: Span, text: str, quote: str, new_range: tuple[int, int] | None) -> str:
    """Say which span does not hold its quote, and where that is now, if it is known."""
    where = "which its source no longer has"
    if new_range is not None:
        where = f"which is now at {new_range[0]} to {new_range[1]}"
    return f"{span!r} holds {quote_beginning(text)} and not its quote {quote_beginning(quote)}, {where}"


def format_moved_span_fix(span: Span, moved: Span) -> str:
    """Say where a span is moved."""
    return f"{span!r} becomes {moved!r}, where its quote is"


# Documents and passages that are not judged.


def format_agreement_skipped(*, has_pieces: bool) -> str:
    """Say what is needed to know whether documents that retrievers agree on are relevant."""
    needs = "judgments by id and " if has_pieces else ""
    return f"whether documents that retrievers agree on are relevant too, which needs {needs}at least two runs="


def format_unjudged_at_top(question: str, document: DocumentId, n_first: int, runs: Sequence[str]) -> str:
    """Say which unjudged document all runs rank high."""
    return (
        f"{document!r} is among the first {n_first} of {numbers.join_names(list(runs))} for "
        f"{quote_beginning(question)}, but it is not judged, so it counts as not relevant"
    )


def format_similar_passage(document: DocumentId, relevant: DocumentId, share: float, shared: str | None) -> str:
    """Say which unjudged passage is like a relevant one; of a copy, `shared` is None."""
    is_like = "is the same as" if shared is None else f"shares {share:.0%} of its {shared} with"
    return f"{document!r} {is_like} {relevant!r}, which is relevant, but is not judged, so it counts as not relevant"


def format_copy_fix(document: DocumentId, relevant: DocumentId) -> str:
    """Say which copy is added to the judgments."""
    return f"{document!r} is an alternative to {relevant!r}, of which it is a copy"


def format_text_elsewhere(span: Span, text: str, document: DocumentId) -> str:
    """Say where the text of a span is, too."""
    return f"the text of {span!r}, {quote_beginning(text)}, is also in {document!r}, which is not judged"


# How hard the questions are.

DIFFICULTY_SKIPPED = "how hard the questions are, which needs runs= or corpus="
SEARCH_SKIPPED = "how hard the questions are, which needs runs= or: pip install 'retrieval-metrics[questions]'"


def format_few_passages_skipped(min_passages: int) -> str:
    """Say how many passages are needed to know how hard the questions are."""
    return f"how hard the questions are, which needs at least {min_passages} passages"


def format_unanswered_by_bm25(question: str, chance: float) -> str:
    """Say for which question BM25 finds hardly anything relevant."""
    return (
        f"BM25 hardly finds what is relevant to {quote_beginning(question)} (random passages rank as well in "
        f"{100 * chance:.0f} % of cases): it may have no answer, or the judgments of another question"
    )


def format_judgments_of_other_question(question: str, better_question: str) -> str:
    """Say which other question finds better what is relevant to both."""
    return (
        f"exactly the same is relevant to {quote_beginning(question)} and to {quote_beginning(better_question)}, which "
        "BM25 finds it better for: it may have that question's judgments"
    )


def format_easy_for_bm25(question: str) -> str:
    """Say which question is easy."""
    return f"BM25 ranks something relevant to {quote_beginning(question)} first, so it does not tell retrievers apart"


def format_unanswered_skipped(suspects: Sequence[QueryId | None], n_judged: int) -> str:
    """Say that BM25 finds nothing for so many questions that the search is to blame."""
    return (
        f"which questions have no answer, because BM25 hardly finds what is relevant to {len(suspects):,} of "
        f"{n_judged:,}: they use other words, so pass runs= of a retriever that matches meanings; suspected most are "
        f"{numbers.join_names([repr(query) for query in suspects], most=MAX_SUSPECTS)}"
    )


def format_unanswered_by_runs(question: str, runs: Sequence[str]) -> str:
    """Say for which question no run finds anything relevant."""
    return (
        f"nothing that is relevant to {quote_beginning(question)} is found by {numbers.join_names(list(runs))}: it may "
        "have no answer, or the judgments of another question"
    )


def format_easy_for_runs(question: str, runs: Sequence[str]) -> str:
    """Say which question is easy for all runs."""
    return (
        f"something relevant to {quote_beginning(question)} comes first in {numbers.join_names(list(runs))}, so it "
        "does not tell retrievers apart"
    )


def format_ignores_query(run: str, chance: Chance) -> str:
    """Say which run is not better than its own rankings dealt to other questions."""
    return f"of {run}, {format_chance(chance)}"


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
    verb = "is" if n_fixes == 1 else "are"
    return f"{numbers.format_count(n_fixes, 'repair')} {verb} safe: .fixed() makes them"


def format_title(n_questions: int, n_findings: int) -> str:
    """Return the title of the report."""
    return f"{numbers.format_count(n_questions, 'question')}, {numbers.format_count(n_findings, 'finding')}"
