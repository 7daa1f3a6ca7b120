"""Conversations as spans: messages of models and tools, as programs and agents keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.agents.trace_formats import read_spans
from retrieval_metrics.agents.trace_span import (
    BLOCK_LIST_KEYS,
    MODEL,
    OTHER,
    PROVIDER_SEARCHES,
    RESULT_KEYS,
    TOOL,
    ModelMessage,
    TraceError,
    TraceSpan,
    decode_payload,
    find_failure,
    last_text,
    read_message,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


FORMS = {
    "Anthropic messages, transcripts of coding agents": ("tool_use_id", "content"),
    "OpenAI chat, LangChain, LangGraph, pydantic-ai": ("tool_call_id", "content"),
    "OpenAI responses, run items and rollouts": ("call_id", "output"),
    "MCP tools that OpenAI runs": ("id", "output"),
    "file search that OpenAI runs": ("id", "results"),
    "LlamaIndex events": ("tool_id", "tool_output"),
    "LlamaIndex chat messages": ("additional_kwargs.tool_call_id", "blocks"),
    "Haystack chat messages": ("origin.id", "result"),
    "OpenTelemetry GenAI messages": ("id", "response"),
}
"""Where a result of each form names its call, and what it has else; calls and texts are told alike in all forms."""
NOT_ASKED = "results"
"""What stays empty where the provider was not asked to include it."""
PATHS = [(call.partition(".")[::2], result) for call, result in FORMS.values()]
NAMES_CALL = {first for (first, _), _ in PATHS}
ROLES = {
    **dict.fromkeys(("assistant", "ai", "aimessage", "aimessagechunk", "model", "response", "function_call"), MODEL),
    **dict.fromkeys(("custom_tool_call", "mcp_call", "reasoning", *PROVIDER_SEARCHES), MODEL),
    **dict.fromkeys(("user", "human", "system", "developer", "tool", "function", "request"), OTHER),
    **dict.fromkeys(("function_call_output", "custom_tool_call_output"), OTHER),
}
ROLE_UNDER = ("role", "type", "kind")
"""What the forms call a message that a model has written, and one that it reads, and where they say so."""
WRAPPED_IN = dict.fromkeys(("message", "payload", "data", "kwargs", "raw_item", "value"))
WITHIN = {"tool_call_result", "functionResponse", "function_response"}
"""Where a line or an event has its message, and a block its result."""
LISTS = {*BLOCK_LIST_KEYS, "tool_calls"}
CONVERSATION_KIND = "conversation"
NAMED_BY = ("id", "thread_id", "session_id", "sessionId", "conversation_id")
SPAN_KEYS = {
    "trace", "trace_id", "traceId", "context", "context.trace_id", "attributes", "tags", "event", "run_type",
    "resourceSpans", "observations", "info",
}  # fmt: skip
"""What names a conversation, and what no message has."""


def iterate_spans(units: Iterable[Any], strays: list[Any]) -> Iterator[TraceSpan]:
    """Yield the spans of traces and conversations; what is neither is added to `strays` if it stands among messages."""
    loose: dict[Any, list[Any]] = {}
    for number, given in enumerate(units, start=1):
        if isinstance(given, dict) and not SPAN_KEYS.isdisjoint(given):  # most files hold only these
            yield from read_spans(given)
            continue
        unit = _plain(given)
        first = unit[0] if isinstance(unit, list) and unit else unit
        if isinstance(first, dict) and not SPAN_KEYS.isdisjoint(first):
            yield from read_spans(unit) if first is unit else iterate_spans(unit, strays)
        elif conversations := _conversations(unit, str(number)):
            for name, messages, about in conversations:
                yield from _Conversation(name, about).spans(messages)
        elif isinstance(unit, dict) and (_role(unit) or _results(_inner(unit))):
            loose.setdefault(_name(unit, NAMED_BY[1:], "1"), []).append(unit)
        else:
            strays.append(unit)
    if not loose:
        for unit in strays:
            yield from read_spans(unit)
        strays.clear()
    for name, messages in loose.items():
        yield from _Conversation(name, {}).spans(messages)


def _conversations(unit: Any, number: str) -> list[tuple[Any, list[Any], Mapping[str, Any]]]:
    """Return the conversations that an object holds whole: their names, their messages and what stands beside them."""
    if isinstance(unit, list):
        return [(number, unit, {})]
    if not isinstance(unit, dict) or _role(unit):
        return []
    for key in ("messages", "input"):
        if isinstance(messages := decode_payload(unit.get(key)), list) and "current_agent_name" not in unit:
            answer = unit.get("output", unit.get("response"))
            if not isinstance(answer, list):  # a text, or what has no role itself, is what the model said
                whole = answer is None or (isinstance(plain := _plain(answer), dict) and _role(plain))
                answer = [answer if whole else {"role": "assistant", "content": answer}] if answer else []
            messages = [*messages, *answer]
            return [(_name(unit, NAMED_BY, number), messages, unit)]
    held: dict[Any, Any] = {name: one.get("messages") if isinstance(one, dict) else one for name, one in unit.items()}
    if not {list}.issuperset(map(type, held.values())):
        return []
    first = [plain for one in held.values() if one and isinstance(plain := _plain(one[0]), dict)]
    return [(name, messages, {}) for name, messages in held.items()] if any(map(_role, first)) else []


def _name(unit: Mapping[str, Any], keys: Sequence[str], otherwise: str) -> str | int:
    return next((unit[key] for key in keys if isinstance(unit.get(key), (str, int))), otherwise)


def _plain(given: Any) -> Any:
    """Return a message as a dict, whatever class of a host it is."""
    if isinstance(given, dict):
        for key in LISTS.intersection(given):
            if isinstance(blocks := given[key], list) and not {dict, str}.issuperset(map(type, blocks)):
                given = given | {key: [_plain(one) for one in blocks]}
        return given
    for method in ("model_dump", "to_dict", "dict"):
        if callable(getattr(given, method, None)):
            return getattr(given, method)()
    if is_dataclass(given) and not isinstance(given, type):
        return asdict(given)
    return dict(given) if isinstance(given, Mapping) else given


def _inner(unit: dict[str, Any]) -> dict[str, Any]:
    """Return the message in a line or an event."""
    for key in () if WRAPPED_IN.keys().isdisjoint(unit) else WRAPPED_IN:
        if isinstance(held := unit.get(key), dict):
            return _inner(held)
    return unit


def _role(unit: dict[str, Any], inner: dict[str, Any] | None = None) -> str | None:
    """Return whether a model has written a message or reads it; None if it is none."""
    if "current_agent_name" in unit:  # events of LlamaIndex
        return MODEL if isinstance(unit.get("response"), dict) else OTHER if "input" in unit else None
    if "session_id" in unit and "message" not in unit:
        return None
    inner = _inner(unit) if inner is None else inner
    for one in (inner,) if inner is unit else (inner, unit):
        for key in ROLE_UNDER:
            if key in one and (role := ROLES.get(str(one[key]).lower())) is not None:
                return role
    return None


def _results(said: dict[str, Any]) -> list[tuple[dict[str, Any], str | None]]:
    """Return the results in a message, each with the id of its call, if it has one."""
    blocks = [one for key in BLOCK_LIST_KEYS.intersection(said) if isinstance(said[key], list) for one in said[key]]
    found: list[tuple[dict[str, Any], str | None]] = []
    for one in (said, *blocks):
        if isinstance(one, dict):
            held = (
                one
                if WITHIN.isdisjoint(one)
                else next((one[key] for key in WITHIN if isinstance(one.get(key), dict)), one)
            )
            id_ = _call_of(held)
            if id_ is not None or held is not one:
                found.append((held, id_))
            if found and one is said:  # its blocks are what came out
                break
    return found or ([(said, None)] if said.get("role", said.get("type")) in ("tool", "function") else [])


def _call_of(result: dict[str, Any]) -> str | None:
    """Return the id of the call that a result names."""
    for (first, inner), under in () if NAMES_CALL.isdisjoint(result) else PATHS:
        there = result.get(under) is not None or result.get("error") is not None
        if first in result and (there or (under == NOT_ASKED and under in result)):
            at = result[first]
            if inner:
                at = at.get(inner) if isinstance(at, dict) else None
            if isinstance(at, (str, int)) and at != "":
                return str(at)
    return None


def _parts(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the message of a model in parts, each of which ends with what tools of its provider found."""
    parts: list[list[Any]] = [[]]
    known = False
    for block in said["content"] if isinstance(said.get("content"), list) else ():
        is_result = isinstance(block, dict) and _call_of(block) is not None
        if known and not is_result:
            parts.append([])
        parts[-1].append(block)
        known = is_result
    if len(parts) == 1:
        return [said]
    return [{key: part if key == "content" else held for key, held in said.items() if key != "id"} for part in parts]


