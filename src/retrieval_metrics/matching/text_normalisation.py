"""Normalise texts that differ only in typography, and find quotes in them without cutting words or numbers.

`SearchedText.find_ranges` is the one rule for quotes, which judging, marking, generating and linting use: a quote is
found where the normalised text is the same and neither of its ends is inside a word or a number.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache
from html import unescape
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.source_text import UNSPACED_SCRIPTS

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


# How many normalised texts to keep, because many quotes are searched for in the same few texts.
N_CACHED_TEXTS = 64

_VARIANTS_BY_CHARACTER = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bb\u02bc\u02c8\u00b4`\u2039\u203a\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u301d\u301e\u301f\uff02",
    "-": "\u2010\u2011\u2212\ufe63\uff0d",
    "\u2013": "\u2012",
    "\u2014": "\u2015\u2e3a\u2e3b\ufe58",
    # Invisible: soft hyphens, joiners, marks of direction, and the stroke that lengthens Arabic words.
    "": "\u00ad\u034f\u061c\u0640\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062"
    "\u2063\u2064\u2066\u2067\u2068\u2069\ufeff",
}
_CHARACTER_BY_VARIANT: dict[str, str] = {}
for _character, _variants in _VARIANTS_BY_CHARACTER.items():
    _CHARACTER_BY_VARIANT.update(dict.fromkeys(_variants, _character))
_VARIANT = lazy_pattern(f"[{''.join(_CHARACTER_BY_VARIANT)}]")

_ENTITY = lazy_pattern(r"&(?:[A-Za-z]+\d*|#\d+|#[xX][\dA-Fa-f]+);")
_HYPHENS = lazy_pattern("-+")

# The patterns begin with a rare character and check the text before it by looking behind, which is many times as fast.

# The hyphen of a word that is broken at the end of a line.
_LINE_END_HYPHEN = lazy_pattern(r"[-\u2010\u00ad](?<=[^\W\d_].)[^\S\n]*\n\s*(?=[^\W\d_])")

# The number of a footnote; after fewer letters, as in km\u00b2, it belongs to a unit.
_FOOTNOTE_NUMBER = lazy_pattern("[\u00b9\u00b2\u00b3\u2070\u2074-\u2079](?<=(?:[^\\W\\d_]|[\u0300-\u036f]){3}.)")

_ACCENTS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_LETTER = f"(?:[^\\W_{UNSPACED_SCRIPTS}]|[{_ACCENTS}])"  # a letter, a digit or an accent
# A space between a group of up to three digits and a group of three, as in 2 500. It is in one of the two fields.
_THOUSANDS = r"(?:(?<=(?<![\w.,])\d{0})|(?<=(?<![\w.,])\d\d{0})|(?<=(?<![\w.,])\d\d\d{0}))(?={1}\d{{3}}(?!\d))"
# A position inside a word or a number, marked by | in the examples.
_INSIDE = (
    rf"(?<={_LETTER})(?={_LETTER})"  # il|legal, 1|5
    rf"|(?<={_LETTER}[-_])(?={_LETTER})|(?<={_LETTER})(?=[-_]{_LETTER})"  # non-|legal, tax|-free
    r"|(?<=\d[.,:/'])(?=\d)|(?<=\d)(?=[.,:/'\u2013-]\d)"  # 2.|5, 10|-15
    rf"|{_THOUSANDS.format(' ', '')}|{_THOUSANDS.format('', ' ')}"  # 2 |500, 2| 500
)
_BEGINS_INSIDE = lazy_pattern(rf"{_INSIDE}|(?<!\.\.)(?<=\.)(?=\d)|(?<!--)(?<=[-\u2013])(?=\d)")  # .|5, -|5
_ENDS_INSIDE = lazy_pattern(rf"{_INSIDE}|(?=[\u0300-\u036f\u3099\u309a])|(?<=[^\W\d_])(?='[^\W\d_])")  # can|'t


def normalise(text: str) -> str:
    r"""Return a case-folded text in NFKC, without white space, invisible characters and hyphens between letters.

    Example:
        >>> normalise("The \u201cof\ufb01ce\u201d \u2013\r\n  Caf\u00c9")
        'the"office"-café'
        >>> normalise("a&nbsp;well-known of-\n  fice, -5 degrees")
        'awellknownoffice,-5degrees'
    """
    if "&" in text:
        text = _replace_entities(text)
    if text.isascii():
        return _remove_inner_hyphens("".join(text.lower().replace("`", "'").split()))
    # Decomposed first, so that case folding and the marks above apply to single letters; composed last, because
    # removing white space can bring a letter and its accent together.
    folded = normalize("NFKD", normalize("NFKD", _replace_variants(text)).casefold())
    return normalize("NFKC", _remove_inner_hyphens(_unify_dashes("".join(_replace_variants(folded).split()))))


def normalise_words(text: str) -> str:
    r"""Return a text as `normalise` does, but with a space between words, and with the dashes it had.

    Example:
        >>> normalise_words("The of-\nfi\u00adce\u00a0\u2013 well-known\u00b9")
        'the office \u2013 well-known 1'
    """
    if "&" in text:
        text = _replace_entities(text)
    if "\n" in text:
        text = _LINE_END_HYPHEN.sub("", text)
    if text.isascii():
        return " ".join(text.lower().replace("`", "'").split())
    folded = normalize("NFKD", normalize("NFKD", _replace_variants(_FOOTNOTE_NUMBER.sub(r" \g<0>", text))).casefold())
    return normalize("NFKC", " ".join(_replace_variants(folded).split()))


class SearchedText:
    """A text in which quotes are searched for.

    Attributes:
        compact: The text as `normalise` returns it.
    """

    def __init__(self, text: str) -> None:
        words = text.split()
        joined = _unify_dashes("".join(words))
        removed_hyphens = _find_inner_hyphens(joined)
        self.compact = _remove_inner_hyphens(joined)
        self._text = " ".join(words)
        self._word_starts = list(accumulate(map(len, words), initial=0))
        # Where in `compact` each removed hyphen was.
        self._hyphen_positions = [position - n_before for n_before, position in enumerate(removed_hyphens)]

    def find_ranges(self, quote: str, *, cut: bool = False) -> Iterator[tuple[int, int]]:
        """Yield each range of a normalised quote, without overlaps, as the positions of its first and last character.

        Args:
            quote: The quote, as `normalise` returns it.
            cut: Whether to find the quote also where it cuts a word or a number.
        """
        position = self.compact.find(quote) if quote else -1
        while position >= 0:
            first = self._restore_hyphens(position)
            last = self._restore_hyphens(position + len(quote) - 1)
            if cut or self._is_separate(first, last):
                yield first, last
                position = self.compact.find(quote, position + len(quote))
            else:
                position = self.compact.find(quote, position + 1)

    def holds(self, quote: str) -> bool:
        """Return whether a normalised quote is in the text, and no end of it continues a word or a number."""
        return next(self.find_ranges(quote), None) is not None

    def _is_separate(self, first: int, last: int) -> bool:
        """Return whether neither end of a range continues a word or a number."""
        if _BEGINS_INSIDE.match(self._text, self._restore_spaces(first)):
            return False
        return not _ENDS_INSIDE.match(self._text, self._restore_spaces(last) + 1)

    def _restore_hyphens(self, position: int) -> int:
        """Return where a character of the compact text is in the text without white space, hyphens included."""
        return position + bisect_right(self._hyphen_positions, position)

    def _restore_spaces(self, position: int) -> int:
        """Return where a character of the text without white space is in the text with spaces."""
        return position + bisect_right(self._word_starts, position) - 1


@lru_cache(maxsize=N_CACHED_TEXTS)
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
    start = text.find(part)
    if start < 0:
        return False
    end = start + len(part)
    before = text[max(start - 2, 0) : start]
    after = text[end : end + 1]
    if before:
        continues_number = before[0].isdigit() or before[0].isspace()  # as 500 does in "2 500"
        if before[-1] != " " or continues_number or part[0].isspace():
            return False
    if after not in {"", " "}:
        return False
    return not (part[-1].isdigit() or part[-1].isspace() or part[-1] == "-")


def find_range(part: str, text: str, *, cut: bool = False) -> tuple[int, int] | None:
    r"""Return start and end of the first range of a text that equals `part` after normalisation.

    Args:
        part: The quote to find.
        text: The text to search.
        cut: Whether to find the quote also where it cuts a word or a number.

    Example:
        >>> find_range("the of\ufb01ce", "In  The\nOFFICE, today")
        (4, 14)
        >>> find_range("5 mg", "Take 2.5 mg, not 5&nbsp;mg.")
        (17, 26)
    """
    return next(find_ranges(part, text, cut=cut), None)


def find_ranges(part: str, text: str, *, cut: bool = False) -> Iterator[tuple[int, int]]:
    """Yield start and end of each range that `find_range` could return, in order and without overlaps.

    Example:
        >>> list(find_ranges("la la", "LA LA la\u00a0la"))
        [(0, 5), (6, 11)]
    """
    searched = _map_characters(text)
    quote = _map_characters(part).text.compact
    for first, last in searched.text.find_ranges(quote, cut=cut):
        yield searched.starts[first], searched.ends[last]


def locate_words(text: str, word: re.Pattern[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each word of a text as `normalise_words` returns it, with its start and end in the text."""
    units = _read_units(text)
    unit_by_character: list[int] = []
    for index, key in enumerate(units.keys):
        unit_by_character += [index] * len(key)
    for match in word.finditer("".join(units.keys)):
        first_unit = unit_by_character[match.start()]
        last_unit = unit_by_character[match.end() - 1]
        yield normalize("NFKC", match[0]), units.starts[first_unit], units.ends[last_unit]


