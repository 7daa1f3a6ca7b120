"""A metric with its cut-off and parameters, made from its name and printed as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import in_python, positive_integer
from retrieval_metrics.definition.spelling import canonical_name, read_name
from retrieval_metrics.definition.table import DEFINITIONS, NAME_OF
from retrieval_metrics.judging.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from retrieval_metrics.definition.definition import Definition, ParameterValue

DEFAULT_METRICS = ("hit_rate@5", "full_recall@5", "recall@10", "precision@5", "mrr@10", "map", "ndcg@10")
"""The metrics that are computed by default."""

MAIN = ("__main__", "__mp_main__")
"""The names of the module of a script or a notebook, in its own process and in the processes that it starts."""

GIVEN: dict[str, Metric] = {}
"""The metrics whose values were given, by name, so that results accept their names; the last one of each name."""


@dataclass(frozen=True, slots=True)
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
        >>> str(Metric.of("ndcg", 10, gain="exponential"))
        'ndcg(gain=exponential)@10'
        >>> Metric.parse("ap") == Metric.parse("map")
        True
    """

    name: str
    k: int | Budget | None = None
    parameters: tuple[tuple[str, ParameterValue], ...] = ()
    definition: Definition = field(init=False, repr=False, compare=False)
    _text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        name = canonical_name(self.name, GIVEN)
        definition = DEFINITIONS[name]
        k = self.k
        if not (k is None or isinstance(k, Budget)):
            k = positive_integer(k, f"the cut-off k of {name}", or_none=True)
        if k is not None and not definition.takes_cutoff:
            raise ValueError(f"{name} takes no cut-off, got {name}@{k}; {definition.summary}")
        explicit = definition.explicit(dict(self.parameters))
        object.__setattr__(self, "definition", definition)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "parameters", tuple(sorted(explicit.items())))
        inside = ",".join(f"{key}={value}" for key, value in self.parameters)
        cutoff = "" if k is None else f"@{k}"
        object.__setattr__(self, "_text", f"{name}({inside}){cutoff}" if inside else f"{name}{cutoff}")

    @classmethod
    def of(cls, name: str, k: int | Budget | None = None, **parameters: ParameterValue) -> Metric:
        """Return the metric with this name, cut-off and parameters.

        Raises:
            ValueError: If the metric, a parameter or its value is unknown, or k is not positive.
            TypeError: If k is not an integer.
        """
        return cls(name, k, tuple(parameters.items()))

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
            raise TypeError(f"a metric name must be a str such as 'ndcg@10', got {text!r} ({type(text).__name__})")
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
        return (self.definition.in_words or self.definition.summary).format(first=first)

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
        made_by = self.definition.made_by
        if made_by is None:
            return Metric, (self.name, self.k, self.parameters)
        # What a script or a notebook defines cannot be imported, so the function itself is pickled.
        again = (made_by.define, made_by.arguments) if made_by.module in MAIN else None
        return _restored, (self.name, self.k, self.parameters, made_by.module, again)

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Metric.parse({str(self)!r})"


def _restored(
    name: str,
    k: int | Budget | None,
    parameters: tuple[tuple[str, ParameterValue], ...],
    module: str,
    again: tuple[Callable[..., object], tuple[Any, ...]] | None,
) -> Metric:
    if name not in NAME_OF and again is not None:
        define, arguments = again
        define(*arguments)
    need_definition(name, module)
    return Metric(name, k, parameters)


def need_definition(name: str, module: str) -> None:
    """Make sure that a user-defined metric is known; if it is not, import the module that defines it.

    Args:
        name: The canonical name of the metric.
        module: The module that calls `define_metric` when it is imported.

    Raises:
        ImportError: If the module cannot be imported.
        ValueError: If it does not define the metric.
    """
    if name in NAME_OF:
        return
    from importlib import import_module  # noqa: PLC0415  (needed only where a metric of the user's travels)

    try:
        import_module(module)
    except ImportError as error:
        raise ImportError(
            f"the metric {name!r} is defined in the module {module!r}, which cannot be imported here ({error}); put it "
            "on the Python path, or call define_metric before this is read",
            name=module,
        ) from error
    if name not in NAME_OF:
        raise ValueError(
            f"the metric {name!r} was defined in the module {module!r}, but importing that module does not define it; "
            "call define_metric at the top of that module, not inside a function"
        )


