"""Find what is wrong with the judgments of a set: their quotes, their spans, and what is not judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.validation import format_argument
from retrieval_metrics.datasets.bm25 import WORD_SEPARATOR, shortened
from retrieval_metrics.datasets.lint_report import LintFinding, LintFix
from retrieval_metrics.inputs.chunk_offsets import SourceText
from retrieval_metrics.inputs.items import Piece, Quote, Span
from retrieval_metrics.matching.line_endings import has_same_text, repair_line_endings
from retrieval_metrics.matching.ranking_order import Matching, OrderedRankings
from retrieval_metrics.matching.text_normalisation import find_range, find_ranges, normalise
from retrieval_metrics.matching.words import words
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.datasets.bm25 import CorpusIndex
    from retrieval_metrics.datasets.lint_report import LintInput


def forbidden(subject: LintInput) -> Iterator[LintFinding]:
    """Yield how many judgments are below 0, because some files write -1 for what nobody judged."""
    below = [sum(grade < 0 for grade in grades.values()) for grades in subject.graded.values()]
    if total := sum(below):
        yield LintFinding(
            "forbidden",
            None,
            f"{total} judgments of {sum(map(bool, below))} questions are below 0, which must not come back; if -1 "
            "means unjudged where they come from, leave them out",
            {"judgments": total},
        )


def without_relevant(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the questions without a relevant document: those without a grade of 0 are meant to have no answer."""
    for query, relevant in subject.relevant.items():
        grades = subject.graded[query].values()
        if relevant:
            continue
        if all(grade < 0 for grade in grades):
            said = f"{len(grades)} documents are forbidden and none is relevant" if grades else "nothing is judged"
            yield LintFinding("unanswerable", query, f"{said}, so it counts as a question without an answer", {})
        else:
            yield LintFinding(
                "no_relevant",
                query,
                f"nothing is relevant to it ({len(grades)} judged), so it counts as a question without an answer",
                {"judged": len(grades)},
            )


def unknown_documents(subject: LintInput) -> Iterator[LintFinding | str]:
    """Yield the judged ids that are not in the corpus."""
    if subject.passages is None:
        yield (
            "whether ids, quotes and spans are in the corpus, and what else answers, which needs "
            + format_argument("corpus")
        )
        return
    if not subject.passages.items:
        yield ("the texts of the passages, because the corpus has only ids; pass texts by id")
    for query, graded in subject.graded.items():
        for judged in graded:
            if not isinstance(judged, Piece) and judged not in subject.passages.ids:
                yield _unknown(subject, subject.passages, query, judged)


def _unknown(subject: LintInput, passages: CorpusIndex, query: QueryId, document: Any) -> LintFinding:
    grade = subject.graded[query][document]
    spare = all(
        any(other in passages.ids and other != document and of_group[other] > 0 for other in of_group)
        for of_group in subject.groups(query)
        if document in of_group
    )
    change = None
    if grade <= 0:
        change = LintFix(f"{document!r}, which is not relevant and not in the corpus, is removed", document)
    elif spare:
        change = LintFix(f"{document!r}, which is not in the corpus, is removed from its alternatives", document)
    return LintFinding(
        "unknown_document",
        query,
        f"{document!r} (grade {grade:g}) is not in the corpus of {len(passages.ids):,}, so nothing finds it",
        {"document": document, "grade": grade},
        change,
    )


