"""The records of a generation: a question to write, a candidate for it, and the evidence that answers it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.datasets.question_language import FUNCTION_WORDS
from retrieval_metrics.inputs.conversations import prepend_conversation
from retrieval_metrics.inputs.fingerprints import question_fingerprint
from retrieval_metrics.inputs.pieces import Quote
from retrieval_metrics.inputs.source_text import UNSPACED_SCRIPTS
from retrieval_metrics.matching.words import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.inputs.items import Piece
    from retrieval_metrics.inputs.pieces import Span


# An id begins with so many words of its question, so that people can read it. In a script without spaces, where each
# letter counts as a word, it begins with so many letters.
MAX_ID_WORDS = 4
MAX_ID_LETTERS = 12

# An id ends with so many hexadecimal digits of a fingerprint, so that separately generated sets can be merged.
N_ID_DIGITS = 6

_UNSPACED_LETTER = f"[{UNSPACED_SCRIPTS}]"
# A hyphen between two letters of a script without spaces.
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
        groups: The evidence. One of each group is needed; the first of a group is from the passages of the task.
        overlap: The share of the content words of the question that are in the passages of the task.
        conversation: What was said before it, if it continues a conversation.
        answer: A reference answer, if the model gave one.
        rank: The rank down to which BM25 finds evidence of every group; None if it finds none of some group.
        id: The first content words of the question and its fingerprint, so that equal questions have equal ids.
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
        """The question with the conversation before it."""
        return prepend_conversation(self.conversation, self.question)

    @property
    def quoted(self) -> str:
        """The evidence from the passages of the task, as one text."""
        return join_evidence(group[0] for group in self.groups)

    @property
    def judgments(self) -> list[list[Piece]]:
        """The judgments: for each group of evidence its quotes and spans, as alternatives."""
        return [_list_alternatives(group) for group in self.groups]


def join_evidence(parts: Iterable[Evidence]) -> str:
    """Return the words of several parts of passages as one text."""
    return "\n\n".join(evidence.text for evidence in parts)


def _list_alternatives(group: list[Evidence]) -> list[Piece]:
    """Return the quotes and spans of a group of evidence, each once."""
    alternatives: list[Piece] = []
    for evidence in group:
        alternatives += [Quote(evidence.text), *evidence.spans]
    return list(dict.fromkeys(alternatives))
