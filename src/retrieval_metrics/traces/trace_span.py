"""Define a span of a trace, and read the question, documents, texts and calls in its input and output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.traces.model_message import (
    CITATION_KEYS,
    PROVIDER_SEARCHES,
    find_citations,
    find_provider_searches,
    read_message,
)
from retrieval_metrics.traces.payload_decoding import JSON_START, FlattenedList, decode_payload
from retrieval_metrics.traces.span_payloads import find_documents, find_last_text, find_question, list_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.traces.model_message import ModelMessage, ProviderSearch, ToolCall


RETRIEVER = "retriever"
RERANKER = "reranker"
TOOL = "tool"
MODEL = "model"
OTHER = "other"
SPAN_KINDS = (RETRIEVER, RERANKER, TOOL, MODEL, OTHER)
# The kind of a span whose form says only that something ran.
UNKNOWN_KIND = ""
RAISE_LIMITS = (
    "record again with higher limits (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT)"
)
# The text that OpenInference writes in place of inputs that it is told to hide.
REDACTED = "__REDACTED__"


class TraceError(ValueError):
    """A trace lacks what its score would need, so it is refused."""


class SpanOutcome(NamedTuple):
    """The result of a span; two records of one span are taken for equal if their outcomes are."""

    output: Any
    flattened_documents: FlattenedList | None
    error: str | None


class SpanFields(NamedTuple):
    """The fields of a recorded span: its attributes, and those beside them."""

    own: Mapping[str, Any]
    attributes: Mapping[str, Any]


NO_FIELDS = SpanFields({}, {})


@dataclass(slots=True, eq=False)
class TraceSpan:
    """One span, as recorded.

    Attributes:
        trace: The id of its trace.
        id: Its own id.
        parent: The id of the span around it; None for the outermost.
        kind: One of `SPAN_KINDS`, `UNKNOWN_KIND`, or the kind as an unknown form calls it.
        name: The name of the step, or of the tool.
        start: When it began, in seconds.
        end: When it ended, in seconds.
        error: Why it failed; None if it did not.
        input: What went in, still encoded.
        output: What came out, still encoded.
        flattened_documents: The documents that came out, if OpenInference lists them in attributes.
        message: The message of a model, once it was read.
        call: The id of the tool call that it answers.
        turn_input: What a model has read since the last question of the user, if a conversation has several questions.
        turn_starts: The numbers of the messages with which the user begins a turn; of a conversation only.
        dropped: How many attributes the tracer dropped.
        fields: All its fields, kept for the outermost span only.
        location: Where it stands in a file; empty if it is from no file.
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
    flattened_documents: FlattenedList | None = None
    message: ModelMessage | None = None
    call: str | None = None
    turn_input: Any = None
    turn_starts: tuple[int, ...] = ()
    dropped: int = 0
    fields: SpanFields = NO_FIELDS
    location: str = ""

    @property
    def label(self) -> str:
        """The name of the span in messages."""
        name = f"span {self.id!r} ({self.name}) of trace {self.trace!r}"
        return f"{name} ({self.location})" if self.location else name

    @property
    def outcome(self) -> SpanOutcome | None:
        """The result of the span; None if the record was made before the span ended."""
        if self.output is None and self.error is None:
            return None
        return SpanOutcome(self.output, self.flattened_documents, self.error)

    def question(self) -> str | None:
        """Return what a search asked for; None if that is unknown."""
        question = find_question(decode_payload(self.input))
        if question is None:
            return None
        return question.strip().removeprefix("input is ").strip() or None

    def documents(self) -> list[Retrieved] | None:
        """Return the documents that a search found, if possible with ids; None if the span does not say."""
        payloads = [self.output] if self.flattened_documents is None else [self.flattened_documents, self.output]
        without_ids: list[Retrieved] | None = None
        for payload in payloads:
            documents = self._find_documents(payload)
            # Some tracers drop the newest attributes, which are the end of the list.
            is_cut_list = payload is self.flattened_documents and self.dropped
            if documents is None or is_cut_list:
                continue
            unnamed = [document for document in documents if document.id is None]
            if any(document.text == REDACTED for document in unnamed):
                raise TraceError(f"the documents of {self.label} were hidden: they have neither ids nor texts")
            if not unnamed:
                return documents
            if without_ids is None:
                without_ids = documents
        if without_ids is None and self.dropped:
            raise TraceError(f"{self.dropped} attributes of {self.label} were dropped; {RAISE_LIMITS}")
        return without_ids

    def _find_documents(self, payload: Any) -> list[Retrieved] | None:
        decoded = self._decode(payload, "output")
        try:
            return find_documents(decoded)
        except ValueError as error:
            raise TraceError(f"the output of {self.label} cannot be read: {error}") from None

    def input_text(self) -> str | None:
        """Return the text that a model has read; None if it was not recorded."""
        decoded = self._decode(self.input, "input")
        if isinstance(self.input, FlattenedList):
            # A limit on the length of values shows in the longest value, which holds all messages.
            self._decode(self.input.fallback, "input")
        text = "\n".join(list_texts(decoded))
        if decoded is None or REDACTED in text:
            return None
        return text

    def turn_text(self) -> str:
        """Return the text that a model has read since the last question of the user."""
        return "\n".join(list_texts(self._decode(self.turn_input, "input")))

    def tool_calls(self) -> list[ToolCall] | None:
        """Return the tool calls in the message of a model, in its order; None if it is unknown."""
        if self.message is None:
            decoded = self._decode(self.output, "output", may_be_text=True)
            if decoded is None:
                return None
            self.message = read_message(decoded)
        return self.message.distinct_calls()

    def provider_searches(self) -> list[ProviderSearch]:
        """Return the searches that the provider of a model ran itself, as far as its message shows them."""
        return find_provider_searches(self._message_objects(PROVIDER_SEARCHES))

    def answer(self) -> str | None:
        """Return the last text in the message of a model."""
        return find_last_text(self.output)

    def citations(self) -> list[dict[str, Any]]:
        """Return the structured citations in the message of a model, with the fields of their nested objects."""
        return find_citations(self._message_objects((*CITATION_KEYS, "citation")))

    def _message_objects(self, names: Collection[str]) -> list[dict[str, Any]]:
        """Return the objects in the message of a model; none, and undecoded, if its text has none of the names."""
        if self.message is not None and not isinstance(self.output, FlattenedList):
            return self.message.objects
        payload = self.output.fallback if isinstance(self.output, FlattenedList) else self.output
        if isinstance(payload, str) and not any(name in payload for name in names):
            return []
        return read_message(decode_payload(payload)).objects

    def _decode(self, payload: Any, part: str, *, may_be_text: bool = False) -> Any:
        """Return a payload as an object, and refuse one that was cut.

        Args:
            payload: The payload.
            part: What to call it in a message, `"input"` or `"output"`.
            may_be_text: Whether it may be a text that looks like JSON, so that this is no sign of a cut.
        """
        try:
            decoded = decode_payload(payload)
        except ValueError as error:
            raise TraceError(f"the {part} of {self.label} was cut: {error}; {RAISE_LIMITS}") from None
        if isinstance(decoded, str) and not may_be_text and JSON_START.match(decoded):
            raise TraceError(f"the {part} of {self.label} was cut short; {RAISE_LIMITS}")
        return decoded
