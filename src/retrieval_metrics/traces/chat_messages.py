"""Read conversations, messages of models and tools as programs and agents keep them, as spans of traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.files.json_objects import ObjectLocation
from retrieval_metrics.traces.model_message import PROVIDER_SEARCHES, ModelMessage, ToolCall, read_message
from retrieval_metrics.traces.payload_decoding import decode_payload
from retrieval_metrics.traces.span_payloads import BLOCK_LIST_KEYS, RESULT_KEYS, find_failure, find_last_text
from retrieval_metrics.traces.trace_formats import read_spans
from retrieval_metrics.traces.trace_span import MODEL, OTHER, TOOL, SpanFields, TraceError, TraceSpan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class ResultForm(NamedTuple):
    """The keys of the result of a tool call in one form of messages.

    Attributes:
        id_key: The key of the id of the call.
        content_key: The key of the content; an object without it is no result.
        nested_key: The key of the id inside the object under `id_key`; empty if `id_key` holds the id itself.
    """

    id_key: str
    content_key: str
    nested_key: str = ""


# The keys of results in each form of messages. Only results need the form: calls and texts are found by keys that all
# forms share.
FORMS = {
    "Anthropic messages, transcripts of coding agents": ResultForm("tool_use_id", "content"),
    "OpenAI chat, LangChain, LangGraph, pydantic-ai": ResultForm("tool_call_id", "content"),
    "OpenAI responses, run items and rollouts": ResultForm("call_id", "output"),
    "MCP tools that OpenAI runs": ResultForm("id", "output"),
    "file search that OpenAI runs": ResultForm("id", "results"),
    "LlamaIndex events": ResultForm("tool_id", "tool_output"),
    "LlamaIndex chat messages": ResultForm("additional_kwargs", "blocks", "tool_call_id"),
    "Haystack chat messages": ResultForm("origin", "result", "id"),
    "OpenTelemetry GenAI messages": ResultForm("id", "response"),
}
# The content of this key is empty if the provider was not asked to include it.
OPTIONAL_CONTENT_KEY = "results"
CALL_NAMING_KEYS = {form.id_key for form in FORMS.values()}
# The names of roles and types of messages: MODEL for a message that a model has written, OTHER for one that it reads.
ROLES = {
    **dict.fromkeys(("assistant", "ai", "aimessage", "aimessagechunk", "model", "response", "function_call"), MODEL),
    **dict.fromkeys(("custom_tool_call", "mcp_call", "reasoning", *PROVIDER_SEARCHES), MODEL),
    **dict.fromkeys(("user", "human", "system", "developer", "tool", "function", "request"), OTHER),
    **dict.fromkeys(("function_call_output", "custom_tool_call_output"), OTHER),
}
ROLE_KEYS = ("role", "type", "kind")
# The names of roles of messages that the user has written.
USER_ROLES = {"user", "human", "request"}
# The keys under which a line of a file or an event has its message.
MESSAGE_KEYS = ("message", "payload", "data", "kwargs", "raw_item", "value")
_MESSAGE_KEY_SET = set(MESSAGE_KEYS)
# The keys under which a block has a result.
RESULT_BLOCK_KEYS = {"tool_call_result", "functionResponse", "function_response"}
# The keys of lists in a message whose objects may be of a host's class.
OBJECT_LIST_KEYS = {*BLOCK_LIST_KEYS, "tool_calls"}
CONVERSATION_KIND = "conversation"
# The keys of the id of a conversation.
CONVERSATION_ID_KEYS = ("id", "thread_id", "session_id", "sessionId", "conversation_id")
# The keys of spans that no message has.
SPAN_KEYS = {
    "trace", "trace_id", "traceId", "context", "context.trace_id", "attributes", "tags", "event", "run_type",
    "resourceSpans", "observations", "info",
}  # fmt: skip
# A message that is split into parts numbers them in fractions of its own number, such as 7, 7.001 and 7.002.
PARTS_PER_MESSAGE = 1000


class WholeConversation(NamedTuple):
    """A conversation that one object of a file holds.

    Attributes:
        name: Its id, or the number of the object.
        messages: Its messages.
        fields: The object that holds the messages; empty for a plain list.
    """

    name: Any
    messages: list[Any]
    fields: Mapping[str, Any]


class Stray(NamedTuple):
    """An object that is neither a span nor a message, and the number of its line or element."""

    record: Any
    number: int


class CallResult(NamedTuple):
    """The result of a tool call, and the id of the call; None if the result does not name it."""

    result: dict[str, Any]
    call_id: str | None


class LastAnswer(NamedTuple):
    """The last answer of a model.

    Attributes:
        model: The span of the model.
        messages: The messages of its conversation, to which later ones are added.
        n_read: The number of first messages that the model has read.
        turn_start: The position of the message with which the user began the turn.
    """

    model: TraceSpan
    messages: list[Any]
    n_read: int
    turn_start: int


def iterate_spans(
    records: Iterable[Any], strays: list[Stray], location: ObjectLocation | None = None
) -> Iterator[TraceSpan]:
    """Yield the spans of traces and conversations.

    Args:
        records: Spans, traces, conversations or single messages.
        strays: A list to which records are added that are neither, if they stand among messages; otherwise such records
            are read as spans, which refuses them.
        location: Where the record stands that was read last; it is set to that of the record whose spans are yielded.
    """
    if location is None:
        location = ObjectLocation()
    loose_messages: dict[Any, list[Any]] = {}
    for number, record in enumerate(records, start=1):
        if _is_span(record):  # most files hold only these
            yield from read_spans(record)
            continue
        plain = _as_dict(record)
        if isinstance(plain, list) and plain and _is_span(plain[0]):
            yield from iterate_spans(plain, strays, location)
            continue
        if _is_span(plain):
            yield from read_spans(plain)
            continue
        conversations = _find_conversations(plain, str(number))
        for conversation in conversations:
            yield from _Conversation(conversation.name, conversation.fields).read_messages(conversation.messages)
        if conversations:
            continue
        if isinstance(plain, dict) and (_find_role(plain) or _find_results(_inner_message(plain))):
            # A loose message has an id of its own, so "id" does not name its conversation.
            name = _conversation_name(plain, CONVERSATION_ID_KEYS[1:], "1")
            loose_messages.setdefault(name, []).append(plain)
        else:
            strays.append(Stray(plain, location.number))
    if not loose_messages:
        for stray in strays:
            location.number = stray.number
            yield from read_spans(stray.record)
        strays.clear()
    location.number = 0  # messages of a conversation stand in several lines, and have numbers of their own
    for name, messages in loose_messages.items():
        yield from _Conversation(name, {}).read_messages(messages)


def _is_span(record: Any) -> bool:
    return isinstance(record, dict) and not SPAN_KEYS.isdisjoint(record)


def _find_conversations(record: Any, number: str) -> list[WholeConversation]:
    """Return the conversations that an object holds whole."""
    if isinstance(record, list):
        return [WholeConversation(number, record, {})]
    if not isinstance(record, dict) or _find_role(record):
        return []
    for key in ("messages", "input"):
        messages = decode_payload(record.get(key))
        if isinstance(messages, list) and "current_agent_name" not in record:
            name = _conversation_name(record, CONVERSATION_ID_KEYS, number)
            return [WholeConversation(name, [*messages, *_find_answer_messages(record)], record)]
    return _conversations_by_name(record)


def _find_answer_messages(record: Mapping[str, Any]) -> list[Any]:
    """Return the answer that a record keeps beside its messages, as messages."""
    answer = record.get("output", record.get("response"))
    if isinstance(answer, list):
        return answer
    if not answer:
        return []
    plain = _as_dict(answer)
    if isinstance(plain, dict) and _find_role(plain):
        return [answer]
    # A text, or an object without a role, is what the model said.
    return [{"role": "assistant", "content": answer}]


def _conversations_by_name(record: dict[Any, Any]) -> list[WholeConversation]:
    """Return the conversations of a mapping of names to lists of messages."""
    conversations: list[WholeConversation] = []
    for name, value in record.items():
        messages = value.get("messages") if isinstance(value, dict) else value
        if type(messages) is not list:
            return []
        conversations.append(WholeConversation(name, messages, {}))
    for conversation in conversations:
        first = _as_dict(conversation.messages[0]) if conversation.messages else None
        if isinstance(first, dict) and _find_role(first) is not None:
            return conversations
    return []


def _conversation_name(record: Mapping[str, Any], keys: Sequence[str], default: str) -> str | int:
    for key in keys:
        name = record.get(key)
        if isinstance(name, (str, int)):
            return name
    return default


def _as_dict(message: Any) -> Any:
    """Return a message as a dict, whatever class of a host it is."""
    if isinstance(message, dict):
        return _with_plain_lists(message)
    for method_name in ("model_dump", "to_dict", "dict"):
        method = getattr(message, method_name, None)
        if callable(method):
            return method()
    if is_dataclass(message) and not isinstance(message, type):
        return asdict(message)
    if isinstance(message, Mapping):
        return dict(message)
    return message


def _with_plain_lists(message: dict[Any, Any]) -> dict[Any, Any]:
    """Return a message in whose lists objects of a host's class are dicts."""
    for key in OBJECT_LIST_KEYS.intersection(message):
        blocks = message[key]
        if isinstance(blocks, list) and not {dict, str}.issuperset(map(type, blocks)):
            message = message | {key: [_as_dict(block) for block in blocks]}
    return message


