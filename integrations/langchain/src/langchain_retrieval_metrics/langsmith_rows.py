"""Read documents and judgments from the outputs and reference outputs of LangSmith."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_core.documents import Document

from langchain_retrieval_metrics.documents import items_of, part
from retrieval_metrics import DEFAULT_METRICS, RetrievalWarning
from retrieval_metrics.adapting import Scorer, row_error, scored_name
from retrieval_metrics.adapting.distributed import refuse_unknown_scale

if TYPE_CHECKING:
    from retrieval_metrics import Metric, Qrels, Retrieved
    from retrieval_metrics.types import MatchBy, QueryScore

    Outputs = dict[str, Any]


class Read(NamedTuple):
    """What the output of one example holds.

    Attributes:
        items: What was retrieved; nothing if the target failed.
        scores: The score of each metric; None if the output cannot be judged, which says nothing about the retriever.
        failure: Why the target failed, or the output cannot be judged; None without a failure.
    """

    items: list[Retrieved]
    scores: Mapping[Metric, QueryScore] | None
    failure: str | None


class ExampleReading:
    """Reads documents and judgments from outputs and reference outputs, as the evaluators are told.

    Attributes:
        metrics: The metrics.
        match: What identifies a document.
        documents: The documents that chunks were cut from.
        max_grade: The largest grade of all judgments; None if nobody said.
        keys: The key of each metric: with all that is not the default, or with what the user puts before it.
    """

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        match: MatchBy = "id",
        documents_key: str = "documents",
        relevant_key: str = "relevant",
        documents: Any = None,
        max_grade: float | None = None,
        prefix: str | None = None,
    ) -> None:
        self._scorer = Scorer(metrics, match=match, documents=documents)
        self.metrics, self.match, self.documents = self._scorer.metrics, match, documents
        self.max_grade = max_grade
        self._documents_key = documents_key
        self._relevant_key = relevant_key
        chosen = {
            "match": match,
            "documents_key": documents_key,
            "relevant_key": relevant_key,
            "max_grade": max_grade,
        }
        usual = {name: signature(ExampleReading).parameters[name].default for name in chosen}
        self.keys = {metric: scored_name(str(metric), chosen, usual, prefix=prefix) for metric in self.metrics}

    def of_single_examples(self) -> ExampleReading:
        """Return this reading if a single example shows what the metrics need.

        Raises:
            ValueError: If a metric divides by the largest grade of all judgments, and that is not given.
        """
        if self.max_grade is None:
            refuse_unknown_scale(self.metrics, "one example", "pass max_grade=")
        return self

    def truth(self, reference_outputs: Mapping[str, Any] | None) -> Qrels:
        """Return the judgments of an example."""
        where = "the reference output of the example"
        return self.on_scale(self._scorer.truth(part(reference_outputs, self._relevant_key, where), where))

    def on_scale(self, truth: Qrels) -> Qrels:
        """Return judgments whose largest grade is that of all judgments, where it is given."""
        return truth if self.max_grade is None else truth.with_largest_grade(self.max_grade)

    def truths(self, examples: Sequence[Any]) -> tuple[dict[int, Qrels], list[str]]:
        """Return the judgments by the place of the example, and what is wrong with those that have none."""
        truths, unjudged = {}, []
        for at, example in enumerate(examples):
            try:
                truths[at] = self.truth(example.outputs)
            except (TypeError, ValueError) as error:
                unjudged.append(str(error))
        return truths, unjudged

    def read(self, outputs: Outputs | None, truth: Qrels, run: Any) -> Read:
        """Return what was retrieved for an example, with its scores.

        Args:
            outputs: The output of the target.
            truth: The judgments of the example.
            run: The run of LangSmith; None if the evaluator is called without one, and raises what is wrong.
        """
        (query,) = truth.queries
        items: list[Retrieved] = []
        failure = None if run is None or not run.error else f"the target failed: {run.error}"
        try:
            if failure is None:
                items = items_of(
                    _as_documents(part(outputs, self._documents_key, "the output of the target"), self._documents_key)
                )
            retrieved: Any = {query: items}
            scores = self._scorer.queries(truth, retrieved)
        except (TypeError, ValueError) as error:
            told = row_error(error, query, "the output")
            if run is None:
                raise told from error
            # An exception would only be logged, and the reason would not stand beside the question.
            warnings.warn(str(told), RetrievalWarning, stacklevel=3)
            return Read([], None, str(told))
        return Read(items, {metric: values[query] for metric, values in scores.items()}, failure)


def _as_documents(found: Any, key: str) -> list[Document]:
    if isinstance(found, (str, bytes, Mapping)) or not isinstance(found, Iterable):
        raise TypeError(f"{key!r} must hold a list of documents or ids, got {found!r} ({type(found).__name__})")
    return [_as_document(one) for one in found]


def _as_document(found: Any) -> Document:
    """Return a document from a Document, its JSON, or its id, because outputs may have been stored."""
    if isinstance(found, Mapping):
        return Document.model_validate({key: value for key, value in found.items() if value is not None})
    return Document("", id=found) if isinstance(found, (str, int)) else found
