"""A candidate question with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval_metrics.inputs.conversations import with_what_was_said
from retrieval_metrics.inputs.fingerprints import question_fingerprint
from retrieval_metrics.inputs.pieces import Quote

if TYPE_CHECKING:
    from retrieval_metrics.inputs.pieces import Piece, Span

DIGITS = 12
"""Hexadecimal digits of an id, enough to merge sets that were generated separately."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A part of a passage that answers a question, quoted exactly.

    Attributes:
        passage: The place of the passage in the corpus.
        text: The words.
        start: Where they begin in the passage.
        end: Where they end.
        spans: Where they are in the sources: one place, unless passages repeat each other.
    """

    passage: int
    text: str
    start: int
    end: int
    spans: tuple[Span, ...]


@dataclass(slots=True)
class Candidate:
    """A candidate question.

    Attributes:
        kind: Its kind.
        places: The passages that it was made from, by their places in the corpus.
        question: The question.
        groups: The evidence: one of each group is needed; the first of each is from the passages it was made from.
        overlap: The share of its content words that are in these passages.
        history: What was said before it, if it continues a conversation.
        answer: A reference answer, if the model gave one.
        persona: The name of the person who asks it, if there are several.
        rank: The rank at which BM25 has found something of every group; None if it finds nothing of one.
    """

    kind: str
    places: tuple[int, ...]
    question: str
    groups: list[list[Evidence]]
    overlap: float
    history: tuple[dict[str, str], ...] = ()
    answer: str | None = None
    persona: str | None = None
    rank: int | None = None

    @property
    def id(self) -> str:
        """An id derived from its text, so that the same question always has the same id."""
        return question_fingerprint(self.in_context)[:DIGITS]

    @property
    def in_context(self) -> str:
        """Its text with what was said before it."""
        return with_what_was_said(self.history, self.question)

    @property
    def judgments(self) -> list[list[Piece]]:
        """The judgments: for each group its quotes and their places, of which one suffices."""
        return [list(dict.fromkeys(_alternatives(group))) for group in self.groups]


def _alternatives(group: list[Evidence]) -> list[Piece]:
    return [piece for one in group for piece in (Quote(one.text), *one.spans)]
