"""Find judged metadata and sources that differ from those of results only in the type of a value, as "3" and 3 do.

Values are compared as they are, so such a judgment is never satisfied, and a negated one always is. Judgments that were
not found, and negated ones, are looked at, in the rankings of their own queries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from math import isfinite
from numbers import Integral, Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

import numpy as np

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.pieces import Metadata, Span, have_equal_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, QueryId
    from retrieval_metrics.matching.judged_run import JudgedRun

    JudgedPiece: TypeAlias = Metadata | Span

# In how many queries, evenly spread, a difference is looked for at first; all are searched if one of them has one.
MAX_SAMPLED_QUERIES = 1_000
# How many digits a number in a text may have: more than the largest float.
MAX_DIGITS = 400
_NUMBER = lazy_pattern(r"[-+]?\d+(\.\d+)?", re.ASCII)
_TRUTH_VALUES = frozenset({"true", "false"})
# A judgment can be written with a value of these types as it is printed.
_PRINTABLE_TYPES = (str, int, float, Decimal, date, time, PurePath, UUID)


@dataclass(frozen=True, slots=True)
class TypeMismatch:
    """A judgment that would be satisfied by a retrieved item if a value of the two had one type.

    Attributes:
        query: The query.
        piece: The judgment.
        name: The name of the value, such as a key of the metadata.
        judged_value: The value in the judgment.
        retrieved_value: The value of the item.
        corrected: The judgment with the value of the item; None if it is better to change the item.
    """

    query: QueryId
    piece: JudgedPiece
    name: str
    judged_value: Any
    retrieved_value: Any
    corrected: JudgedPiece | None

    @property
    def is_negated(self) -> bool:
        """Whether the judgment is satisfied by all that lacks the value, and so by this item."""
        return isinstance(self.piece, Metadata) and self.piece.negated


def search_type_mismatches(
    judged: JudgedRun, run: Mapping[Any, Any], is_missing: BoolArray
) -> tuple[TypeMismatch, ...]:
    """Return the judgments that differ from results only in the type of a value.

    Args:
        judged: The judged run.
        run: The run, as given.
        is_missing: Shape (documents,), which judgments were not found.
    """
    qrels = judged.qrels
    owners = qrels.document_query.tolist()
    pieces_by_query: dict[QueryId, list[JudgedPiece]] = {}
    for position, document in enumerate(qrels.documents):
        if not isinstance(document, (Metadata, Span)):
            continue
        is_negated = isinstance(document, Metadata) and document.negated
        if is_negated or is_missing[position]:
            pieces_by_query.setdefault(qrels.queries[owners[position]], []).append(document)
    queries = list(pieces_by_query)
    if len(queries) > MAX_SAMPLED_QUERIES:
        indices = np.linspace(0, len(queries) - 1, MAX_SAMPLED_QUERIES).astype(np.int64).tolist()
        sample = [queries[index] for index in indices]
        if next(_iterate_mismatches(sample, pieces_by_query, run), None) is None:
            return ()
    return tuple(_iterate_mismatches(queries, pieces_by_query, run))


def _iterate_mismatches(
    queries: Sequence[QueryId], pieces_by_query: Mapping[QueryId, Sequence[JudgedPiece]], run: Mapping[Any, Any]
) -> Iterator[TypeMismatch]:
    """Yield one mismatch for each judgment that has any."""
    for query in queries:
        items = _list_items(run.get(query, ()))
        for piece in pieces_by_query[query]:
            for item in items:
                mismatch = _compare(query, piece, item)
                if mismatch is not None:
                    yield mismatch
                    break


def _list_items(ranking: Any) -> list[Retrieved]:
    """Return the items of a ranking and their copies."""
    items: list[Retrieved] = []
    for element in ranking:
        if isinstance(element, Retrieved):
            items.append(element)
            items += element.copies
    return items


def _compare(query: QueryId, piece: JudgedPiece, item: Retrieved) -> TypeMismatch | None:
    """Return in which value an item and a judgment differ, if in nothing but types; else None."""
    judged_values = _list_judged_values(piece)
    retrieved_by_name: dict[str, Any] = {}
    for name, judged_value in judged_values:
        retrieved_value = item.value(name)
        if have_equal_values(retrieved_value, judged_value):
            continue
        if not are_equal_as_text(judged_value, retrieved_value):
            return None
        retrieved_by_name[name] = retrieved_value
    if not retrieved_by_name:
        return None
    name = next(iter(retrieved_by_name))
    corrected = _correct(piece, retrieved_by_name)
    return TypeMismatch(query, piece, name, dict(judged_values)[name], retrieved_by_name[name], corrected)


def _list_judged_values(piece: JudgedPiece) -> Sequence[tuple[str, Any]]:
    return piece.values if isinstance(piece, Metadata) else (("source", piece.source),)


def _correct(piece: JudgedPiece, retrieved_by_name: Mapping[str, Any]) -> JudgedPiece | None:
    """Return a judgment with the values of an item; None if they cannot be written there."""
    for value in retrieved_by_name.values():
        if not isinstance(value, _PRINTABLE_TYPES) or isinstance(value, Enum):
            return None
    if isinstance(piece, Span):
        # Sources are text in the names of files and documents, whatever a loader makes of them.
        source = retrieved_by_name["source"]
        return replace(piece, source=source) if isinstance(source, str) else None
    corrected = Metadata(**{**dict(piece.values), **retrieved_by_name})
    return ~corrected if piece.negated else corrected


def unify_value_types(run: Mapping[Any, Any], mismatches: Sequence[TypeMismatch]) -> dict[Any, Any]:
    """Return a run in which items that differ from a judgment only in types have its values; the others stay."""
    pieces_by_query: dict[QueryId, list[JudgedPiece]] = {}
    for mismatch in mismatches:
        pieces_by_query.setdefault(mismatch.query, []).append(mismatch.piece)
    unified: dict[Any, Any] = dict(run)
    for query, pieces in pieces_by_query.items():
        unified[query] = [_give_judged_values(item, query, pieces) for item in run[query]]
    return unified


def _give_judged_values(item: Retrieved, query: QueryId, pieces: Sequence[JudgedPiece]) -> Retrieved:
    copies = tuple(_give_judged_values(copy, query, pieces) for copy in item.copies)
    unified = replace(item, copies=copies)
    for piece in pieces:
        if _compare(query, piece, unified) is None:
            continue
        for name, value in _list_judged_values(piece):
            if name == "source" and unified.source is not None:
                unified = replace(unified, source=value)
            else:
                unified = replace(unified, metadata={**(unified.metadata or {}), name: value})
    return unified


def are_equal_as_text(first: Any, second: Any) -> bool:
    """Return whether two values of different types are equal if they are written as text.

    A value that has no text, such as the missing date of pandas or a signaling NaN, equals nothing.

    Example:
        >>> are_equal_as_text("3", 3), are_equal_as_text(3.0, "3"), are_equal_as_text("3", "3.0")
        (True, True, False)
    """
    if type(first) is type(second):
        return False
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return have_equal_values(list(first), list(second))
    return not _list_text_forms(first).isdisjoint(_list_text_forms(second))


def _list_text_forms(value: Any) -> set[str]:
    """Return how a value may be written as text; nothing for types and values that have no usual form."""
    try:
        return _write_as_text(value)
    except (ValueError, TypeError, ArithmeticError):
        # Some values have the type of a number or a date, but none of its text: NaT of pandas, Decimal("sNaN"), and
        # whole numbers with more digits than Python writes.
        return set()


def _write_as_text(value: Any) -> set[str]:
    """Return how a value may be written as text; nothing for types that have no usual form.

    Raises:
        ValueError: If it is a value without a text, such as a missing date.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    if isinstance(value, str):
        return _list_forms_of_text(str(value))
    if isinstance(value, bool):
        return {str(value).lower()}
    if isinstance(value, (Real, Decimal)):
        return {_format_number(value)} if isfinite(value) else set()
    if isinstance(value, (date, time)):
        return _list_forms_of_date(value)
    if isinstance(value, PurePath):
        return {str(value), value.as_posix()}
    if isinstance(value, UUID):
        return {str(value), value.hex}
    return set()


def _list_forms_of_text(text: str) -> set[str]:
    forms = {text}
    if text.lower() in _TRUTH_VALUES:
        forms.add(text.lower())
    _whole, _point, fraction = text.partition(".")
    # The section 1.10 is another one than 1.1, though the numbers are equal.
    is_numbering = fraction.endswith("0") and fraction.strip("0") != ""
    if _NUMBER.fullmatch(text) and not is_numbering:
        number = Decimal(text)
        # Longer ones are no numbers of a page or a date, and Python does not write them.
        if number.adjusted() < MAX_DIGITS:
            forms.add(_format_number(number))
    return forms


def _list_forms_of_date(value: date | time) -> set[str]:
    forms = {str(value), value.isoformat(), value.isoformat().replace("+00:00", "Z")}
    if isinstance(value, datetime) and value.time() == time():
        forms.add(value.date().isoformat())
    return forms


def _format_number(value: Any) -> str:
    """Return a number in one form, whatever its type: a whole one without a fraction."""
    if isinstance(value, Integral):
        return str(int(value))
    if value == int(value):
        return str(int(value))
    return repr(float(value))
