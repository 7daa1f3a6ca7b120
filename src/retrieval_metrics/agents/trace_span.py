"""One span of a trace, and what its payloads hold: documents, questions, texts and tool calls."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.inputs.host_documents import find_item, is_content_block
from retrieval_metrics.inputs.items import item_identity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from retrieval_metrics.inputs.items import Retrieved


SPAN_KINDS = RETRIEVER, RERANKER, TOOL, MODEL, OTHER = "retriever", "reranker", "tool", "model", "other"
UNKNOWN_KIND = ""
"""The kind of a span whose form says only that something ran."""
RAISE_LIMITS = (
    "record again with higher limits (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT)"
)

REDACTED = "__REDACTED__"
"""What OpenInference writes for inputs that it is told to hide."""
_JSON = re.compile(r'[\[{]\s*["{]')
_ESCAPED = re.compile(r"\\(?:[nrtfbv]|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")


class TraceError(ValueError):
    """A trace lacks what its score would need, so it is refused."""


@dataclass(slots=True, eq=False)
class TraceSpan:
    """One span: where it stands, when it ran, and what went in and came out, as recorded."""

    trace: str
    id: str
    parent: str | None
    kind: str
    name: str
    start: float = 0.0
    end: float = 0.0
    error: str | None = None
    input: Any = None
    output: Any = None
    listed: FlattenedList | None = None
    message: ModelMessage | None = None
    call: str | None = None
    dropped: int = 0
    root: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"span {self.id!r} ({self.name}) of trace {self.trace!r}"

    @property
    def outcome(self) -> tuple[Any, Any, str | None] | None:
        """What came out of it; None if it had only begun when it was recorded."""
        return None if self.output is self.error is None else (self.output, self.listed, self.error)

    def question(self) -> str | None:
        """Return what a search asked for; None if that is unknown."""
        found = question_in(decode_payload(self.input))
        return None if found is None else found.strip().removeprefix("input is ").strip() or None

    def documents(self) -> list[Retrieved] | None:
        """Return the documents that a search found, if possible with ids; None if the span does not say."""
        found = None
        for one in (self.output,) if self.listed is None else (self.listed, self.output):
            try:
                items = find_documents(self._whole(one, "output"))
            except TraceError:
                raise
            except ValueError as error:
                raise TraceError(f"the output of {self.label} cannot be read: {error}") from None
            if one is self.listed and self.dropped:  # some tracers drop the newest attributes, which are its end
                continue
            without = None if items is None else [item for item in items if item.id is None]
            if any(item.text == REDACTED for item in without or ()):
                raise TraceError(f"the documents of {self.label} were hidden: they have neither ids nor texts")
            if without == []:
                return items
            found = items if found is None else found
        if found is None and self.dropped:
            raise TraceError(f"{self.dropped} attributes of {self.label} were dropped; {RAISE_LIMITS}")
        return found

    def input_text(self) -> str | None:
        """Return the text that a model has read; None if it was not recorded."""
        said = self._whole(self.input, "input")
        if isinstance(
            self.input, FlattenedList
        ):  # a limit on the length of values shows in the longest, which has them all
            self._whole(self.input.fallback, "input")
        text = "\n".join(texts_in(said))
        return None if said is None or REDACTED in text else text

    def tool_calls(self) -> list[ToolCall] | None:
        """Return the tool calls in the message of a model, in its order; None if it is unknown."""
        if self.message is None:
            said = self._whole(self.output, "output", text=True)
            self.message = None if said is None else read_message(said)
        if self.message is None:
            return None
        ids = (number if call.id is None else call.id for number, call in enumerate(self.message.calls))
        return list(dict(zip(ids, self.message.calls, strict=True)).values())  # some hosts write a message twice

    def provider_searches(self) -> list[tuple[str, Any]]:
        """Return what the provider of a model ran itself, as far as its message tells, and the names of its tools."""
        said = [
            one
            for one in self._objects(PROVIDER_SEARCHES)
            if str(one.get("type")) in PROVIDER_SEARCHES or not PROVIDER_SEARCHES.isdisjoint(one)
        ]
        return [
            (name, one.get("name", name))
            for one in said
            for name in (str(one.get("type")), *one)
            if name in PROVIDER_SEARCHES and one.get(name, name)
        ]

    def answer(self) -> str | None:
        """Return the last text in what a model said."""
        return last_text(self.output)

    def citations(self) -> list[dict[str, Any]]:
        """Return the structured citations in what a model said, each with what lies in its objects beside the rest."""
        objects = self._objects((*CITED_UNDER, "citation"))
        found = [one[key] for one in objects for key in CITED_UNDER if isinstance(one.get(key), list)]
        cited = [*(one for each in found for one in each), *(one for one in objects if _type_of(one) == "citation")]
        return [
            {key: held for inner in read_message(one).objects for key, held in inner.items()} | one
            for one in cited
            if isinstance(one, dict)
        ]

    def _objects(self, names: Collection[str]) -> list[dict[str, Any]]:
        """Return the objects in the message of a model, if it can hold one of some names; most are texts without."""
        if self.message is not None and not isinstance(self.output, FlattenedList):
            return self.message.objects
        said = self.output.fallback if isinstance(self.output, FlattenedList) else self.output
        readable = not isinstance(said, str) or any(name in said for name in names)
        return read_message(decode_payload(said) if readable else None).objects

    def _whole(self, payload: Any, what: str, *, text: bool = False) -> Any:
        """Return a payload as an object; `text` says that it may be a text that looks like JSON."""
        try:
            said = decode_payload(payload)
        except ValueError as error:
            raise TraceError(f"the {what} of {self.label} was cut: {error}; {RAISE_LIMITS}") from None
        if isinstance(said, str) and not text and _JSON.match(said):
            raise TraceError(f"the {what} of {self.label} was cut short; {RAISE_LIMITS}")
        return said


def unescape(text: str) -> str:
    """Return a text without the escapes of JSON and `repr`, for looking for one in another."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda one: chr(int(one[1] or one[2] or "20", 16)), text).replace("\\", "")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # JSON writes some as two halves
    return " ".join(text.split())


