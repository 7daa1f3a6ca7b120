"""What a metric is made of: its formula, its parameters, and what may be said of its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.types import FloatArray

ParameterValue: TypeAlias = float | str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a metric.

    Attributes:
        read: Turns the text of a metric name, or a Python value, into the value; raises ValueError with what is
        allowed. default: The value that is meant when the name does not say; it is left out of the printed name.
        meaning: One line for tables and help.
    """

    read: Callable[[Any], ParameterValue]
    default: ParameterValue | None
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One metric.

    Attributes:
        name: The name as it is printed.
        score: `score(judged_run, *, k, **parameters)` gives one float per query; where a query has no relevant document
            the value is ignored.
        summary: One line for tables and help.
        aliases: Other names accepted on input.
        parameters: The parameters by name.
        takes_cutoff: Whether the literature cuts it at k.
        bounded: Whether every value lies in [0, 1].
        binary: Whether every value is 0 or 1.
        needs_relevant: Whether it is undefined for a query without a relevant document.
        needs_places: Whether it is defined only where the truth is spans or texts.
        residual: For metrics that know how much they leave open: the largest amount by which unjudged and unseen
            documents could raise the value.
    """

    name: str
    score: Callable[..., FloatArray]
    summary: str
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    takes_cutoff: bool = True
    bounded: bool = True
    binary: bool = False
    needs_relevant: bool = True
    needs_places: bool = False
    residual: Callable[..., FloatArray] | None = None

    def explicit(self, given: Mapping[str, Any]) -> dict[str, ParameterValue]:
        """Return the given parameters, checked, without those at their default or None.

        Raises:
            ValueError: If a parameter is unknown or its value not allowed; the message says what is.
        """
        explicit = {}
        for key, value in given.items():
            if value is None:
                continue
            if key not in self.parameters:
                raise ValueError(self._unknown(key))
            try:
                read = self.parameters[key].read(value)
            except ValueError as error:
                raise ValueError(f"parameter {key!r} of {self.name} {error}, got {value!r}") from None
            if read != self.parameters[key].default:
                explicit[key] = read
        return explicit

    def _unknown(self, key: str) -> str:
        known = ", ".join(self.parameters) or "none"
        msg = f"{self.name} has no parameter {key!r}; it has: {known}"
        if key == "rel" and "gains" in self.parameters:
            msg += f". To ignore low grades give them no gain: {self.name}(gains=1:0)"
        return msg


def choice(*options: str) -> Callable[[Any], ParameterValue]:
    """Return a reader that takes one of some words."""

    def read(value: Any) -> ParameterValue:
        if value not in options:
            raise ValueError(f"must be one of {', '.join(options)}")
        return str(value)

    return read


def number_between(low: float, high: float) -> Callable[[Any], ParameterValue]:
    """Return a reader that takes a number strictly between two others."""

    def read(value: Any) -> ParameterValue:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not (low < number < high and isfinite(number)):
            limits = f"above {low:g}" if high == float("inf") else f"above {low:g} and below {high:g}"
            raise ValueError(f"must be a number {limits}")
        return int(number) if number.is_integer() else number

    return read


REL = Parameter(number_between(0, float("inf")), None, "relevant if grade >= rel; without it, if grade > 0")
