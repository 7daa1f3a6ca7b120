"""Read the judgments of a question from a cell of a table: a list written as text, or ids with a separator."""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.inputs.bare_values import list_advice, show_text
from retrieval_metrics.inputs.column_detection import RELEVANT_COLUMNS
from retrieval_metrics.inputs.id_checks import describe_invalid_id, is_in_brackets
from retrieval_metrics.inputs.judgment_rows import find_document_column, holds_judgment_rows, number_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

FORBIDDEN_COLUMN = "forbidden"
CELL_COLUMNS = (*RELEVANT_COLUMNS, FORBIDDEN_COLUMN)
# The separators that are recognised where every cell agrees. A comma is not: it also stands in names of files.
SEPARATORS = (";", "|", "\n")
COMMA = ","
# Passed as `separator=`, it says that each cell holds one id.
ONE_ID = ""
# Two texts with a blank between them: numpy prints arrays so, and Python would join the two.
_PRINTED_ARRAY = lazy_pattern(r"""['"]\s+['"]""")


def read_cells(
    rows: Sequence[Any], separator: str | None, *, is_table: bool, row_numbers: Sequence[int] | None = None
) -> list[Any]:
    """Return rows with the judgments that are text read as lists or grades.

    A column of documents, with one judgment in a row, is read like one that holds all judgments of a question.

    Args:
        rows: The rows of a dataset; what is not a mapping is returned as it is.
        separator: What stands between the ids of a cell; `""` if each cell holds one id; None if the cells show it.
        is_table: Whether the rows are those of a file or a DataFrame, whose cells are often text. In Python, where a
            list is a list, text is refused unless there is a separator; the text of a document is its id. A whole
            number in a table is the one id of its cell, and text where another cell holds text.
        row_numbers: The number of each row, for messages; None to count from 1.

    Raises:
        TypeError: If judgments in Python are text.
        ValueError: If the cells do not agree on a separator, a list cannot be read, a number is not whole, or a
            separator was passed that no cell needs.

    Warns:
        RetrievalWarning: If a separator was recognised rather than passed.
    """
    has_documents = holds_judgment_rows(rows)
    texts: list[str] = []
    for number, row in number_rows(rows, row_numbers):
        for column in _find_cell_columns(row, has_documents=has_documents):
            cell = row[column]
            if not isinstance(cell, str):
                continue
            if separator is None and not is_table:
                if column in CELL_COLUMNS:
                    raise TypeError(
                        f"row {number}: {column!r} is the bare string {show_text(cell)}; {list_advice(cell)}; or pass "
                        "what stands between the ids of a cell, separator=';', or '' if each cell holds one"
                    )
                continue
            texts.append(cell)
    plain_texts = [text for text in texts if not is_in_brackets(text.strip())]
    if separator:
        _require_use(separator, texts, plain_texts)
    if not texts:
        return _list_single_numbers(rows, row_numbers) if is_table else list(rows)
    if separator is None:
        separator = _find_separator(plain_texts)
    read_rows: list[Any] = []
    for number, row in number_rows(rows, row_numbers):
        columns = _find_cell_columns(row, has_documents=has_documents)
        if not columns:
            read_rows.append(row)
            continue
        read_row = dict(row)
        for column in columns:
            judgments = _read_cell(read_row[column], separator, f"row {number}, {column!r}")
            if column not in CELL_COLUMNS and isinstance(judgments, list) and len(judgments) == 1:
                (judgments,) = judgments  # the one document of a row
            read_row[column] = judgments
        read_rows.append(read_row)
    return read_rows


def _list_single_numbers(rows: Sequence[Any], row_numbers: Sequence[int] | None) -> list[Any]:
    """Return the rows of a table without text in which a number that is the one id of a cell stands in a list."""
    read_rows: list[Any] = []
    for number, row in number_rows(rows, row_numbers):
        single_ids = {}
        for column in _find_cell_columns(row, has_documents=False):
            cell = row[column]
            if isinstance(cell, (int, float)):  # spreadsheets and pandas store a whole number as 7.0
                single_ids[column] = [int(_as_text_id(cell, f"row {number}, {column!r}"))]
        read_rows.append({**row, **single_ids} if single_ids else row)
    return read_rows


def _find_cell_columns(row: Any, *, has_documents: bool) -> list[str]:
    """Return the columns of a row that hold judgments."""
    if not isinstance(row, Mapping):
        return []
    columns = [column for column in CELL_COLUMNS if column in row]
    if has_documents:
        document_column = find_document_column(row)
        if document_column is not None:
            columns.append(document_column)
    return columns


