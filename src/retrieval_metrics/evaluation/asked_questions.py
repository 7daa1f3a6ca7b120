"""The questions that a retriever is asked, and how its answers are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.definition.metric import as_metrics
from retrieval_metrics.evaluation.evaluate import clustered, evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.first_answer import first_answer_check
from retrieval_metrics.evaluation.scored_run import scored_run
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.question_clusters import clusters_of
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.judging.with_documents import with_documents
from retrieval_metrics.results.counts import count
from retrieval_metrics.scoring.rules import as_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.inputs.question_clusters import ClustersBy
    from retrieval_metrics.inputs.retrieved_run import RetrievedRun
    from retrieval_metrics.judging.matching.matching import MatchBy
    from retrieval_metrics.scoring.rules import Rules


class Asked:
    """Questions with judgments and the options of an evaluation, all checked before the first question is asked.

    Attributes:
        questions: The questions; pass them to `retrieve`.
        match: What an id of the judgments is compared with, with the texts of the documents if spans are judged.
        check: The check of the first answer; pass it there too.
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
        stacklevel: int = 3,
    ) -> None:
        """Read the questions, in any shape of `EvaluationSet.of`, and the options, as in `evaluate`.

        Args:
            questions: The questions with their judgments.
            metrics: The metrics.
            match: What an id of the judgments is compared with.
            semantics: The rules.
            clusters: The clusters of the questions.
            documents: The documents that chunks were cut from.
            stacklevel: Which caller a warning names, as in `warnings.warn`.

        Raises:
            TypeError: As in `evaluate`.
            ValueError: As in `evaluate`.
        """
        self.questions = Questions.of(questions)
        self._qrels = as_qrels(self.questions)
        self._metrics, self._rules = as_metrics(metrics), as_rules(semantics)
        self._clusters = clusters_of(self.questions, self._qrels, clusters)
        self.match = with_documents(match, documents, self._qrels, self.questions, stacklevel=stacklevel + 1)
        self.check = first_answer_check(self._qrels, self._metrics, semantics=self._rules, match=self.match)

    def evaluation(self, run: RetrievedRun) -> Evaluation:
        """Return the evaluation of what was retrieved.

        Raises:
            ValueError: As in `evaluate`.

        Warns:
            RetrievalWarning: As in `evaluate`.
        """
        return evaluate(
            self._qrels, run, self._metrics, semantics=self._rules, match=self.match, clusters=self._clusters
        )

    def stage(self, run: Mapping[Any, Any]) -> Evaluation:
        """Return the evaluation of an earlier stage of a pipeline, without the warnings that the last one gives.

        A question that did not reach the stage, and so is not in the run, is left out of it.
        """
        scores = scored_run(self._qrels, run, self._metrics, self._rules, self.match)
        kept = np.flatnonzero(np.fromiter((query in run for query in scores.queries), np.bool_, len(scores.queries)))
        if len(kept) < len(scores.queries):
            among = scores.positions[kept]
            origin = scores.needed_origin("evaluated")
            scores = scores.of(kept, count(origin.judged, origin.run, self._rules, kept=among, among=among))
        return Evaluation(clustered(scores, self._clusters))
