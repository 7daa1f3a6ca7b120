"""Merge the searches of one question into one ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from retrieval_metrics.inputs.items import Retrieved, item_identity
from retrieval_metrics.inputs.retrieved_run import MergedRanking
from retrieval_metrics.traces.trajectory import in_rank_order, resolve_items, result_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.items import Ranking
    from retrieval_metrics.traces.trajectory import SearchCall, Trajectory

# The views of one trajectory, by name.
CallsView: TypeAlias = Literal["interleaved", "union", "first", "last", "context", "cited"]
# The fields of a trajectory that must be known for a view.
VIEW_FIELDS: Mapping[str, tuple[str, ...]] = {"context": ("context",), "cited": ("citations", "context")}
UNKNOWN_FIELD_ERRORS = {
    "context": "the context of the answering model is unknown, which is not the same as empty; a trace has it if it "
    "records the input of the model and the texts of the retrieved documents",
    "citations": "the citations of the answer are unknown, which is not the same as none; pass citations=",
}
# The origin of an item that no call found.
NO_ORIGIN = (0, 0)


class _FoundItem(NamedTuple):
    """An item that a search found: the number of the call, the rank there, and the item."""

    call: int
    rank: int
    item: Any

    @property
    def origin(self) -> tuple[int, int]:
        return self.call, self.rank


def merge_searches(trajectory: Trajectory, view: CallsView, per_call: int | None = None) -> MergedRanking:
    """Return the ranking that a view makes of a trajectory; of a single search, it is the ranking of that search.

    Example:
        >>> from retrieval_metrics import SearchCall, Trajectory
        >>> trajectory = Trajectory([SearchCall("a", ["d1", "d2"]), SearchCall("b", ["d2", "d7"])], context=["d7"])
        >>> merge_searches(trajectory, "union").ranking
        ['d1', 'd2', 'd7']
        >>> merge_searches(trajectory, "interleaved").ranking  # d2 is first in the second call, so before d7
        ['d1', 'd2', 'd7']
        >>> merge_searches(trajectory, "context").ranking
        ['d7']
    """
    if view in VIEW_FIELDS:
        for field in VIEW_FIELDS[view]:
            if getattr(trajectory, field) is None:
                raise ValueError(UNKNOWN_FIELD_ERRORS[field])
        return _with_origins(trajectory, _read_or_cited(trajectory, view))
    calls = trajectory.calls
    if not calls:
        return MergedRanking([])
    if len(calls) == 1 or view in {"first", "last"}:
        number = len(calls) if view == "last" else 1
        ranking = truncate_ranking(calls[number - 1].ranking, per_call)
        return MergedRanking(ranking, tuple((number, rank) for rank in range(1, len(ranking) + 1)))
    found_items = _find_items(calls, per_call)
    if view == "interleaved":
        found_items.sort(key=_rank_and_call)
    merged = _without_later_calls(found_items)
    origins = tuple(found_item.origin for found_item in merged)
    return MergedRanking([found_item.item for found_item in merged], origins, in_call_order=view != "interleaved")


def _find_items(calls: Sequence[SearchCall], per_call: int | None) -> list[_FoundItem]:
    found_items: list[_FoundItem] = []
    for number, call in enumerate(calls, start=1):
        ranking = in_rank_order(call.ranking)[:per_call]
        found_items += [_FoundItem(number, rank, item) for rank, item in enumerate(ranking, start=1)]
    return found_items


def _rank_and_call(found_item: _FoundItem) -> tuple[int, int]:
    return found_item.rank, found_item.call


def _without_later_calls(found_items: Sequence[_FoundItem]) -> list[_FoundItem]:
    """Return the items without those that an earlier call found; what a call found twice itself stays."""
    first_calls: dict[Any, int] = {}
    merged = []
    for found_item in found_items:
        first_call = first_calls.setdefault(result_key(found_item.item), found_item.call)
        if found_item.call == first_call:
            merged.append(found_item)
    return merged


def truncate_ranking(ranking: Ranking, k: int | None) -> Ranking:
    """Return the first `k` of a ranking, in its form; None returns the ranking itself."""
    if k is None or len(ranking) <= k:
        return ranking
    first_items = in_rank_order(ranking)[:k]
    if isinstance(ranking, Mapping):
        return {item: ranking[item] for item in first_items}
    return first_items


def _read_or_cited(trajectory: Trajectory, view: str) -> Any:
    """Return what was read, or what was cited and read, as a list or a mapping like the one given."""
    read = trajectory.context or ()
    cited = trajectory.citations or ()
    if view == "context":
        return read
    read_keys = set(map(result_key, read))
    if isinstance(cited, Mapping):
        return {item: score for item, score in cited.items() if item in read_keys}
    return [item for item in resolve_items(cited, read) if result_key(item) in read_keys]


def _with_origins(trajectory: Trajectory, ranking: Ranking) -> MergedRanking:
    """Return what was read or cited with the call and rank that found each item; ids are replaced by found items."""
    union = merge_searches(trajectory, "union")
    found_items = in_rank_order(union.ranking)
    origin_by_key: dict[Any, tuple[int, int]] = {}
    for item, origin in zip(found_items, union.origins, strict=True):
        origin_by_key.setdefault(item_identity(item), origin)
        origin_by_key.setdefault(result_key(item), origin)
    items = resolve_items(in_rank_order(ranking), found_items, keep_unknown_texts=True)
    origins = []
    for item in items:
        origin_by_id = origin_by_key.get(item_identity(item), NO_ORIGIN)
        origins.append(origin_by_key.get(result_key(item), origin_by_id))
    if any(isinstance(item, Retrieved) for item in items):
        ranking = items
    return MergedRanking(ranking, tuple(origins), in_call_order=False)
