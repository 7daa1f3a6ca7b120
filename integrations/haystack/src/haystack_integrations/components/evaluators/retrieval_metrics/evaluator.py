"""Metrics of the core as a component with the inputs and outputs of Haystack's own document evaluators."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.evaluation import EvaluationRunResult

from haystack_integrations.components.evaluators.retrieval_metrics.evaluating import (
    SOURCE_KEY,
    START_KEY,
    as_retrieved,
    describe_document,
    get_match_value,
    require_field,
)
from retrieval_metrics import (
    Budget,
    Evaluation,
    Metric,
    Quote,
    RetrievalWarning,
    Retrieved,
    RetrievedRun,
    Rules,
    Span,
    evaluate,
)
from retrieval_metrics.integration_api import Scorer, as_list_of
from retrieval_metrics.integration_api.text import format_saved, parse_saved
from retrieval_metrics.types import DocumentId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pandas import DataFrame

Judged: TypeAlias = DocumentId | Quote | Span
FIELDS = ("content", "id", "quote", "span")
COMPARED = "compared"


@component
class RetrievalEvaluator:
    """Evaluates the documents retrieved for each question by metrics of `retrieval_metrics.evaluate`.

    Inputs and outputs are those of Haystack's `DocumentNDCGEvaluator` and its siblings, so it can replace them in a
    pipeline and in an `EvaluationRunResult`. The values are those of the core, to the last bit: nothing retrieved
    scores 0, a repeated document earns nothing, and a question without a relevant document has no value (NaN) and is
    left out of the mean.

    Example:
        >>> evaluator = RetrievalEvaluator("recall@2")
        >>> found = evaluator.run(
        ...     ground_truth_documents=[
        ...         [Document(content="Paris"), Document(content="Lyon")],
        ...         [Document(content="Bonn")],
        ...     ],
        ...     retrieved_documents=[[Document(content="Paris")], [Document(content="Rome")]],
        ... )
        >>> found["individual_scores"], found["score"]  # 1 of 2; 0 of 1
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
        self._metrics, self._semantics = scorer.metrics, scorer.rules
        require_field(document_comparison_field, "document_comparison_field", FIELDS)
        if group_field is not None:
            require_field(group_field, "group_field")
        names = [str(one) for one in self._metrics]
        self.metric = names[0] if len(names) == 1 else names
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
        if not ground_truth_documents or len(ground_truth_documents) != len(retrieved_documents):
            raise ValueError(
                "ground_truth_documents and retrieved_documents must hold a list for each question, got "
                f"{len(ground_truth_documents)} and {len(retrieved_documents)} of them"
            )
        for row in ground_truth_documents:
            as_list_of(row, Document, "ground_truth_documents must hold a list of Documents for each question")
        for row in retrieved_documents:
            as_list_of(
                row or [], Document, "retrieved_documents must hold a list of Documents, or None, for each question"
            )
        whole = None if documents is None else {document.id: document.content or "" for document in documents}
        if self.document_comparison_field == "span" and not whole:
            raise ValueError("document_comparison_field='span' needs documents, the whole ones before they were split")
        qrels = {
            question: self._judgments(expected, whole or {}) for question, expected in enumerate(ground_truth_documents)
        }
        rankings, match = self._rankings({question: row or [] for question, row in enumerate(retrieved_documents)})
        failed = [question for question, row in enumerate(retrieved_documents) if row is None]
        run = RetrievedRun(rankings, {question: RuntimeError("the retriever failed") for question in failed})
        rules = self._rules(ground_truth_documents)
        evaluation = evaluate(qrels, run, self._metrics, rules=rules, match=match, documents=whole)
        results = {
            str(metric): {
                "score": UndefinedValue.unless(evaluation.means[metric]),
                "individual_scores": [
                    UndefinedValue.unless(evaluation.per_query[metric].get(question, nan)) for question in qrels
                ],
            }
            for metric in self._metrics
        }
        return {
            **results[str(self._metrics[0])],
            "results": results,
            "evaluation": PipelineEvaluation.of(evaluation),
        }

    def _judgments(self, expected: list[Document], whole: Mapping[str, str]) -> list[dict[Judged, float]]:
        """Return the groups of a question, each as its documents with their grades."""
        scored = [document.score is not None for document in expected]
        if any(scored) and not all(scored):
            raise ValueError(
                "either all or none of a question's ground_truth_documents must have a score, its grade; "
                f"{describe_document(expected[scored.index(False)])} has none"
            )
        groups: dict[DocumentId | tuple[Judged], dict[Judged, float]] = {}
        for document in expected:
            key = self._place(document, whole) if self.document_comparison_field == "span" else self._key(document)
            named = None if self.group_field is None else get_match_value(document, self.group_field)
            group = groups.setdefault((key,) if named is None else named, {})
            grade = 1.0 if document.score is None else document.score
            group[key] = max(grade, group.get(key, grade))
        return list(groups.values())

    def _rules(self, expected: list[list[Document]]) -> Rules:
        """Return the rules: Haystack's own evaluators but that of NDCG take every expected document for relevant."""
        rules = self._semantics
        lowest = min((document.score for row in expected for document in row if document.score is not None), default=1)
        if self.rules != "haystack" or lowest > 0:
            return rules
        everything = {
            metric.name: {**rules.parameters.get(metric.name, {}), "rel": lowest}
            for metric in self._metrics
            if metric.name != "ndcg" and "rel" in metric.definition.parameters
        }
        return replace(rules, parameters={**rules.parameters, **everything})

    def _place(self, expected: Document, whole: Mapping[str, str]) -> Span:
        source, claimed, text = str(expected.meta.get(SOURCE_KEY)), expected.meta.get(START_KEY), expected.content
        if source not in whole or not text:
            raise ValueError(
                f"{describe_document(expected)}, is expected but its {SOURCE_KEY} {source!r} is not among the documents"
            )
        within = whole[source]
        start = claimed if isinstance(claimed, int) and within.startswith(text, claimed) else within.find(text)
        if start < 0 or (start != claimed and within.find(text, start + 1) >= 0):
            where = "not found" if start < 0 else "found several times, and its split_idx_start is none of them"
            raise ValueError(
                f"{describe_document(expected)}, is expected, and its content is {where} in document {source!r}"
            )
        return Span(source, start, start + len(text))

    def _key(self, expected: Document) -> DocumentId | Quote:
        field = self.document_comparison_field
        value = get_match_value(expected, "content" if field == "quote" else field)
        if value is None:
            raise ValueError(
                f"{describe_document(expected)}, is expected but has no {field}, which documents are compared by"
            )
        return Quote(str(value)) if field == "quote" else value

    def _rankings(self, found: dict[int, list[Document]]) -> tuple[dict[Any, list[Any]], str]:
        """Return the ranking of each question, and what the judgments are compared with."""
        field = self.document_comparison_field
        if field == "span":
            return {question: [as_retrieved(one) for one in documents] for question, documents in found.items()}, "id"
        keys = {
            question: [None if field == "quote" else get_match_value(document, field) for document in documents]
            for question, documents in found.items()
        }
        if field != "quote":
            self._require_keys(found, keys)
            if not self._needs_texts and all(None not in row for row in keys.values()):
                return keys, "id"
        items = {
            question: [
                Retrieved(document.id, document.content, metadata={COMPARED: key})
                for document, key in zip(documents, keys[question], strict=True)
            ]
            for question, documents in found.items()
        }
        return items, f"metadata:{COMPARED}"

    @property
    def _needs_texts(self) -> bool:
        return any(isinstance(metric.k, Budget) or metric.definition.needs_places for metric in self._metrics)

    def _require_keys(self, found: dict[int, list[Document]], keys: dict[int, list[DocumentId | None]]) -> None:
        without = [
            document
            for question, documents in found.items()
            if None in keys[question]
            for document, key in zip(documents, keys[question], strict=True)
            if key is None
        ]
        if not without:
            return
        everything = sum(map(len, keys.values()))
        said = (
            f"{len(without)} of {everything} retrieved documents have no {self.document_comparison_field}, for "
            f"example {describe_document(without[0])}"
        )
        if len(without) == everything:
            raise ValueError(f"{said}; choose another document_comparison_field")
        warnings.warn(f"{said}; they count as not relevant", RetrievalWarning, stacklevel=4)


