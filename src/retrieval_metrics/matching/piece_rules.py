"""The rule of each kind of piece: ids, metadata, quotes, texts, spans, and what is covered of them."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise, product
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from retrieval_metrics._internal.validation import common_id_type, python_or_cli_text, require_same_id_type
from retrieval_metrics.inputs.chunk_offsets import UNSPACED_SCRIPTS
from retrieval_metrics.inputs.items import Metadata, Quote, Span, Text
from retrieval_metrics.matching.judged_run import Unlocated, within
from retrieval_metrics.matching.span_offsets import (
    ItemLocation,
    ItemPositions,
    RangeUnion,
    intersect_ranges,
    merge_ranges,
    pieces_by_query,
    repair_line_endings,
)
from retrieval_metrics.matching.text_normalisation import (
    SearchedText,
    is_separate_part,
    locate_words,
    normalise,
    normalise_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from retrieval_metrics._internal.validation import BoolArray, Cut, FloatArray, QueryId
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.ranking_order import Matching
    from retrieval_metrics.matching.span_offsets import PieceHits, SpanLocator

    WordRun: TypeAlias = tuple[str, ...]
    Gain = Callable[[Iterable[frozenset[int]]], int]


class IdRule:
    """Finds ids that are judged alongside pieces, each at the first item that has it."""

    def __init__(self, qrels: Qrels, matching: Matching) -> None:
        self._qrels = qrels
        self._key = matching.key
        self._ids: dict[int, dict[Any, int]] = {
            query: {document: at for at, document in ids.items()}
            for query, ids in pieces_by_query(qrels, (str, Integral)).items()
        }

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the ids of a query among the items of its ranking."""
        ids = dict(self._ids.get(query, {}))
        if not ids:
            return
        keys = [(rank, self._key(item)) for rank, item in ranking]
        kind = common_id_type({type(key) for _, key in keys if key is not None}, "document ids in the run")
        require_same_id_type(self._qrels.document_kind, "document ids in the qrels", kind, "those in the run")
        for rank, key in keys:
            at = ids.pop(key, None)
            if at is not None:
                hits.satisfied(at, rank)
                hits.overlapping(at, rank)


class MetadataRule:
    """Finds judged metadata."""

    def __init__(self, qrels: Qrels) -> None:
        self._wanted: dict[int, dict[int, Metadata]] = pieces_by_query(qrels, Metadata)

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the metadata of a query among the items of its ranking."""
        missing = dict(self._wanted.get(query, {}))
        for at, wanted in self._wanted.get(query, {}).items():
            for rank, item in ranking:
                if wanted.matches(item):
                    hits.overlapping(at, rank)
                    if missing.pop(at, None):
                        hits.satisfied(at, rank)


class QuoteRule:
    """Finds quotes by containment after normalisation; each text is normalised once."""

    def __init__(self, qrels: Qrels, matching: Matching) -> None:
        self._quotes: dict[int, list[tuple[int, str, str]]] = {}
        self._normalised = cache(normalise)
        self._reading = cache(lambda text: SearchedText(normalise_words(text)))
        for query, pieces in pieces_by_query(qrels, Quote).items():
            for at, piece in pieces.items():
                quote = normalise(piece.text)
                if len(quote) < matching.min_quote_length:
                    raise ValueError(
                        f"the quote {piece.text!r} for query {qrels.queries[query]!r} has {len(quote)} characters and "
                        f"would be found by chance; quote at least {matching.min_quote_length}"
                        + python_or_cli_text(f", or set match=Matching(min_quote_length={len(quote)})")
                    )
                self._quotes.setdefault(query, []).append((at, piece.text, quote))

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the quotes of a query in the items of its ranking."""
        quotes = self._quotes.get(query)
        if not quotes:
            return
        missing = {at for at, _, _ in quotes}
        for rank, item in ranking:
            if item.text is None:
                continue
            text = self._normalised(item.text)
            for at, given, quote in quotes:
                # Most texts do not have the letters, which is found out much faster than where words begin and end.
                if quote in text and (is_separate_part(given, item.text) or self._reading(item.text).holds(quote)):
                    hits.overlapping(at, rank)
                    if at in missing:
                        missing.remove(at)
                        hits.satisfied(at, rank)


# Match whole reference texts by the runs of words that items share with them.

