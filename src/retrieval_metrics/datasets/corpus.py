"""The passages of a corpus: their contents, and what stands elsewhere too."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import group_pairs, positive_integer
from retrieval_metrics.datasets.bm25 import CorpusIndex, WordIndex, content_words
from retrieval_metrics.inputs.items import Retrieved, Span
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.matching.text_normalisation import find_range, find_ranges, normalise
from retrieval_metrics.matching.words import words
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.retrieval.retrieve import aretrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.validation import DocumentId, FloatArray, IntArray
    from retrieval_metrics.datasets.prompts import Candidate, Evidence


SHORTEST_LENGTH = 200
FEWEST_WORDS = 5
"""A passage with fewer words is a heading or a remainder; no question is made from it."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(
    r"(?<=[.!?])[\"')\]”’]*\s+|(?<=[。！？])[”’」』]*\s*|\n[ \t]*\n\s*"  # noqa: RUF001  (Chinese has no spaces)
)
_SPACE = re.compile(r"\s+")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CorpusPassage:
    """A passage: a part of a text of the corpus, or all of it.

    Attributes:
        text: Its text.
        source: The source of spans in it.
        start: Where it begins in that source.
        document: The document it comes from, for provenance.
        id: The id of its text in the corpus.
        title: The title of its document, or its name.
        heading: The heading that it stands under; None if there is none.
    """

    text: str
    source: str
    start: int
    document: str
    id: DocumentId | None
    title: str
    heading: str | None = None

    @property
    def location(self) -> str:
        """Where it comes from, in a line for a prompt."""
        return f"Document: {self.title}" + (f", under the heading: {self.heading}" if self.heading else "")

    def span(self, start: int, end: int) -> Span:
        """Return the place in the source of a part of this passage."""
        return Span(self.source, self.start + start, self.start + end)


class Corpus:
    """The passages that questions are made from.

    Attributes:
        pieces: The passages with enough words to ask about.
        passages: The same, indexed, at the same places.
    """

    def __init__(self, whole: list[CorpusPassage], length: int) -> None:
        """Take the texts as given, and cut those that are longer than `length` characters."""
        self._whole = whole
        self._texts = CorpusIndex(Retrieved(at, text.text) for at, text in enumerate(whole))
        self.pieces = pieces = [
            replace(text, text=text.text[start:end], start=text.start + start, heading=_last_before(headings, start))
            for text in whole
            for headings in [[(line.start(), line[1].strip()) for line in _HEADING.finditer(text.text)]]
            for start, end in cut(text.text, length)
            if len(words(text.text[start:end])) >= FEWEST_WORDS
        ]
        self.passages = CorpusIndex(
            Retrieved(at, piece.text, piece.source, piece.start) for at, piece in enumerate(pieces)
        )

    @classmethod
    def of(cls, corpus: Any, length: int) -> Corpus:
        """Read a corpus and cut texts that are longer than `length` characters."""
        positive_integer(length, "passage_length")
        if length < SHORTEST_LENGTH:
            raise ValueError(f"passage_length must be at least {SHORTEST_LENGTH} characters, got {length}")
        read = CorpusIndex.of(corpus)
        if not read.items:
            raise TypeError("questions are made from texts, but the corpus has only ids; pass texts: {'d1': '...'}")
        sources = Counter(item.source for item in read.items)
        found = cls([_whole(item, alone=sources[item.source] == 1) for item in read.items], length)
        if not found.pieces:
            raise ValueError(
                f"none of the {len(read.items):,} texts of the corpus has {FEWEST_WORDS} words, so there is nothing "
                "to ask about"
            )
        return found

    @property
    def sources(self) -> dict[str, str]:
        """The texts of the corpus that are whole sources, by the names that spans have."""
        number = Counter(stretch.source for stretch in self._whole)
        return {each.source: each.text for each in self._whole if not each.start and number[each.source] == 1}

    def places(self, quote: str) -> list[Span]:
        """Return where a quote is in the texts, as quotes are matched; a place in two texts counts once."""
        spans = [
            self._whole[at].span(*place)
            for at in self._texts.holding(quote)
            for place in find_ranges(quote, self._whole[at].text)
        ]
        return list(dict.fromkeys(spans))

    def place_of(self, quote: str, at: int) -> tuple[int, int] | None:
        """Return where a quote is in a passage; one that cuts a word takes the whole word. None if it is not there."""
        text = self.pieces[at].text
        if normalise(quote) not in self.passages.normal_texts[at]:
            return None
        if (place := find_range(quote, text)) is not None or (place := find_range(quote, text, cut=True)) is None:
            return place
        start, end = place
        while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
            start -= 1
        while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
            end += 1
        return find_range(text[start:end], text)

    @cached_property
    def _of_id(self) -> dict[Any, list[int]]:
        return group_pairs((piece.id, at) for at, piece in enumerate(self.pieces))

    @cached_property
    def _of_source(self) -> dict[Any, list[int]]:
        return group_pairs((piece.source, at) for at, piece in enumerate(self.pieces))

    def held_by(self, item: Retrieved) -> list[int]:
        """Return the passages that a retrieved item equals, contains or is part of."""
        if item.source is not None and item.start is not None and item.end is not None:
            return [
                at
                for at in self._of_source.get(str(item.source), ())
                if self.pieces[at].start < item.end and item.start < self.pieces[at].start + len(self.pieces[at].text)
            ]
        return self._of_id.get(item.id, [])

    @property
    def documents(self) -> set[str]:
        """The documents that the passages come from."""
        return {piece.document for piece in self.pieces}


