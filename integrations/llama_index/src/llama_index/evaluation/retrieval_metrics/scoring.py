"""Score retrieved nodes against judgments: convert once, call the core once, and return results of LlamaIndex."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.metrics import CohereRerankRelevancyMetric

from llama_index.evaluation.retrieval_metrics.datasets import plain, refuse_nodes, relevant_ids
from llama_index.evaluation.retrieval_metrics.items import (
    as_items,
    ids_of,
    one_document_each,
    texts_by_name,
)
from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, as_result
from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
from retrieval_metrics import DEFAULT_METRICS, Qrels
from retrieval_metrics.adapting import Asked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

    from llama_index.evaluation.retrieval_metrics.items import Source
    from retrieval_metrics import EvaluationSet, Metric, RetrievedRun
    from retrieval_metrics.types import ClustersBy, MatchBy, QueryId, QueryScore


READS_TEXTS_ALONE = (CohereRerankRelevancyMetric,)
"""Metrics of LlamaIndex that use no judgments."""


class NodeScorer:
    """Questions and the metrics of an evaluator, checked before anything is retrieved; scores the nodes retrieved.

    Args:
        metrics: Metrics of this package, which are computed for all queries at once, and of LlamaIndex, which are
            computed query by query.
        questions: The questions with their judgments.
        match: What identifies a node in the judgments.
        mode: Which nodes count.
        source: The name of a node's document.
        documents: The documents that the nodes were cut from, or None.
        clusters: The clusters of the queries.
        stages: The names of the stages that are scored too.

    Attributes:
        asking: What to tell the core's `retrieve`.

    Raises:
        TypeError: If the judgments are of the wrong type, or hold a `Quote`, a `Text` or a `Span` and a metric of
            LlamaIndex, which compares ids, would have to judge by it.
        ValueError: If the judgments cannot be used, or `clusters` has none of the queries.
    """

    def __init__(
        self,
        metrics: Sequence[BaseRetrievalMetric],
        questions: EvaluationSet,
        match: MatchBy,
        *,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        source: Source = "ref_doc_id",
        documents: Any = None,
        clusters: ClustersBy = "source",
        stages: Sequence[str] = (),
    ) -> None:
        self._own = [one for one in metrics if isinstance(one, RetrievalMetric)]
        self._foreign = [one for one in metrics if not isinstance(one, RetrievalMetric)]
        self._order = [one.metric_name for one in metrics]
        self._questions, self._mode = questions, mode
        self._texts: Mapping[Any, str] = questions.queries
        refuse_nodes(questions)
        comparing = [one.metric_name for one in self._foreign if not isinstance(one, READS_TEXTS_ALONE)]
        if comparing and Qrels(questions.qrels).has_pieces:
            raise TypeError(
                f"{comparing[0]!r} compares ids, but the judgments hold quotes, texts or places; use "
                "the metrics of this package, RetrieverEvaluator.from_metric_names([...]), or judge by ids"
            )
        self._asked = Asked(
            questions,
            [one.spec for one in self._own] or DEFAULT_METRICS,
            match,
            clusters=clusters,
            documents=partial(texts_by_name, documents, source),
            stages=stages,
        )
        items = partial(as_items, mode=mode, source=one_document_each(source, self._asked.sources))
        self.asking = self._asked.asking | {"items": items} | ({} if self._own else {"check": None})
        self._stages, self._source = stages, source

    def note(self, stage: int, text: str, nodes: Any) -> None:
        """Keep the nodes of a question after a stage."""
        self._asked.note(self._stages[stage], text, as_items(nodes, self._mode, self._source))

    def dataset(self, run: RetrievedRun, *, raise_on_error: bool) -> DatasetResult:
        """Return the results of a dataset, with the core's evaluation, and that of each stage by its name."""
        errors = dict(run.errors)
        evaluation = self._asked.evaluation(run) if self._own else None
        scores = {} if evaluation is None else self._asked.query_scores(evaluation)
        return DatasetResult(
            self._results(run, scores, errors=None if raise_on_error else errors),
            evaluation,
            errors,
            seconds=run.seconds,
            names=self._order,
            foreign=[one.metric_name for one in self._foreign],
            stages=None if evaluation is None else self._asked.stages(run, evaluation),
        )

    def one(self, run: RetrievedRun, *, expected_texts: list[str] | None) -> RetrieverEvalResult:
        """Return the result of a single query, whose id is its text; without the warnings that concern a whole run."""
        scores = self._asked.query_scores(run) if self._own else {}
        (result,) = self._results(run, scores, expected_texts=expected_texts)
        result.query_id = None
        return result

    def _results(
        self,
        run: RetrievedRun,
        scores: Mapping[Metric, Mapping[QueryId, QueryScore]],
        *,
        expected_texts: list[str] | None = None,
        errors: dict[QueryId, Exception] | None = None,
    ) -> list[RetrieverEvalResult]:
        """Return a result per query; errors of LlamaIndex's metrics are collected if there is a dict for them."""
        truth: Mapping[Any, Any] = self._questions.qrels
        columns = [(one.metric_name, one.spec, scores[one.spec]) for one in self._own]
        results = []
        for query, text in self._texts.items():
            items, judgments = run[query], plain(truth[query])
            result = RetrieverEvalResult(
                query=text,
                query_id=query,
                expected_ids=relevant_ids(judgments),
                expected_texts=expected_texts,
                retrieved_ids=ids_of(items, self._asked.key),
                retrieved_texts=[item.text for item in items],
                mode=self._mode,
                metric_dict={name: as_result(values[query], spec) for name, spec, values in columns},
                judgments=judgments,
            )
            if self._foreign and query not in run.errors:
                self._ask_foreign(result, errors)
            if errors and query in errors:
                result.error = f"{type(errors[query]).__name__}: {errors[query]}"
            results.append(result)
        return results

    def _ask_foreign(self, result: RetrieverEvalResult, errors: dict[QueryId, Exception] | None) -> None:
        values = dict(result.metric_dict)
        for one in self._foreign:
            try:
                values[one.metric_name] = one.compute(
                    result.query,
                    result.expected_ids,
                    result.retrieved_ids,
                    result.expected_texts,
                    result.retrieved_texts,
                )
            except Exception as error:
                error.add_note(f"while computing {one.metric_name} for query {result.query!r}")
                if errors is None or result.query_id is None:
                    raise
                errors[result.query_id] = error
                result.failures[one.metric_name] = f"{type(error).__name__}: {error}"
        result.metric_dict = {name: values[name] for name in self._order if name in values}
