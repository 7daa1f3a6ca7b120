"""Find quotes in texts that differ only in typography, without cutting words or numbers.

`SearchedText.find_ranges` is the one rule for quotes, which judging, marking, generating and linting use: a quote is
found where the normalised text is the same and neither of its ends is inside a word or a number.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.source_text import UNSPACED_SCRIPTS
from retrieval_metrics.matching.text_normalisation import (
    find_inner_hyphens,
    normalise_words,
    read_units,
    remove_inner_hyphens,
    unify_dashes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


# How many normalised texts to keep, because many quotes are searched for in the same few texts.
N_CACHED_TEXTS = 64

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


class SearchedText:
    """A text in which quotes are searched for.

    Attributes:
        compact: The text as `normalise` returns it.
    """

    def __init__(self, text: str) -> None:
        words = text.split()
        joined = unify_dashes("".join(words))
        removed_hyphens = find_inner_hyphens(joined)
        self.compact = remove_inner_hyphens(joined)
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
        >>> from retrieval_metrics.matching.text_normalisation import normalise
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


class _MappedText(NamedTuple):
    """A text to search in, with the start and end in the original text of each character that is not white space."""

    text: SearchedText
    starts: list[int]
    ends: list[int]


@lru_cache(maxsize=N_CACHED_TEXTS)
def _map_characters(text: str) -> _MappedText:
    units = read_units(text)
    starts: list[int] = []
    ends: list[int] = []
    for key, start, end in zip(units.keys, units.starts, units.ends, strict=True):
        n_characters = len(key) - key.count(" ")
        starts += [start] * n_characters
        ends += [end] * n_characters
    return _MappedText(SearchedText("".join(units.keys)), starts, ends)
