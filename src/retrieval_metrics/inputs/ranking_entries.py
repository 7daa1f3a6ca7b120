"""Rankings and failures as JSON, for saved runs and resumed retrieval."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from retrieval_metrics.inputs.entries import item_of, of_item, plain
from retrieval_metrics.inputs.ranking import as_list
from retrieval_metrics.inputs.retrieved import Retrieved

if TYPE_CHECKING:
    from retrieval_metrics.aliases import QueryId


class TextTable(Protocol):
    """A table of the texts of items, so that each text is written once."""

    def place(self, text: str) -> int:
        """Return the position of a text in the table, adding it if it is new."""


def of_id(query: QueryId) -> str | int:
    """Return an id as JSON holds it, of the same type."""
    return query if isinstance(query, str) else int(query)


def of_ranking(ranking: Any, query: QueryId, texts: TextTable | None = None) -> dict[str, Any]:
    """Return a ranking as JSON holds it; with a table of texts, an item has the position of its text there."""
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
                item["text"] = texts.place(item["text"])
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
