"""Find a system whose rankings end above a cutoff that another system reaches, and cutoffs that no system reaches."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.evaluation import budget_wording as wording
from retrieval_metrics.evaluation.budget_coverage import MIN_UNEQUAL_RATIO
from retrieval_metrics.evaluation.ranking_depths import merge_depths
from retrieval_metrics.evaluation.summary_wording import depth_notes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.evaluation.ranking_depths import DepthCounts
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# A ranking counts as deeper than another if it has at least this many more results.
MIN_DEPTH_GAP = 5
# Rankings are cut if more than this share of them end at the same rank.
MIN_TRUNCATED_SHARE = 0.5


class UnequalDepth(NamedTuple):
    """A system whose rankings are cut above a cutoff that another reaches.

    Attributes:
        shallow: The system that is cut.
        deepest: The system with the longest ranking.
        shallow_depth: The length of the longest ranking of `shallow`.
        deepest_depth: The length of the longest ranking of `deepest`.
        cutoffs: The cutoffs that `deepest` reaches and `shallow` does not, by metric.
        most_excluded: The largest number of documents that were left out of a ranking.
        corpus_size: The number of documents that can be retrieved; 0 if it is unknown.
    """

    shallow: str
    deepest: str
    shallow_depth: int
    deepest_depth: int
    cutoffs: Mapping[str, int]
    most_excluded: int = 0
    corpus_size: int = 0

    @property
    def n_needed(self) -> int:
        """How many results both must return, of which some are left out."""
        n_needed = max(self.cutoffs.values()) + self.most_excluded
        return min(n_needed, self.corpus_size) if self.corpus_size else n_needed


def describe_unequal_depth(scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric]) -> str:
    """Describe in a sentence which system is cut above a cutoff that others reach; empty if none is."""
    unequal_depth = find_unequal_depth(scores_by_system, metrics)
    return "" if unequal_depth is None else wording.format_unequal_depth(unequal_depth)


def common_depth_notes(scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric]) -> list[str]:
    """Return the line that says which metrics look further than the rankings of all systems go; none if none does.

    Where one system is cut above a cutoff that another reaches, `describe_unequal_depth` says so instead.
    """
    if find_unequal_depth(scores_by_system, metrics) is not None:
        return []
    depths_by_system: list[DepthCounts] = [scores.counts for scores in scores_by_system.values()]
    return depth_notes(reduce(merge_depths, depths_by_system), metrics)


def find_unequal_depth(scores_by_system: Mapping[str, Scores], metrics: Sequence[Metric]) -> UnequalDepth | None:
    """Return the system that is cut above most cutoffs which another reaches; None if there is none."""
    n_retrieved_by_system = {}
    depths = {}
    for system, scores in scores_by_system.items():
        if scores.origin is not None:
            n_retrieved = scores.origin.judged.n_retrieved[scores.positions]
            n_retrieved_by_system[system] = n_retrieved
            depths[system] = int(n_retrieved.max(initial=0))
    if not depths:
        return None
    deepest = max(depths, key=depths.__getitem__)
    shallow = None
    cutoffs: dict[str, int] = {}
    for system, depth in depths.items():
        if not depth or not _is_truncated(n_retrieved_by_system[system], depth):
            continue
        # From half as many results on, a gap of fewer results than that matters too.
        gap = min(MIN_DEPTH_GAP, max(depth, 2))
        min_depth = max(MIN_UNEQUAL_RATIO * depth, depth + gap)
        unreached = _find_unreached_cutoffs(metrics, depths[deepest], min_depth)
        if len(unreached) > len(cutoffs):
            cutoffs = unreached
            shallow = system
    if shallow is None:
        return None
    most_excluded = 0
    corpus_size = 0
    for scores in scores_by_system.values():
        most_excluded = max(most_excluded, scores.counts.get("most_excluded", 0))
        corpus_size = max(corpus_size, scores.counts.get("corpus_size", 0))
    return UnequalDepth(
        shallow,
        deepest,
        depths[shallow],
        depths[deepest],
        cutoffs,
        most_excluded=most_excluded,
        corpus_size=corpus_size,
    )


def _is_truncated(n_retrieved: IntArray, depth: int) -> bool:
    """Return whether most of the rankings that are not empty end at the same rank."""
    n_cut = np.count_nonzero(n_retrieved == depth)
    return bool(n_cut > MIN_TRUNCATED_SHARE * np.count_nonzero(n_retrieved))


def _find_unreached_cutoffs(metrics: Sequence[Metric], deepest_depth: int, min_depth: float) -> dict[str, int]:
    """Return the cutoffs of the metrics that are at least `min_depth`, counted no deeper than the deepest ranking."""
    cutoffs = {}
    for metric in metrics:
        if isinstance(metric.k, int) and min(metric.k, deepest_depth) >= min_depth:
            cutoffs[str(metric)] = metric.k
    return cutoffs
