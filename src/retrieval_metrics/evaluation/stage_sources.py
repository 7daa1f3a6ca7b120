"""Find which stages of a retriever are sources, which search for themselves and do not lose what others held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.items import Retrieved, item_identity

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from retrieval_metrics._internal.plain_types import QueryId

# A stage that lacks items which come back later, in this share of the questions in which it lacks any, was passed by.
MIN_SHARE_PASSED_BY = 0.1
# The same share if the later stage may have found them again itself, because it holds items that no stage held.
MIN_SHARE_FOUND_AGAIN = 0.5
# The share of its questions in which a source then holds something new.
MIN_SHARE_NEW = 0.5
# Questions that are read to decide; these shares need no more.
MAX_QUERIES = 2_000


@dataclass(frozen=True, slots=True)
class StageSources:
    """The stages that are sources.

    Attributes:
        names: Their names, in the order of the stages.
        is_assumed: Whether the rankings decided about any stage, because its input is unknown.
    """

    names: tuple[str, ...]
    is_assumed: bool


def find_sources(
    stages: Mapping[str, Mapping[Any, Any]], takes_documents: Mapping[str, bool], failed: Collection[QueryId]
) -> StageSources:
    """Return the sources among some stages.

    A stage is no source if its input held documents, as hosts record and users declare. Of a stage whose input is
    unknown, the rankings decide. The first is a source. Another is one if it holds something new, and items that it
    lacks come back later: then they passed it by, so they were not its input. That does not count if a later source
    holds them, and less if the later stage holds items that no stage held, because it may have found them again.

    Args:
        stages: The run after each stage, by name and in order.
        takes_documents: By stage whether its input held documents; a stage whose input is unknown is absent.
        failed: The queries on which the retriever failed, which tell nothing.
    """
    names = list(stages)
    is_source: dict[str, bool] = {}
    rankings = _RankedIds(stages, failed)
    # A later stage is decided first, because what a source holds did not pass the stages before it by.
    for index in reversed(range(len(names))):
        name = names[index]
        if index == 0:
            is_source[name] = True
        elif name in takes_documents:
            is_source[name] = not takes_documents[name]
        else:
            is_source[name] = rankings.is_passed_by(index, is_source)
    sources = tuple(name for name in names if is_source[name])
    return StageSources(sources, is_assumed=any(name not in takes_documents for name in names[1:]))


class _RankedIds:
    """What each stage held for some of the questions."""

    def __init__(self, stages: Mapping[str, Mapping[Any, Any]], failed: Collection[QueryId]) -> None:
        self._names = list(stages)
        queries: dict[QueryId, None] = {}
        for run in stages.values():
            queries |= dict.fromkeys(run)
        answered = [query for query in queries if query not in failed]
        if len(answered) > MAX_QUERIES:
            indices = np.linspace(0, len(answered) - 1, MAX_QUERIES).astype(int)
            answered = [answered[index] for index in indices.tolist()]
        self._stages = stages
        self._queries = answered
        self._ids_by_query: list[list[frozenset[Any] | None]] | None = None

    def _read(self) -> list[list[frozenset[Any] | None]]:
        """Return by question what each stage held; None for a stage that it did not reach."""
        if self._ids_by_query is None:
            self._ids_by_query = []
            for query in self._queries:
                ids: list[frozenset[Any] | None] = []
                for run in self._stages.values():
                    ids.append(frozenset(_identities(run[query])) if query in run else None)
                self._ids_by_query.append(ids)
        return self._ids_by_query

    def is_passed_by(self, index: int, is_source: Mapping[str, bool]) -> bool:
        """Return whether a stage holds something new and lacks items that later stages got from earlier ones.

        Args:
            index: The stage.
            is_source: By name whether a later stage is a source.
        """
        n_reached = 0
        n_with_new = 0
        n_lacking = 0
        n_passed_by = 0
        n_back = 0
        for ids in self._read():
            held = ids[index]
            if held is None:
                continue
            n_reached += 1
            earlier = _union(ids[:index])
            if not held <= earlier:
                n_with_new += 1
            if earlier <= held:
                continue
            n_lacking += 1
            comeback = self._find_comeback(ids, index, earlier, is_source)
            if comeback is not None:
                n_back += 1
                if comeback.is_explained:
                    n_passed_by += 1
        if not n_with_new or not n_back:
            return False
        if n_passed_by >= MIN_SHARE_PASSED_BY * n_lacking and n_passed_by:
            return True
        return n_with_new >= MIN_SHARE_NEW * n_reached and n_back >= MIN_SHARE_FOUND_AGAIN * n_lacking

    def _find_comeback(
        self,
        ids: Sequence[frozenset[Any] | None],
        index: int,
        earlier: frozenset[Any],
        is_source: Mapping[str, bool],
    ) -> _Comeback | None:
        """Return the first stage, no source, that holds an item again which a stage lacks and an earlier one held."""
        held = ids[index] or frozenset()
        lacking = earlier - held
        known = earlier | held
        for later_index in range(index + 1, len(ids)):
            later = ids[later_index]
            if later is None:
                continue
            if not is_source[self._names[later_index]] and not lacking.isdisjoint(later):
                return _Comeback(is_explained=later <= known)
            lacking -= later
            known |= later
        return None


@dataclass(frozen=True, slots=True)
class _Comeback:
    """A stage that holds what the one before it lacked; explained if earlier stages held all that it holds."""

    is_explained: bool


def _union(ids: Sequence[frozenset[Any] | None]) -> frozenset[Any]:
    return frozenset().union(*(stage_ids for stage_ids in ids if stage_ids is not None))


def _identities(ranking: Any) -> Any:
    if isinstance(ranking, Mapping) or not isinstance(next(iter(ranking), None), Retrieved):
        return ranking
    return [item_identity(item) for item in ranking]
