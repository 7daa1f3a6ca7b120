"""Define metrics of users, with `define_metric`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter as Argument
from inspect import signature
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.metrics.base.definition import Definition, Parameter
from retrieval_metrics.metrics.base.grade_scale import MAX_GRADE
from retrieval_metrics.metrics.base.metric import Metric, clear_name_cache, parse_computable_metric
from retrieval_metrics.metrics.base.ranking_metric import RankingMetric
from retrieval_metrics.metrics.base.registry import DEFINITIONS, NAME_BY_ALIAS, add, remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval_metrics.metrics.base.definition import ParameterValue


# Arguments that a function can request by name; its other arguments are parameters of the metric.
REQUESTABLE_ARGUMENTS = ("ideal", "k", "max_grade")

_NAME_PATTERN = lazy_pattern(r"[a-z][a-z0-9_]*")
_WORD_PATTERN = lazy_pattern(r"[A-Za-z0-9.]+")

# What is the same in functions that were read twice from the same unchanged code.
_CODE_ATTRIBUTES = ("__module__", "__qualname__", "__code__", "__defaults__", "__kwdefaults__")


@dataclass(frozen=True, slots=True)
class UserMetric:
    """A metric as a user defined it; a pickled metric carries it if the module that defined it cannot be imported.

    Attributes:
        name: The name of the metric.
        function: Takes the grades of one ranking and returns a number.
        module: The module that called `define_metric`.
        k: Whether the metric takes a cutoff.
        summary: One line for tables and messages.
        aliases: Other names of the metric.
        bounded: Whether every value is in [0, 1].
        binary: Whether every value is 0 or 1.
        needs_relevant: Whether the metric is undefined for a query without a relevant document.
        higher_is_better: Whether a larger value is better.
    """

    name: str
    function: Callable[..., float]
    module: str
    k: bool
    summary: str
    aliases: tuple[str, ...]
    bounded: bool
    binary: bool
    needs_relevant: bool
    higher_is_better: bool

    def make_definition(self) -> Definition:
        """Return the definition of the metric; raise if the function has an argument that it cannot be given."""
        arguments = _read_arguments(self.name, self.function)
        score = RankingMetric(
            name=self.name,
            function=self.function,
            requested=arguments.requested,
            bounded=self.bounded,
            binary=self.binary,
            needs_relevant=self.needs_relevant,
            higher_is_better=self.higher_is_better,
        )
        return Definition(
            name=self.name,
            score=score,
            summary=self.summary,
            aliases=self.aliases,
            parameters=arguments.parameters,
            takes_cutoff=self.k,
            bounded=self.bounded,
            bounds=(0.0, 1.0) if self.bounded else (-inf, inf),
            binary=self.binary,
            needs_relevant=self.needs_relevant,
            higher_is_better=self.higher_is_better,
            recipe=self,
        )

    def define(self) -> None:
        """Define a metric that was pickled with its function, in the process that reads it."""
        add(self.make_definition())

    def is_same_as(self, other: UserMetric) -> bool:
        """Return whether another definition has the same options, and the same function or its unchanged code."""
        has_same_options = replace(self, function=other.function, module=other.module) == other
        return has_same_options and _is_same_function(other.function, self.function)


def define_metric(
    name: str,
    function: Callable[..., float],
    *,
    k: bool = True,
    summary: str = "",
    aliases: Iterable[str] = (),
    bounded: bool = True,
    binary: bool = False,
    needs_relevant: bool = True,
    higher_is_better: bool = True,
    replace: bool = False,
) -> Metric:
    """Define a metric of your own for every function, integration and worker that takes the name of a metric.

    The function receives the grades of one ranking, row by row and cut at k, with 0 for documents that are not
    relevant, not judged, or repeated. For judgments of single documents, the rows are the ranking. With groups of
    alternatives or pieces such as quotes, they are the rows that all metrics here use: an item that is the first to
    satisfy c groups has c rows, best grade first, each with the grade that it has in that group; an item that adds to a
    piece without completing it has no row; any other item has one row with grade 0. A budget such as `@2000chars`
    leaves the rows of the items that fit.

    The function is not called for an empty ranking, which scores 0 (unless lower is better, where 0 would be the best
    value), nor for a query without a relevant document, where the metric is undefined (see `needs_relevant`). With
    `ties="expected"` it is called for every order of the documents with equal scores; a query with more than 10,000
    orders is an error.

    Pickles and files hold only the name of a metric. Whoever reads them imports the module that called `define_metric`,
    so call it at the top of a module. A function from a script or a notebook is sent along if the sender can send
    functions, as Ray can.

    Args:
        name: The name, in lower case: a letter, then letters, digits and underscores.
        function: Takes the grades, a read-only array of shape (rows,), and returns a number. It can also take arguments
            with these names: `ideal`, the grades of the ideal ranking, best first, one for each relevant document or
            group, not cut; `k`, the cutoff, or None if there is none or it is a budget; `max_grade`, the largest grade
            of all judgments. Any other argument must have a number or a word as its default, and becomes a parameter of
            the metric: `def f(grades, *, p=0.5)` is available as `name(p=0.8)@10`.
        k: Whether the metric takes a cutoff.
        summary: One line for tables and messages; if empty, the first line of the function's docstring.
        aliases: Other names of the metric.
        bounded: Whether every value is in [0, 1], which narrows the confidence intervals; other values are then an
            error.
        binary: Whether every value is 0 or 1; other values are then an error.
        needs_relevant: Whether the metric is undefined for a query without a relevant document.
        higher_is_better: Whether a larger value is better. If not, the metric is undefined for a query that was not
            answered, because the retriever failed or the run does not hold it.
        replace: Replace a user-defined metric of this name, as when you change a notebook cell and run it again.
            Existing results keep their numbers.

    Returns:
        The metric, without a cutoff.

    Raises:
        TypeError: If the function is not callable, or requires an unknown argument.
        ValueError: If the name is invalid or taken. Defining the same function again under the same name is not an
            error, so modules can be reloaded.

    Example:
        >>> import retrieval_metrics as rm
        >>> def second_chance(grades, k):
        ...     '''Return 1 if one of the first k is relevant, 1/2 if a later one is.'''
        ...     return 1.0 if any(grades[:k] > 0) else 0.5 if any(grades > 0) else 0.0
        >>> rm.define_metric("second_chance", second_chance)
        Metric.parse('second_chance')
        >>> rm.evaluate({"q": ["d7"]}, {"q": ["d3", "d7"]}, ["second_chance@2", "mrr"]).means
        {'second_chance@2': 1.0, 'mrr': 0.5}
    """
    if not callable(function):
        raise TypeError(f"the function of the metric {name!r} must be callable, got {function!r}")
    module = str(sys._getframe(1).f_globals.get("__name__", "__main__"))  # noqa: SLF001  (the only way to know who calls)
    user_metric = UserMetric(
        name=name,
        function=function,
        module=module,
        k=k,
        summary=summary or _read_first_line(function) or "defined by the user",
        aliases=tuple(aliases),
        bounded=bounded or binary,
        binary=binary,
        needs_relevant=needs_relevant,
        higher_is_better=higher_is_better,
    )
    definition = user_metric.make_definition()
    former_definition = _find_former_definition(user_metric, replace=replace)
    if former_definition is not None:
        remove(name)
        clear_name_cache()
    try:
        _require_free_names([name, *user_metric.aliases])
    except ValueError:
        if former_definition is not None:
            add(former_definition)
        raise
    add(definition)
    return Metric(name)


def forget_metric(name: str) -> None:
    """Remove a metric that `define_metric` defined."""
    if name not in DEFINITIONS or DEFINITIONS[name].recipe is None:
        raise ValueError(f"define_metric has not defined a metric {name!r}")
    remove(name)
    clear_name_cache()


def defined_metrics() -> list[Metric]:
    """Return the metrics defined by `define_metric`, without a cutoff."""
    return [Metric(name) for name, definition in DEFINITIONS.items() if definition.recipe is not None]


def _find_former_definition(user_metric: UserMetric, *, replace: bool) -> Definition | None:
    """Return the user-defined metric of that name if it is the same or is to be replaced."""
    definition = DEFINITIONS.get(user_metric.name)
    if definition is None or not isinstance(definition.recipe, UserMetric):
        return None  # a metric of the package is never replaced: ndcg always means ndcg
    former = definition.recipe
    if not replace and not user_metric.is_same_as(former):
        function_name = getattr(former.function, "__qualname__", repr(former.function))
        raise ValueError(
            f"the metric {former.name!r} is already defined by {function_name} in {former.module}; choose another "
            "name, or pass replace=True to define it again"
        )
    return definition


def _is_same_function(left: Any, right: Any) -> bool:
    """Return whether two functions are the same, or were read twice from the same unchanged code."""
    if left is right:
        return True
    if not hasattr(left, "__code__") or left.__closure__:
        return False
    return all(getattr(left, attribute) == getattr(right, attribute, None) for attribute in _CODE_ATTRIBUTES)


def _describe_taken_name(name: str) -> str:
    """Return that a name is the name of a metric already, or another spelling of one."""
    metric_name = NAME_BY_ALIAS[name]
    if metric_name == name:
        return f"{name!r} is already the name of a metric"
    return f"{name!r} is already a name of the metric {metric_name!r}"


def _require_free_names(names: Iterable[str]) -> None:
    """Raise unless each name can be the name of a metric and is not taken."""
    for name in names:
        if not isinstance(name, str) or not _NAME_PATTERN.fullmatch(name):
            raise ValueError(
                f"a metric name must be a letter, then letters, digits and underscores, in lower case; got {name!r}"
            )
        if name in NAME_BY_ALIAS:
            raise ValueError(_describe_taken_name(name))
        try:
            existing = parse_computable_metric(name)
        except ValueError:
            continue
        raise ValueError(f"{name!r} already means {existing}, in the spelling of another tool; choose another name")


def _read_first_line(function: Any) -> str:
    """Return the first line of a function's docstring, or ""."""
    if isinstance(function, partial):
        return ""  # its docstring is that of partial
    docstring = getattr(function, "__doc__", None) or ""
    first_line, _, _ = docstring.strip().partition("\n")
    return first_line