def _inner_message(record: dict[str, Any]) -> dict[str, Any]:
    """Return the message in a line or an event."""
    if _MESSAGE_KEY_SET.isdisjoint(record):
        return record
    for key in MESSAGE_KEYS:
        inner = record.get(key)
        if isinstance(inner, dict):
            return _inner_message(inner)
    return record


def _find_role(record: dict[str, Any], message: dict[str, Any] | None = None) -> str | None:
    """Return MODEL if a model has written a message, OTHER if a model reads it, and None if it is no message."""
    if "current_agent_name" in record:  # events of LlamaIndex
        if isinstance(record.get("response"), dict):
            return MODEL
        return OTHER if "input" in record else None
    if "session_id" in record and "message" not in record:
        return None
    if message is None:
        message = _inner_message(record)
    role = _find_own_role(message)
    if role is None and message is not record:
        role = _find_own_role(record)
    return role


def _find_own_role(message: dict[str, Any]) -> str | None:
    for name in _role_names(message):
        role = ROLES.get(name)
        if role is not None:
            return role
    return None


def _role_names(message: dict[str, Any]) -> list[str]:
    """Return what a message says about its role, in lower case."""
    names = []
    for key in ROLE_KEYS:
        name = message.get(key)
        if isinstance(name, Enum):  # the roles of LlamaIndex
            name = name.value
        names.append(str(name).lower())
    return names


