"""The tables that a judged run consists of, as records of columns: items, duplicates, hits and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from retrieval_metrics.matching.rank_rows import cut_rows, is_relevant

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, Cut, DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.qrels import Qrels

# Why an item has no location: it has no offsets; nothing confirms its offsets; its offsets do not fit the length of its
# text; its text is not in its source; or no item of the run names a judged source.
UnlocatedReason: TypeAlias = Literal["no offsets", "unchecked", "wrong length", "not in the source", "another source"]


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
        document = document[order]
        rank = rank[order]
        return cls(
            document=document,
            query=query[order],
            rank=rank,
            grade=qrels.document_grade[document],
            tied=np.ones_like(rank) if tied is None else tied[order],
            tied_from=rank if tied_from is None else tied_from[order],
        )


class JudgedRanks(NamedTuple):
    """The ranks that hold a judged item, each once, ordered by query and rank.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank in the ranking, from 1.
        grade: Largest grade of the item.
        smallest_grade: Smallest grade of the item, which may be relevant and forbidden.
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
        """Return query and rank of the items that only extend the covered part of a relevant piece.

        They complete no piece, so they have no row in the expanded ranking.
        """
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

    def judged(self) -> Duplicates:
        """Return the duplicates of judged documents."""
        mask = self.document >= 0
        return Duplicates(self.query[mask], self.rank[mask], self.document[mask])


_EMPTY = np.zeros(0, dtype=np.int64)
NO_DUPLICATES = Duplicates(_EMPTY, _EMPTY, _EMPTY)


class Unlocated(NamedTuple):
    """A retrieved item whose position in its source is unknown, though a span of the source is judged.

    Attributes:
        query: The query it was retrieved for.
        document: Its id.
        reason: `"no offsets"`, `"unchecked"`, `"wrong length"`, `"not in the source"` or `"another source"`.
    """

    query: QueryId
    document: DocumentId | None
    reason: UnlocatedReason


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

    def take(self, rows: IntArray) -> Credits:
        """Return some rows, in the order given."""
        return Credits(self.item[rows], self.group[rows], self.grade[rows])


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
        """Return the hits within cutoff `k`, which limits both items and rows; a budget limits items only."""
        if k is None:
            return self
        return self.where(cut_rows(self.query, self.rank, self.row, k))


class SettledRows(NamedTuple):
    """The rows of the expanded ranking whose gain is settled, in no particular order.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        rank: Rank of the item, from 1.
        row: Row in the expanded ranking, from 1.
    """

    query: IntArray
    rank: IntArray
    row: IntArray


class IdealRanking(NamedTuple):
    """The relevant groups of every query, best first.

    Attributes:
        query: Position of the query in `Qrels.queries`.
        grade: Grade of the group.
        position: Its position in the ideal ranking of the query, from 1.
    """

    query: IntArray
    grade: FloatArray
    position: IntArray
