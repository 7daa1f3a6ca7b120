"""The words of a text that carry its content, and its sentences."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.datasets.question_language import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n{2,}")
_SUFFIX = re.compile(r"(?<=\w{3})(?:ies|es|s|ing|ed|ly|e|y)$")


@cache
def stem(word: str) -> str:
    """Return a word without the most common English endings, so that its forms become equal.

    Example:
        >>> stem("queries"), stem("query"), stem("raised"), stem("raises"), stem("is")
        ('quer', 'quer', 'rais', 'rais', 'is')
    """
    return _SUFFIX.sub("", word)


def content_words(tokens: Iterable[str]) -> list[str]:
    """Return the stems of the content words.

    Example:
        >>> content_words("what does the budget for 2024 propose".split())
        ['budget', '2024', 'propos']
    """
    return [stem(token) for token in tokens if token not in FUNCTION_WORDS]


class SharedRun(NamedTuple):
    """The longest run of words that two texts share: where it begins in the first text, and its length."""

    start: int
    length: int


def find_longest_shared_run(left: Sequence[str], right: Sequence[str]) -> SharedRun:
    """Return where in the first text the longest run of words begins that both have, and how long it is.

    Example:
        >>> find_longest_shared_run("why is the sky blue".split(), "because the sky is".split())
        SharedRun(start=2, length=2)
    """
    match = SequenceMatcher(None, left, right, autojunk=False).find_longest_match()
    return SharedRun(match.a, match.size)


def split_sentences(text: str) -> list[str]:
    """Return the sentences and paragraphs of a text."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def quote_beginning(text: str, max_length: int = 80) -> str:
    """Return the beginning of a text on one line, in quotation marks."""
    line = " ".join(text.split())
    if len(line) > max_length:
        line = f"{line[: max_length - 3].rstrip()}..."
    return repr(line)