def _is_question(message: dict[str, Any]) -> bool:
    """Return whether the user wrote a message, rather than a tool or the system."""
    if USER_ROLES.isdisjoint(_role_names(message)) or find_last_text(message) is None:
        return False
    return not _find_results(message)


def _find_results(message: dict[str, Any]) -> list[CallResult]:
    """Return the results in a message, each with the id of its call, if it has one."""
    own_result = _find_result(message)
    if own_result is not None:  # the blocks of the message are the content of this result
        return [own_result]
    results = []
    for key in BLOCK_LIST_KEYS.intersection(message):
        blocks = message[key]
        for block in blocks if isinstance(blocks, list) else ():
            result = _find_result(block) if isinstance(block, dict) else None
            if result is not None:
                results.append(result)
    if not results and message.get("role", message.get("type")) in ("tool", "function"):
        return [CallResult(message, None)]
    return results


def _find_result(part: dict[str, Any]) -> CallResult | None:
    """Return the result in a message or a block, which may be the result itself; None if there is none."""
    result = part
    if not RESULT_BLOCK_KEYS.isdisjoint(part):
        for key in RESULT_BLOCK_KEYS:
            if isinstance(part.get(key), dict):
                result = part[key]
                break
    call_id = _find_call_id(result)
    if call_id is None and result is part:
        return None
    return CallResult(result, call_id)


def _find_call_id(result: dict[str, Any]) -> str | None:
    """Return the id of the call that a result names."""
    if CALL_NAMING_KEYS.isdisjoint(result):
        return None
    has_error = result.get("error") is not None
    for form in FORMS.values():
        if form.id_key not in result:
            continue
        has_content = has_error or result.get(form.content_key) is not None
        is_optional = form.content_key == OPTIONAL_CONTENT_KEY and form.content_key in result
        if not has_content and not is_optional:
            continue
        call_id = result[form.id_key]
        if form.nested_key:
            call_id = call_id.get(form.nested_key) if isinstance(call_id, dict) else None
        if isinstance(call_id, (str, int)) and call_id != "":
            return str(call_id)
    return None


