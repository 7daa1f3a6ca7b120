"""Refuse tables that this package wrote for people, where reading them as questions or judgments would be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.inputs.column_detection import COUNT_COLUMN, DOCUMENT_COLUMNS, FAILURE_COLUMNS, RELEVANT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.inputs.column_detection import Columns


class _OwnTable(NamedTuple):
    """A table of `to_pandas`: the columns by which it is recognised, what it holds, and what to read instead."""

    columns: frozenset[str]
    meaning: str


_TABLES_WITHOUT_QUESTIONS = (
    _OwnTable(
        frozenset({"query", "document", "best_rank", "found_by"}),
        "the documents of a pool, not questions; grade them with pool.grade(model), or add a column 'grade' and read "
        "it with read_qrels",
    ),
    _OwnTable(
        frozenset({"query", "document", "grade", "grader", "kind", "reason", "quotes"}),
        "grades without the texts of the questions; read them with read_qrels",
    ),
    _OwnTable(
        frozenset({"query", *FAILURE_COLUMNS}),
        "the failures of the worst queries, which are some of their judgments; read the file or object that was "
        "evaluated instead",
    ),
)


def refuse_own_table(names: Iterable[object], columns: Columns | None = None) -> None:
    """Raise if the columns are those of a table that this package wrote, and that holds no questions.

    Args:
        names: The names of all columns.
        columns: The columns that the user named, by role.

    Raises:
        ValueError: If they are, with what to read instead.
    """
    present_names = set(names)
    if COUNT_COLUMN in present_names:
        _refuse_counts(present_names, columns or {})
    for table in _TABLES_WITHOUT_QUESTIONS:
        if table.columns <= present_names:
            column_list = ", ".join(map(repr, sorted(table.columns)))
            raise ValueError(f"the columns {column_list} are those of to_pandas() for {table.meaning}")


def _refuse_counts(present_names: set[object], columns: Columns) -> None:
    """Raise if the only column that could hold the judgments counts the relevant documents."""
    named = {columns[role] for role in ("relevant", "document") if columns.get(role) is not None}
    if named and COUNT_COLUMN not in named:
        return
    if not named and not present_names.isdisjoint([*RELEVANT_COLUMNS, *DOCUMENT_COLUMNS]):
        return
    raise ValueError(
        f"{COUNT_COLUMN!r} counts the relevant documents, as EvaluationSet.to_pandas() does, and does not name them; "
        "to write questions and read them again, use questions.save('questions.json') and rm.load('questions.json')"
    )
