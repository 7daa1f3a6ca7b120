"""Score retrieved nodes against judgments: convert once, call the core once, give back the host's results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode

from llama_index.evaluation.retrieval_metrics.convert import as_ranking, plain, relevant_ids, text_of
from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, as_result
from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
from retrieval_metrics import RetrievedRun, evaluate
from retrieval_metrics.evaluation.score_queries import score_queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

    from llama_index.evaluation.retrieval_metrics.convert import Match
    from retrieval_metrics import EvaluationSet, Metric
    from retrieval_metrics.types import DocumentId, QueryId


class NodeScorer:
    """Scores what was retrieved for some questions.

    Args:
        metrics: Metrics of this package, which are computed for all queries at once, and of LlamaIndex, which are asked
            query by query.
        match: What identifies a node in the judgments.
    """

    def __init__(self, metrics: Sequence[BaseRetrievalMetric], match: Match) -> None:
        self.own = [one for one in metrics if isinstance(one, RetrievalMetric)]
        self.foreign = [one for one in metrics if not isinstance(one, RetrievalMetric)]
        self.order = [one.metric_name for one in metrics]
        self.match = match

    @property
    def specs(self) -> list[Metric]:
        """What the metrics of this package mean to the core."""
        return [one.spec for one in self.own]

    def rankings(self, run: RetrievedRun) -> RetrievedRun:
        """Return retrieved nodes as the ids they are judged by.

        Raises:
            ValueError: If a node lacks what it is to be judged by; a note names the query.
            TypeError: If a function of the user's gives something that is no id.
        """
        ranked: dict[QueryId, list[DocumentId]] = {}
        for query, nodes in run.items():
            try:
                ranked[query] = as_ranking(nodes, self.match)
            except Exception as error:
                error.add_note(f"among what was retrieved for query {query!r}")
                raise
        return RetrievedRun(ranked, run.errors)

    def dataset(self, questions: EvaluationSet, run: RetrievedRun, *, raise_on_error: bool) -> DatasetResult:
        """Return the results of a dataset, with the core's evaluation."""
        rankings = self.rankings(run)
        errors = dict(run.errors)
        results = self.results(questions, run, rankings, errors=None if raise_on_error else errors)
        evaluation = evaluate(questions.qrels, rankings, self.specs) if self.own else None
        return DatasetResult(results, evaluation, errors)

    def one(
        self, questions: EvaluationSet, run: RetrievedRun, expected_texts: list[str] | None, mode: RetrievalEvalMode
    ) -> RetrieverEvalResult:
        """Return the result of a single query, whose id is its text."""
        (result,) = self.results(questions, run, self.rankings(run), expected_texts=expected_texts, mode=mode)
        result.query_id = None
        return result

    def results(
        self,
        questions: EvaluationSet,
        run: RetrievedRun,
        rankings: RetrievedRun,
        *,
        expected_texts: list[str] | None = None,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        errors: dict[QueryId, Exception] | None = None,
    ) -> list[RetrieverEvalResult]:
        """Return a result per query; errors of foreign metrics are collected where a dict is given for them."""
        scores = score_queries(questions.qrels, rankings, self.specs) if self.own else {}
        queries: Mapping[Any, str] = questions.queries
        qrels: Mapping[Any, Any] = questions.qrels
        results = []
        for query, text in queries.items():
            result = RetrieverEvalResult(
                query=text,
                query_id=query,
                expected_ids=relevant_ids(qrels[query]),
                expected_texts=expected_texts,
                retrieved_ids=[str(found) for found in rankings[query]],
                retrieved_texts=[text_of(node) for node in run[query]],
                mode=mode,
                metric_dict={one.metric_name: as_result(scores[one.spec][query], one.spec) for one in self.own},
                judgments=plain(qrels[query]),
            )
            if query not in run.errors:
                self._ask_foreign(result, errors)
            if errors and query in errors:
                result.error = f"{type(errors[query]).__name__}: {errors[query]}"
            results.append(result)
        return results

    def _ask_foreign(self, result: RetrieverEvalResult, errors: dict[QueryId, Exception] | None) -> None:
        values = dict(result.metric_dict)
        for one in self.foreign:
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
        result.metric_dict = {name: values[name] for name in self.order if name in values}
