"""One span of a trace, whatever recorded it, and what its payloads hold."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.retrieved import Retrieved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RETRIEVER, RERANKER, TOOL, MODEL, OTHER = "retriever", "reranker", "tool", "model", "other"
_QUESTION = ("query", "query_str", "input", "question", "q", "search_query", "text")
_INSIDE = ("documents", "output", "artifact", "data", "kwargs", "metadata", "return_value", "result", "nodes")
_TEXT = ("page_content", "content", "text")
_NOT_SENT = "artifact"
"""What LangChain keeps beside a message: it is logged, but no model reads it."""
_READ, _SAID = "llm.input_messages", "llm.output_messages"
_CALL = re.compile(r"llm\.output_messages\.(\d+)\.message\.tool_calls\.(\d+)\.tool_call\.(id|function\.\w+)")


class TraceError(ValueError):
    """A trace lacks what its score would need, so it is refused."""


@dataclass(slots=True, eq=False)
class TraceSpan:
    """One span.

    Attributes:
        trace: The id of its trace.
        id: Its id.
        parent: The id of the span around it; None for the outermost.
        kind: What it is: a retriever, a reranker, a tool, a model, or another step.
        name: Its name; of a tool, that of the tool.
        start: When it began, in seconds.
        end: When it ended.
        error: Why it failed; None if it did not.
        input: What went in, as recorded: an object, JSON, or text.
        output: What came out.
        documents: Documents that stand in attributes of their own.
        messages: The messages of a model that stand in attributes of their own, by attribute.
        call: The id of the tool call that it answers.
        cut: Why its attributes are incomplete; empty if they are not.
        is_json: Whether its output says that it is JSON.
        extra: What it was read from, until the id of the question is known; of an outermost span, always.
    """

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
    documents: Sequence[Any] | None = None
    messages: Mapping[str, Any] | None = None
    call: str | None = None
    cut: str = ""
    is_json: bool = False
    extra: Any = None

    @property
    def where(self) -> str:
        """What messages call it."""
        return f"span {self.id!r} ({self.name}) of trace {self.trace!r}"

    def question(self) -> str | None:
        """Return what a search asked for; None if that is unknown."""
        found = _question(parsed(self.input))
        return None if found is None else found.strip().removeprefix("input is ").strip() or None

    def found(self) -> list[Any] | None:
        """Return the documents that a search found; None if the span does not say.

        Raises:
            TraceError: If it said more than was kept.
        """
        own = None if self.documents is None or self.cut else [item_of(one) for one in self.documents]
        if own is not None and all(item is not None and item.id is not None for item in own):
            return own
        said = parsed(self.output)
        if isinstance(said, str) and (self.is_json or said[:2] in {'["', "[{", '{"'}):
            raise TraceError(f"the output of {self.where} was cut short, so what it found is unknown; {RAISE_LIMITS}")
        listed = items_in(said)
        if listed is not None:
            return listed
        if self.cut:
            raise TraceError(f"{self.cut} of {self.where}, so what it found is unknown; {RAISE_LIMITS}")
        return None if own is None or None in own else own

    def read(self) -> str | None:
        """Return the text that a model has read; None if it was not recorded.

        Raises:
            TraceError: If some of it was lost.
        """
        texts: list[str] = []
        numbers = set()
        for key, value in (self.messages or {}).items():
            if key == _READ:
                return plain("\n".join(str(one.get("message.content") or "") for one in parsed(value)))
            if key.startswith(_READ):
                numbers.add(key[len(_READ) + 1 :].partition(".")[0])
                if key.endswith((".message.content", ".message_content.text")):
                    texts.append(str(value))
        if not all(str(at) in numbers for at in range(len(numbers))):
            raise TraceError(f"messages in the input of {self.where} were lost; {RAISE_LIMITS}")
        if numbers:
            return plain("\n".join(texts))
        said = parsed(self.input)
        if isinstance(said, str) and said[:2] in {'["', "[{", '{"'}:
            raise TraceError(f"the input of {self.where} was cut short; {RAISE_LIMITS}")
        return None if said is None else plain("\n".join(_strings(said)))

    def asked(self) -> list[tuple[str | None, str | None]]:
        """Return id and question of each tool call in the message of a model, in its order."""
        calls: dict[tuple[int, int], dict[str, Any]] = {}
        for key, value in (self.messages or {}).items():
            if key == _SAID:
                return list(tool_calls(parsed(value)))
            if key.startswith(_SAID) and (match := _CALL.fullmatch(key)):
                calls.setdefault((int(match[1]), int(match[2])), {})[match[3]] = value
        return list(tool_calls([calls[at] for at in sorted(calls)] if calls else parsed(self.output)))


RAISE_LIMITS = (
    "record again with higher limits (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT)"
)


def parsed(value: Any) -> Any:
    """Return a payload as an object: JSON, or what Python prints of a list, is read; any other text stays."""
    if not isinstance(value, str) or value[:1] not in {"{", "[", '"'}:
        return value
    try:
        return json.loads(value)
    except ValueError:
        pass
    if value.startswith(("[{'", "{'")):
        try:
            return literal_eval(value)
        except (ValueError, SyntaxError):
            pass
    return value


def plain(text: str) -> str:
    """Return a text without what JSON and `repr` do to white space and quotes, for looking for one in another."""
    return " ".join(text.replace("\\n", " ").replace("\\t", " ").replace("\\", "").split())


def items_in(said: Any) -> list[Any] | None:
    """Return the documents in a payload, in any of the forms of the hosts; None if it holds no list of documents."""
    if isinstance(said, str):
        said = parsed(said)
    if isinstance(said, list):
        items = [item_of(one) for one in said]
        if all(item is not None for item in items):
            return items
        return next((inner for one in said if isinstance(one, dict) and (inner := items_in(one)) is not None), None)
    if isinstance(said, dict):
        for key in _INSIDE:
            if isinstance(said.get(key), (list, dict)) and (found := items_in(said[key])) is not None:
                return found
    return None


def item_of(said: Any) -> Retrieved | None:
    """Return a document in any of the forms of the hosts; None if it is none."""
    if not isinstance(said, dict):
        return said if isinstance(said, Retrieved) else None
    if "document.content" in said or "document.id" in said:  # OpenInference, flat
        said = {key.removeprefix("document."): value for key, value in said.items()}
    for wrapper in ("document", "kwargs"):
        if isinstance(said.get(wrapper), dict):
            said = said[wrapper]
    node = said.get("node") if isinstance(said.get("node"), dict) else said
    text = next((node[key] for key in _TEXT if isinstance(node.get(key), str)), None)
    id_ = next((node[key] for key in ("id", "id_", "node_id", "document_id") if node.get(key) is not None), None)
    if (
        (id_ is None and text is None)
        or isinstance(id_, (list, dict))
        or said.get("role")
        or "tool_call_id" in said
        or "tool_calls" in said
    ):
        return None
    metadata = parsed(node.get("metadata") or node.get("meta")) or {}
    metadata = metadata if isinstance(metadata, dict) else {}
    start = next((at for at in (metadata.get("start_index"), node.get("start_char_idx")) if _is_offset(at)), None)
    source = next((metadata[key] for key in ("doc_uri", "source", "file_path") if metadata.get(key) is not None), None)
    return Retrieved(
        id_ if isinstance(id_, (str, int)) else str(id_) if id_ is not None else None,
        text,
        source=None if source is None else str(source),
        start=start if text is not None else None,
        metadata=dict(metadata) or None,
        claimed=True,
    )


def _is_offset(at: Any) -> bool:
    return isinstance(at, int) and at >= 0  # splitters write -1 if it is not found


def _question(said: Any) -> str | None:
    if isinstance(said, str):
        return said
    if isinstance(said, dict):
        for key in (*_QUESTION, "kwargs", "query_bundle", "str_or_query_bundle"):
            if said.get(key) is not None and (found := _question(said[key])) is not None:
                return found
        if len(said) == 1:
            return _question(next(iter(said.values())))
    return None


def _strings(said: Any) -> Iterator[str]:
    """Yield every text of a payload, but for what is not sent to a model."""
    if isinstance(said, str):
        yield said
    elif isinstance(said, dict):
        for key, value in said.items():
            if key != _NOT_SENT:
                yield from _strings(value)
    elif isinstance(said, (list, tuple)):
        for value in said:
            yield from _strings(value)


def tool_calls(said: Any) -> Iterator[tuple[str | None, str | None]]:
    """Yield id and question of each tool call in a model's message, in the order of the message."""
    if isinstance(said, dict):
        plainly = {str(key).removeprefix("tool_call."): value for key, value in said.items()}
        function: dict[str, Any] = plainly["function"] if isinstance(plainly.get("function"), dict) else plainly
        arguments = next(
            (function[key] for key in ("args", "arguments", "function.arguments", "tool_kwargs") if key in function),
            None,
        )
        if arguments is not None and ("name" in function or "tool_name" in function or "function.name" in function):
            id_ = plainly.get("id", plainly.get("tool_id"))
            yield None if id_ is None else str(id_), _question(parsed(arguments))
            return
        for value in said.values():
            yield from tool_calls(value)
    elif isinstance(said, list):
        for value in said:
            yield from tool_calls(value)
