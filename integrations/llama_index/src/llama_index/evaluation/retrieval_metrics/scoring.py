"""Score retrieved nodes against judgments: convert once, call the core once, and return results of LlamaIndex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.evaluation.retrieval.metrics import CohereRerankRelevancyMetric

from llama_index.evaluation.retrieval_metrics.datasets import plain, relevant_ids
from llama_index.evaluation.retrieval_metrics.metrics import RetrievalMetric, as_result
from llama_index.evaluation.retrieval_metrics.nodes import ids_of
from llama_index.evaluation.retrieval_metrics.results import DatasetResult, RetrieverEvalResult
from retrieval_metrics.adapting import (
    Asked,
    Scorer,
    query_scores,
)
from retrieval_metrics.types import Stages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric

    from llama_index.evaluation.retrieval_metrics.questions import CheckedQuestions
    from retrieval_metrics import Metric, RetrievedRun
    from retrieval_metrics.adapting import StageNotes
    from retrieval_metrics.types import MatchBy, QueryId, QueryScore


READS_TEXTS_ALONE = (CohereRerankRelevancyMetric,)
"""Metrics of LlamaIndex that use no judgments."""


class NodeScorer:
    """Scores the nodes retrieved for questions.

    Args:
        metrics: Metrics of this package, which are computed for all queries at once, and of LlamaIndex, which are
            computed query by query.
        match: What identifies a node in the judgments.
        texts: Returns the texts of the documents by name, if they are known; called only if a span is judged.
    """

    def __init__(self, metrics: Sequence[BaseRetrievalMetric], match: MatchBy, texts: Callable[[], Any]) -> None:
        self.own = [one for one in metrics if isinstance(one, RetrievalMetric)]
        self.foreign = [one for one in metrics if not isinstance(one, RetrievalMetric)]
        self.order = [one.metric_name for one in metrics]
        self.match = match
        self._texts = texts

    @property
    def specs(self) -> list[Metric]:
        """The metrics of the core behind the metrics of this package."""
        return [one.spec for one in self.own]

    def refuse_pieces(self, questions: CheckedQuestions) -> None:
        """Raise if a metric of LlamaIndex, which compares ids, would have to judge by texts or places.

        Raises:
            TypeError: If there is one, and judgments hold a `Quote`, a `Text` or a `Span`.
        """
        comparing = [one.metric_name for one in self.foreign if not isinstance(one, READS_TEXTS_ALONE)]
        if comparing and questions.qrels.has_pieces:
            raise TypeError(
                f"{comparing[0]!r} compares ids, but the judgments hold quotes, texts or places; use "
                "the metrics of this package, RetrieverEvaluator.from_metric_names([...]), or judge by ids"
            )

    def check(self, questions: CheckedQuestions) -> Callable[[Any], None] | None:
        """Return a check that raises, for the first answer, what scoring would raise for all."""
        asked = self._asked(questions)
        return None if asked is None else asked.check

    def dataset(
        self,
        questions: CheckedQuestions,
        run: RetrievedRun,
        *,
        mode: RetrievalEvalMode,
        notes: StageNotes | None = None,
        raise_on_error: bool,
    ) -> DatasetResult:
        """Return the results of a dataset, with the core's evaluation, and that of each stage by its name."""
        errors = dict(run.errors)
        asked = self._asked(questions)
        evaluation = None if asked is None else asked.evaluation(run)
        by_stage = {} if notes is None else notes.runs(questions.texts, run.errors)
        scores = {} if evaluation is None else query_scores(evaluation.scores)
        results = self._results(questions, run, scores, mode=mode, errors=None if raise_on_error else errors)
        return DatasetResult(
            results,
            evaluation,
            errors,
            seconds=run.seconds,
            names=self.order,
            foreign=[one.metric_name for one in self.foreign],
            stages=None if asked is None else Stages({name: asked.stage(found) for name, found in by_stage.items()}),
        )

    def one(
        self,
        questions: CheckedQuestions,
        run: RetrievedRun,
        *,
        expected_texts: list[str] | None,
        mode: RetrievalEvalMode,
    ) -> RetrieverEvalResult:
        """Return the result of a single query, whose id is its text; without the warnings that concern a whole run."""
        asked = self._asked(questions)
        scores = {} if asked is None else Scorer(self.specs, match=asked.match).queries(questions.qrels, run)
        (result,) = self._results(questions, run, scores, expected_texts=expected_texts, mode=mode)
        result.query_id = None
        return result

    def _asked(self, questions: CheckedQuestions) -> Asked | None:
        """Return the questions with the metrics of this package and what identifies a node; None without metrics."""
        if not self.own:
            return None
        texts = self._texts() if questions.sources else None
        return Asked(questions.dataset, self.specs, self.match, clusters=questions.clusters, documents=texts)

    def _results(
        self,
        questions: CheckedQuestions,
        run: RetrievedRun,
        scores: Mapping[Metric, Mapping[QueryId, QueryScore]],
        *,
        expected_texts: list[str] | None = None,
        mode: RetrievalEvalMode = RetrievalEvalMode.TEXT,
        errors: dict[QueryId, Exception] | None = None,
    ) -> list[RetrieverEvalResult]:
        """Return a result per query; errors of LlamaIndex's metrics are collected if there is a dict for them."""
        results = []
        for query, (text, truth) in questions.rows.items():
            items = run[query]
            result = RetrieverEvalResult(
                query=text,
                query_id=query,
                expected_ids=relevant_ids(truth),
                expected_texts=expected_texts,
                retrieved_ids=[str(found) for found in ids_of(items, self.match)],
                retrieved_texts=[item.text for item in items],
                mode=mode,
                metric_dict={one.metric_name: as_result(scores[one.spec][query], one.spec) for one in self.own},
                judgments=plain(truth),
            )
            if self.foreign and query not in run.errors:
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
                result.failures[one.metric_name] = f"{type(error).__name__}: {error}"
        result.metric_dict = {name: values[name] for name in self.order if name in values}
