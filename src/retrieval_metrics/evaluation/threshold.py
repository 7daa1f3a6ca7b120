"""Choose the score above which results are shown, so that few questions without an answer get one."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf, isinf, log, log1p, nan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional, to_data_frame
from retrieval_metrics.evaluation.scored_rankings import find_best_scores, keep_above
from retrieval_metrics.evaluation.threshold_choice import (
    UNKNOWN_MEAN,
    FalseAnswers,
    ThresholdCost,
    choose_curve_points,
)
from retrieval_metrics.evaluation.threshold_wording import format_score, format_threshold_conclusion, threshold_notes
from retrieval_metrics.evaluation.unused_exclusion import warn_about_unused_exclusion
from retrieval_metrics.files.judgment_paths import resolve_judgments
from retrieval_metrics.files.saved_fields import SavedFields
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.exclusion import as_exclusion, remove_excluded
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.common_queries import count_common_queries
from retrieval_metrics.matching.rank_rows import is_relevant
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.metrics.base.metric import as_metric, with_relevance_threshold
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.files.judgment_paths import JudgmentsOrPath
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.documents import Documents
    from retrieval_metrics.inputs.exclusion import Exclude
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import Interval

# A threshold that costs more of the metric than this share is not worth it.
MAX_COST = 0.5
# Subtracted before rounding up, so that a quotient just above a whole number by rounding counts as that number.
ROUNDING = 1e-12


class ThresholdPoint(NamedTuple):
    """What a threshold would do.

    Attributes:
        score: The threshold: results with a higher score stay.
        false_answers: The number of questions without an answer that get one.
        false_answer_bound: The upper bound of the share of new questions without an answer that would get one, at the
            requested level.
        mean: The mean of the metric; NaN if no question has an answer.
        answered: The share of the questions with an answer for which some result stays; NaN if there are none.
    """

    score: float
    false_answers: int
    false_answer_bound: float
    mean: float
    answered: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Threshold(SavedFields):
    """The score above which to keep results, so that few new unanswerable questions get an answer.

    Attributes:
        score: Results that score above it are kept; None if these questions allow no guarantee, minus infinity if
            nothing needs to be cut.
        max_false_answers: The largest share of new unanswerable questions that may get an answer.
        level: The confidence.
        metric: The metric that shows the cost.
        n_unanswerable: How many unanswerable questions there are.
        effective_n: Their effective sample size, if they are clustered.
        min_n: How many are needed if none of them gets an answer.
        false_answers: How many of them get an answer above the score.
        false_answer_bound: The upper confidence bound on that share of new ones; without a score, the smallest that
            these questions can guarantee.
        n_answerable: How many answerable questions there are.
        mean_before: The mean of the metric over these without a threshold; NaN if there are none.
        mean_before_interval: Its 95% CI.
        mean_after: The mean with the threshold.
        mean_after_interval: Its 95% CI.
        curve: The effect of other thresholds, the lowest first.
        kinds: How many unanswerable questions of each kind get an answer, and how many there are.
        n_excluded: How many documents were left out of the rankings by `exclude=`.
    """

    kind: ClassVar[str] = "threshold"
    records: ClassVar[tuple[type, ...]] = (ThresholdPoint,)

    score: float | None
    max_false_answers: float
    level: float
    metric: str
    n_unanswerable: int
    effective_n: float
    min_n: int
    false_answers: int
    false_answer_bound: float
    n_answerable: int
    mean_before: float
    mean_before_interval: Interval
    mean_after: float
    mean_after_interval: Interval
    curve: tuple[ThresholdPoint, ...]
    kinds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    n_excluded: int = 0

    @property
    def is_useful(self) -> bool:
        """Whether there is a score, and it costs at most half of the metric."""
        cost = self.mean_before - self.mean_after
        return self.score is not None and not cost > MAX_COST * self.mean_before

    @property
    def conclusion(self) -> str:
        """Which results to keep, and what that promises and costs, in a sentence."""
        return format_threshold_conclusion(self)

    def apply(self, run: RunMapping | Run) -> RetrievedRun:
        """Return the part of a run that scores above the threshold; failures and times stay.

        Raises:
            ValueError: If there is no threshold, or a ranking has no scores.

        Example:
            >>> qrels = {"a": ["d1"], **{f"n{at}": [] for at in range(30)}}
            >>> run = {"a": {"d1": 0.9, "d2": 0.3}, **{f"n{at}": {"d2": 0.1 + at / 100} for at in range(30)}}
            >>> threshold(qrels, run).apply(run)["a"]  # the best score without an answer is 0.39
            {'d1': 0.9}
        """
        if self.score is None:
            raise ValueError(f"there is no threshold to apply. {self.conclusion}")
        return keep_above(run, self.score)

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per score of the curve: false answers, their bound, mean, share answered.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        return to_data_frame([point._asdict() for point in self.curve])

    def plot(self) -> Figure:
        """Return a figure of false answers, their bound and the metric over the score.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command that installs it.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.evaluation.threshold_plot import threshold_figure

        return threshold_figure(self)

    def _tables(self) -> list[Table]:
        notes = threshold_notes(self)
        if self.score is None or isinf(self.score):
            return [Table((), (), notes)]
        unlimited = self.curve[0]
        n_unanswerable = self.n_unanswerable
        rows = [
            [
                "false answers",
                f"{unlimited.false_answers} of {n_unanswerable}",
                f"{self.false_answers} of {n_unanswerable}",
            ]
        ]
        if self.n_answerable:
            chosen = next(point for point in self.curve if point.score == self.score)
            rows.append(
                [
                    self.metric,
                    numbers.format_mean(self.mean_before, self.mean_before_interval),
                    numbers.format_mean(self.mean_after, self.mean_after_interval),
                ]
            )
            rows.append(["answered", self._format_answered(unlimited), self._format_answered(chosen)])
        return [Table(["", "all", f"above {format_score(self.score)}"], rows, notes)]

    def _format_answered(self, point: ThresholdPoint) -> str:
        return f"{round(point.answered * self.n_answerable)} of {self.n_answerable}"

    def __repr__(self) -> str:
        false_answers = f"{self.false_answers} of {self.n_unanswerable} false answers"
        if self.score is None:
            return f"<Threshold: none guarantees at most {100 * self.max_false_answers:g}% false answers>"
        if isinf(self.score):
            return f"<Threshold: none needed, {false_answers}>"
        return f"<Threshold: {format_score(self.score)}, {false_answers}>"


