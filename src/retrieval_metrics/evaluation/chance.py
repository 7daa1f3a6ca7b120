"""Compare a mean with what the same rankings score if they are assigned to other queries at random."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.evaluation.evaluation_wording import format_chance
from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.metrics.base.metric import Metric, as_metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.evaluation.scores import Scores

# A mean whose p value is larger is not better than chance.
ALPHA = 0.05
# Random permutations of the rankings behind a p value.
PERMUTATIONS = 10_000
# Every ranking is scored for every query: so many queries at most, and so many items of rankings.
MAX_QUERIES = 300
MAX_ITEMS = 2_000_000
# With fewer queries, a report does not say that a system is not better than chance.
MIN_QUERIES = 10


@dataclass(frozen=True, slots=True, repr=False)
class Chance(Printed):
    """The mean of a metric beside that of a system which ignores the query.

    Attributes:
        metric: The metric.
        mean: Its mean, over `n` queries.
        chance_mean: The mean over all pairs of one of these queries and the ranking of any of them.
        p: The probability that rankings assigned to the queries at random have a mean as good as `mean`.
        n: The number of queries: those for which the metric is defined, or a sample of them, evenly spread.
    """

    metric: str
    mean: float
    chance_mean: float
    p: float
    n: int

    @property
    def is_better(self) -> bool:
        """Whether the mean is significantly better than that of rankings assigned at random."""
        return self.p <= ALPHA

    def _tables(self) -> list[Table]:
        return [Table((), (), [format_chance(self)])]

    def __repr__(self) -> str:
        values = f"{self.metric} {numbers.format_value(self.mean)}, by chance {numbers.format_value(self.chance_mean)}"
        return f"<Chance: {values}, p {numbers.format_p_value(self.p)}, n={self.n}>"


def compare_with_chance(scores: Scores, metric: str | Metric, *, seed: int = 0) -> Chance:
    """Return the mean of a metric beside that of the same rankings assigned at random; see `Evaluation.chance`."""
    metric = as_metric(metric)
    if metric.definition.is_given or not metric.definition.is_quality_metric:
        raise ValueError(f"chance needs a metric computed from rankings, such as 'recall@10', got {str(metric)!r}")
    rows = _choose_rows(scores, metric)
    values = _score_all_pairs(scores, metric, rows) if rows else np.empty((0, 0))
    is_defined = ~np.isnan(values).any(axis=1)
    if not is_defined.any():
        raise ValueError(f"{metric} is defined for no query, so there is nothing to compare with chance")
    values = values[np.ix_(is_defined, is_defined)]
    own_values = values.diagonal()
    return Chance(
        metric=str(metric),
        mean=float(own_values.mean()),
        chance_mean=float(values.mean()),
        p=_permutation_p(values * metric.definition.sign, seed),
        n=len(own_values),
    )


def find_chance_if_not_better(scores: Scores, metric: Metric) -> Chance | None:
    """Return the comparison with chance if a system is not better, for a report; None if it is, or that is unknown."""
    if scores.origin is None or metric.definition.is_given or not metric.definition.is_quality_metric:
        return None
    if len(scores.queries) < MIN_QUERIES:
        return None
    mean = np.nanmean(scores.column(metric)) if metric in scores.metrics else 0.0
    if not mean > 0:  # nothing found is a finding of its own
        return None
    chance = compare_with_chance(scores, metric)
    if chance.n < MIN_QUERIES or chance.is_better:
        return None
    return chance


def _choose_rows(scores: Scores, metric: Metric) -> list[int]:
    """Return the rows of the queries to compare: all with a judgment, or as many as can be scored with each ranking."""
    largest_depth = 1
    rows = []
    run = scores.require_origin("compared with chance").run
    is_undefined = np.zeros(len(scores.queries), np.bool_)
    if metric in scores.metrics:
        is_undefined = np.isnan(scores.column(metric))
    for row, query in enumerate(scores.queries):
        if not is_undefined[row]:
            rows.append(row)
            largest_depth = max(largest_depth, len(run[query]) if query in run else 0)
    max_queries = min(MAX_QUERIES, max(isqrt(MAX_ITEMS // largest_depth), MIN_QUERIES))
    if len(rows) > max_queries:
        places = np.linspace(0, len(rows) - 1, max_queries).astype(int).tolist()
        rows = [rows[place] for place in places]
    return rows


def _score_all_pairs(scores: Scores, metric: Metric, rows: list[int]) -> FloatArray:
    """Return the value of every query with the ranking of every query, shape (queries, queries)."""
    origin = scores.require_origin("compared with chance")
    qrels = origin.judged.qrels
    queries = [scores.queries[row] for row in rows]
    judgments: dict[Any, Any] = {query: qrels.judgments(qrels.place[query]) for query in queries}
    chosen_qrels = as_qrels(judgments)
    rankings: list[Any] = [origin.run.get(query, []) for query in queries]
    n = len(queries)
    values = np.full((n, n), np.nan)
    for shift in range(n):
        dealt: dict[Any, Any] = {query: rankings[(index + shift) % n] for index, query in enumerate(queries)}
        dealt_scores = score_run(chosen_qrels, dealt, [metric], scores.rules, origin.match, scale=scores.scale)
        own_row = {query: row for row, query in enumerate(dealt_scores.queries)}
        column = dealt_scores.column(metric)
        for index, query in enumerate(queries):
            values[index, (index + shift) % n] = column[own_row[query]] if query in own_row else np.nan
    return values


def _permutation_p(values: FloatArray, seed: int) -> float:
    """Return the share of random permutations of the columns whose diagonal has a mean as large, the own included."""
    random = np.random.default_rng(seed)
    n = len(values)
    indices = np.arange(n)
    observed = float(values.diagonal().sum())
    # Sums of equal values in another order may differ in the last bits.
    tolerance = 1e-9 * max(n, 1)
    n_as_good = 0
    for _ in range(PERMUTATIONS):
        n_as_good += float(values[indices, random.permutation(n)].sum()) >= observed - tolerance
    return (1 + n_as_good) / (1 + PERMUTATIONS)