def impossible_groups(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the groups of several alternatives of which none is in the corpus."""
    if subject.passages is None:
        return
    for query in subject.graded:
        groups = subject.groups(query)
        for number, group in enumerate(groups, start=1):
            relevant = [judged for judged, grade in group.items() if grade > 0]
            if len(group) > 1 and relevant and all(_is_gone(judged, subject.passages) for judged in relevant):
                yield LintFinding(
                    "impossible_group",
                    query,
                    f"nothing in the corpus can satisfy group {number} of {len(groups)}: {', '.join(map(repr, group))}",
                    {"group": number, "alternatives": list(group)},
                )


def _is_gone(judged: Any, passages: CorpusIndex) -> bool:
    """Return whether the corpus is known not to have what is judged."""
    if isinstance(judged, Quote):
        return bool(passages.items) and not passages.places(judged.text) and passages.source_of(judged.text) is None
    if isinstance(judged, Span):
        return bool(passages.items) and not passages.has_source(judged.source)
    return not isinstance(judged, Piece) and judged not in passages.ids


# Check whether quotes are in the corpus, and where.

SHOWN = 5


def short_quotes(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the quotes that comparing refuses, because they could occur by chance."""
    fewest = Matching().min_quote_length
    for query, graded in subject.graded.items():
        for judged in graded:
            if isinstance(judged, Quote) and (length := len(normalise(judged.text))) < fewest:
                yield LintFinding(
                    "short_quote",
                    query,
                    f"the quote {judged.text!r} has {length} characters and would be found by chance, so comparing "
                    f"refuses it; quote at least {fewest}",
                    {"quote": judged.text, "length": length},
                )


def quotes_in_corpus(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the quotes that are nowhere, in several places, or cut by the passages."""
    if subject.passages is None or not subject.passages.items:
        return
    for query, graded in subject.graded.items():
        groups = subject.groups(query)
        for judged in graded:
            if isinstance(judged, Quote):
                of_quote = [group for group in groups if judged in group]
                yield from _quote(subject.passages, query, judged, of_quote)


def _quote(
    passages: CorpusIndex, query: QueryId, quote: Quote, groups: list[dict[Any, float]]
) -> Iterator[LintFinding]:
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


def _cut(passages: CorpusIndex, query: QueryId, quote: Quote, source: str) -> LintFinding:
    place = find_range(quote.text, passages.sources[source])
    change = None
    if place is not None:
        span = Span(source, *place)
        change = LintFix(f"{span!r} is an alternative to the quote that it holds", quote, (quote, span))
    return LintFinding(
        "cut_quote",
        query,
        f"the quote {shortened(quote.text)} is in {source!r}, but the passages cut it; a Span survives that",
        {"quote": quote.text, "source": source},
        change,
    )


def _missing(passages: CorpusIndex, query: QueryId, quote: Quote) -> LintFinding:
    own = _own_words(passages, quote.text)
    change = None
    if own is not None:
        change = LintFix(f"the quote becomes {own!r}, as the source writes it", quote, (Quote(own),))
    return LintFinding(
        "missing_quote",
        query,
        f"the quote {shortened(quote.text)} is in none of the {len(passages.items):,} passages"
        + (f"; {shortened(own)} is, which has the same words" if own else ""),
        {"quote": quote.text, "same_words": own},
        change,
    )


def _own_words(passages: CorpusIndex, quote: str) -> str | None:
    """Return the only part of the corpus that has the words of a quote, ignoring punctuation."""
    wanted = words(quote)
    texts = (passages.items[at].text or "" for at in passages.containing_all(wanted))
    found = [text[start:end] for text in texts for start, end in _stretches(wanted, text)]
    return found[0] if len({normalise(text) for text in found}) == 1 else None


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


def spans_in_corpus(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the spans whose source is unknown, that moved, that passages leave out, or that cut a word."""
    if subject.passages is None or not subject.passages.items:
        return
    checks = _SpanCheck(subject.passages)
    for query, graded in subject.graded.items():
        groups = subject.groups(query)
        for judged in graded:
            if isinstance(judged, Span):
                yield from checks.in_source(query, judged, groups)
        yield from checks.moved(query, groups)


class _SpanCheck:
    """Checks spans; each source is read once."""

    def __init__(self, passages: CorpusIndex) -> None:
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
        elif WORD_SEPARATOR in (held := text[span.start : span.end]):
            missing = held.count(WORD_SEPARATOR)
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
                if (
                    WORD_SEPARATOR in held
                ):  # what the passages leave out is not known, so the source need not have changed
                    continue
                plain = normalise(held)
                if not any(has_same_text(normalise(quote), plain) for quote in quotes):
                    yield self._moved_span(query, span, quotes, held)

    def _moved_span(self, query: QueryId, span: Span, quotes: list[str], held: str) -> LintFinding:
        source = self._passages.sources[span.source]
        found = [places for quote in quotes if (places := list(find_ranges(quote, source)))]
        change = None
        said = "which its source no longer has"
        if len(found) == 1:
            start, end = found[0][0]
            said = f"which is now at {start} to {end}"
            if len(found[0]) == 1:
                moved = Span(span.source, start, end, span.uncertain)
                change = LintFix(f"{span!r} becomes {moved!r}, where its quote is", span, (moved,))
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
        beside = [normalise(one.text) for group in groups if span in group for one in group if isinstance(one, Quote)]
        return repair_line_endings({0: span}, {span.source: source}, {0: beside})[0][0]


def _within_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


# Find unjudged passages that resemble a relevant one.

COPY = 0.8
"""A passage that shares this share of the shorter one's runs of words is a copy."""
ALIKE = 0.5
"""A passage that shares this much probably answers too."""
REWORDED = 0.65
"""A passage that shares this share of the rare words is probably a reworded copy."""
FEWEST_RUNS = 4
"""Shorter passages resemble each other by chance."""
SHORTEST_SPAN = 40  # characters
RUNS, WORDS = "runs of words", "rare words"
"""What passages share that are like each other."""

TOP = 3
"""A document that every run ranks this high is probably relevant."""
FEWEST_RUNS_TO_AGREE = 2


def at_top(subject: LintInput) -> Iterator[LintFinding | str]:
    """Yield the unjudged documents that every run ranks among the first three, one finding for each question."""
    runs, pieces = subject.runs, subject.qrels.has_pieces
    if pieces or len(runs) < FEWEST_RUNS_TO_AGREE:
        needs = "judgments by id and " if pieces else ""
        yield (
            f"whether documents that retrievers agree on are relevant too, which needs {needs}at least two "
            f"{format_argument('runs')}"
        )
        return
    found_by: dict[Any, list[list[Any]]] = {query: [] for query in subject.queries}
    for rankings in (OrderedRankings(run, Matching(deduplicate=True), STANDARD.order) for run in runs.values()):
        for query, ranking in rankings.iterate(found_by):
            found_by[query].append(rankings.ids(ranking)[:TOP])
    if not any(one in subject.graded[query] for query, tops in found_by.items() for top in tops for one in top):
        return  # the judgments are of other ids, or the runs of other questions
    for query, tops in found_by.items():
        found = [one for one in tops[0] if one not in subject.graded[query] and all(one in top for top in tops[1:])]
        if found:
            yield LintFinding(
                "unjudged_at_top",
                query,
                f"{found[0]!r} is among the first {TOP} of {numbers.join_names(list(runs))} for "
                f"{shortened(subject.texts[query])}, but it is not judged, so it counts as not relevant",
                {"document": found[0], "documents": found, "runs": list(runs)},
            )


def resembling(subject: LintInput) -> Iterator[LintFinding]:
    """Yield the unjudged passages that resemble a relevant one, question by question."""
    if subject.passages is not None:
        yield from _SimilarPassageCheck(subject, subject.passages).findings()


class _PassageSimilarity(NamedTuple):
    """The share of something that two passages have in common; of copies that is everything, and `what` is None."""

    share: float
    what: str | None


class _SimilarPassageCheck:
    """Finds passages that resemble relevant ones; each passage is compared once."""

    def __init__(self, subject: LintInput, passages: CorpusIndex) -> None:
        self._subject = subject
        self._passages = passages
        self._likenesses: dict[int, dict[int, _PassageSimilarity]] = {}

    def findings(self) -> Iterator[LintFinding]:
        """Yield the unjudged passages that resemble a relevant one, question by question."""
        for query, relevant in self._subject.relevant.items():
            reported: set[int] = set()
            for judged in sorted(relevant, key=repr):
                if isinstance(judged, Span):
                    yield from self._elsewhere(query, judged)
                elif judged in self._passages.passage_positions:
                    yield from self._like(query, judged, reported)

    def _like(self, query: QueryId, document: Any, reported: set[int]) -> Iterator[LintFinding]:
        graded, at = self._subject.graded[query], self._passages.passage_positions[document]
        for other, (share, what) in self._like_passage(at).items():
            name = self._passages.items[other].id
            if other in reported or name is None or name in graded or self._passages.overlap(at, other):
                continue
            reported.add(other)
            change = None
            if what is None:
                done = f"{name!r} is an alternative to {document!r}, of which it is a copy"
                change = LintFix(done, document, (document, name))
            like = "is the same as" if what is None else f"shares {share:.0%} of its {what} with"
            yield LintFinding(
                "unjudged_duplicate" if share >= COPY and what != WORDS else "possible_answer",
                query,
                f"{name!r} {like} {document!r}, which is relevant, but is not judged, so it counts as not relevant",
                {"document": name, "like": document, "share": share},
                change,
            )

    def _like_passage(self, at: int) -> dict[int, _PassageSimilarity]:
        passages = self._passages
        if at not in self._likenesses:
            found = {other: _PassageSimilarity(1.0, None) for other in passages.copies(at)}
            if len(passages.shingles[at]) >= FEWEST_RUNS:
                for other, share in passages.find_similar(at, ALIKE).items():
                    if len(passages.shingles[other]) >= FEWEST_RUNS:
                        found.setdefault(other, _PassageSimilarity(share, RUNS))
                for other, share in passages.find_similar_in_words(at, REWORDED).items():
                    found.setdefault(other, _PassageSimilarity(share, WORDS))
            self._likenesses[at] = found
        return self._likenesses[at]

    def _elsewhere(self, query: QueryId, span: Span) -> Iterator[LintFinding]:
        """Yield a finding if the text of a span is also in other places, and no alternative covers them."""
        text = self._subject.text_of(span)
        if text is None or len(text) < SHORTEST_SPAN:
            return
        for group in self._subject.groups(query):
            if span in group and any(isinstance(other, Quote) for other in group):
                return
        places = self._passages.places(text)
        judged = {other.source for other in self._subject.relevant[query] if isinstance(other, Span)}
        others = [name for name, count in places.items() if name not in judged or count > 1]
        if others:
            yield LintFinding(
                "possible_answer",
                query,
                f"the text of {span!r}, {shortened(text)}, is also in {others[0]!r}, which is not judged",
                {"document": others[0], "like": span, "documents": others},
            )