# What the payloads of spans hold, in any of the forms of the hosts: documents, questions, texts and tool calls.

QUESTION_UNDER = (
    "query", "query_str", "input", "question", "q", "search_query", "text", "kwargs", "query_bundle",
    "str_or_query_bundle",
)  # fmt: skip
DOCUMENTS_UNDER = (
    "documents", "output", "artifact", "data", "kwargs", "metadata", "return_value", "result", "nodes",
    "structuredContent", "structured_content", "tool_output", "raw_output", "response",
    "results", "search_results", "hits", "matches", "passages", "chunks",
)  # fmt: skip
ANSWER_UNDER = (
    "generations", "choices", "replies", "messages", "message", "message_content", "contents", "parts", "blocks",
    "said", "content", "text", "kwargs", "output", "answer", "response", "data",
)  # fmt: skip
"""The keys under which hosts keep what a search was asked, the documents that it found, and what a model said."""
BLOCK_LIST_KEYS = {"content", "contents", "parts", "blocks"}
"""The keys under which a message is a list of blocks, which are one text together."""
BLOCK_TYPE = ("type", "block_type", "part_kind")
"""What the hosts call the type of a block; those of a text have "text" in it, and thoughts and tool calls have not."""
CITED_UNDER = ("citations", "annotations")
CITED_NAME_KEYS = ("source", "url", "uri", "file_id", "document_id", "id", "document_title", "title", "filename")
"""Where a block has its structured citations, and what in one of them names a document, the most certain first."""
ARGUMENTS_UNDER = ("args", "arguments", "tool_kwargs", "input", "queries")
_ARGUMENTS = set(ARGUMENTS_UNDER)
CALL_ID = ("call_id", "tool_call_id", "tool_id", "id")
RESULT_KEYS = (
    "artifact", "tool_output", "structuredContent", "output", "result", "results", "response", "content",
    "blocks", "metadata",
)  # fmt: skip
FAILED = {
    "success": ["false"], "ok": ["false"], "is_error": ["true"], "isError": ["true"], "error": ["true"],
    "status": ["error", "failed"],
    "part_kind": ["retry-prompt"], "outcome": ["retried", "failed", "denied"],
}  # fmt: skip
"""Where a call has its arguments and its id, where its result is, and what in a result says that it failed."""
PROVIDER_SEARCHES = {
    "file_search_call", "web_search_call", "server_tool_call", "server_tool_use", "web_search_queries",
    "webSearchQueries", "retrieval_queries", "retrievalQueries", "grounding_chunks", "groundingChunks",
}  # fmt: skip
"""What providers call the searches that they run while a model answers: types of parts of a message, or its keys."""
NOT_SENT = {"artifact", "raw_output", "metadata"}
"""What LangChain, LlamaIndex and Pydantic AI keep beside a result: it is logged, but no model reads it."""


class ToolCall(NamedTuple):
    """A call of a tool that a model asked for."""

    id: str | None
    name: str
    arguments: Any

    @property
    def question(self) -> str | None:
        """What it asks for; None if that is unknown."""
        return question_in(decode_payload(self.arguments))


class ModelMessage(NamedTuple):
    """What a model said: its objects, and its tool calls."""

    objects: list[dict[str, Any]]
    calls: list[ToolCall]