class _Conversation:
    """One conversation, as far as it was read; a scope is the call of a sub-agent, or None."""

    def __init__(self, name: Any, about: Mapping[str, Any]) -> None:
        self._root = TraceSpan(name, CONVERSATION_KIND, None, OTHER, CONVERSATION_KIND, root=(about, about))
        self._spans = [self._root]
        self._calls: dict[Any, list[TraceSpan]] = {}
        self._early: dict[Any, TraceSpan] = {}
        self._again: set[Any] = set()
        self._models: dict[Any, TraceSpan] = {}
        self._speaking: dict[Any, TraceSpan | None] = {}
        self._read: dict[Any, list[Any]] = {}
        self._last: dict[Any, tuple[TraceSpan, list[Any], int]] = {}

    def spans(self, messages: Iterable[Any]) -> list[TraceSpan]:
        """Return each answer of a model, and each call of a tool at the place of its result."""
        for at, given in enumerate(messages, start=1):
            unit = _plain(given)
            if not isinstance(unit, dict):
                raise TraceError(f"message {at} of conversation {self._root.trace!r} is no message: {unit!r:.40}")
            said, scope = _inner(unit), self._scope(unit)
            role = _role(unit, said)
            # An event with all that the model reads, or what a coding agent keeps instead of all before.
            if role == OTHER and ("current_agent_name" in unit or unit.get("isCompactSummary")):
                self._read[scope] = []
            for number, part in enumerate(_parts(said) if role == MODEL else [said]):
                self._take(at + number / 1000 if number else at, part, role, scope)
        for span in self._unanswered():
            span.error = "the messages hold no result of this call"
        for model, read, before in self._last.values():
            model.input = read[:before]
        return self._spans

    def _take(self, at: float, said: dict[str, Any], role: str | None, scope: str | None) -> None:
        """Note a message, or the part of one up to what a tool of the provider found."""
        read = self._read.setdefault(scope, [])
        if role == MODEL:
            self._say(at, said, scope, read)
        else:
            self._speaking[scope] = None
            self._root.input = self._root.input or last_text(said)
        read.append(said)
        for result, id_ in _results(said):
            self._answer(at, result, id_, scope)
            self._speaking[scope] = None  # what the model says next it says with this result, also its provider's

    def _scope(self, unit: dict[str, Any]) -> str | None:
        """Return the call of the sub-agent whose message it is; transcripts name it, or say only that there is one."""
        if not unit.get("isSidechain"):
            around = self._calls.get(unit.get("parent_tool_use_id"))
            return around[-1].id if around else None
        waiting = [one for one in self._unanswered() if one.parent == self._root.id]
        return waiting[-1].id if waiting else None

    def _unanswered(self) -> list[TraceSpan]:
        return [one for one in self._spans if one.kind == TOOL and one.outcome is None]

    def _add(self, id_: str, kind: str, at: float, scope: str | None, *, name: str = MODEL, **more: Any) -> TraceSpan:
        self._spans.append(TraceSpan(self._root.trace, id_, scope or self._root.id, kind, name, at, at, **more))
        return self._spans[-1]

    def _say(self, at: float, said: dict[str, Any], scope: str | None, read: list[Any]) -> None:
        """Note what a model wrote; lines of one message, and messages without a result between, are one answer."""
        key = scope, _name(said, ("id",), "") or at
        model = self._models.get(key) or self._speaking.get(scope)
        if model is None:
            model = self._add(f"message {at}", MODEL, at, scope, output=[])
            self._last[scope] = model, read, len(read)
        self._models[key] = self._speaking[scope] = model
        same = next((one for one in model.output if "id" in said and one.get("id") == said["id"]), None)
        if same is not None and str(said.get("type")).lower() == "aimessagechunk":
            raise TraceError(
                f"message {at} of conversation {self._root.trace!r} is one of several chunks of a message; add "
                "them to one first, as in chunk + chunk"
            )
        if same is not None and isinstance(same.get("content"), list) and isinstance(said.get("content"), list):
            model.output[model.output.index(same)] = {**same, "content": [*same["content"], *said["content"]]}
        else:
            model.output.append(said)
        told, before = read_message(said), model.message or ModelMessage([], [])
        model.message = ModelMessage(before.objects + told.objects, before.calls + told.calls)
        here = set()
        for number, (id_, name, arguments) in enumerate(told.calls):
            known = self._calls.get(id_, [])
            call = self._early.pop(id_, None)
            if call is not None:  # its result came first
                call.start = call.end = at
            elif known and known[-1].outcome is None and id_ not in here:  # a stream tells more and more of a call
                call = known[-1]
            if call is not None:
                call.name, call.input = name, arguments
            elif any((one.name, one.input) == (name, arguments) for one in known):
                self._again.add(id_)  # also by the last event of LlamaIndex, which lists the calls of all its turns
            else:
                self._call(id_, f"call {number} of message {at}", (name, arguments), at, scope)
            here.add(id_)

    def _call(self, id_: str | None, place: str, asked: tuple[str, Any], at: float, scope: str | None) -> TraceSpan:
        named = place if id_ is None else id_ if id_ not in self._calls else f"{id_}, {place}"
        call = self._add(named, TOOL, at, scope, name=asked[0], input=asked[1], call=id_)
        self._calls.setdefault(id_ or named, []).append(call)
        return call

    def _answer(self, at: float, result: dict[str, Any], id_: str | None, scope: str | None) -> None:
        """Note what came out of a call: of its id; without one, of the first of its name that waits."""
        name = result.get("name", result.get("tool_name"))
        held = {key: result[key] for key in RESULT_KEYS if result.get(key) is not None}
        output = next(iter(held.values())) if len(held) == 1 else held
        known = self._calls.get(id_, [])
        if id_ is None:
            known = [one for one in self._unanswered() if one.call is None and name in (None, one.name)]
        call = next((one for one in known if one.outcome is None), None)
        if call is None:
            if known and id_ not in self._again and known[-1].output == output:  # the same message once more
                return
            asked = (known[-1].name, known[-1].input) if known else (str(name or "unnamed"), result.get("tool_kwargs"))
            call = self._call(id_, f"result of message {at}", asked, at, scope)
            if id_ is not None and not known:
                self._early[id_] = call
        self._again.discard(id_)
        call.start = call.end = at
        call.output = output
        failures = (*map(find_failure, (result, *held.values())), None if held else result.get("error"))
        call.error = next((str(why) for why in failures if why is not None), None)
