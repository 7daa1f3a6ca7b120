"""Averages over the groups of a query, each ranked separately, as in AutoRAG."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.definition.definition import choice
from retrieval_metrics.judging.judged_run import is_relevant, ordinals, within

if TYPE_CHECKING:
    from retrieval_metrics.checks import Cut, FloatArray, IntArray
    from retrieval_metrics.judging.judged_run import JudgedRun

PER = choice(
    "query",
    "one value per query, or the mean over its groups (`group`)",
    {
        "query": "all documents are ranked together",
        "group": "the value is a mean over the groups, each ranked separately",
    },
    acts_on="groups",
)


class GroupHits(NamedTuple):
    """The retrieved members of groups: all of them, not only the first of each group."""

    group: IntArray
    rank: IntArray
    ordinal: IntArray


def hits_per_group(judged: JudgedRun, k: Cut, rel: float | None) -> GroupHits:
    """Return the retrieved relevant members of each group, by group and rank; ordinals count within the group."""
    found, ranks = judged.credits, judged.items.rank
    wanted = is_relevant(found.grade, rel)
    if k is not None:
        wanted = wanted & within(judged.items.query, ranks, k)[found.item]
    group, rank = found.group[wanted], ranks[found.item[wanted]]
    order = np.lexsort((rank, group))
    group, rank = group[order], rank[order]
    # One item may satisfy several pieces of a group at its rank; they share one place in the ranking.
    new = (np.diff(group, prepend=-1) != 0) | (np.diff(rank, prepend=0) != 0)
    return GroupHits(group[new], rank[new], ordinals(group[new]))


def mean_over_groups(judged: JudgedRun, group: IntArray, value: FloatArray, rel: float | None) -> FloatArray:
    """Return for each query the mean over its groups of the sum of the group's values, 0 for a group not found."""
    of_group: FloatArray = np.bincount(group, value, minlength=len(judged.qrels.group_query)).astype(np.float64)
    return judged.per_query(judged.qrels.group_query, of_group) / np.maximum(judged.n_relevant(rel), 1)
