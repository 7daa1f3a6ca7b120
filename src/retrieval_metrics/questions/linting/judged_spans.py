"""Check whether spans hold what they held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Quote, Span
from retrieval_metrics.inputs.sources import SourceText
from retrieval_metrics.judging.normalised import everywhere, normalised
from retrieval_metrics.judging.places import read_across_newlines, same_place
from retrieval_metrics.questions.linting.findings import Change, LintFinding
from retrieval_metrics.questions.words.passages import UNPLACED
from retrieval_metrics.questions.words.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.questions.linting.subject import Subject
    from retrieval_metrics.questions.words.passages import Passages


def spans_in_corpus(subject: Subject) -> Iterator[LintFinding]:
    """Yield the spans whose source is unknown, that moved, that passages leave out, or that cut a word."""
    if subject.passages is None or not subject.passages.items:
        return
    checks = _Spans(subject.passages)
    for query, graded in subject.graded.items():
        groups = subject.groups(query)
        for judged in graded:
            if isinstance(judged, Span):
                yield from checks.in_source(query, judged, groups)
        yield from checks.moved(query, groups)


class _Spans:
    """Checks spans; each source is read once."""

    def __init__(self, passages: Passages) -> None:
        self._passages = passages
        self._sources: dict[str, SourceText] = {}

    def in_source(self, query: QueryId, judged: Span, groups: list[dict[Any, float]]) -> Iterator[LintFinding]:
        """Yield what is wrong with the place of a span."""
        text = self._passages.sources.get(judged.source)
        span = judged if text is None else self._meant(judged, groups)
        if text is None:
            if not self._passages.has_source(span.source):
                yield LintFinding(
                    "unknown_source",
                    query,
                    f"{judged!r} is in a source that is not in the corpus",
                    {"span": judged},
                )
        elif span.end > len(text):
            yield LintFinding(
                "moved_span",
                query,
                f"{judged!r} ends after the end of its source, which has {len(text):,} characters",
                {"span": judged, "length": len(text)},
            )
        elif UNPLACED in (held := text[span.start : span.end]):
            missing = held.count(UNPLACED)
            yield LintFinding(
                "uncovered_span",
                query,
                f"{missing:,} of the {len(held):,} characters of {judged!r} are in no passage, as if a splitter had "
                "dropped them",
                {"span": judged, "missing": missing},
            )
        elif _within_word(text, span.start) or _within_word(text, span.end):
            held = text[max(span.start - 10, 0) : span.end + 10]
            yield LintFinding(
                "cut_span",
                query,
                f"{judged!r} begins or ends within a word: it holds {shortened(text[span.start : span.end])}, of "
                f"{shortened(held)}",
                {"span": judged, "text": text[span.start : span.end]},
            )

    def moved(self, query: QueryId, groups: list[dict[Any, float]]) -> Iterator[LintFinding]:
        """Yield the spans that do not hold the quote that is their alternative, because both name one place."""
        for group in groups:
            quotes = [judged.text for judged in group if isinstance(judged, Quote)]
            if not quotes:
                continue
            for span in group:
                if not isinstance(span, Span) or span.source not in self._passages.sources:
                    continue
                meant = self._meant(span, groups)
                held = self._passages.sources[span.source][meant.start : meant.end]
                if UNPLACED in held:  # what the passages leave out is not known, so the source need not have changed
                    continue
                plain = normalised(held)
                if not any(same_place(normalised(quote), plain) for quote in quotes):
                    yield self._moved_span(query, span, quotes, held)

    def _moved_span(self, query: QueryId, span: Span, quotes: list[str], held: str) -> LintFinding:
        source = self._passages.sources[span.source]
        found = [places for quote in quotes if (places := list(everywhere(quote, source)))]
        change = None
        said = "which its source no longer has"
        if len(found) == 1:
            start, end = found[0][0]
            said = f"which is now at {start} to {end}"
            if len(found[0]) == 1:
                moved = Span(span.source, start, end, span.uncertain)
                change = Change(f"{span!r} becomes {moved!r}, where its quote is", span, (moved,))
        return LintFinding(
            "moved_span",
            query,
            f"{span!r} holds {shortened(held)} and not its quote {shortened(quotes[0])}, {said}",
            {"span": span, "holds": held, "quote": quotes[0]},
            change,
        )

    def _meant(self, span: Span, groups: list[dict[Any, float]]) -> Span:
        """Return a span with its offsets in the source of the corpus, whose lines may end otherwise."""
        source = self._sources.get(span.source)
        if source is None:
            source = self._sources[span.source] = SourceText(self._passages.sources[span.source])
        beside = [normalised(one.text) for group in groups if span in group for one in group if isinstance(one, Quote)]
        return read_across_newlines({0: span}, {span.source: source}, {0: beside})[0][0]


def _within_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
