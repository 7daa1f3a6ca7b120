"""Keep rankings as they were when they arrived, because callers use their lists and dicts again.

What is small is copied. A long mapping of scores is not, because a copy would cost as much as judging it; see
`matching.guarded_scores`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from retrieval_metrics.inputs.items import RunMapping

# The length up to which copying a mapping of scores costs a few percent of judging it, and to which the rankings of all
# queries are judged at once. From there a copy costs up to half as much as judging, and a guard a tenth.
MAX_COPIED_SCORES = 64


def copy_ranking(ranking: Any) -> Any:
    """Return a ranking that later changes of the caller's list or dict do not reach; anything else as it is.

    Example:
        >>> found = ["d7", "d1"]
        >>> kept = copy_ranking(found)
        >>> found.clear()
        >>> kept
        ['d7', 'd1']
    """
    if isinstance(ranking, list):
        return list(ranking)
    if isinstance(ranking, Mapping):
        return dict(ranking)
    if _is_array(ranking):
        return ranking.tolist()
    return ranking


def _is_array(ranking: Any) -> bool:
    """Return whether a ranking is an array or a series, which its owner can change; numpy's strings are none."""
    return hasattr(ranking, "tolist") and not isinstance(ranking, (str, bytes))


def copy_run(run: RunMapping | Run, *, copy_items: bool = False, max_scores: int | None = None) -> Any:
    """Return a run whose rankings later changes of the caller's do not reach.

    Args:
        run: The run; one in columns is returned as it is, because it owns its columns.
        copy_items: Whether the metadata of items is copied, too, because judgments or `match` read it.
        max_scores: The length from which mappings of scores are left as they are; None copies all.
    """
    if isinstance(run, Run):
        return run
    copier = _Copier(copy_items=copy_items, max_scores=max_scores)
    rankings = copier.copy_rankings(run)
    if not isinstance(run, RetrievedRun):
        return rankings
    stages: dict[str, Any] = {}
    for name, stage in run.stages.items():
        stages[name] = rankings if stage is run else copier.copy_rankings(stage)
    return run.with_rankings(rankings, stages)


class _Copier(NamedTuple):
    """Copies the rankings of a run; see `copy_run`."""

    copy_items: bool
    max_scores: int | None

    def copy_rankings(self, rankings: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the rankings of a run, or of one of its stages, by query."""
        max_scores = self.max_scores
        # Most runs are of one kind and copied in one pass; a loop over short ones takes longer than judging them.
        if type(rankings) is dict and set(map(type, rankings.values())) == {dict}:
            if max_scores is None or max(map(len, rankings.values())) <= max_scores:
                return dict(zip(rankings, map(dict.copy, rankings.values()), strict=True))
            if min(map(len, rankings.values())) > max_scores:
                return dict(rankings)
        copies: dict[Any, Any] = {}
        for query, ranking in rankings.items():
            # Looked at here, because for long mappings even a call would be a noticeable part of judging them.
            is_long = type(ranking) is dict and max_scores is not None and len(ranking) > max_scores
            copies[query] = ranking if is_long else self._copy(ranking)
        return copies

    def _copy(self, ranking: Any) -> Any:
        if isinstance(ranking, (list, tuple)):
            if self.copy_items and ranking and isinstance(ranking[0], Retrieved):
                return tuple(map(_copy_item, ranking))
            return tuple(ranking)
        if isinstance(ranking, Mapping):
            return dict(ranking)
        if _is_array(ranking):
            values = ranking.tolist()
            # An array without a dimension holds one value, which judging refuses.
            return tuple(values) if isinstance(values, list) else values
        return ranking  # judging says what is wrong with it


def _copy_item(item: Any) -> Any:
    if isinstance(item, Retrieved) and item.metadata:
        return replace(item)  # an item copies the metadata that it is made with
    return item
