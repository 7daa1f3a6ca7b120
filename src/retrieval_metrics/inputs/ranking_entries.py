"""Rankings and failures as JSON, for saved runs and resumed retrieval."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.entries import item_of, of_item, plain
from retrieval_metrics.inputs.ranking import as_list
from retrieval_metrics.inputs.retrieved import Retrieved

if TYPE_CHECKING:
    from retrieval_metrics.checks import QueryId


def of_ranking(ranking: Any, query: QueryId, texts: dict[str, int] | None = None) -> dict[str, Any]:
    """Return a ranking as JSON holds it.

    Args:
        ranking: Ids best first, ids with scores, or items.
        query: The query, for messages.
        texts: The position of each text among those of a file, to which those of the items are added, because the same
            chunk is retrieved for many queries; an item then has the position of its text. None keeps the texts.
    """
    where = f"query {query!r}"
    if isinstance(ranking, Mapping):
        return {"documents": _plain_list(list(ranking), where), "scores": _plain_list(list(ranking.values()), where)}
    ranked = as_list(ranking, query)
    if not len(ranked) or not isinstance(ranked[0], Retrieved):
        return {"documents": _plain_list(list(ranked), where)}
    items = [of_item(item, where) for item in ranked]
    if texts is not None:
        for item in items:
            if "text" in item:
                item["text"] = texts.setdefault(item["text"], len(texts))
    return {"items": items}


def _plain_list(values: list[Any], where: str) -> list[Any]:
    if {*map(type, values)} <= {str, int, float}:
        return values
    return [plain(value, where) for value in values]


def ranking_of(entry: Mapping[str, Any], texts: list[str] | None = None) -> Any:
    """Return the ranking that `of_ranking` was given.

    Raises:
        ValueError: If the entry is malformed.
    """
    if "items" in entry:
        where = f"query {entry['query']!r}"
        if texts is None:
            return [item_of(item, where) for item in entry["items"]]
        return [
            item_of({**item, "text": texts[item["text"]]} if "text" in item else item, where) for item in entry["items"]
        ]
    if "scores" not in entry:
        return list(entry["documents"])
    return dict(zip(entry["documents"], entry["scores"], strict=True))


def of_error(error: Exception) -> dict[str, str]:
    """Return the failure of a retriever as the name of the exception and its message."""
    said = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)
    return {"error": type(error).__name__, "message": said}


def error_of(entry: Mapping[str, str]) -> Exception:
    """Return an exception with the same message: of the same type if it is built in, else a RuntimeError."""
    kind = getattr(builtins, entry["error"], None)
    if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError):
        return kind(entry["message"])
    return RuntimeError(f"{entry['error']}: {entry['message']}")
