"""Encode rankings, stages and failures as JSON, for saved runs and resumed retrieval, and decode them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.redaction import redact_secrets
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.json_codec import decode_item, encode_item, to_json_value
from retrieval_metrics.inputs.ranking_checks import as_list
from retrieval_metrics.inputs.stage_rankings import StageRankings

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import QueryId


def encode_ranking(ranking: Any, query: QueryId, texts: dict[str, int] | None = None) -> dict[str, Any]:
    """Return a ranking as JSON holds it.

    Args:
        ranking: The ranking of a query.
        query: The id of the query, for messages.
        texts: The number of each text, to which new texts are added; items then hold numbers in place of texts.
    """
    where = f"query {query!r}"
    if isinstance(ranking, Mapping):
        documents = _encode_list(list(ranking), where)
        scores = _encode_list(list(ranking.values()), where)
        return {"documents": documents, "scores": scores}
    ranked = as_list(ranking, query)
    if not len(ranked) or not isinstance(ranked[0], Retrieved):
        return {"documents": _encode_list(list(ranked), where)}
    items = [encode_item(item, where) for item in ranked]
    if texts is not None:
        for item in items:
            if "text" in item:
                item["text"] = texts.setdefault(item["text"], len(texts))
    return {"items": items}


def _encode_list(values: list[Any], where: str) -> list[Any]:
    if set(map(type, values)) <= {str, int, float}:
        return values
    return [to_json_value(value, where) for value in values]


def decode_ranking(entry: Mapping[str, Any], texts: list[str] | None = None) -> Any:
    """Return the ranking that `encode_ranking` was given."""
    if "items" in entry:
        where = f"query {entry['query']!r}"
        items = []
        for item in entry["items"]:
            if texts is not None and "text" in item:
                item = {**item, "text": texts[item["text"]]}  # noqa: PLW2901  (the same item, with its text)
            items.append(decode_item(item, where))
        return items
    if "scores" not in entry:
        return list(entry["documents"])
    return dict(zip(entry["documents"], entry["scores"], strict=True))


def encode_stages(stages: StageRankings, ranking: Any, query: QueryId) -> dict[str, Any]:
    """Return the stages of a question as JSON.

    A stage that was not reached is null, and a stage whose ranking is that of the run is true.
    """
    encoded: dict[str, Any] = {}
    for name, stage_ranking in stages.items():
        if stage_ranking is None:
            encoded[name] = None
        elif stage_ranking is ranking:
            encoded[name] = True
        else:
            encoded[name] = encode_ranking(stage_ranking, query)
    if not encoded:
        return {}
    if stages.takes_documents:
        return {"stages": encoded, "takes_documents": stages.takes_documents}
    return {"stages": encoded}


def decode_stages(entry: Mapping[str, Any], ranking: Any) -> StageRankings:
    """Return the stages that `encode_stages` was given."""
    stages = StageRankings(takes_documents=entry.get("takes_documents"))
    for name, encoded in entry.get("stages", {}).items():
        if encoded is True:
            stages[name] = ranking
        elif encoded is None:
            stages[name] = None
        else:
            stages[name] = decode_ranking({"query": entry["query"], **encoded})
    return stages


def encode_error(error: Exception) -> dict[str, str]:
    """Return the failure of a retriever as the name of the exception and its message, without secrets."""
    has_message = len(error.args) == 1 and isinstance(error.args[0], str)
    message = error.args[0] if has_message else str(error)
    return {"error": type(error).__name__, "message": redact_secrets(message)}


def decode_error(entry: Mapping[str, str]) -> Exception:
    """Return an exception with the same message: of the same type if it is built in, else a RuntimeError."""
    error_class = getattr(builtins, entry["error"], None)
    if isinstance(error_class, type) and issubclass(error_class, Exception):
        is_built_from_message = not issubclass(error_class, UnicodeError)
        if is_built_from_message:
            return error_class(entry["message"])
    return RuntimeError(f"{entry['error']}: {entry['message']}")
