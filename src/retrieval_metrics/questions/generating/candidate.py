"""A question on its way into the set, with what answers it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.fingerprints import question_fingerprint
from retrieval_metrics.inputs.pieces import Quote

if TYPE_CHECKING:
    from retrieval_metrics.inputs.pieces import Piece, Span

DIGITS = 12
"""Hexadecimal digits of an id: sets that were made apart can be merged."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A part of a passage that answers, in the passage's own words.

    Attributes:
        passage: The place of the passage in the corpus.
        text: The words.
        start: Where they begin in the passage.
        end: Where they end.
        spans: Where they stand in the sources: once, unless passages repeat each other.
    """

    passage: int
    text: str
    start: int
    end: int
    spans: tuple[Span, ...]


@dataclass(slots=True)
class Candidate:
    """A question that was written.

    Attributes:
        kind: Its kind.
        places: The passages that it was made of, by their places in the corpus.
        question: The question.
        groups: What it takes to answer: of each group one, the first from the passages that it was made of.
        overlap: The share of its telling words that stand in these passages.
        rank: The rank at which BM25 has something of every group; None if it finds nothing of one.
    """

    kind: str
    places: tuple[int, ...]
    question: str
    groups: list[list[Evidence]]
    overlap: float
    rank: int | None = field(default=None)

    @property
    def id(self) -> str:
        """An id made of its text, so that the same question has the same id everywhere."""
        return question_fingerprint(self.question)[:DIGITS]

    @property
    def judgments(self) -> list[list[Piece]]:
        """What is relevant: of each group the quotes and their places, of which one suffices."""
        return [list(dict.fromkeys(_alternatives(group))) for group in self.groups]


def _alternatives(group: list[Evidence]) -> list[Piece]:
    return [piece for one in group for piece in (Quote(one.text), *one.spans)]
