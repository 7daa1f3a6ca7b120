"""Read documents and judgments from the outputs and reference outputs of LangSmith."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document

from langchain_retrieval_metrics.documents import items_of, part
from retrieval_metrics import DEFAULT_METRICS, Qrels, RetrievalWarning, Span
from retrieval_metrics.adapting import Scorer, judgments_of, scored_name, with_documents
from retrieval_metrics.types import Judgeable

if TYPE_CHECKING:
    from retrieval_metrics import Metric, Retrieved
    from retrieval_metrics.types import MatchBy, QueryScore

    Outputs = dict[str, Any]

QUERY = "query"


class UnreadableOutput(str):
    """Why an output cannot be judged, which says nothing about the retriever; a failed target retrieved nothing."""

    __slots__ = ()


class ExampleReading:
    """Reads documents and judgments from outputs and reference outputs, as the evaluators are told.

    Attributes:
        scorer: Scores by the metrics.
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
        prefix: str | None = None,
    ) -> None:
        self.scorer = Scorer(metrics, match=match)
        self._documents = documents
        self._documents_key = documents_key
        self._relevant_key = relevant_key
        chosen = {"match": match, "documents_key": documents_key, "relevant_key": relevant_key}
        usual = {name: signature(ExampleReading).parameters[name].default for name in chosen}
        self.keys = {metric: scored_name(str(metric), chosen, usual, prefix=prefix) for metric in self.scorer.metrics}

    def matching(self, qrels: Qrels) -> Any:
        """Return how documents are matched: by the texts of the sources where spans are judged."""
        spans = qrels.has_pieces and any(isinstance(piece, Span) for piece in qrels.documents)
        return with_documents(self.scorer.match, self._documents if spans else None, qrels)

    def scores(self, qrels: Qrels, found: list[Retrieved]) -> dict[Metric, QueryScore]:
        """Return the score of each metric for one example."""
        matched = self.matching(qrels)
        scorer = self.scorer if matched is self.scorer.match else Scorer(self.scorer.metrics, match=matched)
        return {metric: values[QUERY] for metric, values in scorer.queries(qrels, {QUERY: found}).items()}

    def truth(self, reference_outputs: Mapping[str, Any] | None) -> Any:
        """Return the judgments."""
        where = "the reference output of the example"
        return judgments_of(part(reference_outputs, self._relevant_key, where), where)

    def truths(self, examples: Sequence[Any]) -> tuple[dict[int, Any], list[str]]:
        """Return the judgments by the place of the example, and what is wrong with those that have none."""
        truths, unjudged = {}, []
        for at, example in enumerate(examples):
            try:
                truth = self.truth(example.outputs)
                Qrels({at: truth})
            except (TypeError, ValueError) as error:
                unjudged.append(str(error))
            else:
                truths[at] = truth
        return truths, unjudged

    def found(self, outputs: Outputs | None, qrels: Qrels, run: Any) -> tuple[list[Retrieved], str | None]:
        """Return what was retrieved, and the reason if the target failed or its output cannot be judged."""
        if run is not None and run.error:
            return [], f"the target failed: {run.error}"
        try:
            documents = part(outputs, self._documents_key, "the output of the target")
            items = items_of(_as_documents(documents, self._documents_key))
            Judgeable(qrels, self.matching(qrels)).check(items, QUERY if run is None else run.id)
        except (TypeError, ValueError) as error:
            if run is None:
                raise
            # An exception would only be logged, and the reason would not stand beside the question.
            failure = UnreadableOutput(f"the output cannot be judged: {type(error).__name__}: {error}")
            warnings.warn(failure, RetrievalWarning, stacklevel=3)
            return [], failure
        return items, None


def _as_documents(found: Any, key: str) -> list[Document]:
    if isinstance(found, (str, bytes, Mapping)) or not isinstance(found, Iterable):
        raise TypeError(f"{key!r} must hold a list of documents or ids, got {found!r} ({type(found).__name__})")
    return [_as_document(one) for one in found]


def _as_document(found: Any) -> Document:
    """Return a document from a Document, its JSON, or its id, because outputs may have been stored."""
    if isinstance(found, Mapping):
        return Document.model_validate({key: value for key, value in found.items() if value is not None})
    return Document("", id=found) if isinstance(found, (str, int)) else found
