"""Score retrieved nodes against judgments: convert once, call the core once, give back the host's results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode

from llama_index.evaluation.retrieval_metrics.datasets import plain, relevant_ids
from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, as_result
from llama_index.evaluation.retrieval_metrics.nodes import as_items, as_ranking, text_of
from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
from retrieval_metrics import Matching, Qrels, RetrievedRun, evaluate
from retrieval_metrics.adapting import score_queries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric
    from llama_index.core.schema import NodeWithScore

    from llama_index.evaluation.retrieval_metrics.nodes import Match
    from retrieval_metrics import EvaluationSet, Metric
    from retrieval_metrics.adapting import QueryId


class Questions:
    """Questions with their judgments, checked before anything is retrieved.

    Attributes:
        rows: The text and the judgments of each query.
        texts: The text of each query.
        qrels: The judgments as the core reads them.

    Raises:
        TypeError: If the judgments are of the wrong type.
        ValueError: If a grade is not finite, or a group is empty.
    """

    def __init__(self, dataset: EvaluationSet) -> None:
        texts: Mapping[Any, str] = dataset.queries
        truth: Mapping[Any, Any] = dataset.qrels
        self.rows = {query: (text, truth[query]) for query, text in texts.items()}
        self.texts = dataset.queries
        self.qrels = Qrels(dataset.qrels)


class Judged:
    """What was retrieved for some questions, as the core takes it.

    Attributes:
        questions: The questions with their judgments.
        nodes: The nodes that were retrieved, and the errors.
        ids: The ids the nodes are judged by.
        run: The same for the core: ids, or items where the truth asks for more than ids.
        match: What the core compares with the ids of the truth.

    Raises:
        ValueError: If a node lacks what it is to be judged by; a note names the query.
        TypeError: If a function of the user's gives something that is no id.
    """

    def __init__(self, questions: Questions, nodes: RetrievedRun, match: Match) -> None:
        self.questions = questions
        self.nodes = nodes
        self.ids = self._convert(as_ranking, match)
        self.match = match if isinstance(match, Matching) else "id"
        needs_items = questions.qrels.has_pieces or isinstance(match, Matching)
        self.run = self._convert(as_items, match) if needs_items else self.ids

    def _convert(self, convert: Callable[[Sequence[NodeWithScore], Match], Any], match: Match) -> RetrievedRun:
        converted = {}
        for query, nodes in self.nodes.items():
            try:
                converted[query] = convert(nodes, match)
            except Exception as error:
                error.add_note(f"among what was retrieved for query {query!r}")
                raise
        return RetrievedRun(converted, self.nodes.errors)


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

    def dataset(self, questions: Questions, run: RetrievedRun, *, raise_on_error: bool) -> DatasetResult:
        """Return the results of a dataset, with the core's evaluation."""
        errors = dict(run.errors)
        judged = Judged(questions, run, self.match)
        results = self._results(judged, errors=None if raise_on_error else errors)
        evaluation = evaluate(judged.questions.qrels, judged.run, self.specs, match=judged.match) if self.own else None
        return DatasetResult(results, evaluation, errors)

    def one(
        self, questions: Questions, run: RetrievedRun, expected_texts: list[str] | None, mode: RetrievalEvalMode
    ) -> RetrieverEvalResult:
        """Return the result of a single query, whose id is its text."""
        (result,) = self._results(Judged(questions, run, self.match), expected_texts=expected_texts, mode=mode)
        result.query_id = None
        return result

    def _results(
        self,
        judged: Judged,
        *,
        expected_texts: list[str] | None = None,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        errors: dict[QueryId, Exception] | None = None,
    ) -> list[RetrieverEvalResult]:
        """Return a result per query; errors of foreign metrics are collected where a dict is given for them."""
        scores = score_queries(judged.questions.qrels, judged.run, self.specs, match=judged.match) if self.own else {}
        results = []
        for query, (text, truth) in judged.questions.rows.items():
            nodes = judged.nodes[query]
            result = RetrieverEvalResult(
                query=text,
                query_id=query,
                expected_ids=relevant_ids(truth),
                expected_texts=expected_texts,
                retrieved_ids=[str(found) for found in judged.ids[query]],
                retrieved_texts=[text_of(node) for node in nodes],
                mode=mode,
                metric_dict={one.metric_name: as_result(scores[one.spec][query], one.spec) for one in self.own},
                judgments=plain(truth),
            )
            if query not in judged.nodes.errors:
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
