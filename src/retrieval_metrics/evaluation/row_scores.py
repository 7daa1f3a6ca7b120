"""Score one row for hosts that score one at a time: each metric with a reason, and 0 if the application failed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.definition.largest_grade import divides_by_largest_grade
from retrieval_metrics.evaluation.hidden_calls import hidden_calls
from retrieval_metrics.evaluation.scored_run import scored_run
from retrieval_metrics.evaluation.unplaced import warn_of_unplaced
from retrieval_metrics.inputs.entries import judgments_of
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.results.query_scores import query_scores
from retrieval_metrics.trajectories.views import Seen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.aliases import DocumentId, QueryId
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.inputs.retrieved import Retrieved
    from retrieval_metrics.inputs.shapes import Judgments, Ranking
    from retrieval_metrics.judging.matching.matching import Key, Matching
    from retrieval_metrics.results.query_scores import QueryScore
    from retrieval_metrics.scoring.rules import Rules

_QUERY = "the row"


class RowScore(NamedTuple):
    """One metric of one row.

    Attributes:
        value: The value; None if the metric is undefined, because hosts cannot store NaN.
        reason: What the value is computed from, and what went wrong.
    """

    value: float | None
    reason: str


def check_row_metrics(metrics: Sequence[Metric], max_grade: float | None) -> None:
    """Raise if one of the metrics cannot be computed row by row.

    Raises:
        ValueError: If a metric divides by the largest grade of all judgments, and that is not given.
    """
    if max_grade is None and (needy := [metric for metric in metrics if divides_by_largest_grade(metric)]):
        raise ValueError(
            f"{needy[0]} divides by the largest grade of all judgments, which one row does not show; pass max_grade="
        )


def score_row(
    relevant: Judgments,
    retrieved: Callable[[], Ranking | Sequence[Retrieved | DocumentId] | Seen],
    metrics: Sequence[Metric],
    rules: Rules,
    match: str | Key | Matching = "id",
    *,
    max_grade: float | None = None,
    failure: str | None = None,
    row: str = "this row",
) -> dict[Metric, RowScore]:
    """Return the values of `evaluate` for this row, each with its reason.

    Args:
        relevant: The judgments, also as JSON holds quotes, texts and spans.
        retrieved: Returns what was retrieved, or what was seen of several searches. If the application failed, and this
            raises TypeError or ValueError, nothing was retrieved.
        metrics: The metrics.
        rules: The rule set.
        match: What an id of the judgments is compared with.
        max_grade: The largest grade of all judgments.
        failure: Why the application failed on the row, if it did.
        row: What the host calls the row, for messages.

    Raises:
        TypeError: If the judgments, or what was retrieved, have a wrong shape.
        ValueError: If they cannot be used. A row that cannot be judged says nothing about the retriever, so it is an
            error and not a 0.

    Warns:
        RetrievalWarning: If some of what was retrieved cannot be placed.
    """
    try:
        truth = as_qrels({_QUERY: judgments_of(relevant, row)})
    except (TypeError, ValueError) as error:
        raise row_error(error, _QUERY, row) from error

    def scored(ranking: Any) -> dict[Metric, dict[QueryId, QueryScore]]:
        seen = ranking if isinstance(ranking, Seen) else Seen(ranking, ())
        run = RetrievedRun({_QUERY: seen.ranking}, calls={_QUERY: seen.calls} if seen.calls else None)
        if hidden := hidden_calls(metrics, run):
            warnings.warn(hidden, RetrievalWarning, stacklevel=4)
        found = scored_run(truth, run, metrics, rules, match, scale=max_grade)
        warn_of_unplaced(found.needed_origin("warned of").judged, stacklevel=4)
        return query_scores(found)

    try:
        scores = scored(retrieved())
    except (TypeError, ValueError) as error:
        if failure is None:
            raise row_error(error, _QUERY, row) from error
        scores = scored([])
    return {metric: _row_score(values[_QUERY], failure) for metric, values in scores.items()}


def _row_score(score: QueryScore, failure: str | None) -> RowScore:
    ranks = ", ".join(map(str, score.relevant_ranks)) or "none"
    said = f"{score.n_relevant} relevant, {score.n_retrieved} retrieved; ranks of the relevant: {ranks}"
    if not score.is_defined:
        said = f"undefined and left out of the mean: {said}"
    return RowScore(score.value if score.is_defined else None, said if failure is None else f"{said}; {failure}")


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
    said = str(error)
    for ours, theirs in ((f"query {query!r}", row), ("the qrels", "the judgments"), ("the run", "what was retrieved")):
        said = said.replace(ours, theirs)
    said = f"{row} cannot be judged: {said}"
    return TypeError(said) if isinstance(error, TypeError) else ValueError(said)
