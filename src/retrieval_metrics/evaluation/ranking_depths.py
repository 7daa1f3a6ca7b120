"""Count where rankings end, to tell that metrics look further than most rankings go."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.metrics.base.metric import Metric


# Rankings are cut if more than this share of them end at the same rank.
MIN_CUT_SHARE = 0.5
# Rankings that end one rank before a cutoff may end there by chance, such as those of one result before @2.
MIN_GAP = 2


class DepthLimits(TypedDict, total=False):
    """What a retriever must return so that a ranking reaches some depth; a number that does not matter is left out.

    Attributes:
        most_excluded: The largest number of documents that `exclude=` left out of a ranking; only if it left out any.
        corpus_size: The number of documents that can be retrieved; only if the questions hold the corpus that was
            searched.
    """

    most_excluded: int
    corpus_size: int


class DepthCounts(DepthLimits):
    """Where the rankings of the judged queries end.

    Attributes:
        longest_ranking: The number of results of the longest ranking of a judged query. Metrics with a larger k see no
            more than that; 0 if nothing was retrieved or the rankings are unknown.
        rankings: Judged queries for which something was retrieved; 0 if the rankings are unknown.
        cut_rank: The last rank of the longest ranking that ends before the largest k of the metrics; 0 if there is
            none.
        cut_rankings: Rankings that end exactly at `cut_rank`. If these are most rankings, a limit of the retriever cut
            them; a score threshold or a token budget would leave rankings of different lengths.
    """

    longest_ranking: int
    rankings: int
    cut_rank: int
    cut_rankings: int


UNKNOWN_DEPTHS = DepthCounts(longest_ranking=0, rankings=0, cut_rank=0, cut_rankings=0)


def count_depths(
    n_retrieved: IntArray, metrics: Iterable[Metric], n_excluded: IntArray | None = None, corpus_size: int = 0
) -> DepthCounts:
    """Count where rankings end.

    Args:
        n_retrieved: The number of results of each judged query, shape (queries,).
        metrics: The metrics, whose largest k decides which rankings end early.
        n_excluded: How many documents were left out for each judged query, shape (queries,); None if none were to be.
        corpus_size: The number of documents that can be retrieved; 0 if it is unknown.
    """
    largest_cutoff = 0
    for metric in metrics:
        if isinstance(metric.k, int) and not metric.definition.is_given:
            largest_cutoff = max(largest_cutoff, metric.k)
    cut_rank = int(n_retrieved[n_retrieved < largest_cutoff].max(initial=0))
    n_cut = 0
    if cut_rank:
        n_cut = int(np.count_nonzero(n_retrieved == cut_rank))
    counts = DepthCounts(
        longest_ranking=int(n_retrieved.max(initial=0)),
        rankings=int(np.count_nonzero(n_retrieved)),
        cut_rank=cut_rank,
        cut_rankings=n_cut,
    )
    if n_excluded is not None and n_excluded.any():
        counts["most_excluded"] = int(n_excluded.max())
    if corpus_size:
        counts["corpus_size"] = corpus_size
    return counts


def merge_depths(depths: DepthCounts, other: DepthCounts) -> DepthCounts:
    """Return the depths of the rankings of both."""
    cut_rank = max(depths["cut_rank"], other["cut_rank"])
    n_cut = 0
    for part in (depths, other):
        # Where only one part has rankings that end there, those of the other end earlier or late enough.
        if part["cut_rank"] == cut_rank:
            n_cut += part["cut_rankings"]
    merged = DepthCounts(
        longest_ranking=max(depths["longest_ranking"], other["longest_ranking"]),
        rankings=depths["rankings"] + other["rankings"],
        cut_rank=cut_rank,
        cut_rankings=n_cut,
    )
    most_excluded = max(depths.get("most_excluded", 0), other.get("most_excluded", 0))
    if most_excluded:
        merged["most_excluded"] = most_excluded
    corpus_size = depths.get("corpus_size", 0)
    if corpus_size and corpus_size == other.get("corpus_size"):
        merged["corpus_size"] = corpus_size
    return merged


def find_cut_metrics(depths: DepthCounts, metrics: Iterable[Metric]) -> list[Metric]:
    """Return the metrics that look further than most rankings go, although some rankings go further.

    Empty if all rankings end early, if only a few do, or if they end at different ranks.
    """
    cut_rank = depths["cut_rank"]
    if cut_rank == depths["longest_ranking"] or depths["cut_rankings"] <= MIN_CUT_SHARE * depths["rankings"]:
        return []
    cut_metrics = []
    for metric in metrics:
        if isinstance(metric.k, int) and not metric.definition.is_given and metric.k >= cut_rank + MIN_GAP:
            cut_metrics.append(metric)
    return cut_metrics
