"""Match the rows of a result with the rows that were expected, so that dropped ones are counted as failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic import BaseModel

from ragas_retrieval_metrics.result_rows import ScoredRow
from ragas_retrieval_metrics.rows import Row, get_query_text, get_row_fields
from retrieval_metrics.integration_api import warn

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ragas_retrieval_metrics.ragas_imports import DataTable, EvaluationDataset

# The rows that a result should have, how many there should be, or None if that is unknown.
ExpectedRows: TypeAlias = "int | Collection[object] | DataTable[Any] | EvaluationDataset | None"

# The text of the query of a row, and the texts of its cells in some columns.
RowKey: TypeAlias = tuple[str | None, ...]


def complete_rows(rows: Sequence[ScoredRow], columns: Sequence[str], expected: ExpectedRows) -> Sequence[ScoredRow]:
    """Return the rows of a result with missing rows added as failed, and with the fields that only the dataset has.

    Args:
        rows: The rows of a result.
        columns: The columns with the values of metrics.
        expected: The dataset, in whose order the rows are returned, or how many rows it has; None if it is unknown.
    """
    if expected is None:
        return rows
    n_expected = expected if isinstance(expected, int) else len(expected)
    if n_expected < len(rows):
        raise ValueError(f"the result has {len(rows)} rows, more than the {n_expected} expected")
    no_values: dict[str, float | None] = dict.fromkeys(columns)
    expected_fields = [] if isinstance(expected, int) else [row_fields(row) for row in expected]
    positions = _match_rows(rows, expected_fields)
    if len(positions) < len(rows):
        # The rows cannot be matched with those of the dataset, so the dropped ones are only counted.
        numbers = range(1, n_expected - len(rows) + 1)
        dropped_rows = []
        for number in numbers:
            dropped_rows.append(ScoredRow(Row(user_input=f"dropped row {number}"), no_values, is_unknown=True))
        return [*rows, *dropped_rows]
    row_at_position = {position: rows[index] for index, position in positions.items()}
    expected_rows = [get_row_fields(fields) for fields in expected_fields]
    completed = []
    for position, expected_row in enumerate(expected_rows):
        row = row_at_position.get(position)
        if row is None:
            row = ScoredRow(Row(user_input=expected_row.user_input), no_values)
        completed.append(row._replace(row=row.row.filled(expected_row)))
    return completed


def row_fields(row: object) -> Mapping[str, Any]:
    """Return the fields of a row of a dataset; a text is its query, and anything else has none."""
    if isinstance(row, str):
        return {"user_input": row}
    if isinstance(row, BaseModel):
        return dict(row)
    if isinstance(row, Mapping):
        return row
    return {}


@dataclass(frozen=True)
class _Rows:
    """The rows of a result or of a dataset, with their cells as text so that both can be compared."""

    fields: Sequence[Mapping[str, Any]]
    cells: Sequence[Mapping[str, str]]

    @classmethod
    def from_fields(cls, fields: Sequence[Mapping[str, Any]]) -> _Rows:
        return cls(fields, [_cells_as_text(row) for row in fields])

    def columns(self) -> set[str]:
        """Return the columns in which at least one row has a value."""
        return set().union(*self.cells)

    def values(self, column: str) -> set[str | None]:
        """Return the different values of a column; None among them if a row has none."""
        return {cells.get(column) for cells in self.cells}

    def indices_by_key(self, columns: Sequence[str], excluded: Collection[int]) -> dict[RowKey, list[int]]:
        """Return the indices of the rows that are not excluded, by the text of their query and some of their cells."""
        indices: dict[RowKey, list[int]] = {}
        for index, row in enumerate(self.fields):
            if index not in excluded:
                key = (get_query_text(row), *map(self.cells[index].get, columns))
                indices.setdefault(key, []).append(index)
        return indices


def _cells_as_text(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a row by column, as the texts that a file would hold; empty cells are left out."""
    cells = {}
    for column, value in fields.items():
        text = str(value.tolist() if hasattr(value, "tolist") else value)
        if text not in {"", "None", "nan"}:
            cells[column] = text
    return cells


class _Pairing(NamedTuple):
    """The rows that share a key: their indices in the result, and their positions in the dataset."""

    indices: list[int]
    positions: list[int]

    def is_guess(self, rows: Sequence[ScoredRow]) -> bool:
        """Return whether the pairs are guessed although they matter: values differ, or one of the rows was dropped."""
        if len(self.positions) <= 1:
            return False
        distinct_scores = {repr(rows[index].scores) for index in self.indices}
        is_interchangeable = len(self.indices) == len(self.positions) and len(distinct_scores) == 1
        return not is_interchangeable


def _match_rows(rows: Sequence[ScoredRow], expected: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the position in the dataset of each row of the result, by the index of the row.

    Rows are missing if the dataset has their query less often than the result.
    """
    # Rows finish in any order, so rows with the same query are told apart by the columns that both sides have and that
    # were not changed. If these are equal too, rows are paired in their order, which is a guess.
    result = _Rows.from_fields([row.fields for row in rows])
    dataset = _Rows.from_fields(expected)
    shared = (result.columns() & dataset.columns()) - set(rows[0].scores)
    unchanged = [column for column in shared if result.values(column) <= dataset.values(column)]
    positions: dict[int, int] = {}
    guesses: list[str | None] = []
    for columns in (unchanged, []):
        free_positions = dataset.indices_by_key(columns, excluded=set(positions.values()))
        unmatched_rows = result.indices_by_key(columns, excluded=set(positions))
        for key, indices in unmatched_rows.items():
            pairing = _Pairing(indices, free_positions.get(key, []))
            if pairing.is_guess(rows):
                guesses.append(rows[indices[0]].row.user_input)
            positions.update(zip(pairing.indices, pairing.positions, strict=False))
    if guesses:
        warn(
            f"rows with the same query are ambiguous, such as those of {guesses[0]!r} ({len(guesses)} in all), "
            "so they are paired by the order in which they finished; return an ID, or the reference columns",
            host="ragas",
        )
    return positions
