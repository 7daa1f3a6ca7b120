"""The settings of the RetrieverEvaluator, and how it asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import ConfigDict, Field, field_validator
from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.evaluator import RetrieverEvaluator as StockRetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric
from llama_index.core.schema import NodeWithScore
from pydantic import InstanceOf

from llama_index.evaluation.retrieval_metrics.asking import Retrieving, how_to_ask
from llama_index.evaluation.retrieval_metrics.items import (
    IdsAndTexts,
    Source,
    as_items,
    ids_of,
    named_by,
    source_of,
)
from llama_index.evaluation.retrieval_metrics.metrics import ranking_metrics, refuse_names
from llama_index.evaluation.retrieval_metrics.scoring import NodeScorer
from retrieval_metrics import DEFAULT_METRICS, Matching, Retrieved
from retrieval_metrics.adapting import Ways

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from llama_index.evaluation.retrieval_metrics.asking import Note
    from retrieval_metrics import EvaluationSet
    from retrieval_metrics.types import MatchBy


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
        named_by(match)
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
        return ids_of(items, named_by(self.match)), [str(item.text) for item in items]

    def _scorer(self, questions: EvaluationSet, mode: RetrievalEvalMode, **options: Any) -> NodeScorer:
        """Return the questions with what this evaluator is told, checked."""
        return NodeScorer(
            self.metrics,
            questions,
            "id" if self._chooses_ids else self.match,
            mode=mode,
            source=self.source,
            documents=self.documents,
            **options,
        )

    def _ways(self, mode: RetrievalEvalMode, note: Note | None = None) -> Ways:
        """Return how to ask.

        Raises:
            ValueError: If each stage is to be noted, and a subclass overrides how it is asked.
        """
        hook = self._hook(mode)
        if hook is None:
            return self._retrieving(note).ways
        if note is not None:
            raise ValueError(
                f"stages=True needs the retriever and its postprocessors, and {type(self).__name__} overrides them; "
                "evaluate each stage by itself"
            )
        return Ways(asynchronous=hook)

    def _hook(self, mode: RetrievalEvalMode) -> Callable[[str], Awaitable[Any]] | None:
        """Return the extension point of the host that a subclass overrides, if it does."""

        async def ids_and_texts(text: str) -> IdsAndTexts:
            return IdsAndTexts(*await self._aget_retrieved_ids_and_texts(text, mode))

        if self._chooses_ids:
            return ids_and_texts
        if type(self).aget_retrieved_nodes is not AskingEvaluator.aget_retrieved_nodes:
            return self.aget_retrieved_nodes
        return None

    def _retrieving(self, note: Note | None = None) -> Retrieving:
        return Retrieving(self.retriever, self.node_postprocessors or (), note)

    @property
    def _chooses_ids(self) -> bool:
        """Whether a subclass says itself by which ids nodes are judged."""
        return type(self)._aget_retrieved_ids_and_texts is not AskingEvaluator._aget_retrieved_ids_and_texts  # noqa: SLF001  (what subclasses override)