class FlattenedList(NamedTuple):
    """A list that stands in attributes of its own, as in `retrieval.documents.0.document.id`.

    Attributes:
        attributes: The attributes.
        name: What their names begin with.
        otherwise: The payload that counts if there is no such attribute.
        flat: Whether its texts are enough.
    """

    attributes: Mapping[str, Any]
    prefix: str
    fallback: Any = None
    keep_flat: bool = False

    def decode(self) -> Any:
        """Return the list."""
        whole = decode_payload(self.attributes.get(self.prefix))
        if isinstance(whole, list):
            return _nested(whole)
        before = f"{self.prefix}."
        held = {key.removeprefix(before): value for key, value in self.attributes.items() if key.startswith(before)}
        if not held:
            return decode_payload(self.fallback)
        places = sorted({int(key.partition(".")[0]) for key in held})
        if places[-1] >= len(places):
            raise ValueError(f"{self.prefix} {places[0]} to {places[-1]} are {len(places)} of {places[-1] + 1}")
        return held if self.keep_flat else _nested(held)


def decode_payload(value: Any) -> Any:
    """Return a payload as an object: JSON, or what Python prints of a list, is read; any other text stays."""
    if isinstance(value, FlattenedList):
        return value.decode()
    if not isinstance(value, str) or value[:1] not in {"{", "[", '"'}:
        return value
    try:
        said = json.loads(value)
        return decode_payload(said) if isinstance(said, str) else said  # some tools write JSON of JSON
    except ValueError:
        pass
    if value.startswith(("[{'", "{'")):
        try:
            return literal_eval(value)
        except (ValueError, SyntaxError):
            pass
    return value


def _nested(said: dict[str, Any] | list[Any]) -> Any:
    """Return an object without dots in its keys: `{"0.a": 1, "0.b": 2}` becomes `[{"a": 1, "b": 2}]`."""
    inside: dict[Any, Any] = dict(enumerate(said)) if isinstance(said, list) else {}
    for key, value in said.items() if isinstance(said, dict) else ():
        first, dot, rest = key.partition(".")
        if dot and isinstance(inside.setdefault(first, {}), dict):
            inside[first][rest] = value
        else:
            inside[first] = value
    for key, value in inside.items():
        if isinstance(value, (dict, list)) and key != "metadata":
            inside[key] = _nested(value)
    if isinstance(said, list) or (inside and all(map(str.isdigit, inside))):
        return [inside[key] for key in sorted(inside, key=int)]
    return inside


def find_documents(said: Any) -> list[Retrieved] | None:
    """Return the documents in a payload; None if it holds no list of documents."""
    lists = list(_lists_in(said, DOCUMENTS_UNDER)) or list(_lists_in(said, (*DOCUMENTS_UNDER, "content", "blocks")))
    filled = [one for one in lists if one]
    if lists and not filled and any(_lists_in(said, None)):
        raise ValueError(
            "it holds an empty list of documents, and a filled one under a name that is not known"
            + python_or_cli_text("; documents= takes a function that returns those that the search found")
        )
    if any(list(map(item_identity, one)) != list(map(item_identity, filled[0])) for one in filled[1:]):
        raise ValueError(
            f"it holds {len(filled)} lists of documents that differ"
            + python_or_cli_text("; documents= takes a function that returns those that the search found")
        )
    return next(iter(filled or lists), None)


def _lists_in(said: Any, keys: Collection[str] | None) -> Iterator[list[Retrieved]]:
    for one in _under(said, keys, parse=True):
        if isinstance(one, list):
            items = [item for each in one if (item := find_item(each)) is not None]
            if len(items) < len(one) or any(item.id is None and (item.text or "")[:1] in {"[", "{"} for item in items):
                one = [inner for each in one for inner in _unblocked(each)]  # noqa: PLW2901
                items = [item for each in one if (item := find_item(each)) is not None]
            if len(items) == len(one):
                yield items
            else:
                yield from (found for each in one if isinstance(each, dict) for found in _lists_in(each, keys))


def _unblocked(block: Any) -> list[Any]:
    """Return what a block of a tool's result holds: JSON in its text, a resource of MCP, a search result; else it."""
    item = find_item(block)
    if not isinstance(block, dict) or (item is not None and item.id is not None):
        return [block]
    if isinstance(block.get("text"), str):
        said = decode_payload(block["text"])
        return [block] if isinstance(said, str) else said if isinstance(said, list) else [said]
    if item is not None:
        return [block]
    held = block["resource"] if isinstance(block.get("resource"), dict) else block
    named = held.get("uri", held.get("source" if block.get("type") == "search_result" else "url"))
    return (
        [block]
        if named is None
        else [{"id": named, "text": held.get("text") or "\n".join(texts_in(held.get("content"))) or None}]
    )


