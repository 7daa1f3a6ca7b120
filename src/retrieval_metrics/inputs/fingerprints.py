"""Compute fingerprints of questions, judgments and rankings: short texts that are equal for equal values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.json_codec import encode_item, encode_judged, to_json_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.inputs.items import Judgments, Ranking


# Hexadecimal digits: two of a million fingerprints agree by accident with a probability of 1 in 40 million.
N_DIGITS = 16


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value that JSON can hold; the order of keys does not matter.

    Example:
        >>> fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
        True
    """
    # Imported here because comparing dicts and lists of ids needs no fingerprint.
    from hashlib import sha256

    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:N_DIGITS]


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
    encoded_groups = [_encode_group(group) for group in _list_groups(judgments)]
    return fingerprint(["judgments", _sort_as_json(encoded_groups)])


def _list_groups(judgments: Judgments) -> list[Any]:
    """Return the groups of a query; a flat judgment is a group of one."""
    has_groups = not isinstance(judgments, Mapping) and all(
        isinstance(entry, (Mapping, list, tuple, set)) for entry in judgments
    )
    if has_groups:
        return list(judgments)
    return [{judged: grade} for judged, grade in _grade(judgments).items()]


def _encode_group(group: Any) -> list[Any]:
    return _sort_as_json([_encode_judged(judged), float(grade)] for judged, grade in _grade(group).items())


def _grade(judgments: Any) -> Mapping[Any, float]:
    """Return judgments with grades; those without any have grade 1."""
    return judgments if isinstance(judgments, Mapping) else dict.fromkeys(judgments, 1.0)


def _encode_judged(judged: Any) -> dict[str, Any]:
    entry = encode_judged(judged, "a fingerprint")
    entry.pop("uncertain", None)  # ignored when spans are compared
    return entry


def _sort_as_json(entries: Iterable[Any]) -> list[Any]:
    return sorted(entries, key=json.dumps)


def ranking_fingerprint(ranking: Ranking) -> str:
    """Return the fingerprint of a ranking: of ids best first, of ids with scores, or of items.

    Example:
        >>> ranking_fingerprint({"d1": 2.0, "d2": 1.0}) == ranking_fingerprint({"d2": 1.0, "d1": 2.0})
        True
        >>> ranking_fingerprint(["d1", "d2"]) == ranking_fingerprint(["d2", "d1"])
        False
    """
    if isinstance(ranking, Mapping):
        scored = [[to_json_value(document, "a document"), float(score)] for document, score in ranking.items()]
        return fingerprint(["scored", _sort_as_json(scored)])
    return fingerprint(["ranked", [_encode_document(document) for document in ranking]])


def _encode_document(document: Any) -> Any:
    """Return a retrieved item without its score, or an id, as JSON holds it."""
    if not isinstance(document, Retrieved):
        return to_json_value(document, "a document")
    entry = encode_item(document, "a ranking")
    entry.pop("score", None)
    return entry
