"""The floors of metrics and queries, checked before anything is retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from numbers import Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics import Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.types import QueryId


def floors_of(at_least: Any) -> dict[str, float | None]:
    """Return the floor of each metric by its full name.

    Raises:
        TypeError: If it is not a mapping, or a floor is not a number.
        ValueError: If it is empty, a metric is unknown or named twice, or a floor is not finite.
    """
    if not isinstance(at_least, Mapping):
        raise TypeError(f"at_least must map metrics to floors, such as {{'ndcg@10': 0.35}}; got {at_least!r}")
    if not at_least:
        raise ValueError("at_least is empty: name a metric, with None for no floor: {'ndcg@10': None}")
    named = _by_name("at_least", at_least)
    return {name: None if floor is None else _number(f"floor of {name}", floor) for name, floor in named.items()}


def query_floors_of(per_query: Any, queries: Sequence[QueryId]) -> dict[str, float | dict[QueryId, float]]:
    """Return the floor of every query, or of each named query, for each metric by its full name.

    Raises:
        TypeError: If it is not a mapping, or a floor is not a number.
        ValueError: If a metric or a query is unknown, or a floor is not finite.
    """
    if per_query is None:
        return {}
    if not isinstance(per_query, Mapping):
        raise TypeError(
            "at_least_per_query must map metrics to the floor of every query, or to floors by query id, such as "
            f"{{'recall@10': {{'q7': 1.0}}}}; got {per_query!r}"
        )
    found: dict[str, float | dict[QueryId, float]] = {}
    for name, floor in _by_name("at_least_per_query", per_query).items():
        if isinstance(floor, Mapping):
            queries_of(list(floor), queries)
            found[name] = {query: _number(f"floor of {name} for {query!r}", least) for query, least in floor.items()}
        else:
            found[name] = _number(f"floor of {name}", floor)
    return found


def queries_of(wanted: Any, queries: Sequence[QueryId]) -> list[QueryId]:
    """Return the queries named in a test.

    Raises:
        TypeError: If it is a text instead of a list of ids.
        ValueError: If one is not judged.
    """
    if isinstance(wanted, str):
        raise TypeError(f"never_worse must be a list of query ids, got {wanted!r}; pass [{wanted!r}]")
    known = set(queries)
    for query in wanted:
        if query not in known:
            near = get_close_matches(str(query), map(str, queries), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"there is no judged query {query!r}{hint}")
    return list(wanted)


def _by_name(what: str, given: Mapping[Any, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for metric, value in given.items():
        name = str(metric if isinstance(metric, Metric) else Metric.parse(metric))
        if name in found:
            raise ValueError(f"{what} has {name} twice, in two spellings")
        found[name] = value
    return found


def _number(what: str, floor: Any) -> float:
    if isinstance(floor, bool) or not isinstance(floor, Real):
        raise TypeError(f"the {what} must be a number or None, got {floor!r}")
    if not abs(float(floor)) < float("inf"):
        raise ValueError(f"the {what} must be finite, got {floor!r}")
    return float(floor)
