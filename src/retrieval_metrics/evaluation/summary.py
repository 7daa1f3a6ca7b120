"""From the values of queries to means, intervals, ranges and the printed table."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import argument_name, format_argument, positive_integer
from retrieval_metrics.evaluation.budget_coverage import budget_notes
from retrieval_metrics.evaluation.counts import describe_counts
from retrieval_metrics.evaluation.scores import ByMetric, Scores
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.matching.rank_rows import is_relevant
from retrieval_metrics.metrics.base import score as ideal
from retrieval_metrics.metrics.base.metric import Metric, as_metric
from retrieval_metrics.metrics.base.score import score
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.statistics.means import Sums, Units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.scores import Column, Record
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.statistics import Interval


SMALL = 4
"""Queries; intervals of fewer are printed with a warning."""
LEVEL = 0.95
"""The confidence level of printed intervals."""
ROUNDING = 1e-12
"""A mean that exceeds its ceiling by no more than this, the rounding of a sum, does not."""
ENOUGH_OF_SKEWED = 25
"""Queries; the interval of a mean of skewed values without a bound holds less often than it says from fewer."""


def means(record: Record) -> ByMetric[float]:
    """Return the mean of each metric over the queries for which it is defined; NaN if there is none."""
    return ByMetric({str(metric): _sums(record, metric).mean for metric in record.metrics})


def n_queries_by_metric(record: Record) -> ByMetric[int]:
    """Return the number of queries for which each metric is defined."""
    return ByMetric({str(metric): int(_sums(record, metric).count) for metric in record.metrics})


def residuals(record: Record) -> ByMetric[float]:
    """Return how much unjudged and unseen documents could add to the mean, for metrics with a residual."""
    sums = {str(metric): record.sums("residual", metric) for metric in record.metrics}
    return ByMetric({name: one.mean for name, one in sums.items() if one is not None and one.count})


def intervals(record: Record, level: float) -> ByMetric[Interval]:
    """Return the confidence interval of each mean."""
    sums = {metric: _independent_sums(record, metric) for metric in record.metrics}
    return ByMetric({str(metric): mean_interval_of_sums(record, metric, of, level) for metric, of in sums.items()})


def _sums(record: Record, metric: Metric) -> Sums:
    """Return the sums of a metric over the queries for which it is defined."""
    return record.sums("value", metric) or Sums.empty()


def _independent_sums(record: Record, metric: Metric) -> Sums:
    """Return the sums of a metric; for clustered queries, those of the independent queries they are worth."""
    if not isinstance(record, Scores) or record.labels is None:
        return _sums(record, metric)
    return sum_clustered_values(record.column(metric), record.labels)


def mean_interval_of_sums(record: Record, metric: Metric, sums: Sums, level: float) -> Interval:
    """Return the interval of the mean of a metric, given the sums of its values over queries."""
    from retrieval_metrics.statistics import interval_from_sums  # noqa: PLC0415  (only means that are printed need it)

    binary = ideal.share_binary(metric, sums, record.sums("two_valued", metric))
    return interval_from_sums(sums, level=level, binary=binary, bounds=metric_bounds(record, metric, sums))


def metric_bounds(record: Record, metric: Metric, sums: Sums) -> tuple[float, float]:
    """Return the smallest and the largest value that a metric can have on queries, given the sums of its values."""
    best = record.sums("ideal", metric)
    return ideal.bounds(metric, sums.smallest, sums.largest, best.largest if best is not None and best.count else None)


def given_metric_notes(metrics: Sequence[Metric]) -> list[str]:
    """Return in which metrics lower is better, and which have no bounds, in words."""
    lower = [str(metric) for metric in metrics if not metric.definition.higher_is_better]
    of = [metric for metric in metrics if metric.definition.is_given]
    unbounded = [str(metric) for metric in of if not np.isfinite(metric.definition.bounds).all()]
    said = [f"lower is better in {', '.join(lower)}"] if lower else []
    if unbounded:
        said.append(
            f"without bounds: {', '.join(unbounded)}; what was seen stands in for them, so a rare larger value could "
            "shift the mean further than is said here"
        )
    return said


# How the outcome of a ceiling is printed.
CEILING_LABELS = {"passed": "passed", "above_ceiling": "above the ceiling", "not_checked": "not checked"}


class CeilingCheck(NamedTuple):
    """Whether the mean of a metric is at most what is allowed.

    Attributes:
        metric: The metric.
        outcome: A check that cannot fail has not passed.
        said: The numbers, or why it was not checked.
    """

    metric: str
    outcome: Literal["passed", "above_ceiling", "not_checked"]
    details: str

    @property
    def line(self) -> str:
        """The metric, the outcome and the numbers, in a line."""
        return f"{self.metric} {CEILING_LABELS[self.outcome]}: {self.details}"


def check_ceiling(
    record: Record, name: str | Metric, most: float, level: float = LEVEL, *, by_bound: bool = False
) -> CeilingCheck:
    """Compare the mean of a metric, or the upper end of its one-sided interval, with the largest that is allowed."""
    metric = as_metric(name)
    sums, definition = _sums(record, metric), metric.definition
    judged = record.origin.judged if isinstance(record, Scores) and record.origin is not None else None
    if not sums.count:
        some = " that was answered" if judged is not None and judged.unanswered is not None else ""
        return CeilingCheck(str(metric), "not_checked", definition.undefined_if + some)
    if judged is not None and judged.is_empty and len(judged.qrels.documents) and not definition.is_given:
        return CeilingCheck(
            str(metric),
            "not_checked",
            "nothing that is judged came back for any query, relevant or not, so the ids may be of another kind",
        )
    # One-sided at a level is two-sided at twice the error.
    upper = mean_interval_of_sums(record, metric, _independent_sums(record, metric), 2 * level - 1).high
    n, sure = numbers.format_query_count(int(sums.count)), f"({100 * level:g} % sure)"
    if ideal.share_binary(metric, sums, record.sums("two_valued", metric)) == 1:
        said = f"{sums.total:g} of {n}; up to {100 * upper:.1f} % of new ones {sure}"
        allowed = f"at most {100 * most:g} % are allowed"
    else:
        said = f"the mean is {numbers.value(sums.mean)} over {n}; up to {numbers.value(upper)} on new ones {sure}"
        allowed = f"at most {most:g} is allowed"
    if (upper if by_bound else sums.mean) <= most + ROUNDING:
        return CeilingCheck(str(metric), "passed", said)
    return CeilingCheck(str(metric), "above_ceiling", f"{said}; {allowed}")


def require_useful_bound(what: str, name: str | Metric, bound: float) -> None:
    """Refuse a bound of a mean, `at_most` or a floor, that every value passes or none can, by its side or its size."""
    metric = as_metric(name)
    (low, high), ceils = metric.definition.bounds, what == "at_most"
    if not ceils and not metric.definition.higher_is_better:
        instead = format_argument("at_most", python="at_most={...}")
        raise ValueError(f"lower is better in {metric}, so a floor says nothing of it; bound it: {instead}")
    if not low <= bound <= high:
        fate = "every value keeps" if (bound > high) is ceils else "no value can keep"
        raise ValueError(
            f"{argument_name(what)} of {metric} is {bound:g}, which {fate}: its values are from {low:g} to {high:g}"
            + percentage_hint(bound, high)
        )


PERCENTAGES = 2, 100


def percentage_hint(number: float, high: float) -> str:
    """Return what a number above 1 may mean, where 1 is the most: it looks like a percentage."""
    smallest, largest = PERCENTAGES
    return f"; {number / 100:g} may be meant" if high == 1 and smallest <= number <= largest else ""


def summary_table(record: Record) -> Table:
    """Return the means with their intervals, and the issues in the data."""
    rows, residual_notes, small, skewed = [], [], False, False
    for metric in record.metrics:
        name, sums, residual = str(metric), _sums(record, metric), record.sums("residual", metric)
        interval = numbers.interval(mean_interval_of_sums(record, metric, _independent_sums(record, metric), LEVEL))
        rows.append([name, numbers.value(sums.mean), interval, str(sums.count)])
        small |= 0 < sums.count < SMALL
        unbounded = metric.definition.is_given and not np.isfinite(metric.definition.bounds).all()
        skewed |= unbounded and 0 < sums.count < ENOUGH_OF_SKEWED
        if residual is not None and residual.count:
            residual_notes.append(
                f"{name}: residual {numbers.value(residual.mean)}, "
                "what unjudged and unseen documents could add to the mean"
            )
    notes = describe_counts(record.counts, record.rules, record.metrics) + said_of_clusters(record)
    if isinstance(record, Scores):
        notes += budget_notes(record)
    if small:
        notes.append(f"n too small: an interval of fewer than {SMALL} queries says little")
    if skewed:
        fewest = f"fewer than {ENOUGH_OF_SKEWED} queries"
        notes.append(
            f"without an upper bound, a 95 % interval from {fewest} may be right in only 77 to 94 of 100 cases"
        )
    if tie_range := TieRange.of(record):
        notes += tie_range.notes()
    notes += [*residual_notes, *given_metric_notes(record.metrics)]
    return Table(["metric", "mean", numbers.level_name(LEVEL), "n"], rows, notes)


def plain_summary_table(record: Record) -> Table:
    """Return the table of the means with what each metric says."""
    header, rows, notes, *_ = summary_table(record)
    said = [[*row, metric.in_words] for row, metric in zip(rows, record.metrics, strict=True)]
    return Table([*header, "what it says"], said, notes, words=(0, len(header)))


FEW_CLUSTERS = 20


def sum_clustered_values(values: FloatArray, labels: IntArray) -> Sums:
    """Return the sums of as many independent queries as the defined values of clustered ones are worth."""
    from retrieval_metrics.statistics import effective_sums  # noqa: PLC0415  (only means that are printed need it)

    defined = ~np.isnan(values)
    return effective_sums(values[defined], labels[defined])


def _design_effect(values: FloatArray, labels: IntArray) -> float:
    defined = ~np.isnan(values)
    return Units.from_values(values[defined], labels[defined]).design_effect if defined.any() else nan


def said_of_clusters(record: Record) -> list[str]:
    """Return in words how the queries are clustered and the design effect; nothing if they are not."""
    if not isinstance(record, Scores) or record.clusters is None or record.labels is None:
        return []
    effects = {metric: _design_effect(record.column(metric), record.labels) for metric in record.metrics}
    known = [f"{metric} {effect:.1f}" for metric, effect in effects.items() if not isnan(effect)]
    notes = [f"intervals by cluster: {format_cluster_count(record.clusters)}"]
    notes += [f"design effect (variance relative to independent queries): {', '.join(known)}"] if known else []
    return notes + few_clusters_notes(record.clusters.count)


def format_cluster_count(clusters: Clusters) -> str:
    """Return how many clusters there are, and where they come from."""
    off = format_argument("clusters", None)
    why = f"by the source of their judgments ({off} turns that off)" if clusters.by_source else "as given"
    return f"{numbers.format_count(clusters.count, 'cluster')}, {why}"


def few_clusters_notes(count: int) -> list[str]:
    """Return the warning that there are too few clusters, if there are."""
    if count >= FEW_CLUSTERS:
        return []
    few = numbers.format_count(count, "cluster")
    return [f"{few} are few: intervals from fewer than {FEW_CLUSTERS} are rough"]


class TieRange(NamedTuple):
    """The smallest and the largest mean over all orders of documents with equal scores.

    Attributes:
        means: The smallest and the largest mean of each metric.
        n_queries: The number of queries in which the value of each metric depends on the order.

    Example:
        >>> import retrieval_metrics as rm
        >>> result = rm.evaluate({"q": ["a"]}, {"q": {"a": 1.0, "x": 1.0}}, "mrr", ties="expected")
        >>> result.means["mrr"]  # (1/1 + 1/2) / 2
        0.75
        >>> result.tie_range.means
        {'mrr': (0.5, 1.0)}
    """

    means: dict[str, tuple[float, float]]
    n_queries: dict[str, int]

    @classmethod
    def of(cls, record: Record) -> TieRange | None:
        """Return the range of the means of an evaluation; None if it has none."""
        if record.sums("depends", record.metrics[0]) is None:
            return None

        def known(column: Column, metric: Metric) -> Sums:
            return record.sums(column, metric) or Sums.empty()

        means = {str(one): (known("lowest", one).mean, known("highest", one).mean) for one in record.metrics}
        return cls(means, {str(one): int(known("depends", one).total) for one in record.metrics})

    def notes(self) -> list[str]:
        """Return a line for each metric that depends on the order of equal scores."""
        return [
            f"{name}: between {' and '.join(map(numbers.value, self.means[name]))}, by the order of equal scores "
            f"in {count} {'query' if count == 1 else 'queries'}"
            for name, count in self.n_queries.items()
            if count
        ]


# A metric over its cut-off: what is gained by longer lists of results?

EVERY_CUTOFF = 20
"""Every k up to here is used; beyond it steps grow with k, because metrics change less and less."""
STEPS_PER_DOUBLING = 8
FEWEST = 10
STEPS_TO_BUDGET = 6
"""Budgets are taken in this many equal steps up to the one asked for, and as many beyond."""


def mean_by_cutoff(scores: Scores, metric: str | Metric, cutoffs: Sequence[int] | None = None) -> dict[int, float]:
    """Return the mean of a metric at several cut-offs; see `Evaluation.at_cutoffs`."""
    chosen = as_metric(metric)
    if not chosen.definition.takes_cutoff:
        raise ValueError(f"{chosen} takes no cut-off; {chosen.definition.summary}")
    ks = choose_cutoffs([scores], chosen) if cutoffs is None else [positive_integer(k, "a cut-off") for k in cutoffs]
    return {k: Sums.from_defined_values(_values(scores, _cut(chosen, k))).mean for k in ks}


def cutoff_unit(metric: Metric) -> str:
    """Return what the cut-off of a metric counts: `k` documents, `characters` or `tokens`."""
    if isinstance(metric.k, Budget):
        return "characters" if metric.k.unit == "chars" else metric.k.unit
    return "k"


def cutoff_size(metric: Metric) -> int | None:
    """Return the cut-off of a metric in its unit; None if it has none."""
    return metric.k.size if isinstance(metric.k, Budget) else metric.k


def _cut(metric: Metric, size: int) -> Metric:
    """Return the metric with another cut-off in the same unit."""
    k = Budget(size, metric.k.unit) if isinstance(metric.k, Budget) else size
    return Metric(metric.name, k, **dict(metric.parameters))


def means_and_intervals(
    scores: Scores, metric: Metric, cutoffs: Sequence[int], level: float = LEVEL
) -> tuple[dict[int, float], dict[int, Interval]]:
    """Return the mean of a metric at each of several cut-offs, and its confidence interval."""
    means, intervals = {}, {}
    for k in cutoffs:
        cut = _cut(metric, k)
        values = _values(scores, cut)
        sums = Sums.from_defined_values(values)
        means[k] = sums.mean
        of_clusters = sums if scores.labels is None else sum_clustered_values(values, scores.labels)
        intervals[k] = mean_interval_of_sums(scores, cut, of_clusters, level)
    return means, intervals


def _values(scores: Scores, metric: Metric) -> FloatArray:
    judged = scores.require_origin("scored at other cut-offs").judged
    return score(judged, metric, scores.rules).values[scores.positions]


def choose_cutoffs(every: Sequence[Scores], metric: Metric) -> list[int]:
    """Return 1, 2, 3 and so on, to twice the largest cut-off of the metrics, no further than the longest ranking."""
    if isinstance(metric.k, Budget):
        steps = range(1, 2 * STEPS_TO_BUDGET + 1)
        return list(dict.fromkeys(max(1, round(metric.k.size * step / STEPS_TO_BUDGET)) for step in steps))
    asked = max((metric.k for one in every for metric in one.metrics if isinstance(metric.k, int)), default=0)
    longest = max(
        int(one.require_origin("scored at other cut-offs").judged.n_retrieved.max(initial=1)) for one in every
    )
    last = max(1, min(longest, max(2 * asked, FEWEST)))
    ks = list(range(1, min(last, EVERY_CUTOFF) + 1))
    while ks[-1] < last:
        ks.append(min(last, max(ks[-1] + 1, round(ks[-1] * 2 ** (1 / STEPS_PER_DOUBLING)))))
    return ks


# The values of single queries with the ranks behind them, for hosts whose results have one row per query.


class QueryScore(NamedTuple):
    """One metric of one query.

    Attributes:
        value: The value; NaN if the metric is undefined.
        relevant_ranks: The ranks of relevant documents, also beyond the cut-off; a repeated document has only its first
            rank.
        n_relevant: How many relevant documents, or groups, there are.
        n_retrieved: How many documents were retrieved, repeats included.
        failure: Why the application failed on the query, if it did.
    """

    value: float
    relevant_ranks: tuple[int, ...]
    n_relevant: int
    n_retrieved: int
    failure: str | None = None

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)

    @property
    def value_or_none(self) -> float | None:
        """The value; None if the metric is undefined, for hosts that cannot store NaN."""
        return self.value if self.is_defined else None

    @property
    def reason(self) -> str:
        """What the value is computed from, and what went wrong."""
        ranks = ", ".join(map(str, self.relevant_ranks)) or "none"
        said = f"{self.n_relevant} relevant, {self.n_retrieved} retrieved; ranks of the relevant: {ranks}"
        if not self.is_defined:
            said = f"undefined and left out of the mean: {said}"
        return said if self.failure is None else f"{said}; {self.failure}"


def query_scores(scores: Scores) -> dict[Metric, dict[QueryId, QueryScore]]:
    """Return each value with the ranks behind it.

    Example:
        >>> import retrieval_metrics as rm
        >>> evaluation = rm.evaluate({"q": ["d1", "d2"]}, {"q": ["x", "d2"]}, "map")
        >>> (score,) = (values["q"] for values in query_scores(evaluation.scores).values())
        >>> score.value, score.relevant_ranks, score.n_relevant, score.n_retrieved  # (1/2) / 2
        (0.25, (2,), 2, 2)
    """
    return {metric: _of_metric(scores, metric) for metric in scores.metrics}


def _of_metric(scores: Scores, metric: Metric) -> dict[QueryId, QueryScore]:
    judged, kept = scores.require_origin("read query by query").judged, scores.positions
    rel = dict(metric.parameters).get("rel")
    threshold = None if rel is None else float(rel)
    relevant = is_relevant(judged.ranks.grade, threshold)
    ends = np.cumsum(judged.sum_by_query(judged.ranks.query[relevant])).astype(np.int64)
    ranks = np.split(judged.ranks.rank[relevant], ends[:-1])
    columns = (
        scores.queries,
        scores.column(metric).tolist(),
        [ranks[query] for query in kept.tolist()],
        judged.n_relevant(threshold).astype(np.int64)[kept].tolist(),
        judged.n_retrieved[kept].tolist(),
    )
    return {
        query: QueryScore(value, tuple(ranked.tolist()), n_relevant, n_retrieved)
        for query, value, ranked, n_relevant, n_retrieved in zip(*columns, strict=True)
    }
