"""Normalise texts that differ only in typography."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from unicodedata import normalize

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.aliases import IntArray

TEXTS_KEPT = 64
"""Normalised texts to cache: quotes are searched for in the same few texts again and again."""

_SAME = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bb\u02bc\u02c8\u00b4`\u2039\u203a\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u301d\u301e\u301f\uff02",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d",
    "": "\u00ad\u200b\u200c\u200d\u2060\ufeff",  # invisible
}
_PLAIN = {odd: plain for plain, odds in _SAME.items() for odd in odds}
_ODD = re.compile(f"[{''.join(_PLAIN)}]")
_LETTER = r"[^\W\d_]|[\u0300-\u036f]"  # or the accent of one
_INSIDE_WORDS = re.compile(rf"(?:(?<={_LETTER})|^)-+(?={_LETTER}|$)")
"""Hyphens between letters, once white space is gone: a word that is broken at the end of a line has one too many."""


def normalised(text: str) -> str:
    r"""Return a case-folded text in NFKC, without white space, invisible characters and hyphens between letters.

    Other hyphens and all quotation marks have one form.

    Example:
        >>> normalised("The \u201cof\ufb01ce\u201d \u2013\r\n  Caf\u00c9")
        'the"office"-café'
        >>> normalised("a well-known of-\n  fice, -5 degrees")
        'awellknownoffice,-5degrees'
    """
    if text.isascii():
        return _whole("".join(text.lower().replace("`", "'").split()))
    # Decomposed first, so that case folding and the marks above apply to single letters; composed last, because
    # removing white space can bring a letter and its accent together.
    folded = normalize("NFKD", normalize("NFKD", _plain(text)).casefold())
    return normalize("NFKC", _whole("".join(_plain(folded).split())))


def _whole(text: str) -> str:
    return _INSIDE_WORDS.sub("", text) if "-" in text else text


def _plain(text: str) -> str:
    # Five times as fast as str.translate, which looks up every character.
    return _ODD.sub(lambda odd: _PLAIN[odd[0]], text)


def where(part: str, text: str) -> tuple[int, int] | None:
    r"""Return start and end of the first place of a text that reads like `part` once both are normalised.

    None if there is none, or if its accents are in another order.

    Example:
        >>> where("the of\ufb01ce", "In  The\nOFFICE, today")
        (4, 14)
    """
    return next(everywhere(part, text), None)


def everywhere(part: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each place that `where` could return, in order and without overlaps.

    Example:
        >>> list(everywhere("la la", "LA LA la\u00a0la"))
        [(0, 5), (6, 11)]
    """
    there, owners = _keys(text)
    wanted = _whole("".join(map(_key, part)))
    start = there.find(wanted) if wanted else -1
    while start >= 0:
        yield int(owners[start]), int(owners[start + len(wanted) - 1]) + 1
        start = there.find(wanted, start + len(wanted))


@lru_cache(maxsize=TEXTS_KEPT)
def _keys(text: str) -> tuple[str, IntArray]:
    """Return the keys of the characters of a text, and for each character of them the one of the text it is from."""
    keys = [_key(one) for one in text]
    joined, owners = "".join(keys), np.repeat(np.arange(len(keys)), [len(key) for key in keys])
    if not (hyphens := [at for found in _INSIDE_WORDS.finditer(joined) for at in range(*found.span())]):
        return joined, owners
    return _whole(joined), np.delete(owners, hyphens)


@cache
def _key(one: str) -> str:
    """Return a character decomposed, without case and typography; nothing for white space."""
    return "".join(_plain(normalize("NFKD", normalize("NFKD", _plain(one)).casefold())).split())
