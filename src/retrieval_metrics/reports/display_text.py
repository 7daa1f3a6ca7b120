"""Escape texts for display: no control characters, and no broken lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Mapping


# Control characters except tab and line feed, marks that change the direction of the text around them, and halves of
# characters, which cannot be printed.
CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Control characters except tab, and line feeds.
_BREAKS = lazy_pattern(CONTROL.pattern.replace(r"\x08", r"\x08\n"))

# How the signs of a ranking are written where only ASCII can be.
ASCII_SIGNS = str.maketrans({"▲": "+", "▼": "-"})


def for_terminal(text: str) -> str:
    """Return a text with `+` and `-` in place of triangles, if the terminal cannot show these."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.translate(ASCII_SIGNS)
    return text


def terminal_width() -> int | None:
    """Return the number of columns of the terminal that stdout is; None if it is a file, a pipe or a notebook."""
    if not sys.stdout.isatty():
        return None
    import shutil  # here because evaluating prints nothing

    return shutil.get_terminal_size().columns


def escaped(text: str) -> str:
    r"""Return a text with control characters written as Python escapes; line breaks stay.

    Example:
        >>> print(escaped("q\x1b[31m7"))
        q\x1b[31m7
    """
    if text.replace("\n", "").isprintable():  # the usual case, found faster than by a search
        return text
    return CONTROL.sub(_as_escape, text)


def _as_escape(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


def format_one_line(text: str) -> str:
    r"""Return a text as one line, with control characters escaped.

    Example:
        >>> print(format_one_line("two\nlines"))
        two\nlines
    """
    if text.isprintable():  # the usual case, found faster than by a search
        return text
    return _BREAKS.sub(_as_escape, text.replace("\t", " "))


def format_cells(texts: Iterable[str]) -> list[str]:
    """Return texts as `format_one_line` does, each for a cell of a table."""
    cells = []
    for text in texts:
        if text.isprintable():  # asked here, because a call takes longer than the rest
            cells.append(text)
        else:
            cells.append(format_one_line(text))
    return cells


SHORT_LENGTH = 60

# How many times the length is read, so that enough is left when runs of white space are collapsed.
_READ_FACTOR = 4


def shorten(text: str, length: int = SHORT_LENGTH) -> str:
    r"""Return the beginning of a text on one line.

    Example:
        >>> shorten("The with statement\n wraps a block", 20)
        'The with statement…'
        >>> shorten("short")
        'short'
        >>> print(shorten("a\x1b[31mb"))
        a\x1b[31mb
    """
    line = format_one_line(" ".join(text[: length * _READ_FACTOR].split()))
    if len(line) <= length and len(text) <= length * _READ_FACTOR:
        return line
    beginning = line[: length - 1]
    last_space = beginning.rfind(" ")
    if last_space > length // 2:
        beginning = beginning[:last_space]
    return f"{beginning}…"


# A longer text of a query is cut where it stands beside the id.
QUERY_TEXT_LENGTH = 50


def format_ranks(ranks: Mapping[str, int]) -> str:
    """Return the rank of a document in each system that has it.

    Example:
        >>> format_ranks({"bm25": 2, "dense": 1})
        'bm25 2, dense 1'
    """
    return ", ".join(f"{system} {rank}" for system, rank in ranks.items())


def quote_query_text(query: Any, texts: Mapping[Any, str]) -> str:
    """Return the beginning of the text of a query in quotes, to stand behind its id; empty if the id says the same.

    Example:
        >>> quote_query_text("q1", {"q1": "Who opens the vault?"})
        ' “Who opens the vault?”'
        >>> quote_query_text("q2", {})
        ''
    """
    text = texts.get(query, "")
    if not text or text == query:
        return ""
    return f" “{shorten(str(text), QUERY_TEXT_LENGTH)}”"
