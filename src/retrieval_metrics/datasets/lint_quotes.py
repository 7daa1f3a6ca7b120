"""Check whether quotes are long enough, and where they are in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.lint_fixes import LintFix
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.inputs.pieces import Quote, Span
from retrieval_metrics.matching.matching_options import Matching
from retrieval_metrics.matching.quote_search import find_range
from retrieval_metrics.matching.text_normalisation import normalise
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.corpus_index import CorpusIndex
    from retrieval_metrics.datasets.lint_input import LintInput


def find_short_quotes(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the quotes that comparing refuses, because they could occur by chance."""
    min_length = Matching().min_quote_length
    for query, grades in subject.graded.items():
        for judged in grades:
            if not isinstance(judged, Quote):
                continue
            length = len(normalise(judged.text))
            if length < min_length:
                message = wording.format_short_quote(judged.text, length, min_length)
                yield LintFinding("short_quote", query, message, {"quote": judged.text, "length": length})


def find_wrong_quotes(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the quotes that are nowhere, in several places, or cut by the passages."""
    if subject.passages is None or not subject.passages.items:
        return
    for query, grades in subject.graded.items():
        groups = subject.groups(query)
        for judged in grades:
            if isinstance(judged, Quote):
                groups_of_quote = [group for group in groups if judged in group]
                finding = _check_quote(subject.passages, query, judged, groups_of_quote)
                if finding is not None:
                    yield finding


def _check_quote(
    passages: CorpusIndex, query: QueryId, quote: Quote, groups: Sequence[dict[Any, float]]
) -> LintFinding | None:
    """Return what is wrong with a quote; None if nothing is. `groups` are the groups with this quote."""
    n_places_by_document = passages.count_places(quote.text)
    n_places = sum(n_places_by_document.values())
    if n_places > 1:
        documents = list(n_places_by_document)
        if all(_covers_all_places(group, quote, n_places, documents) for group in groups):
            return None
        message = wording.format_ambiguous_quote(quote.text, documents, n_places)
        evidence = {"quote": quote.text, "documents": documents, "places": n_places}
        return LintFinding("ambiguous_quote", query, message, evidence)
    if n_places_by_document:
        return None
    source = passages.find_source_of_quote(quote.text)
    if source is None:
        return _missing_quote_finding(passages, query, quote)
    if all(_has_span(group) for group in groups):
        return None
    return _cut_quote_finding(passages, query, quote, source)


def _has_span(group: dict[Any, float]) -> bool:
    return any(isinstance(judged, Span) for judged in group)


def _covers_all_places(group: dict[Any, float], quote: Quote, n_places: int, documents: Sequence[Any]) -> bool:
    """Return whether a group judges every place of a quote: it has as many spans as places, in all the documents."""
    spans = [judged for judged, grade in group.items() if isinstance(judged, Span) and grade == group[quote]]
    return len(spans) >= n_places and {span.source for span in spans} >= set(documents)


def _cut_quote_finding(passages: CorpusIndex, query: QueryId, quote: Quote, source: str) -> LintFinding:
    quote_range = find_range(quote.text, passages.sources[source])
    fix = None
    if quote_range is not None:
        span = Span(source, *quote_range)
        fix = LintFix(wording.format_cut_quote_fix(span), quote, (quote, span))
    message = wording.format_cut_quote(quote.text, source)
    return LintFinding("cut_quote", query, message, {"quote": quote.text, "source": source}, fix)


def _missing_quote_finding(passages: CorpusIndex, query: QueryId, quote: Quote) -> LintFinding:
    same_words = _find_same_words(passages, quote.text)
    fix = None
    if same_words is not None:
        fix = LintFix(wording.format_missing_quote_fix(same_words), quote, (Quote(same_words),))
    message = wording.format_missing_quote(quote.text, len(passages.items), same_words)
    return LintFinding("missing_quote", query, message, {"quote": quote.text, "same_words": same_words}, fix)


def _find_same_words(passages: CorpusIndex, quote: str) -> str | None:
    """Return the only part of the corpus that has the words of a quote, ignoring punctuation."""
    quote_words = words(quote)
    texts: list[str] = []
    for position in passages.find_passages_with_words(quote_words):
        text = passages.items[position].text or ""
        texts += [text[start:end] for start, end in _find_word_sequence(quote_words, text)]
    is_unique = len({normalise(text) for text in texts}) == 1
    return texts[0] if is_unique else None


class _WordInText(NamedTuple):
    """A word of a text, with start and end of the part between blanks that it is in."""

    word: str
    start: int
    end: int


def _find_word_sequence(wanted_words: list[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text that have the wanted words in a row."""
    words_in_text = list(_locate_words(text))
    spelled_words = [word_in_text.word for word_in_text in words_in_text]
    for start in range(len(spelled_words) - len(wanted_words) + 1):
        end = start + len(wanted_words)
        if spelled_words[start:end] == wanted_words:
            yield words_in_text[start].start, words_in_text[end - 1].end


def _locate_words(text: str) -> Iterator[_WordInText]:
    """Yield each word of a text with its place."""
    start = 0
    for part in text.split():
        start = text.index(part, start)
        end = start + len(part)
        for word in words(part):
            yield _WordInText(word, start, end)
        start = end
