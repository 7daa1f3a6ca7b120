"""Normalise texts that differ only in typography."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


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
        return remove_inner_hyphens("".join(text.lower().replace("`", "'").split()))
    # Decomposed first, so that case folding and the marks above apply to single letters; composed last, because
    # removing white space can bring a letter and its accent together.
    folded = normalize("NFKD", normalize("NFKD", _replace_variants(text)).casefold())
    return normalize("NFKC", remove_inner_hyphens(unify_dashes("".join(_replace_variants(folded).split()))))


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


def locate_words(text: str, word: re.Pattern[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each word of a text as `normalise_words` returns it, with its start and end in the text."""
    units = read_units(text)
    unit_by_character: list[int] = []
    for index, key in enumerate(units.keys):
        unit_by_character += [index] * len(key)
    for match in word.finditer("".join(units.keys)):
        first_unit = unit_by_character[match.start()]
        last_unit = unit_by_character[match.end() - 1]
        yield normalize("NFKC", match[0]), units.starts[first_unit], units.ends[last_unit]


class TextUnits(NamedTuple):
    """The characters and entities of a text: the normalised key of each, with its start and end."""

    keys: list[str]
    starts: list[int]
    ends: list[int]


def read_units(text: str) -> TextUnits:
    """Return the normalised characters and entities of a text, with their places in it."""
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
    return TextUnits(keys, starts[:-1], starts[1:])


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


def remove_inner_hyphens(text: str) -> str:
    """Return a text without the hyphens between letters, for a text without white space."""
    return _HYPHENS.sub(_keep_outer_hyphens, text) if "-" in text else text


def _keep_outer_hyphens(hyphens: re.Match[str]) -> str:
    """Return the replacement of some hyphens: empty if they are between letters, otherwise the hyphens themselves."""
    return "" if _are_between_letters(hyphens) else hyphens[0]


def find_inner_hyphens(text: str) -> list[int]:
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


def unify_dashes(text: str) -> str:
    """Return a text with hyphens in place of dashes."""
    return text.replace("\u2013", "-").replace("\u2014", "-")


def _replace_variants(text: str) -> str:
    # Five times as fast as str.translate, which looks up every character.
    return _VARIANT.sub(lambda variant: _CHARACTER_BY_VARIANT[variant[0]], text)
