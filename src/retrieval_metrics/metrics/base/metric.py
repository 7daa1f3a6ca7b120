"""A metric with its cutoff and parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.metrics.base.registry import DEFINITIONS, NAME_BY_ALIAS
from retrieval_metrics.metrics.metric_names import canonical_name, read_name

if TYPE_CHECKING:
    from retrieval_metrics.matching.budget import Budget
    from retrieval_metrics.metrics.base.definition import Definition, MetricRecipe, ParameterValue


# The metrics that are computed by default.
DEFAULT_METRICS = ("hit_rate@5", "full_recall@5", "recall@10", "precision@5", "mrr@10", "map", "ndcg@10")

# The names of the module of a script or a notebook, in its own process and in the processes that it starts.
SCRIPT_MODULES = ("__main__", "__mp_main__")

# The metrics whose values were given, by name, so that results accept their names; the last one of each name.
GIVEN_METRICS: dict[str, Metric] = {}


@dataclass(frozen=True, slots=True, init=False)
class Metric:
    """A metric with its cutoff and parameters, as `name(parameter=value)@k`.

    Two metrics are equal if their names are; parameters at their default are not part of the name.

    Attributes:
        name: The metric's canonical name, such as `ndcg`.
        k: The cutoff: only the first k items count, or those that fit into a `Budget`. None means all.
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
    # Both are asked for again and again: a metric is the key of every table.
    _text: str = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __init__(self, name: str, k: int | Budget | None = None, **parameters: ParameterValue) -> None:
        """Make the metric with this name, cutoff and parameters.

        Raises:
            ValueError: If the metric, a parameter or its value is unknown, or k is not positive.
            TypeError: If k is not an integer.
        """
        self._set(name, k, parameters)

    def _set(self, name: str, k: int | Budget | None, parameters: Mapping[str, ParameterValue]) -> None:
        name = canonical_name(name, GIVEN_METRICS)
        definition = DEFINITIONS[name]
        if k is not None and not _is_budget(k):
            k = positive_integer(k, f"the cutoff k of {name}", or_none=True)
        if k is not None and not definition.takes_cutoff:
            raise ValueError(f"{name} takes no cutoff, got {name}@{k}; {definition.summary}")
        explicit = definition.explicit_parameters(dict(parameters))
        object.__setattr__(self, "definition", definition)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "parameters", tuple(sorted(explicit.items())))
        text = name
        if self.parameters:
            assignments = [f"{key}={value}" for key, value in self.parameters]
            text += f"({','.join(assignments)})"
        if k is not None:
            text += f"@{k}"
        self._set_text(text)

    def _set_text(self, text: str) -> None:
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_hash", hash(text))

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
                f"a metric name must be a str such as 'ndcg@10', got {text!r} ({type(text).__name__})"
                f"{_name_suggestion_note(text)}"
            )
        try:
            return _parse(text)
        except ValueError:
            if text in GIVEN_METRICS:
                return GIVEN_METRICS[text]
            raise

    @property
    def has_budget(self) -> bool:
        """Whether the cutoff is a `Budget`."""
        return self.k is not None and not isinstance(self.k, int)

    @property
    def in_words(self) -> str:
        """What its mean says, in everyday words.

        Example:
            >>> Metric.parse("recall@10").in_words
            'share of the relevant documents that are in the first 10 results'
        """
        first = "the ranking"
        if self.k is not None:
            size = f"{self.k} results" if isinstance(self.k, int) else self.k.in_words
            first = "the first result" if self.k == 1 else f"the first {size}"
        return (self.definition.plain_summary or self.definition.summary).format(first=first)

    @property
    def plain_name(self) -> str:
        """The name without `@`, parentheses, `=` and `;`, including all parameters, for hosts that refuse these.

        Example:
            >>> [Metric.parse(name).plain_name for name in ("ndcg@10", "map", "precision(rel=2)@5")]
            ['ndcg_at_10', 'map', 'precision_at_5-rel-2']
        """
        cutoff = "" if self.k is None else f"_at_{self.k}"
        parameters = [f"-{key}-{str(value).replace(';', '_')}" for key, value in self.parameters]
        return f"{self.name}{cutoff}{''.join(parameters)}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the metric by name; a user-defined one with the module that defines it."""
        recipe = self.definition.recipe
        if recipe is None:
            return _make_metric, (self.name, self.k, self.parameters)
        # What a script or a notebook defines cannot be imported, so the function itself is pickled.
        sent_recipe = recipe if recipe.module in SCRIPT_MODULES else None
        return _restore_user_metric, (self.name, self.k, self.parameters, recipe.module, sent_recipe)

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Metric.parse({str(self)!r})"