def threshold(
    questions: JudgmentsOrPath,
    run: RunMapping | Run,
    metric: str | Metric = "hit_rate@5",
    *,
    max_false_answers: float = 0.1,
    level: float = 0.95,
    clusters: ClustersBy = "source",
    match: str | Key | Matching = "id",
    documents: Documents | None = None,
    exclude: Exclude | None = None,
) -> Threshold:
    """Return the score above which to keep results, so that few new unanswerable questions get an answer.

    A question is unanswerable if nothing has a grade above 0. The best score of each is tried as threshold, from the
    strictest down, until the exact binomial bound of the share that exceeds it is first above `max_false_answers`.
    Whatever the distribution of the scores, ties included, the share among new questions like these is then above
    `max_false_answers` with a probability of at most 1 - `level`; for clustered questions this holds approximately.
    Answerable questions take no part in the choice, so the estimate of its cost is unbiased. Choosing among several
    runs or limits by their results voids the guarantee.

    Args:
        questions: The questions with their judgments, as in `evaluate`; some of them without an answer.
        run: Their rankings with scores, higher is better: by document id, or lists of `Retrieved` with a score.
        metric: The metric that shows what a threshold costs the answerable questions.
        max_false_answers: The largest share of new unanswerable questions that may get an answer.
        level: The confidence, above one half.
        clusters: The clusters of the questions, as in `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.
        documents: The documents that chunks were cut from, as in `evaluate`.
        exclude: Documents to leave out of the rankings, as in `evaluate`.

    Returns:
        The threshold; print, plot, apply or save it. It says if no threshold is worthwhile, or if there are too few
        questions for any guarantee.

    Raises:
        TypeError: As in `evaluate`.
        ValueError: If no question without an answer is in the run, a ranking has no scores, scores are distances, or
            lower is better in the metric.

    Example:
        >>> qrels = {f"a{at}": [f"d{at}"] for at in range(20)} | {f"n{at}": [] for at in range(30)}
        >>> run = {f"a{at}": {f"d{at}": 0.8} for at in range(20)}
        >>> run |= {f"n{at}": {"x": 0.3 + at / 100} for at in range(30)}
        >>> found = threshold(qrels, run)
        >>> round(found.score, 2), found.false_answers, round(found.false_answer_bound, 3)  # 1 - 0.05 ** (1 / 30)
        (0.59, 0, 0.095)

    References:
        S. S. Wilks (1941). Determination of sample sizes for setting tolerance limits. Annals of Mathematical
        Statistics 12.
        A. N. Angelopoulos et al. (2025). Learn then test: calibrating predictive algorithms to achieve risk control.
        Annals of Applied Statistics 19.
    """
    if not 0 < max_false_answers < 1:
        raise ValueError(f"max_false_answers must be above 0 and below 1, got {max_false_answers!r}")
    if not 0.5 < level < 1:
        raise ValueError(f"level must be above 0.5 and below 1, got {level!r}")
    resolved_questions = resolve_judgments(questions)
    qrels = as_qrels(resolved_questions)
    (cost_metric,) = with_relevance_threshold([as_metric(metric)], qrels.relevant_from)
    if not cost_metric.definition.higher_is_better or not cost_metric.definition.needs_relevant:
        raise ValueError(f"{cost_metric} does not show what a threshold costs; name a metric such as hit_rate@5")
    count_common_queries(run, qrels)
    matching = with_source_texts(match, documents, qrels, resolved_questions)
    exclusion = as_exclusion(exclude)
    excluded_run = remove_excluded(run, qrels, exclusion, get_match_key(matching))
    warn_about_unused_exclusion(exclusion, excluded_run, qrels, matching)
    run = excluded_run.run
    rankings: Mapping[Any, Any] = run.as_dict() if isinstance(run, Run) else run
    errors = run.errors if isinstance(run, RetrievedRun) else {}
    split = _split_questions(qrels, rankings, errors, cost_metric)
    best_scores = find_best_scores({query: rankings[query] for query in qrels.queries if query in rankings})
    question_clusters = find_clusters(resolved_questions, qrels, clusters)
    labels = None if question_clusters is None else question_clusters.select(split.unanswerable).labels
    best_unanswerable = np.array([best_scores[query] for query in split.unanswerable])
    best_answerable = np.array([best_scores[query] for query in split.answerable], dtype=np.float64)
    false_answers = FalseAnswers(best_unanswerable, labels, level)
    answerable_rankings = {query: rankings[query] for query in split.answerable}
    cost = ThresholdCost(split.answerable, answerable_rankings, cost_metric, matching)
    cost.require_similarities()
    score = false_answers.find_lowest_threshold(max_false_answers)
    before = cost.measure(-inf)
    after = UNKNOWN_MEAN if score is None else cost.measure(score)
    curve = []
    for curve_score in choose_curve_points(np.concatenate([best_unanswerable, best_answerable]), score):
        point = ThresholdPoint(
            score=curve_score,
            false_answers=false_answers.count(curve_score),
            false_answer_bound=false_answers.bound(curve_score),
            mean=cost.measure(curve_score).mean,
            answered=float(np.mean(best_answerable > curve_score)) if split.answerable else nan,
        )
        curve.append(point)
    # Without a threshold, a bound from no false answer at all is the least that these questions can promise.
    strictest = inf if score is None else score
    is_false_answer = best_unanswerable > (-inf if score is None else score)
    return Threshold(
        score=score,
        max_false_answers=max_false_answers,
        level=level,
        metric=str(cost_metric),
        n_unanswerable=len(split.unanswerable),
        effective_n=false_answers.effective_n,
        min_n=ceil(log(1 - level) / log1p(-max_false_answers) - ROUNDING),
        false_answers=false_answers.count(strictest),
        false_answer_bound=false_answers.bound(strictest),
        n_answerable=len(split.answerable),
        mean_before=before.mean,
        mean_before_interval=before.interval,
        mean_after=after.mean,
        mean_after_interval=after.interval,
        curve=tuple(curve),
        kinds=_count_by_kind(qrels, split.unanswerable, is_false_answer.tolist()),
        n_excluded=excluded_run.total,
    )


