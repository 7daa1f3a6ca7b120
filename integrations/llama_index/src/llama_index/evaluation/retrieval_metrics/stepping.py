"""What retrievers and postprocessors hold while one question is asked, from LlamaIndex's instrumentation."""

from __future__ import annotations

from contextvars import ContextVar, Token
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

RETRIEVED_STAGE = "retrieved"
"""The step after retrieval."""
FIND = ("retrieve", "aretrieve", "_postprocess_nodes", "_apostprocess_nodes")
"""The methods that return nodes; what a postprocessor inherits calls one of them."""


class StageRecorder:
    """The steps of one question: inside a `with` statement those that the retriever tells, and those noted after it."""

    def __init__(self, convert: Callable[[Any], list[Retrieved]], asked: Any) -> None:
        """Take what converts nodes, at once, because the next step may change them, and what is asked."""
        self._convert = convert
        self._asked = asked
        self._spans: dict[str, list[Any]] = {}
        self._noted: list[tuple[str, list[Retrieved]]] = []
        self._error: Exception | None = None

    def note(self, name: str, nodes: Any) -> None:
        """Keep the nodes after a step; what an engine hands on as its last step left it is no step of its own."""
        items = self._convert(nodes)
        inside = (
            [*self._inside.values()] if name == RETRIEVED_STAGE and not isinstance(self._asked, BaseRetriever) else []
        )
        if not inside or [one.id for one in inside[-1]] != [one.id for one in items]:
            self._noted.append((name, items))

    def start(self, span: str, parent: str | None) -> None:
        """Note that a span began."""
        self._spans[span] = [parent, "", None]

    def end(self, span: str, of: Any, nodes: Any) -> None:
        """Note what a span returned, if it is that of a step inside what is asked."""
        method = span.partition("-")[0].partition(".")[2]
        if span in self._spans and isinstance(of, BaseRetriever | BaseNodePostprocessor) and method in FIND:
            if of is self._asked or nodes is None:
                return
            try:
                self._spans[span][1:] = type(of).__name__, self._convert(nodes)
            except Exception as error:  # noqa: BLE001  (the dispatcher would hide it)
                self._error = error

    @property
    def has_steps(self) -> bool:
        """Whether the retriever has told anything."""
        return len(self._inside) > 0

    @property
    def stages(self) -> StageRankings:
        """What was told and noted, in order."""
        steps = self._inside
        for name, items in self._noted:
            steps[numbered(name, steps)] = items
        return steps

    @property
    def _inside(self) -> StageRankings:
        if self._error is not None:
            raise self._error
        return StageRankings.from_spans((span, *told) for span, told in self._spans.items())

    def __enter__(self) -> None:
        self._token: Token[StageRecorder | None] = _TOLD.set(self)
        _listen(1)

    def __exit__(self, *_: object) -> None:
        _listen(-1)
        _TOLD.reset(self._token)


_TOLD: ContextVar[StageRecorder | None] = ContextVar("told", default=None)


class _SpanListener(BaseSpanHandler[Any]):
    """Hands each span to the question that is asked in its context."""

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
        """Note that a span began."""
        del bound_args, instance, tags, kwargs
        if (told := _TOLD.get()) is not None:
            told.start(id_, parent_span_id)

    def prepare_to_exit_span(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **kwargs: Any
    ) -> None:
        """Note what it returned."""
        del bound_args, kwargs
        if (told := _TOLD.get()) is not None:
            told.end(id_, instance, result)

    def prepare_to_drop_span(
        self, id_: str, bound_args: Any, instance: Any = None, err: Any = None, **kwargs: Any
    ) -> None:
        """Do nothing: a step that failed holds nothing."""


_LISTENER, _LOCK, _asking = _SpanListener(), Lock(), 0


def _listen(more: int) -> None:
    """Listen as long as a question is asked; a new list, because another thread may be going through the old one."""
    global _asking  # noqa: PLW0603  (the dispatcher is global too)
    with _LOCK:
        _asking += more
        dispatcher = get_dispatcher()
        others = [one for one in dispatcher.span_handlers if one is not _LISTENER]
        dispatcher.span_handlers = [*others, *([_LISTENER] if _asking else [])]
