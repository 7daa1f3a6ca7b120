"""Judgments, items and rankings as JSON, and their fingerprints."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from hashlib import sha256
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Metadata, Piece, Quote, Retrieved, Span, Text
from retrieval_metrics.inputs.qrels import NESTED_TYPES, Qrels, sort_entries
from retrieval_metrics.inputs.run import as_list
from retrieval_metrics.inputs.stage_rankings import StageRankings

if TYPE_CHECKING:
    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.inputs.items import Judgments, Ranking


ITEM_FIELDS = tuple(field.name for field in fields(Retrieved))
TYPES = ("id", "quote", "text", "span", "metadata")
"""The values of `type` in an object for something judged."""


def to_json_value(value: Any, where: str) -> Any:
    """Return a value as JSON holds it, if it reads back as an equal value."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and isfinite(value):
        return float(value)
    if isinstance(value, list):
        return [to_json_value(each, where) for each in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: to_json_value(each, where) for key, each in value.items()}
    raise ValueError(f"{where} is {value!r} ({type(value).__name__}), which JSON cannot hold; convert it to text")


def encode_item(item: Retrieved, where: str) -> dict[str, Any]:
    """Return a retrieved item as an object, without unknown values."""
    known = {
        name: getattr(item, name)
        for name in ITEM_FIELDS
        if name != "offsets_unverified" or (item.offsets_unverified and item.start is not None)
    }
    return {
        name: to_json_value(value, f"{name} of item {item.id!r} of {where}")
        for name, value in known.items()
        if value is not None or name == "id"
    }


def decode_item(entry: Mapping[str, Any], where: str) -> Retrieved:
    """Return the retrieved item that an object describes."""
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
        entry = {"type": "metadata", "values": to_json_value(values, f"Metadata judged for {where}")}
        return entry | ({"negated": True} if judged.negated else {})
    if isinstance(judged, Piece):
        raise ValueError(f"{where}: a {type(judged).__name__} cannot be written")  # noqa: TRY004  (said of the file)
    return {"type": "id", "id": to_json_value(judged, f"an id judged for {where}")}


def judged_of(entry: Mapping[str, Any], where: str) -> Any:
    """Return what an object of `of_judged` describes."""
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
                negated = held.pop("negated", False)
                (values,) = held.values()
                found = Metadata(**{name: _tuples(value) for name, value in values.items()})
                return ~found if negated else found
            case _:
                return _refuse(entry, where)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{where}: {entry!r} cannot be judged: {error}") from error


def _refuse(entry: Mapping[str, Any], where: str) -> Any:
    raise ValueError(f"{where}: {entry!r} must have one of the types {', '.join(TYPES)}, and the keys of that type")


def is_entry(value: Any) -> bool:
    """Return whether an object describes something judged rather than ids with grades."""
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def encode_id(one: QueryId) -> str | int:
    """Return an id as JSON holds it, of the same type."""
    return one if isinstance(one, str) else int(one)


def encode_judgments(judgments: Any, where: str) -> Any:
    """Return the judgments of a query, in any shape, as JSON: ids or objects, with or without grades, or groups."""
    if isinstance(judgments, Mapping):
        graded = {judged: to_json_value(grade, where) for judged, grade in judgments.items()}
        if all(isinstance(judged, str) for judged in graded):
            return graded
        return [{**of_judged(judged, where), "grade": grade} for judged, grade in graded.items()]
    if isinstance(judgments, (set, frozenset)):
        judgments = sort_entries(judgments)
    if any(isinstance(one, (Mapping, list, tuple, set, frozenset)) for one in judgments):
        return [encode_judgments(group, where) for group in judgments]
    if any(isinstance(one, Piece) for one in judgments):
        return [of_judged(one, where) for one in judgments]
    return [encode_id(one) for one in judgments]


FORBIDDEN_KEY = "forbidden"
"""The key of what must not come back, beside `relevant`: graded -1."""
_BESIDE = {"relevant", FORBIDDEN_KEY}


def add_forbidden(judgments: Any, forbidden: Any, where: str) -> Any:
    """Return judgments, with what must not come back at grade -1.

    Example:
        >>> add_forbidden(["d1"], ["d7"], "row 1")
        {'d1': 1.0, 'd7': -1.0}
    """
    if isinstance(forbidden, (str, bytes, Mapping, Piece)) or not isinstance(forbidden, Iterable):
        raise TypeError(f"{where}: {FORBIDDEN_KEY!r} must be a list of what must not come back, got {forbidden!r}")
    named = decode_judgments(list(forbidden), where)
    if isinstance(named, Mapping) or any(isinstance(one, NESTED_TYPES) for one in named):
        raise ValueError(
            f"{where}: {FORBIDDEN_KEY!r} has neither grades nor groups; give levels such as -2 as grades of 'relevant'"
        )
    judged = Qrels({where: judgments}).judgments(0)
    groups: list[Any] = [judged] if isinstance(judged, Mapping) else list(judged)
    if both := [one for one in named if any(one in group for group in groups)]:
        raise ValueError(f"{where}: {both[0]!r} is both relevant and forbidden; remove it from one of the two")
    apart = dict.fromkeys(named, -1.0)
    if isinstance(judged, Mapping):
        return {**judged, **apart}
    return [*judged, *({one: grade} for one, grade in apart.items())]


def decode_judgments(value: Any, where: str) -> Any:
    """Return judgments as `evaluate` takes them, from JSON: also an object of `relevant` and `forbidden`."""
    if isinstance(value, dict) and isinstance(value.get(FORBIDDEN_KEY), list) and value.keys() <= _BESIDE:
        return add_forbidden(decode_judgments(value.get("relevant", []), where), value[FORBIDDEN_KEY], where)
    if not isinstance(value, list):
        return value
    if not any(map(is_entry, value)):
        return [decode_judgments(each, where) if isinstance(each, list) else each for each in value]
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


