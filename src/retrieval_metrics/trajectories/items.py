"""Retrieved items of any form: which are the same, and in which order they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.ranking import as_list
from retrieval_metrics.inputs.retrieved import Retrieved
from retrieval_metrics.judging.ranking_order import ranked

if TYPE_CHECKING:
    from retrieval_metrics.inputs.shapes import Ranking


def identity(item: Any) -> Any:
    """Return what makes two items the same: their id; without one their place in a source; else their text."""
    if not isinstance(item, Retrieved):
        return item
    if item.id is not None:
        return item.id
    if item.source is not None and item.start is not None:
        return (item.source, item.start, item.end)
    return ("text", item.text)


def in_order(ranking: Ranking) -> Sequence[Any]:
    """Return the items of a ranking, best first; of equal scores, the greater id as text first, as in trec_eval."""
    if isinstance(ranking, Mapping):
        return ranked(ranking, "docid")
    return as_list(ranking, "a call")


def first_of(ranking: Ranking, k: int | None) -> Any:
    """Return the first `k` of a ranking, in its form; None returns the ranking itself."""
    if k is None or len(ranking) <= k:
        return ranking
    first = set(in_order(ranking)[:k]) if isinstance(ranking, Mapping) else None
    return in_order(ranking)[:k] if first is None else only(ranking, first)


def only(ranking: Ranking, wanted: set[Any]) -> Any:
    """Return the items of a ranking whose identity is wanted, in its form."""
    if isinstance(ranking, Mapping):
        return {item: score for item, score in ranking.items() if item in wanted}
    return [item for item in ranking if identity(item) in wanted]
