"""Check ids once for every door: what no id of a document may be, and how to mend it."""

from __future__ import annotations

from ast import literal_eval
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

# The control characters of ASCII and those beside it, which no screen shows; tabs and line breaks are blanks.
CONTROL_CHARACTERS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_CONTROL_CHARACTER = lazy_pattern(CONTROL_CHARACTERS)
_LAST_CONTROL_BYTE = 0x1F
# Up to this length, Python looks at the characters of a text faster than numpy.
MAX_LENGTH_FOR_PYTHON = 1_000
_DELETE_BYTE = 0x7F
# The brackets around a list, a tuple, and a dict or a set.
_BRACKETS = ("[]", "()", "{}")
# What is said of a list that stands where an id or a list is expected.
PRINTED_LIST_FAULT = "is a list that was written as text; read it with ast.literal_eval(text) or json.loads(text)"
_OPENING_BRACKETS = "[({"
# Printed lists of more than one element, or of texts, hold one of these; an id such as "[1]" holds none.
_LIST_MARKS = (",", "'", '"')


def is_in_brackets(text: str) -> bool:
    """Return whether a text without blanks around it is in the brackets of a list, a tuple, a dict or a set."""
    return text[:1] + text[-1:] in _BRACKETS


def holds_a_list(text: str) -> bool:
    """Return whether a text is a printed list of ids, as a cell of a table has it.

    Example:
        >>> holds_a_list("['d1', 'd2']"), holds_a_list('["d1"]'), holds_a_list("[1]"), holds_a_list("report [2].pdf")
        (True, True, False, False)
    """
    stripped = text.strip()
    if not is_in_brackets(stripped) or not any(mark in stripped for mark in _LIST_MARKS):
        return False
    try:
        value = literal_eval(stripped)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, (list, tuple, set, dict))


def describe_invalid_id(document_id: str, *, allow: Collection[str] = ()) -> str | None:
    """Return what is wrong with an id that is text, and what to do; None if nothing is.

    Args:
        document_id: The id.
        allow: `"blanks"` accepts ids that are empty, or begin or end with a blank.

    Example:
        >>> describe_invalid_id(" d2")
        "begins or ends with whitespace; write 'd2'"
        >>> describe_invalid_id("d2")
    """
    stripped = document_id.strip()
    if stripped != document_id and stripped and "blanks" not in allow:
        return f"begins or ends with whitespace; write {stripped!r}"
    if not stripped and "blanks" not in allow:
        kind = "blank" if document_id else "empty"
        return f"is {kind}; leave it out, so that a query with nothing relevant has an empty list"
    control = _CONTROL_CHARACTER.search(document_id)
    if control is not None:
        return f"holds the control character {control.group()!r}; remove it"
    if holds_a_list(document_id):
        return PRINTED_LIST_FAULT
    return None


def remove_invalid(document_id: str) -> str:
    r"""Return an id without blanks at its ends and without control characters.

    Example:
        >>> remove_invalid(" d\x002\n")
        'd2'
    """
    return _CONTROL_CHARACTER.sub("", document_id).strip()


def may_hold_invalid_id(ids: Collection[str]) -> bool:
    """Return whether an id could be invalid: never wrong if it says no, and much cheaper than a look at each."""
    return may_joined_ids_be_invalid(" ".join(ids), len(ids))


def join_ids(ids: Iterable[Any]) -> str | None:
    """Return ids joined by a blank; None if they are not all text, which nothing else tells faster."""
    try:
        return " ".join(ids)
    except TypeError:
        return None


def may_joined_ids_be_invalid(joined: str, n_ids: int) -> bool:
    """Return what `may_hold_invalid_id` does, of ids that are joined by a blank.

    An empty id or a blank at an end makes two blanks in a row.
    """
    if not joined:
        # One empty id, or none.
        return n_ids > 0
    if "  " in joined or joined[0] == " " or joined[-1] == " ":
        return True
    for bracket in _OPENING_BRACKETS:
        # One character is found faster than two, and most collections have none.
        if bracket in joined and (joined[0] == bracket or f" {bracket}" in joined):
            return True
    if len(joined) <= MAX_LENGTH_FOR_PYTHON or not joined.isascii():
        return not joined.isprintable()
    characters = np.frombuffer(joined.encode(), np.uint8)
    return bool(characters.min() <= _LAST_CONTROL_BYTE or characters.max() >= _DELETE_BYTE)


def require_valid_ids(ids: Collection[Any], name_id: Callable[[int], str], *, allow: Collection[str] = ()) -> None:
    """Raise if an id that is text is empty or blank, has a blank at an end or a control character, or is a list.

    Args:
        ids: The ids; whatever is not text is passed over, because its type is checked elsewhere.
        name_id: Names the id at a position for the message, such as "document 'd1 ' judged for query 'q1'".
        allow: `"blanks"` accepts ids that begin or end with a blank.

    Raises:
        ValueError: If an id is invalid, with what to do.
    """
    text_ids = [document_id for document_id in ids if isinstance(document_id, str)]
    if not text_ids or not may_hold_invalid_id(text_ids):
        return
    for position, document_id in enumerate(ids):
        if isinstance(document_id, str):
            fault = describe_invalid_id(document_id, allow=allow)
            if fault is not None:
                raise ValueError(f"{name_id(position)} {fault}")
