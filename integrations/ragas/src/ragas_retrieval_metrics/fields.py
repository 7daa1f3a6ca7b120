"""Read the fields of a row from ragas, its files and its users."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

_LITERAL_STARTS = ("[", "(", "{")


def read_collection(value: Any, field: str) -> Any:
    """Return a field that holds a collection; None if it is empty.

    A CSV file cannot hold lists: `["d1", "d2"]` comes back as the text `"['d1', 'd2']"`, which would be read character
    by character. Such a text is parsed. Any other text is a single id where a list is expected.

    Args:
        value: A list, a mapping, an array, the text of one of these, or None (in a DataFrame NaN, in a CSV file "").
        field: Its name, for the message.

    Raises:
        TypeError: If it is a bare text, or not a collection.
        ValueError: If it is the text of an array, whose items cannot be told apart.

    Example:
        >>> read_collection("['d1', 'd7']", "reference_context_ids")
        ['d1', 'd7']
    """
    if value is None or (isinstance(value, str) and not value.strip()) or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, str):
        return _from_text(value, field)
    if hasattr(value, "tolist"):
        return value.tolist()
    if not isinstance(value, (Sequence, Mapping, set, frozenset)):
        raise TypeError(f"{field} must be a list, got {value!r} ({type(value).__name__})")
    return value


def _from_text(text: str, field: str) -> Any:
    if text.strip().startswith(_LITERAL_STARTS):
        _refuse_an_array(text, field)
        try:
            return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError(
                f"{field} is the text {_short(text)}, which cannot be read back as a list: {error}"
            ) from error
    raise TypeError(f"{field} is the bare string {_short(text)}; write a list: [{_short(text)}]")


def _refuse_an_array(text: str, field: str) -> None:
    """Raise for `['d1' 'd2']`, which numpy prints and Python reads as the one string 'd1d2'."""
    before = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING == before:
                raise ValueError(
                    f"{field} is the text {_short(text)}, a printed array without separators; save lists "
                    "(array.tolist()), or use the local/jsonl backend"
                )
            if token.type != tokenize.NL:
                before = token.type
    except (tokenize.TokenError, SyntaxError):
        return  # not a Python literal: parsing it raises a better error


def _short(text: str) -> str:
    longest = 60
    return repr(text if len(text) <= longest else text[: longest - 1] + "…")
