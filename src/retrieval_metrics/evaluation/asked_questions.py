"""The questions that a retriever is asked, and how its answers are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.first_answer import first_answer_check
from retrieval_metrics.evaluation.scored_run import scored_run
from retrieval_metrics.evaluation.scorer import Scorer
from retrieval_metrics.evaluation.stages import Stages
from retrieval_metrics.inputs.items import key_of
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.question_clusters import clusters_of
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.inputs.run import RetrievedRun
from retrieval_metrics.judging.judge import judged_sources, with_documents
from retrieval_metrics.results.counts import count
from retrieval_metrics.results.summary import query_scores
from retrieval_metrics.scoring.metric import as_metrics
from retrieval_metrics.scoring.rules import as_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.checks import QueryId
    from retrieval_metrics.inputs.items import Retrieved
    from retrieval_metrics.inputs.question_clusters import ClustersBy
    from retrieval_metrics.judging.ranking_order import MatchBy
    from retrieval_metrics.results.summary import QueryScore
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.scoring.rules import Rules


class Asked:
    """Questions with judgments and the options of an evaluation, all checked before the first question is asked.

    Attributes:
        qrels: The judgments.
        texts: The text of each question, by its id.
        sources: The documents in which spans are judged.
        match: What an id of the judgments is compared with, with the texts of the documents if spans are judged.
        key: Returns the value of an item that is compared with ids.
        asking: What to tell `retrieve`: the questions, what their judgments are compared with, and the check of the
            first answer.
    """

    def __init__(
        self,
        questions: Any,
        metrics: str | Metric | Iterable[str | Metric],
        match: MatchBy = "id",
        *,
        semantics: str | Rules = "standard",
        clusters: ClustersBy = "source",
        documents: Any = None,
        stages: Sequence[str] = (),
        stacklevel: int = 3,
    ) -> None:
        """Read the questions, in any shape of `EvaluationSet.of`, and the options, as in `evaluate`.

        Args:
            questions: The questions with their judgments.
            metrics: The metrics.
            match: What an id of the judgments is compared with.
            semantics: The rules.
            clusters: The clusters of the questions.
            documents: The documents that chunks were cut from; or a function that returns them, which is called if a
                span is judged.
            stages: The names of the steps of the retriever that are evaluated too, in their order.
            stacklevel: Which caller a warning names, as in `warnings.warn`.

        Raises:
            TypeError: As in `evaluate`.
            ValueError: As in `evaluate`.
        """
        read = Questions.of(questions)
        self.qrels = as_qrels(read)
        self.texts: Mapping[Any, str] = read.queries
        self.sources = judged_sources(self.qrels)
        self._metrics, self._rules = as_metrics(metrics), as_rules(semantics)
        self._clusters = clusters_of(read, self.qrels, clusters)
        if callable(documents):
            documents = documents() if self.sources else None
        self.match = with_documents(match, documents, self.qrels, read, stacklevel=stacklevel + 1)
        self.key = key_of(match)
        check = first_answer_check(self.qrels, self._metrics, semantics=self._rules, match=self.match)
        self.asking: dict[str, Any] = {"questions": read, "match": match, "check": check}
        self._steps: dict[str, dict[str, list[Retrieved]]] = {name: {} for name in stages}

    def evaluation(self, run: RetrievedRun) -> Evaluation:
        """Return the evaluation of what was retrieved.

        Raises:
            ValueError: As in `evaluate`.

        Warns:
            RetrievalWarning: As in `evaluate`.
        """
        return evaluate(
            self.qrels, run, self._metrics, semantics=self._rules, match=self.match, clusters=self._clusters
        )

    def query_scores(self, run: RetrievedRun | Evaluation) -> dict[Metric, dict[QueryId, QueryScore]]:
        """Return the values of single questions with the ranks behind them.

        Those of a run that is not evaluated are computed without the warnings that concern a whole run.
        """
        if isinstance(run, Evaluation):
            return query_scores(run.scores)
        return Scorer(self._metrics, semantics=self._rules, match=self.match).queries(self.qrels, run)

    def note(self, stage: str, text: str, items: list[Retrieved]) -> None:
        """Keep what the retriever holds for the text of a question after one of its steps."""
        self._steps[stage][text] = items

    def stages(self, run: RetrievedRun, evaluation: Evaluation, last: str | None = None) -> Stages:
        """Return the evaluation of each step that a question reached; only that of the last one has warned.

        A question that did not reach a step is left out of its evaluation; one that failed has retrieved nothing.

        Args:
            run: What was retrieved in the end.
            evaluation: Its evaluation, which is that of the last step.
            last: The name of the last step; None takes the last one that was named.
        """
        if not self._steps:
            return Stages({})
        last = [*self._steps][-1] if last is None else last
        reached = {name: self._reached(of_text, run.errors) for name, of_text in self._steps.items() if name != last}
        evaluations = {name: self._stage(found) for name, found in reached.items() if len(found) > len(run.errors)}
        evaluations[last] = evaluation
        return Stages(evaluations, [name for name in self._steps if name not in evaluations])

    def _reached(self, of_text: Mapping[str, list[Retrieved]], errors: Mapping[QueryId, Exception]) -> RetrievedRun:
        """Return a run of the questions that reached a step or failed."""
        found = {query: [] if query in errors else of_text.get(text) for query, text in self.texts.items()}
        return RetrievedRun({query: items for query, items in found.items() if items is not None}, errors)

    def _stage(self, run: RetrievedRun) -> Evaluation:
        """Return the evaluation of the questions that are in a run."""
        scores = scored_run(self.qrels, run, self._metrics, self._rules, self.match)
        kept = np.flatnonzero(np.fromiter((query in run for query in scores.queries), np.bool_, len(scores.queries)))
        if len(kept) < len(scores.queries):
            among = scores.positions[kept]
            origin = scores.needed_origin("evaluated")
            scores = scores.of(kept, count(origin.judged, origin.run, self._rules, kept=among, among=among))
        return Evaluation(scores.clustered(self._clusters))
