"""Check the questions and options of an evaluation before a retriever is asked, and evaluate its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.query_scores import query_scores
from retrieval_metrics.evaluation.row_scorer import Scorer
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.files.question_files import read_question_source
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.document_texts import with_document_texts
from retrieval_metrics.inputs.documents import keep_for_rereading
from retrieval_metrics.inputs.exclusion import as_exclusion
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.matching.source_texts import sources_of_spans, with_source_texts
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, as_metrics
from retrieval_metrics.metrics.base.rules import as_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.query_scores import QueryScore
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.documents import Documents
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import QrelsMapping, RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.question_rows import QuestionDataset
    from retrieval_metrics.inputs.retrieved_run import RetrievedRun
    from retrieval_metrics.matching.matching_options import MatchBy, Matching
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules


class RetrieveArguments(TypedDict):
    """The arguments of `retrieve` with which an `EvaluationTask` is asked.

    Attributes:
        questions: The questions with their judgments.
        match: What an id of the judgments is compared with.
        check: Raises for the first answer what the evaluation would raise for the whole run; None checks nothing.
    """

    questions: Questions
    match: MatchBy
    check: Callable[[RunMapping], object] | None


class EvaluationTask:
    """Questions with judgments and the options of an evaluation, all checked before the first question is asked.

    Attributes:
        qrels: The judgments.
        texts: The text of each question, by its id.
        sources: The documents in which spans are judged.
        match: What an id of the judgments is compared with, with the texts of the documents if spans are judged.
        key: Returns the value of an item that is compared with ids.
        retrieve_arguments: What `retrieve` takes to ask the questions.
    """

    def __init__(
        self,
        questions: QuestionDataset | Qrels,
        metrics: str | Metric | Iterable[str | Metric],
        match: MatchBy = "id",
        *,
        rules: str | Rules = "standard",
        clusters: ClustersBy = "source",
        documents: Documents | Callable[[], Documents | None] | None = None,
        exclude: Exclude | None = None,
    ) -> None:
        """Read the questions and the options.

        Args:
            questions: The questions with judgments, in any shape of `EvaluationSet.from_dataset`.
            metrics: Names of metrics.
            match: What an id of the judgments is compared with.
            rules: The rules of the metrics.
            clusters: Which questions depend on one another.
            documents: The documents that were searched, as in `evaluate`, or a function that returns them; it is called
                only if spans are judged.
            exclude: Documents to leave out of the rankings, as in `evaluate`.

        Raises:
            ValueError: As in `evaluate`, which would raise it for any answer.
        """
        parsed_questions = read_question_source(Questions, questions)
        self.qrels = as_qrels(parsed_questions)
        self.texts: Mapping[Any, str] = parsed_questions.queries
        self.sources = sources_of_spans(self.qrels)
        self._metrics = as_metrics(metrics)
        self._rules = as_rules(rules)
        self._exclusion = as_exclusion(exclude)
        if self._exclusion is not None:
            self._exclusion.require_fitting_ids(self.qrels)
        self._clusters = find_clusters(parsed_questions, self.qrels, clusters)
        if callable(documents):
            documents = documents() if self.sources else None
        documents = keep_for_rereading(documents)
        self.match = with_source_texts(match, documents, self.qrels, parsed_questions)
        self.qrels = with_document_texts(self.qrels, documents)
        self.key = get_match_key(match)
        self.retrieve_arguments: RetrieveArguments = {
            "questions": parsed_questions,
            # `retrieve` adds the texts that the questions keep; those of `documents` are for the check.
            "match": match,
            "check": make_first_answer_check(self.qrels, self._metrics, rules=self._rules, match=self.match),
        }

    def evaluation(self, run: RetrievedRun) -> Evaluation:
        """Return the evaluation of what was retrieved.

        Raises:
            ValueError: As in `evaluate`.

        Warns:
            RetrievalWarning: As in `evaluate`.
        """
        return evaluate(
            self.qrels,
            run,
            self._metrics,
            rules=self._rules,
            match=self.match,
            clusters=self._clusters,
            exclude=self._exclusion,
        )

    def query_scores(self, run: RetrievedRun | Evaluation) -> dict[Metric, dict[QueryId, QueryScore]]:
        """Return the values of single questions with the ranks behind them.

        For a run that is not evaluated yet, they are computed without the warnings about a whole run.
        """
        if isinstance(run, Evaluation):
            return query_scores(run.scores)
        return Scorer(self._metrics, rules=self._rules, match=self.match).queries(self.qrels, run)


def make_first_answer_check(
    qrels: QrelsMapping | Qrels,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    rules: str | Rules = "standard",
    match: str | Key | Matching = "id",
    ties: str | None = None,
    unjudged: str | None = None,
) -> Callable[[RunMapping], None]:
    """Return a check that raises, for a run of one query, what `evaluate` would raise for the whole run.

    Raises:
        ValueError: At once, if the judgments and options alone are refused.

    Example:
        >>> check = make_first_answer_check({"q1": ["d7"]}, "recall@2000chars")
        >>> try:
        ...     check({"q1": ["d7"]})
        ... except ValueError as error:
        ...     print(str(error).partition(";")[0])
        a cutoff of 2000chars needs the lengths of the items, but the rankings hold only IDs
    """
    rules = as_rules(rules, ties, unjudged)
    parsed_metrics = as_metrics(metrics)
    parsed_qrels = as_qrels(qrels)
    # What is wrong with judgments and options shows with an empty run, before a question is asked.
    empty_run: Any = dict.fromkeys(parsed_qrels.queries, ())
    score_run(parsed_qrels, empty_run, parsed_metrics, rules, match)

    def check(run: RunMapping) -> None:
        judgments: dict[Any, Any] = {}
        for position, query in enumerate(parsed_qrels.queries):
            if query in run:
                judgments[query] = parsed_qrels.judgments(position)
        if judgments:
            score_run(Qrels.unchecked(judgments), run, parsed_metrics, rules, match, scale=parsed_qrels.largest_grade)

    return check
