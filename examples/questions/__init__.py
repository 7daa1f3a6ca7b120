"""The questions of the examples and their judgments, for any way of cutting the corpus.

Over a hundred questions in users' own words, which are often not the words of the language reference. What answers a
question is quoted (see ``Anchor``), so the same judgments hold for passages of any size: as passage ids
(``qrels``), as quotes (``quotes``) or as places in the topics (``spans``).

All three give ``{what: grade}`` for a question whose answers stand for themselves, and a list of such mappings for a
question with parts: one of every part is needed.

The passages were judged by reading all of them, and again among the first ten of both retrievers of the examples
for each question. Only wording that Python 3.11 to 3.14 share is quoted, so what a newer reference adds is unjudged.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

from corpus import Passage, normalised, passages, topics
from questions import classes, functions_and_names, special_methods, statements, text_and_collections, values
from questions.question import Anchor, Question

QUESTIONS: tuple[Question, ...] = (
    *statements.QUESTIONS,
    *functions_and_names.QUESTIONS,
    *classes.QUESTIONS,
    *special_methods.QUESTIONS,
    *values.QUESTIONS,
    *text_and_collections.QUESTIONS,
)

Place = tuple[str, int, int]
"""A topic, and the start and the end of a quote in the topic's text."""

_Key = TypeVar("_Key")


@cache
def questions() -> tuple[Question, ...]:
    """Return the questions without the quotes that the reference of this Python no longer holds, warning of each.

    A question that has lost all its quotes, or all of one part, is left out.
    """
    reference = [normalised(text) for text in topics().values()]
    found: list[Question] = []
    for question in QUESTIONS:
        known = _with_known_quotes(question, reference)
        if known != question:
            warnings.warn(
                f"the language reference of this Python words quotes of question {question.id!r} anew: "
                f"{'they are left out' if known else 'the question is left out'}",
                stacklevel=2,
            )
        if known:
            found.append(known)
    return tuple(found)


def queries() -> dict[str, str]:
    """Return the text of every question by its id."""
    return {question.id: question.text for question in questions()}


def qrels(pieces: Sequence[Passage]) -> dict[str, dict[str, int] | list[dict[str, int]]]:
    """Return the grades of the passages, by question and passage id.

    A passage that holds several quotes of a question has the largest of their grades.

    Raises:
        ValueError: no passage holds a quote: a cut runs through it, or its topic is missing.
    """
    contents = [(piece, normalised(piece.text)) for piece in pieces]

    def holders(anchor: Anchor) -> list[str]:
        found = [piece.id for piece, content in contents if anchor.quote in content]
        if not found:
            raise ValueError(
                f"none of the {len(pieces)} passages holds the quote {anchor.quote!r}; judge passages that cut "
                "through paragraphs by quotes() or spans()"
            )
        return found

    return _judgments(holders)


def quotes() -> dict[str, dict[str, int] | list[dict[str, int]]]:
    """Return the grades of the quotes themselves, by question and quote, with white space normalised."""
    return _judgments(lambda anchor: [anchor.quote])


def spans() -> dict[str, dict[Place, int] | list[dict[Place, int]]]:
    """Return the grades of the places of the quotes, by question and place, in the topics that ``passages`` keeps."""
    contents = [(piece, normalised(piece.text)) for piece in passages()]

    def places(anchor: Anchor) -> Iterable[Place]:
        pattern = re.compile(r"\s+".join(map(re.escape, anchor.quote.split())))
        for piece, content in contents:
            if anchor.quote in content:
                for found in pattern.finditer(piece.text):
                    yield piece.topic, piece.start + found.start(), piece.start + found.end()

    return _judgments(places)


def _judgments(find: Callable[[Anchor], Iterable[_Key]]) -> dict[str, dict[_Key, int] | list[dict[_Key, int]]]:
    return {
        question.id: _grades(question.answers, find) or [_grades(part, find) for part in question.parts]
        for question in questions()
    }


def _grades(anchors: Sequence[Anchor], find: Callable[[Anchor], Iterable[_Key]]) -> dict[_Key, int]:
    grades: dict[_Key, int] = {}
    for anchor in anchors:
        for key in find(anchor):
            grades[key] = max(anchor.grade, grades.get(key, 0))
    return grades


def _with_known_quotes(question: Question, reference: Sequence[str]) -> Question | None:
    def known(anchors: Sequence[Anchor]) -> tuple[Anchor, ...]:
        return tuple(anchor for anchor in anchors if any(anchor.quote in text for text in reference))

    answers = known(question.answers)
    parts = tuple(known(part) for part in question.parts)
    return replace(question, answers=answers, parts=parts) if answers or (parts and all(parts)) else None