def _whole(item: Retrieved, *, alone: bool) -> CorpusPassage:
    """Return a text of the corpus with the source and offset that spans in it refer to."""
    text = item.text or ""
    placed = item.source is not None and item.start is not None and item.end == item.start + len(text)
    name = item.source if item.id is None and alone else item.id
    if not placed and name is None:
        raise ValueError(
            "a text has neither an id nor a source and offsets (with LangChain, add_start_index=True), so judgments "
            f"cannot refer to it: {text[:80]!r}"
        )
    source, start = (str(item.source), item.start or 0) if placed else (str(name), 0)
    document = str(item.id) if item.source is None else str(item.source)
    given = (item.metadata or {}).get("title")
    return CorpusPassage(
        text, source, start, document, item.id, given if isinstance(given, str) and given else document
    )


def _last_before(headings: list[tuple[int, str]], start: int) -> str | None:
    """Return the last heading in Markdown up to a place of a text."""
    at = bisect_right(headings, start, key=lambda heading: heading[0])
    return headings[at - 1][1] if at else None


def cut(text: str, length: int) -> list[tuple[int, int]]:
    r"""Return where to cut a text into parts of about equal length, none longer than `length`.

    Example:
        >>> text = "One two. Three four.\n\nFive six seven."
        >>> [text[start:end] for start, end in cut(text, 25)]
        ['One two. Three four.', 'Five six seven.']
    """
    places = [sorted(found.end() for found in pattern.finditer(text)) for pattern in (_PARAGRAPH, _SENTENCE, _SPACE)]
    parts, start = [], len(text) - len(text.lstrip())
    end_of_text = len(text.rstrip())
    while start < end_of_text:
        rest = end_of_text - start
        if rest <= length:
            parts.append((start, end_of_text))
            break
        even = rest / -(-rest // length)
        at = next((place for ends in places if (place := _last(ends, start + even / 2, start + length))), None)
        at = at or start + length
        parts.append((start, start + len(text[start:at].rstrip())))
        start = at
    return parts


def _last(ends: list[int], low: float, high: int) -> int | None:
    """Return the last of some places above one number and up to another."""
    at = bisect_right(ends, high) - 1
    return ends[at] if at >= 0 and ends[at] > low else None


def sentence_ranges(text: str) -> list[tuple[int, int]]:
    r"""Return start and end of each sentence of a text; a paragraph ends one too.

    Example:
        >>> text = "It rains. Take an umbrella!\n\nOr not"
        >>> [text[start:end] for start, end in sentence_ranges(text)]
        ['It rains.', 'Take an umbrella!', 'Or not']
    """
    bounds = [0, *(found.end() for found in _SENTENCE.finditer(text)), len(text)]
    places = []
    for start, end in pairwise(bounds):
        held = text[start:end]
        if held.strip():
            places.append((start + len(held) - len(held.lstrip()), start + len(held.rstrip())))
    return places


ROUNDS = 25
SAMPLE = 5000
"""The number of passages used to find the centres of clusters."""


class PassageVectors:
    """Passages as tf-idf vectors of length 1 of their content words, and clusters of them.

    Attributes:
        clusters: The cluster of each passage, shape (passages,), from 0.
    """

    def __init__(self, tokens: Sequence[Sequence[str]], seed: int) -> None:
        self._tokens = tokens
        self._random = np.random.default_rng(seed)
        self.clusters: IntArray = self._clustered(max(1, round(math.sqrt(len(tokens) / 2))))

    @cached_property
    def _vectors(self) -> Any:
        from scipy import sparse  # noqa: PLC0415  (only needed to generate questions)

        terms: dict[str, int] = {}
        rows: list[int] = []
        columns: list[int] = []
        for at, tokens in enumerate(self._tokens):
            stems = content_words(tokens)
            rows.extend([at] * len(stems))
            columns.extend(terms.setdefault(one, len(terms)) for one in stems)
        shape = len(self._tokens), max(len(terms), 1)
        counts = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        counts.sum_duplicates()
        holding = np.bincount(counts.indices, minlength=shape[1])
        counts.data = (1 + np.log(counts.data)) * (np.log((1 + shape[0]) / (1 + holding)) + 1)[counts.indices]
        lengths = np.sqrt(counts.multiply(counts).sum(axis=1))
        counts.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(counts.indptr))
        return counts

    def order(self) -> list[int]:
        """Return the passages in an order whose every prefix is spread over the clusters."""
        priority = np.zeros(len(self._tokens))
        for cluster in range(int(self.clusters.max()) + 1):
            (members,) = np.nonzero(self.clusters == cluster)
            priority[self._random.permutation(members)] = np.arange(len(members)) / max(len(members), 1)
        return [int(at) for at in np.lexsort((self._random.random(len(priority)), priority))]

    def near(self, at: int) -> list[int]:
        """Return the other passages that share content words with one, the most similar first."""
        likeness: FloatArray = (self._vectors @ self._vectors[[at]].T).toarray().ravel()
        likeness[at] = 0.0
        order = np.argsort(-likeness, kind="stable")
        return [int(other) for other in order[: int((likeness > 0).sum())]]

    def _clustered(self, count: int) -> IntArray:
        vectors = self._vectors
        size = vectors.shape[0]
        sample = vectors
        if size > SAMPLE:
            sample = vectors[np.sort(self._random.choice(size, SAMPLE, replace=False))]
        centres = self._first_centres(sample, count)
        for _ in range(ROUNDS):
            nearest = np.argmax(sample @ centres.T, axis=1)
            moved = _centres(sample, nearest, centres)
            if np.allclose(moved, centres):
                break
            centres = moved
        _, labels = np.unique(np.argmax(vectors @ centres.T, axis=1), return_inverse=True)
        found: IntArray = labels.reshape(-1).astype(np.int64)
        return found

    def _first_centres(self, sample: Any, count: int) -> FloatArray:
        """Return distinct passages, each drawn with a higher probability the less it resembles earlier ones."""
        drawn = [int(self._random.integers(sample.shape[0]))]
        nearest = (sample @ sample[drawn].T).toarray().ravel()
        while len(drawn) < count:
            away = np.clip(1 - nearest, 0, None) ** 2
            away[drawn] = 0.0
            if away.sum() == 0:
                break
            drawn.append(int(self._random.choice(len(away), p=away / away.sum())))
            nearest = np.maximum(nearest, (sample @ sample[drawn[-1:]].T).toarray().ravel())
        centres: FloatArray = sample[drawn].toarray()
        return centres


