"""Read texts that differ only in typography alike, and tell where their words and numbers begin and end.

The rule for quotes, in one place: `SearchedText.places` finds a quote where it reads the same and neither of its ends
continues a word or a number of the text. Judging, marking, generating and linting all use it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache
from html import unescape
from itertools import accumulate
from typing import TYPE_CHECKING
from unicodedata import normalize

from retrieval_metrics.inputs.chunk_offsets import UNSPACED_SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Iterator


TEXTS_KEPT = 64
"""Texts to keep as they were read: quotes are searched for in the same few texts again and again."""

_SAME = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bb\u02bc\u02c8\u00b4`\u2039\u203a\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u301d\u301e\u301f\uff02",
    "-": "\u2010\u2011\u2212\ufe63\uff0d",
    "\u2013": "\u2012",
    "\u2014": "\u2015\u2e3a\u2e3b\ufe58",
    # Invisible: soft hyphens, joiners, marks of direction, and the stroke that lengthens Arabic words.
    "": "\u00ad\u034f\u061c\u0640\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062"
    "\u2063\u2064\u2066\u2067\u2068\u2069\ufeff",
}
_PLAIN = {odd: plain for plain, odds in _SAME.items() for odd in odds}
_ODD = re.compile(f"[{''.join(_PLAIN)}]")
_ENTITY = re.compile(r"&(?:[A-Za-z]+\d*|#\d+|#[xX][\dA-Fa-f]+);")
_HYPHENS = re.compile("-+")
# Patterns begin with what is rare, and look behind it afterwards: that is many times as fast.
_BROKEN = re.compile(r"[-\u2010\u00ad](?<=[^\W\d_].)[^\S\n]*\n\s*(?=[^\W\d_])")
"""The hyphen of a word that is broken at the end of a line."""
_NOTE = re.compile("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079](?<=(?:[^\\W\\d_]|[\u0300-\u036f]){3}.)")
"""The number of a footnote; after fewer letters, as in km\u00b2, it belongs to a unit."""

_MARK = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
_W = f"(?:[^\\W_{UNSPACED_SCRIPTS}]|[{_MARK}])"  # a letter, a digit or an accent
_THOUSANDS = r"(?:(?<=(?<![\w.,])\d{0})|(?<=(?<![\w.,])\d\d{0})|(?<=(?<![\w.,])\d\d\d{0}))(?={1}\d{{3}}(?!\d))"
_INSIDE = (
    rf"(?<={_W})(?={_W})"  # il|legal, 1|5
    rf"|(?<={_W}[-_])(?={_W})|(?<={_W})(?=[-_]{_W})"  # non-|legal, tax|-free
    r"|(?<=\d[.,:/'])(?=\d)|(?<=\d)(?=[.,:/'\u2013-]\d)"  # 2.|5, 10|-15
    rf"|{_THOUSANDS.format(' ', '')}|{_THOUSANDS.format('', ' ')}"  # 2 |500, 2| 500
)
_BEGINS_INSIDE = re.compile(rf"{_INSIDE}|(?<!\.\.)(?<=\.)(?=\d)|(?<!--)(?<=[-\u2013])(?=\d)")  # .|5, -|5
_ENDS_INSIDE = re.compile(rf"{_INSIDE}|(?=[\u0300-\u036f\u3099\u309a])|(?<=[^\W\d_])(?='[^\W\d_])")  # can|'t


def normalise(text: str) -> str:
    r"""Return a case-folded text in NFKC, without white space, invisible characters and hyphens between letters.

    Example:
        >>> normalise("The \u201cof\ufb01ce\u201d \u2013\r\n  Caf\u00c9")
        'the"office"-café'
        >>> normalise("a&nbsp;well-known of-\n  fice, -5 degrees")
        'awellknownoffice,-5degrees'
    """
    if "&" in text:
        text = _without_entities(text)
    if text.isascii():
        return _whole("".join(text.lower().replace("`", "'").split()))
    # Decomposed first, so that case folding and the marks above apply to single letters; composed last, because
    # removing white space can bring a letter and its accent together.
    folded = normalize("NFKD", normalize("NFKD", _plain(text)).casefold())
    return normalize("NFKC", _whole(_one_dash("".join(_plain(folded).split()))))


def normalise_words(text: str) -> str:
    r"""Return a text as `normalised` does, but with a space between words, and with the dashes it had.

    Example:
        >>> normalise_words("The of-\nfi\u00adce\u00a0\u2013 well-known\u00b9")
        'the office \u2013 well-known 1'
    """
    if "&" in text:
        text = _without_entities(text)
    if "\n" in text:
        text = _BROKEN.sub("", text)
    if text.isascii():
        return " ".join(text.lower().replace("`", "'").split())
    folded = normalize("NFKD", normalize("NFKD", _plain(_NOTE.sub(r" \g<0>", text))).casefold())
    return normalize("NFKC", " ".join(_plain(folded).split()))


class SearchedText:
    """A text in which quotes are searched for.

    Attributes:
        compact: The text as `normalised` returns it.
    """

    def __init__(self, text: str) -> None:
        words = text.split()
        joined = _one_dash("".join(words))
        inside = (one for one in _HYPHENS.finditer(joined) if not _kept(one)) if "-" in joined else ()
        hyphens = [at for one in inside for at in range(*one.span())]
        self.compact = _whole(joined)
        self._text = " ".join(words)
        self._starts = list(accumulate(map(len, words), initial=0))
        self._before = [at - count for count, at in enumerate(hyphens)]

    def find_ranges(self, quote: str, *, cut: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the first and the last character of each place of a normalised quote, without overlaps."""
        at = self.compact.find(quote) if quote else -1
        while at >= 0:
            first, last = self._joined(at), self._joined(at + len(quote) - 1)
            whole = not _BEGINS_INSIDE.match(self._text, self._spaced(first))
            if cut or (whole and not _ENDS_INSIDE.match(self._text, self._spaced(last) + 1)):
                yield first, last
                at = self.compact.find(quote, at + len(quote))
            else:
                at = self.compact.find(quote, at + 1)

    def holds(self, quote: str) -> bool:
        """Return whether a normalised quote is in the text, and no end of it continues a word or a number."""
        return next(self.find_ranges(quote), None) is not None

    def _joined(self, at: int) -> int:
        """Return where a character of the compact text is in the text without white space, hyphens included."""
        return at + bisect_right(self._before, at)

    def _spaced(self, at: int) -> int:
        return at + bisect_right(self._starts, at) - 1


