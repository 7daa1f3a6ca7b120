"""Fingerprints of questions, judgments and rankings: equal ones have equal short texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.entries import of_item, of_judged, plain
from retrieval_metrics.inputs.retrieved import Retrieved

if TYPE_CHECKING:
    from retrieval_metrics.inputs.shapes import Judgments, Ranking

DIGITS = 16
"""Hexadecimal digits: two of a million fingerprints agree by accident with a probability of 1 in 40 million."""


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value that JSON can hold; the order of keys does not matter.

    Args:
        value: Text, numbers, lists and mappings of text.

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

    As for the metrics, the order of documents and groups does not matter, nor whether a group of one is written as a
    group. Ids keep their type, and a document without a grade has grade 1.

    Args:
        judgments: Judgments of one query in any shape that `evaluate` takes.

    Raises:
        ValueError: If JSON cannot hold the values of a `Metadata`.

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

    The order of ids with scores does not matter. The scores of items, which no metric uses, do not matter either;
    everything else in an item does.

    Raises:
        ValueError: If JSON cannot hold the metadata of an item.

    Example:
        >>> ranking_fingerprint({"d1": 2.0, "d2": 1.0}) == ranking_fingerprint({"d2": 1.0, "d1": 2.0})
        True
        >>> ranking_fingerprint(["d1", "d2"]) == ranking_fingerprint(["d2", "d1"])
        False
    """
    if isinstance(ranking, Mapping):
        scored: list[Any] = sorted(
            ([plain(one, "a document"), float(score)] for one, score in ranking.items()), key=json.dumps
        )
        return fingerprint(["scored", scored])
    ranked: list[Any] = [_item(one) if isinstance(one, Retrieved) else plain(one, "a document") for one in ranking]
    return fingerprint(["ranked", ranked])


def _graded(judgments: Any) -> Mapping[Any, float]:
    return judgments if isinstance(judgments, Mapping) else dict.fromkeys(judgments, 1.0)


def _judged(one: Any) -> dict[str, Any]:
    entry = of_judged(one, "a fingerprint")
    entry.pop("uncertain", None)  # ignored when spans are compared
    return entry


def _item(item: Retrieved) -> dict[str, Any]:
    entry = of_item(item, "a ranking")
    entry.pop("score", None)
    return entry
