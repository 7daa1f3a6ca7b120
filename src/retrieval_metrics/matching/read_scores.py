"""Remember what was read of a caller's long mappings of scores, by which a later change of them is found."""

from __future__ import annotations

from bisect import bisect_left
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import DocumentId


class ReadScores:
    """What was read of the mappings of many queries, in columns, because objects for each query would take too long.

    Attributes:
        documents: The judged documents of all queries.
        query_positions: The position of the query of each mapping.
        totals: The sum of the scores of each mapping.
        mappings: The mappings, until `take_mappings` takes them.
        last_documents: The last document of each, which is another one after any insertion.
        ends: Where the judged documents of each end in the two following lists.
        positions: The positions in `documents` of the judged documents with a score.
        scores: The scores of these.
    """

    def __init__(self, documents: Sequence[Any]) -> None:
        """Begin without a mapping."""
        self.documents = documents
        self.query_positions: list[int] = []
        self.totals: list[Any] = []
        self.mappings: list[dict[Any, Any]] = []
        self.last_documents: list[DocumentId] = []
        self.ends: list[int] = []
        self.positions: list[int] = []
        self.scores: list[Any] = []

    def __len__(self) -> int:
        return len(self.query_positions)

    def add(self, query: int, ranking: dict[Any, Any], total: Any, positions: list[int], scores: list[Any]) -> None:
        """Remember a mapping, of which the sum and the scores of the judged documents were read."""
        self.query_positions.append(query)
        self.totals.append(total)
        self.mappings.append(ranking)
        if positions:
            self.positions += positions
            self.scores += scores
        self.ends.append(len(self.positions))

    def take_mappings(self) -> list[dict[Any, Any]]:
        """Return the mappings, and keep only what tells whether they are changed."""
        mappings = self.mappings
        # All in one pass, because looking at each when it is added takes several times as long.
        self.last_documents = list(map(next, map(reversed, mappings)))
        self.mappings = []
        return mappings

    def find_row(self, query_position: int) -> int | None:
        """Return the row of the mapping of a query; None if nothing was read of it."""
        row = bisect_left(self.query_positions, query_position)
        if row == len(self.query_positions) or self.query_positions[row] != query_position:
            return None
        return row

    def differs(self, row: int, ranking: dict[Any, Any]) -> bool:
        """Return whether a mapping is not what was remembered in a row."""
        if not ranking or next(reversed(ranking)) != self.last_documents[row]:
            return True
        start = self.ends[row - 1] if row else 0
        for index in range(start, self.ends[row]):
            if ranking.get(self.documents[self.positions[index]]) != self.scores[index]:
                return True
        return bool(sum_scores(ranking) != self.totals[row])


def sum_scores(scores: dict[Any, Any]) -> Any:
    """Return the sum; as text if it equals nothing, such as that of infinite scores, or if there is none."""
    try:
        total = sum(scores.values())
        is_comparable = isfinite(total)
    except (TypeError, OverflowError) as error:
        return str(error)
    return total if is_comparable else str(total)
