"""Rank the groups of a query separately and average over them, as AutoRAG does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.matching.rank_rows import is_new, is_relevant, ordinals, within
from retrieval_metrics.metrics.base.definition import make_choice

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun


PER = make_choice(
    "query",
    "one value per query, or the mean over its groups (`group`)",
    {
        "query": "all documents are ranked together",
        "group": "the value is a mean over the groups, each ranked separately",
    },
    acts_on="groups",
)


class GroupMemberHits(NamedTuple):
    """The retrieved members of groups: all of them, not only the first of each group."""

    group: IntArray
    rank: IntArray
    ordinal: IntArray


def hits_per_group(judged: JudgedRun, k: Cut, rel: float | None) -> GroupMemberHits:
    """Return the retrieved relevant members of each group, by group and rank; ordinals count within the group."""
    satisfied = judged.credits
    is_member = is_relevant(satisfied.grade, rel)
    if k is not None:
        is_member = is_member & within(judged.items.query, judged.items.rank, k)[satisfied.item]
    group = satisfied.group[is_member]
    rank = judged.items.rank[satisfied.item[is_member]]
    order = np.lexsort((rank, group))
    group = group[order]
    rank = rank[order]
    # One item may satisfy several pieces of a group at its rank; they share one place in the ranking.
    is_first = is_new(group, rank)
    return GroupMemberHits(group[is_first], rank[is_first], ordinals(group[is_first]))


def mean_over_groups(judged: JudgedRun, group: IntArray, value: FloatArray, rel: float | None) -> FloatArray:
    """Return for each query the mean over its groups of the sum of the group's values, 0 for a group not found."""
    value_of_group = np.bincount(group, value, minlength=len(judged.qrels.group_query)).astype(np.float64)
    return judged.sum_by_query(judged.qrels.group_query, value_of_group) / np.maximum(judged.n_relevant(rel), 1)
