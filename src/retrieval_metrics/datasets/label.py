"""The label of one document for one query: its grade, with who gave it, when and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics._internal.validation import common_id_type
from retrieval_metrics.inputs.json_codec import to_json_value

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId, QueryId


# What gave a grade: a person or a model.
Grader: TypeAlias = Literal["human", "model"]

_TEXT_FIELDS = ("prompt", "date", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The grade of a document for a query, or the fact that it could not be graded.

    Attributes:
        query: The query.
        document: The document.
        grade: The grade; None if the person cannot tell, or the model gave no usable reply.
        grader: The name of the person or the model, without spaces around it.
        kind: `human` or `model`.
        prompt: The version of the model's prompt, or of the rubric shown to the person.
        date: The date, such as `2026-05-31`.
        reason: The reason in the words of the grader; for a model that failed, the error.
        quotes: The exact words of the document that answer the query.

    Raises:
        TypeError: If an attribute has another type.
        ValueError: If the grade is not finite, the kind is unknown, the name is empty, or the date is invalid.
    """

    query: QueryId
    document: DocumentId
    grade: float | None
    grader: str
    kind: Grader = "human"
    prompt: str | None = None
    date: str | None = None
    reason: str | None = None
    quotes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        subject = f"the label of document {self.document!r} for query {self.query!r}"
        common_id_type([type(self.query)], "query IDs of labels")
        common_id_type([type(self.document)], "document IDs of labels")
        if self.grade is not None and (isinstance(self.grade, bool) or not isinstance(self.grade, Real)):
            raise TypeError(f"{subject} must have a number as its grade, or None, got {self.grade!r}")
        if self.grade is not None:
            _require_finite(self.grade, subject)
        if not isinstance(self.grader, str) or not self.grader.strip():
            raise ValueError(f"{subject} must have the name of its grader as `grader`, got {self.grader!r}")
        if self.kind not in {"human", "model"}:
            raise ValueError(f"{subject} must have 'human' or 'model' as its kind, got {self.kind!r}")
        for name in _TEXT_FIELDS:
            text = getattr(self, name)
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{subject} must have text as its {name}, got {text!r}")
        if self.date is not None:
            try:
                date.fromisoformat(self.date[:10])
            except ValueError:
                raise ValueError(f"the date of {subject} must be written as 2026-05-31, got {self.date!r}") from None
        object.__setattr__(self, "quotes", _as_quotes(self.quotes, subject))
        object.__setattr__(self, "grader", self.grader.strip())

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as plain values for JSON; `read_label` reads them."""
        fields_as_json = {}
        for name in FIELDS:
            value = list(self.quotes) if name == "quotes" else getattr(self, name)
            if name == "grade" or value not in (None, []):
                fields_as_json[name] = to_json_value(value, f"{name} of the label of {self.document!r}")
        return fields_as_json


def _as_quotes(quotes: Any, subject: str) -> tuple[str, ...]:
    """Return quotes as a tuple, also those that can be read only once; raise if they are no texts."""
    is_collection = isinstance(quotes, Iterable) and not isinstance(quotes, str)
    texts = tuple(quotes) if is_collection else ()
    if not is_collection or not all(isinstance(quote, str) and quote.strip() for quote in texts):
        raise TypeError(f"{subject} must have a list of texts as its quotes, got {quotes!r}")
    return texts


# The names of the fields of a label, in the order of the columns of `Labels.to_pandas`.
FIELDS = tuple(field.name for field in fields(Label))


def read_label(entry: Any) -> Label:
    """Return the label that `Label.as_dict` was written from."""
    if not isinstance(entry, Mapping):
        raise TypeError(f"a label must be an object, got {entry!r}")
    for name in entry:
        if name not in FIELDS:
            raise ValueError(f"a label can have {', '.join(FIELDS)}, got {name!r}")
    return Label(**entry)


def _require_finite(grade: float, subject: str) -> None:
    try:
        is_finite = isfinite(grade)
    except OverflowError:
        raise ValueError(f"{subject} has a grade that is too large for a float") from None
    if not is_finite:
        raise ValueError(f"{subject} has the grade {grade!r}, which is not finite")
