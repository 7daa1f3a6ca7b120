"""The one structure every metric reads: where the judged documents stand in the rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.judging.matching.budget import no_lengths

if TYPE_CHECKING:
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.budget import Budget, Lengths
    from retrieval_metrics.judging.matching.covered import Coverage
    from retrieval_metrics.types import BoolArray, Cut, FloatArray, IntArray


class Items(NamedTuple):
    """What is judged and was retrieved, each at the first rank that satisfies it, ordered by query, rank and grade.

    For judgments by id these are the retrieved documents that are judged, one at a rank. For pieces such as quotes one
    item may satisfy several.

    Attributes:
        document: Position of the document in `Qrels.documents`.
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        grade: Grade of the document: its largest over the groups it belongs to. Of several at one rank the highest
            stands first.
        tied: How many documents of the ranking share its score, itself included.
    """

    document: IntArray
    query: IntArray
    rank: IntArray
    grade: FloatArray
    tied: IntArray

    @classmethod
    def ordered(cls, qrels: Qrels, document: IntArray, rank: IntArray, tied: IntArray) -> Items:
        """Return the items of documents found in any order."""
        query = qrels.document_query[document]
        order = np.lexsort((rank, query))
        document = document[order]
        return cls(document, query[order], rank[order], qrels.document_grade[document], tied[order])


class Places(NamedTuple):
    """The ranks at which something judged stands, each once, ordered by query and rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        grade: Largest grade of what stands there.
    """

    query: IntArray
    rank: IntArray
    grade: FloatArray


class Additions(NamedTuple):
    """The ranks whose item covers something of a piece that no item above it covers, ordered by query and rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        grade: Largest grade of the pieces it adds to.
        completed: Largest grade of the pieces that are satisfied at this rank; minus infinity if none is.
    """

    query: IntArray
    rank: IntArray
    grade: FloatArray
    completed: FloatArray

    def partial(self, rel: float | None) -> tuple[IntArray, IntArray]:
        """Return query and rank of the items that add to a relevant piece and complete none: they give no row."""
        mask = is_relevant(self.grade, rel) & ~is_relevant(self.completed, rel)
        return self.query[mask], self.rank[mask]


class Repeats(NamedTuple):
    """The places of rankings that are taken by a document that stood there before, ordered by query and rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        document: Position of the document in `Qrels.documents`; -1 if it is not judged.
    """

    query: IntArray
    rank: IntArray
    document: IntArray


class Hits(NamedTuple):
    """The hit rows of the expanded ranking, ordered by query and row.

    An item that is the first to satisfy c >= 1 groups gives c hit rows, highest grade first; an item that adds to what
    is covered of a piece without completing one gives no row; any other item gives one miss row. For flat judgments by
    id the expanded ranking is the ranking itself, and row equals rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank of the item, from 1.
        row: Row in the expanded ranking, from 1.
        grade: Grade the item has in the group it satisfies.
        ordinal: How many hit rows of the query there are up to this one, itself included.
    """

    query: IntArray
    rank: IntArray
    row: IntArray
    grade: FloatArray
    ordinal: IntArray

    def where(self, mask: BoolArray) -> Hits:
        """Return the rows under a mask; ordinals stay those of the whole ranking."""
        return Hits(self.query[mask], self.rank[mask], self.row[mask], self.grade[mask], self.ordinal[mask])

    def cut(self, k: Cut) -> Hits:
        """Return what is left at cut-off `k`, which cuts items, then rows; a budget cuts items alone."""
        return self if k is None else self.where(cut_rows(self.query, self.rank, self.row, k))


class Credits(NamedTuple):
    """Every satisfaction of a group by a retrieved item, also when the group was satisfied before; ordered like items.

    Attributes:
        item: Position in `Items`.
        group: The group it belongs to, as in `Qrels.group_query`.
        grade: Grade the document has in that group.
    """

    item: IntArray
    group: IntArray
    grade: FloatArray


class JudgedRun:
    """Judgments and rankings of all queries, joined: only what was judged, in columns.

    Attributes:
        qrels: The judgments.
        items: What is judged and was retrieved.
        places: The ranks at which something judged stands: those of the items, unless pieces were matched.
        additions: Which ranks add to what is covered of a piece; None where no piece can be covered in part.
        n_retrieved: Shape (queries,), how many documents were retrieved, repeats included.
        n_repeated: Shape (queries,), how many of them stood in the ranking before.
        repeats: Where they stand; None where documents are not found by id, query by query.
        counts_repeats: Whether the items hold them as further hits.
        lengths: How long the retrieved items are; None where only their ids are known.
        coverage: Counts what is covered of pieces; None where no piece can be covered in part.
        unplaced: How many retrieved items could not be compared with a span, because their place is not known.
        ambiguous: How many items were located at the first of several places where their text stands.
    """

    __slots__ = (
        "_credits",
        "_fitting",
        "_hits",
        "_ideal",
        "_n_relevant",
        "_with_repeats",
        "additions",
        "ambiguous",
        "counts_repeats",
        "coverage",
        "items",
        "lengths",
        "n_repeated",
        "n_retrieved",
        "places",
        "qrels",
        "repeats",
        "unplaced",
    )

    def __init__(
        self,
        qrels: Qrels,
        items: Items,
        n_retrieved: IntArray,
        n_repeated: IntArray,
        *,
        places: Places | None = None,
        additions: Additions | None = None,
    ) -> None:
        self.qrels = qrels
        self.items = items
        self.places: Places | Items = items if places is None else places
        self.additions = additions
        self.n_retrieved = n_retrieved
        self.n_repeated = n_repeated
        self.repeats: Repeats | None = None
        self.counts_repeats = False
        self.lengths: Lengths | None = None
        self.coverage: Coverage | None = None
        self.unplaced = self.ambiguous = 0
        self._with_repeats: dict[str, JudgedRun] = {}
        self._fitting: dict[Budget, IntArray] = {}
        self._credits: Credits | None = None
        self._hits: dict[float | None, Hits] = {}
        self._n_relevant: dict[float | None, FloatArray] = {}
        self._ideal: dict[bool, tuple[IntArray, FloatArray, IntArray]] = {}

    def with_repeats(self, rule: str) -> JudgedRun:
        """Return what is judged if documents that are retrieved again are treated by a rule: see `Rules.repeats`."""
        # Of pieces there are no repeats to count: what satisfies one again is another question than which id it has.
        if rule in {"ignore", "error"} or self.places is not self.items or not self.n_repeated.any():
            return self
        if rule not in self._with_repeats:
            # Imported here, because who has no repeats, or ignores them, never needs it.
            from retrieval_metrics.judging.repeats import collapsed, counted  # noqa: PLC0415

            self._with_repeats[rule] = counted(self) if rule == "count" else collapsed(self)
        return self._with_repeats[rule]

    @property
    def n_queries(self) -> int:
        """How many queries are judged."""
        return len(self.qrels.queries)

    def first(self, k: int | Budget | None) -> Cut:
        """Return the cut-off as a number of items: for a budget, how many fit, query by query.

        Raises:
            ValueError: If the budget cannot be counted, because the lengths of the items are not known.
        """
        if k is None or isinstance(k, int):
            return k
        if k not in self._fitting:
            if self.lengths is None:
                raise no_lengths(k)
            self._fitting[k] = self.lengths.fitting(k)
        return self._fitting[k]

    def per_query(self, query: IntArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the sum of the weights (or the count) of each query, shape (queries,)."""
        return np.bincount(query, weights, minlength=self.n_queries).astype(np.float64, copy=False)

    def n_relevant(self, rel: float | None = None) -> FloatArray:
        """Return how many groups of each query are needed: those with a document relevant at threshold `rel`."""
        if rel not in self._n_relevant:
            needed = self.qrels.group_query[is_relevant(self.qrels.group_grade, rel)]
            self._n_relevant[rel] = self.per_query(needed)
        return self._n_relevant[rel]

    def relevant_items(self, k: Cut, rel: float | None = None) -> IntArray:
        """Return the query of each distinct relevant item among the first `k` retrieved."""
        wanted = is_relevant(self.places.grade, rel)
        if k is not None:
            wanted = wanted & within(self.places.query, self.places.rank, k)
        return self.places.query[wanted]

    def credits(self) -> Credits:
        """Return which groups the retrieved items satisfy, repeatedly or not."""
        if self._credits is None:
            self._credits = self._find_credits()
        return self._credits

    def _find_credits(self) -> Credits:
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
            self._hits[rel] = self._find_hits(rel)
        return self._hits[rel]

    def _find_hits(self, rel: float | None) -> Hits:
        items, found = self.items, self.credits()
        relevant = np.flatnonzero(is_relevant(found.grade, rel))
        item, grade = found.item[relevant], found.grade[relevant]
        flat = self.qrels.is_flat and self.places is items
        if not flat:
            # Each group is credited at the first item that satisfies it, with the highest grade the item has in it; one
            # item's credits stand highest grade first.
            group, place = found.group[relevant], self._place_of_item()[item]
            if self.places is not items:
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
        if flat:
            return Hits(query, rank, rank, grade, ordinal)
        crediting = np.diff(self._place_of_item()[item], prepend=-1) != 0
        places_so_far = np.cumsum(crediting)
        before_query = places_so_far[np.searchsorted(query, query, side="left")] - 1 if len(item) else places_so_far
        row = rank + ordinal - (places_so_far - before_query)
        if self.additions is not None:
            row -= count_above(query, rank, *self.additions.partial(rel))
        return Hits(query, rank, row, grade, ordinal)

    def _place_of_item(self) -> IntArray:
        """Return a number for the place of each item that several items share where they stand at one rank."""
        if self.places is self.items:
            return np.arange(len(self.items.rank))
        new = np.diff(self.items.query, prepend=-1).astype(bool) | np.diff(self.items.rank, prepend=0).astype(bool)
        return np.cumsum(new)

    def judged_rows(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return query, rank and row of every judged item in the expanded ranking, hit or miss, in no order."""
        places, hits = self.places, self.hits()
        if self.qrels.is_flat and places is self.items:
            return places.query, places.rank, places.rank
        new = np.flatnonzero(np.diff(hits.rank, prepend=0) | np.diff(hits.query, prepend=-1))
        partial = (hits.query[:0], hits.rank[:0]) if self.additions is None else self.additions.partial(None)
        missed = ~(
            is_among(places.query, places.rank, hits.query, hits.rank) | is_among(places.query, places.rank, *partial)
        )
        query, rank = places.query[missed], places.rank[missed]
        row = rank + count_above(query, rank, hits.query, hits.rank)
        row -= count_above(query, rank, hits.query[new], hits.rank[new]) + count_above(query, rank, *partial)
        hit_and_miss = (hits.query, query), (hits.rank, rank), (hits.row, row)
        found_query, found_rank, found_row = (np.concatenate(columns) for columns in hit_and_miss)
        return found_query, found_rank, found_row

    def ideal(self, *, of_documents: bool = False) -> tuple[IntArray, FloatArray, IntArray]:
        """Return the ideal ranking of every query: query, grade and position (from 1) of each relevant group.

        Args:
            of_documents: Rank every member of every group on its own, as if all of them were needed.
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
            self._ideal[of_documents] = (query, grade, ordinals(query))
        return self._ideal[of_documents]


def within(query: IntArray, rank: IntArray, k: int | IntArray) -> BoolArray:
    """Return which ranks are among the first k of their query."""
    return rank <= (k[query] if isinstance(k, np.ndarray) else k)


def cut_rows(query: IntArray, rank: IntArray, row: IntArray, k: int | IntArray) -> BoolArray:
    """Return which rows of the expanded ranking are left at a cut-off."""
    if isinstance(k, np.ndarray):
        return rank <= k[query]
    # The expanded ranking has rows of its own; where it is the ranking itself, one comparison is enough.
    return row <= k if row is rank else (row <= k) & (rank <= k)


def is_relevant(grade: FloatArray, rel: float | None) -> BoolArray:
    """Return which grades are relevant: above 0, or at least `rel` where a threshold is given."""
    return grade > 0 if rel is None else grade >= rel


def count_above(query: IntArray, rank: IntArray, other_query: IntArray, other_rank: IntArray) -> IntArray:
    """Return for each (query, rank) how many of the others, ordered by query and rank, stand above it in its query.

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
