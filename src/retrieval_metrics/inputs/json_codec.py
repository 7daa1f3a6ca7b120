"""Encode judgments and retrieved items as JSON values, and decode them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from retrieval_metrics._internal.validation import show_value
from retrieval_metrics.inputs.bare_values import require_no_bare_value
from retrieval_metrics.inputs.items import Piece, Retrieved
from retrieval_metrics.inputs.judgments import NESTED_TYPES, sort_entries
from retrieval_metrics.inputs.pieces import Metadata, Quote, Span, Text
from retrieval_metrics.inputs.qrels import Qrels

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId


ITEM_FIELDS = tuple(field.name for field in fields(Retrieved))
# The fields of an item that are not checked when it is made.
FREE_FIELDS = ("source", "score", "metadata")
# The values of `type` in an object that describes a judged id or piece.
PIECE_TYPES = ("id", "quote", "text", "span", "metadata")
# The key beside `relevant` that lists forbidden documents, which get the grade -1.
FORBIDDEN_KEY = "forbidden"
RELEVANT_AND_FORBIDDEN = {"relevant", FORBIDDEN_KEY}
# What a message says of a value that cannot be encoded, after its name.
NESTED_TOO_DEEPLY = " holds itself or is nested too deeply for JSON; convert it to text"


def to_json_value(value: Any, where: str) -> Any:
    """Return a value as JSON holds it.

    Raises:
        ValueError: If JSON cannot hold it so that it reads back as an equal value.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and isfinite(value):
        return float(value)
    try:
        if isinstance(value, list):
            return [to_json_value(element, where) for element in value]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {key: to_json_value(element, where) for key, element in value.items()}
    except RecursionError:
        raise ValueError(f"{where}{NESTED_TOO_DEEPLY}") from None
    raise ValueError(
        f"{where} is {show_value(value)} ({type(value).__name__}), which JSON cannot hold; convert it to text"
    )


# Items.


def encode_item(item: Retrieved, where: str) -> dict[str, Any]:
    """Return a retrieved item as an object that leaves out unknown values."""
    entry: dict[str, Any] = {}
    for name in ITEM_FIELDS:
        value = getattr(item, name)
        if name == "copies":
            if item.copies:
                entry[name] = [encode_item(copy, where) for copy in item.copies]
            continue
        if name == "contains":
            if item.contains:
                entry[name] = list(map(encode_id, item.contains))
            continue
        if name == "offsets_unverified" and not (value and item.start is not None):
            continue
        value_name = f"{name} of item {item.id!r} of {where}"
        if name in FREE_FIELDS and value is not None and not isinstance(value, str):
            entry[name] = _encode_value(value, value_name)
        elif value is not None or name == "id":
            entry[name] = to_json_value(value, value_name)
    return entry


def decode_item(entry: Mapping[str, Any], where: str) -> Retrieved:
    """Return the retrieved item that an object describes."""
    for key in entry:
        if key not in ITEM_FIELDS:
            raise ValueError(f"{where}: a retrieved item has {', '.join(ITEM_FIELDS)}, not {key!r}")
    if "id" not in entry or not isinstance(entry["id"], (str, int, type(None))) or isinstance(entry["id"], bool):
        raise ValueError(f"{where}: a retrieved item needs an ID, text, a whole number or null, got {entry!r}")
    if not isinstance(entry.get("metadata", {}), dict):
        raise ValueError(f"{where}: the metadata of an item must be an object, got {entry['metadata']!r}")
    if not isinstance(entry.get("copies", []), list):
        raise ValueError(f"{where}: the copies of an item must be a list, got {entry['copies']!r}")
    if not isinstance(entry.get("contains", []), list):
        raise ValueError(f"{where}: what an item contains must be a list of IDs, got {entry['contains']!r}")
    fields_of_item = dict(entry)
    fields_of_item["contains"] = tuple(entry.get("contains", ()))
    fields_of_item["copies"] = tuple(decode_item(copy, where) for copy in entry.get("copies", ()))
    try:
        for name in FREE_FIELDS:
            if name in fields_of_item:
                fields_of_item[name] = _decode_value(fields_of_item[name])
        return Retrieved(**fields_of_item)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error


def _encode_value(value: Any, where: str) -> Any:
    # Imported here, because few runs are saved, and the types of these values take long to import.
    from retrieval_metrics.inputs.python_values import encode_value

    return encode_value(value, where)


def _decode_value(encoded: Any) -> Any:
    from retrieval_metrics.inputs.python_values import decode_value

    return decode_value(encoded)


# A judged id or piece.


def encode_judged(judged: Any, where: str) -> dict[str, Any]:
    """Return a judged id or piece as an object."""
    if isinstance(judged, Quote):
        return {"type": "quote", "text": judged.text}
    if isinstance(judged, Text):
        return {"type": "text", "text": judged.text}
    if isinstance(judged, Span):
        entry = {"type": "span", "source": judged.source, "start": int(judged.start), "end": int(judged.end)}
        if judged.uncertain:
            entry["uncertain"] = True
        return entry
    if isinstance(judged, Metadata):
        values = {name: _tuples_to_lists(value) for name, value in judged.values}
        entry = {"type": "metadata", "values": _encode_value(values, f"Metadata judged for {where}")}
        if judged.negated:
            entry["negated"] = True
        return entry
    if isinstance(judged, Piece):
        raise ValueError(f"{where}: a {type(judged).__name__} cannot be written")
    return {"type": "id", "id": to_json_value(judged, f"an ID judged for {where}")}


