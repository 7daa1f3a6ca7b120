"""The one structure that every metric reads: the ranks of the judged documents, in columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.matching.budget import missing_lengths_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.validation import BoolArray, Cut, DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.budget import Budget, BudgetFills, Lengths
    from retrieval_metrics.matching.piece_rules import CoveredCharacters
    from retrieval_metrics.matching.span_offsets import UnlocatedReason


# The columns of a judged run, and functions over their rows.


class Items(NamedTuple):
    """The judged documents or pieces that were retrieved, each at its first rank; ordered by query, rank and grade.

    Attributes:
        document: Position of the document in `Qrels.documents`.
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        grade: Grade of the document: the largest over the groups it belongs to. At one rank, the highest grade comes
            first.
        tied: How many documents of the ranking have its score, itself included.
        tied_from: The first rank of those documents.
    """

    document: IntArray
    query: IntArray
    rank: IntArray
    grade: FloatArray
    tied: IntArray
    tied_from: IntArray

    @classmethod
    def ordered(
        cls,
        qrels: Qrels,
        document: IntArray,
        rank: IntArray,
        tied: IntArray | None = None,
        tied_from: IntArray | None = None,
    ) -> Items:
        """Return the items of documents in any order; without `tied` and `tied_from` there are no ties."""
        query = qrels.document_query[document]
        order = np.lexsort((rank, query))
        document, rank = document[order], rank[order]
        return cls(
            document,
            query[order],
            rank,
            qrels.document_grade[document],
            np.ones_like(rank) if tied is None else tied[order],
            rank if tied_from is None else tied_from[order],
        )


class JudgedRanks(NamedTuple):
    """The ranks that hold a judged item, each once, ordered by query and rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        grade: Largest grade of the item.
        least: Smallest grade of the item, which may be relevant and forbidden.
    """

    query: IntArray
    rank: IntArray
    grade: FloatArray
    smallest_grade: FloatArray


class NewCoverage(NamedTuple):
    """The ranks whose item covers part of a piece that no item above it covers, ordered by query and rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        grade: Largest grade of the pieces it adds to.
        completed: Largest grade of the pieces that are satisfied at this rank; minus infinity if there is none.
    """

    query: IntArray
    rank: IntArray
    grade: FloatArray
    completed: FloatArray

    def partial(self, rel: float | None) -> tuple[IntArray, IntArray]:
        """Return query and rank of the items that add to a relevant piece without completing one; they give no row."""
        mask = is_relevant(self.grade, rel) & ~is_relevant(self.completed, rel)
        return self.query[mask], self.rank[mask]


class Duplicates(NamedTuple):
    """The ranks whose document appears earlier in the ranking, ordered by query and rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        document: Position of the document in `Qrels.documents`; -1 if it is not judged.
    """

    query: IntArray
    rank: IntArray
    document: IntArray


_NONE = np.zeros(0, dtype=np.int64)
NO_REPEATS = Duplicates(_NONE, _NONE, _NONE)


class Unlocated(NamedTuple):
    """A retrieved item whose place in its source is unknown, though a span of the source is judged.

    Attributes:
        query: The query it was retrieved for.
        document: Its id.
        doubt: Why: `"no offsets"`, `"unchecked"`, `"wrong length"`, `"not in the source"` or `"another source"`.
    """

    query: QueryId
    document: DocumentId | None
    reason: UnlocatedReason


class Hits(NamedTuple):
    """The hit rows of the expanded ranking, ordered by query and row.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank of the item, from 1.
        row: Row in the expanded ranking, from 1.
        grade: Grade the item has in the group it satisfies.
        ordinal: How many hit rows the query has up to and including this one.
    """

    query: IntArray
    rank: IntArray
    row: IntArray
    grade: FloatArray
    ordinal: IntArray

    def where(self, mask: BoolArray) -> Hits:
        """Return the rows selected by a mask; ordinals still count over the whole ranking."""
        return Hits(self.query[mask], self.rank[mask], self.row[mask], self.grade[mask], self.ordinal[mask])

    def cut(self, k: Cut) -> Hits:
        """Return the hits within cut-off `k`, which limits both items and rows; a budget limits items only."""
        return self if k is None else self.where(cut_rows(self.query, self.rank, self.row, k))


class Credits(NamedTuple):
    """Every time a retrieved item satisfies a group, including groups satisfied before; ordered like the items.

    Attributes:
        item: Position in `Items`.
        group: The group it belongs to, as in `Qrels.group_query`.
        grade: Grade the document has in that group.
    """

    item: IntArray
    group: IntArray
    grade: FloatArray


def within(query: IntArray, rank: IntArray, k: int | IntArray) -> BoolArray:
    """Return which ranks are among the first k of their query."""
    return rank <= (k[query] if isinstance(k, np.ndarray) else k)


def cut_rows(query: IntArray, rank: IntArray, row: IntArray, k: int | IntArray) -> BoolArray:
    """Return which rows of the expanded ranking are within a cut-off."""
    if isinstance(k, np.ndarray):
        return rank <= k[query]
    # The expanded ranking has its own rows; if it is the ranking itself, one comparison is enough.
    return row <= k if row is rank else (row <= k) & (rank <= k)


def is_relevant(grade: FloatArray, rel: float | None) -> BoolArray:
    """Return which grades are relevant: above 0, or at least `rel` if a threshold is given."""
    return grade > 0 if rel is None else grade >= rel


def is_forbidden(smallest_grade: FloatArray, grade: float | None = None) -> BoolArray:
    """Return which grades are forbidden: below 0, or at most `grade` if a level is given."""
    return smallest_grade < 0 if grade is None else smallest_grade <= grade


def count_above(query: IntArray, rank: IntArray, other_query: IntArray, other_rank: IntArray) -> IntArray:
    """Return for each (query, rank) how many of the others are above it in its query; they are in order.

    Example:
        >>> query, rank = np.array([0, 1]), np.array([5, 5])
        >>> count_above(query, rank, np.array([0, 0, 1]), np.array([1, 9, 4])).tolist()  # ranks 1, 9 and 4
        [1, 1]
    """
    longest = max(rank.max(initial=0), other_rank.max(initial=0)) + 1
    place: IntArray = np.searchsorted(other_query * longest + other_rank, query * longest + rank)
    return place - np.searchsorted(other_query, query)


def is_among(query: IntArray, rank: IntArray, other_query: IntArray, other_rank: IntArray) -> BoolArray:
    """Return for each (query, rank) whether it is one of the others."""
    longest = max(rank.max(initial=0), other_rank.max(initial=0)) + 1
    return np.isin(query * longest + rank, other_query * longest + other_rank)


def ordinals(query: IntArray) -> IntArray:
    """Return the position (from 1) of each entry within its query, for entries ordered by query.

    Example:
        >>> ordinals(np.array([0, 0, 2, 2, 2])).tolist()
        [1, 2, 1, 2, 3]
    """
    return np.arange(1, len(query) + 1) - np.searchsorted(query, query, side="left")


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
        duplicates: The ranks of documents that appear earlier in the ranking.
        credits_duplicates: Whether the items hold repeats as further hits.
        lengths: The lengths of the retrieved items; None if only their ids are known.
        covered: Counts the covered characters of pieces; None if no piece can be covered in part.
        unlocated: The retrieved items that could not be compared with a span, because their place is unknown.
        doubtful: The spans that were probably written against a text with other ends of lines.
        invalid_offsets: How many retrieved items have offsets that do not fit their text or their source, if spans are
            judged.
        ambiguous_locations: How many items were located at one of several places that hold their text.
        unanswered: Shape (queries,), which queries the retriever failed for or the run does not hold; None if each was
            answered, if only by nothing.
    """

    qrels: Qrels
    items: Items
    n_retrieved: IntArray
    duplicates: Duplicates = NO_REPEATS
    credits_duplicates: bool = False
    piece_ranks: JudgedRanks | None = None
    new_coverage: NewCoverage | None = None
    covered: CoveredCharacters | None = None
    lengths: Lengths | None = None
    unlocated: Sequence[Unlocated] = ()
    line_ending_spans: Sequence[Span] = ()
    invalid_offsets: int = 0
    ambiguous_locations: int = 0
    unanswered: BoolArray | None = None
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
        return self.piece_ranks is None

    @property
    def ranks(self) -> JudgedRanks | Items:
        """The ranks that hold a judged item, each once."""
        return self.items if self.piece_ranks is None else self.piece_ranks

    @property
    def smallest_grade(self) -> FloatArray:
        """The smallest grade of each of the `ranks`, which may be relevant and forbidden."""
        return (
            self.qrels.smallest_grade[self.items.document]
            if self.piece_ranks is None
            else self.piece_ranks.smallest_grade
        )

    @property
    def is_empty(self) -> bool:
        """Whether something is relevant, but nothing that was retrieved is judged for its query."""
        return not len(self.items.rank) and not len(self.ranks.rank) and bool(self.n_relevant().any())

    @property
    def n_duplicates(self) -> IntArray:
        """How many of the retrieved documents repeat an earlier one, shape (queries,)."""
        return np.bincount(self.duplicates.query, minlength=self.n_queries)

    def n_within(self, k: Cut) -> IntArray:
        """Return how many of the first `k` ranks are filled, shape (queries,)."""
        return self.n_retrieved if k is None else np.minimum(self.n_retrieved, k)

    def n_distinct(self, k: Cut) -> IntArray:
        """Return how many distinct documents there are among the first `k`, shape (queries,)."""
        if not self.is_by_id:
            return self.n_within(k)
        query = self.duplicates.query
        repeated = query if k is None else query[within(query, self.duplicates.rank, k)]
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
            self.duplicates,
            counts_repeats,
            covered=self.covered,
            lengths=self.lengths,
            unanswered=self.unanswered,
        )

    def with_duplicate_rule(self, rule: str) -> JudgedRun:
        """Return the judged run with repeated documents treated by a rule; see `Rules.duplicates`."""
        # Pieces have no repeats to count: an item can satisfy a piece again without repeating an id.
        return self._repeated if rule == "count" and self.is_by_id and len(self.duplicates.query) else self

    @cached_property
    def _repeated(self) -> JudgedRun:
        """The judged run in which every repeat of a judged document counts as a further hit."""
        items, repeats = self.items, self.duplicates
        again = repeats.document >= 0
        document = np.concatenate([items.document, repeats.document[again]])
        rank = np.concatenate([items.rank, repeats.rank[again]])
        tied = np.concatenate([items.tied, np.ones(int(again.sum()), dtype=np.int64)])
        tied_from = np.concatenate([items.tied_from, repeats.rank[again]])
        return self.with_items(Items.ordered(self.qrels, document, rank, tied, tied_from), counts_repeats=True)

    def condensed(self) -> JudgedRun:
        """Return the judged run with unjudged documents removed from the rankings; documents below them move up."""
        if not self.is_by_id or self.qrels.has_pieces:
            raise ValueError("unjudged documents can be removed from rankings only if documents are judged by id")
        return self._without_unjudged

    @cached_property
    def _without_unjudged(self) -> JudgedRun:
        items, repeats = self.items, self.duplicates
        again = np.flatnonzero(repeats.document >= 0) if not self.credits_duplicates else np.zeros(0, dtype=np.int64)
        kept = Duplicates(repeats.query[again], repeats.rank[again], repeats.document[again])
        rank = ordinals(items.query) + count_above(items.query, items.rank, kept.query, kept.rank)
        # Only the judged documents of a tie remain.
        new = np.diff(items.query, prepend=-1).astype(bool) | np.diff(items.tied_from, prepend=-1).astype(bool)
        tie = np.cumsum(new) - 1
        moved = items._replace(rank=rank, tied=np.bincount(tie)[tie] if len(tie) else tie, tied_from=rank[new][tie])
        left = kept._replace(rank=ordinals(kept.query) + count_above(kept.query, kept.rank, items.query, items.rank))
        n_retrieved = np.bincount(np.concatenate([items.query, kept.query]), minlength=self.n_queries)
        return JudgedRun(self.qrels, moved, n_retrieved, left, self.credits_duplicates)

    def cutoff(self, k: int | Budget | None) -> Cut:
        """Return a cut-off as a number of items; for a budget, the number that fits, per query."""
        if k is None or isinstance(k, int):
            return k
        return self.filled(k).n_fitting

    def filled(self, budget: Budget) -> BudgetFills:
        """Return how the first items of each query fill a budget."""
        if self.lengths is None:
            raise missing_lengths_error(budget)
        return self.lengths.fill_budget(budget)

    def sum_by_query(self, query: IntArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the sum of the weights (or the count) of each query, shape (queries,)."""
        return np.bincount(query, weights, minlength=self.n_queries).astype(np.float64, copy=False)

    def n_relevant(self, rel: float | None = None) -> FloatArray:
        """Return how many groups each query needs: those with a document relevant at threshold `rel`."""
        if rel not in self._needed:
            self._needed[rel] = self.sum_by_query(self.qrels.group_query[is_relevant(self.qrels.group_grade, rel)])
        return self._needed[rel]

    def without_relevant(self, rel: float | None = None) -> BoolArray | None:
        """Return which queries have no relevant document, shape (queries,); None if all have one."""
        if rel not in self._lacking:
            lacking = self.n_relevant(rel) == 0
            self._lacking[rel] = lacking if lacking.any() else None
        return self._lacking[rel]

    def has_forbidden(self, grade: float | None = None) -> BoolArray:
        """Return for which queries something is forbidden, shape (queries,)."""
        return self.sum_by_query(self.qrels.document_query[is_forbidden(self.qrels.smallest_grade, grade)]) > 0

    def forbidden_ranks(self, grade: float | None = None) -> tuple[IntArray, IntArray]:
        """Return query and rank of the retrieved items that are forbidden, whatever else they are."""
        found = is_forbidden(self.smallest_grade, grade)
        return self.ranks.query[found], self.ranks.rank[found]

    def where_answered(self, defined: BoolArray, value: BoolArray) -> FloatArray:
        """Return 0 or 1 for the queries for which a metric is defined and an answer came, and NaN for the others."""
        answered = defined if self.unanswered is None else defined & ~self.unanswered
        return np.where(answered, value, np.nan)

    def relevant_item_queries(self, k: Cut, rel: float | None = None) -> IntArray:
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
            self._hits[rel] = self._hits_of_documents(rel) if self.rows_are_ranks else self._hits_of_groups(rel)
        return self._hits[rel]

    @cached_property
    def rows_are_ranks(self) -> bool:
        """Whether the expanded ranking is the ranking itself: documents are found by id, each a group of its own."""
        return self.qrels.is_flat and self.piece_ranks is None

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
        if self.credits_duplicates:  # the document that was credited is credited again
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
        if self.new_coverage is not None:
            row -= count_above(query, rank, *self.new_coverage.partial(rel))
        return Hits(query, rank, row, grade, ordinal)

    @cached_property
    def _place_of_item(self) -> IntArray:
        """A number for the place of each item; items at the same rank share one."""
        if self.is_by_id:
            return np.arange(len(self.items.rank))
        new = np.diff(self.items.query, prepend=-1).astype(bool) | np.diff(self.items.rank, prepend=0).astype(bool)
        return np.cumsum(new)

    def settled_rows(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return query, rank and row of every item whose gain is settled, in no particular order."""
        ranks, hits = self.ranks, self.hits()
        repeats = NO_REPEATS if self.credits_duplicates else self.duplicates
        query, rank = np.concatenate([ranks.query, repeats.query]), np.concatenate([ranks.rank, repeats.rank])
        if self.rows_are_ranks:
            return query, rank, rank
        new = np.flatnonzero(np.diff(hits.rank, prepend=0) | np.diff(hits.query, prepend=-1))
        partial = (hits.query[:0], hits.rank[:0]) if self.new_coverage is None else self.new_coverage.partial(None)
        missed = ~(is_among(query, rank, hits.query, hits.rank) | is_among(query, rank, *partial))
        query, rank = query[missed], rank[missed]
        row = rank + count_above(query, rank, hits.query, hits.rank)
        row -= count_above(query, rank, hits.query[new], hits.rank[new]) + count_above(query, rank, *partial)
        hit_and_miss = (hits.query, query), (hits.rank, rank), (hits.row, row)
        found_query, found_rank, found_row = (np.concatenate(columns) for columns in hit_and_miss)
        return found_query, found_rank, found_row

    def ideal(self, *, of_documents: bool = False) -> tuple[IntArray, FloatArray, IntArray]:
        """Return the ideal ranking of every query: query, grade and position (from 1) of each relevant group."""
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
