"""Metrics whose values are given rather than computed: answer quality, latency, cost, another tool's scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from retrieval_metrics.definition.definition import Definition
from retrieval_metrics.definition.metric import GIVEN, Metric, parse_computed

if TYPE_CHECKING:
    from collections.abc import Iterable

Bounds: TypeAlias = tuple[float | None, float | None]
"""The smallest and the largest possible value; None where there is none."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GivenMetric(Metric):
    """A metric known only by its name, its bounds and its direction; nothing here computes it.

    It is equal to any other of the same name. Those with other bounds or another direction are refused where two
    evaluations meet; see `refuse_other_facts`.

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
            given=True,
            bounds=(low, high),
            higher_is_better=not self.lower_is_better,
        )
        object.__setattr__(self, "definition", definition)
        object.__setattr__(self, "_text", self.name)
        GIVEN[self.name] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return GivenMetric, (self.name, None, (), self.bounds, self.lower_is_better)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(f"{self.name} was given and cannot be computed; evaluation.with_scores(...) adds it")


def given_metric(name: str, bounds: tuple[float, float] | None, *, lower_is_better: bool) -> Metric:
    """Return the metric of that name: one that is known here, such as `nDCG@10`, or else a given one.

    Raises:
        TypeError: If the name is not a str.
        ValueError: If it is empty, or a known metric has other bounds or another direction.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a metric must be a str, got {name!r}")
    if not name.strip() or not name.isprintable() or name != name.strip():
        raise ValueError(f"the name of a metric must be printable and not blank, got {name!r}")
    try:
        known = parse_computed(name)
    except ValueError:
        return GivenMetric(name, None, (), bounds or (-inf, inf), lower_is_better)
    if lower_is_better or bounds not in {None, known.definition.bounds}:
        low, high = known.definition.bounds
        raise ValueError(
            f"{name!r} is the name of a metric of this package, {known}, from {low:g} to {high:g}, where higher is "
            "better; give yours another name, or state bounds by metric: bounds={'latency': (0, None)}"
        )
    return known


def bounds_by_metric(
    names: Sequence[str], bounds: Bounds | Mapping[str, Bounds] | None
) -> dict[str, tuple[float, float] | None]:
    """Return the bounds of each metric, None where they are not given.

    Raises:
        TypeError: If bounds are not a pair of numbers.
        ValueError: If the lower is not below the upper, or they are of a metric that is not there.
    """
    if not isinstance(bounds, Mapping):
        return dict.fromkeys(names, None if bounds is None else _pair(bounds))
    _refuse_unknown("bounds", bounds, names)
    return {name: _pair(bounds[name]) if bounds.get(name) is not None else None for name in names}


def names_of_lower(names: Sequence[str], lower_is_better: str | Collection[str]) -> set[str]:
    """Return the metrics in which lower is better.

    Raises:
        ValueError: If one is not there.
    """
    lower = [lower_is_better] if isinstance(lower_is_better, str) else list(lower_is_better)
    _refuse_unknown("lower_is_better", lower, names)
    return set(lower)


def refuse_other_facts(ours: Iterable[Metric], theirs: Iterable[Metric]) -> None:
    """Raise if a metric has other bounds or another direction in two evaluations.

    Raises:
        ValueError: If it has; the message says which.
    """
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
    if not numbers or len(bounds) != 2:  # noqa: PLR2004  (a lower and an upper)
        raise TypeError(f"bounds must be the smallest and the largest value, such as (0, 1), got {bounds!r}")
    low, high = (-inf if bounds[0] is None else bounds[0]), (inf if bounds[1] is None else bounds[1])
    if isnan(low) or isnan(high) or not low < high:
        raise ValueError(f"the lower bound must be below the upper, got {bounds!r}")
    return float(low), float(high)
