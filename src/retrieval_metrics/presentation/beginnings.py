"""The beginnings of texts, safe to print."""

from __future__ import annotations

from retrieval_metrics.presentation.escapes import on_one_line

LENGTH = 60
_ENOUGH = 4
"""How many times the length is read, so that enough is left when runs of white space are collapsed."""


def beginning(text: str, length: int = LENGTH) -> str:
    r"""Return the beginning of a text on one line.

    Example:
        >>> beginning("The with statement\n wraps a block", 20)
        'The with statement…'
        >>> beginning("short")
        'short'
        >>> print(beginning("a\x1b[31mb"))
        a\x1b[31mb
    """
    line = on_one_line(" ".join(text[: length * _ENOUGH].split()))
    if len(line) <= length and len(text) <= length * _ENOUGH:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ")
    return f"{cut[:space] if space > length // 2 else cut}…"