def require_valid_ids_in_rows(rows: Sequence[Any], row_numbers: Sequence[int] | None = None) -> None:
    """Raise if an id in the judgments of a file is not valid, with its row and column.

    Args:
        rows: The rows as `read_cells` returns them.
        row_numbers: The number of each row, for messages; None to count from 1.

    Raises:
        ValueError: If an id is empty, begins or ends with a blank, or holds a control character.
    """
    has_documents = holds_judgment_rows(rows)
    for number, row in number_rows(rows, row_numbers):
        for column in _find_cell_columns(row, has_documents=has_documents):
            judgments = row[column]
            ids = [judgments] if isinstance(judgments, str) else judgments
            if not isinstance(ids, (list, dict)):
                continue
            for document_id in ids:
                if isinstance(document_id, str):
                    fault = describe_invalid_id(document_id)
                    if fault is not None:
                        raise ValueError(f"row {number}, {column!r}: {document_id!r} {fault}")


def refuse_separator(separator: str | None) -> None:
    """Raise if a separator was passed for a dataset without cells of text.

    Raises:
        ValueError: If it was.
    """
    if separator is not None:
        raise ValueError(
            f"separator={separator!r} splits the ids in cells of text, and this dataset has no such cells; leave it out"
        )


def _require_use(separator: str, texts: Sequence[str], plain_texts: Sequence[str]) -> None:
    """Raise if no cell is text, or if the cells hold another separator than the one passed."""
    if not texts:
        refuse_separator(separator)
    if any(separator in text for text in plain_texts):
        return
    for text in plain_texts:
        for other in (*SEPARATORS, COMMA):
            if other in text.strip():
                raise ValueError(
                    f"separator={separator!r} occurs in no cell, but {other!r} does, as in {text!r}; pass "
                    f"separator={other!r} if it stands between ids, separator='' if each cell holds one id"
                )


def _find_separator(texts: Sequence[str]) -> str:
    """Return the separator on which all cells agree; `""` if no cell holds one.

    Raises:
        ValueError: If there are several, or only commas, which also stand in names.
    """
    cell_by_separator: dict[str, str] = {}
    for text in texts:
        for separator in SEPARATORS:
            if separator in text.strip():
                cell_by_separator.setdefault(separator, text)
    if len(cell_by_separator) > 1:
        examples = " and ".join(map(repr, cell_by_separator.values()))
        raise ValueError(
            f"cells hold different separators, as in {examples}; pass the one between ids, as in "
            f"separator={next(iter(cell_by_separator))!r}, or separator='' if each cell holds one id"
        )
    if cell_by_separator:
        ((separator, example),) = cell_by_separator.items()
        warn(
            f"cells such as {example!r} are read as lists of ids; pass separator={separator!r} if that is right, "
            "separator='' if each holds one id"
        )
        return separator
    for text in texts:
        if COMMA in text.strip():
            raise ValueError(
                f"the cell {text!r} can hold one id or several; pass separator=',' if several, separator='' if one"
            )
    return ONE_ID


def _read_cell(cell: Any, separator: str, where: str) -> Any:
    """Return the judgments in a cell. A cell of text holds ids that are text, so a number beside it is one too."""
    if isinstance(cell, (int, float)):
        return [_as_text_id(cell, where)]
    if not isinstance(cell, str):
        return cell
    if is_in_brackets(cell.strip()):
        return read_literal(cell.strip(), where)
    parts = [cell] if separator == ONE_ID else cell.split(separator)
    return [part.strip() for part in parts if part.strip()]


def read_literal(text: str, where: str) -> Any:
    """Return the judgments in a list that was written as text, as JSON or as Python prints it.

    Raises:
        ValueError: If it is no such list.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _read_python_literal(text, where)
    if isinstance(value, str):  # a text in parentheses
        value = [value]
    try:
        return _with_text_ids(value, where)
    except RecursionError as error:
        raise ValueError(f"{where}: {show_text(text)} is nested too deep to hold judgments") from error


def _read_python_literal(text: str, where: str) -> Any:
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(
            f"{where}: {show_text(text)} cannot be read as a list; write it with json.dumps(list)"
        ) from error
    if _PRINTED_ARRAY.search(text) and not _holds_a_blank(value):
        raise ValueError(
            f"{where}: {show_text(text)} is a printed array without commas; write its list with json.dumps(list)"
        )
    return value


def _holds_a_blank(value: Any) -> bool:
    """Return whether a list holds a text of blanks alone, which looks like what stands between two texts."""
    return isinstance(value, (list, tuple)) and any(isinstance(entry, str) and not entry.strip() for entry in value)


def _with_text_ids(value: Any, where: str) -> Any:
    """Return judgments in which each id is text; objects that describe a quote or a span stay as they are."""
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            return value
        return {_as_text_id(document, where): grade for document, grade in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(_as_text_id(document, where) for document in value)
    if isinstance(value, (list, tuple)):
        return [_with_text_ids(element, where) for element in value]
    return _as_text_id(value, where)


def _as_text_id(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():  # spreadsheets store whole numbers so
        return str(int(value))
    raise ValueError(f"{where}: {value!r} is not an id; ids are text or whole numbers")
