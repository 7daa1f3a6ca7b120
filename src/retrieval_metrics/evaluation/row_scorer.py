"""Score what a host retrieved: a whole run, or one row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from retrieval_metrics._internal.validation import positive_number
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.evaluation.data_warning_wording import format_excluded_relevant, format_hidden_calls
from retrieval_metrics.evaluation.data_warnings import find_location_warnings
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.evaluation.hidden_calls import find_hidden_calls
from retrieval_metrics.evaluation.kept_rows import KeptRow
from retrieval_metrics.evaluation.query_scores import QueryScore, query_scores, single_query_score
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.inputs.exclusion import Exclusion, remove_excluded
from retrieval_metrics.inputs.json_codec import decode_judgments
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.inputs.retrieved_run import MergedRanking, RetrievedRun
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.matching_options import as_matching
from retrieval_metrics.matching.plain_ranking import rank_plainly, read_plain_judgments
from retrieval_metrics.matching.row_ids import require_valid_row_ids
from retrieval_metrics.matching.source_texts import sources_of_spans, with_source_texts
from retrieval_metrics.metrics.base.grade_scale import require_known_scale
from retrieval_metrics.metrics.base.metric import DEFAULT_METRICS, as_metrics
from retrieval_metrics.metrics.base.refused_queries import require_accepted_queries
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.metrics.base.score import apply_rules_to_qrels, score, score_plain_ranking, takes_plain_rankings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.evaluation.kept_rows import KeptRows
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.documents import Documents
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import Judgments, QrelsMapping, Ranking, Retrieved, RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.matching_options import MatchBy, Matching
    from retrieval_metrics.matching.plain_ranking import PlainRanking
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules


T = TypeVar("T")

# The query of a single row.
ROW = "the row"


class Scorer:
    """Scores what a host retrieved by the metrics, rules and `match` that its user chose.

    Unlike `evaluate`, it does not count issues or warn about a whole run, because a host that scores queries one by one
    would repeat that for every query. It warns only about items whose position is unknown, for which a 0 may be wrong.

    Attributes:
        metrics: The metrics.
        rules: The rule set.
        match: What an id of the judgments is compared with.
        max_grade: The largest grade of all judgments; None takes that of the judgments that are scored together.
    """

    _knows_all_judgments = True

    def __init__(
        self,
        metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
        *,
        rules: str | Rules = "standard",
        match: str | Key | Matching = "id",
        documents: Documents | None = None,
        max_grade: float | None = None,
    ) -> None:
        """Read the arguments, as in `evaluate`."""
        self.metrics = as_metrics(metrics)
        self.rules = as_rules(rules)
        if match != "id":
            # Raises if it cannot be used.
            as_matching(match)
        self.match = match
        self._documents = documents
        self.max_grade = None if max_grade is None else positive_number(max_grade, "max_grade")
        if max_grade is None and not self._knows_all_judgments:
            require_known_scale(self.metrics, "one row", "pass max_grade=")
        self._takes_plain_rankings = (
            match == "id" and max_grade is None and takes_plain_rankings(self.metrics, self.rules)
        )

    def ranking(self, relevant: Judgments, retrieved: Ranking) -> dict[Metric, QueryScore]:
        """Return what `queries` returns for one query.

        Args:
            relevant: The judgments of the query, as in `evaluate`.
            retrieved: The ranking, as in `evaluate`.

        Raises:
            TypeError: As in `evaluate`.
            ValueError: As in `evaluate`.

        Example:
            >>> [score.value for score in Scorer("map").ranking(["d1", "d2"], ["x", "d2"]).values()]  # (1/2) / 2
            [0.25]
        """
        grade_by_document = self._read_plain_judgments(relevant)
        if grade_by_document is not None:
            ranking = rank_plainly(grade_by_document, retrieved)
            if ranking is not None:
                return self._score_plainly(ranking)
        values_by_metric = self.queries({0: relevant}, {0: retrieved})
        return {metric: scores[0] for metric, scores in values_by_metric.items()}

    def _read_plain_judgments(self, relevant: Any) -> dict[str, float] | None:
        """Return the grades of the relevant documents if they and the metrics are plain; None for the general path."""
        return read_plain_judgments(relevant) if self._takes_plain_rankings else None

    def _score_plainly(self, ranking: PlainRanking) -> dict[Metric, QueryScore]:
        ranks = tuple(ranking.ranks)
        n_relevant = len(ranking.ideal)
        scores = {}
        for metric in self.metrics:
            value = score_plain_ranking(metric, ranking)
            scores[metric] = QueryScore(value, ranks, n_relevant, ranking.n_retrieved)
        return scores

    def run(self, qrels: QrelsMapping | Qrels, run: RunMapping) -> Scores:
        """Return the scores of a run without a warning.

        Raises:
            TypeError: As in `evaluate`.
            ValueError: As in `evaluate`, except that the run may be empty.
        """
        return self._score(as_qrels(qrels), run, self.max_grade)

    def evaluation(
        self,
        qrels: QrelsMapping | Qrels,
        run: RetrievedRun,
        *,
        clusters: ClustersBy = None,
        exclude: Exclude | None = None,
    ) -> tuple[Evaluation, dict[QueryId, TypeError | ValueError]]:
        """Return the evaluation of rows, each a query, and the errors of the rows that cannot be judged.

        Rows that cannot be judged are left out. All rows are evaluated at once; only if that fails, each is tried
        alone. The largest grade is that of all rows.

        Args:
            qrels: The judgments per query, as in `evaluate`.
            run: What was retrieved, with the errors of failed rows.
            clusters: The clusters of the queries, as in `evaluate`.
            exclude: Documents to leave out of the rankings, as in `evaluate`.

        Raises:
            TypeError: As in `evaluate`, if no single row is the reason, or all are.
            ValueError: Likewise.

        Warns:
            RetrievalWarning: As in `evaluate`.
        """
        qrels = as_qrels(qrels)
        if self.max_grade is not None:
            qrels = qrels.with_largest_grade(self.max_grade)
        try:
            return self._evaluate(qrels, run, clusters, exclude), {}
        except (TypeError, ValueError):
            refusals = self.refusals(qrels, run)
            if not 0 < len(refusals) < len(qrels):
                raise
        accepted_judgments = {query: judgments for query, judgments in qrels.as_dict().items() if query not in refusals}
        accepted_qrels = Qrels.unchecked(accepted_judgments).with_largest_grade(qrels.largest_grade)
        accepted_run = _select_queries(run, [query for query in run if query not in refusals])
        return self._evaluate(accepted_qrels, accepted_run, clusters, exclude), refusals

    def refusals(self, qrels: QrelsMapping | Qrels, run: RetrievedRun) -> dict[QueryId, TypeError | ValueError]:
        """Return the errors of the queries of a run that cannot be scored, each tried alone.

        Example:
            >>> run = RetrievedRun({"q1": [], "q2": ["d1"]})
            >>> Scorer("recall@9chars").refusals({"q1": ["d1"], "q2": ["d1"]}, run).keys()
            dict_keys(['q2'])
        """
        qrels = as_qrels(qrels)
        scale = qrels.largest_grade or 1.0
        refusals: dict[QueryId, TypeError | ValueError] = {}
        for query, judgments in qrels.as_dict().items():
            try:
                self._score(Qrels.unchecked({query: judgments}), _select_queries(run, [query]), scale)
            except (TypeError, ValueError) as error:
                refusals[query] = error
        return refusals

    def _evaluate(self, qrels: Qrels, run: RetrievedRun, clusters: ClustersBy, exclude: Exclude | None) -> Evaluation:
        match = self._matching(qrels)
        return evaluate(qrels, run, self.metrics, rules=self.rules, match=match, clusters=clusters, exclude=exclude)

    def _score(self, qrels: Qrels, run: RunMapping, scale: float | None) -> Scores:
        return score_run(qrels, run, self.metrics, self.rules, self._matching(qrels), scale=scale)

    def _matching(self, qrels: Qrels) -> MatchBy:
        """Return how items are matched: by the texts of the documents where spans are judged."""
        if not qrels.has_pieces:
            return self.match
        documents = self._documents if sources_of_spans(qrels) else None
        return with_source_texts(self.match, documents, qrels)

    @staticmethod
    def truth(relevant: object, name: str) -> Qrels:
        """Return the judgments of one row, also as JSON holds quotes, texts and spans; its query is `ROW`.

        Args:
            relevant: The judgments.
            name: Where they are, for messages.

        Raises:
            TypeError: If they have a wrong shape.
            ValueError: If they cannot be used.
        """
        try:
            return as_qrels({ROW: decode_judgments(relevant, name)})
        except (TypeError, ValueError) as error:
            raise row_error(error, ROW, name) from error

    def queries(self, qrels: QrelsMapping | Qrels, run: RunMapping) -> dict[Metric, dict[QueryId, QueryScore]]:
        """Return the values of `evaluate` with the ranks behind them.

        Args:
            qrels: The judgments per query, as in `evaluate`.
            run: The rankings per query, as in `evaluate`. A missing query counts as nothing retrieved.

        Raises:
            TypeError: As in `evaluate`.
            ValueError: As in `evaluate`, except that the run may be empty.

        Example:
            >>> scores = Scorer("map").queries({"q": ["d1", "d2"]}, {"q": ["x", "d2"]})
            >>> [values["q"].value for values in scores.values()]  # (1/2) / 2
            [0.25]
        """
        scores = self.run(qrels, run)
        _warn_about_locations(scores.require_origin("checked for data problems").judged)
        return query_scores(scores)


def _select_queries(run: RetrievedRun, queries: Collection[QueryId]) -> RetrievedRun:
    """Return a run of some queries; a query that is not in the original run has an empty ranking."""
    rankings = {query: run.get(query, []) for query in queries}
    stages = {name: _select_keys(stage, queries) for name, stage in run.stages.items()}
    return RetrievedRun(
        rankings,
        _select_keys(run.errors, queries),
        _select_keys(run.seconds, queries),
        calls=_select_keys(run.calls, queries),
        stages=stages,
        takes_documents=run.takes_documents,
    )


def _select_keys(mapping: Mapping[QueryId, T], queries: Collection[QueryId]) -> dict[QueryId, T]:
    return {query: mapping[query] for query in queries if query in mapping}


class RowScorer(Scorer):
    """Scores one row at a time, for hosts that store a value and a reason for each.

    It refuses metrics that divide by the largest grade of all judgments unless `max_grade` is given, because one row
    does not show that grade.
    """

    _knows_all_judgments = False

    def row(
        self,
        relevant: Judgments | Qrels,
        retrieved: Callable[[], Ranking | Sequence[Retrieved | DocumentId] | MergedRanking],
        *,
        failure: str | None = None,
        name: str = "this row",
        exclude: Collection[DocumentId] = (),
        rows: KeptRows | None = None,
        query: str = "",
    ) -> dict[Metric, QueryScore]:
        """Return the values of `evaluate` for this row.

        Args:
            relevant: The judgments, also as `truth` returns them.
            retrieved: Returns what was retrieved, or what was seen of several searches. If the application failed, and
                this raises TypeError or ValueError, nothing was retrieved.
            failure: Why the application failed on the row, if it did.
            name: What the host calls the row, for messages.
            exclude: The ids of documents to leave out of the ranking before it is scored, so that they take no rank.
            rows: Keeps the row, so that it can be checked together with the others of a run; None keeps nothing.
            query: The query of the row, for messages about all rows.

        Raises:
            TypeError: If the judgments, what was retrieved, or the ids to leave out have a wrong shape.
            ValueError: If they cannot be used. A row that cannot be judged says nothing about the retriever, so it is
                an error and not a 0.

        Warns:
            RetrievalWarning: If some of what was retrieved cannot be placed, or a relevant document is left out.
        """
        qrels = None
        n_excluded = 0
        grade_by_document = self._read_plain_judgments(relevant)
        if grade_by_document is None:
            qrels = relevant if isinstance(relevant, Qrels) else self.truth(relevant, name)
        try:
            ranking = retrieved()
            if grade_by_document is not None and failure is None and not exclude:
                plain_ranking = rank_plainly(grade_by_document, ranking)
                if plain_ranking is not None:
                    if rows is not None:
                        rows.add(KeptRow(self.truth(relevant, name), ranking, query=query))
                    return self._score_plainly(plain_ranking)
            if qrels is None:
                qrels = self.truth(relevant, name)
            if failure is None and isinstance(ranking, MergedRanking):
                failure = ranking.failure
            run = self._run_of_row(ranking, failure)
            excluded_run = remove_excluded(run, qrels, {ROW: exclude} if exclude else None, get_match_key(self.match))
            run = excluded_run.run
            n_excluded = excluded_run.total
            scores = self._score_row(qrels, run)
            if exclude:
                _warn_about_excluded_relevant(qrels, exclude, name)
        except (TypeError, ValueError) as error:
            if failure is None:
                raise row_error(error, ROW, name) from error
            qrels = self.truth(relevant, name) if qrels is None else qrels
            run = self._run_of_row([], failure)
            scores = self._score_row(qrels, run)
        if rows is not None:
            rows.add(KeptRow(qrels, run[ROW], failure, query, exclude, n_excluded))
        return {metric: query_score._replace(failure=failure) for metric, query_score in scores.items()}

    def _score_row(self, qrels: Qrels, run: Any) -> dict[Metric, QueryScore]:
        """Judge and score one row, without the counts and checks that concern a whole run."""
        qrels = apply_rules_to_qrels(qrels, self.rules)
        if self.max_grade is not None:
            qrels = qrels.with_largest_grade(self.max_grade)
        judged = judge(qrels, run, self._matching(qrels), self.rules.order)
        require_valid_row_ids(judged, run, get_match_key(self.match))
        require_accepted_queries(judged, self.rules)
        values = [float(score(judged, metric, self.rules).values[0]) for metric in self.metrics]
        _warn_about_locations(judged)
        scores = {}
        for metric, value in zip(self.metrics, values, strict=True):
            scores[metric] = single_query_score(judged, metric, value)
        return scores

    def _run_of_row(self, ranking: Any, failure: str | None) -> Any:
        """Return the run of one row, and warn if one of its calls hides the later ones."""
        calls: list[int] = []
        if isinstance(ranking, MergedRanking):
            calls = ranking.calls
            ranking = ranking.ranking
        # Results from before a failure count. Without any, the row is an error and not an empty answer.
        has_only_failed = failure is not None and not len(ranking)
        if not calls and not has_only_failed:
            return {ROW: ranking}
        errors: dict[QueryId, Exception] = {ROW: RuntimeError(failure)} if has_only_failed else {}
        run = RetrievedRun({ROW: ranking}, errors, calls={ROW: calls} if calls else None)
        hidden_calls = find_hidden_calls(self.metrics, run)
        if hidden_calls is not None:
            warn(format_hidden_calls(hidden_calls))
        return run


def _warn_about_excluded_relevant(qrels: Qrels, exclude: Collection[DocumentId], name: str) -> None:
    """Warn that relevant documents of a row are left out, so that its ranking cannot be perfect."""
    excluded_relevant = Exclusion({ROW: exclude}).find_relevant(qrels)
    if excluded_relevant:
        warn(format_excluded_relevant(excluded_relevant).replace(f"query {ROW!r}", name))


def _warn_about_locations(judged: JudgedRun) -> None:
    """Warn that spans could not be looked for in some items, so that a 0 may be wrong."""
    if judged.unlocated or judged.line_ending_spans:
        for data_warning in find_location_warnings(judged):
            warn(data_warning.message)


def row_error(error: Exception, query: QueryId | None, row: str) -> TypeError | ValueError:
    """Return an error of the core in the words of a host whose rows hold judgments and what was retrieved.

    Args:
        error: The error.
        query: The id of the query that stands for the row; None if it is not one row.
        row: What the host calls the row.

    Example:
        >>> error = TypeError("document ids in the qrels are str and those in the run are int")
        >>> row_error(error, "q", "case 'a'")
        TypeError("case 'a' cannot be judged: document ids in the judgments are str and those in what was retrieved \
are int")
    """
    message = str(error)
    message = message.replace(f"query {query!r}", row)
    message = message.replace("the qrels", "the judgments")
    message = message.replace("the run", "what was retrieved")
    message = f"{row} cannot be judged: {message}"
    return TypeError(message) if isinstance(error, TypeError) else ValueError(message)
