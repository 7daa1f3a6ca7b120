"""A wanted question, and a candidate for it with its evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.datasets.question_language import FUNCTION_WORDS
from retrieval_metrics.inputs.conversations import prepend_conversation
from retrieval_metrics.inputs.fingerprints import question_fingerprint
from retrieval_metrics.inputs.items import Quote
from retrieval_metrics.inputs.source_text import UNSPACED_SCRIPTS
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.inputs.items import Piece, Span


# Words of a question in its id, so that people can read it ...
MAX_ID_WORDS = 4

# ... or letters of a script without spaces ...
MAX_ID_LETTERS = 12

# ... and hexadecimal digits, so that sets that were generated separately can be merged.
N_ID_DIGITS = 6

_UNSPACED_LETTER = f"[{UNSPACED_SCRIPTS}]"
_HYPHEN_OF_UNSPACED = re.compile(f"(?<={_UNSPACED_LETTER})-(?={_UNSPACED_LETTER})")


class WantedQuestion(NamedTuple):
    """A question to write.

    Attributes:
        kind: Its kind.
        passages: The passages to make it from, by their positions in the corpus.
    """

    kind: str
    passages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A part of a passage that answers a question, quoted exactly.

    Attributes:
        passage: The position of the passage in the corpus.
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
        task: The question that was wanted.
        question: The question.
        groups: The evidence: one of each group is needed; the first of each is from the passages it was made from.
        overlap: The share of its content words that are in these passages.
        conversation: What was said before it, if it continues a conversation.
        answer: A reference answer, if the model gave one.
        rank: The rank at which BM25 has found something of every group; None if it finds nothing of one.
        id: Its first content words and a fingerprint of all, so that the same question always has the same id.
    """

    task: WantedQuestion
    question: str
    groups: list[list[Evidence]]
    overlap: float
    conversation: tuple[dict[str, str], ...] = ()
    answer: str | None = None
    rank: int | None = None
    id: str = field(init=False)

    def __post_init__(self) -> None:
        tokens = words(self.question)
        id_words = [word for word in tokens if word not in FUNCTION_WORDS] or tokens
        is_unspaced = bool(id_words) and re.match(_UNSPACED_LETTER, id_words[0]) is not None
        max_words = MAX_ID_LETTERS if is_unspaced else MAX_ID_WORDS
        digits = question_fingerprint(self.in_context)[:N_ID_DIGITS]
        self.id = _HYPHEN_OF_UNSPACED.sub("", "-".join([*id_words[:max_words], digits]))

    @property
    def in_context(self) -> str:
        """Its text with what was said before it."""
        return prepend_conversation(self.conversation, self.question)

    @property
    def quoted(self) -> str:
        """The words of the passages it was made from that answer it."""
        return join_evidence(group[0] for group in self.groups)

    @property
    def judgments(self) -> list[list[Piece]]:
        """The judgments: for each group its quotes and their places, of which one suffices."""
        return [_list_alternatives(group) for group in self.groups]


def join_evidence(pieces: Iterable[Evidence]) -> str:
    """Return the words of several parts of passages as one text."""
    return "\n\n".join(evidence.text for evidence in pieces)


def _list_alternatives(group: list[Evidence]) -> list[Piece]:
    alternatives: list[Piece] = []
    for evidence in group:
        alternatives += [Quote(evidence.text), *evidence.spans]
    return list(dict.fromkeys(alternatives))
