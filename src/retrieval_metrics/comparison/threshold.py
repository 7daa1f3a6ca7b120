"""The score from which on results are worth showing, with a promise for questions that have no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, inf, isinf, log, log1p, nan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from retrieval_metrics._internal.validation import argument_name, import_optional
from retrieval_metrics.evaluation.data_warnings import distances_note
from retrieval_metrics.evaluation.evaluate import score_run
from retrieval_metrics.evaluation.summary import intervals, means, sum_clustered_values
from retrieval_metrics.files.saved_format import SavedFields
from retrieval_metrics.inputs.clusters import find_clusters
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.qrels import Qrels, as_qrels
from retrieval_metrics.inputs.ranking_checks import as_list, require_finite_scores
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.ids import count_common_queries
from retrieval_metrics.matching.rank_rows import is_relevant
from retrieval_metrics.matching.source_texts import with_source_texts
from retrieval_metrics.metrics.base.metric import as_metric, with_relevance_threshold
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.statistics import Interval, interval_from_sums
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from retrieval_metrics._internal.validation import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.items import Key, RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.matching.ranking_order import Matching
    from retrieval_metrics.metrics.base.metric import Metric

POINTS = 60
"""The number of cut-offs of the curve."""
HALF = 0.5
"""A threshold that costs more of the metric than this share is not worth it."""

T = TypeVar("T")


class ThresholdPoint(NamedTuple):
    """What a threshold would do.

    Attributes:
        score: What scores above it stays.
        false_answers: How many of the questions without an answer get one.
        false_answer_bound: The upper end of the share of new ones that would, at the level that was asked for.
        mean: The mean of the metric; NaN without questions that have an answer.
        answered: The share of the questions with an answer for which something stays; NaN likewise.
    """

    score: float
    false_answers: int
    false_answer_bound: float
    mean: float
    answered: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Threshold(SavedFields):
    """The score above which results stay, so that few new questions without an answer get one.

    Attributes:
        score: What scores above it stays; None if these questions can promise nothing, minus infinity if nothing needs
            to be cut.
        max_false_answers: The largest share of new questions without an answer that may get one.
        level: With which confidence.
        metric: The metric that shows what it costs.
        n_unanswerable: How many questions without an answer there are.
        effective_n: How many independent ones they are worth, if they are clustered.
        min_n: How many are needed if none of them gets an answer.
        false_answers: How many of them get an answer above the score.
        false_answer_bound: The upper end of the share of new ones that will; without a score, the least that these can
            promise.
        n_answerable: How many questions have an answer.
        mean_before: The mean of the metric over these without a threshold; NaN if there are none.
        mean_before_interval: Its 95 % interval.
        mean_after: The mean with the threshold.
        mean_after_interval: Its 95 % interval.
        curve: What other thresholds would do, the lowest first.
        kinds: How many questions of each kind get an answer that they do not have, and how many there are.
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

    @property
    def is_useful(self) -> bool:
        """Whether there is a score, and it costs at most half of the metric."""
        return self.score is not None and not self.mean_before - self.mean_after > HALF * self.mean_before

    @property
    def conclusion(self) -> str:
        """What to do, in a sentence."""
        asked = "questions without an answer"
        if self.score is None:
            worth = f"{self.effective_n:.0f}" if self.effective_n >= 2 else "fewer than 2"
            by = "" if self.effective_n >= self.n_unanswerable else f", worth {worth} independent ones,"
            promised = "nothing" if self.false_answer_bound > HALF else f"{100 * self.false_answer_bound:.1f} %"
            return (
                f"No threshold: {self.n_unanswerable} {asked}{by} cannot promise {_percent(self.max_false_answers)}, "
                f"whatever they "
                f"score: at least {self.min_n} are needed if none of them gets an answer; these can promise "
                f"{promised}."
            )
        if isinf(self.score):
            return (
                f"Nothing needs to be cut: {self.false_answers} of {self.n_unanswerable} {asked} get one, which "
                f"bounds new ones at "
                f"{100 * self.false_answer_bound:.1f} %."
            )
        promised = (
            f"Keep what scores above {_short(self.score)}: with {_percent(self.level)} confidence at most "
            f"{_percent(self.max_false_answers)} of new {asked}, if they are like these {self.n_unanswerable}, then "
            f"get one (here "
            f"{self.false_answers}; the bound is {100 * self.false_answer_bound:.1f} %)."
        )
        if not self.n_answerable:
            return f"{promised} No question with an answer is in the run, so what it costs is unknown."
        cost = f"{promised} It costs {self.mean_before - self.mean_after:.3f} of {self.metric}"
        if self.is_useful:
            return f"{cost}."
        return f"{cost}: the scores hardly tell the two kinds of question apart, so no threshold is worth it."

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
        return _above(run, self.score)

    def plot(self) -> Figure:
        """Return a figure of false answers, their bound and the metric over the score.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command that installs it.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.comparison.comparison_plots import threshold_figure  # noqa: PLC0415  (brings matplotlib)

        return threshold_figure(self)

    def _tables(self) -> list[Table]:
        notes = [self.conclusion]
        if self.kinds:
            notes.append(
                "By kind: " + ", ".join(f"{kind} {wrong} of {n}" for kind, (wrong, n) in self.kinds.items()) + "."
            )
        if self.score is None or isinf(self.score):
            return [Table((), (), notes)]
        every = self.curve[0]
        rows = [
            [
                "false answers",
                f"{every.false_answers} of {self.n_unanswerable}",
                f"{self.false_answers} of {self.n_unanswerable}",
            ]
        ]
        if self.n_answerable:
            here = next(one for one in self.curve if one.score == self.score)
            both = (self.mean_before, self.mean_before_interval), (self.mean_after, self.mean_after_interval)
            rows.append([self.metric, *(numbers.mean(*one) for one in both)])
            rows.append(
                [
                    "answered",
                    *(f"{round(one.answered * self.n_answerable)} of {self.n_answerable}" for one in (every, here)),
                ]
            )
        return [Table(["", "all", f"above {_short(self.score)}"], rows, notes)]

    def __repr__(self) -> str:
        return f"<Threshold: {self.conclusion}>"


def threshold(
    questions: QuestionsOrQrels,
    run: RunMapping | Run,
    metric: str | Metric = "hit_rate@5",
    *,
    max_false_answers: float = 0.1,
    level: float = 0.95,
    clusters: ClustersBy = "source",
    match: str | Key | Matching = "id",
    documents: Any = None,
) -> Threshold:
    """Return the score above which results stay, so that few new questions without an answer get one.

    A question has no answer if nothing has a grade above 0. Of the best score of each, cut-offs are tried from the
    strictest down, until the exact binomial bound of the share that exceeds it is first above `max_false_answers`.
    Whatever the distribution of the scores, ties included, the share among new questions like these is then above
    `max_false_answers` with a probability of at most 1 - `level`; for clustered questions this holds approximately.
    Questions with an answer take no part in the choice, so what it costs is unbiased. Choosing among several runs or
    shares by what comes out voids the promise.

    Args:
        questions: The questions with their judgments, as in `evaluate`; some of them without an answer.
        run: Their rankings with scores, higher is better: by document id, or lists of `Retrieved` with a score.
        metric: The metric that shows what a threshold costs the questions with an answer.
        max_false_answers: The largest share of new questions without an answer that may get one.
        level: The confidence, above one half.
        clusters: The clusters of the questions, as in `evaluate`.
        match: What an id of the judgments is compared with, as in `evaluate`.
        documents: The documents that chunks were cut from, as in `evaluate`.

    Returns:
        The threshold; print, plot, apply or save it. It says if no threshold is worth it, or too few questions are
        there to promise anything.

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
        raise ValueError(f"{argument_name('max_false_answers')} must be above 0 and below 1, got {max_false_answers!r}")
    if not HALF < level < 1:
        raise ValueError(f"{argument_name('level')} must be above 0.5 and below 1, got {level!r}")
    truth = as_qrels(questions)
    (chosen,) = with_relevance_threshold([as_metric(metric)], truth.relevant_from)
    if not chosen.definition.higher_is_better or not chosen.definition.needs_relevant:
        raise ValueError(f"{chosen} does not show what a threshold costs; name a metric such as hit_rate@5")
    count_common_queries(run, truth)
    rankings: Mapping[Any, Any] = run.as_dict() if isinstance(run, Run) else run
    errors = run.errors if isinstance(run, RetrievedRun) else {}
    rel: Any = dict(chosen.parameters).get("rel")
    answered = np.bincount(truth.group_query[is_relevant(truth.group_grade, rel)], minlength=len(truth)) > 0
    given = {query: bool(has) for query, has in zip(truth.queries, answered, strict=True) if query in rankings}
    asked = [query for query, has in given.items() if not has and query not in errors]
    if not asked:
        raise ValueError(
            f"there is nothing to choose by: of the {int((~answered).sum())} questions without an answer, for which "
            "nothing has a grade above 0, none is in the run and was answered"
        )
    best = _best_scores({query: rankings[query] for query in given})
    judged = {query: truth.judgments(at) for at, query in enumerate(truth.queries) if given.get(query)}
    known = find_clusters(questions, truth, clusters)
    choice = _ThresholdChoice(
        np.array([best[query] for query in asked]), None if known is None else known.select(asked).labels, level
    )
    cost = _ThresholdCost(
        judged,
        {query: rankings[query] for query in judged},
        chosen,
        with_source_texts(match, documents, truth, questions),
    )
    score = choice.lowest(max_false_answers)
    shown = inf if score is None else score
    firsts = np.array([best[query] for query in judged], dtype=np.float64)
    before, after = cost.at(-inf), (nan, Interval(nan, nan)) if score is None else cost.at(score)
    kinds: dict[str, list[bool]] = {}
    for query, top in zip(asked, choice.best.tolist(), strict=True):
        if (made := truth.provenance.get(query)) is not None and made.kind is not None:
            kinds.setdefault(made.kind, []).append(top > (-inf if score is None else score))
    return Threshold(
        score=score,
        max_false_answers=max_false_answers,
        level=level,
        metric=str(chosen),
        n_unanswerable=len(asked),
        effective_n=choice.worth,
        min_n=ceil(log(1 - level) / log1p(-max_false_answers) - 1e-12),
        false_answers=choice.wrong(shown),
        false_answer_bound=choice.upper(shown),
        n_answerable=len(judged),
        mean_before=before[0],
        mean_before_interval=before[1],
        mean_after=after[0],
        mean_after_interval=after[1],
        curve=tuple(
            ThresholdPoint(
                at, choice.wrong(at), choice.upper(at), cost.at(at)[0], float(np.mean(firsts > at)) if judged else nan
            )
            for at in _tried(np.concatenate([choice.best, firsts]), score)
        ),
        kinds={kind: (sum(wrong), len(wrong)) for kind, wrong in kinds.items()},
    )


