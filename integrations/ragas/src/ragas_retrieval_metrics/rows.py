"""Read the fields of a row of ragas that metrics compare, also from files that hold them as text."""

from __future__ import annotations

import ast
import io
import json
import tokenize
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ragas_retrieval_metrics.metric_names import By

# The fields that are compared, with their names in ragas: what was retrieved, and the judgments.
ROW_FIELDS: Mapping[By, tuple[str, str]] = {
    "ids": ("retrieved_context_ids", "reference_context_ids"),
    "texts": ("retrieved_contexts", "reference_contexts"),
}

# The columns that may hold the text of a query; the first is that of ragas.
QUERY_COLUMNS = ("user_input", "query", "question", "text")

# The first characters of a list, a tuple, a set or a dict that a CSV file holds as text.
_LITERAL_STARTS = ("[", "(", "{")

# The longest text that a message shows.
_MAX_SHOWN_CHARACTERS = 60


class Row(NamedTuple):
    """The fields of a ragas row that a retrieval metric reads; None if the field is absent, [] if it is empty."""

    retrieved_context_ids: Any = None
    reference_context_ids: Any = None
    retrieved_contexts: Any = None
    reference_contexts: Any = None
    user_input: str | None = None

    @property
    def query(self) -> str:
        """The name of the row in messages."""
        return self.user_input if isinstance(self.user_input, str) else "(this row)"

    def filled(self, other: Row) -> Row:
        """Return the row with missing fields taken from another."""
        fields = self._asdict()
        for name, value in other._asdict().items():
            if fields[name] is None:
                fields[name] = value
        return Row(**fields)

    def read(self) -> Row:
        """Return the row with its collections parsed, if a file turned them into text."""
        collections: dict[str, Any] = {}
        for compared_fields in ROW_FIELDS.values():
            for field in compared_fields:
                collections[field] = read_collection(getattr(self, field), field)
        return self._replace(**collections)

    def kind(self, by: By) -> By:
        """Return what is compared, `ids` or `texts`.

        `auto` takes ids if both sides have them, else texts if both sides have those, else what the judgments are: a
        row without anything retrieved is still judged as it says.
        """
        if by != "auto":
            return by
        has_reference_ids = self.reference_context_ids is not None
        has_reference_texts = self.reference_contexts is not None
        if has_reference_ids and self.retrieved_context_ids is not None:
            return "ids"
        if has_reference_texts and self.retrieved_contexts is not None:
            return "texts"
        if has_reference_ids or has_reference_texts:
            return "ids" if has_reference_ids else "texts"
        return "ids" if self.retrieved_contexts is None else "texts"


def get_query_text(fields: Mapping[str, Any]) -> str | None:
    """Return the text of the query of a row; None if it has none."""
    for column in QUERY_COLUMNS:
        if isinstance(fields.get(column), str):
            return str(fields[column])
    return None


def get_row_fields(fields: Mapping[str, Any]) -> Row:
    """Return the fields of a row that metrics read."""
    if isinstance(fields.get("user_input"), (list, tuple)):
        raise TypeError(
            "a row with several turns has no retrieved contexts; retrieval metrics need rows with a single turn"
        )
    return Row(*map(fields.get, Row._fields))._replace(user_input=get_query_text(fields))


def read_collection(value: object, field: str) -> Collection[Any] | None:
    """Return the collection that a field holds; None if the field is empty.

    A CSV file cannot hold lists: `["d1", "d2"]` comes back as the text `"['d1', 'd2']"`, which would be read character
    by character. Such a text is parsed. Any other text is a single id where a list is expected.

    Example:
        >>> read_collection("['d1', 'd7']", "reference_context_ids")
        ['d1', 'd7']
    """
    if _is_empty(value):
        return None
    collection: Collection[Any]
    if isinstance(value, str):
        collection = _parse_collection(value, field)
        return collection
    if hasattr(value, "tolist"):
        collection = value.tolist()
        return collection
    if not isinstance(value, (Sequence, Mapping, set, frozenset)):
        raise TypeError(f"{field} must be a list, got {value!r} ({type(value).__name__})")
    return value


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and isnan(value))


def _parse_collection(text: str, field: str) -> Any:
    if not text.strip().startswith(_LITERAL_STARTS):
        raise TypeError(f"{field} is the bare string {_shorten(text)}; write a list: [{_shorten(text)}]")
    _refuse_printed_array(text, field)
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        with suppress(ValueError):
            return json.loads(text)  # JSON may hold null, which is no literal of Python
        raise ValueError(
            f"{field} is the text {_shorten(text)}, which cannot be read back as a list: {error}"
        ) from error


def _refuse_printed_array(text: str, field: str) -> None:
    """Raise for `['d1' 'd2']`, which numpy prints and Python reads as the one string 'd1d2'."""
    previous_type = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING == previous_type:
                raise ValueError(
                    f"{field} is the text {_shorten(text)}, a printed array without separators; save lists "
                    "(array.tolist()), or use the local/jsonl backend"
                )
            if token.type != tokenize.NL:
                previous_type = token.type
    except (tokenize.TokenError, SyntaxError):
        return  # not a Python literal: parsing it raises a better error


def _shorten(text: str) -> str:
    if len(text) > _MAX_SHOWN_CHARACTERS:
        text = text[: _MAX_SHOWN_CHARACTERS - 1] + "…"
    return repr(text)