def _centres(sample: Any, nearest: IntArray, before: FloatArray) -> FloatArray:
    """Return the mean direction of the passages of each cluster; an empty one stays where it is."""
    from scipy import sparse  # noqa: PLC0415  (as above)

    count = len(before)
    members = sparse.csr_array((np.ones(len(nearest)), (nearest, np.arange(len(nearest)))), shape=(count, len(nearest)))
    sums: FloatArray = (members @ sample).toarray()
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1.0), before)


class OtherPassageSearch:
    """Searches a corpus with BM25, and with a retriever if there is one."""

    def __init__(self, corpus: Corpus, retriever: Any, *, depth: int, show_progress: bool) -> None:
        """Set what is searched."""
        self._corpus = corpus
        self._retriever = retriever
        self._depth = depth
        self._show_progress = show_progress
        self._index = WordIndex(corpus.passages.tokens, "generate_questions")

    def rank(self, candidate: Candidate) -> int | None:
        """Return the rank at which BM25 has found something of every group; None if it finds nothing of one."""
        if not candidate.groups:
            return None
        scores = self._scores(candidate)
        ranks = []
        for group in candidate.groups:
            best = max(float(scores[at]) for one in group for at in self._holding(one))
            if best <= 0:
                return None
            ranks.append(1 + int((scores > best).sum()))
        return max(ranks)

    async def found(self, candidates: Sequence[Candidate]) -> tuple[dict[str, list[int]], int]:
        """Return the passages that BM25 and the retriever find for each question, by id, and how many calls failed."""
        found: dict[str, list[int]] = {}
        for candidate in candidates:
            scores = self._scores(candidate)
            order = np.argsort(-scores, kind="stable")[: self._depth + len(candidate.task.places)]
            found[candidate.id] = [int(at) for at in order if scores[at] > 0]
        if self._retriever is None or not candidates:
            return found, 0
        run = await aretrieve(
            self._retriever,
            {candidate.id: candidate.in_context for candidate in candidates},
            show_progress=self._show_progress,
        )
        strange = None
        of_corpus = 0
        rankings = OrderedRankings(run, "id", STANDARD.order)
        for name, ranking in rankings.iterate(found):
            for document, known in rankings.first_items(ranking, self._depth):
                item = known or Retrieved(document)
                places = self._corpus.held_by(item)
                of_corpus += bool(places)
                strange = strange if places else item
                found[str(name)] += places
        if strange is not None and not of_corpus:
            raise ValueError(
                f"nothing that the retriever returns is in the corpus, such as {strange!r}; its items need ids of the "
                "corpus, or a source and offsets as in the corpus"
            )
        return found, len(run.errors)

    def is_not_from_source(self, found: Sequence[int], candidate: Candidate, group: Sequence[Evidence]) -> list[int]:
        """Return the passages not known to answer that do not overlap with those that the question was made from."""
        own = {*candidate.task.places, *(at for one in group for at in self._holding(one))}
        passages = self._corpus.passages
        return [
            at for at in dict.fromkeys(found) if at not in own and not any(passages.overlap(at, one) for one in own)
        ]

    def _holding(self, one: Evidence) -> list[int]:
        return [one.passage, *self._corpus.passages.holding(one.text)]

    def _scores(self, candidate: Candidate) -> FloatArray:
        return self._index.scores(words(candidate.in_context))