# Scripts without spaces between words are split into letters.
_LETTERS = rf"[^\W\d_{UNSPACED_SCRIPTS}]"
_WORD = re.compile(rf"[{UNSPACED_SCRIPTS}]|[^\W_{UNSPACED_SCRIPTS}]+")
_COMPOUND = re.compile(
    rf"[{UNSPACED_SCRIPTS}]|[^\W_{UNSPACED_SCRIPTS}]+(?:(?<={_LETTERS})-(?={_LETTERS})[^\W_{UNSPACED_SCRIPTS}]+)*"
)
"""Words with the hyphens between their letters, which may be those of a broken line."""


def words(text: str) -> list[str]:
    r"""Return the words of a text as `spaced` reads it; punctuation, hyphens and white space separate words.

    Example:
        >>> words("The \ufb01rst: don't; \u4e2d\u6587 well-known of-\nfice")
        ['the', 'first', 'don', 't', '中', '文', 'well', 'known', 'office']
    """
    return _WORD.findall(normalise_words(text))


def whole_words(text: str) -> list[str]:
    r"""Return the words of a text as quotes are compared: whether a word has hyphens does not matter.

    Example:
        >>> whole_words("A well-known of-\nfice"), whole_words("a well-\nknown office")
        (['a', 'wellknown', 'office'], ['a', 'wellknown', 'office'])
    """
    return [word.replace("-", "") for word in _COMPOUND.findall(normalise_words(text))]


class _ReferenceText:
    """A reference text, split into words."""

    def __init__(self, at: int, text: str, longest_run: int) -> None:
        tokens = whole_words(text)
        self.at = at
        self.run = min(longest_run, len(tokens))
        self.weight = np.array([len(token) for token in tokens], dtype=np.int64)
        self.size = int(self.weight.sum())
        self.places: dict[WordRun, list[int]] = {}
        for place, run in enumerate(word_runs(tokens, self.run)):
            self.places.setdefault(run, []).append(place)

    def characters(self, held: BoolArray) -> int:
        """Return how many characters the selected words have."""
        return int(self.weight[held].sum())

    def held(self, runs: set[WordRun]) -> BoolArray | None:
        """Return which words are in a run that also occurs in `runs`; None if none is."""
        common = self.places.keys() & runs
        if not common:
            return None
        starts = np.array([place for run in common for place in self.places[run]])
        edges = np.bincount(starts, minlength=len(self.weight) + 1)
        edges = edges - np.bincount(starts + self.run, minlength=len(self.weight) + 1)
        return np.cumsum(edges)[:-1] > 0


