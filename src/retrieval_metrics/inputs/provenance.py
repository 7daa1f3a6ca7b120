"""Record where a question comes from: its document, author, model, date and labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date as calendar_date
from datetime import datetime
from math import isfinite, isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

LabelValue = str | int | float | bool

TEXT_FIELDS = ("source", "kind", "author", "model", "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a question comes from; every attribute is optional.

    Attributes:
        source: The document that the question was made from. Questions about one document are not independent.
        kind: The kind of question, in your own words, such as `factual` or `multi-hop`.
        author: Who wrote or checked it.
        model: The model that wrote it.
        prompt: The prompt that the model was given, or its version.
        date: When it was made: a date, or a text such as `2026-05-31`. For a date with a time, such as a cell of Excel,
            the date is kept.
        labels: Labels of your own, such as `{"team": "billing"}`.

    Raises:
        TypeError: If an entry has another type.
        ValueError: If a text is not a date, or a label has the name of another attribute.

    Example:
        >>> made = Provenance(source="handbook.md", model="a model", prompt="v3", date="2026-05-31")
        >>> made.date.year
        2026
        >>> made.as_dict()
        {'source': 'handbook.md', 'model': 'a model', 'prompt': 'v3', 'date': '2026-05-31'}
    """

    source: str | None = None
    kind: str | None = None
    author: str | None = None
    model: str | None = None
    prompt: str | None = None
    date: calendar_date | None = None
    labels: Mapping[str, LabelValue] = field(default_factory=dict, hash=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            source: str | None = None,
            kind: str | None = None,
            author: str | None = None,
            model: str | None = None,
            prompt: str | None = None,
            date: calendar_date | str | None = None,
            labels: Mapping[str, LabelValue] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in TEXT_FIELDS:
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)):
                raise TypeError(f"the {name} of a question must be a str, got {value!r} ({type(value).__name__})")
        object.__setattr__(self, "date", _read_date(self.date))
        if not isinstance(self.labels, Mapping):
            raise TypeError(f"the labels of a question must map names to values, got {self.labels!r}")
        labels = {name: _as_plain_value(value) for name, value in self.labels.items()}
        for name, value in labels.items():
            if isinstance(value, float) and not isfinite(value):
                raise ValueError(f"the label {name!r} of a question must be finite, got {value!r}; leave it out")
            if not isinstance(name, str) or not isinstance(value, LabelValue):
                raise TypeError(
                    "a label of a question has a str as its name, and text, a number, True or False as its value, "
                    f"got {name!r}: {value!r}"
                )
            if name in PROVENANCE_FIELDS:
                raise ValueError(f"a label cannot be called {name!r}, because every question has a {name}")
        object.__setattr__(self, "labels", MappingProxyType(labels))

    def get(self, name: str) -> LabelValue | calendar_date | None:
        """Return an attribute or a label by name; None if it is unknown."""
        if name in PROVENANCE_FIELDS and name != "labels":
            value: LabelValue | calendar_date | None = getattr(self, name)
            return value
        return self.labels.get(name)

    def as_dict(self) -> dict[str, Any]:
        """Return what is known as plain values for JSON; `Provenance(**entries)` reads them."""
        entries: dict[str, Any] = {}
        for name in TEXT_FIELDS:
            value = getattr(self, name)
            if value is not None:
                entries[name] = value
        if self.date is not None:
            entries["date"] = self.date.isoformat()
        if self.labels:
            entries["labels"] = dict(self.labels)
        return entries

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.as_dict(),)  # read-only mappings cannot be pickled


# The names of all attributes, which are also the keys of rows and files.
PROVENANCE_FIELDS = tuple(provenance_field.name for provenance_field in fields(Provenance))


def _restore(entries: Mapping[str, Any]) -> Provenance:
    return Provenance(**entries)


def _as_plain_value(value: Any) -> Any:
    """Return a number of numpy as one of Python, and anything else as it is."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _read_date(value: Any) -> calendar_date | None:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()  # of nanoseconds, item() would be a number
    value = _as_plain_value(value)
    if type(value).__name__ == "NAType" or (isinstance(value, float) and isnan(value)):
        return None  # a missing value of pandas
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).date()
        except ValueError:
            raise ValueError(f"the date of a question must be written as 2026-05-31, got {value!r}") from None
    if isinstance(value, datetime):
        is_missing = value != value  # noqa: PLR0124  (only pandas' NaT, a datetime that is no point in time)
        return None if is_missing else value.date()
    if value is None or isinstance(value, calendar_date):
        return value
    raise TypeError(f"the date of a question must be a date or a text such as '2026-05-31', got {value!r}")