@lru_cache(maxsize=TEXTS_KEPT)
def as_searched_text(text: str) -> SearchedText:
    r"""Return a text in which quotes are searched for.

    Example:
        >>> refunds = as_searched_text("Refunds take 15 working days, or legal-\nly more.")
        >>> refunds.holds(normalise("15 working days")), refunds.holds(normalise("5 working days"))
        (True, False)
        >>> refunds.holds(normalise("or legal")), refunds.holds(normalise("or legally"))
        (False, True)
    """
    return SearchedText(normalise_words(text))


def is_separate_part(part: str, text: str) -> bool:
    """Return whether a part is in a text letter by letter, with a space or nothing on both sides.

    Example:
        >>> is_separate_part("working days", "Five working days"), is_separate_part("500 euro", "It costs 2 500 euro")
        (True, False)
    """
    at = text.find(part)
    if at < 0:
        return False
    left, right = text[max(at - 2, 0) : at], text[at + len(part) : at + len(part) + 1]
    begins = not left or ((left[-1] == " " and not (left[0].isdigit() or left[0].isspace())) and not part[0].isspace())
    return begins and right in {"", " "} and not (part[-1].isdigit() or part[-1].isspace() or part[-1] == "-")


def find_range(part: str, text: str, *, cut: bool = False) -> tuple[int, int] | None:
    r"""Return start and end of the first place of a text that reads like `part`, without cutting a word or a number.

    Example:
        >>> find_range("the of\ufb01ce", "In  The\nOFFICE, today")
        (4, 14)
        >>> find_range("5 mg", "Take 2.5 mg, not 5&nbsp;mg.")
        (17, 26)
    """
    return next(find_ranges(part, text, cut=cut), None)


