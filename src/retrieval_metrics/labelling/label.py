"""A label: the grade of a document for a query, with its grader, date and reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from itertools import pairwise
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics.checks import id_kind
from retrieval_metrics.inputs.entries import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.checks import DocumentId, QueryId

Grader: TypeAlias = Literal["person", "model"]

GRADES = (0, 1, 2, 3)
"""The grades that people and models can give."""
RUBRIC = (
    "does not help to answer the question",
    "is about the subject of the question, but does not answer it",
    "answers a part of the question, or answers it among much else",
    "answers the question",
)
"""The meaning of each grade, for people and models."""
RELEVANT_FROM = 2
"""The lowest grade of a document that answers at least a part of the question."""
_TEXTS = ("prompt", "date", "reason")


class Scale(NamedTuple):
    """The grades that a rubric has.

    Attributes:
        grades: All of them.
        relevant_from: The lowest grade with which a document is relevant.
    """

    grades: tuple[float, ...] = GRADES
    relevant_from: float = RELEVANT_FROM

    @classmethod
    def of(cls, relevant_from: float, grades: Iterable[float] = GRADES) -> Scale:
        """Return the scale of a rubric.

        Raises:
            TypeError: If a grade is not a number.
            ValueError: If `relevant_from` is not one of the grades, or the lowest, with which all are relevant, or the
                grades do not rise.
        """
        known = tuple(grades)
        if any(isinstance(grade, bool) or not isinstance(grade, Real) for grade in known):
            raise TypeError(f"the grades of a rubric must be numbers, got {list(known)}")
        if any(higher <= lower for lower, higher in pairwise(known)):
            raise ValueError(f"the grades of a rubric must rise, got {list(known)}")
        if isinstance(relevant_from, bool) or relevant_from not in known[1:]:
            above = ", ".join(f"{grade:g}" for grade in known[1:])
            raise ValueError(f"relevant_from must be one of the grades {above}, got {relevant_from!r}")
        return cls(known, relevant_from)

    @classmethod
    def common(cls, scales: Iterable[Scale | None]) -> Scale | None:
        """Return the scale of several labels; those that have none have the scale of the others.

        Raises:
            ValueError: If two differ.
        """
        known = list(dict.fromkeys(scale for scale in scales if scale is not None))
        if len(known) > 1:
            one, other = known[:2]
            raise ValueError(
                f"these labels were given by different rubrics: a document is relevant from grade "
                f"{one.relevant_from:g} of {len(one.grades)} and from {other.relevant_from:g} of {len(other.grades)}"
            )
        return known[0] if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The grade of a document for a query, or the fact that it could not be graded.

    Attributes:
        query: The query.
        document: The document.
        grade: The grade; None if the person cannot tell, or the model gave no usable reply.
        by: The name of the person or the model, without spaces around it.
        kind: `person` or `model`.
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
    by: str
    kind: Grader = "person"
    prompt: str | None = None
    date: str | None = None
    reason: str | None = None
    quotes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        what = f"the label of document {self.document!r} for query {self.query!r}"
        id_kind([type(self.query)], "query ids of labels")
        id_kind([type(self.document)], "document ids of labels")
        if self.grade is not None and (isinstance(self.grade, bool) or not isinstance(self.grade, Real)):
            raise TypeError(f"{what} must have a number as its grade, or None, got {self.grade!r}")
        if self.grade is not None and not isfinite(self.grade):
            raise ValueError(f"{what} has the grade {self.grade!r}, which is not finite")
        if not isinstance(self.by, str) or not self.by.strip():
            raise ValueError(f"{what} must have the name of its grader as `by`, got {self.by!r}")
        if self.kind not in {"person", "model"}:
            raise ValueError(f"{what} must have 'person' or 'model' as its kind, got {self.kind!r}")
        if odd := [name for name in _TEXTS if not isinstance(getattr(self, name), (str, type(None)))]:
            raise TypeError(f"{what} must have text as its {odd[0]}, got {getattr(self, odd[0])!r}")
        if self.date is not None:
            try:
                date.fromisoformat(self.date[:10])
            except ValueError:
                raise ValueError(f"the date of {what} must be written as 2026-05-31, got {self.date!r}") from None
        if isinstance(self.quotes, str) or not all(isinstance(each, str) and each.strip() for each in self.quotes):
            raise TypeError(f"{what} must have a list of texts as its quotes, got {self.quotes!r}")
        object.__setattr__(self, "quotes", tuple(self.quotes))
        object.__setattr__(self, "by", self.by.strip())

    def as_dict(self) -> dict[str, Any]:
        """Return what is known as plain values for JSON; `Label(**entries)` reads them."""
        known = {name: getattr(self, name) for name in FIELDS}
        known["quotes"] = list(self.quotes)
        return {
            name: plain(value, f"{name} of the label of {self.document!r}")
            for name, value in known.items()
            if name == "grade" or value not in (None, [])
        }


FIELDS = tuple(each.name for each in fields(Label))


def label_of(entry: Any) -> Label:
    """Return the label that `Label.as_dict` was written from.

    Raises:
        TypeError: If it is no object, or a value has another type.
        ValueError: If it holds something else.
    """
    if not isinstance(entry, Mapping):
        raise TypeError(f"a label must be an object, got {entry!r}")
    if unknown := [name for name in entry if name not in FIELDS]:
        raise ValueError(f"a label can have {', '.join(FIELDS)}, got {unknown[0]!r}")
    return Label(**entry)
