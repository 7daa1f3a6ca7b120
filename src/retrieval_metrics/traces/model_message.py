"""Read the message of a model: its objects, the tools that it calls, provider searches and citations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.traces.payload_decoding import decode_payload
from retrieval_metrics.traces.span_payloads import find_block_type, find_question

if TYPE_CHECKING:
    from collections.abc import Iterable


# The keys under which a call has its arguments, and its id.
ARGUMENT_KEYS = ("args", "arguments", "tool_kwargs", "input", "queries")
_ARGUMENT_KEY_SET = set(ARGUMENT_KEYS)
CALL_ID_KEYS = ("call_id", "tool_call_id", "tool_id", "id")
# The names of searches that providers run while a model answers: types of parts of a message, or keys of them.
PROVIDER_SEARCHES = {
    "file_search_call", "web_search_call", "server_tool_call", "server_tool_use", "web_search_queries",
    "webSearchQueries", "retrieval_queries", "retrievalQueries", "grounding_chunks", "groundingChunks",
}  # fmt: skip
# The keys under which a block has its structured citations.
CITATION_KEYS = ("citations", "annotations")
# The keys under which a structured citation names a document, the most certain first.
CITED_NAME_KEYS = ("source", "url", "uri", "file_id", "document_id", "id", "document_title", "title", "filename")


class ToolCall(NamedTuple):
    """A call of a tool that a model asked for."""

    id: str | None
    name: str
    arguments: Any

    @property
    def question(self) -> str | None:
        """What it asks for; None if that is unknown."""
        return find_question(decode_payload(self.arguments))


class ProviderSearch(NamedTuple):
    """A search that the provider of a model ran itself, as the message of the model names it."""

    name: str
    tool: Any


@dataclass(slots=True)
class ModelMessage:
    """The message of a model: its objects and the tool calls among them, both in order."""

    objects: list[dict[str, Any]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    def __add__(self, later: ModelMessage) -> ModelMessage:
        return ModelMessage(self.objects + later.objects, self.calls + later.calls)

    def distinct_calls(self) -> list[ToolCall]:
        """Return the tool calls, each once: some hosts write a message twice."""
        by_id: dict[str | int, ToolCall] = {}
        for number, call in enumerate(self.calls):
            by_id[number if call.id is None else call.id] = call
        return list(by_id.values())


def read_message(payload: object, message: ModelMessage | None = None) -> ModelMessage:
    """Collect the objects and the tool calls in a decoded payload, without entering the arguments of calls."""
    if message is None:
        message = ModelMessage()
    children: Iterable[Any] = ()
    if isinstance(payload, dict):
        message.objects.append(payload)
        call = _read_call(payload)
        if call is not None:
            message.calls.append(call)
            return message
        children = payload.values()
    elif isinstance(payload, list):
        children = payload
    for child in children:
        if isinstance(child, (dict, list)):
            read_message(child, message)
    return message


def _read_call(part: dict[str, Any]) -> ToolCall | None:
    """Return an object as a tool call; None if it is not one."""
    function: dict[str, Any] = part["function"] if isinstance(part.get("function"), dict) else part
    if _ARGUMENT_KEY_SET.isdisjoint(function):
        return None
    name = function.get("name", function.get("tool_name"))
    if name is None:
        name = str(part.get("type"))
        if name not in PROVIDER_SEARCHES:
            return None
    for key in ARGUMENT_KEYS:
        arguments = function.get(key)
        if arguments is not None:
            return ToolCall(_read_call_id(part), str(name), arguments)
    return None


def _read_call_id(part: dict[str, Any]) -> str | None:
    for key in CALL_ID_KEYS:
        call_id = part.get(key)
        if call_id not in (None, ""):
            return str(call_id)
    return None


def find_provider_searches(objects: Iterable[dict[str, Any]]) -> list[ProviderSearch]:
    """Return the searches that the provider ran, as far as the objects of a message show them."""
    searches = []
    for part in objects:
        for name in (str(part.get("type")), *part):
            if name in PROVIDER_SEARCHES and part.get(name, name):
                searches.append(ProviderSearch(name, part.get("name", name)))
    return searches


def find_citations(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the structured citations among the objects of a message, with the fields of their nested objects."""
    inline_citations: list[Any] = []
    citation_blocks: list[Any] = []
    for part in objects:
        for key in CITATION_KEYS:
            if isinstance(part.get(key), list):
                inline_citations += part[key]
        if find_block_type(part) == "citation":
            citation_blocks.append(part)
    citations = [*inline_citations, *citation_blocks]
    return [_with_nested_fields(citation) for citation in citations if isinstance(citation, dict)]


def _with_nested_fields(citation: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part in read_message(citation).objects:
        fields |= part
    return fields | citation