class TextRule:
    """Finds reference texts by shared runs of words, in time linear in the texts."""

    def __init__(self, qrels: Qrels, matching: Matching, hits: PieceHits) -> None:
        self._matching = matching
        self._references: dict[int, list[_ReferenceText]] = {}
        self._words_of = cache(whole_words)
        for query, pieces in pieces_by_query(qrels, Text).items():
            for at, piece in pieces.items():
                reference = _ReferenceText(at, piece.text, matching.min_common_words)
                if not reference.size:
                    raise ValueError(
                        f"the reference text {piece.text!r} for query {qrels.queries[query]!r} has no words to match"
                    )
                hits.size[at] = reference.size
                self._references.setdefault(query, []).append(reference)

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the reference texts of a query in the items of its ranking."""
        references = self._references.get(query)
        if not references:
            return
        lengths = {reference.run for reference in references}
        covered = {reference.at: np.zeros(len(reference.weight), dtype=np.bool_) for reference in references}
        for rank, item in ranking:
            if item.text is None:
                continue
            tokens = self._words_of(item.text)
            runs = {length: set(word_runs(tokens, length)) for length in lengths}
            for reference in references:
                held = reference.held(runs[reference.run])
                if held is None:
                    continue
                shorter = min(reference.size, sum(map(len, tokens)))
                if reference.characters(held) / shorter >= self._matching.min_overlap:
                    hits.overlapping(reference.at, rank)
                so_far = covered[reference.at]
                before = reference.characters(so_far)
                so_far |= held
                hits.cover(reference.at, rank, (before, reference.characters(so_far)), self._matching.min_coverage)


def word_runs(tokens: Sequence[str], length: int) -> zip[WordRun]:
    """Return all runs of `length` words.

    Example:
        >>> list(word_runs(["a", "b", "c"], 2))
        [('a', 'b'), ('b', 'c')]
    """
    return zip(*(tokens[start:] for start in range(length)), strict=False)


def find_shared_words(reference: str, text: str, longest_run: int) -> list[tuple[int, int]]:
    """Return start and end of the stretches of a text whose runs of words are also in the reference.

    Example:
        >>> find_shared_words("wraps a block of code", "It wraps a block, I think", 3)
        [(3, 16)]
    """
    sought = _ReferenceText(0, reference, longest_run)
    found = [(word.replace("-", ""), start, end) for word, start, end in locate_words(text, _COMPOUND)]
    starts = [
        at for at, run in enumerate(word_runs([word for word, _, _ in found], sought.run)) if run in sought.places
    ]
    stretches: list[tuple[int, int]] = []
    last = -1
    for at in starts if sought.run else ():
        start, end = found[at][1], found[at + sought.run - 1][2]
        if stretches and at <= last:  # runs that share a word or follow each other are one stretch
            stretches[-1] = stretches[-1][0], end
        else:
            stretches.append((start, end))
        last = at + sought.run
    return stretches


# Choose one alternative of each group so that the covered share is largest.

Group: TypeAlias = "Sequence[frozenset[int]]"
"""The alternatives of a group, each as the atoms it consists of."""

MOST_CHOICES = 10_000
"""Overlapping groups with up to this many choices are searched in full; others are improved one group at a time."""


class TextRanges:
    """Stretches that pieces consist of; several pieces may share one.

    Attributes:
        covered: How many characters of each atom are covered.
        size: How many characters each atom has.
        of: The atoms of each piece.
    """

    def __init__(self) -> None:
        self.covered: list[int] = []
        self.size: list[int] = []
        self.of: dict[int, frozenset[int]] = {}

    def add(self, pieces: Iterable[int], covered: int, size: int) -> None:
        """Add an atom that some pieces share."""
        for piece in pieces:
            self.of[piece] = self.of.get(piece, frozenset()) | {len(self.size)}
        self.covered.append(covered)
        self.size.append(size)

    def prefix_sums(self, chosen: Iterable[frozenset[int]]) -> tuple[int, int]:
        """Return how many characters of some pieces are covered, and how many they have, each counted once."""
        union: frozenset[int] = frozenset().union(*chosen)
        return sum(self.covered[atom] for atom in union), sum(self.size[atom] for atom in union)


def best_choice(groups: Sequence[Group], atoms: TextRanges) -> tuple[int, int]:
    """Return the covered and the total characters of one alternative per group, chosen for the largest quotient.

    Example:
        >>> atoms = TextRanges()
        >>> for piece, (covered, size) in enumerate([(5, 10), (4, 4), (0, 6)]):
        ...     atoms.add([piece], covered, size)
        >>> first, second, third = atoms.of.values()
        >>> best_choice([[first, second], [third]], atoms)  # 4 of 10, as (5 + 0) / 16 is less
        (4, 10)
    """
    parts = _overlapping(groups)
    chosen = [[group[0] for group in part] for part in parts]
    while True:  # Dinkelbach (1967): a better choice at the present share has a larger share; repeat until none exists
        covered, size = atoms.prefix_sums(piece for part in chosen for piece in part)

        def gain(pieces: Iterable[frozenset[int]], covered: int = covered, size: int = size) -> int:
            held, length = atoms.prefix_sums(pieces)
            return held * size - covered * length

        better = [_best(part, present, gain) for part, present in zip(parts, chosen, strict=True)]
        if sum(map(gain, better)) <= 0:
            return covered, size
        chosen = better


def _best(part: Sequence[Group], present: list[frozenset[int]], gain: Gain) -> list[frozenset[int]]:
    """Return the choice among overlapping groups that gains most."""
    if prod(map(len, part)) <= MOST_CHOICES:
        return list(max(product(*part), key=gain))
    best, improved = list(present), True
    while improved:
        improved = False
        for at, group in enumerate(part):
            other = max(([*best[:at], piece, *best[at + 1 :]] for piece in group), key=gain)
            if gain(other) > gain(best):
                best, improved = other, True
    return best


def _overlapping(groups: Iterable[Group]) -> list[list[Group]]:
    """Return the groups in parts that share no atom."""
    parts: list[tuple[set[int], list[Group]]] = []
    for group in groups:
        atoms: set[int] = set().union(*group)
        members = [group]
        apart = []
        for other, others in parts:
            if atoms.isdisjoint(other):
                apart.append((other, others))
            else:
                atoms, members = atoms | other, [*others, *members]
        parts = [*apart, (atoms, members)]
    return [members for _, members in parts]


class CoveredCharacters:
    """Counts the characters of spans and texts that are covered at a cut-off, and how many there are."""

    def __init__(self, hits: PieceHits, rankings: Mapping[QueryId, Sequence[Retrieved]], locator: SpanLocator) -> None:
        self._qrels = hits.qrels
        self._size = hits.size
        self._added = hits.record_new_coverage()
        self._positions = hits.positions
        self._spans = hits.spans
        self._rankings = rankings
        self._locator = locator
        self._alternatives = _alternatives(hits.qrels)

    @property
    def moved(self) -> dict[Span, Span]:
        """The spans that are elsewhere in their sources than they say, because lines end otherwise there."""
        given: Any = self._qrels.documents
        return {given[at]: span for at, span in self._spans.items() if given[at] != span}

    def count_at_cutoff(self, k: Cut) -> tuple[FloatArray, FloatArray]:
        """Return how many needed characters the first k items cover, and how many are needed, for each query."""
        covered = np.full(len(self._qrels), np.nan)
        total = np.full(len(self._qrels), np.nan)
        of_piece = self._covered_of_piece(k)
        for query, groups in self._alternatives.items():
            measured = [[at for at in group if not np.isnan(self._size[at])] for group in groups]
            positions = self._positions.get(query, ItemPositions())
            depth = self._depth(query, k)
            unknown = positions.first_unplaced is not None and positions.first_unplaced <= depth
            if unknown or not all(measured):
                continue
            atoms = self._atoms([at for group in measured for at in group], of_piece, positions, depth)
            covered[query], total[query] = best_choice([[atoms.of[at] for at in group] for group in measured], atoms)
        return covered, total

    def lengths(self, k: Cut) -> FloatArray:
        """Return how many characters the first k items have, repeats included, shape (queries,)."""
        has_texts = pieces_by_query(self._qrels, Text)
        length = np.zeros(len(self._qrels))
        for query, name in enumerate(self._qrels.queries):
            items = self._rankings.get(name, ())[: self._depth(query, k)]
            length[query] = sum(
                sum(map(len, whole_words(item.text or ""))) if query in has_texts else self._locator.item_length(item)
                for item in items
            )
        return length

    def _depth(self, query: int, k: Cut) -> int:
        if k is None:
            return len(self._rankings.get(self._qrels.queries[query], ()))
        return int(k[query]) if isinstance(k, np.ndarray) else k

    def _covered_of_piece(self, k: Cut) -> list[int]:
        piece, rank, characters = self._added
        if k is not None:
            characters = np.where(within(self._qrels.document_query[piece], rank, k), characters, 0)
        return [int(sum_of_piece) for sum_of_piece in np.bincount(piece, characters, minlength=len(self._size))]

    def _atoms(
        self, pieces: Iterable[int], of_piece: Sequence[int], positions: ItemPositions, depth: int
    ) -> TextRanges:
        """Cut the spans among some pieces at every start and end of a span; a text is a single atom."""
        atoms = TextRanges()
        spans: dict[str, dict[int, Span]] = {}
        for at in pieces:
            if (span := self._spans.get(at)) is not None:
                spans.setdefault(span.source, {})[at] = span
            else:
                atoms.add([at], of_piece[at], int(self._size[at]))
        for source, of_source in spans.items():
            held = merge_ranges(
                stretch
                for rank, place in zip(positions.ranks, positions.places, strict=True)
                if rank <= depth and place.source == source
                for stretch in place.ranges
            )
            edges = sorted({edge for span in of_source.values() for edge in (span.start, span.end)})
            for start, end in pairwise(edges):
                within_it = [at for at, span in of_source.items() if span.start <= start and end <= span.end]
                covered = sum(
                    self._locator.counted_length(source, *stretch) for stretch in intersect_ranges([(start, end)], held)
                )
                if within_it:
                    atoms.add(within_it, covered, self._locator.counted_length(source, start, end))
        return atoms


def _alternatives(qrels: Qrels) -> dict[int, list[list[int]]]:
    """Return, by query, the relevant pieces of each group that has any."""
    groups: dict[int, list[int]] = {}
    members = zip(qrels.member_document.tolist(), qrels.member_group.tolist(), qrels.member_grade.tolist(), strict=True)
    for document, group, grade in members:
        if grade > 0:
            groups.setdefault(group, []).append(document)
    of_query: dict[int, list[list[int]]] = {}
    for group in sorted(groups):
        of_query.setdefault(int(qrels.group_query[group]), []).append(groups[group])
    return of_query


class _SpanCoverage:
    """A span, and how much of it the items cover so far."""

    def __init__(self, at: int, span: Span, locator: SpanLocator) -> None:
        self.at = at
        self.span = span
        self._locator = locator
        self._characters = 0
        self._union = RangeUnion()

    def take(self, stretches: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Cover some stretches; return how many characters were covered before, and how many are now."""
        before = self._characters
        for stretch in stretches:
            for fresh in self._union.add(*stretch):
                self._characters += self._locator.counted_length(self.span.source, *fresh)
        return before, self._characters


