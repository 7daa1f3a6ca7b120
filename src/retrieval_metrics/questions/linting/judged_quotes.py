"""Check whether quotes are in the corpus, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Quote, Span
from retrieval_metrics.judging.normalised import normalised, where
from retrieval_metrics.judging.pieces_met import words
from retrieval_metrics.judging.ranking_order import Matching
from retrieval_metrics.questions.linting.findings import Change, LintFinding
from retrieval_metrics.questions.words.wording import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.questions.linting.subject import Subject
    from retrieval_metrics.questions.words.passages import Passages

SHOWN = 5


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


def quotes_in_corpus(subject: Subject) -> Iterator[LintFinding]:
    """Yield the quotes that are nowhere, in several places, or cut by the passages."""
    if subject.passages is None or not subject.passages.items:
        return
    for query, graded in subject.graded.items():
        groups = subject.groups(query)
        for judged in graded:
            if isinstance(judged, Quote):
                of_quote = [group for group in groups if judged in group]
                yield from _quote(subject.passages, query, judged, of_quote)


def _quote(passages: Passages, query: QueryId, quote: Quote, groups: list[dict[Any, float]]) -> Iterator[LintFinding]:
    """Yield what is wrong with a quote; `groups` are those it is in."""
    places = passages.places(quote.text)
    count = sum(places.values())
    if count > 1:
        names = list(places)
        if all(_all_named(group, quote, count, names) for group in groups):
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
    elif not places and (source := passages.source_of(quote.text)) is not None:
        if not all(any(isinstance(other, Span) for other in group) for group in groups):
            yield _cut(passages, query, quote, source)
    elif not places:
        yield _missing(passages, query, quote)


def _cut(passages: Passages, query: QueryId, quote: Quote, source: str) -> LintFinding:
    place = where(quote.text, passages.sources[source])
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


def _missing(passages: Passages, query: QueryId, quote: Quote) -> LintFinding:
    own = _own_words(passages, quote.text)
    change = None
    if own is not None:
        change = Change(f"the quote becomes {own!r}, as the source writes it", quote, (Quote(own),))
    return LintFinding(
        "missing_quote",
        query,
        f"the quote {shortened(quote.text)} is in none of the {len(passages.items):,} passages"
        + (f"; {shortened(own)} is, which has the same words" if own else ""),
        {"quote": quote.text, "same_words": own},
        change,
    )


def _own_words(passages: Passages, quote: str) -> str | None:
    """Return the only part of the corpus that has the words of a quote, ignoring punctuation."""
    wanted = words(quote)
    texts = (passages.items[at].text or "" for at in passages.having_all(wanted))
    found = [text[start:end] for text in texts for start, end in _stretches(wanted, text)]
    return found[0] if len({normalised(text) for text in found}) == 1 else None


def _all_named(group: dict[Any, float], quote: Quote, count: int, names: list[Any]) -> bool:
    """Return whether each place of a quote is judged: whether it has as many spans as places, in these documents."""
    spans = [judged for judged, grade in group.items() if isinstance(judged, Span) and grade == group[quote]]
    return len(spans) >= count and {span.source for span in spans} >= set(names)


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
