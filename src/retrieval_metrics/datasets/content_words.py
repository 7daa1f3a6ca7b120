"""Reduce a text to the stems of the words that carry its content."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from retrieval_metrics.datasets.question_language import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable


# The endings that `stem` removes from a word, if at least three letters remain.
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
    """Return the stems of the words that are not function words.

    Example:
        >>> content_words("what does the budget for 2024 propose".split())
        ['budget', '2024', 'propos']
    """
    return [stem(token) for token in tokens if token not in FUNCTION_WORDS]
