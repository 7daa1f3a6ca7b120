"""The parts of a metric: its formula, its parameters and its properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics.checks import FloatArray

ParameterValue: TypeAlias = float | str
ActsOn: TypeAlias = Literal["", "lengths", "groups", "grades"]


class OverOrders(NamedTuple):
    """The values of a metric over all orders of documents with equal scores.

    Attributes:
        mean: Shape (queries,), the mean over all orders.
        lowest: Shape (queries,), the smallest value.
        highest: Shape (queries,), the largest value.
    """

    mean: FloatArray
    lowest: FloatArray
    highest: FloatArray


@dataclass(frozen=True, eq=False)
class Parameter:
    """One parameter of a metric.

    Attributes:
        read: Converts text from a metric name, or a Python value, to the value of the parameter. It raises a ValueError
            that says what is allowed.
        default: The value if the name does not give one; it is left out of the printed name.
        meaning: One line for tables and help.
        words: A sentence for each value, if rule sets differ in it.
        acts_on: What the parameter acts on in a query; audits show it.
        examples: Values other than the default; the tests compute the metric with each of them.
    """

    read: Callable[[Any], ParameterValue]
    default: ParameterValue | None
    meaning: str
    words: Mapping[str, str] = field(default_factory=dict)
    acts_on: ActsOn = ""
    examples: tuple[ParameterValue, ...] = ()


class MadeBy(NamedTuple):
    """What another process needs to define a user-defined metric.

    Attributes:
        module: The module that called `define_metric`.
        define: Defines it again; called with the arguments.
        arguments: The name, the function and the options.
    """

    module: str
    define: Callable[..., object]
    arguments: tuple[Any, ...]


def _never(**_: Any) -> bool:
    return False


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Definition:
    """A metric and its properties.

    Attributes:
        name: The name as it is printed.
        score: `score(judged_run, *, k, **parameters)` returns one float per query; the value of a query without a
            relevant document is ignored.
        summary: One line for tables and help.
        in_words: What the mean says, in everyday words; `{first}` stands for what the cut-off leaves. If empty, the
            summary is used.
        aliases: Other names accepted on input.
        parameters: The parameters by name.
        takes_cutoff: Whether it can be cut off at k.
        bounded: Whether every value is in [0, 1].
        binary: Whether every value is 0 or 1.
        reaches_one: Whether the ideal ranking always scores 1, if no parameter ranks groups separately; that of
            precision@5 scores 0.2 if one document is relevant.
        needs_relevant: Whether it is undefined for a query without a relevant document.
        says_how_good: Whether systems are compared in it; `judged` says how much is known of a system, not how good
            it is.
        needs_places: Whether it is defined only for judgments by spans or texts.
        by_document: Whether it treats alternatives one by one, as if there were no groups.
        cuts_at_needed: Whether its cut-off is the number of relevant documents, or groups, of each query.
        one_suffices: `one_suffices(**parameters)`: whether it depends only on a single relevant document.
        mean_over_orders: `mean_over_orders(judged_run, *, k, **parameters)`: its mean over all orders of equal scores
            in closed form, for judgments without groups of several (with them too, if `by_document`). The judged run
            has all documents of a tie at its first rank; the values of queries without ties are ignored. `OverOrders`
            if a better order does not always have a better value. None, or a None returned: there is no closed form,
            and every order is tried.
        residual: `residual(judged_run, *, k, **parameters)`, for metrics that have one: the largest amount by which
            unjudged and unseen documents could raise each value.
        made_by: For metrics of `define_metric`: where it was called, and with which arguments.
        given: Whether its values are given, and nothing here computes it.
        higher_is_better: Whether a larger value is better, as in all metrics that are computed here.
        bounds: The smallest and the largest possible value; by default they follow from `bounded`.
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
    says_how_good: bool = True
    needs_places: bool = False
    by_document: bool = False
    cuts_at_needed: bool = False
    one_suffices: Callable[..., bool] = _never
    mean_over_orders: Callable[..., FloatArray | OverOrders | None] | None = None
    residual: Callable[..., FloatArray] | None = None
    made_by: MadeBy | None = None
    given: bool = False
    higher_is_better: bool = True
    bounds: tuple[float, float] = (nan, nan)

    def __post_init__(self) -> None:
        if isnan(self.bounds[0]):
            object.__setattr__(self, "bounds", (0.0, 1.0 if self.bounded else inf))

    @property
    def sign(self) -> int:
        """1 if higher is better, else -1."""
        return 1 if self.higher_is_better else -1

    def explicit(self, given: Mapping[str, Any]) -> dict[str, ParameterValue]:
        """Return the given parameters, checked, without those that are None or at their default.

        Raises:
            ValueError: If a parameter is unknown or its value is not allowed; the message says what is allowed.
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


def choice(default: str, meaning: str, words: Mapping[str, str], *, acts_on: ActsOn = "") -> Parameter:
    """Return a parameter that is one of some words, each given with its sentence."""

    def read(value: Any) -> ParameterValue:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return str(value)

    return Parameter(read, default, meaning, words, acts_on, tuple(word for word in words if word != default))


def number_between(low: float, high: float) -> Callable[[Any], ParameterValue]:
    """Return a reader that accepts a number strictly between two limits."""

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


REL = Parameter(
    number_between(0, float("inf")), None, "relevant if grade >= rel; without it, if grade > 0", examples=(2,)
)
