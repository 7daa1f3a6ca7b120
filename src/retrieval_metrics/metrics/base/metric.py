"""A metric with its cut-off and parameters, and the names it is read from and printed as."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from math import inf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from retrieval_metrics._internal.validation import positive_integer, python_or_cli_text
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.table import DEFINITIONS, NAME_BY_ALIAS

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.metrics.base.definition import ParameterValue


DEFAULT_METRICS = ("hit_rate@5", "full_recall@5", "recall@10", "precision@5", "mrr@10", "map", "ndcg@10")
"""The metrics that are computed by default."""

MAIN = ("__main__", "__mp_main__")
"""The names of the module of a script or a notebook, in its own process and in the processes that it starts."""

GIVEN: dict[str, Metric] = {}
"""The metrics whose values were given, by name, so that results accept their names; the last one of each name."""


@dataclass(frozen=True, slots=True, init=False)
class Metric:
    """A metric with its cut-off and parameters, as `name(parameter=value)@k`.

    Two metrics are equal if their names are; parameters at their default are not part of the name.

    Attributes:
        name: The metric's canonical name, such as `ndcg`.
        k: The cut-off: only the first k items count, or those that fit into a `Budget`. None means all.
        parameters: The parameters that differ from their defaults, sorted by name.
        definition: The metric's formula, parameters and properties, as they were when this object was made.

    Example:
        >>> Metric.parse("nDCG_cut_10")
        Metric.parse('ndcg@10')
        >>> str(Metric("ndcg", 10, gain="exponential"))
        'ndcg(gain=exponential)@10'
        >>> Metric.parse("ap") == Metric.parse("map")
        True
    """

    name: str
    k: int | Budget | None = None
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    definition: Definition = field(init=False, repr=False, compare=False)
    _text: str = field(init=False, repr=False, compare=False)

    def __init__(self, name: str, k: int | Budget | None = None, **parameters: ParameterValue) -> None:
        """Make the metric with this name, cut-off and parameters.

        Raises:
            ValueError: If the metric, a parameter or its value is unknown, or k is not positive.
            TypeError: If k is not an integer.
        """
        self._set(name, k, parameters)

    def _set(self, name: str, k: int | Budget | None, parameters: Mapping[str, ParameterValue]) -> None:
        name = canonical_name(name, GIVEN)
        definition = DEFINITIONS[name]
        if not (k is None or isinstance(k, Budget)):
            k = positive_integer(k, f"the cut-off k of {name}", or_none=True)
        if k is not None and not definition.takes_cutoff:
            raise ValueError(f"{name} takes no cut-off, got {name}@{k}; {definition.summary}")
        explicit = definition.explicit_parameters(dict(parameters))
        object.__setattr__(self, "definition", definition)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "parameters", tuple(sorted(explicit.items())))
        inside = ",".join(f"{key}={value}" for key, value in self.parameters)
        cutoff = "" if k is None else f"@{k}"
        object.__setattr__(self, "_text", f"{name}({inside}){cutoff}" if inside else f"{name}{cutoff}")

    @classmethod
    def parse(cls, text: str) -> Metric:
        """Return the metric that a name means.

        Args:
            text: `ndcg@10`, `map`, `rbp(p=0.8)`, `precision(rel=2)@5`, `recall@2000chars`; also aliases (`ap`, `rr`,
                `p`, `r`, `hit`, `success`) and the spellings of other tools (`ndcg_at_10`, `ndcg_cut_10`, `P_10`,
                `nDCG@10`, `recip_rank`).

        Raises:
            ValueError: If the text is not a metric; the message suggests the nearest known ones.
            TypeError: If it is not a str.
        """
        if not isinstance(text, str):
            raise TypeError(
                f"a metric name must be a str such as 'ndcg@10', got {text!r} ({type(text).__name__}){_as_text(text)}"
            )
        try:
            return _parse(text)
        except ValueError:
            if text in GIVEN:
                return GIVEN[text]
            raise

    @property
    def in_words(self) -> str:
        """What its mean says, in everyday words.

        Example:
            >>> Metric.parse("recall@10").in_words
            'how much of what is relevant is in the first 10'
        """
        first = "what was retrieved"
        if self.k is not None:
            size = self.k.in_words if isinstance(self.k, Budget) else self.k
            first = "the first result" if size == 1 else f"the first {size}"
        return (self.definition.plain_summary or self.definition.summary).format(first=first)

    @property
    def plain_name(self) -> str:
        """The name without `@`, parentheses, `=` and `;`, including all parameters, for hosts that refuse these.

        Example:
            >>> [Metric.parse(name).plain_name for name in ("ndcg@10", "map", "precision(rel=2)@5")]
            ['ndcg_at_10', 'map', 'precision_at_5-rel-2']
        """
        cutoff = "" if self.k is None else f"_at_{self.k}"
        said = "".join(f"-{key}-{str(value).replace(';', '_')}" for key, value in self.parameters)
        return f"{self.name}{cutoff}{said}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the metric by name; a user-defined one with the module that defines it."""
        made_by = self.definition.recipe
        if made_by is None:
            return _make_metric, (self.name, self.k, self.parameters)
        # What a script or a notebook defines cannot be imported, so the function itself is pickled.
        again = (made_by.define, made_by.arguments) if made_by.module in MAIN else None
        return _restored, (self.name, self.k, self.parameters, made_by.module, again)

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Metric.parse({str(self)!r})"