SHORT = 2_000
"""Characters of a result that may be an outage with an empty list: longer ones hold what was found."""


def find_failure(said: Any) -> str | None:
    """Return why a result says that it failed; None if it does not."""
    if isinstance(said, list) and len(said) == 1 and isinstance(said[0], dict) and is_content_block(said[0]):
        said = said[0].get("text")
    if isinstance(said, str) and said[:1] == "{":
        may_fail = len(said) <= SHORT or said.startswith('{"error":') or '"isError"' in said
        said = decode_payload(said) if may_fail else None
    if not isinstance(said, dict):
        return None
    why = said.get("error") or said.get("errors") or said.get("error_code")
    if why and not any(value for key, value in said.items() if key not in {"error", "errors", "error_code", "type"}):
        return str(why)
    if FAILED.keys().isdisjoint(said) or not any(str(said.get(key)).lower() in FAILED[key] for key in FAILED):
        return None
    return next((text for key in (*RESULT_KEYS, "error") if (text := last_text(said.get(key)))), "no reason was given")


def question_in(said: Any) -> str | None:
    """Return what was asked; None if that is unknown."""
    if isinstance(said, dict) and len(said) == 1:
        return question_in(next(iter(said.values())))
    if isinstance(said, list) and said and all(isinstance(one, str) and not _JSON.match(one) for one in said):
        return "; ".join(said)
    return next((one for one in _under(said, QUESTION_UNDER) if isinstance(one, str) and not _JSON.match(one)), None)


def last_text(said: Any) -> str | None:
    """Return the last text in what a model said; the blocks of a message are one text."""
    return _answer_in(decode_payload(said))


def _answer_in(said: Any, *, blocks: bool = False) -> str | None:
    if isinstance(said, dict):
        found = (_answer_in(said.get(key), blocks=key in BLOCK_LIST_KEYS) for key in ANSWER_UNDER)
        return None if said.get("thought") else next((text for text in found if text), None)
    if isinstance(said, list):
        kinds = [_type_of(one) if isinstance(one, dict) else None for one in said]
        blocks = blocks or all("text" in (kind or "") for kind in kinds)
        kept = (one for one, kind in zip(said, kinds, strict=True) if not blocks or "text" in (kind or "text"))
        texts = [text for one in kept if (text := _answer_in(one))]
        return "".join(texts if blocks else texts[-1:]) or None
    return said if isinstance(said, str) and said.strip() else None


def _type_of(block: dict[str, Any]) -> str | None:
    return next((str(block[key]) for key in BLOCK_TYPE if key in block), None)


def _under(said: Any, keys: Collection[str] | None, *, parse: bool = False) -> Iterator[Any]:
    """Yield a payload and what stands in it under some keys, in their order; None stands for all that it has."""
    said = decode_payload(said) if parse else said
    yield said
    for key in (said if keys is None else keys) if isinstance(said, dict) else ():
        if said.get(key) is not None:
            yield from _under(said[key], keys, parse=parse)


def texts_in(said: Any) -> list[str]:
    """Return every text of a payload, but for what is not sent to a model."""
    if isinstance(said, str):
        return [said]
    found: list[str] = []
    inside = said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, (list, tuple)) else ()
    for key, one in inside:
        if one is not None and key not in NOT_SENT and key not in BLOCK_TYPE:
            if isinstance(one, str):
                found.append(one)
            else:
                found += texts_in(one)
    return found


def read_message(said: Any, into: ModelMessage | None = None) -> ModelMessage:
    """Return every object and every tool call in what a model said, in its order, but for arguments of the calls."""
    found = into or ModelMessage([], [])
    if isinstance(said, dict):
        found.objects.append(said)
        if (call := _call_in(said)) is not None:
            found.calls.append(call)
            return found
    for one in said.values() if isinstance(said, dict) else said if isinstance(said, list) else ():
        if isinstance(one, (dict, list)):
            read_message(one, found)
    return found


def _call_in(said: dict[str, Any]) -> ToolCall | None:
    function: dict[str, Any] = said["function"] if isinstance(said.get("function"), dict) else said
    if _ARGUMENTS.isdisjoint(function):
        return None
    name = function.get("name", function.get("tool_name"))
    if name is None and (name := str(said.get("type"))) not in PROVIDER_SEARCHES:
        return None
    arguments = next((function[key] for key in ARGUMENTS_UNDER if function.get(key) is not None), None)
    id_ = next((said[key] for key in CALL_ID if said.get(key) not in (None, "")), None)
    return None if arguments is None else ToolCall(None if id_ is None else str(id_), str(name), arguments)
