"""Cut texts: into passages of about equal length, into sentences, and to their beginnings."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from itertools import pairwise

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(
    r"(?<=[.!?])[\"')\]”’]*\s+|(?<=[。！？])[”’」』]*\s*|\n[ \t]*\n\s*"  # noqa: RUF001  (Chinese has no spaces)
)
_SPACE = re.compile(r"\s+")

# Where `split_sentences` splits a text.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n{2,}")

# How long a beginning is that a message shows.
_BEGINNING_LENGTH = 80


def cut_text(text: str, max_length: int) -> list[tuple[int, int]]:
    r"""Return start and end of parts of a text of about equal length, none longer than `max_length`.

    A part ends at a paragraph, else at a sentence, else at a space, else anywhere.

    Example:
        >>> text = "One two. Three four.\n\nFive six seven."
        >>> [text[start:end] for start, end in cut_text(text, 25)]
        ['One two. Three four.', 'Five six seven.']
    """
    boundaries_by_preference = [
        sorted(match.end() for match in boundary.finditer(text)) for boundary in (_PARAGRAPH, _SENTENCE, _SPACE)
    ]
    parts: list[tuple[int, int]] = []
    start = len(text) - len(text.lstrip())
    end_of_text = len(text.rstrip())
    while start < end_of_text:
        n_left = end_of_text - start
        if n_left <= max_length:
            parts.append((start, end_of_text))
            break
        n_parts = math.ceil(n_left / max_length)
        even_length = n_left / n_parts
        cut = start + max_length
        for boundaries in boundaries_by_preference:
            boundary_in_reach = _find_last_boundary(boundaries, start + even_length / 2, start + max_length)
            if boundary_in_reach is not None:
                cut = boundary_in_reach
                break
        parts.append((start, start + len(text[start:cut].rstrip())))
        start = cut
    return parts


def _find_last_boundary(boundaries: list[int], after: float, up_to: int) -> int | None:
    """Return the last of some sorted boundaries in a range; None if there is none."""
    index = bisect_right(boundaries, up_to) - 1
    return boundaries[index] if index >= 0 and boundaries[index] > after else None


def sentence_ranges(text: str) -> list[tuple[int, int]]:
    r"""Return start and end of each sentence of a text; the end of a paragraph ends a sentence.

    Example:
        >>> text = "It rains. Take an umbrella!\n\nOr not"
        >>> [text[start:end] for start, end in sentence_ranges(text)]
        ['It rains.', 'Take an umbrella!', 'Or not']
    """
    boundaries = [0, *(match.end() for match in _SENTENCE.finditer(text)), len(text)]
    ranges = []
    for start, end in pairwise(boundaries):
        sentence = text[start:end]
        if sentence.strip():
            n_leading = len(sentence) - len(sentence.lstrip())
            ranges.append((start + n_leading, start + len(sentence.rstrip())))
    return ranges


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, for which a paragraph counts too; see `sentence_ranges` for exact places."""
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]


def quote_beginning(text: str, max_length: int = _BEGINNING_LENGTH) -> str:
    """Return the beginning of a text on one line, in quotation marks."""
    line = " ".join(text.split())
    if len(line) > max_length:
        line = f"{line[: max_length - 3].rstrip()}..."
    return repr(line)
