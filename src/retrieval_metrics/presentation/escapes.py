"""Escape texts for display: no control characters, no broken lines."""

from __future__ import annotations

import re
import sys

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, and marks that change the direction of the text around them."""

_BREAKS = re.compile(CONTROL.pattern.replace(r"\x08", r"\x08\n"))
"""Control characters except tab, and lines that end."""

SIGNS = str.maketrans({"▲": "+", "▼": "-"})
"""How the signs of a ranking are written where only ASCII can be."""


def for_terminal(text: str) -> str:
    """Return a text with `+` and `-` in place of triangles, if the terminal cannot show these."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.translate(SIGNS)
    return text


def escaped(text: str) -> str:
    r"""Return a text with control characters written as Python escapes; line breaks stay.

    Example:
        >>> print(escaped("q\x1b[31m7"))
        q\x1b[31m7
    """
    return CONTROL.sub(_as_escape, text)


def _as_escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def on_one_line(text: str) -> str:
    r"""Return a text as one line, with control characters escaped.

    Example:
        >>> print(on_one_line("two\nlines"))
        two\nlines
    """
    return _BREAKS.sub(_as_escape, text.replace("\t", " "))
