"""What a metric is made of: its formula, its parameters, and every fact about its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.types import FloatArray

ParameterValue: TypeAlias = float | str


class OverOrders(NamedTuple):
    """What a metric is worth over all orders of documents with equal scores.

    Attributes:
        mean: Shape (queries,), the mean over all orders.
        lowest: Shape (queries,), the smallest value.
        highest: Shape (queries,), the largest value.
    """

    mean: FloatArray
    lowest: FloatArray
    highest: FloatArray


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a metric.

    Attributes:
        read: Turns the text of a metric name, or a Python value, into the value; raises ValueError with what is
            allowed.
        default: The value that is meant when the name does not say; it is left out of the printed name.
        meaning: One line for tables and help.
        words: What each value means, as a sentence, where rule sets differ in it.
        acts_on: What in a query the parameter acts on; an audit shows it.
    """

    read: Callable[[Any], ParameterValue]
    default: ParameterValue | None
    meaning: str
    words: Mapping[str, str] = field(default_factory=dict)
    acts_on: Literal["", "lengths", "groups", "grades"] = ""


def _never(**_: Any) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One metric: everything that is known about it.

    Attributes:
        name: The name as it is printed.
        score: `score(judged_run, *, k, **parameters)` returns one float per query; where a query has no relevant
            document the value is ignored.
        summary: One line for tables and help.
        in_words: What the mean says to someone who knows no metric; `{first}` stands for what the cut-off leaves. Empty
            where the summary has to do.
        aliases: Other names accepted on input.
        parameters: The parameters by name.
        takes_cutoff: Whether the literature cuts it at k.
        bounded: Whether every value lies in [0, 1].
        binary: Whether every value is 0 or 1.
        reaches_one: Whether the ideal ranking always scores 1; precision@5 is 0.2 where one document is relevant.
        needs_relevant: Whether it is undefined for a query without a relevant document.
        needs_places: Whether it is defined only where the truth is spans or texts.
        by_document: Whether it looks at alternatives one by one, as if there were no groups.
        cuts_at_needed: Whether its cut-off is, for each query, the number of things that are needed.
        one_suffices: `one_suffices(**parameters)`: whether a single relevant document is all it looks for.
        over_orders: `over_orders(judged_run, *, k, **parameters)`: its values over all orders of equal scores in closed
            form, for judgments without groups of several (with them too, if `by_document`). The judged run has all
            documents of a tie at its first rank; the values of queries without ties are ignored. None, or a None
            returned: there is no closed form, and every order is tried.
        residual: `residual(judged_run, *, k, **parameters)`, for metrics that know how much they leave open: the
            largest amount by which unjudged and unseen documents could raise each value.
    """

    name: str
    score: Callable[..., FloatArray]
    summary: str
    in_words: str = ""
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    takes_cutoff: bool = True
    bounded: bool = True
    binary: bool = False
    reaches_one: bool = True
    needs_relevant: bool = True
    needs_places: bool = False
    by_document: bool = False
    cuts_at_needed: bool = False
    one_suffices: Callable[..., bool] = _never
    over_orders: Callable[..., OverOrders | None] | None = None
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
        advice = ""
        if key == "rel" and "gains" in self.parameters:
            advice = f". To ignore low grades give them no gain: {self.name}(gains=1:0)"
        return f"{self.name} has no parameter {key!r}; it has: {known}{advice}"


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
