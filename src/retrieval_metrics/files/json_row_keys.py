"""Refuse JSON objects that hold a list of rows where judgments and runs map each query to its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, QUERY_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping


def refuse_rows_under_key(content: Mapping[Any, Any], name: str) -> None:
    """Raise if a JSON object holds a list of rows under a key, which would be read as a query of that name.

    Args:
        content: The object of a file that should map each query to its documents.
        name: The name of the file, for messages.

    Raises:
        ValueError: If its only key for rows holds none, or holds questions, or rows with a query and a document each.
    """
    # Imported here because few files are objects, and this reader knows questions.
    from retrieval_metrics.inputs.question_rows import find_rows_key, holds_only_blank_rows, holds_question_rows

    key = find_rows_key(content)
    if key is None:
        return
    rows = content[key]
    if holds_only_blank_rows(content):
        raise ValueError(
            f"{name} is empty: {key!r} holds no rows; read_questions(path) reads a file with rows of questions there, "
            "and judgments or a run map each query to its documents: {'q1': ['d1', 'd7']}"
        )
    if all(isinstance(row, dict) and _names_query_and_document(row) for row in rows):
        raise ValueError(
            f"{name} holds rows with a query and a document in {key!r}; write this list alone, as a JSON array, "
            "which is read as one row per document; if they have the texts of questions, read_questions(path) reads it"
        )
    if holds_question_rows(content):
        raise ValueError(f"{name} holds rows of questions in {key!r}, which read_questions(path) reads")


def _names_query_and_document(row: Mapping[str, Any]) -> bool:
    names = {name.strip().lower() for name in row}
    return not names.isdisjoint(QUERY_COLUMNS) and not names.isdisjoint(DOCUMENT_COLUMNS)