def _split_at_results(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Split the message of a model after each run of results that tools of its provider returned."""
    content = message.get("content")
    block_groups: list[list[Any]] = [[]]
    follows_result = False
    for block in content if isinstance(content, list) else ():
        is_result = isinstance(block, dict) and _find_call_id(block) is not None
        if follows_result and not is_result:
            block_groups.append([])
        block_groups[-1].append(block)
        follows_result = is_result
    if len(block_groups) == 1:
        return [message]
    # The parts are answers of their own, so they do not share the id of the message.
    shared = {key: value for key, value in message.items() if key != "id"}
    return [shared | {"content": blocks} for blocks in block_groups]


class _Conversation:
    """The spans of one conversation, as far as it was read.

    Messages have a scope: the id of the tool call that started the sub-agent they belong to, or None.
    """

    def __init__(self, name: Any, fields: Mapping[str, Any]) -> None:
        self._root = TraceSpan(
            name, CONVERSATION_KIND, None, OTHER, CONVERSATION_KIND, fields=SpanFields(fields, fields)
        )
        self._spans = [self._root]
        self._calls: dict[Any, list[TraceSpan]] = {}
        # Calls whose results came before the message that asks for them.
        self._early_calls: dict[Any, TraceSpan] = {}
        # The ids of calls that a later message listed once more.
        self._repeated_ids: set[Any] = set()
        self._models: dict[Any, TraceSpan] = {}
        # The model that is speaking in each scope: everything that it writes before the next result is one answer.
        self._speakers: dict[Any, TraceSpan | None] = {}
        self._messages: dict[Any, list[Any]] = {}
        self._last_answers: dict[Any, LastAnswer] = {}
        # The numbers of the messages with which the user begins a turn, the position of the last of them among the
        # messages of the main agent, and whether that agent has said something since.
        self._turn_starts: list[int] = []
        self._turn_start = 0
        self._has_answered = True

    def read_messages(self, messages: Iterable[Any]) -> list[TraceSpan]:
        """Return the spans of the messages: each answer of a model, and each tool call at the time of its result."""
        for number, record in enumerate(messages, start=1):
            plain = _as_dict(record)
            if not isinstance(plain, dict):
                raise TraceError(
                    f"message {number} of conversation {self._root.trace!r} is not a message: {plain!r:.40}"
                )
            self._read_record(number, plain)
        for span in self._unanswered_calls():
            span.error = "the messages hold no result of this call"
        self._root.turn_starts = tuple(self._turn_starts)
        for scope, answer in self._last_answers.items():
            answer.model.input = answer.messages[: answer.n_read]
            if scope is None and len(self._turn_starts) > 1:
                answer.model.turn_input = answer.messages[answer.turn_start : answer.n_read]
        return self._spans

    def _read_record(self, number: int, record: dict[str, Any]) -> None:
        message = _inner_message(record)
        scope = self._find_scope(record)
        role = _find_role(record, message)
        # Some messages replace all earlier ones: an event with everything that the model reads, or a summary of a
        # coding agent.
        replaces_context = "current_agent_name" in record or record.get("isCompactSummary")
        if role == OTHER and replaces_context:
            self._messages[scope] = []
            if scope is None:
                self._turn_start = 0
        elif role == OTHER and scope is None and self._has_answered and _is_question(message):
            self._begin_turn(number)
        parts = _split_at_results(message) if role == MODEL else [message]
        for part_number, part in enumerate(parts):
            time = number + part_number / PARTS_PER_MESSAGE if part_number else number
            self._read_part(time, part, role, scope)

    def _begin_turn(self, number: int) -> None:
        """Note that the user begins a turn with a message, unless a tool has not answered yet."""
        if self._unanswered_calls():
            return
        self._turn_starts.append(number)
        self._turn_start = len(self._messages.setdefault(None, []))
        self._has_answered = False

    def _read_part(self, time: float, message: dict[str, Any], role: str | None, scope: str | None) -> None:
        """Add the spans of a message, or of one part of it; see `_split_at_results`."""
        messages = self._messages.setdefault(scope, [])
        if role == MODEL:
            self._read_model_message(time, message, scope, messages)
        else:
            self._speakers[scope] = None
            self._root.input = self._root.input or find_last_text(message)
        messages.append(message)
        for result, call_id in _find_results(message):
            self._read_result(time, result, call_id, scope)
            # What the model says next is a new answer, because it has read this result.
            self._speakers[scope] = None

    def _find_scope(self, record: dict[str, Any]) -> str | None:
        """Return the call of the sub-agent that a message belongs to; None if it belongs to the main agent.

        Transcripts name the call, or say only that a message belongs to some sub-agent: then it is the last call of the
        main agent without a result.
        """
        if not record.get("isSidechain"):
            calls = self._calls.get(record.get("parent_tool_use_id"))
            return calls[-1].id if calls else None
        waiting = [call for call in self._unanswered_calls() if call.parent == self._root.id]
        return waiting[-1].id if waiting else None

    def _unanswered_calls(self) -> list[TraceSpan]:
        return [span for span in self._spans if span.kind == TOOL and span.outcome is None]

    def _add_span(
        self, span_id: str, kind: str, time: float, scope: str | None, *, name: str = MODEL, **fields: Any
    ) -> TraceSpan:
        span = TraceSpan(self._root.trace, span_id, scope or self._root.id, kind, name, time, time, **fields)
        self._spans.append(span)
        return span

    def _read_model_message(self, time: float, part: dict[str, Any], scope: str | None, messages: list[Any]) -> None:
        """Add what a model wrote; lines of one message, and messages with no result between them, are one answer."""
        message_key = scope, _conversation_name(part, ("id",), "") or time
        model = self._models.get(message_key) or self._speakers.get(scope)
        if scope is None:
            self._has_answered = True
        if model is None:
            model = self._add_span(f"message {time}", MODEL, time, scope, output=[])
            self._last_answers[scope] = LastAnswer(model, messages, len(messages), self._turn_start)
        self._models[message_key] = model
        self._speakers[scope] = model
        self._add_output(model, time, part)
        message = read_message(part)
        model.message = message if model.message is None else model.message + message
        self._read_calls(message, time, scope)

    def _add_output(self, model: TraceSpan, time: float, part: dict[str, Any]) -> None:
        """Add a message to the answer of a model, or its blocks to the message of the same id."""
        for index, earlier in enumerate(model.output):
            if "id" not in part or earlier.get("id") != part["id"]:
                continue
            if str(part.get("type")).lower() == "aimessagechunk":
                raise TraceError(
                    f"message {time} of conversation {self._root.trace!r} is one of several chunks of a message; add "
                    "them to one first, as in chunk + chunk"
                )
            if isinstance(earlier.get("content"), list) and isinstance(part.get("content"), list):
                model.output[index] = {**earlier, "content": [*earlier["content"], *part["content"]]}
                return
            break
        model.output.append(part)

    def _read_calls(self, message: ModelMessage, time: float, scope: str | None) -> None:
        """Add a span for each call that a message asks for, unless an earlier message has asked for it."""
        ids_here: set[str | None] = set()
        for number, call in enumerate(message.calls):
            earlier_calls = self._calls.get(call.id, [])
            span = self._early_calls.pop(call.id, None)
            if span is not None:  # its result came first
                span.start = time
                span.end = time
            elif earlier_calls and earlier_calls[-1].outcome is None and call.id not in ids_here:
                span = earlier_calls[-1]  # a stream repeats a call with more and more of its arguments
            if span is not None:
                span.name = call.name
                span.input = call.arguments
            elif any((earlier.name, earlier.input) == (call.name, call.arguments) for earlier in earlier_calls):
                self._repeated_ids.add(call.id)  # also by the last event of LlamaIndex, which lists all its calls
            else:
                self._add_call(call, f"call {number} of message {time}", time, scope)
            ids_here.add(call.id)

    def _add_call(self, call: ToolCall, place: str, time: float, scope: str | None) -> TraceSpan:
        if call.id is None:
            span_id = place
        elif call.id in self._calls:
            span_id = f"{call.id}, {place}"
        else:
            span_id = call.id
        span = self._add_span(span_id, TOOL, time, scope, name=call.name, input=call.arguments, call=call.id)
        self._calls.setdefault(call.id or span_id, []).append(span)
        return span

    def _read_result(self, time: float, result: dict[str, Any], call_id: str | None, scope: str | None) -> None:
        """Add a result to its call: the call with its id or, without an id, the first unanswered call of its name."""
        name = result.get("name", result.get("tool_name"))
        contents = {key: result[key] for key in RESULT_KEYS if result.get(key) is not None}
        output = next(iter(contents.values())) if len(contents) == 1 else contents
        candidates = self._calls.get(call_id, [])
        if call_id is None:
            candidates = [call for call in self._unanswered_calls() if call.call is None and name in (None, call.name)]
        span = _first_unanswered(candidates)
        if span is None:
            is_repeat = candidates and call_id not in self._repeated_ids and candidates[-1].output == output
            if is_repeat:  # the same message once more
                return
            if candidates:
                call = ToolCall(call_id, candidates[-1].name, candidates[-1].input)
            else:
                call = ToolCall(call_id, str(name or "unnamed"), result.get("tool_kwargs"))
            span = self._add_call(call, f"result of message {time}", time, scope)
            if call_id is not None and not candidates:
                self._early_calls[call_id] = span
        self._repeated_ids.discard(call_id)
        span.start = time
        span.end = time
        span.output = output
        span.error = _find_result_error(result, contents)


def _first_unanswered(calls: Iterable[TraceSpan]) -> TraceSpan | None:
    for call in calls:
        if call.outcome is None:
            return call
    return None


def _find_result_error(result: dict[str, Any], contents: Mapping[str, Any]) -> str | None:
    """Return why a call failed, as its result or one of its contents says; None if none does."""
    for payload in (result, *contents.values()):
        failure = find_failure(payload)
        if failure is not None:
            return failure
    error = result.get("error")
    if contents or error is None:
        return None
    return str(error)
