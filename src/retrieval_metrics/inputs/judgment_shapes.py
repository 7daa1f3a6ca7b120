"""Refuse what looks like groups of judgments and is not: pairs of ids and grades, and rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, GRADE_COLUMNS, IGNORED_COLUMNS, QUERY_COLUMNS
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.inputs.judgments import NESTED_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

# Grades go up to 4 in every common scale; a larger number is taken for the id of a document.
_LARGEST_USUAL_GRADE = 4
_USUAL_GRADES = frozenset(range(_LARGEST_USUAL_GRADE + 1))
_USUAL_GRADES_AS_TEXT = frozenset(map(str, _USUAL_GRADES))
# The keys of a row that name a document.
_DOCUMENT_KEYS = frozenset([*DOCUMENT_COLUMNS, "id", "_id"])
_USUAL_KEYS = _DOCUMENT_KEYS.union(GRADE_COLUMNS, QUERY_COLUMNS, IGNORED_COLUMNS)


def require_groups(entries: Sequence[Any], owner: str) -> None:
    """Raise if the entries of nested judgments are rows, or pairs that cannot be groups of alternatives.

    Args:
        entries: The judgments of a query, some of them nested.
        owner: Whose they are, for the message: `"query 'q1'"`.

    Raises:
        TypeError: If they are dicts with a key for the document, or pairs of an id and a grade.
    """
    if all(isinstance(entry, Mapping) for entry in entries):
        _refuse_rows(entries, owner)
        return
    for entry in entries:
        if isinstance(entry, (list, tuple)) and _is_row_of_different_types(entry):
            raise _make_row_error(entry, owner)
    rows = _read_rows(entries)
    if rows is None:
        return
    is_tuple_of_numbers = isinstance(entries[0], tuple) and all(isinstance(value, Integral) for value in entries[0])
    if rows.have_grades and (rows.repeat_a_grade or rows.begin_alike or is_tuple_of_numbers):
        raise _make_row_error(entries[0], owner)


def require_no_pairs(qrels: Mapping[Any, Any]) -> None:
    """Raise if the groups of all queries together can only be pairs of ids and grades.

    In `[[70, 1], [71, 0]]` the second number could be a document. It is taken for a grade if every group of every query
    is such a pair, and none of the first numbers could be a grade.

    Raises:
        TypeError: If they are pairs.
    """
    entries: list[Any] = []
    owners: list[Any] = []
    for query, judgments_or_array in qrels.items():
        judgments = judgments_or_array
        if hasattr(judgments, "tolist"):
            judgments = judgments.tolist()
        if isinstance(judgments, (list, tuple)) and judgments:
            if not isinstance(judgments[0], NESTED_TYPES):
                return
            entries.extend(judgments)
            owners.extend([query] * len(judgments))
        elif judgments:
            return
    if len(entries) < 2:
        return
    rows = _read_rows(entries)
    if rows is not None and rows.have_grades and not rows.begin_with_a_grade:
        raise _make_row_error(entries[0], f"query {owners[0]!r}")


class _Rows(NamedTuple):
    """What lists of one length, which could be groups or rows of a table, have in common.

    Attributes:
        have_grades: Whether one of their columns, not the first, holds nothing but usual grades.
        repeat_a_grade: Whether a grade stands in that column twice. A document is rarely an alternative twice.
        begin_alike: Whether there are several and all begin with the same value, as rows of one query do.
        begin_with_a_grade: Whether one of them begins with what could be a grade, so that all could be small ids.
    """

    have_grades: bool
    repeat_a_grade: bool
    begin_alike: bool
    begin_with_a_grade: bool


def _read_rows(entries: Sequence[Any]) -> _Rows | None:
    """Return what the entries have in common; None if they are not lists of one length."""
    if not entries or not all(isinstance(entry, (list, tuple)) for entry in entries):
        return None
    length = len(entries[0])
    if length < 2 or any(len(entry) != length for entry in entries):
        return None
    grade_column = None
    for column in range(1, length):
        values = [entry[column] for entry in entries]
        if all(map(_is_usual_grade, values)):
            grade_column = values
    first_values = [entry[0] for entry in entries]
    return _Rows(
        have_grades=grade_column is not None,
        repeat_a_grade=grade_column is not None and len(set(map(str, grade_column))) < len(grade_column),
        begin_alike=len(entries) > 1 and length > 2 and len(set(map(repr, first_values))) == 1,
        begin_with_a_grade=any(map(_is_usual_grade, first_values)),
    )


def _is_usual_grade(value: Any) -> bool:
    if isinstance(value, str):
        return value in _USUAL_GRADES_AS_TEXT
    return isinstance(value, Real) and value in _USUAL_GRADES


def _is_row_of_different_types(entry: Sequence[Any]) -> bool:
    """Return whether an entry holds an id or a piece beside a number, as no group does."""
    has_name = any(isinstance(value, (str, Piece)) for value in entry)
    has_number = any(isinstance(value, Real) for value in entry)
    return has_name and has_number


def _make_row_error(entry: Sequence[Any], owner: str) -> TypeError:
    if len(entry) == 2:
        return TypeError(
            f"the judgments of {owner} hold pairs such as {entry!r}; pass dict(judgments) for documents with grades, "
            f"such as {{{entry[0]!r}: {entry[1]!r}}}, or sets for groups of alternatives"
        )
    return TypeError(
        f"the judgments of {owner} hold rows such as {entry!r}; pass {{document: grade}}, or sets for groups of "
        "alternatives"
    )


def _refuse_rows(entries: Sequence[Mapping[Any, Any]], owner: str) -> None:
    """Raise if dicts are rows of a table rather than groups of documents with grades."""
    keys = frozenset(entries[0])
    has_usual_key = bool(keys & (_DOCUMENT_KEYS | frozenset(GRADE_COLUMNS)))
    if not has_usual_key or any(entry.keys() != keys for entry in entries):
        return
    if len(entries) == 1:
        # One group of documents that happen to be called "id" and so on holds only grades.
        has_other_values = not all(isinstance(value, Real) for value in entries[0].values())
        has_only_usual_keys = len(keys) > 1 and keys <= _USUAL_KEYS
        if not (has_other_values or has_only_usual_keys):
            return
    names = ", ".join(map(repr, entries[0]))
    document_key = min(keys & _DOCUMENT_KEYS, default="document", key=str)
    for key in entries[0]:
        if key in (*GRADE_COLUMNS, "gain", "relevant"):
            raise TypeError(
                f"the judgments of {owner} hold dicts with keys {names}; pass documents with grades, "
                f"{{row[{document_key!r}]: row[{key!r}] for row in judgments}}"
            )
    raise TypeError(
        f"the judgments of {owner} hold dicts with keys {names}; pass the documents as a list, "
        f"[row[{document_key!r}] for row in judgments], or with grades as {{document: grade}}"
    )
