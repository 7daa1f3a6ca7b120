"""The judgments and the ranking that a metric compares in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ragas_retrieval_metrics.references import as_items, as_pieces
from ragas_retrieval_metrics.rows import FIELDS

if TYPE_CHECKING:
    from ragas_retrieval_metrics.names import By
    from ragas_retrieval_metrics.references import References
    from ragas_retrieval_metrics.rows import Row


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
    kind = row.kind(by)
    ranking, judgments = (getattr(row, field) for field in FIELDS[kind])
    items = None if references is None else references.items_of(row)
    if items is None:
        _require_fields(row, kind, by, judged=references is not None)
        judgments = judgments if references is None else references.of_query(row)
    if kind == "texts":
        judgments = None if judgments is None else as_pieces(judgments)
        ranking = None if ranking is None else as_items(ranking)
    if references is None or items is None:
        return RowToScore(kind, judgments, ranking)
    # A column is there as converted, or changed since.
    return RowToScore(kind, references.of_query(row) if judgments is None else judgments, items)


def _require_fields(row: Row, kind: By, by: By, *, judged: bool) -> None:
    """Raise if a row has only the fields of the other kind; the reference is not needed if it is judged otherwise."""
    other: By = "texts" if kind == "ids" else "ids"
    for field, instead in zip(FIELDS[kind][: 1 if judged else 2], FIELDS[other], strict=False):
        if getattr(row, field) is None and getattr(row, instead) is not None:
            raise ValueError(
                f"row {row.query!r} has {instead} but no {field}, which by={by!r} compares; fill {field}, or "
                f"compare {other} on both sides with by={other!r}"
            )
