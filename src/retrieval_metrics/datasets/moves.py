"""The first documents of one query before and after a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics.reports.display_text import shorten
from retrieval_metrics.reports.numbers import format_count, format_value
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId


class DocumentMove(NamedTuple):
    """A document with its rank before and after, None where it was not retrieved, and its text."""

    document: DocumentId
    rank_before: int | None
    rank_after: int | None
    text: str


class MovedQueries(list[tuple["QueryId", float]], Printed):
    """The queries that changed most, each with its value, as a printable list.

    Attributes:
        column: What the values are, such as `rbo`.
    """

    def __init__(self, column: str, values: Iterable[tuple[QueryId, float]]) -> None:
        """Set what is shown."""
        super().__init__(values)
        self.column = column

    def _tables(self) -> list[Table]:
        rows = [[str(query), format_value(value)] for query, value in self]
        return [Table(["query", self.column], rows)]

    def __str__(self) -> str:  # list is the first base, so its method would be inherited
        return Printed.__str__(self)


class Moves(Printed):
    """The first documents of one query before and after.

    Attributes:
        query: The query.
        text: Its text; empty if unknown.
        rows: Each document with its rank before and after, None where it was not retrieved, and its text.
    """

    def __init__(self, query: QueryId, text: str, rows: Sequence[DocumentMove]) -> None:
        """Set what is shown."""
        self.query = query
        self.text = text
        self.rows = list(rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per document: its rank before and after, missing if not retrieved, and text.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        frame = to_data_frame([move._asdict() for move in self.rows], columns=list(DocumentMove._fields))
        return frame.astype({"rank_before": "Int64", "rank_after": "Int64"})

    def __repr__(self) -> str:
        return f"<Moves of {self.query!r}: {format_count(len(self.rows), 'document')}>"

    def _tables(self) -> list[Table]:
        shows_texts = any(move.text for move in self.rows)
        header = ["document", "before", "after"]
        if shows_texts:
            header.append("text")
        rows = []
        for move in self.rows:
            row = [str(move.document), _format_rank(move.rank_before), _format_rank(move.rank_after)]
            if shows_texts:
                row.append(shorten(move.text))
            rows.append(row)
        title = f"{self.query}: {self.text}" if self.text else str(self.query)
        return [Table(header, rows, title=title, words=(0, 3) if shows_texts else (0,))]


def _format_rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)
