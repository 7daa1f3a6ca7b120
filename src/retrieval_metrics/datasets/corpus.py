"""Cut a corpus into the passages that questions are made from, and find quotes in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.grouping import group_pairs
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.datasets.corpus_index import CorpusIndex
from retrieval_metrics.datasets.text_cutting import cut_text
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.pieces import Span
from retrieval_metrics.matching.quote_search import find_range, find_ranges
from retrieval_metrics.matching.text_normalisation import normalise
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.datasets.corpus_index import CorpusSource


# A shorter passage says too little to ask about.
MIN_PASSAGE_LENGTH = 200

# A passage with fewer words is a heading or a remainder; no question is made from it.
MIN_PASSAGE_WORDS = 5

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
        if self.heading:
            return f"Document: {self.title}, under the heading: {self.heading}"
        return f"Document: {self.title}"

    @property
    def end(self) -> int:
        """Where it ends in its source."""
        return self.start + len(self.text)

    def span(self, start: int, end: int) -> Span:
        """Return the place in the source of a part of this passage."""
        return Span(self.source, self.start + start, self.start + end)


class Corpus:
    """The passages that questions are made from.

    Attributes:
        passages: The passages with enough words to ask about.
        index: The index of these passages, at the same positions.
    """

    def __init__(self, whole_texts: list[CorpusPassage], max_length: int) -> None:
        """Cut the texts that are longer than `max_length` characters, and index the passages."""
        self._whole_texts = whole_texts
        self._text_index = CorpusIndex(
            Retrieved(position, whole_text.text) for position, whole_text in enumerate(whole_texts)
        )
        self.passages: list[CorpusPassage] = []
        for whole_text in whole_texts:
            self.passages += _cut_passages(whole_text, max_length)
        self.index = CorpusIndex(
            Retrieved(position, passage.text, passage.source, passage.start)
            for position, passage in enumerate(self.passages)
        )

    @classmethod
    def from_texts(cls, corpus: CorpusSource, max_length: int) -> Corpus:
        """Read a corpus and cut texts that are longer than `max_length` characters."""
        positive_integer(max_length, "passage_length")
        if max_length < MIN_PASSAGE_LENGTH:
            raise ValueError(f"passage_length must be at least {MIN_PASSAGE_LENGTH} characters, got {max_length}")
        items = CorpusIndex.from_corpus(corpus).items
        if not items:
            raise TypeError("questions are made from texts, but the corpus has only IDs; pass texts: {'d1': '...'}")
        n_texts_by_source = Counter(item.source for item in items)
        whole_texts = [_read_whole_text(item, is_alone=n_texts_by_source[item.source] == 1) for item in items]
        corpus_of_passages = cls(whole_texts, max_length)
        if not corpus_of_passages.passages:
            raise ValueError(
                f"none of the {len(items):,} texts of the corpus has {MIN_PASSAGE_WORDS} words, so there is nothing "
                "to ask about"
            )
        return corpus_of_passages

    @property
    def sources(self) -> dict[str, str]:
        """The texts of the corpus that are whole sources, by the names that spans have."""
        n_texts_by_source = Counter(whole_text.source for whole_text in self._whole_texts)
        text_by_source: dict[str, str] = {}
        for whole_text in self._whole_texts:
            if not whole_text.start and n_texts_by_source[whole_text.source] == 1:
                text_by_source[whole_text.source] = whole_text.text
        return text_by_source

    def find_spans(self, quote: str) -> list[Span]:
        """Return the spans of a quote in the texts, as quotes are matched; a span of two texts is returned once."""
        spans: list[Span] = []
        for position in self._text_index.find_quote(quote):
            whole_text = self._whole_texts[position]
            spans += [whole_text.span(start, end) for start, end in find_ranges(quote, whole_text.text)]
        return list(dict.fromkeys(spans))

    def find_in_passage(self, quote: str, position: int) -> tuple[int, int] | None:
        """Return where a quote is in a passage, widened to whole words; None if it is not there."""
        text = self.passages[position].text
        if normalise(quote) not in self.index.normal_texts[position]:
            return None
        whole_words = find_range(quote, text)
        if whole_words is not None:
            return whole_words
        within_words = find_range(quote, text, cut=True)
        if within_words is None:
            return None
        start, end = within_words
        while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
            start -= 1
        while end < len(text) and text[end].isalnum() and text[end - 1].isalnum():
            end += 1
        return find_range(text[start:end], text)

    @cached_property
    def _positions_by_id(self) -> dict[Any, list[int]]:
        return group_pairs((passage.id, position) for position, passage in enumerate(self.passages))

    @cached_property
    def _positions_by_source(self) -> dict[Any, list[int]]:
        return group_pairs((passage.source, position) for position, passage in enumerate(self.passages))

    def find_passages_of_item(self, item: Retrieved) -> list[int]:
        """Return the passages that a retrieved item equals, contains or is part of."""
        if item.source is None or item.start is None or item.end is None:
            return self._positions_by_id.get(item.id, [])
        positions = []
        for position in self._positions_by_source.get(str(item.source), ()):
            passage = self.passages[position]
            if passage.start < item.end and item.start < passage.end:
                positions.append(position)
        return positions

    @property
    def documents(self) -> set[str]:
        """The documents that the passages come from."""
        return {passage.document for passage in self.passages}


def _cut_passages(whole_text: CorpusPassage, max_length: int) -> list[CorpusPassage]:
    """Cut a text into passages, each with the heading above it; leave out passages of few words."""
    headings = list(_HEADING.finditer(whole_text.text))
    passages = []
    for start, end in cut_text(whole_text.text, max_length):
        text = whole_text.text[start:end]
        if len(words(text)) >= MIN_PASSAGE_WORDS:
            heading = _find_heading(headings, start)
            passages.append(replace(whole_text, text=text, start=whole_text.start + start, heading=heading))
    return passages


def _find_heading(headings: list[re.Match[str]], start: int) -> str | None:
    """Return the last Markdown heading up to an offset of a text; None if there is none."""
    n_before = bisect_right(headings, start, key=lambda heading: heading.start())
    return headings[n_before - 1][1].strip() if n_before else None


def _read_whole_text(item: Retrieved, *, is_alone: bool) -> CorpusPassage:
    """Return a text of the corpus with the source and offset that spans in it refer to."""
    text = item.text or ""
    name = item.source if item.id is None and is_alone else item.id
    if item.source is not None and item.start is not None and item.end == item.start + len(text):
        source = str(item.source)
        start = item.start
    elif name is not None:
        source = str(name)
        start = 0
    else:
        raise ValueError(
            "a text has neither an ID nor a source and offsets (with LangChain, add_start_index=True), so judgments "
            f"cannot refer to it: {text[:80]!r}"
        )
    document = str(item.id) if item.source is None else str(item.source)
    title = (item.metadata or {}).get("title")
    if not isinstance(title, str) or not title:
        title = document
    return CorpusPassage(text, source, start, document, item.id, title)
