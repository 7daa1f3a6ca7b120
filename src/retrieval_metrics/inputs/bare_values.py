"""Refuse a bare string or a bare piece in place of a list of judgments, and say how to make a list of it."""

from __future__ import annotations

from typing import Any

from retrieval_metrics.inputs.id_checks import PRINTED_LIST_FAULT, holds_a_list
from retrieval_metrics.inputs.items import Piece

# How many characters of a text an error shows.
MAX_SHOWN_CHARACTERS = 80
# What separates ids in a cell of a table.
_SEPARATORS = (";", ",", "|")


def show_text(text: str) -> str:
    """Return a text in quotation marks for a message, cut if it is long.

    Example:
        >>> show_text("d1"), len(show_text("d" * 500))
        ("'d1'", 85)
    """
    return repr(text) if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]!r}..."


def require_no_bare_value(judgments: Any, owner: str) -> None:
    """Raise if judgments are a string or a single piece, and say how to make a list of them.

    Args:
        judgments: The judgments of a query.
        owner: Whose they are, for the message: `"query 'q1'"`.

    Raises:
        TypeError: If they are a bare string or a bare piece.
    """
    if not isinstance(judgments, (str, bytes, Piece)):
        return
    if isinstance(judgments, bytes):
        raise TypeError(f"the judgments of {owner} are bytes, {judgments!r}; write a list: [{judgments!r}.decode()]")
    if isinstance(judgments, Piece):
        raise TypeError(
            f"the judgments of {owner} are the bare {type(judgments).__name__} {judgments!r}; write a list: "
            f"[{judgments!r}]"
        )
    raise TypeError(f"the judgments of {owner} are the bare string {show_text(judgments)}; {list_advice(judgments)}")


def list_advice(text: str) -> str:
    """Return how to make a list of a text that stands where a list of ids is expected."""
    if not text.strip():
        return "write an empty list, [], if nothing is relevant"
    if holds_a_list(text):
        return f"it {PRINTED_LIST_FAULT}"
    for separator in _SEPARATORS:
        if separator in text:
            return (
                f"if it holds several IDs, write [part.strip() for part in text.split({separator!r})]; if it is "
                f"one ID, write a list: [{show_text(text)}]"
            )
    return f"write a list: [{show_text(text)}]"
