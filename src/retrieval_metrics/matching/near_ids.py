"""Recognise ids that are nearly equal: one document, spelt in two ways, as after a file was read by another program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias
from unicodedata import normalize
from urllib.parse import unquote

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

NearIdKind: TypeAlias = Literal[
    "unicode_form",
    "invisible_characters",
    "blanks",
    "case",
    "percent_encoding",
    "slashes",
    "leading_zeros",
    "decimal_point",
    "several",
    "path",
    "part",
    "numbered_part",
    "same_text",
]

# Soft hyphens, zero-width characters, marks of direction, byte order marks and control characters other than blanks.
_INVISIBLE = lazy_pattern("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\x00-\x08\x0e-\x1f\x7f]")
_BLANKS = lazy_pattern(r"\s+")
_BLANKS_WITHIN_LINES = lazy_pattern(r"[^\S\n]+")
_LEADING_ZEROS = lazy_pattern(r"(?<!\d)(?<!\d[.,])0+(?=\d)")
_DECIMAL_ZERO = lazy_pattern(r"(\d+)\.0+")

# What follows the id of a document in that of a part: `d7#3`, `d7::intro`, `d7/3`, `d7:3`.
_PART = lazy_pattern(r"#.|::.|[/:@|~](?:chunk|part|page|passage|node|section)?[-_ ]?\d+$")
# `d7_3`, `d7-chunk-3`, `d7.3` or `d7.md`: also the form of many ids of whole documents.
_NUMBERED_PART = lazy_pattern(
    r"[-_.](?:chunk|part|page|passage|node|section|p|c|s)?[-_ ]?\d+$|\.(?:md|txt|pdf|html?|json|csv|docx?|rst|xml)$"
)

# Separators of a path or a part.
_SEPARATORS = "-_:/|.@#~"
_SEPARATOR = lazy_pattern(f"[{re.escape(_SEPARATORS)}]")
# How many of the separators of an id, from its end, may begin what the other side lacks.
_MAX_SEPARATORS = 8


def _strip_blanks(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _remove_invisible(text: str) -> str:
    return _INVISIBLE.sub("", text)


def _compose(text: str) -> str:
    return normalize("NFKC", text)


def _unify_slashes(text: str) -> str:
    return text.replace("\\", "/")


def _strip_leading_zeros(text: str) -> str:
    return _LEADING_ZEROS.sub("", text)


def _drop_decimal_zero(text: str) -> str:
    match = _DECIMAL_ZERO.fullmatch(text)
    return text if match is None else match[1]


# What makes two spellings equal; the first that does gives the kind.
_SPELLINGS: Sequence[tuple[NearIdKind, Callable[[str], str]]] = (
    ("blanks", _strip_blanks),
    ("invisible_characters", _remove_invisible),
    ("unicode_form", _compose),
    ("case", str.casefold),
    ("percent_encoding", unquote),
    ("slashes", _unify_slashes),
    ("leading_zeros", _strip_leading_zeros),
    ("decimal_point", _drop_decimal_zero),
)


def unify_spelling(document_id: str) -> str:
    r"""Return an id without anything in which two spellings of it may differ.

    Example:
        >>> unify_spelling("Docs%5CCafe\u0301 007.MD ")
        'docs/café 7.md'
    """
    text = unquote(document_id)
    text = _compose(_remove_invisible(text)).casefold()
    text = _compose(text)
    return _drop_decimal_zero(_strip_leading_zeros(_unify_slashes(_strip_blanks(text))))


def find_near_kind(first: str, second: str) -> NearIdKind | None:
    """Return in what two different ids differ, if they may be one document; None if they may not.

    Example:
        >>> find_near_kind("a.md", "docs/a.md"), find_near_kind("7", "007"), find_near_kind("d7", "d70")
        ('path', 'leading_zeros', None)
        >>> find_near_kind("d7#3", "d7"), find_near_kind("d7", "d7_3"), find_near_kind("d7#1", "d7#2")
        ('part', 'numbered_part', None)
    """
    for kind, unify in _SPELLINGS:
        if unify(first) == unify(second):
            return kind
    first_unified = unify_spelling(first)
    second_unified = unify_spelling(second)
    if first_unified == second_unified:
        return "several"
    short, long = sorted((first_unified, second_unified), key=len)
    if not short:
        return None
    if long.endswith(f"/{short}"):
        return "path"
    if long.startswith(short):
        return _find_kind_of_rest(long[len(short) :])
    _, separator, rest = long.rpartition(f"/{short}")
    if separator and _find_kind_of_rest(rest) is not None:
        return "several"
    return None


def _find_kind_of_rest(rest: str) -> NearIdKind | None:
    """Return whether what follows the id of a document makes it that of a part."""
    if _PART.match(rest):
        return "part"
    if _NUMBERED_PART.match(rest):
        return "numbered_part"
    return None


def list_wholes(document_id: str) -> list[str]:
    """Return what an id may be a part or a path of: what precedes its last separators, or follows a slash.

    Example:
        >>> list_wholes("docs/a.md#3")
        ['docs', 'a.md#3', 'docs/a', 'docs/a.md']
    """
    wholes = []
    for separator in list(_SEPARATOR.finditer(document_id))[-_MAX_SEPARATORS:]:
        wholes.append(document_id[: separator.start()])
        if separator[0] == "/":
            wholes.append(document_id[separator.end() :])
    return [whole for whole in wholes if whole]


# A search in many ids at once: what cannot be a near miss is ruled out in one pass over their text.

# Zeros, blanks and control characters but line ends.
_DELETED_CODES = [*range(10), *range(11, 33), ord("0"), 127]
_REDUCED = {**dict.fromkeys(_DELETED_CODES), ord("\\"): "/"}


def _reduce(text: str) -> str:
    """Return a text in lower case without zeros, blanks and invisible characters, but with its line ends."""
    if "%" in text:
        text = unquote(text)
    if not text.isascii():
        text = _BLANKS_WITHIN_LINES.sub("", _remove_invisible(normalize("NFKC", text)).casefold())
        text = normalize("NFKC", text)
    return text.lower().translate(_REDUCED)


class NearIdIndex:
    """The ids of one ranking, among which near misses of other ids are found quickly."""

    __slots__ = ("_ids", "_lines")

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids
        self._lines = _reduce("\n" + "\n".join(ids) + "\n")
        if self._lines.count("\n") != len(ids) + 1:  # an id holds a line end
            self._lines = "\n" + "".join(_reduce(text).replace("\n", "") + "\n" for text in ids)

    def find(self, judged_id: str) -> Iterator[str]:
        """Yield the ids of the ranking that may be near misses of another id, in rank order within each form."""
        reduced = _reduce(judged_id).replace("\n", "")
        if not reduced:
            return
        lines = self._lines
        length = len(reduced)
        # Lines that are equal, or go on with a separator, and those in which it follows a slash.
        for start in ("\n", "/"):
            position = lines.find(start + reduced)
            while position >= 0:
                follower = lines[position + 1 + length]
                if follower == "\n" or follower in _SEPARATORS:
                    yield self._id_at(position)
                position = lines.find(start + reduced, position + 1)
        for whole in list_wholes(reduced):
            position = lines.find(f"\n{whole}\n")
            if position >= 0:
                yield self._id_at(position)

    def _id_at(self, position: int) -> str:
        """Return the id in whose line a position is, or whose line begins after it."""
        is_line_end = self._lines[position] == "\n"
        return self._ids[self._lines.count("\n", 0, position) - (not is_line_end)]