@lru_cache(maxsize=1024)
def _parse(text: str) -> Metric:
    return Metric(*read_name(text))


def parse_computed(text: str) -> Metric:
    """Return the metric that a name means, if it can be computed; see `Metric.parse`."""
    return _parse(text)


def spelled(metric: str | Metric, names: Collection[str]) -> str:
    """Return the name of a metric as it is among some names, which may be of given metrics not known here.

    A metric without `rel` also stands for the only one that has the `rel` of a rubric: mrr for mrr(rel=2).
    """
    if str(metric) in names or (name := str(as_metric(metric))) in names:
        return str(metric) if str(metric) in names else name
    same = [one for one in names if "rel=" in one and str(_without_rel(Metric.parse(one))) == name]
    return same[0] if len(same) == 1 else name


def relevant_from(metrics: Iterable[Metric], grade: float | None) -> tuple[Metric, ...]:
    """Return metrics that count a document as relevant from a grade, unless they say otherwise themselves.

    Metrics that use the grades as they are, such as NDCG, stay as they are; so do all if the grade is None.

    Example:
        >>> [str(metric) for metric in relevant_from(as_metrics(["mrr", "ndcg@10", "recall(rel=1)@5"]), 2)]
        ['mrr(rel=2)', 'ndcg@10', 'recall(rel=1)@5']
    """
    if grade is None:
        return tuple(metrics)
    return tuple(
        dict.fromkeys(
            Metric.of(one.name, one.k, **{"rel": grade, **dict(one.parameters)})
            if "rel" in one.definition.parameters
            else one
            for one in metrics
        )
    )


def _without_rel(metric: Metric) -> Metric:
    return Metric(metric.name, metric.k, tuple((key, value) for key, value in metric.parameters if key != "rel"))


def forget_names() -> None:
    """Clear the cache of names, because a metric was removed or replaced."""
    _parse.cache_clear()


def as_metric(metric: str | Metric) -> Metric:
    """Return a metric from its name; a metric is returned unchanged.

    Raises:
        TypeError: If it is neither.
        ValueError: If no metric has that name.
    """
    return metric if isinstance(metric, Metric) else Metric.parse(metric)


def as_metrics(metrics: str | Metric | Iterable[str | Metric], *, computed: bool = True) -> tuple[Metric, ...]:
    """Return metrics from their names, each once, in the given order.

    Args:
        metrics: The metrics.
        computed: Whether they are to be computed, which those with given values cannot be.

    Raises:
        TypeError: If something is neither a name nor a metric.
        ValueError: If a name is unknown, no metric is given, or one cannot be computed.
    """
    given = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if not isinstance(given, Iterable):
        raise TypeError(f"metrics must be names such as ['ndcg@10', 'mrr'], got {metrics!r}")
    chosen = dict.fromkeys(map(as_metric, given))
    if not chosen:
        raise ValueError("there are no metrics; name at least one, for example ['ndcg@10']")
    if computed and (given_ones := [str(metric) for metric in chosen if metric.definition.given]):
        raise ValueError(
            f"{given_ones[0]} cannot be computed, its values are given"
            + in_python("; add them: evaluate(...).with_scores(...)", ", and stand in saved results")
        )
    return tuple(chosen)


def first_telling(metrics: Sequence[Metric]) -> Metric:
    """Return the first metric that is computed and not binary, or else the first."""
    telling = (metric for metric in metrics if not (metric.definition.binary or metric.definition.given))
    return next(telling, metrics[0])