def _make_metric(name: str, k: int | Budget | None, parameters: Iterable[tuple[str, ParameterValue]]) -> Metric:
    """Return the metric of parts as they are pickled or read from a name, where a parameter may be called `k`."""
    metric = object.__new__(Metric)
    metric._set(name, k, dict(parameters))
    return metric


def _restored(
    name: str,
    k: int | Budget | None,
    parameters: tuple[tuple[str, ParameterValue], ...],
    module: str,
    again: tuple[Callable[..., object], tuple[Any, ...]] | None,
) -> Metric:
    if name not in NAME_BY_ALIAS and again is not None:
        define, arguments = again
        define(*arguments)
    need_definition(name, module)
    return _make_metric(name, k, parameters)


def need_definition(name: str, module: str) -> None:
    """Make sure that a user-defined metric is known; if it is not, import the module that defines it."""
    if name in NAME_BY_ALIAS:
        return
    try:
        import_module(module)
    except ImportError as error:
        raise ImportError(
            f"the metric {name!r} is defined in the module {module!r}, which cannot be imported here ({error}); put it "
            "on the Python path, or call define_metric before this is read",
            name=module,
        ) from error
    if name not in NAME_BY_ALIAS:
        raise ValueError(
            f"the metric {name!r} was defined in the module {module!r}, but importing that module does not define it; "
            "call define_metric at the top of that module, not inside a function"
        )


@lru_cache(maxsize=1024)
def _parse(text: str) -> Metric:
    return _make_metric(*read_name(text))


def parse_computable_metric(text: str) -> Metric:
    """Return the metric that a name means, if it can be computed; see `Metric.parse`."""
    return _parse(text)


def match_metric_name(metric: str | Metric, names: Collection[str]) -> str:
    """Return the name of a metric as it is among some names, which may be of given metrics not known here."""
    if str(metric) in names or (name := str(as_metric(metric))) in names:
        return str(metric) if str(metric) in names else name
    same = [one for one in names if "rel=" in one and str(_without_rel(Metric.parse(one))) == name]
    return same[0] if len(same) == 1 else name


def with_relevance_threshold(metrics: Iterable[Metric], grade: float | None) -> tuple[Metric, ...]:
    """Return metrics that count a document as relevant from a grade, unless they say otherwise themselves.

    Example:
        >>> [str(metric) for metric in with_relevance_threshold(as_metrics(["mrr", "ndcg@10", "recall(rel=1)@5"]), 2)]
        ['mrr(rel=2)', 'ndcg@10', 'recall(rel=1)@5']
    """
    if grade is None:
        return tuple(metrics)
    return tuple(
        dict.fromkeys(
            Metric(one.name, one.k, **{"rel": grade, **dict(one.parameters)})
            if "rel" in one.definition.parameters
            else one
            for one in metrics
        )
    )


def _without_rel(metric: Metric) -> Metric:
    parameters = ((key, value) for key, value in metric.parameters if key != "rel")
    return _make_metric(metric.name, metric.k, parameters)


def clear_name_cache() -> None:
    """Clear the cache of names, because a metric was removed or replaced."""
    _parse.cache_clear()


def as_metric(metric: str | Metric) -> Metric:
    """Return a metric from its name; a metric is returned unchanged."""
    return metric if isinstance(metric, Metric) else Metric.parse(metric)


def _as_text(given: Any) -> str:
    """Return what to add to a message if the text of a foreign object, as of ir_measures, is the name of a metric."""
    try:
        return f"; pass {str(Metric.parse(str(given)))!r}"
    except ValueError:
        return ""