class _MappedText(NamedTuple):
    """A text to search in, with the start and end in the original text of each character that is not white space."""

    text: SearchedText
    starts: list[int]
    ends: list[int]


@lru_cache(maxsize=N_CACHED_TEXTS)
def _map_characters(text: str) -> _MappedText:
    units = _read_units(text)
    starts: list[int] = []
    ends: list[int] = []
    for key, start, end in zip(units.keys, units.starts, units.ends, strict=True):
        n_characters = len(key) - key.count(" ")
        starts += [start] * n_characters
        ends += [end] * n_characters
    return _MappedText(SearchedText("".join(units.keys)), starts, ends)


class _Units(NamedTuple):
    """The characters and entities of a text: the normalised key of each, with its start and end."""

    keys: list[str]
    starts: list[int]
    ends: list[int]


def _read_units(text: str) -> _Units:
    starts = list(range(len(text) + 1))
    units = list(text)
    if "&" in text:
        units = []
        starts = []
        position = 0
        for entity in _ENTITY.finditer(text):
            units += [*text[position : entity.start()], entity[0]]
            starts += range(position, entity.start() + 1)
            position = entity.end()
        units += text[position:]
        starts += range(position, len(text) + 1)
    keys = [_make_unit_key(unit) for unit in units]
    for hyphen in _LINE_END_HYPHEN.finditer(text):
        first = bisect_right(starts, hyphen.start()) - 1
        stop = bisect_right(starts, hyphen.end() - 1)
        keys[first:stop] = [""] * (stop - first)
    for number in _FOOTNOTE_NUMBER.finditer(text):
        keys[bisect_right(starts, number.start()) - 1] = f" {_make_key(number[0])}"
    return _Units(keys, starts[:-1], starts[1:])


