"""Keep judgments as they were when they arrived, because callers use their dicts and lists again."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any


def copy_qrels(qrels: Any) -> Any:
    """Return judgments that later changes of the caller's dicts and lists do not reach; anything else as it is.

    Example:
        >>> judged = {"q1": ["d1"]}
        >>> kept = copy_qrels(judged)
        >>> judged["q1"].append("d2")
        >>> kept
        {'q1': ['d1']}
    """
    if not isinstance(qrels, dict):
        return qrels
    copied = copy(qrels)  # of the same class, which may carry the rubric of its grades
    for query, judgments in qrels.items():
        copied[query] = _copy_judgments(judgments)
    return copied


def _copy_judgments(judgments: Any) -> Any:
    """Return the judgments of a query, with the groups in them, unreached by later changes of the caller's."""
    if isinstance(judgments, Mapping):
        return dict(judgments)
    if isinstance(judgments, list):
        return [_copy_judgments(group) for group in judgments]
    if type(judgments) is tuple:
        return tuple(_copy_judgments(group) for group in judgments)
    if isinstance(judgments, set):
        return set(judgments)
    return judgments