class _ThresholdChoice:
    """The best scores of the questions without an answer, and what a cut-off makes of them."""

    def __init__(self, best: FloatArray, labels: IntArray | None, level: float) -> None:
        self.best, self._labels, self._level = best, labels, level
        self.worth = float(self._sums(inf).count)

    def _sums(self, score: float) -> Sums:
        wrong = (self.best > score).astype(np.float64)
        return Sums.from_values(wrong) if self._labels is None else sum_clustered_values(wrong, self._labels)

    def wrong(self, score: float) -> int:
        """Return how many questions get an answer above a score."""
        return int((self.best > score).sum())

    def upper(self, score: float) -> float:
        """Return the exact one-sided upper end of the share; one-sided at a level is two-sided at twice the error."""
        return interval_from_sums(self._sums(score), level=2 * self._level - 1, binary=True).high

    def lowest(self, allowed: float) -> float | None:
        """Return the lowest cut-off before the first, from the strictest down, whose upper end is not allowed."""
        found = None
        for score in np.unique([*self.best, -inf])[::-1].tolist():
            if self.upper(score) > allowed:
                break
            found = score
        return found


class _ThresholdCost:
    """The metric of the questions with an answer at any cut-off."""

    def __init__(self, judged: Mapping[Any, Any], rankings: Mapping[Any, Any], metric: Metric, match: Any) -> None:
        self._truth = Qrels(judged) if judged else None
        self._rankings, self._metric, self._match = rankings, metric, match

    def at(self, score: float) -> tuple[float, Interval]:
        """Return its mean with its interval; NaN without such questions."""
        if self._truth is None:
            return nan, Interval(nan, nan)
        scores = score_run(self._truth, _above(self._rankings, score), [self._metric], STANDARD, self._match)
        if score == -inf and (said := distances_note(scores.require_origin("cut").judged, self._rankings)):
            raise ValueError(said)
        name = str(self._metric)
        return means(scores)[name], intervals(scores, 0.95)[name]


