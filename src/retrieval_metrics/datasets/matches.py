"""Show which retrieved item satisfies which judgment, to check the matching before you trust a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.optional_packages import to_data_frame
from retrieval_metrics.evaluation.relevant_texts import RelevantTexts
from retrieval_metrics.inputs.pieces import Quote, Text
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.matching.common_queries import count_common_queries
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.reports.display_text import shorten
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.inputs.items import Relevant, RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.matching.matching_options import Matching

# The length to which cells are cut, because a quote may fill a page.
MAX_CELL_LENGTH = 60


class Match(NamedTuple):
    """One judged id or piece, and where it was found.

    Attributes:
        query: The query.
        relevant: The id, quote, text, span or property.
        grade: Its grade.
        rank: The rank of the item that satisfies it, or of the last of several that do so together; None if none does.
    """

    query: QueryId
    relevant: Relevant
    grade: float
    rank: int | None


class Matches(Printed):
    """All judged ids and pieces with the ranks that satisfy them, query by query.

    Attributes:
        rows: One `Match` for each judgment, in the order of the judgments.
    """

    def __init__(self, rows: Sequence[Match]) -> None:
        self.rows = tuple(rows)

    @property
    def missing(self) -> list[Match]:
        """The relevant judgments that no item satisfies."""
        return [row for row in self.rows if row.rank is None and row.grade > 0]

    def __iter__(self) -> Iterator[Match]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per judgment; the rank is missing if no item satisfies it.

        Raises:
            ImportError: If pandas is not installed; the message contains the command.
        """
        frame = to_data_frame(self.rows, Match._fields)
        return frame.astype({"rank": "Int64"})

    def __repr__(self) -> str:
        return f"<Matches: {len(self.rows)} judged, {len(self.missing)} relevant ones not found>"

    def _tables(self) -> list[Table]:
        cells = []
        for row in self.rows:
            rank = "-" if row.rank is None else str(row.rank)
            query = shorten(str(row.query), MAX_CELL_LENGTH)
            cells.append([query, _format_judged(row.relevant), f"{row.grade:g}", rank])
        return [Table(["query", "judged", "grade", "rank"], cells, words=(0, 1))]


def _format_judged(judged: Relevant) -> str:
    """Return a judged id or piece as other tables show it: quotes and texts by their beginning in quotation marks."""
    if isinstance(judged, Quote | Text):
        return f"“{shorten(judged.text, MAX_CELL_LENGTH)}”"
    return shorten(RelevantTexts.name(judged), MAX_CELL_LENGTH)


def match(qrels: QuestionsOrQrels, run: RunMapping, match: str | Key | Matching = "id") -> Matches:
    """Find which retrieved item satisfies which judgment, exactly as `evaluate` does.

    Args:
        qrels: The judgments, as for `evaluate`.
        run: The rankings, as for `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.

    Raises:
        TypeError: If judgments or rankings have the wrong type.
        ValueError: If the run is empty or has no query in common with the judgments, or an option is unknown.

    Example:
        >>> from retrieval_metrics import Quote, Retrieved
        >>> qrels = {"q": [Quote("wraps a block"), "c9"]}
        >>> print(match(qrels, {"q": [Retrieved("c1", "Next."), Retrieved("c2", "It wraps a block.")]}))
        query  judged           grade  rank
        q      “wraps a block”      1     2
        q      c9                   1     -
    """
    resolved_qrels = as_qrels(qrels)
    count_common_queries(run, resolved_qrels)
    items = judge(resolved_qrels, run, match, STANDARD.order).items
    rank_by_document = dict(zip(items.document.tolist(), items.rank.tolist(), strict=True))
    judgments = zip(resolved_qrels.document_query.tolist(), resolved_qrels.document_grade.tolist(), strict=True)
    rows = []
    for document, (query, grade) in enumerate(judgments):
        rank = rank_by_document.get(document)
        rows.append(Match(resolved_qrels.queries[query], resolved_qrels.documents[document], grade, rank))
    return Matches(rows)