class _Arguments(NamedTuple):
    """The arguments of a function beside the grades.

    Attributes:
        requested: Which of `REQUESTABLE_ARGUMENTS` it takes.
        parameters: The parameters of the metric, by name.
    """

    requested: frozenset[str]
    parameters: dict[str, Parameter]


def _read_arguments(name: str, function: Callable[..., float]) -> _Arguments:
    try:
        _, *others = signature(function).parameters.values()
    except ValueError:  # it takes no argument, or is written in C without a signature
        raise TypeError(f"the function of the metric {name!r} must take the grades of one ranking") from None
    requested = set()
    parameters: dict[str, Parameter] = {}
    for argument in others:
        if argument.kind in {Argument.VAR_POSITIONAL, Argument.VAR_KEYWORD}:
            continue
        if argument.kind == Argument.POSITIONAL_ONLY:
            raise TypeError(f"the function of the metric {name!r} must take {argument.name!r} by name")
        if argument.name not in REQUESTABLE_ARGUMENTS:
            parameters[argument.name] = _read_parameter(name, argument)
            continue
        requested.add(argument.name)
        if argument.name == "max_grade":
            parameters["max_grade"] = MAX_GRADE
    return _Arguments(frozenset(requested), parameters)


def _read_parameter(name: str, argument: Argument) -> Parameter:
    default = argument.default
    if isinstance(default, bool) or not isinstance(default, (int, float, str)):
        raise TypeError(
            f"the argument {argument.name!r} of the function of the metric {name!r} needs a number or a word as its "
            f"default; only the grades, and {', '.join(REQUESTABLE_ARGUMENTS)} by name, are passed without one"
        )
    read = _read_word if isinstance(default, str) else _read_number
    try:
        return Parameter(read, read(default), "a parameter of the function")
    except ValueError as error:
        raise TypeError(f"the default of {argument.name!r} of the metric {name!r} {error}, got {default!r}") from None


def _read_number(value: Any) -> ParameterValue:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise ValueError("must be a finite number")
    return int(number) if number.is_integer() else number


def _read_word(value: Any) -> ParameterValue:
    if not _WORD_PATTERN.fullmatch(str(value)):
        raise ValueError("must be a word, of letters, digits and dots")
    return str(value)