def as_metrics(metrics: str | Metric | Iterable[str | Metric], *, computed: bool = True) -> tuple[Metric, ...]:
    """Return metrics from their names, each once, in the given order."""
    given = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if not isinstance(given, Iterable):
        raise TypeError(f"metrics must be names such as ['ndcg@10', 'mrr'], got {metrics!r}{_as_text(metrics)}")
    chosen = dict.fromkeys(map(as_metric, given))
    if not chosen:
        raise ValueError("there are no metrics; name at least one, for example ['ndcg@10']")
    if computed and (given_ones := [str(metric) for metric in chosen if metric.definition.is_given]):
        raise ValueError(
            f"{given_ones[0]} cannot be computed, its values are given"
            + python_or_cli_text("; add them: evaluate(...).with_scores(...)", ", and stand in saved results")
        )
    return tuple(chosen)


def choose_leading_metric(metrics: Sequence[Metric]) -> Metric:
    """Return the first metric that is computed, or else the first: plots and reports begin with it."""
    return next((metric for metric in metrics if not metric.definition.is_given), metrics[0])


# How the names of metrics are spelled, here and in other tools.

_NAME = r"\s*(?P<name>[^@()\s]+)\s*(?:\((?P<parameters>[^()]*)\))?\s*(?:@\s*(?P<k>(?s:.*?)))?\s*"
_PEER_CUTOFF = r"(?P<name>.+?)(?:_at_|_cut_|_cut\.|_|\.)(?P<k>\d+)"


class MetricNameParts(NamedTuple):
    """The parts of a name as they are written.

    Attributes:
        name: The metric, in any of its spellings.
        k: The cut-off; None if there is none.
        parameters: The parameters, in the order of the text.
    """

    name: str
    k: int | Budget | None
    parameters: tuple[tuple[str, ParameterValue], ...]


def read_name(text: str) -> MetricNameParts:
    """Return the parts of a name such as `precision(rel=2)@5` or `ndcg_cut_10`."""
    match = re.fullmatch(_NAME, text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a metric name; write name@k or name(parameter=value)@k, for example 'ndcg@10'"
        )
    name, k = match["name"], match["k"]
    if k is None and match["parameters"] is None and (peer := _peer_spelling(name)):
        name, k = peer
    parameters = _read_parameters(text, match["parameters"])
    return MetricNameParts(name, None if k is None else _read_cutoff(text, k), tuple(parameters.items()))


def _read_cutoff(text: str, k: str) -> int | Budget:
    if k.isascii() and k.isdigit() and int(k) > 0:
        return int(k)
    budget = Budget.parse(k)
    if budget is None:
        raise ValueError(
            f"the cut-off in {text!r} must be a positive integer, got {k!r}; leave out '@{k}' for all documents, and "
            "write a budget as @2000chars, @800tokens or @3calls"
        )
    return budget


def _peer_spelling(name: str) -> tuple[str, str] | None:
    """Return name and cut-off of `ndcg_cut_10`, `P_10`, `ndcg_at_10`; None if the whole text is a name."""
    match = re.fullmatch(_PEER_CUTOFF, name)
    if match is None or _key(name) in NAME_BY_ALIAS or _key(match["name"]) not in NAME_BY_ALIAS:
        return None
    known = canonical_name(match["name"])
    if name == f"{match['name']}.{match['k']}" and "p" in DEFINITIONS[known].parameters:
        raise ValueError(
            f"{name!r} may mean {known}(p=0.{match['k']}), as ranx writes it, or {known}@{match['k']}; write one of "
            "them"
        )
    return match["name"], match["k"]


def _read_parameters(text: str, inside: str | None) -> dict[str, ParameterValue]:
    parameters: dict[str, ParameterValue] = {}
    for part in (inside or "").split(","):
        if not part.strip():
            continue
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise ValueError(f"cannot read {part.strip()!r} in {text!r}; write parameters as name=value")
        if key in parameters:
            raise ValueError(f"parameter {key!r} appears twice in {text!r}")
        parameters[key] = value
    return parameters


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def canonical_name(name: str, given: Collection[str] = ()) -> str:
    """Return the name that a metric has in the table, from any of its names."""
    key = _key(name)
    if key in NAME_BY_ALIAS:
        return NAME_BY_ALIAS[key]
    from difflib import SequenceMatcher, get_close_matches  # noqa: PLC0415  (needed only if a name is wrong)

    names = {**{_key(one): one for one in given}, **NAME_BY_ALIAS}
    close = get_close_matches(key, names, n=4, cutoff=0.5)
    # At a tie what can be computed comes first, whatever values were given earlier in the process.
    close.sort(key=lambda one: (-SequenceMatcher(None, one, key).ratio(), one not in NAME_BY_ALIAS))
    near = dict.fromkeys(names[one] for one in close)
    offer = f"did you mean {' or '.join(near)}?" if near else f"the metrics are {', '.join((*DEFINITIONS, *given))}"
    raise ValueError(f"unknown metric {name!r}; {offer}")


