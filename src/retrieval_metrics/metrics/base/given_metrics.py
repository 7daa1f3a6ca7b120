"""Metrics whose values are given rather than computed: answer quality, latency, cost, another tool's scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.metric import GIVEN_METRICS, Metric, parse_computable_metric

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

# The smallest and the largest possible value; None where there is none.
Bounds: TypeAlias = tuple[float | None, float | None]


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
        summary = "given, without bounds"
        if (low, high) != (-inf, inf):
            summary = f"given, from {low:g} to {high:g}"
        if self.lower_is_better:
            summary += "; lower is better"
        definition = Definition(
            name=self.name,
            score=self._refuse,
            summary=summary,
            takes_cutoff=False,
            bounded=(low, high) == (0, 1),
            needs_relevant=False,
            is_given=True,
            bounds=(low, high),
            higher_is_better=not self.lower_is_better,
        )
        object.__setattr__(self, "definition", definition)
        self._set_text(self.name)
        GIVEN_METRICS[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return GivenMetric, (self.name, None, (), self.bounds, self.lower_is_better)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(f"{self.name} was given and cannot be computed; evaluation.with_scores(...) adds it")


def as_given_metric(name: str, bounds: tuple[float, float] | None, *, lower_is_better: bool) -> Metric:
    """Return the metric of that name: one that is known here, such as `nDCG@10`, or else a given one."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a metric must be a str, got {name!r}")
    if not name.strip() or not name.isprintable() or name != name.strip():
        raise ValueError(f"the name of a metric must be printable and not blank, got {name!r}")
    try:
        metric = parse_computable_metric(name)
    except ValueError:
        return GivenMetric(name, None, (), bounds or (-inf, inf), lower_is_better)
    if lower_is_better or bounds not in {None, metric.definition.bounds}:
        low, high = metric.definition.bounds
        raise ValueError(
            f"{name!r} is the name of a metric of this package, {metric}, from {low:g} to {high:g}, where higher is "
            "better; give yours another name, or state bounds by metric: bounds={'latency': (0, None)}"
        )
    return metric


def read_bounds(
    names: Sequence[str], bounds: Bounds | Mapping[str, Bounds] | None
) -> dict[str, tuple[float, float] | None]:
    """Return the bounds of each metric, None where they are not given."""
    if not isinstance(bounds, Mapping):
        return dict.fromkeys(names, None if bounds is None else _read_bounds_pair(bounds))
    _require_known_names("bounds", bounds, names)
    bounds_by_name: dict[str, tuple[float, float] | None] = dict.fromkeys(names)
    for name in names:
        if bounds.get(name) is not None:
            bounds_by_name[name] = _read_bounds_pair(bounds[name])
    return bounds_by_name


def read_lower_is_better(names: Sequence[str], lower_is_better: str | Collection[str]) -> set[str]:
    """Return the metrics in which lower is better."""
    lower_names = [lower_is_better] if isinstance(lower_is_better, str) else list(lower_is_better)
    _require_known_names("lower_is_better", lower_names, names)
    return set(lower_names)


def require_same_properties(ours: Iterable[Metric], theirs: Iterable[Metric]) -> None:
    """Raise if a metric has other bounds or another direction in two evaluations."""
    our_definitions = {str(metric): metric.definition for metric in ours}
    for metric in theirs:
        our_definition = our_definitions.get(str(metric))
        their_definition = metric.definition
        if our_definition is None:
            continue
        has_same_direction = our_definition.higher_is_better == their_definition.higher_is_better
        if our_definition.bounds == their_definition.bounds and has_same_direction:
            continue
        raise ValueError(
            f"{metric} is not the same in all: {our_definition.summary} in one, {their_definition.summary} in another"
        )


def _require_known_names(argument: str, given_names: Iterable[str], names: Sequence[str]) -> None:
    for name in given_names:
        if name not in names:
            raise ValueError(f"{argument} has {name!r}, which has no scores; the scores are {', '.join(names)}")


def _read_bounds_pair(bounds: Any) -> tuple[float, float]:
    """Return the smallest and the largest value, infinite where there is none."""
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2 or not all(map(_is_bound, bounds)):
        raise TypeError(f"bounds must be the smallest and the largest value, such as (0, 1), got {bounds!r}")
    lower, upper = bounds
    low = -inf if lower is None else lower
    high = inf if upper is None else upper
    if isnan(low) or isnan(high) or not low < high:
        raise ValueError(f"the lower bound must be below the upper, got {bounds!r}")
    return float(low), float(high)


def _is_bound(value: Any) -> bool:
    """Return whether a value is a number or None."""
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
