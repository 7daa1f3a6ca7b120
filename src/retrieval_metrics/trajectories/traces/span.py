"""One span of a trace, whatever recorded it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.trajectories.traces.payloads import (
    HOSTED,
    Listed,
    answer_in,
    hosted_in,
    items_in,
    parsed,
    question_in,
    texts_in,
    tool_calls_in,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.inputs.items import Retrieved

SPAN_KINDS = RETRIEVER, RERANKER, TOOL, MODEL, OTHER = "retriever", "reranker", "tool", "model", "other"
UNSAID = ""
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
    """One span: where it stands, when it ran, and what went in and came out, as recorded.

    The kind is one of `SPAN_KINDS`, or `UNSAID`; an unknown one is what the form calls it. The name of a tool is that
    of the tool, and `call` the id of the tool call that it answers. `listed` are documents that stand beside the output
    of a search, `dropped` says how many attributes were dropped, and `root` is what an outermost span was read from.
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
    listed: Listed | None = None
    call: str | None = None
    dropped: int = 0
    root: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})

    @property
    def where(self) -> str:
        """What messages call it."""
        return f"span {self.id!r} ({self.name}) of trace {self.trace!r}"

    @property
    def outcome(self) -> tuple[Any, Any, str | None] | None:
        """What came out of it; None if it had only begun when it was recorded."""
        return None if self.output is self.error is None else (self.output, self.listed, self.error)

    def question(self) -> str | None:
        """Return what a search asked for; None if that is unknown."""
        found = question_in(parsed(self.input))
        return None if found is None else found.strip().removeprefix("input is ").strip() or None

    def found(self) -> list[Retrieved] | None:
        """Return the documents that a search found, if possible with ids; None if the span does not say.

        Raises:
            TraceError: If it said more than was kept.
        """
        found = None
        for one in (self.listed, self.output):
            try:
                items = items_in(self._whole(one, "output"))
            except TraceError:
                raise
            except ValueError as error:
                raise TraceError(f"the output of {self.where} cannot be read: {error}") from None
            if one is self.listed and self.dropped:  # some tracers drop the newest attributes, which are its end
                continue
            if any(item.id is None and item.text == REDACTED for item in items or ()):
                raise TraceError(f"the documents of {self.where} were hidden: they have neither ids nor texts")
            if items is not None and all(item.id is not None for item in items):
                return items
            found = items if found is None else found
        if found is None and self.dropped:
            raise TraceError(f"{self.dropped} attributes of {self.where} were dropped; {RAISE_LIMITS}")
        return found

    def read(self) -> str | None:
        """Return the text that a model has read; None if it was not recorded.

        Raises:
            TraceError: If some of it was lost.
        """
        said = self._whole(self.input, "input")
        if isinstance(self.input, Listed):  # a limit on the length of values shows in the longest, which has them all
            self._whole(self.input.otherwise, "input")
        text = "\n".join(texts_in(said))
        return None if said is None or REDACTED in text else text

    def asked(self) -> list[tuple[str | None, str | None]] | None:
        """Return id and question of each tool call in the message of a model, in its order; None if it is unknown."""
        said = self._whole(self.output, "output", text=True)
        return None if said is None else list(dict.fromkeys(tool_calls_in(said)))  # some hosts write a message twice

    def hosted(self) -> list[str]:
        """Return what the provider of a model ran itself, as far as its message tells; it leaves no spans."""
        said = self.output.otherwise if isinstance(self.output, Listed) else self.output
        if isinstance(said, str) and not any(name in said for name in HOSTED):  # most of them, unread
            return []
        return list(dict.fromkeys(hosted_in(parsed(said))))

    def answer(self) -> str | None:
        """Return the last text in what a model said."""
        return answer_in(self.output)

    def _whole(self, payload: Any, what: str, *, text: bool = False) -> Any:
        """Return a payload as an object; `text` says that it may be a text that looks like JSON.

        Raises:
            TraceError: If it was cut.
        """
        try:
            said = parsed(payload)
        except ValueError as error:
            raise TraceError(f"the {what} of {self.where} was cut: {error}; {RAISE_LIMITS}") from None
        if isinstance(said, str) and not text and _JSON.match(said):
            raise TraceError(f"the {what} of {self.where} was cut short; {RAISE_LIMITS}")
        return said


def plain(text: str) -> str:
    """Return a text without the escapes of JSON and `repr`, for looking for one in another."""
    if "\\" in text:
        text = _ESCAPED.sub(lambda one: chr(int(one[1] or one[2] or "20", 16)), text).replace("\\", "")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # JSON writes some as two halves
    return " ".join(text.split())