# Metrics whose values are given rather than computed: answer quality, latency, cost, another tool's scores.

Bounds: TypeAlias = tuple[float | None, float | None]
"""The smallest and the largest possible value; None where there is none."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GivenMetric(Metric):
    """A metric known only by its name, its bounds and its direction; nothing here computes it.

    Attributes:
        bounds: The smallest and the largest possible value, infinite where there is none.
        lower_is_better: Whether a smaller value is better.
    """

    bounds: tuple[float, float] = (-inf, inf)
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        low, high = self.bounds
        direction = "; lower is better" if self.lower_is_better else ""
        ends = "without bounds" if (low, high) == (-inf, inf) else f"from {low:g} to {high:g}"
        definition = Definition(
            name=self.name,
            score=self._refuse,
            summary=f"given, {ends}{direction}",
            takes_cutoff=False,
            bounded=(low, high) == (0, 1),
            needs_relevant=False,
            is_given=True,
            bounds=(low, high),
            higher_is_better=not self.lower_is_better,
        )
        object.__setattr__(self, "definition", definition)
        object.__setattr__(self, "_text", self.name)
        GIVEN[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return GivenMetric, (self.name, None, (), self.bounds, self.lower_is_better)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        add = python_or_cli_text("; evaluation.with_scores(...) adds it")
        raise ValueError(f"{self.name} was given and cannot be computed{add}")


def as_given_metric(name: str, bounds: tuple[float, float] | None, *, lower_is_better: bool) -> Metric:
    """Return the metric of that name: one that is known here, such as `nDCG@10`, or else a given one."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a metric must be a str, got {name!r}")
    if not name.strip() or not name.isprintable() or name != name.strip():
        raise ValueError(f"the name of a metric must be printable and not blank, got {name!r}")
    try:
        known = parse_computable_metric(name)
    except ValueError:
        return GivenMetric(name, None, (), bounds or (-inf, inf), lower_is_better)
    if lower_is_better or bounds not in {None, known.definition.bounds}:
        low, high = known.definition.bounds
        raise ValueError(
            f"{name!r} is the name of a metric of this package, {known}, from {low:g} to {high:g}, where higher is "
            "better; give yours another name, or state bounds by metric: bounds={'latency': (0, None)}"
        )
    return known


def read_bounds(
    names: Sequence[str], bounds: Bounds | Mapping[str, Bounds] | None
) -> dict[str, tuple[float, float] | None]:
    """Return the bounds of each metric, None where they are not given."""
    if not isinstance(bounds, Mapping):
        return dict.fromkeys(names, None if bounds is None else _pair(bounds))
    _refuse_unknown("bounds", bounds, names)
    return {name: _pair(bounds[name]) if bounds.get(name) is not None else None for name in names}


def read_lower_is_better(names: Sequence[str], lower_is_better: str | Collection[str]) -> set[str]:
    """Return the metrics in which lower is better."""
    lower = [lower_is_better] if isinstance(lower_is_better, str) else list(lower_is_better)
    _refuse_unknown("lower_is_better", lower, names)
    return set(lower)


def require_same_properties(ours: Iterable[Metric], theirs: Iterable[Metric]) -> None:
    """Raise if a metric has other bounds or another direction in two evaluations."""
    known = {str(metric): metric.definition for metric in ours}
    for metric in theirs:
        one, other = known.get(str(metric)), metric.definition
        if one is None or (one.bounds, one.higher_is_better) == (other.bounds, other.higher_is_better):
            continue
        raise ValueError(f"{metric} is not the same in all: {one.summary} in one, {other.summary} in another")


def _refuse_unknown(argument: str, given: Iterable[str], names: Sequence[str]) -> None:
    if unknown := [name for name in given if name not in names]:
        raise ValueError(f"{argument} has {unknown[0]!r}, which has no scores; the scores are {', '.join(names)}")


def _pair(bounds: Any) -> tuple[float, float]:
    numbers = isinstance(bounds, (tuple, list)) and all(
        one is None or (isinstance(one, (int, float)) and not isinstance(one, bool)) for one in bounds
    )
    if not numbers or len(bounds) != 2:
        raise TypeError(f"bounds must be the smallest and the largest value, such as (0, 1), got {bounds!r}")
    low, high = (-inf if bounds[0] is None else bounds[0]), (inf if bounds[1] is None else bounds[1])
    if isnan(low) or isnan(high) or not low < high:
        raise ValueError(f"the lower bound must be below the upper, got {bounds!r}")
    return float(low), float(high)
