"""Credit each group once, at the first retrieved item that satisfies it, and list the rows of the expanded ranking.

One item that satisfies several new groups gives one hit row for each, the highest grade first. Every other item gives
one miss row, unless it only extends the covered part of a piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.matching.judged_columns import NO_DUPLICATES, Credits, Hits, SettledRows
from retrieval_metrics.matching.rank_rows import count_above, is_among, is_new, is_relevant, ordinals

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_columns import Items
    from retrieval_metrics.matching.judged_run import JudgedRun


def list_credits(qrels: Qrels, items: Items) -> Credits:
    """Return which groups the items satisfy: one row for each membership of an item's document in a group."""
    if qrels.is_flat:
        return Credits(np.arange(len(items.document)), items.document, items.grade)
    first_member = np.searchsorted(qrels.member_document, items.document, side="left")
    n_members = np.searchsorted(qrels.member_document, items.document, side="right") - first_member
    item = np.repeat(np.arange(len(items.document)), n_members)
    first_row = np.cumsum(n_members) - n_members
    offset_in_item = np.arange(len(item)) - np.repeat(first_row, n_members)
    member = np.repeat(first_member, n_members) + offset_in_item
    return Credits(item, qrels.member_group[member], qrels.member_grade[member])


def number_ranks(judged: JudgedRun) -> IntArray:
    """Return a number for the rank of each item, ascending over all queries; items at the same rank share one."""
    items = judged.items
    if judged.is_by_id:
        return np.arange(len(items.rank))
    return np.cumsum(is_new(items.query, items.rank))


def hits_of_documents(items: Items, rel: float | None) -> Hits:
    """Return the hit rows if each document is a group of its own, so that rows are ranks."""
    relevant = np.flatnonzero(is_relevant(items.grade, rel))
    query = items.query[relevant]
    rank = items.rank[relevant]
    return Hits(query, rank, rank, items.grade[relevant], ordinals(query))


def hits_of_groups(judged: JudgedRun, rel: float | None) -> Hits:
    """Return the hit rows if groups have several members, or pieces were matched."""
    items = judged.items
    is_hit = is_relevant(judged.credits.grade, rel)
    unordered = _first_credits(judged, judged.credits.take(np.flatnonzero(is_hit)))
    by_rank_and_grade = np.lexsort((-unordered.grade, judged.rank_number[unordered.item]))
    credited = unordered.take(by_rank_and_grade)
    query = items.query[credited.item]
    rank = items.rank[credited.item]
    ordinal = ordinals(query)
    # Every rank above has one row, and a rank that credits several groups has one more for each further group.
    further_hits = ordinal - _count_crediting_ranks(query, judged.rank_number[credited.item])
    row = rank + further_hits
    if judged.new_coverage is not None:
        row -= count_above(query, rank, *judged.new_coverage.partial(rel))
    return Hits(query, rank, row, credited.grade, ordinal)


def _first_credits(judged: JudgedRun, satisfied: Credits) -> Credits:
    """Return the credit of each group: at the first item that satisfies it, with the item's highest grade in it."""
    # Items found by id come in rank order, and the credits of one item highest grade first. Pieces do not.
    if not judged.is_by_id:
        rank_number = judged.rank_number[satisfied.item]
        satisfied = satisfied.take(np.lexsort((-satisfied.grade, rank_number, satisfied.group)))
    groups, first = np.unique(satisfied.group, return_index=True)
    if judged.credits_duplicates:  # also at each further rank of the document that was credited first
        document = judged.items.document[satisfied.item]
        credited_document = document[first][np.searchsorted(groups, satisfied.group)]
        first = np.flatnonzero(document == credited_document)
    return satisfied.take(first)


def _count_crediting_ranks(query: IntArray, rank_number: IntArray) -> IntArray:
    """Return for each hit how many ranks of its query credit a group, up to and including its own."""
    n_ranks = np.cumsum(is_new(rank_number))
    first_of_query = np.searchsorted(query, query, side="left")
    n_ranks_before_query = n_ranks[first_of_query] - 1
    return n_ranks - n_ranks_before_query


def settled_rows(judged: JudgedRun) -> SettledRows:
    """Return every row of the expanded ranking whose gain is settled: hits, judged misses and duplicates."""
    ranks = judged.ranks
    duplicates = NO_DUPLICATES if judged.credits_duplicates else judged.duplicates
    query = np.concatenate([ranks.query, duplicates.query])
    rank = np.concatenate([ranks.rank, duplicates.rank])
    if judged.rows_are_ranks:
        return SettledRows(query, rank, rank)
    hits = judged.hits()
    partial_query = hits.query[:0]
    partial_rank = hits.rank[:0]
    if judged.new_coverage is not None:
        partial_query, partial_rank = judged.new_coverage.partial(None)
    has_hit_row = is_among(query, rank, hits.query, hits.rank)
    has_no_row = is_among(query, rank, partial_query, partial_rank)
    missed = ~(has_hit_row | has_no_row)
    query = query[missed]
    rank = rank[missed]
    crediting = np.flatnonzero(is_new(hits.query, hits.rank))
    row = rank + count_above(query, rank, hits.query, hits.rank)
    row -= count_above(query, rank, hits.query[crediting], hits.rank[crediting])
    row -= count_above(query, rank, partial_query, partial_rank)
    return SettledRows(
        np.concatenate([hits.query, query]),
        np.concatenate([hits.rank, rank]),
        np.concatenate([hits.row, row]),
    )
