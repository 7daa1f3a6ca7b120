"""Check whether spans are in the corpus, and still hold the quotes beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.datasets import lint_wording as wording
from retrieval_metrics.datasets.corpus_index import WORD_SEPARATOR
from retrieval_metrics.datasets.lint_fixes import LintFix
from retrieval_metrics.datasets.lint_report import LintFinding
from retrieval_metrics.inputs.pieces import Quote, Span
from retrieval_metrics.inputs.source_text import SourceText
from retrieval_metrics.matching.line_endings import has_same_text, repair_line_endings
from retrieval_metrics.matching.quote_search import find_ranges
from retrieval_metrics.matching.text_normalisation import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.datasets.corpus_index import CorpusIndex
    from retrieval_metrics.datasets.lint_input import LintInput


# Characters around a span that cuts a word, which a message shows.
SHOWN_AROUND = 10


def find_wrong_spans(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the spans whose source is unknown, that moved, that passages leave out, or that cut a word."""
    if subject.passages is None or not subject.passages.items:
        return
    checks = _SpanChecks(subject.passages)
    for query, grades in subject.graded.items():
        groups = subject.groups(query)
        for judged in grades:
            if isinstance(judged, Span):
                finding = checks.check_range(query, judged, groups)
                if finding is not None:
                    yield finding
        yield from checks.find_moved(query, groups)


class _SpanChecks:
    """Checks spans; each source is read once."""

    def __init__(self, passages: CorpusIndex) -> None:
        self._passages = passages
        self._source_texts: dict[str, SourceText] = {}

    def check_range(self, query: QueryId, written_span: Span, groups: Sequence[dict[Any, float]]) -> LintFinding | None:
        """Return what is wrong with the place of a span, if anything is."""
        source = self._passages.sources.get(written_span.source)
        if source is None:
            if self._passages.has_source(written_span.source):
                return None
            return LintFinding(
                "unknown_source", query, wording.format_unknown_source(written_span), {"span": written_span}
            )
        located_span = self._locate(written_span, groups)
        if located_span.end > len(source):
            message = wording.format_span_after_end(written_span, len(source))
            return LintFinding("moved_span", query, message, {"span": written_span, "length": len(source)})
        text = source[located_span.start : located_span.end]
        if WORD_SEPARATOR in text:
            # Each character that no passage covers is one separator in the source.
            n_missing = text.count(WORD_SEPARATOR)
            message = wording.format_uncovered_span(written_span, n_missing, len(text))
            return LintFinding("uncovered_span", query, message, {"span": written_span, "missing": n_missing})
        if _is_within_word(source, located_span.start) or _is_within_word(source, located_span.end):
            surroundings = source[max(located_span.start - SHOWN_AROUND, 0) : located_span.end + SHOWN_AROUND]
            message = wording.format_cut_span(written_span, text, surroundings)
            return LintFinding("cut_span", query, message, {"span": written_span, "text": text})
        return None

    def find_moved(self, query: QueryId, groups: Sequence[dict[Any, float]]) -> Iterator[LintFinding]:
        """Yield the spans that do not hold the quote that is their alternative, because both name one place."""
        for group in groups:
            quotes = [alternative.text for alternative in group if isinstance(alternative, Quote)]
            spans = [alternative for alternative in group if isinstance(alternative, Span)]
            for span in spans:
                source = self._passages.sources.get(span.source)
                if source is None or not quotes:
                    continue
                located_span = self._locate(span, groups)
                text = source[located_span.start : located_span.end]
                if not _may_hold_quote(text, quotes):
                    yield self._make_moved_span_finding(query, span, quotes, text)

    def _make_moved_span_finding(self, query: QueryId, span: Span, quotes: Sequence[str], text: str) -> LintFinding:
        new_ranges = self._find_ranges_of_quotes(span.source, quotes)
        fix = None
        if len(new_ranges) == 1:
            start, end = new_ranges[0]
            moved = Span(span.source, start, end, span.uncertain)
            fix = LintFix(wording.format_moved_span_fix(span, moved), span, (moved,))
        message = wording.format_moved_span(span, text, quotes[0], new_ranges[0] if new_ranges else None)
        return LintFinding("moved_span", query, message, {"span": span, "holds": text, "quote": quotes[0]}, fix)

    def _find_ranges_of_quotes(self, source: str, quotes: Sequence[str]) -> list[tuple[int, int]]:
        """Return where a source has one of several quotes; nothing if it has two of them."""
        ranges: list[tuple[int, int]] = []
        for quote in quotes:
            ranges_of_quote = list(find_ranges(quote, self._passages.sources[source]))
            if ranges and ranges_of_quote:
                return []
            ranges += ranges_of_quote
        return ranges

    def _locate(self, span: Span, groups: Sequence[dict[Any, float]]) -> Span:
        """Return a span with its offsets in the source of the corpus, whose lines may end otherwise."""
        source = self._source_texts.get(span.source)
        if source is None:
            source = SourceText(self._passages.sources[span.source])
            self._source_texts[span.source] = source
        normal_quotes: list[str] = []
        for group in groups:
            if span in group:
                normal_quotes += [normalise(judged.text) for judged in group if isinstance(judged, Quote)]
        located_spans, _ = repair_line_endings({0: span}, {span.source: source}, {0: normal_quotes})
        return located_spans[0]


def _may_hold_quote(text: str, quotes: Sequence[str]) -> bool:
    """Return whether the text of a span has one of its quotes, or is not wholly known."""
    if WORD_SEPARATOR in text:  # what the passages leave out is not known, so the source need not have changed
        return True
    normal_text = normalise(text)
    return any(has_same_text(normalise(quote), normal_text) for quote in quotes)


def _is_within_word(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and text[offset - 1].isalnum() and text[offset].isalnum()
