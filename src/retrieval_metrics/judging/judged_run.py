"""The one structure that every metric reads: the ranks of the judged documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.judging.judged_rows import (
    NO_REPEATS,
    Credits,
    Hits,
    Items,
    Repeats,
    count_above,
    is_among,
    is_relevant,
    ordinals,
    within,
)
from retrieval_metrics.judging.matching.budget import no_lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.checks import BoolArray, Cut, FloatArray, IntArray
    from retrieval_metrics.inputs.items import Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.judged_rows import Additions, JudgedRanks, Unplaced
    from retrieval_metrics.judging.matching.budget import Budget, Filled, Lengths
    from retrieval_metrics.judging.matching.covered import CoveredCharacters


@dataclass(eq=False)
class JudgedRun:
    """The judgments and rankings of all queries, joined in columns that hold only what is judged.

    Attributes:
        qrels: The judgments.
        items: The judged documents or pieces that were retrieved.
        places: The ranks that hold a judged item, if pieces were matched; None if documents were found by id, so that
            each judged one has its own rank.
        additions: The ranks that extend the covered part of a piece; None if no piece can be covered in part.
        n_retrieved: Shape (queries,), how many documents were retrieved, repeats included.
        repeats: The ranks of documents that appear earlier in the ranking.
        counts_repeats: Whether the items hold repeats as further hits.
        lengths: The lengths of the retrieved items; None if only their ids are known.
        covered: Counts the covered characters of pieces; None if no piece can be covered in part.
        unplaced: The retrieved items that could not be compared with a span, because their place is unknown.
        doubtful: The spans that were probably written against a text with other ends of lines.
        misplaced: How many retrieved items have offsets that do not fit their text or their source, if spans are
            judged.
        ambiguous: How many items were located at one of several places that hold their text.
    """

    qrels: Qrels
    items: Items
    n_retrieved: IntArray
    repeats: Repeats = NO_REPEATS
    counts_repeats: bool = False
    places: JudgedRanks | None = None
    additions: Additions | None = None
    covered: CoveredCharacters | None = None
    lengths: Lengths | None = None
    unplaced: Sequence[Unplaced] = ()
    doubtful: Sequence[Span] = ()
    misplaced: int = 0
    ambiguous: int = 0
    _hits: dict[float | None, Hits] = field(init=False, default_factory=dict)
    _needed: dict[float | None, FloatArray] = field(init=False, default_factory=dict)
    _lacking: dict[float | None, BoolArray | None] = field(init=False, default_factory=dict)
    _ideal: dict[bool, tuple[IntArray, FloatArray, IntArray]] = field(init=False, default_factory=dict)

    @property
    def n_queries(self) -> int:
        """The number of judged queries."""
        return len(self.qrels.queries)

    @property
    def is_by_id(self) -> bool:
        """Whether documents were found by id, so that each judged one has its own rank."""
        return self.places is None

    @property
    def ranks(self) -> JudgedRanks | Items:
        """The ranks that hold a judged item, each once."""
        return self.items if self.places is None else self.places

    @property
    def is_empty(self) -> bool:
        """Whether nothing that was retrieved is judged for its query."""
        return not len(self.items.rank) and not len(self.ranks.rank)

    @property
    def n_repeated(self) -> IntArray:
        """How many of the retrieved documents repeat an earlier one, shape (queries,)."""
        return np.bincount(self.repeats.query, minlength=self.n_queries)

    def n_within(self, k: Cut) -> IntArray:
        """Return how many of the first `k` ranks are filled, shape (queries,)."""
        return self.n_retrieved if k is None else np.minimum(self.n_retrieved, k)

    def n_distinct(self, k: Cut) -> IntArray:
        """Return how many distinct documents there are among the first `k`, shape (queries,)."""
        if not self.is_by_id:
            return self.n_within(k)
        query = self.repeats.query
        repeated = query if k is None else query[within(query, self.repeats.rank, k)]
        return self.n_within(k) - np.bincount(repeated, minlength=self.n_queries)

    def tied_queries(self) -> IntArray:
        """Return the queries in which a judged document has the same score as another document, ascending."""
        tied = self.items.tied > 1
        return np.unique(self.items.query[tied]) if tied.any() else self.items.query[:0]

    def with_items(self, items: Items, *, counts_repeats: bool = False) -> JudgedRun:
        """Return the judged run with the judged documents at other ranks."""
        return JudgedRun(
            self.qrels,
            items,
            self.n_retrieved,
            self.repeats,
            counts_repeats,
            covered=self.covered,
            lengths=self.lengths,
        )

    def with_repeats(self, rule: str) -> JudgedRun:
        """Return the judged run with repeated documents treated by a rule; see `Rules.repeats`."""
        # Pieces have no repeats to count: an item can satisfy a piece again without repeating an id.
        return self._repeated if rule == "count" and self.is_by_id and len(self.repeats.query) else self

    @cached_property
    def _repeated(self) -> JudgedRun:
        """The judged run in which every repeat of a judged document counts as a further hit.

        A group of alternatives is credited again when the document that satisfied it is retrieved again.
        """
        items, repeats = self.items, self.repeats
        again = repeats.document >= 0
        document = np.concatenate([items.document, repeats.document[again]])
        rank = np.concatenate([items.rank, repeats.rank[again]])
        tied = np.concatenate([items.tied, np.ones(int(again.sum()), dtype=np.int64)])
        tied_from = np.concatenate([items.tied_from, repeats.rank[again]])
        return self.with_items(Items.ordered(self.qrels, document, rank, tied, tied_from), counts_repeats=True)

    def condensed(self) -> JudgedRun:
        """Return the judged run with unjudged documents removed from the rankings; documents below them move up.

        Raises:
            ValueError: If pieces were matched, for which retrieved items are neither judged nor unjudged.
        """
        if not self.is_by_id or self.qrels.has_pieces:
            raise ValueError("unjudged documents can be removed from rankings only if documents are judged by id")
        return self._without_unjudged

    @cached_property
    def _without_unjudged(self) -> JudgedRun:
        items, repeats = self.items, self.repeats
        again = np.flatnonzero(repeats.document >= 0) if not self.counts_repeats else np.zeros(0, dtype=np.int64)
        kept = Repeats(repeats.query[again], repeats.rank[again], repeats.document[again])
        rank = ordinals(items.query) + count_above(items.query, items.rank, kept.query, kept.rank)
        # Only the judged documents of a tie remain.
        new = np.diff(items.query, prepend=-1).astype(bool) | np.diff(items.tied_from, prepend=-1).astype(bool)
        tie = np.cumsum(new) - 1
        moved = items._replace(rank=rank, tied=np.bincount(tie)[tie] if len(tie) else tie, tied_from=rank[new][tie])
        left = kept._replace(rank=ordinals(kept.query) + count_above(kept.query, kept.rank, items.query, items.rank))
        n_retrieved = np.bincount(np.concatenate([items.query, kept.query]), minlength=self.n_queries)
        return JudgedRun(self.qrels, moved, n_retrieved, left, self.counts_repeats)

    def cutoff(self, k: int | Budget | None) -> Cut:
        """Return a cut-off as a number of items; for a budget, the number that fits, per query.

        Raises:
            ValueError: If the budget cannot be counted because the lengths of the items are unknown.
        """
        if k is None or isinstance(k, int):
            return k
        return self.filled(k).count

    def filled(self, budget: Budget) -> Filled:
        """Return how the first items of each query fill a budget.

        Raises:
            ValueError: If the lengths of the items are unknown.
        """
        if self.lengths is None:
            raise no_lengths(budget)
        return self.lengths.filled(budget)

    def per_query(self, query: IntArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the sum of the weights (or the count) of each query, shape (queries,)."""
        return np.bincount(query, weights, minlength=self.n_queries).astype(np.float64, copy=False)

    def n_relevant(self, rel: float | None = None) -> FloatArray:
        """Return how many groups each query needs: those with a document relevant at threshold `rel`."""
        if rel not in self._needed:
            self._needed[rel] = self.per_query(self.qrels.group_query[is_relevant(self.qrels.group_grade, rel)])
        return self._needed[rel]

    def lacking(self, rel: float | None = None) -> BoolArray | None:
        """Return which queries have no relevant document, shape (queries,); None if all have one."""
        if rel not in self._lacking:
            lacking = self.n_relevant(rel) == 0
            self._lacking[rel] = lacking if lacking.any() else None
        return self._lacking[rel]

    def relevant_items(self, k: Cut, rel: float | None = None) -> IntArray:
        """Return the query of each distinct relevant item among the first `k` retrieved."""
        wanted = is_relevant(self.ranks.grade, rel)
        if k is not None:
            wanted = wanted & within(self.ranks.query, self.ranks.rank, k)
        return self.ranks.query[wanted]

    @cached_property
    def credits(self) -> Credits:
        """Which groups the retrieved items satisfy, including groups already satisfied."""
        qrels, items = self.qrels, self.items
        if qrels.is_flat:
            return Credits(np.arange(len(items.document)), items.document, items.grade)
        first = np.searchsorted(qrels.member_document, items.document, side="left")
        count = np.searchsorted(qrels.member_document, items.document, side="right") - first
        item = np.repeat(np.arange(len(items.document)), count)
        member = np.arange(len(item)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
        return Credits(item, qrels.member_group[member], qrels.member_grade[member])

    def hits(self, rel: float | None = None) -> Hits:
        """Return the hit rows of the expanded ranking at relevance threshold `rel` (None: grades above 0)."""
        if rel not in self._hits:
            self._hits[rel] = self._hits_of_documents(rel) if self.is_the_ranking else self._hits_of_groups(rel)
        return self._hits[rel]

    @cached_property
    def is_the_ranking(self) -> bool:
        """Whether the expanded ranking is the ranking itself: documents are found by id, each a group of its own."""
        return self.qrels.is_flat and self.places is None

    def _hits_of_documents(self, rel: float | None) -> Hits:
        items = self.items
        relevant = np.flatnonzero(is_relevant(items.grade, rel))
        query, rank = items.query[relevant], items.rank[relevant]
        return Hits(query, rank, rank, items.grade[relevant], ordinals(query))

    def _hits_of_groups(self, rel: float | None) -> Hits:
        items, found = self.items, self.credits
        relevant = np.flatnonzero(is_relevant(found.grade, rel))
        # Each group is credited at the first item that satisfies it, with the item's highest grade in the group. The
        # credits of one item come highest grade first.
        item, grade, group = found.item[relevant], found.grade[relevant], found.group[relevant]
        place = self._place_of_item[item]
        if not self.is_by_id:
            by_group = np.lexsort((-grade, place, group))
            item, grade, group, place = item[by_group], grade[by_group], group[by_group], place[by_group]
        first = np.unique(group, return_index=True)[1]
        if self.counts_repeats:  # the document that was credited is credited again
            document = items.document[item]
            first = np.flatnonzero(document == document[first][np.searchsorted(group[first], group)])
        first = first[np.lexsort((-grade[first], place[first]))]
        item, grade = item[first], grade[first]
        query, rank = items.query[item], items.rank[item]
        ordinal = ordinals(query)
        crediting = np.diff(place[first], prepend=-1) != 0
        places_so_far = np.cumsum(crediting)
        before_query = places_so_far[np.searchsorted(query, query, side="left")] - 1 if len(item) else places_so_far
        row = rank + ordinal - (places_so_far - before_query)
        if self.additions is not None:
            row -= count_above(query, rank, *self.additions.partial(rel))
        return Hits(query, rank, row, grade, ordinal)

    @cached_property
    def _place_of_item(self) -> IntArray:
        """A number for the place of each item; items at the same rank share one."""
        if self.is_by_id:
            return np.arange(len(self.items.rank))
        new = np.diff(self.items.query, prepend=-1).astype(bool) | np.diff(self.items.rank, prepend=0).astype(bool)
        return np.cumsum(new)

    def settled_rows(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return query, rank and row of every item whose gain is settled, in no particular order.

        These are the judged items, hits and misses alike, and the repeats that do not count, whose gain is 0.
        """
        ranks, hits = self.ranks, self.hits()
        repeats = NO_REPEATS if self.counts_repeats else self.repeats
        query, rank = np.concatenate([ranks.query, repeats.query]), np.concatenate([ranks.rank, repeats.rank])
        if self.is_the_ranking:
            return query, rank, rank
        new = np.flatnonzero(np.diff(hits.rank, prepend=0) | np.diff(hits.query, prepend=-1))
        partial = (hits.query[:0], hits.rank[:0]) if self.additions is None else self.additions.partial(None)
        missed = ~(is_among(query, rank, hits.query, hits.rank) | is_among(query, rank, *partial))
        query, rank = query[missed], rank[missed]
        row = rank + count_above(query, rank, hits.query, hits.rank)
        row -= count_above(query, rank, hits.query[new], hits.rank[new]) + count_above(query, rank, *partial)
        hit_and_miss = (hits.query, query), (hits.rank, rank), (hits.row, row)
        found_query, found_rank, found_row = (np.concatenate(columns) for columns in hit_and_miss)
        return found_query, found_rank, found_row

    def ideal(self, *, of_documents: bool = False) -> tuple[IntArray, FloatArray, IntArray]:
        """Return the ideal ranking of every query: query, grade and position (from 1) of each relevant group.

        Args:
            of_documents: Rank every member of every group separately, as if all of them were needed.
        """
        if of_documents not in self._ideal:
            qrels = self.qrels
            query, grade = qrels.group_query, qrels.group_grade
            if of_documents:
                query, grade = qrels.document_query[qrels.member_document], qrels.member_grade
            relevant = grade > 0
            query, grade = query[relevant], grade[relevant]
            best_first = np.lexsort((-grade, query))
            query, grade = query[best_first], grade[best_first]
            self._ideal[of_documents] = query, grade, ordinals(query)
        return self._ideal[of_documents]