def _make_unit_key(unit: str) -> str:
    """Return the key of a character, or of the characters that an entity stands for."""
    if len(unit) == 1:
        return _make_key(unit)
    return "".join(map(_make_key, unescape(unit)))


@cache
def _make_key(character: str) -> str:
    """Return a character decomposed, without case and typography; a space for white space."""
    if character.isspace():
        return " "
    folded = normalize("NFKD", normalize("NFKD", _replace_variants(character)).casefold())
    return "".join(_replace_variants(folded).split())


def _replace_entities(text: str) -> str:
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text)


def _remove_inner_hyphens(text: str) -> str:
    return _HYPHENS.sub(_keep_outer_hyphens, text) if "-" in text else text


def _keep_outer_hyphens(hyphens: re.Match[str]) -> str:
    """Return the replacement of some hyphens: empty if they are between letters, otherwise the hyphens themselves."""
    return "" if _are_between_letters(hyphens) else hyphens[0]


def _find_inner_hyphens(text: str) -> list[int]:
    """Return the position of each hyphen between letters, for a text without white space."""
    positions: list[int] = []
    if "-" not in text:
        return positions
    for hyphens in _HYPHENS.finditer(text):
        if _are_between_letters(hyphens):
            positions += range(hyphens.start(), hyphens.end())
    return positions


def _are_between_letters(hyphens: re.Match[str]) -> bool:
    text = hyphens.string
    start, end = hyphens.span()
    follows_letter = start == 0 or _is_letter(text[start - 1])
    return follows_letter and (end == len(text) or _is_letter(text[end]))


def _is_letter(character: str) -> bool:
    return (character.isalnum() and not character.isdecimal()) or "\u0300" <= character <= "\u036f"


def _unify_dashes(text: str) -> str:
    return text.replace("\u2013", "-").replace("\u2014", "-")


def _replace_variants(text: str) -> str:
    # Five times as fast as str.translate, which looks up every character.
    return _VARIANT.sub(lambda variant: _CHARACTER_BY_VARIANT[variant[0]], text)