class SpanRule:
    """Finds spans by the union of the places of the items so far."""

    def __init__(
        self, qrels: Qrels, matching: Matching, hits: PieceHits, locator: SpanLocator, sources: Collection[str | None]
    ) -> None:
        self._matching = matching
        self._locator = locator
        self._queries = qrels.queries
        self._spans: dict[int, dict[str, list[tuple[int, Span]]]] = {}
        self._beside = _quotes_beside(qrels)
        self.unplaced: list[Unlocated] = []
        given = {at: piece for at, piece in enumerate(qrels.documents) if isinstance(piece, Span)}
        read, doubtful = repair_line_endings(given, locator.sources, self._beside)
        self.doubtful = [given[at] for at in doubtful]
        hits.spans.update(read)
        judged = {span.source for span in given.values()}
        self._all_elsewhere = not locator.sources and judged.isdisjoint(sources)
        for at, span in read.items():
            query = int(qrels.document_query[at])
            hits.size[at] = self._length(span, qrels.queries[query])
            self._spans.setdefault(query, {}).setdefault(span.source, []).append((at, span))

    def _length(self, span: Span, query: QueryId) -> int:
        source = self._locator.sources.get(span.source)
        if source is not None and span.end > len(source.text):
            raise ValueError(
                f"{span!r} for query {query!r} ends beyond its source, which has {len(source.text)} characters"
            )
        length = self._locator.counted_length(span.source, span.start, span.end)
        if not length:
            raise ValueError(f"{span!r} for query {query!r} contains only white space, so nothing can cover it")
        return length

    def find(self, query: int, ranking: Sequence[tuple[int, Retrieved]], hits: PieceHits) -> None:
        """Look for the spans of a query in the items of its ranking."""
        if query not in self._spans:
            return
        by_source = {
            source: [_SpanCoverage(at, span, self._locator) for at, span in spans]
            for source, spans in self._spans[query].items()
        }
        among = {
            source: [(one.span, self._beside.get(one.at, ())) for one in spans] for source, spans in by_source.items()
        }
        for rank, item in ranking:
            place = self._locator.locate(item, among)
            if (
                place is None
                and self._all_elsewhere
                and item.offsets_unverified
                and not self._locator.is_settled(item, among)
            ):
                place = "another source"
            if place is None:
                continue
            if not isinstance(place, ItemLocation):
                if not self._locator.is_settled(item, among):
                    self.unplaced.append(Unlocated(self._queries[query], item.id, place))
                hits.located(query, rank, None)
                continue
            hits.located(query, rank, place)
            first, last = place.ranges[0][0], place.ranges[-1][1]
            for covered in by_source[place.source]:
                if first < covered.span.end and covered.span.start < last:
                    self._cover(covered, rank, place, hits)

    def _cover(self, covered: _SpanCoverage, rank: int, place: ItemLocation, hits: PieceHits) -> None:
        common = intersect_ranges(place.ranges, [(covered.span.start, covered.span.end)])
        if characters := self._characters(place.source, common):
            shorter = min(hits.size[covered.at], self._characters(place.source, place.ranges))
            if characters / shorter >= self._matching.min_overlap:
                hits.overlapping(covered.at, rank)
            hits.cover(covered.at, rank, covered.take(common), self._matching.min_coverage)

    def _characters(self, source: str, stretches: Sequence[tuple[int, int]]) -> int:
        return sum(self._locator.counted_length(source, *stretch) for stretch in stretches)


def _quotes_beside(qrels: Qrels) -> dict[int, list[str]]:
    """Return, by span, the normalised quotes that are alternatives to it, so that they name the same place."""
    spans: dict[int, list[int]] = {}
    quotes: dict[int, list[str]] = {}
    for document, group in zip(qrels.member_document.tolist(), qrels.member_group.tolist(), strict=True):
        piece = qrels.documents[document]
        if isinstance(piece, Span):
            spans.setdefault(group, []).append(document)
        elif isinstance(piece, Quote):
            quotes.setdefault(group, []).append(normalise(piece.text))
    return {document: quotes[group] for group, members in spans.items() if group in quotes for document in members}
