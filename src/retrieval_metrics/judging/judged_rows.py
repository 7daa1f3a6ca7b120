"""The columns of a judged run, and functions over their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics.checks import BoolArray, Cut, DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.judging.matching.places import Doubt


class Items(NamedTuple):
    """The judged documents or pieces that were retrieved, each at its first rank; ordered by query, rank and grade.

    With judgments by id there is one judged document per rank. With pieces such as quotes, one item may satisfy several
    at its rank.

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
    """

    query: IntArray
    rank: IntArray
    grade: FloatArray


class Additions(NamedTuple):
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


class Repeats(NamedTuple):
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
NO_REPEATS = Repeats(_NONE, _NONE, _NONE)


class Unplaced(NamedTuple):
    """A retrieved item whose place in its source is unknown, though a span of the source is judged.

    Attributes:
        query: The query it was retrieved for.
        document: Its id.
        doubt: Why: `"no offsets"`, `"unchecked"`, `"wrong length"`, `"not in the source"` or `"another source"`.
    """

    query: QueryId
    document: DocumentId | None
    doubt: Doubt


class Hits(NamedTuple):
    """The hit rows of the expanded ranking, ordered by query and row.

    An item that is the first to satisfy c >= 1 groups takes c hit rows, highest grade first. An item that extends the
    covered part of a piece without completing one takes no row. Any other item takes one miss row. With flat judgments
    by id, the expanded ranking is the ranking itself, and row equals rank.

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