class UndefinedValue(float):
    """The value of a question without one: NaN, which Haystack writes down as JSON can hold it.

    Example:
        >>> Undefined.unless(0.5), Undefined.unless(nan).to_dict()
        (0.5, {})
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the content: nothing."""
        return {}

    @classmethod
    def from_dict(cls, _: dict[str, Any]) -> Self:
        """Return NaN."""
        return cls(nan)

    @classmethod
    def unless(cls, value: float) -> float:
        """Return a value, or this class of NaN where it is one."""
        return cls(nan) if isnan(value) else value


class PipelineEvaluation(Evaluation):
    """An evaluation of the core that is saved with the state of a pipeline."""

    # Haystack writes down what has `to_dict`, and trusts `from_dict` of classes in `haystack_integrations`.

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Return an evaluation as one that Haystack can write down."""
        return cls(evaluation.scores, labels=evaluation.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the file that `save` writes."""
        return {"file": format_saved(self)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the evaluation of `to_dict`, equal to the last bit."""
        return cls.of(parse_saved(data["file"]))


class RetrievalRunResult(EvaluationRunResult):
    """Haystack's `EvaluationRunResult`, with None where a question has no value, because JSON knows no NaN.

    Example:
        >>> results = {"mrr": {"score": 0.5, "individual_scores": [0.5, float("nan")]}}
        >>> RetrievalRunResult("bm25", {"question": ["a", "b"]}, results).detailed_report()
        {'question': ['a', 'b'], 'mrr': [0.5, None]}
    """

    def detailed_report(
        self, output_format: Literal["json", "csv", "df"] = "json", csv_file: str | None = None
    ) -> dict[str, list[Any]] | DataFrame | str:
        """Return the values of every question, as the class of Haystack does."""
        values = {name: _without_nan(found["individual_scores"]) for name, found in self.results.items()}
        return self._handle_output({**self.inputs, **values}, output_format, csv_file)

    def aggregated_report(
        self, output_format: Literal["json", "csv", "df"] = "json", csv_file: str | None = None
    ) -> dict[str, list[Any]] | DataFrame | str:
        """Return the means, as the class of Haystack does."""
        means = _without_nan([found["score"] for found in self.results.values()])
        return self._handle_output({"metrics": [*self.results], "score": means}, output_format, csv_file)


def _without_nan(values: list[Any]) -> list[Any]:
    return [None if value is None or isnan(value) else value for value in values]
