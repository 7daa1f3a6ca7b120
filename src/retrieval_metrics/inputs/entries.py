"""Convert judgments and retrieved items to JSON and back without loss; anything but an id becomes an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.judgment_reader import in_order
from retrieval_metrics.inputs.pieces import Metadata, Piece, Quote, Span, Text
from retrieval_metrics.inputs.retrieved import Retrieved

if TYPE_CHECKING:
    from retrieval_metrics.checks import QueryId

ITEM_FIELDS = tuple(field.name for field in fields(Retrieved))
TYPES = ("id", "quote", "text", "span", "metadata")
"""The values of `type` in an object for something judged."""


def plain(value: Any, where: str) -> Any:
    """Return a value as JSON holds it, if it reads back as an equal value.

    Raises:
        ValueError: If JSON cannot hold an equal value.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and isfinite(value):
        return float(value)
    if isinstance(value, list):
        return [plain(each, where) for each in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(each, where) for key, each in value.items()}
    raise ValueError(f"{where} is {value!r} ({type(value).__name__}), which JSON cannot hold; convert it to text")


def of_item(item: Retrieved, where: str) -> dict[str, Any]:
    """Return a retrieved item as an object, without unknown values."""
    known = {
        name: getattr(item, name)
        for name in ITEM_FIELDS
        if name != "claimed" or (item.claimed and item.start is not None)
    }
    return {
        name: plain(value, f"{name} of item {item.id!r} of {where}")
        for name, value in known.items()
        if value is not None or name == "id"
    }


def item_of(entry: Mapping[str, Any], where: str) -> Retrieved:
    """Return the retrieved item that an object describes.

    Raises:
        ValueError: If it has no id, or a key or a value that an item cannot have.
    """
    if unknown := [key for key in entry if key not in ITEM_FIELDS]:
        raise ValueError(f"{where}: a retrieved item has {', '.join(ITEM_FIELDS)}, not {unknown[0]!r}")
    if "id" not in entry or not isinstance(entry["id"], (str, int, type(None))) or isinstance(entry["id"], bool):
        raise ValueError(f"{where}: a retrieved item needs an id, text, a whole number or null, got {entry!r}")
    if not isinstance(entry.get("metadata", {}), dict):
        raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
            f"{where}: the metadata of an item must be an object, got {entry['metadata']!r}"
        )
    try:
        return Retrieved(**entry)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error


def of_judged(judged: Any, where: str) -> dict[str, Any]:
    """Return something judged, an id or a piece, as an object."""
    if isinstance(judged, (Quote, Text)):
        return {"type": "quote" if isinstance(judged, Quote) else "text", "text": judged.text}
    if isinstance(judged, Span):
        place = {"type": "span", "source": judged.source, "start": int(judged.start), "end": int(judged.end)}
        return place | ({"uncertain": True} if judged.uncertain else {})
    if isinstance(judged, Metadata):
        values = {name: _lists(value) for name, value in judged.values}
        return {"type": "metadata", "values": plain(values, f"Metadata judged for {where}")}
    if isinstance(judged, Piece):
        raise ValueError(f"{where}: a {type(judged).__name__} cannot be written")  # noqa: TRY004  (said of the file)
    return {"type": "id", "id": plain(judged, f"an id judged for {where}")}


def judged_of(entry: Mapping[str, Any], where: str) -> Any:
    """Return what an object of `of_judged` describes.

    Raises:
        ValueError: If it is not such an object.
    """
    held = {key: value for key, value in entry.items() if key not in {"type", "grade"}}
    try:
        match entry["type"]:
            case "id":
                (judged,) = held.values()
                return judged if list(held) == ["id"] else _refuse(entry, where)
            case "quote":
                return Quote(**held)
            case "text":
                return Text(**held)
            case "span":
                return Span(**held)
            case "metadata":
                (values,) = held.values()
                return Metadata(**{name: _tuples(value) for name, value in values.items()})
            case _:
                return _refuse(entry, where)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{where}: {entry!r} cannot be judged: {error}") from error


def _refuse(entry: Mapping[str, Any], where: str) -> Any:
    raise ValueError(f"{where}: {entry!r} must have one of the types {', '.join(TYPES)}, and the keys of that type")


def is_entry(value: Any) -> bool:
    """Return whether an object describes something judged rather than ids with grades."""
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def of_id(one: QueryId) -> str | int:
    """Return an id as JSON holds it, of the same type."""
    return one if isinstance(one, str) else int(one)


def of_judgments(judgments: Any, where: str) -> Any:
    """Return the judgments of a query, in any shape, as JSON: ids or objects, with or without grades, or groups.

    Sets, which have no order, are sorted.
    """
    if isinstance(judgments, Mapping):
        graded = {judged: plain(grade, where) for judged, grade in judgments.items()}
        if all(isinstance(judged, str) for judged in graded):
            return graded
        return [{**of_judged(judged, where), "grade": grade} for judged, grade in graded.items()]
    if isinstance(judgments, (set, frozenset)):
        judgments = in_order(judgments)
    if any(isinstance(one, (Mapping, list, tuple, set, frozenset)) for one in judgments):
        return [of_judgments(group, where) for group in judgments]
    if any(isinstance(one, Piece) for one in judgments):
        return [of_judged(one, where) for one in judgments]
    return [of_id(one) for one in judgments]


def judgments_of(value: Any, where: str) -> Any:
    """Return judgments as `evaluate` takes them, from JSON.

    Raises:
        ValueError: If an object is malformed, or something is judged twice.
    """
    if not isinstance(value, list):
        return value
    if not any(map(is_entry, value)):
        return [judgments_of(each, where) if isinstance(each, list) else each for each in value]
    found: dict[Any, Any] = {}
    graded = any(is_entry(entry) and "grade" in entry for entry in value)
    for entry in value:
        if not is_entry(entry):
            raise ValueError(f"{where}: {entry!r} has no type, but other objects beside it have one; add it")
        judged = judged_of(entry, where)
        if judged in found:
            raise ValueError(f"{where}: {judged!r} is judged twice")
        found[judged] = entry.get("grade", 1.0)
    return found if graded else list(found)


def _lists(value: Any) -> Any:
    return [_lists(each) for each in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    # Values of Metadata are hashable, so an array in JSON was a tuple.
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
