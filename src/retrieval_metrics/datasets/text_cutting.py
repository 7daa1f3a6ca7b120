"""Cut texts into parts of equal length, and into sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(
    r"(?<=[.!?])[\"')\]”’]*\s+|(?<=[。！？])[”’」』]*\s*|\n[ \t]*\n\s*"  # noqa: RUF001  (Chinese has no spaces)
)
_SPACE = re.compile(r"\s+")


def cut_text(text: str, max_length: int) -> list[tuple[int, int]]:
    r"""Return where to cut a text into parts of about equal length, none longer than `max_length`.

    Example:
        >>> text = "One two. Three four.\n\nFive six seven."
        >>> [text[start:end] for start, end in cut_text(text, 25)]
        ['One two. Three four.', 'Five six seven.']
    """
    # Paragraphs are preferred to sentences, and these to words.
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
        n_parts = -(-n_left // max_length)
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
    index = bisect_right(boundaries, up_to) - 1
    return boundaries[index] if index >= 0 and boundaries[index] > after else None


def sentence_ranges(text: str) -> list[tuple[int, int]]:
    r"""Return start and end of each sentence of a text; a paragraph ends one too.

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
