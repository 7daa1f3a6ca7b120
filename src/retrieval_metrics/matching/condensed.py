"""Move judged documents to the ranks that they have once unjudged documents are removed from the rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.matching.judged_columns import NO_DUPLICATES, Duplicates, Items
from retrieval_metrics.matching.rank_rows import count_above, is_new, ordinals

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun


class CondensedRanks(NamedTuple):
    """The columns of a judged run without its unjudged documents."""

    items: Items
    duplicates: Duplicates
    n_retrieved: IntArray


def condense(judged: JudgedRun) -> CondensedRanks:
    """Return the ranks that judged documents have once the unjudged documents are removed."""
    items = judged.items
    # Where duplicates count as hits, they are among the items already.
    duplicates = NO_DUPLICATES if judged.credits_duplicates else judged.duplicates.judged()
    rank = ordinals(items.query) + count_above(items.query, items.rank, duplicates.query, duplicates.rank)
    duplicate_rank = ordinals(duplicates.query) + count_above(
        duplicates.query, duplicates.rank, items.query, items.rank
    )
    starts_tie = is_new(items.query, items.tied_from)
    tie = np.cumsum(starts_tie) - 1
    n_tied = np.bincount(tie)
    query = np.concatenate([items.query, duplicates.query])
    return CondensedRanks(
        items=items._replace(rank=rank, tied=n_tied[tie], tied_from=rank[starts_tie][tie]),
        duplicates=duplicates._replace(rank=duplicate_rank),
        n_retrieved=np.bincount(query, minlength=judged.n_queries),
    )
