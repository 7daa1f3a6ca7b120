"""Define what a metric consists of: its formula, its parameters and its properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray
    from retrieval_metrics.matching.plain_ranking import PlainRanking


ParameterValue: TypeAlias = float | str
ActsOn: TypeAlias = Literal["", "lengths", "groups", "grades"]


class TieOrderValues(NamedTuple):
    """The values of a metric over all orders of documents with equal scores.

    Attributes:
        mean: Shape (queries,), the mean over all orders.
        lowest: Shape (queries,), the smallest value.
        highest: Shape (queries,), the largest value.
    """

    mean: FloatArray
    lowest: FloatArray
    highest: FloatArray


class Parameter(NamedTuple):
    """One parameter of a metric.

    Attributes:
        read: Converts text from a metric name, or a Python value, to the value of the parameter. It raises a ValueError
            that says what is allowed.
        default: The value if the name does not give one; it is left out of the printed name.
        meaning: One line for tables and help.
        choices: A sentence for each value, if rule sets differ in it.
        acts_on: What the parameter acts on in a query; audits show it.
        examples: Values other than the default; the tests compute the metric with each of them.
    """

    read: Callable[[Any], ParameterValue]
    default: ParameterValue | None
    meaning: str
    choices: Mapping[str, str] = MappingProxyType({})
    acts_on: ActsOn = ""
    examples: tuple[ParameterValue, ...] = ()


class MetricRecipe(Protocol):
    """What another process needs to define a user-defined metric."""

    @property
    def module(self) -> str:
        """The module that called `define_metric`."""

    def define(self) -> None:
        """Define the metric again."""


def _always_false(**_: Any) -> bool:
    return False


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Definition:
    """A metric and its properties.

    Attributes:
        name: The name as it is printed.
        score: `score(judged_run, *, k, **parameters)` returns one float per query; the value of a query without a
            relevant document is ignored.
        score_plain: `score_plain(ranking, k)` returns the same value, to the bit, for one `PlainRanking` that has a
            relevant document, with the default parameters. None if it has to be computed by `score`.
        summary: One line for tables and help.
        plain_summary: What the mean says, in everyday words; `{first}` stands for what the cutoff leaves. If empty,
            the summary is used.
        aliases: Other names accepted on input.
        parameters: The parameters by name.
        takes_cutoff: Whether it can be cut off at k.
        bounded: Whether every value is in [0, 1].
        binary: Whether every value is 0 or 1.
        two_valued: `two_valued(judged_run, *, k, **parameters)` returns a mask of the queries for which every ranking
            scores 0 or 1, as recall does where one document is needed. There is no such query if it is None or returns
            None.
        reaches_one: Whether the best ranking always scores 1, unless a parameter ranks groups separately. For
            precision@5, the best ranking scores 0.2 if one document is relevant.
        needs_relevant: Whether it is undefined for a query without a relevant document; otherwise `score` returns NaN
            where it is undefined.
        undefined_if: When it is undefined for every query, in words.
        keeps_unjudged_places: Whether it counts the places of the ranking as retrieved, also where unjudged documents
            are removed.
        is_quality_metric: Whether systems are compared in it; `judged` says how much is known of a system, not how good
            it is.
        needs_places: Whether it is defined only for judgments by spans or texts.
        ignores_groups: Whether it treats alternatives one by one, as if there were no groups.
        only_cuts_ranking: Whether @k does no more than cut the ranking, so that a ranking of d results has the same
            value at every k from d on. Not so of precision, which divides by k, and of NDCG, which cuts the ideal too.
        cuts_at_n_relevant: Whether its cutoff is the number of relevant documents, or groups, of each query.
        one_suffices: `one_suffices(**parameters)`: whether it depends only on a single relevant document.
        mean_over_orders: `mean_over_orders(judged_run, *, k, **parameters)`: its mean over all orders of equal scores
            in closed form, for judgments without groups of several (with them too, if `ignores_groups`). The judged run
            has all documents of a tie at its first rank; the values of queries without ties are ignored.
            It returns `TieOrderValues` if a better order does not always have a better value. If it is None or returns
            None, there is no closed form and every order is tried.
        residual: `residual(judged_run, *, k, **parameters)`, for metrics that have one: the largest amount by which
            unjudged and unseen documents could raise each value.
        recipe: For metrics of `define_metric`: how another process defines them.
        is_given: Whether its values are given, and nothing here computes it.
        higher_is_better: Whether a larger value is better.
        bounds: The smallest and the largest possible value; by default they follow from `bounded`.
    """

    name: str
    score: Callable[..., FloatArray]
    score_plain: Callable[[PlainRanking, int | None], float] | None = None
    summary: str
    plain_summary: str = ""
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    takes_cutoff: bool = True
    bounded: bool = True
    binary: bool = False
    two_valued: Callable[..., BoolArray | None] | None = None
    reaches_one: bool = True
    needs_relevant: bool = True
    undefined_if: str = "no query has a relevant document"
    keeps_unjudged_places: bool = False
    is_quality_metric: bool = True
    needs_places: bool = False
    ignores_groups: bool = False
    only_cuts_ranking: bool = False
    cuts_at_n_relevant: bool = False
    one_suffices: Callable[..., bool] = _always_false
    mean_over_orders: Callable[..., FloatArray | TieOrderValues | None] | None = None
    residual: Callable[..., FloatArray] | None = None
    recipe: MetricRecipe | None = None
    is_given: bool = False
    higher_is_better: bool = True
    bounds: tuple[float, float] = (nan, nan)

    def __post_init__(self) -> None:
        if isnan(self.bounds[0]):
            object.__setattr__(self, "bounds", (0.0, 1.0 if self.bounded else inf))

    @property
    def sign(self) -> int:
        """1 if higher is better, else -1."""
        return 1 if self.higher_is_better else -1

    @property
    def worst(self) -> str:
        """The word for its worst values, `lowest` or `highest`."""
        return "lowest" if self.higher_is_better else "highest"

    def explicit_parameters(self, given_parameters: Mapping[str, Any]) -> dict[str, ParameterValue]:
        """Return the given parameters, checked, without those that are None or at their default."""
        explicit = {}
        for key, given_value in given_parameters.items():
            if given_value is None:
                continue
            parameter = self.parameters.get(key)
            if parameter is None:
                raise ValueError(self._describe_unknown_parameter(key))
            try:
                value = parameter.read(given_value)
            except ValueError as error:
                raise ValueError(f"parameter {key!r} of {self.name} {error}, got {given_value!r}") from None
            if value != parameter.default:
                explicit[key] = value
        return explicit

    def _describe_unknown_parameter(self, key: str) -> str:
        known_parameters = ", ".join(self.parameters) or "none"
        advice = ""
        if key == "rel" and "gains" in self.parameters:
            advice = f". To ignore low grades give them no gain: {self.name}(gains=1:0)"
        return f"{self.name} has no parameter {key!r}; it has: {known_parameters}{advice}"


def make_choice(default: str, meaning: str, choices: Mapping[str, str], *, acts_on: ActsOn = "") -> Parameter:
    """Return a parameter whose value is one of the words in `choices`, each described by a sentence."""

    def read(value: Any) -> ParameterValue:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return str(value)

    examples = tuple(word for word in choices if word != default)
    return Parameter(read, default, meaning, choices, acts_on, examples)


def make_number_reader(low: float, high: float) -> Callable[[Any], ParameterValue]:
    """Return a reader that accepts a number strictly between two limits."""

    def read(value: Any) -> ParameterValue:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if not (low < number < high and isfinite(number)):
            limits = []
            if isfinite(low):
                limits.append(f"above {low:g}")
            if isfinite(high):
                limits.append(f"below {high:g}")
            raise ValueError(f"must be a number {' and '.join(limits)}")
        return int(number) if number.is_integer() else number

    return read


REL = Parameter(
    make_number_reader(0, float("inf")), None, "relevant if grade >= rel; without it, if grade > 0", examples=(2,)
)
