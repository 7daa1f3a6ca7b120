"""Check judgments against the corpus: missing ids, quotes and spans, and groups that nothing can satisfy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.pieces import Piece, Quote, Span
from retrieval_metrics.inputs.sources import SourceText
from retrieval_metrics.judging.matching.matching import Matching
from retrieval_metrics.judging.matching.newlines import read_across_newlines, same_place
from retrieval_metrics.judging.matching.normalised import everywhere, normalised, where
from retrieval_metrics.judging.matching.texts import words
from retrieval_metrics.questions.linting.findings import Change, LintFinding
from retrieval_metrics.questions.linting.passages import UNPLACED
from retrieval_metrics.questions.linting.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.aliases import QueryId
    from retrieval_metrics.questions.linting.passages import Passages
    from retrieval_metrics.questions.linting.subject import Subject

SHOWN = 5


def without_relevant(subject: Subject) -> Iterator[LintFinding]:
    """Yield the questions without a relevant document: those without any judgment are meant to have no answer."""
    for query, relevant in subject.relevant.items():
        judged = len(subject.graded[query])
        if not relevant and not judged:
            yield LintFinding(
                "unanswerable", query, "nothing is judged, so it counts as a question without an answer", {}
            )
        elif not relevant:
            yield LintFinding(
                "no_relevant",
                query,
                f"nothing is relevant to it ({judged} judged), so it is left out of every mean",
                {"judged": judged},
            )


def short_quotes(subject: Subject) -> Iterator[LintFinding]:
    """Yield the quotes that comparing refuses, because they could occur by chance."""
    fewest = Matching().shortest_quote
    for query, graded in subject.graded.items():
        for judged in graded:
            if isinstance(judged, Quote) and (length := len(normalised(judged.text))) < fewest:
                yield LintFinding(
                    "short_quote",
                    query,
                    f"the quote {judged.text!r} has {length} characters and would be found by chance, so comparing "
                    f"refuses it; quote at least {fewest}",
                    {"quote": judged.text, "length": length},
                )


class JudgmentChecks:
    """Checks judgments against the corpus; each piece is looked up once."""

    def __init__(self, subject: Subject, passages: Passages) -> None:
        self._subject = subject
        self._passages = passages
        self._sources: dict[str, SourceText] = {}

    def findings(self) -> Iterator[LintFinding]:
        """Yield the judgments that do not fit the corpus, question by question."""
        for query in self._subject.graded:
            dead: set[Any] = set()
            groups = self._subject.groups(query)
            for judged, grade in self._subject.graded[query].items():
                for finding in self._checked(query, judged, groups):
                    yield finding
                    if finding.name in {"unknown_document", "unknown_source", "missing_quote"} and grade > 0:
                        dead.add(judged)
            yield from self._moved(query, groups)
            yield from _impossible(query, groups, dead)

    def _checked(self, query: QueryId, judged: Any, groups: list[dict[Any, float]]) -> Iterator[LintFinding]:
        if isinstance(judged, Quote):
            yield from self._quote(query, judged, groups)
        elif isinstance(judged, Span):
            yield from self._span(query, judged, groups)
        elif isinstance(judged, Piece):
            return
        elif judged not in self._passages.ids:
            yield self._unknown(query, judged, groups)

    def _unknown(self, query: QueryId, document: Any, groups: list[dict[Any, float]]) -> LintFinding:
        grade = self._subject.graded[query][document]
        spare = all(
            any(other in self._passages.ids and other != document and of_group[other] > 0 for other in of_group)
            for of_group in groups
            if document in of_group
        )
        change = None
        if grade <= 0:
            change = Change(f"{document!r}, which is not relevant and not in the corpus, is removed", document)
        elif spare:
            change = Change(f"{document!r}, which is not in the corpus, is removed from its alternatives", document)
        return LintFinding(
            "unknown_document",
            query,
            f"{document!r} (grade {grade:g}) is not in the corpus of {len(self._passages.ids):,}, so nothing finds it",
            {"document": document, "grade": grade},
            change,
        )

    def _quote(self, query: QueryId, quote: Quote, groups: list[dict[Any, float]]) -> Iterator[LintFinding]:
        if not self._passages.items:  # only the ids are known
            return
        places = self._passages.places(quote.text)
        count = sum(place.count for place in places)
        if count > 1:
            names = [place.name for place in places]
            if all(_all_named(group, quote, count, names) for group in groups if quote in group):
                return
            where = (
                f"in {len(names)} documents, such as {', '.join(map(repr, names[:SHOWN]))}"
                if len(names) > 1
                else f"{count} times in {names[0]!r}"
            )
            yield LintFinding(
                "ambiguous_quote",
                query,
                f"the quote {shortened(quote.text)} occurs {where}: each of these places satisfies it",
                {"quote": quote.text, "documents": names, "places": count},
            )
        elif not places and (source := self._passages.source_of(quote.text)) is not None:
            if not all(any(isinstance(other, Span) for other in group) for group in groups if quote in group):
                yield self._cut(query, quote, source)
        elif not places:
            yield self._missing(query, quote)

    def _cut(self, query: QueryId, quote: Quote, source: str) -> LintFinding:
        place = where(quote.text, self._passages.sources[source])
        change = None
        if place is not None:
            span = Span(source, *place)
            change = Change(f"{span!r} is an alternative to the quote that it holds", quote, (quote, span))
        return LintFinding(
            "cut_quote",
            query,
            f"the quote {shortened(quote.text)} is in {source!r}, but the passages cut it; a Span survives that",
            {"quote": quote.text, "source": source},
            change,
        )

    def _missing(self, query: QueryId, quote: Quote) -> LintFinding:
        own = self._own_words(quote.text)
        change = None
        if own is not None:
            change = Change(f"the quote becomes {own!r}, as the source writes it", quote, (Quote(own),))
        return LintFinding(
            "missing_quote",
            query,
            f"the quote {shortened(quote.text)} is in none of the {len(self._passages.items):,} passages"
            + (f"; {shortened(own)} is, which has the same words" if own else ""),
            {"quote": quote.text, "same_words": own},
            change,
        )

    def _own_words(self, quote: str) -> str | None:
        """Return the only part of the corpus that has the words of a quote, ignoring punctuation."""
        wanted = words(quote)
        found = set()
        for at in self._passages.having_all(wanted):
            text = self._passages.items[at].text or ""
            for start, end in _stretches(wanted, text):
                found.add(text[start:end])
        return found.pop() if len({normalised(text) for text in found}) == 1 else None

    def _span(self, query: QueryId, judged: Span, groups: list[dict[Any, float]]) -> Iterator[LintFinding]:
        if not self._passages.items:
            return
        text = self._passages.sources.get(judged.source)
        span = judged if text is None else self._meant(judged, groups)
        if text is None:
            if span.source not in {item.source for item in self._passages.items}:
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

    def _moved(self, query: QueryId, groups: list[dict[Any, float]]) -> Iterator[LintFinding]:
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


def _impossible(query: QueryId, groups: list[dict[Any, float]], dead: set[Any]) -> Iterator[LintFinding]:
    for number, group in enumerate(groups, start=1):
        alive = [judged for judged, grade in group.items() if grade > 0 and judged not in dead]
        if alive or len(group) == 1 or not dead & group.keys():  # of a single judgment, its own finding says so
            continue
        yield LintFinding(
            "impossible_group",
            query,
            f"nothing in the corpus can satisfy group {number} of {len(groups)}: {', '.join(map(repr, group))}",
            {"group": number, "alternatives": list(group)},
        )


def _all_named(group: dict[Any, float], quote: Quote, count: int, names: list[Any]) -> bool:
    """Return whether each place of a quote is judged: whether it has as many spans as places, in these documents."""
    spans = [judged for judged, grade in group.items() if isinstance(judged, Span) and grade == group[quote]]
    return len(spans) >= count and {span.source for span in spans} >= set(names)


def _within_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _stretches(wanted: list[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts of a text that have the wanted words in a row."""
    places = list(_word_places(text))
    spelled = [word for word, _, _ in places]
    for at in range(len(spelled) - len(wanted) + 1):
        if spelled[at : at + len(wanted)] == wanted:
            yield places[at][1], places[at + len(wanted) - 1][2]


def _word_places(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word of a text with its start and end."""
    at = 0
    for part in text.split():
        at = text.index(part, at)
        for word in words(part):
            yield word, at, at + len(part)
        at += len(part)