def find_ranges(part: str, text: str, *, cut: bool = False) -> Iterator[tuple[int, int]]:
    """Yield start and end of each place that `where` could return, in order and without overlaps.

    Example:
        >>> list(find_ranges("la la", "LA LA la\u00a0la"))
        [(0, 5), (6, 11)]
    """
    there, starts, ends = _mapped(text)
    for first, last in there.find_ranges(_mapped(part)[0].compact, cut=cut):
        yield starts[first], ends[last]


def locate_words(text: str, word: re.Pattern[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each word of a text as `spaced` returns it, with its start and end in the text."""
    keys, starts, ends = _units(text)
    joined = "".join(keys)
    owners = [at for at, key in enumerate(keys) for _ in key]
    for found in word.finditer(joined):
        yield normalize("NFKC", found[0]), starts[owners[found.start()]], ends[owners[found.end() - 1]]


@lru_cache(maxsize=TEXTS_KEPT)
def _mapped(text: str) -> tuple[SearchedText, list[int], list[int]]:
    """Return a text to search in, and the start and end of each of its characters that is not white space."""
    keys, starts, ends = _units(text)
    owners = [at for at, key in enumerate(keys) for one in key if one != " "]
    return SearchedText("".join(keys)), [starts[at] for at in owners], [ends[at] for at in owners]


def _units(text: str) -> tuple[list[str], list[int], list[int]]:
    """Return the key of every character or entity of a text, with its start and end."""
    starts = list(range(len(text) + 1))
    units = list(text)
    if "&" in text:
        units, starts, end = [], [], 0
        for entity in _ENTITY.finditer(text):
            units += [*text[end : entity.start()], entity[0]]
            starts += range(end, entity.start() + 1)
            end = entity.end()
        units += text[end:]
        starts += range(end, len(text) + 1)
    keys = [_key(unit) if len(unit) == 1 else "".join(map(_key, unescape(unit))) for unit in units]
    for broken in _BROKEN.finditer(text):
        first, last = (bisect_right(starts, at) - 1 for at in (broken.start(), broken.end() - 1))
        keys[first : last + 1] = [""] * (last + 1 - first)
    for note in _NOTE.finditer(text):
        keys[bisect_right(starts, note.start()) - 1] = f" {_key(note[0])}"
    return keys, starts[:-1], starts[1:]


@cache
def _key(one: str) -> str:
    """Return a character decomposed, without case and typography; a space for white space."""
    if one.isspace():
        return " "
    return "".join(_plain(normalize("NFKD", normalize("NFKD", _plain(one)).casefold())).split())


def _without_entities(text: str) -> str:
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text)


def _whole(text: str) -> str:
    return _HYPHENS.sub(_kept, text) if "-" in text else text


def _kept(hyphens: re.Match[str]) -> str:
    """Return what remains of hyphens without white space around them: nothing if there are letters on both sides."""
    text, (start, end) = hyphens.string, hyphens.span()
    inside = (start == 0 or _is_letter(text[start - 1])) and (end == len(text) or _is_letter(text[end]))
    return "" if inside else hyphens[0]


def _is_letter(one: str) -> bool:
    return (one.isalnum() and not one.isdecimal()) or "\u0300" <= one <= "\u036f"


def _one_dash(text: str) -> str:
    return text.replace("\u2013", "-").replace("\u2014", "-")


def _plain(text: str) -> str:
    # Five times as fast as str.translate, which looks up every character.
    return _ODD.sub(lambda odd: _PLAIN[odd[0]], text)
