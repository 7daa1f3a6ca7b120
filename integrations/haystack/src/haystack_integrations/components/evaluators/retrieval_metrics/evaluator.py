"""A component that computes metrics of the core, with the inputs and outputs of Haystack's document evaluators."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from haystack import Document, component, default_from_dict, default_to_dict

from haystack_integrations.components.evaluators.retrieval_metrics.documents import (
    as_retrieved,
    describe_document,
)
from haystack_integrations.components.evaluators.retrieval_metrics.judgments import JudgmentReader
from haystack_integrations.components.evaluators.retrieval_metrics.match_fields import get_match_value, require_field
from haystack_integrations.components.evaluators.retrieval_metrics.saved_values import (
    PipelineEvaluation,
    UndefinedValue,
)
from retrieval_metrics import (
    Budget,
    Evaluation,
    Matching,
    Metric,
    Qrels,
    Retrieved,
    RetrievedRun,
    Rules,
    evaluate,
)
from retrieval_metrics.integration_api import Scorer, as_list_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.types import DocumentId, QueryId

# The values of `document_comparison_field` beside `meta.<key>`.
MATCH_FIELDS = ("content", "id", "quote", "span")


class _MatchedRankings(NamedTuple):
    """The ranking of each question, and the `match` of `evaluate` that compares it with the judgments."""

    rankings: dict[int, list[Any]]
    match: str | Matching


@component
class RetrievalEvaluator:
    """Evaluates the documents retrieved for each question by metrics of `retrieval_metrics.evaluate`.

    Inputs and outputs are those of Haystack's `DocumentNDCGEvaluator` and its siblings, so it can replace them in a
    pipeline and in an `EvaluationRunResult`. The values are those of the core, to the last bit: nothing retrieved
    scores 0, a duplicate gets no credit, and a question without a relevant document has no value (NaN) and is
    left out of the mean.

    Example:
        >>> evaluator = RetrievalEvaluator("recall@2")
        >>> outputs = evaluator.run(
        ...     ground_truth_documents=[
        ...         [Document(content="Paris"), Document(content="Lyon")],
        ...         [Document(content="Bonn")],
        ...     ],
        ...     retrieved_documents=[[Document(content="Paris")], [Document(content="Rome")]],
        ... )
        >>> outputs["individual_scores"], outputs["score"]  # 1 of 2; 0 of 1
        ([0.5, 0.0], 0.25)
    """

    def __init__(
        self,
        metric: str | Metric | Sequence[str | Metric] = "ndcg@10",
        *,
        document_comparison_field: str = "content",
        group_field: str | None = None,
        rules: str = "standard",
    ) -> None:
        """Create the evaluator.

        Args:
            metric: The name of a metric, such as `"mrr@10"`, `"precision(rel=2)@5"` or `"recall@2000chars"`, or several
                names.
            document_comparison_field: How retrieved documents are compared with expected ones: by equal `"content"`,
                `"id"` or `"meta.<key>"` (`"meta.source.url"` for nested ones); or, for any chunking, `"quote"`, if a
                retrieved document must contain the content of the expected one, or `"span"`, if it must cover the place
                of the expected one in the document named by its `meta["source_id"]`; `run` then needs `documents`.
            group_field: Expected documents with the same value in this field, such as `"meta.fact"`, are alternatives
                of which one suffices. A document without a value is needed by itself.
            rules: The rules of `retrieval_metrics.evaluate`; `"haystack"` gives the same numbers as Haystack's own
                evaluators.

        Raises:
            ValueError: If a name or a setting is unknown.
        """
        scorer = Scorer(metric, rules=rules)
        self._metrics = scorer.metrics
        self._rules = scorer.rules
        require_field(document_comparison_field, "document_comparison_field", MATCH_FIELDS)
        if group_field is not None:
            require_field(group_field, "group_field")
        names = list(map(str, self._metrics))
        self.metric: str | list[str] = names
        if len(names) == 1:
            self.metric = names[0]
        self.document_comparison_field = document_comparison_field
        self.group_field = group_field
        self.rules = rules

    def to_dict(self) -> dict[str, Any]:
        """Return the component as a dictionary, for saving a pipeline."""
        return default_to_dict(
            self,
            metric=self.metric,
            document_comparison_field=self.document_comparison_field,
            group_field=self.group_field,
            rules=self.rules,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Create the component from the result of `to_dict`; define metrics of your own first."""
        return default_from_dict(cls, data)

    @component.output_types(
        score=float,
        individual_scores=list[float],
        results=dict[str, dict[str, Any]],
        evaluation=Evaluation,
    )
    def run(
        self,
        ground_truth_documents: list[list[Document]],
        retrieved_documents: list[list[Document]],
        documents: list[Document] | None = None,
    ) -> dict[str, Any]:
        """Evaluate the documents retrieved for each question.

        Args:
            ground_truth_documents: The expected documents of each question. If they have scores, these are their grades
                and a document with a grade above 0 is relevant.
            retrieved_documents: The retrieved documents of each question, best first; their scores are ignored. None
                for a question whose retriever failed: it scores 0, with a warning.
            documents: The whole documents before they were split, for `"span"`: each chunk is found in its document by
                its text, whatever offsets a splitter recorded.

        Returns:
            `score`, the mean of the first metric; `individual_scores`, its value per question, NaN if nothing is
            relevant; `results`, both for every metric by its name, which is what an `EvaluationRunResult` or a
            `RetrievalRunResult` takes; and `evaluation`, the underlying `retrieval_metrics.Evaluation`, with intervals,
            counts and explanations, whose query ids are the positions of the questions, from 0.

        Raises:
            ValueError: If there is no question, the two lists differ in length, some of a question's expected documents
                have a score and others do not, an expected document lacks what it is compared by or is not found in
                `documents`, or every retriever failed.
            TypeError: If something in the lists is no Document, or documents are compared by a value that is neither a
                str nor an int.
        """
        _require_documents(ground_truth_documents, retrieved_documents)
        source_texts = None
        if documents is not None:
            source_texts = {document.id: document.content or "" for document in documents}
        if self.document_comparison_field == "span" and not source_texts:
            raise ValueError("document_comparison_field='span' needs documents, the whole ones before they were split")
        reader = JudgmentReader(self.document_comparison_field, self.group_field, source_texts or {})
        judgments = {question: reader.read_groups(row) for question, row in enumerate(ground_truth_documents)}
        if self.document_comparison_field == "content":
            qrels = Qrels.unchecked(judgments)  # whole texts stand in for ids, and may end with a line break
        else:
            qrels = Qrels(judgments)
        matched = self._make_rankings([row or [] for row in retrieved_documents])
        errors: dict[QueryId, Exception] = {}
        for question, row in enumerate(retrieved_documents):
            if row is None:
                errors[question] = RuntimeError("the retriever failed")
        run = RetrievedRun(matched.rankings, errors)
        rules = self._adapt_rules(ground_truth_documents)
        evaluation = evaluate(qrels, run, self._metrics, rules=rules, match=matched.match, documents=source_texts)
        results = {str(metric): _metric_result(evaluation, metric, judgments) for metric in self._metrics}
        return {
            **results[str(self._metrics[0])],
            "results": results,
            "evaluation": PipelineEvaluation.from_evaluation(evaluation),
        }

    def _adapt_rules(self, expected: list[list[Document]]) -> Rules:
        """Return the rules; with those of Haystack, every expected document is relevant, except in NDCG."""
        rules = self._rules
        min_grade: float = 1
        grades = [document.score for row in expected for document in row if document.score is not None]
        if grades:
            min_grade = min(grades)
        if self.rules != "haystack" or min_grade > 0:
            return rules
        parameters = dict(rules.parameters)
        for metric in self._metrics:
            if metric.name != "ndcg" and "rel" in metric.definition.parameters:
                parameters[metric.name] = {**rules.parameters.get(metric.name, {}), "rel": min_grade}
        return replace(rules, parameters=parameters)

    def _make_rankings(self, retrieved: list[list[Document]]) -> _MatchedRankings:
        """Return the ranking of each question, and what its items are compared by."""
        field = self.document_comparison_field
        if field == "span":
            items = {question: list(map(as_retrieved, row)) for question, row in enumerate(retrieved)}
            return _MatchedRankings(items, match="id")
        match_values: list[list[DocumentId | None]] = []
        for row in retrieved:
            if field == "quote":
                match_values.append([None] * len(row))
            else:
                match_values.append([get_match_value(document, field) for document in row])
        if field != "quote":
            self._require_match_values(retrieved, match_values)
            if not self._needs_texts and all(None not in values for values in match_values):
                return _MatchedRankings(dict(enumerate(match_values)), match="id")
        rankings = {}
        for question, row in enumerate(retrieved):
            ranked_items = []
            for document, match_value in zip(row, match_values[question], strict=True):
                # The name of the field is that of the value in the item, so that messages name it.
                ranked_items.append(Retrieved(document.id, document.content, metadata={field: match_value}))
            rankings[question] = ranked_items
        match = Matching(by=f"metadata:{field}", option=f"document_comparison_field={field!r}")
        return _MatchedRankings(rankings, match)

    @property
    def _needs_texts(self) -> bool:
        """Whether a metric reads the texts of the retrieved documents."""
        return any(isinstance(metric.k, Budget) or metric.definition.needs_places for metric in self._metrics)

    def _require_match_values(
        self, retrieved: list[list[Document]], match_values: list[list[DocumentId | None]]
    ) -> None:
        """Raise if no retrieved document has a value to compare by; the evaluation warns if only some have none."""
        has_value = any(value is not None for values in match_values for value in values)
        documents = [document for row in retrieved for document in row]
        if documents and not has_value:
            raise ValueError(
                f"{len(documents)} of {len(documents)} retrieved documents have no {self.document_comparison_field}, "
                f"for example {describe_document(documents[0])}; choose another document_comparison_field"
            )


def _require_documents(expected: list[list[Document]], retrieved: Sequence[list[Document] | None]) -> None:
    if not expected or len(expected) != len(retrieved):
        raise ValueError(
            "ground_truth_documents and retrieved_documents must hold a list for each question, got "
            f"{len(expected)} and {len(retrieved)} of them"
        )
    for row in expected:
        as_list_of(row, Document, "ground_truth_documents must hold a list of Documents for each question")
    for retrieved_row in retrieved:
        as_list_of(
            retrieved_row or [],
            Document,
            "retrieved_documents must hold a list of Documents, or None, for each question",
        )


def _metric_result(evaluation: Evaluation, metric: Metric, questions: Iterable[int]) -> dict[str, Any]:
    """Return the mean and the values of a metric; a question without a value has an `UndefinedValue`."""
    values = evaluation.per_query[metric]
    return {
        "score": UndefinedValue.if_nan(evaluation.means[metric]),
        "individual_scores": [UndefinedValue.if_nan(values.get(question, nan)) for question in questions],
    }