def _tried(firsts: FloatArray, score: float | None) -> list[float]:
    """Return the cut-offs of a curve: all, none, and some of the scores at which something changes."""
    finite = np.unique(firsts[np.isfinite(firsts)])
    some = finite[np.unique(np.linspace(0, len(finite) - 1, min(POINTS, len(finite))).astype(int))]
    return [-inf, *np.unique([*some, *([] if score is None or isinf(score) else [score])]).tolist()]


def _scores(ranking: Any, query: QueryId) -> list[float]:
    """Return the scores of a ranking in the order in which it is given."""
    if isinstance(ranking, Mapping):
        require_finite_scores(ranking, query)
        return list(ranking.values())
    items = as_list(ranking, query)
    for item in items:
        if not isinstance(item, Retrieved) or item.score is None:
            raise ValueError(
                f"the ranking of query {query!r} has no scores, which a threshold needs; pass documents with their "
                f"scores, or Retrieved(..., score=...)"
            )
    require_finite_scores({at: item.score for at, item in enumerate(items)}, query)
    return [item.score for item in items]


def _best_scores(rankings: Mapping[Any, Any]) -> dict[QueryId, float]:
    """Return the best score of each query, minus infinity where nothing came back; distances are refused."""
    found = {query: _scores(ranking, query) for query, ranking in rankings.items()}
    listed = [scores for query, scores in found.items() if not isinstance(rankings[query], Mapping)]
    long = [scores for scores in listed if len(scores) > 1 and scores[0] != scores[-1]]
    rising = [scores for scores in long if all(np.diff(scores) >= 0)]
    if len(rising) > len(long) / 2:
        raise ValueError(
            f"the scores rise in {len(rising)} of {len(long)} rankings, as distances do, and the first would be cut "
            "first; pass them negated"
        )
    return {query: max(scores, default=-inf) for query, scores in found.items()}


def _above(run: RunMapping | Run, score: float) -> RetrievedRun:
    """Return what scores above, with what is known of the failures."""
    known = run if isinstance(run, RetrievedRun) else RetrievedRun({})
    kept: dict[Any, Any] = {}
    calls: dict[Any, Any] = {}
    rankings: Mapping[Any, Any] = run.as_dict() if isinstance(run, Run) else run
    for query, ranking in rankings.items():
        stays = [one > score for one in _scores(ranking, query)]

        def of(values: Sequence[T], stays: Sequence[bool] = stays) -> list[T]:
            return [value for value, stay in zip(values, stays, strict=True) if stay]

        whole: Any = list(ranking.items()) if isinstance(ranking, Mapping) else as_list(ranking, query)
        kept[query] = dict(of(whole)) if isinstance(ranking, Mapping) else of(whole)
        if query in known.calls:
            calls[query] = of(known.calls[query])
    return RetrievedRun(kept, known.errors, known.seconds, calls=calls)


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _short(score: float) -> str:
    return f"{score:.4g}"
