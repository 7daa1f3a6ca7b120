"""Tell a header from a row of values, and say how to read a file that has no header."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from retrieval_metrics.files.formats import POSITIONAL_FORMAT_HINT
from retrieval_metrics.inputs.column_detection import COLUMN_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.column_detection import Columns

_DIGITS = re.compile(r"\d+")


# The positions of the columns of judgments and runs, and of questions, as examples in messages.
POSITIONS_OF_RANKINGS = "columns={'query': 1, 'document': 2}; or " + POSITIONAL_FORMAT_HINT
POSITIONS_OF_QUESTIONS = "columns={'id': 1, 'query': 2, 'relevant': 3}"


def describe_reading_without_header(columns: Sequence[str], example: str = POSITIONS_OF_RANKINGS) -> str:
    """Return how to read a file without a header, for messages."""
    values = ", ".join(map(repr, columns))
    return (
        f"its first line holds the values {values} and no names; pass header=False, and the positions of its columns, "
        f"such as {example}"
    )


def seems_to_hold_values(header: Sequence[str]) -> bool:
    """Return whether a first line holds values rather than names: a number is not a name.

    Numbers from 0 or 1 on are names that pandas gives to columns.

    Example:
        >>> seems_to_hold_values(["1", "70", "82.5"]), seems_to_hold_values(["0", "1", "2"])
        (True, False)
    """
    names_of_pandas = [[str(number + start) for number in range(len(header))] for start in (0, 1)]
    if list(header) in names_of_pandas:
        return False
    return any(map(_is_number, header))


def require_names(
    header: Sequence[str],
    first_row: Sequence[str],
    columns: Columns | None,
    source: str,
    example: str = POSITIONS_OF_RANKINGS,
) -> None:
    """Raise if a first line holds values, or the user named a column by such a value: the row would then be lost.

    Args:
        header: The first line.
        first_row: The line after it; empty if there is none.
        columns: The columns that the user named, by role.
        source: The name of the file, for messages.
        example: How its columns can be given by position, for messages.
    """
    named_by_user = {str(name) for name in (columns or {}).values() if name is not None}
    suspects = [name for name in header if name in named_by_user]
    has_usual_name = any(_is_usual(name) for name in header)
    if not columns and not has_usual_name:
        suspects = [name for name in header if name.strip()]  # a line may end with a separator
    if not suspects:
        return
    value_below: Mapping[str, str] = dict(zip(header, first_row, strict=False))
    if seems_to_hold_values(header) or any(_is_like(name, value_below.get(name, "")) for name in suspects):
        raise ValueError(f"{source} seems to have no header: {describe_reading_without_header(header, example)}")


def _is_usual(name: str) -> bool:
    simplified = name.strip().lower()
    return any(simplified in usual_names for usual_names in COLUMN_NAMES.values())


def _is_like(name: str, value: str) -> bool:
    """Return whether a name is like the value below it: "q1" above "q2" is a value, "query" above "q2" a name."""
    if name == value:
        return True
    shape = _reduce_digits(name)
    return shape != name and shape == _reduce_digits(value)


def _reduce_digits(text: str) -> str:
    return _DIGITS.sub("0", text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
