"""Metrics of users, and the names of scores in hosts."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from inspect import Parameter as Argument
from inspect import signature
from math import inf, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.matching.rank_rows import within
from retrieval_metrics.metrics.base.definition import MAX_GRADE, Definition, MetricRecipe, Parameter, largest_grade
from retrieval_metrics.metrics.base.metric import Metric, clear_name_cache, parse_computable_metric
from retrieval_metrics.metrics.base.table import DEFINITIONS, NAME_BY_ALIAS, add, remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from retrieval_metrics._internal.validation import Cut, FloatArray, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.metrics.base.definition import ParameterValue

    Again = tuple[str, Callable[..., float], dict[str, Any], str]
    """What is needed to define a metric again: its name, its function, its options, and the module that defined it."""


GIVEN = ("ideal", "k", "max_grade")
"""Arguments that a function can request by name; its other arguments are parameters of the metric."""

_WORD = re.compile(r"[A-Za-z0-9.]+")


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

    The function is not called for an empty ranking, which scores 0 (unless lower is better, for then 0 would be
    praise), nor for a query without a relevant document, where the metric is undefined (see `needs_relevant`). With
    `ties="expected"` it is called for every order of the documents with equal scores; a query with more than 10,000
    orders is an error.

    Pickles and files hold only the name of a metric. Whoever reads them imports the module that called `define_metric`,
    so call it at the top of a module. A function from a script or a notebook is sent along if the sender can send
    functions, as Ray can.

    Args:
        name: The name, in lower case: a letter, then letters, digits and underscores.
        function: Takes the grades, a read-only array of shape (rows,), and returns a number. It can also take arguments
            with these names: `ideal`, the grades of the ideal ranking, best first, one for each relevant document or
            group, not cut; `k`, the cut-off, or None if there is none or it is a budget; `max_grade`, the largest grade
            of all judgments. Any other argument must have a number or a word as its default, and becomes a parameter of
            the metric: `def f(grades, *, p=0.5)` is available as `name(p=0.8)@10`.
        k: Whether the metric takes a cut-off.
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
        The metric, without a cut-off.

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
    asks, parameters = _arguments(name, function)
    module = str(sys._getframe(1).f_globals.get("__name__", "__main__"))  # noqa: SLF001  (the only way to know who calls)
    other_names = tuple(aliases)
    facts = {
        "k": k,
        "summary": summary or _first_line(function) or "defined by the user",
        "aliases": other_names,
        "bounded": bounded or binary,
        "binary": binary,
        "needs_relevant": needs_relevant,
        "higher_is_better": higher_is_better,
    }
    again = (name, function, facts, module)
    before = _defined_before(again, replace=replace)
    if before is not None:
        remove(name)
        clear_name_cache()
    try:
        _check_names(name, *other_names)
    except ValueError:
        if before is not None:
            add(before)
        raise
    add(_definition(again, asks, parameters))
    return Metric(name)


def forget_metric(name: str) -> None:
    """Remove a metric that `define_metric` defined."""
    if name not in DEFINITIONS or DEFINITIONS[name].recipe is None:
        raise ValueError(f"define_metric has not defined a metric {name!r}")
    remove(name)
    clear_name_cache()


def defined_metrics() -> list[Metric]:
    """Return the metrics defined by `define_metric`, without a cut-off."""
    return [Metric(name) for name, definition in DEFINITIONS.items() if definition.recipe is not None]


def _define_again(name: str, function: Callable[..., float], facts: dict[str, Any], module: str) -> None:
    """Define a metric that was pickled with its function, in the process that reads it."""
    add(_definition((name, function, facts, module), *_arguments(name, function)))


def _definition(again: Again, asks: frozenset[str], parameters: Mapping[str, Parameter]) -> Definition:
    name, function, facts, module = again
    bounded, binary, needs_relevant = facts["bounded"], facts["binary"], facts["needs_relevant"]
    higher = facts["higher_is_better"]
    return Definition(
        name=name,
        score=RankingMetric(name, function, asks, bounded, binary, needs_relevant, higher),
        summary=facts["summary"],
        aliases=facts["aliases"],
        parameters=parameters,
        takes_cutoff=facts["k"],
        bounded=bounded,
        bounds=(0.0, 1.0) if bounded else (-inf, inf),
        binary=binary,
        needs_relevant=needs_relevant,
        higher_is_better=higher,
        recipe=MetricRecipe(module, _define_again, again),
    )


def _defined_before(again: Again, *, replace: bool) -> Definition | None:
    """Return the user-defined metric of that name if it is the same or is to be replaced."""
    name, function, facts, _ = again
    before = DEFINITIONS.get(name)
    if before is None or before.recipe is None:
        return None  # a metric of the package is never replaced: ndcg always means ndcg
    _, former, facts_before, module = before.recipe.arguments
    if not replace and not (_is_same(former, function) and facts == facts_before):
        raise ValueError(
            f"the metric {name!r} is already defined by {_place(former, module)}; choose another name, or pass "
            "replace=True to define it again"
        )
    return before


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two functions are the same, or were read twice from the same unchanged code."""
    if one is other:
        return True
    facts = ("__module__", "__qualname__", "__code__", "__defaults__", "__kwdefaults__")
    return (
        hasattr(one, "__code__")
        and not one.__closure__
        and all(getattr(one, fact) == getattr(other, fact, None) for fact in facts)
    )


