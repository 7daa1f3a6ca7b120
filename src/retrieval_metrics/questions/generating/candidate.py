"""A wanted question, and a candidate for it with its evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.inputs.entries import question_fingerprint
from retrieval_metrics.inputs.items import Quote
from retrieval_metrics.inputs.questions import with_what_was_said
from retrieval_metrics.inputs.sources import UNSPACED
from retrieval_metrics.judging.pieces_met import words
from retrieval_metrics.questions.words.languages import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.inputs.items import Piece, Span

MOST_WORDS, MOST_LETTERS, DIGITS = 4, 12, 6
"""Words, or letters of a script without spaces, and hexadecimal digits of an id: to read it, and to merge sets that
were generated separately."""
_LETTER = f"[{UNSPACED}]"
_SEAM = re.compile(f"(?<={_LETTER})-(?={_LETTER})")


class WantedQuestion(NamedTuple):
    """A question to write.

    Attributes:
        kind: Its kind.
        places: The passages to make it from, by their places in the corpus.
        persona: The name of the person who asks it; None if there are no personas.
        difficulty: The wanted difficulty; None if any will do.
    """

    kind: str
    places: tuple[int, ...]
    persona: str | None = None
    difficulty: str | None = None


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
        task: What was wanted.
        question: The question.
        groups: The evidence: one of each group is needed; the first of each is from the passages it was made from.
        overlap: The share of its content words that are in these passages.
        history: What was said before it, if it continues a conversation.
        answer: A reference answer, if the model gave one.
        rank: The rank at which BM25 has found something of every group; None if it finds nothing of one.
        id: Its first content words and a fingerprint of all, so that the same question always has the same id.
    """

    task: WantedQuestion
    question: str
    groups: list[list[Evidence]]
    overlap: float
    history: tuple[dict[str, str], ...] = ()
    answer: str | None = None
    rank: int | None = None
    id: str = field(init=False)

    def __post_init__(self) -> None:
        asked = words(self.question)
        telling = [word for word in asked if word not in FUNCTION_WORDS] or asked
        most = MOST_LETTERS if re.match(_LETTER, telling[0] if telling else "") else MOST_WORDS
        named = "-".join([*telling[:most], question_fingerprint(self.in_context)[:DIGITS]])
        self.id = _SEAM.sub("", named)

    @property
    def in_context(self) -> str:
        """Its text with what was said before it."""
        return with_what_was_said(self.history, self.question)

    @property
    def quoted(self) -> str:
        """The words of the passages it was made from that answer it."""
        return joined(group[0] for group in self.groups)

    @property
    def judgments(self) -> list[list[Piece]]:
        """The judgments: for each group its quotes and their places, of which one suffices."""
        return [list(dict.fromkeys(_alternatives(group))) for group in self.groups]


def joined(evidence: Iterable[Evidence]) -> str:
    """Return the words of several parts of passages as one text."""
    return "\n\n".join(one.text for one in evidence)


def _alternatives(group: list[Evidence]) -> list[Piece]:
    return [piece for one in group for piece in (Quote(one.text), *one.spans)]