@dataclass(frozen=True, slots=True)
class _SplitQuestions:
    """The questions in the run.

    Attributes:
        answerable: The judgments of each question with an answer.
        unanswerable: The questions without an answer for which the retriever did not fail.
    """

    answerable: Mapping[QueryId, Any]
    unanswerable: Sequence[QueryId]


def _split_questions(
    qrels: Qrels, rankings: Mapping[Any, Any], errors: Mapping[Any, Exception], metric: Metric
) -> _SplitQuestions:
    """Split the questions in the run by whether anything is relevant to them in the metric."""
    rel: Any = dict(metric.parameters).get("rel")
    n_relevant = np.bincount(qrels.group_query[is_relevant(qrels.group_grade, rel)], minlength=len(qrels))
    answerable: dict[QueryId, Any] = {}
    unanswerable: list[QueryId] = []
    for position, query in enumerate(qrels.queries):
        if query not in rankings:
            continue
        if n_relevant[position]:
            answerable[query] = qrels.judgments(position)
        elif query not in errors:
            unanswerable.append(query)
    if not unanswerable:
        n_unanswerable = int((n_relevant == 0).sum())
        reason = f"the run has results for none of the {n_unanswerable}"
        if not n_unanswerable:
            reason = "every question has a relevant document"
        raise ValueError(f"threshold needs scores of unanswerable questions, but {reason}")
    return _SplitQuestions(answerable, unanswerable)


def _count_by_kind(
    qrels: Qrels, queries: Sequence[QueryId], is_false_answer: Sequence[bool]
) -> dict[str, tuple[int, int]]:
    """Return how many questions of each kind get an answer, and how many there are."""
    by_kind: dict[str, list[bool]] = {}
    for query, is_false in zip(queries, is_false_answer, strict=True):
        provenance = qrels.provenance.get(query)
        if provenance is not None and provenance.kind is not None:
            by_kind.setdefault(provenance.kind, []).append(is_false)
    return {kind: (sum(flags), len(flags)) for kind, flags in by_kind.items()}