def _place(function: Any, module: str) -> str:
    return f"{getattr(function, '__qualname__', repr(function))} in {module}"


def _check_names(*names: str) -> None:
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError(
                f"a metric name must be a letter, then letters, digits and underscores, in lower case; got {name!r}"
            )
        if name in NAME_BY_ALIAS:
            raise ValueError(f"the metric {NAME_BY_ALIAS[name]!r} already has the name {name!r}")
        try:
            meant = parse_computable_metric(name)
        except ValueError:
            continue
        raise ValueError(f"{name!r} already means {meant}, in the spelling of another tool; choose another name")


def _first_line(function: Any) -> str:
    if isinstance(function, partial):
        return ""  # its docstring is that of partial
    return (getattr(function, "__doc__", None) or "").strip().partition("\n")[0]


def _arguments(name: str, function: Callable[..., float]) -> tuple[frozenset[str], dict[str, Parameter]]:
    """Return the arguments that a function requests beside the grades, and the parameters of the metric."""
    try:
        _, *others = signature(function).parameters.values()
    except ValueError:  # it takes no argument, or is written in C without a signature
        raise TypeError(f"the function of the metric {name!r} must take the grades of one ranking") from None
    asks, parameters = set(), {}
    for argument in others:
        if argument.kind in {Argument.VAR_POSITIONAL, Argument.VAR_KEYWORD}:
            continue
        if argument.kind == Argument.POSITIONAL_ONLY:
            raise TypeError(f"the function of the metric {name!r} must take {argument.name!r} by name")
        if argument.name in GIVEN:
            asks.add(argument.name)
            if argument.name == "max_grade":
                parameters["max_grade"] = MAX_GRADE
            continue
        parameters[argument.name] = _parameter(name, argument)
    return frozenset(asks), parameters


def _parameter(name: str, argument: Argument) -> Parameter:
    default = argument.default
    if isinstance(default, bool) or not isinstance(default, (int, float, str)):
        raise TypeError(
            f"the argument {argument.name!r} of the function of the metric {name!r} needs a number or a word as its "
            f"default; only the grades, and {', '.join(GIVEN)} by name, are passed without one"
        )
    read = _word if isinstance(default, str) else _number
    try:
        return Parameter(read, read(default), "a parameter of the function")
    except ValueError as error:
        raise TypeError(f"the default of {argument.name!r} of the metric {name!r} {error}, got {default!r}") from None


def _number(value: Any) -> ParameterValue:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise ValueError("must be a finite number")
    return int(number) if number.is_integer() else number


def _word(value: Any) -> ParameterValue:
    if not _WORD.fullmatch(str(value)):
        raise ValueError("must be a word, of letters, digits and dots")
    return str(value)


# Metrics computed by a function of one ranking: user-defined metrics.

ROUNDING = 1e-9
"""Rounding can take a sum out of [0, 1] by this much."""


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """The score of a metric computed by a function of one ranking.

    Attributes:
        name: The name of the metric, for messages.
        function: Takes the grades of one ranking and returns a number.
        asks: Which of `ideal`, `k` and `max_grade` the function takes beside the grades.
        bounded: Whether every value must lie in [0, 1].
        binary: Whether every value must be 0 or 1.
        needs_relevant: Whether the function is called only for queries with a relevant document.
        higher_is_better: Whether a larger value is better.
    """

    name: str
    function: Callable[..., float]
    asks: frozenset[str]
    bounded: bool
    binary: bool
    needs_relevant: bool
    higher_is_better: bool

    def __call__(self, judged: JudgedRun, *, k: Cut, max_grade: float | None = None, **parameters: Any) -> FloatArray:
        """Return the value of every query, shape (queries,); an empty ranking scores 0."""
        if "k" in self.asks:
            # A budget cuts the grades, but not the ideal, which does not depend on how texts are split.
            parameters["k"] = k if isinstance(k, int) else None
        if "max_grade" in self.asks:
            parameters["max_grade"] = largest_grade(judged, max_grade)
        values = np.zeros(judged.n_queries)
        for query, (grades, ideal) in enumerate(zip(grades_of_rows(judged, k), ideal_grades(judged), strict=True)):
            if (len(grades) or not self.higher_is_better) and (len(ideal) or not self.needs_relevant):
                if "ideal" in self.asks:
                    parameters["ideal"] = ideal
                values[query] = self._value(judged.qrels.queries[query], grades, parameters)
        if judged.unanswered is not None and not self.higher_is_better:
            values[judged.unanswered] = np.nan
        return values

    def _value(self, query: object, grades: FloatArray, parameters: dict[str, Any]) -> float:
        try:
            value = self.function(grades, **parameters)
        except Exception as error:
            raise ValueError(f"{self._where(query, grades)} failed: {type(error).__name__}: {error}") from error
        if not isinstance(value, (Real, np.bool_)):
            raise TypeError(
                f"{self._where(query, grades)} must return one number, got {value!r} ({type(value).__name__})"
            )
        if not isfinite(value):
            raise ValueError(f"{self._where(query, grades)} must return a finite number, got {value!r}")
        if self.binary and value not in {0, 1}:
            raise ValueError(
                f"{self._where(query, grades)} returned {value!r}, but with binary=True every value must be 0 or 1"
            )
        if not self.bounded:
            return float(value)
        if not -ROUNDING <= value <= 1 + ROUNDING:
            raise ValueError(
                f"{self._where(query, grades)} returned {value!r}, which is not between 0 and 1; if that is intended, "
                "define it with bounded=False"
            )
        return min(max(float(value), 0.0), 1.0)

    def _where(self, query: object, grades: FloatArray) -> str:
        some = ", ".join(f"{grade:g}" for grade in grades[:10])
        return f"the metric {self.name!r}, for query {query!r} with the grades [{some}{', ...' * (len(grades) > 10)}],"


