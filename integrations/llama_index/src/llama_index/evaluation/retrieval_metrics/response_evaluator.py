"""Score the source nodes of responses, for LlamaIndex's `BatchEvalRunner`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation import BaseEvaluator, EvaluationResult

from llama_index.evaluation.retrieval_metrics.datasets import read_dataset_content, refuse_nodes
from llama_index.evaluation.retrieval_metrics.nodes import convert_nodes
from llama_index.evaluation.retrieval_metrics.source_names import (
    LoadedDocuments,
    Source,
    read_source_texts,
    resolve_judged_source,
)
from retrieval_metrics import EvaluationSet, Metric, Retrieved
from retrieval_metrics.integration_api import EvaluationTask, RowScorer
from retrieval_metrics.integration_api.text import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llama_index.core.base.response.schema import Response

    from retrieval_metrics.types import MatchBy, QuestionDataset


class ResponseEvaluator(BaseEvaluator):
    """Scores the source nodes of a response by one metric, for `BatchEvalRunner`.

    Args:
        metric: A name such as `"recall@5"`.
        dataset: The questions and judgments, as in `RetrieverEvaluator.evaluate_dataset`; a response is judged by those
            of the question with the same text.
        match: What identifies a node in the judgments, as in `RetrieverEvaluator`.
        source: The name of a node's document, as in `RetrieverEvaluator`.
        documents: The documents that the nodes were cut from, if a `Span` is judged, as in `RetrieverEvaluator`.
        passing: The smallest score that passes.

    Raises:
        ValueError: If no metric has that name, or two questions have the same text.

    Example:
        >>> from llama_index.core.base.response.schema import Response
        >>> from llama_index.core.schema import NodeWithScore, TextNode
        >>> nodes = [NodeWithScore(node=TextNode(id_=name, text=name)) for name in ("d3", "d7")]
        >>> evaluator = ResponseEvaluator("mrr", [("what is a slot?", ["d7"])])
        >>> evaluator.evaluate_response("what is a slot?", Response("a place", source_nodes=nodes)).score  # at rank 2
        0.5
    """

    def __init__(
        self,
        metric: str | Metric,
        dataset: QuestionDataset,
        *,
        match: MatchBy = "id",
        source: Source = "ref_doc_id",
        documents: LoadedDocuments | None = None,
        passing: float = 0.5,
    ) -> None:
        """Set the questions, the judgments and the options."""
        questions = EvaluationSet.from_dataset(read_dataset_content(dataset))
        refuse_nodes(questions)
        task = EvaluationTask(questions, [metric], match, documents=partial(read_source_texts, documents, source))
        self._scorer = RowScorer([metric], match=task.match, max_grade=task.qrels.largest_grade or 1.0)
        (self._metric,) = self._scorer.metrics
        self._name_document = resolve_judged_source(task, questions, match, source)
        self._has_ids = task.qrels.document_kind is not None
        self._judgments_by_text: dict[str, Any] = {}
        qrels: Mapping[Any, Any] = questions.qrels
        for query, text in task.texts.items():
            if text in self._judgments_by_text:
                raise ValueError(f"query {query!r} has the text of another, {text!r}, but responses are found by text")
            self._judgments_by_text[text] = qrels[query]
        self._passing = passing

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: dict[str, Any]) -> None:
        """Do nothing: there is no prompt."""

    def evaluate_response(
        self, query: str | None = None, response: Response | None = None, **_: object
    ) -> EvaluationResult:
        """Score the source nodes of a response."""
        items = convert_nodes(response or [], name_document=self._name_document)
        response_text = None if response is None else response.response
        return self._score(query, response_text, items)

    async def aevaluate_response(
        self, query: str | None = None, response: Response | None = None, **options: object
    ) -> EvaluationResult:
        """Score the source nodes of a response; the asynchronous twin."""
        return self.evaluate_response(query, response, **options)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **_: object,
    ) -> EvaluationResult:
        """Score contexts, which are texts without ids, so the judgments must be quotes or texts."""
        if self._has_ids:
            return _invalid_result(
                query, response, "contexts have no IDs, but the judgments are IDs; evaluate the response"
            )
        return self._score(query, response, [Retrieved(None, text=text) for text in contexts or ()])

    def _score(self, query: str | None, response: str | None, items: list[Retrieved]) -> EvaluationResult:
        if query not in self._judgments_by_text:
            return _invalid_result(query, response, f"the dataset has no question {query!r}")
        judgments = self._judgments_by_text[query]
        (score,) = self._scorer.row(judgments, lambda: items, name=f"query {query!r}").values()
        if not score.is_defined:
            return _invalid_result(query, response, f"{self._metric} is undefined: no relevant document")
        return EvaluationResult(
            query=query,
            response=response,
            contexts=[item.text or "" for item in items],
            score=score.value,
            passing=score.value >= self._passing,
            feedback=f"{self._metric} {numbers.format_value(score.value)}, relevant at ranks {[*score.relevant_ranks]}",
        )


def _invalid_result(query: str | None, response: str | None, reason: str) -> EvaluationResult:
    return EvaluationResult(query=query, response=response, invalid_result=True, invalid_reason=reason)
