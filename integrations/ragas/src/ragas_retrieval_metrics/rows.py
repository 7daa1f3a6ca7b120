"""A row for a metric: what was retrieved, and what should have been."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragas_retrieval_metrics.fields import read_collection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragas_retrieval_metrics.names import By

FIELDS: Mapping[By, tuple[str, str]] = {
    "ids": ("retrieved_context_ids", "reference_context_ids"),
    "texts": ("retrieved_contexts", "reference_contexts"),
}
"""The fields that are compared, with their names in ragas."""


class Row(NamedTuple):
    """The fields of a ragas row that a retrieval metric reads; None is absent, [] is nothing."""

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
        return Row(*(there if here is None else here for here, there in zip(self, other, strict=True)))

    def read(self) -> Row:
        """Return the row with its collections parsed, if a file turned them into text."""
        collections = {
            field: read_collection(getattr(self, field), field) for pair in FIELDS.values() for field in pair
        }
        return Row(**collections, user_input=self.user_input)

    def kind(self, by: By) -> By:
        """Return what is compared, `ids` or `texts`; `auto` takes ids if both sides have them, texts otherwise."""
        if by != "auto":
            return by
        has_ids = self.retrieved_context_ids is not None and self.reference_context_ids is not None
        has_texts = self.retrieved_contexts is not None and self.reference_contexts is not None
        return "texts" if has_texts and not has_ids else "ids"
