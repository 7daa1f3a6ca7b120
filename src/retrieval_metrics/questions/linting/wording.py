"""The words of questions and passages: content words, and how many of them two texts share."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FUNCTION_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "after",
        "again",
        "against",
        "all",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "asked",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "but",
        "by",
        "can",
        "could",
        "d",
        "did",
        "do",
        "does",
        "doing",
        "don",
        "down",
        "during",
        "each",
        "few",
        "for",
        "from",
        "further",
        "get",
        "give",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "hers",
        "herself",
        "him",
        "himself",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "isn",
        "it",
        "its",
        "itself",
        "just",
        "know",
        "let",
        "ll",
        "many",
        "may",
        "me",
        "might",
        "more",
        "most",
        "much",
        "must",
        "my",
        "myself",
        "no",
        "nor",
        "not",
        "now",
        "of",
        "off",
        "on",
        "once",
        "only",
        "or",
        "other",
        "our",
        "ours",
        "out",
        "over",
        "own",
        "please",
        "re",
        "s",
        "same",
        "shall",
        "she",
        "should",
        "so",
        "some",
        "such",
        "t",
        "tell",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "themselves",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "too",
        "under",
        "until",
        "up",
        "us",
        "ve",
        "very",
        "want",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
    ]
)
"""Words that occur in most questions."""

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


def longest_shared_run(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """Return where in the first text the longest run of words begins that both have, and how long it is.

    Example:
        >>> longest_shared_run("why is the sky blue".split(), "because the sky is".split())
        (2, 2)
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(right):
        places.setdefault(word, []).append(place)
    best, end = 0, 0
    ending: dict[int, int] = {}
    for at, word in enumerate(left):
        ending = {place: ending.get(place - 1, 0) + 1 for place in places.get(word, ())}
        longest = max(ending.values(), default=0)
        if longest > best:
            best, end = longest, at + 1
    return end - best, best


def sentences(text: str) -> list[str]:
    """Return the sentences and paragraphs of a text."""
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def shortened(text: str, most: int = 80) -> str:
    """Return the beginning of a text on one line, in quotation marks."""
    line = " ".join(text.split())
    return repr(line if len(line) <= most else f"{line[: most - 3].rstrip()}...")