def grades_of_rows(judged: JudgedRun, k: Cut) -> list[FloatArray]:
    """Return, for each query, the grade of each row of the expanded ranking within the cut-off."""
    hits = judged.hits().cut(k)
    n_rows = _n_rows(judged, k)
    first = np.cumsum(n_rows) - n_rows
    grades = np.zeros(int(n_rows.sum()))
    grades[first[hits.query] + hits.row - 1] = hits.grade
    grades.flags.writeable = False
    return np.split(grades, first[1:])


def _n_rows(judged: JudgedRun, k: Cut) -> IntArray:
    """Return how many rows the first `k` items have, shape (queries,); a number of items cuts the rows as well."""
    n_items = judged.n_within(k)
    if judged.rows_are_ranks:
        return n_items
    hits = judged.hits()
    crediting = np.diff(hits.query, prepend=-1).astype(bool) | np.diff(hits.rank, prepend=0).astype(bool)
    n_rows = n_items + _count(judged, k, hits.query[~crediting], hits.rank[~crediting])  # c hits of an item are c rows
    if judged.new_coverage is not None:
        n_rows -= _count(judged, k, *judged.new_coverage.partial(None))  # these items have none
    return np.minimum(n_rows, k) if isinstance(k, int) else n_rows


def _count(judged: JudgedRun, k: Cut, query: IntArray, rank: IntArray) -> IntArray:
    kept = query if k is None else query[within(query, rank, k)]
    return np.bincount(kept, minlength=judged.n_queries)


def ideal_grades(judged: JudgedRun) -> list[FloatArray]:
    """Return, for each query, the grades of its ideal ranking, best first, each group's largest; read-only."""
    query, grade, _ = judged.ideal()
    grade = grade.copy()
    grade.flags.writeable = False
    return np.split(grade, np.searchsorted(query, np.arange(1, judged.n_queries)))


def scored_name(
    name: str, chosen: Mapping[str, object], usual: Mapping[str, object], *, prefix: str | None = None
) -> str:
    """Return the name under which a host keeps the scores of a metric, so that two sets of scores stay apart.

    Hosts pool or overwrite scores with equal names. So a name holds every choice that is not the usual one.

    Args:
        name: The name of the metric.
        chosen: What was chosen, by the name of the argument.
        usual: The default of each.
        prefix: What the user put before the name instead; the name of the metric then follows it, and nothing else.

    Raises:
        TypeError: If the prefix is not a text.

    Example:
        >>> usual = {"retrieved": "trace", "match": "id", "max_grade": None}
        >>> scored_name("mrr", usual, usual)
        'mrr'
        >>> scored_name("mrr", usual | {"retrieved": "outputs.reranked", "max_grade": 4}, usual)
        'mrr-retrieved-outputs.reranked-max_grade-4'
        >>> scored_name("mrr", usual | {"retrieved": "outputs.reranked"}, usual, prefix="reranked ")
        'reranked mrr'
    """
    if prefix is not None:
        if not isinstance(prefix, str):
            raise TypeError(f"prefix must be a text, got {prefix!r} ({type(prefix).__name__})")
        return f"{prefix}{name}"
    said = {key: _said(value) for key, value in chosen.items()}
    return name + "".join(f"-{key}-{value}" for key, value in said.items() if value != _said(usual[key]))


def _said(value: object) -> str:
    """Return a choice in the characters that every host allows: of a record its first field, and what is unusual."""
    if is_dataclass(value) and not isinstance(value, type):
        first, *others = fields(value)
        unusual = [field for field in others if getattr(value, field.name) != field.default]
        each = [f"{field.name} {_said(getattr(value, field.name))}" if field.repr else field.name for field in unusual]
        return " ".join([_said(getattr(value, first.name)), *each])
    if callable(value):
        value = getattr(value, "__name__", type(value).__name__)
    return re.sub(r"[^\w.\-: ]", "_", str(value))