def decode_judged(entry: Mapping[str, Any], where: str) -> Any:
    """Return the judged id or piece that an object describes."""
    arguments = {key: value for key, value in entry.items() if key not in {"type", "grade"}}
    try:
        match entry["type"]:
            case "id":
                return _decode_id(arguments, entry, where)
            case "quote":
                return Quote(**arguments)
            case "text":
                return Text(**arguments)
            case "span":
                return Span(**arguments)
            case "metadata":
                return _decode_metadata(arguments)
            case _:
                _refuse_entry(entry, where)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{where}: {entry!r} cannot be judged: {error}") from error


def _decode_id(arguments: dict[str, Any], entry: Mapping[str, Any], where: str) -> Any:
    (judged,) = arguments.values()
    if list(arguments) != ["id"]:
        _refuse_entry(entry, where)
    return judged


def _decode_metadata(arguments: dict[str, Any]) -> Metadata:
    is_negated = arguments.pop("negated", False)
    (values,) = arguments.values()
    decoded_values = {name: _lists_to_tuples(_decode_value(value)) for name, value in values.items()}
    metadata = Metadata(**decoded_values)
    return ~metadata if is_negated else metadata


def _refuse_entry(entry: Mapping[str, Any], where: str) -> NoReturn:
    raise ValueError(
        f"{where}: {entry!r} must have one of the types {', '.join(PIECE_TYPES)}, and the keys of that type"
    )


def _tuples_to_lists(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_tuples_to_lists(element) for element in value]
    return value


def _lists_to_tuples(value: Any) -> Any:
    # Values of Metadata are hashable, so an array in JSON was a tuple.
    if isinstance(value, list):
        return tuple(_lists_to_tuples(element) for element in value)
    return value


def is_entry(value: Any) -> bool:
    """Return whether an object describes a judged id or piece; other objects map ids to grades."""
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def encode_id(query_or_document: QueryId) -> str | int:
    """Return an id as a JSON value of its type: text or a whole number."""
    if isinstance(query_or_document, str):
        return query_or_document
    return int(query_or_document)


# The judgments of a query.


def encode_judgments(judgments: Any, where: str) -> Any:
    """Return the judgments of a query, in any shape, as JSON: ids or objects, with or without grades, or groups.

    Raises:
        TypeError: If they are a bare string or piece.
        ValueError: If JSON cannot hold something.
    """
    require_no_bare_value(judgments, where)
    if isinstance(judgments, Mapping):
        grades = {judged: to_json_value(grade, where) for judged, grade in judgments.items()}
        if all(isinstance(judged, str) for judged in grades):
            return grades
        return [{**encode_judged(judged, where), "grade": grade} for judged, grade in grades.items()]
    if isinstance(judgments, (set, frozenset)):
        judgments = sort_entries(judgments)
    if any(isinstance(entry, (Mapping, list, tuple, set, frozenset)) for entry in judgments):
        return [encode_judgments(group, where) for group in judgments]
    if any(isinstance(entry, Piece) for entry in judgments):
        return [encode_judged(judged, where) for judged in judgments]
    return [encode_id(document) for document in judgments]


def add_forbidden(judgments: Any, forbidden: Any, where: str) -> Any:
    """Return judgments with the forbidden ids and pieces added at grade -1.

    Example:
        >>> add_forbidden(["d1"], ["d7"], "row 1")
        {'d1': 1.0, 'd7': -1.0}
    """
    if isinstance(forbidden, (str, bytes, Mapping, Piece)) or not isinstance(forbidden, Iterable):
        raise TypeError(f"{where}: {FORBIDDEN_KEY!r} must be a list of forbidden documents, got {forbidden!r}")
    forbidden_documents = decode_judgments(list(forbidden), where)
    has_grades = isinstance(forbidden_documents, Mapping)
    if has_grades or any(isinstance(document, NESTED_TYPES) for document in forbidden_documents):
        raise ValueError(
            f"{where}: {FORBIDDEN_KEY!r} has neither grades nor groups; give levels such as -2 as grades of 'relevant'"
        )
    relevant = Qrels({where: judgments}).judgments(0)
    groups: list[Any] = [relevant] if isinstance(relevant, Mapping) else list(relevant)
    for document in forbidden_documents:
        if any(document in group for group in groups):
            raise ValueError(f"{where}: {document!r} is both relevant and forbidden; remove it from one of the two")
    forbidden_grades = dict.fromkeys(forbidden_documents, -1.0)
    if isinstance(relevant, Mapping):
        return {**relevant, **forbidden_grades}
    forbidden_groups = [{document: grade} for document, grade in forbidden_grades.items()]
    return [*relevant, *forbidden_groups]


def decode_judgments(value: Any, where: str) -> Any:
    """Return the judgments in a JSON value, which may also be an object with `relevant` and `forbidden`."""
    if (
        isinstance(value, dict)
        and isinstance(value.get(FORBIDDEN_KEY), list)
        and value.keys() <= RELEVANT_AND_FORBIDDEN
    ):
        return add_forbidden(decode_judgments(value.get("relevant", []), where), value[FORBIDDEN_KEY], where)
    if not isinstance(value, list):
        return value
    if any(map(is_entry, value)):
        return _decode_entries(value, where)
    judgments = []
    for element in value:
        judgments.append(decode_judgments(element, where) if isinstance(element, list) else element)
    return judgments


def _decode_entries(entries: list[Any], where: str) -> Any:
    """Return the judgments that a list of objects describes: with grades if any object has one."""
    has_grades = any(is_entry(entry) and "grade" in entry for entry in entries)
    grades: dict[Any, Any] = {}
    for entry in entries:
        if not is_entry(entry):
            raise ValueError(f"{where}: {entry!r} has no type, but other objects in the list have one; add it")
        judged = decode_judged(entry, where)
        if judged in grades:
            raise ValueError(f"{where}: {judged!r} is judged twice")
        grades[judged] = entry.get("grade", 1.0)
    return grades if has_grades else list(grades)
