"""Describe the form in which ids are written, such as `page5.md` and `page12.md` against `PAGE5`.

A run holds two forms if some of its queries were answered by another index: no id of theirs has the form of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    import re

_LETTERS = lazy_pattern(r"[^\W\d_]+")
_LEADING_ZEROS = lazy_pattern(r"(?<!\d)0+(?=\d)")
_NUMBERS = lazy_pattern(r"[1-9]\d*|(?<!\d)0(?!\d)")


def describe_form(document_id: str) -> str:
    """Return an id with one sign for each word and number, and its other characters as they are.

    Example:
        >>> describe_form("docs/page12.md"), describe_form("DOCS/Page0012.md"), describe_form("12#3")
        ('a/a9.a', 'A/Aa09.a', '9#9')
    """
    words = _LETTERS.sub(_describe_letters, document_id)
    return _NUMBERS.sub("9", _LEADING_ZEROS.sub("0", words))


def _describe_letters(letters: re.Match[str]) -> str:
    if letters[0].islower():
        return "a"
    return "A" if letters[0].isupper() else "Aa"
