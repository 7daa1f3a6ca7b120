"""The judgments and the ranking that a metric compares in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragas_retrieval_metrics.references import as_items, as_pieces
from ragas_retrieval_metrics.row import FIELDS

if TYPE_CHECKING:
    from ragas_retrieval_metrics.names import By
    from ragas_retrieval_metrics.references import References
    from ragas_retrieval_metrics.row import Row


class RowToScore(NamedTuple):
    """The judgments and the ranking of a row.

    Attributes:
        kind: `ids` or `texts`.
        judgments: The judgments; None if they are unknown.
        ranking: What was retrieved; None if it is unknown.
    """

    kind: By
    judgments: Any
    ranking: Any


def compared(row: Row, by: By, references: References | None) -> RowToScore:
    """Return what is compared in a row, in the shapes of the core.

    Args:
        row: The row, read.
        by: Ids, texts, or what the row has.
        references: The judgments of all queries, and possibly what was retrieved; None takes those of the row.

    Raises:
        ValueError: If the row has only fields of the other kind, so that nothing could be compared.
        TypeError: If something in it has the wrong type.
    """
    items = None if references is None else references.items_of(row)
    if references is not None and items is not None:
        kind, judgments = row.kind(by), references.of_query(row)
        column = getattr(row, FIELDS[kind][1])
        if column is not None:  # as converted, or changed since
            judgments = as_pieces(column) if kind == "texts" else column
        return RowToScore(kind, judgments, items)
    kind, ranking, judgments = row.pair(by, has_qrels=references is not None)
    if references is not None:
        judgments = references.of_query(row)
    if kind == "texts":
        judgments = None if judgments is None else as_pieces(judgments)
        ranking = None if ranking is None else as_items(ranking)
    return RowToScore(kind, judgments, ranking)
