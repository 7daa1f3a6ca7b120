"""Record the nodes that retrievers and postprocessors return for one question, from LlamaIndex's instrumentation."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index_instrumentation import get_dispatcher

from retrieval_metrics.integration_api import StageRankings, numbered

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics import Retrieved

# The name of the stage after retrieval.
RETRIEVED_STAGE = "retrieved"

# The methods whose results are stages; the public methods of a postprocessor call one of the private ones.
STAGE_METHODS = ("retrieve", "aretrieve", "_postprocess_nodes", "_apostprocess_nodes")


@dataclass(slots=True)
class _Span:
    """A call while a question is asked; if it is a stage, with its name and its items."""

    parent: str | None
    name: str = ""
    items: list[Retrieved] | None = None
    takes_documents: bool = False


@dataclass(frozen=True, slots=True)
class _NotedStage:
    """A stage after retrieval."""

    name: str
    items: list[Retrieved]


class StageRecorder:
    """Records the stages of one question.

    Those inside the retriever are recorded in a `with` statement, those after it by `note`.
    """

    def __init__(self, convert: Callable[[Any], list[Retrieved]], retriever: object) -> None:
        """Set the function that converts nodes, and the retriever that is asked.

        Nodes are converted as soon as a stage returns them, because the next stage may change them.
        """
        self._convert = convert
        self._retriever = retriever
        self._spans: dict[str, _Span] = {}
        self._noted_stages: list[_NotedStage] = []
        self._error: Exception | None = None

    def note(self, name: str, nodes: object) -> None:
        """Record the nodes after a stage, unless an engine returned those of its last inner stage unchanged."""
        items = self._convert(nodes)
        if name == RETRIEVED_STAGE and not isinstance(self._retriever, BaseRetriever):
            inner_rankings = list(self._inner_stages().values())
            if inner_rankings and _item_ids(inner_rankings[-1]) == _item_ids(items):
                return
        self._noted_stages.append(_NotedStage(name, items))

    def start(self, span_id: str, parent: str | None) -> None:
        """Record the start of a span."""
        self._spans[span_id] = _Span(parent)

    def end(self, span_id: str, instance: object, nodes: object) -> None:
        """Record the nodes that a span returned, if it is a stage inside the retriever."""
        # The id of a span is `Class.method-<random id>`.
        method = span_id.partition("-")[0].partition(".")[2]
        if span_id not in self._spans or method not in STAGE_METHODS:
            return
        if not isinstance(instance, BaseRetriever | BaseNodePostprocessor):
            return
        if instance is self._retriever or nodes is None:
            return
        try:
            items = self._convert(nodes)
        except Exception as error:
            self._error = error
            return
        span = self._spans[span_id]
        span.name = type(instance).__name__
        span.items = items
        span.takes_documents = isinstance(instance, BaseNodePostprocessor)

    @property
    def has_stages(self) -> bool:
        """Whether a stage inside the retriever was recorded."""
        return len(self._inner_stages()) > 0

    @property
    def stages(self) -> StageRankings:
        """The stages inside the retriever and those after it, in order."""
        stages = self._inner_stages()
        for stage in self._noted_stages:
            name = numbered(stage.name, stages)
            # What is retrieved comes from the stages inside the retriever, if there are any.
            stages.takes_documents[name] = len(stages) > 0
            stages[name] = stage.items
        return stages

    def _inner_stages(self) -> StageRankings:
        if self._error is not None:
            raise self._error
        spans = [(span_id, span.parent, span.name, span.items) for span_id, span in self._spans.items()]
        takes_documents = {span_id: span.takes_documents for span_id, span in self._spans.items()}
        return StageRankings.from_spans(spans, takes_documents)

    def __enter__(self) -> None:
        self._token: Token[StageRecorder | None] = _RECORDER.set(self)
        _listen(1)

    def __exit__(self, *_: object) -> None:
        _listen(-1)
        _RECORDER.reset(self._token)


def _item_ids(items: list[Retrieved]) -> list[Any]:
    return [item.id for item in items]


_RECORDER: ContextVar[StageRecorder | None] = ContextVar("stage recorder", default=None)


class _SpanListener(BaseSpanHandler[Any]):
    """Passes each span to the recorder of the question that is asked in its context."""

    @classmethod
    def class_name(cls) -> str:
        """Return the name by which the dispatcher knows it."""
        return "RetrievalMetricsSteps"

    def new_span(
        self,
        id_: str,
        bound_args: Any,
        instance: Any = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Tell the recorder that a span began."""
        del bound_args, instance, tags, kwargs
        recorder = _RECORDER.get()
        if recorder is not None:
            recorder.start(id_, parent_span_id)

    def prepare_to_exit_span(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> None:
        """Tell the recorder what a span returned."""
        del bound_args, kwargs
        recorder = _RECORDER.get()
        if recorder is not None:
            recorder.end(id_, instance, result)

    def prepare_to_drop_span(
        self, id_: str, bound_args: Any, instance: Any = None, err: Any = None, **kwargs: Any
    ) -> None:
        """Do nothing: a stage that failed returned no nodes."""


_LISTENER = _SpanListener()
_LISTENER_LOCK = Lock()
_n_recorders = 0


def _listen(change: int) -> None:
    """Add a change to the number of recorders, and listen to spans as long as there is a recorder."""
    global _n_recorders  # noqa: PLW0603  (the dispatcher is global too)
    with _LISTENER_LOCK:
        _n_recorders += change
        dispatcher = get_dispatcher()
        # A new list, because another thread may be going through the old one.
        handlers = [handler for handler in dispatcher.span_handlers if handler is not _LISTENER]
        if _n_recorders:
            handlers.append(_LISTENER)
        dispatcher.span_handlers = handlers
