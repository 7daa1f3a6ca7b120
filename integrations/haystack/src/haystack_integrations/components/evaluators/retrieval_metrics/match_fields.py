"""Read the fields of Haystack's documents by which they are compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from haystack_integrations.components.evaluators.retrieval_metrics.documents import describe_document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from haystack import Document

    from retrieval_metrics.types import DocumentId

# The prefix of fields in the metadata of a document.
META_PREFIX = "meta."


def get_match_value(document: Document, field: str) -> DocumentId | None:
    """Return the value by which a document is compared; None if it has none, or an empty text.

    Example:
        >>> from haystack import Document
        >>> get_match_value(Document(content="text", meta={"source": {"url": "a.html"}}), "meta.source.url")
        'a.html'
    """
    if field == "content":
        return document.content or None
    if field == "id":
        return document.id
    value = _read_nested_value(document.meta, field.removeprefix(META_PREFIX))
    if value is None or (isinstance(value, (str, int)) and not isinstance(value, bool)):
        return value
    raise TypeError(
        f"documents can be compared by a str or an int; {field} of {describe_document(document)} is {value!r}"
    )


def _read_nested_value(meta: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path of keys with dots between them; None if a key is missing."""
    value: Any = meta
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def require_field(field: str, argument: str, other_fields: Sequence[str] = ()) -> None:
    """Raise unless a setting names metadata, or one of the other fields that are allowed."""
    if field in other_fields:
        return
    if not field.startswith(META_PREFIX) or field == META_PREFIX:
        allowed = ", ".join(map(repr, [*other_fields, "meta.<key>"]))
        raise ValueError(f"{argument} must be one of {allowed}, got {field!r}")