def _is_budget(cutoff: object) -> TypeGuard[Budget]:
    if isinstance(cutoff, int):
        return False
    # Imported here because few cutoffs are budgets.
    from retrieval_metrics.matching.budget import Budget

    return isinstance(cutoff, Budget)


def _make_metric(name: str, k: int | Budget | None, parameters: Iterable[tuple[str, ParameterValue]]) -> Metric:
    """Return the metric of parts as they are pickled or read from a name, where a parameter may be called `k`."""
    metric = object.__new__(Metric)
    metric._set(name, k, dict(parameters))
    return metric


def _restore_user_metric(
    name: str,
    k: int | Budget | None,
    parameters: tuple[tuple[str, ParameterValue], ...],
    module: str,
    recipe: MetricRecipe | None,
) -> Metric:
    if name not in NAME_BY_ALIAS and recipe is not None:
        recipe.define()
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
    name, k, parameters = read_name(text)
    return _make_metric(name, k, parameters)


def parse_computable_metric(text: str) -> Metric:
    """Return the metric that a name means, if it can be computed; see `Metric.parse`."""
    return _parse(text)


def match_metric_name(metric: str | Metric, names: Collection[str]) -> str:
    """Return the name of a metric as it is among some names, which may be of given metrics not known here."""
    text = str(metric)
    if text in names:
        return text
    name = str(as_metric(metric))
    if name in names:
        return name
    same_without_rel = []
    for candidate in names:
        if "rel=" in candidate and str(_without_rel(Metric.parse(candidate))) == name:
            same_without_rel.append(candidate)
    return same_without_rel[0] if len(same_without_rel) == 1 else name


def with_relevance_threshold(metrics: Iterable[Metric], grade: float | None) -> tuple[Metric, ...]:
    """Return metrics that count a document as relevant from a grade, unless they say otherwise themselves.

    Example:
        >>> [str(metric) for metric in with_relevance_threshold(as_metrics(["mrr", "ndcg@10", "recall(rel=1)@5"]), 2)]
        ['mrr(rel=2)', 'ndcg@10', 'recall(rel=1)@5']
    """
    if grade is None:
        return tuple(metrics)
    changed_metrics = []
    for metric in metrics:
        if "rel" in metric.definition.parameters:
            parameters = {"rel": grade, **dict(metric.parameters)}
            changed_metrics.append(Metric(metric.name, metric.k, **parameters))
        else:
            changed_metrics.append(metric)
    return tuple(dict.fromkeys(changed_metrics))


def replace_cutoff(metric: Metric, k: int) -> Metric:
    """Return a metric with another cutoff.

    Example:
        >>> str(replace_cutoff(Metric.parse("recall(rel=2)@10"), 4))
        'recall(rel=2)@4'
    """
    return _make_metric(metric.name, k, metric.parameters)


def _without_rel(metric: Metric) -> Metric:
    parameters = ((key, value) for key, value in metric.parameters if key != "rel")
    return _make_metric(metric.name, metric.k, parameters)


def clear_name_cache() -> None:
    """Clear the cache of names, because a metric was removed or replaced."""
    _parse.cache_clear()


def as_metric(metric: str | Metric) -> Metric:
    """Return a metric from its name; a metric is returned unchanged."""
    return metric if isinstance(metric, Metric) else Metric.parse(metric)


def _name_suggestion_note(foreign_object: Any) -> str:
    """Return what to add to a message if the text of a foreign object, as of ir_measures, is the name of a metric."""
    try:
        return f"; pass {str(Metric.parse(str(foreign_object)))!r}"
    except ValueError:
        return ""


def as_metrics(metrics: str | Metric | Iterable[str | Metric], *, computed: bool = True) -> tuple[Metric, ...]:
    """Return metrics from their names, each once, in the given order."""
    metrics_or_names = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    if not isinstance(metrics_or_names, Iterable):
        raise TypeError(
            f"metrics must be names such as ['ndcg@10', 'mrr'], got {metrics!r}{_name_suggestion_note(metrics)}"
        )
    distinct_metrics = dict.fromkeys(map(as_metric, metrics_or_names))
    if not distinct_metrics:
        raise ValueError("there are no metrics; name at least one, for example ['ndcg@10']")
    if computed:
        for metric in distinct_metrics:
            if metric.definition.is_given:
                raise ValueError(
                    f"{metric} cannot be computed, its values are given; add them: evaluate(...).with_scores(...)"
                )
    return tuple(distinct_metrics)


def choose_leading_metric(metrics: Sequence[Metric]) -> Metric:
    """Return the first metric that is computed, or else the first: plots and reports begin with it."""
    for metric in metrics:
        if not metric.definition.is_given:
            return metric
    return metrics[0]
