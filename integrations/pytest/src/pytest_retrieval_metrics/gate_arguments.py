"""Read the bounds that a test sets: floors and ceilings of means, and floors of single queries."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics import Metric
from retrieval_metrics.integration_api.async_support import positive_integer
from retrieval_metrics.integration_api.pytest_support import require_useful_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.types import QueryId

# The length of a pair such as `(0.35, 120)`: a floor, and how many queries must have a value.
LEN_FLOOR_AND_MIN_QUERIES = 2
# What a floor of a mean may be.
MEAN_FLOOR_FORMS = "a number, a pair of it and the number of queries, or None"


def min_value(metric: str) -> float:
    """Return the lowest value of a metric: a floor there demands nothing."""
    return Metric.parse(metric).definition.bounds[0]


class MeanFloors(NamedTuple):
    """The floors of means, by the full name of the metric.

    Attributes:
        floors: The floor of each metric; None for a metric that is only compared with its baseline.
        min_queries: How many queries must have a value, for the floors that say so.
    """

    floors: dict[str, float | None]
    min_queries: dict[str, int]


def metric_names(*bounds: object) -> list[str]:
    """Return the names of the metrics of a check as they are written, from the mappings that bound or name them."""
    names: dict[str, None] = {}
    for mapping in bounds:
        if isinstance(mapping, Mapping):
            names.update(dict.fromkeys(map(str, mapping)))
    return list(names)


def read_floors(at_least: object) -> MeanFloors:
    """Read `at_least=`: the floor of each metric, with how many queries need a value."""
    if not isinstance(at_least, Mapping):
        raise TypeError(
            f"at_least must map metrics to floors, got {at_least!r}. Write {{'ndcg@10': 0.35}}, or {{'ndcg@10': None}} "
            "to compare with the baseline only."
        )
    if not at_least:
        raise ValueError("at_least is empty: name a metric and its floor, {'ndcg@10': 0.35}; None if it has a baseline")
    floors: dict[str, float | None] = {}
    min_queries: dict[str, int] = {}
    for metric, floor in _by_full_name("at_least", at_least).items():
        min_mean = floor
        if isinstance(floor, tuple) and len(floor) == LEN_FLOOR_AND_MIN_QUERIES:
            min_mean, n_needed = floor
            min_queries[metric] = positive_integer(n_needed, f"the queries that the floor of {metric} needs")
        if min_mean is not None:
            min_mean = _read_bound("at_least", metric, f"floor of {metric}", min_mean, allowed=MEAN_FLOOR_FORMS)
        floors[metric] = min_mean
    return MeanFloors(floors, min_queries)


def read_ceilings(at_most: object) -> dict[str, float]:
    """Read `at_most=`: the ceiling of each metric by its full name; only metrics in which lower is better have one."""
    if not isinstance(at_most, Mapping):
        raise TypeError(f"at_most must map metrics to ceilings, such as {{'leak@5': 0}}; got {at_most!r}")
    ceilings = _by_full_name("at_most", at_most)
    for metric, ceiling in ceilings.items():
        if Metric.parse(metric).definition.higher_is_better:
            raise ValueError(
                f"higher is better in {metric}, so it has no ceiling; write at_least={{{metric!r}: {ceiling!r}}}"
            )
    for metric, ceiling in ceilings.items():
        ceilings[metric] = _read_bound("at_most", metric, f"ceiling of {metric}", ceiling)
    return ceilings


def read_query_floors(
    at_least_per_query: object, judged_queries: Sequence[QueryId]
) -> dict[str, float | dict[QueryId, float]]:
    """Read `at_least_per_query=`: for each metric the floor of every query, or of each named query."""
    if at_least_per_query is None:
        return {}
    if not isinstance(at_least_per_query, Mapping):
        raise TypeError(
            "at_least_per_query must map metrics to the floor of every query, or to floors by query ID, such as "
            f"{{'recall@10': {{'q7': 1.0}}}}; got {at_least_per_query!r}"
        )
    argument = "at_least_per_query"
    floors: dict[str, float | dict[QueryId, float]] = {}
    for metric, floor in _by_full_name(argument, at_least_per_query).items():
        if not isinstance(floor, Mapping):
            floors[metric] = _read_bound(argument, metric, f"floor of {metric}", floor)
            continue
        if not floor:
            raise ValueError(
                f"at_least_per_query for {metric} names no query: write {{{metric!r}: {{'q7': 1.0}}}}, or a number for "
                "every query"
            )
        read_queries(list(floor), judged_queries)
        query_floors: dict[QueryId, float] = {}
        for query, query_floor in floor.items():
            query_floors[query] = _read_bound(argument, metric, f"floor of {metric} for {query!r}", query_floor)
        floors[metric] = query_floors
    return floors


def read_queries(queries: Sequence[QueryId], judged_queries: Sequence[QueryId]) -> list[QueryId]:
    """Return the queries named in a test, all of which must be judged."""
    if isinstance(queries, str):
        raise TypeError(f"no_regression must be a list of query IDs, got {queries!r}; pass [{queries!r}]")
    judged = set(judged_queries)
    for query in queries:
        if query not in judged:
            matches = get_close_matches(str(query), map(str, judged_queries), n=1)
            hint = f"; did you mean {matches[0]!r}?" if matches else ""
            raise ValueError(f"there is no judged query {query!r}{hint}")
    return list(queries)


def _by_full_name(argument: str, bounds: Mapping[Any, Any]) -> dict[str, Any]:
    """Return bounds by the full names of their metrics; raise if a metric occurs in two spellings."""
    by_name: dict[str, Any] = {}
    for metric, bound in bounds.items():
        name = str(metric if isinstance(metric, Metric) else Metric.parse(metric))
        if name in by_name:
            raise ValueError(f"{argument} has {name} twice, in two spellings")
        by_name[name] = bound
    return by_name


def _read_bound(argument: str, metric: str, label: str, bound: Any, *, allowed: str = "a number") -> float:
    """Return a bound as a float, or raise if it is no finite number, or one that every value or none reaches.

    Args:
        argument: The argument with the bound.
        metric: The metric.
        label: What the bound is, for messages.
        bound: The bound.
        allowed: What may stand there, for messages.
    """
    if isinstance(bound, bool) or not isinstance(bound, Real):
        raise TypeError(f"the {label} must be {allowed}; got {bound!r}")
    number = float(bound)
    if not isfinite(number):
        raise ValueError(f"the {label} must be finite, got {bound!r}")
    require_useful_bound(argument, metric, number)
    return number