# Rankings and failures as JSON, for saved runs and resumed retrieval.


def encode_ranking(ranking: Any, query: QueryId, texts: dict[str, int] | None = None) -> dict[str, Any]:
    """Return a ranking as JSON holds it."""
    where = f"query {query!r}"
    if isinstance(ranking, Mapping):
        return {"documents": _plain_list(list(ranking), where), "scores": _plain_list(list(ranking.values()), where)}
    ranked = as_list(ranking, query)
    if not len(ranked) or not isinstance(ranked[0], Retrieved):
        return {"documents": _plain_list(list(ranked), where)}
    items = [encode_item(item, where) for item in ranked]
    if texts is not None:
        for item in items:
            if "text" in item:
                item["text"] = texts.setdefault(item["text"], len(texts))
    return {"items": items}


def _plain_list(values: list[Any], where: str) -> list[Any]:
    if {*map(type, values)} <= {str, int, float}:
        return values
    return [to_json_value(value, where) for value in values]


def decode_ranking(entry: Mapping[str, Any], texts: list[str] | None = None) -> Any:
    """Return the ranking that `encode_ranking` was given."""
    if "items" in entry:
        where = f"query {entry['query']!r}"
        if texts is None:
            return [decode_item(item, where) for item in entry["items"]]
        return [
            decode_item({**item, "text": texts[item["text"]]} if "text" in item else item, where)
            for item in entry["items"]
        ]
    if "scores" not in entry:
        return list(entry["documents"])
    return dict(zip(entry["documents"], entry["scores"], strict=True))


def encode_stages(stages: Mapping[str, Any], ranking: Any, query: QueryId) -> dict[str, Any]:
    """Return the steps of a question as JSON holds them: null where it was not reached, true for its answer."""
    held = {name: None if one is None else one is ranking or encode_ranking(one, query) for name, one in stages.items()}
    return {"stages": held} if held else {}


def decode_stages(entry: Mapping[str, Any], ranking: Any) -> StageRankings:
    """Return the steps that `of_steps` was given."""
    return StageRankings(
        {
            name: ranking if one is True else None if one is None else decode_ranking({"query": entry["query"], **one})
            for name, one in entry.get("stages", {}).items()
        }
    )


def encode_error(error: Exception) -> dict[str, str]:
    """Return the failure of a retriever as the name of the exception and its message."""
    said = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)
    return {"error": type(error).__name__, "message": said}


def decode_error(entry: Mapping[str, str]) -> Exception:
    """Return an exception with the same message: of the same type if it is built in, else a RuntimeError."""
    kind = getattr(builtins, entry["error"], None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError):
        return kind(entry["message"])
    return RuntimeError(f"{entry['error']}: {entry['message']}")


# Fingerprints of questions, judgments and rankings: equal ones have equal short texts.

DIGITS = 16
"""Hexadecimal digits: two of a million fingerprints agree by accident with a probability of 1 in 40 million."""


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value that JSON can hold; the order of keys does not matter.

    Example:
        >>> fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
        True
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:DIGITS]


def question_fingerprint(text: str) -> str:
    """Return the fingerprint of the exact text of a question."""
    return fingerprint(["question", text])


def judgments_fingerprint(judgments: Judgments) -> str:
    """Return the fingerprint of the judgments of a query.

    Example:
        >>> judgments_fingerprint(["d2", "d1"]) == judgments_fingerprint([{"d1": 1}, {"d2": 1.0}])
        True
        >>> judgments_fingerprint(["1"]) == judgments_fingerprint([1])
        False
    """
    flat = isinstance(judgments, Mapping) or not all(isinstance(one, (Mapping, list, tuple, set)) for one in judgments)
    groups: list[Any] = [{one: grade} for one, grade in _graded(judgments).items()] if flat else list(judgments)
    plain_groups = [
        sorted(([_judged(one), float(grade)] for one, grade in _graded(group).items()), key=json.dumps)
        for group in groups
    ]
    return fingerprint(["judgments", sorted(plain_groups, key=json.dumps)])


def ranking_fingerprint(ranking: Ranking) -> str:
    """Return the fingerprint of a ranking: of ids best first, of ids with scores, or of items.

    Example:
        >>> ranking_fingerprint({"d1": 2.0, "d2": 1.0}) == ranking_fingerprint({"d2": 1.0, "d1": 2.0})
        True
        >>> ranking_fingerprint(["d1", "d2"]) == ranking_fingerprint(["d2", "d1"])
        False
    """
    if isinstance(ranking, Mapping):
        scored: list[Any] = sorted(
            ([to_json_value(one, "a document"), float(score)] for one, score in ranking.items()), key=json.dumps
        )
        return fingerprint(["scored", scored])
    ranked: list[Any] = [
        _item(one) if isinstance(one, Retrieved) else to_json_value(one, "a document") for one in ranking
    ]
    return fingerprint(["ranked", ranked])


def _graded(judgments: Any) -> Mapping[Any, float]:
    return judgments if isinstance(judgments, Mapping) else dict.fromkeys(judgments, 1.0)


def _judged(one: Any) -> dict[str, Any]:
    entry = of_judged(one, "a fingerprint")
    entry.pop("uncertain", None)  # ignored when spans are compared
    return entry


def _item(item: Retrieved) -> dict[str, Any]:
    entry = encode_item(item, "a ranking")
    entry.pop("score", None)
    return entry
