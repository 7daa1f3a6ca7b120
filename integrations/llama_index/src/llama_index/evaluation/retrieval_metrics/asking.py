"""The settings of the RetrieverEvaluator, and how it asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.evaluator import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric
from llama_index.core.schema import NodeWithScore
from pydantic import InstanceOf

from llama_index.evaluation.retrieval_metrics.host import how_to_ask
from llama_index.evaluation.retrieval_metrics.metrics import ranking_metrics, refuse_names
from llama_index.evaluation.retrieval_metrics.nodes import (
    IdsAndTexts,
    Source,
    as_items,
    ids_of,
    one_document_each,
    source_of,
    texts_by_name,
)
from llama_index.evaluation.retrieval_metrics.retrieving import Retrieving
from llama_index.evaluation.retrieval_metrics.scoring import NodeScorer
from retrieval_metrics import DEFAULT_METRICS, Matching, Retrieved
from retrieval_metrics.adapting import as_matching

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from llama_index.evaluation.retrieval_metrics.questions import CheckedQuestions
    from retrieval_metrics import RetrievedRun
    from retrieval_metrics.adapting import StageNotes
    from retrieval_metrics.types import MatchBy


class Call(NamedTuple):
    """How to ask questions: what asks, what `retrieve` is told, and what makes a result of the run."""

    asker: Callable[..., Callable[[str], Any]]
    asking: dict[str, Any]
    result: Callable[[RetrievedRun], Any]


class AskingEvaluator(StockRetrieverEvaluator):
    """What a RetrieverEvaluator is told, checked, and how it asks the retriever with it."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    retriever: Any = Field(description="A retriever, an engine, a workflow, or a function")
    metrics: list[BaseRetrievalMetric] = Field(
        default_factory=lambda: ranking_metrics(DEFAULT_METRICS), description="Metrics to compute"
    )
    # InstanceOf, because pydantic would create a new Matching from its fields.
    match: str | Callable[[Retrieved], Any] | InstanceOf[Matching] = Field(
        default="id", description="What identifies a node in the judgments"
    )
    source: str | Callable[[NodeWithScore], str | None] = Field(
        default="ref_doc_id", description="The name of a node's document"
    )
    documents: Any = Field(default=None, description="The documents that nodes were cut from", exclude=True)

    @field_validator("source", mode="before")
    @classmethod
    def _names_documents(cls, source: Source) -> Source:
        source_of(source)
        return source

    @field_validator("match")
    @classmethod
    def _is_known(cls, match: MatchBy) -> MatchBy:
        as_matching(match)
        return match

    @field_validator("retriever")
    @classmethod
    def _can_be_asked(cls, retriever: Any) -> Any:
        if how_to_ask(retriever) is None and not callable(retriever):
            hint = "; write index.as_retriever()" if hasattr(retriever, "as_retriever") else ""
            raise ValueError(
                "retriever must be a retriever, a query engine, a chat engine, a workflow, or a function of the query "
                f"text; got {retriever!r}{hint}"
            )
        return retriever

    @field_validator("metrics", mode="before")
    @classmethod
    def _are_metrics(cls, metrics: Any) -> Any:
        return refuse_names(metrics)

    @field_validator("metrics")
    @classmethod
    def _have_names_of_their_own(cls, metrics: list[BaseRetrievalMetric]) -> list[BaseRetrievalMetric]:
        names = [one.metric_name for one in metrics]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two metrics are named {twice!r}, but results are keyed by name; leave one out")
        return metrics

    async def aget_retrieved_nodes(self, query: str) -> list[NodeWithScore]:
        """Retrieve and postprocess for one query; a subclass can override it to choose what is judged.

        Args:
            query: The text of the query.
        """
        return await self._retrieving().nodes(query)

    async def _aget_retrieved_ids_and_texts(
        self, query: str, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT
    ) -> tuple[list[str], list[str]]:
        items = as_items(await self.aget_retrieved_nodes(query), mode, self.source)
        return [str(found) for found in ids_of(items, self.match)], [str(item.text) for item in items]

    def _call(
        self,
        questions: CheckedQuestions,
        mode: RetrievalEvalMode,
        notes: StageNotes | None,
        result: Callable[[RetrievedRun], Any],
        **limits: Any,
    ) -> Call:
        """Return how to ask the questions, checked before the first."""
        self._scorer.refuse_pieces(questions)
        hook = self._hook(mode)
        if hook is not None and notes is not None:
            raise ValueError(
                f"stages=True needs the retriever and its postprocessors, and {type(self).__name__} overrides them; "
                "evaluate each stage by itself"
            )

        def note(stage: int, text: str, nodes: Any) -> None:
            if notes is not None:
                notes.note(notes.names[stage], text, as_items(nodes, mode, self.source))

        asking = {
            "questions": questions.dataset,
            "match": self._compared,
            "items": partial(as_items, mode=mode, source=one_document_each(self.source, questions.sources)),
            "check": self._scorer.check(questions),
            **limits,
        }
        asker = self._retrieving(None if notes is None else note).asker
        return Call(asker if hook is None else lambda **_: hook, asking, result)

    def _hook(self, mode: RetrievalEvalMode) -> Callable[[str], Awaitable[Any]] | None:
        """Return the extension point of the host that a subclass overrides, if it does."""

        async def ids_and_texts(text: str) -> IdsAndTexts:
            return IdsAndTexts(*await self._aget_retrieved_ids_and_texts(text, mode))

        if self._chooses_ids:
            return ids_and_texts
        if type(self).aget_retrieved_nodes is not AskingEvaluator.aget_retrieved_nodes:
            return self.aget_retrieved_nodes
        return None

    def _retrieving(self, note: Callable[[int, str, Any], None] | None = None) -> Retrieving:
        return Retrieving(self.retriever, self.node_postprocessors or (), note)

    @property
    def _chooses_ids(self) -> bool:
        """Whether a subclass says itself by which ids nodes are judged."""
        return type(self)._aget_retrieved_ids_and_texts is not AskingEvaluator._aget_retrieved_ids_and_texts  # noqa: SLF001  (what subclasses override)

    @property
    def _compared(self) -> MatchBy:
        """What is compared with the ids of the judgments."""
        return "id" if self._chooses_ids else self.match

    @property
    def _scorer(self) -> NodeScorer:
        return NodeScorer(self.metrics, self._compared, partial(texts_by_name, self.documents, self.source))
