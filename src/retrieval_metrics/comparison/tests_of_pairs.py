"""Test all pairs of systems in all metrics together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import isfinite, isinf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.comparison.difference import Difference, Differences
from retrieval_metrics.evaluation.summary import metric_bounds
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import track_steps
from retrieval_metrics.statistics import Contrasts, Sums, Units, paired_differences, within_margins
from retrieval_metrics.statistics.paired import subtract_exactly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.comparison.paired_values import PairedValues
    from retrieval_metrics.evaluation.budget_coverage import BudgetUse
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.clusters import Clusters
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import MarginTest, PairedDifference

MIN_SYSTEMS = 2


class _Hypothesis(NamedTuple):
    """The hypothesis that two systems do not differ in a metric.

    Attributes:
        metric: The metric.
        system: The system.
        baseline: The system it is compared with.
        metric_position: The position of the metric among those that are tested.
        system_position: The position of the system in the aligned values.
        baseline_position: The position of the baseline there.
    """

    metric: Metric
    system: str
    baseline: str
    metric_position: int
    system_position: int
    baseline_position: int


class _Sample(NamedTuple):
    """The differences of one hypothesis on the queries that have one.

    Attributes:
        rows: Shape (n,), the rows of these queries in the aligned values.
        values: Shape (n,), the difference of each.
        clusters: Shape (n,), the cluster of each; None if queries are independent.
    """

    rows: IntArray
    values: FloatArray
    clusters: IntArray | None


def compute_differences(
    scores: Mapping[str, Scores],
    aligned: PairedValues,
    metrics: Sequence[Metric],
    baseline: str | None,
    *,
    level: float,
    resamples: int,
    seed: int,
    margin: float | None,
    budgets: Sequence[BudgetUse],
    show_progress: bool,
) -> Differences:
    """Return the differences of all pairs in all metrics, tested together.

    Args:
        scores: The scores of each system.
        aligned: Their values on the same queries.
        metrics: The metrics to test.
        baseline: The system that all others are compared with; None compares every pair.
        level: Confidence level of the intervals.
        resamples: Number of random choices of signs if the test cannot be exact.
        seed: Seed of the random choices.
        margin: The largest acceptable loss; None if there is no margin.
        budgets: How the systems fill each budget among the metrics.
        show_progress: Show a progress bar of the test on stderr.
    """
    pairs = list_pairs(aligned.systems, baseline)
    values = aligned.values[:, :, [aligned.metrics[metric] for metric in metrics]]
    hypotheses = _list_hypotheses(metrics, pairs, aligned.systems)
    differences = np.column_stack([_subtract(values, hypothesis) for hypothesis in hypotheses])
    metric_spans = []
    for position, metric in enumerate(metrics):
        metric_spans.append(_largest_difference(metric, scores, values[:, :, position]))
    spans = [metric_spans[hypothesis.metric_position] for hypothesis in hypotheses]
    task = (
        f"testing {numbers.format_count(len(hypotheses), 'difference')} on "
        f"{numbers.format_query_count(len(aligned.queries))} with "
        f"{resamples:,} sign flips"
    )
    remedy = "fewer systems, metrics or resamples= take less"
    with track_steps("testing", resamples, task, remedy, show_progress=show_progress) as advance:
        tests = paired_differences(
            differences,
            spans=spans,
            level=level,
            resamples=resamples,
            seed=seed,
            clusters=aligned.labels,
            contrasts=_contrasts(values, differences, hypotheses),
            advance=advance,
        )
    samples = [_sample(column, aligned) for column in differences.T]
    margin_tests: Sequence[MarginTest | None] = [None] * len(hypotheses)
    if margin is not None:
        gains = list(map(_gain_units, samples, hypotheses))
        margin_tests = within_margins(gains, spans, margin, alpha=1 - level)
    # Systems that fill a budget unequally are tested all the same, but their difference is never significant.
    not_comparable = _list_not_comparable(budgets, pairs)
    return Differences(
        Difference(
            metric=str(hypothesis.metric),
            system=hypothesis.system,
            baseline=hypothesis.baseline,
            queries=aligned.shared_queries(samples[h].rows),
            values=samples[h].values,
            paired=_orient(tests.differences[h], hypothesis.metric),
            higher_is_better=hypothesis.metric.definition.sign == 1,
            comparisons=len(hypotheses),
            p_corrected=tests.corrected[h],
            max_difference=spans[h],
            clusters=samples[h].clusters,
            margin=margin_tests[h],
            comparable=(str(hypothesis.metric), hypothesis.system, hypothesis.baseline) not in not_comparable,
        )
        for h, hypothesis in enumerate(hypotheses)
    )


def _list_hypotheses(
    metrics: Sequence[Metric], pairs: Sequence[tuple[str, str]], systems: Sequence[str]
) -> list[_Hypothesis]:
    position_by_system = {system: position for position, system in enumerate(systems)}
    hypotheses = []
    for metric_position, metric in enumerate(metrics):
        for system, baseline in pairs:
            hypothesis = _Hypothesis(
                metric=metric,
                system=system,
                baseline=baseline,
                metric_position=metric_position,
                system_position=position_by_system[system],
                baseline_position=position_by_system[baseline],
            )
            hypotheses.append(hypothesis)
    return hypotheses


def _subtract(values: FloatArray, hypothesis: _Hypothesis) -> FloatArray:
    """Return the difference of each query; NaN where one of the systems has no value."""
    column = hypothesis.metric_position
    return subtract_exactly(
        values[hypothesis.system_position, :, column], values[hypothesis.baseline_position, :, column]
    )


def _sample(differences: FloatArray, aligned: PairedValues) -> _Sample:
    rows = np.flatnonzero(~np.isnan(differences))
    values = differences[rows]
    values.setflags(write=False)  # no conclusion would follow a change
    return _Sample(rows, values, aligned.shared_labels(rows))


def _gain_units(sample: _Sample, hypothesis: _Hypothesis) -> Units:
    """Return how much better the system is, by unit."""
    return Units.from_values(hypothesis.metric.definition.sign * sample.values, sample.clusters)


def _orient(paired: PairedDifference, metric: Metric) -> PairedDifference:
    """Return a difference in which the better value wins, which may be the lower one."""
    if metric.definition.sign == 1:
        return paired
    return replace(paired, wins=paired.losses, losses=paired.wins)


def _list_not_comparable(budgets: Sequence[BudgetUse], pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str, str]]:
    """Return the metric, system and baseline of each difference whose two systems fill a budget unequally."""
    not_comparable = set()
    for budget in budgets:
        for system, baseline in budget.unequal(pairs):
            not_comparable |= {(metric, system, baseline) for metric in budget.metrics}
    return not_comparable


def _contrasts(values: FloatArray, differences: FloatArray, hypotheses: Sequence[_Hypothesis]) -> Contrasts:
    """Return the differences as those of one column per system and metric.

    A metric that is undefined for different queries of different systems has a column of its own for each hypothesis.
    """
    undefined = np.isnan(values)
    has_shared_queries = (undefined == undefined[0]).all(axis=(0, 1)).tolist()
    n_metrics = len(has_shared_queries)
    # Relative to one system, because small differences of large values would lose digits.
    system_columns = np.hstack([subtract_exactly(system_values, values[0]) for system_values in values])
    plus: list[int] = []
    minus: list[int] = []
    own_columns: list[int] = []
    for h, hypothesis in enumerate(hypotheses):
        metric_position = hypothesis.metric_position
        if has_shared_queries[metric_position]:
            plus.append(hypothesis.system_position * n_metrics + metric_position)
            minus.append(hypothesis.baseline_position * n_metrics + metric_position)
        else:
            plus.append(system_columns.shape[1] + len(own_columns))
            minus.append(-1)
            own_columns.append(h)
    columns = np.nan_to_num(np.hstack([system_columns, differences[:, own_columns]]))
    return Contrasts(columns, np.array(plus), np.array(minus))


def merge_clusters(scores: Mapping[str, Scores]) -> Clusters | None:
    """Return the clusters of all queries, taken from all systems."""
    merged: Clusters | None = None
    for system_scores in scores.values():
        clusters = system_scores.clusters
        if clusters is not None:
            merged = clusters if merged is None else merged.merge(clusters)
    return merged


def _largest_difference(metric: Metric, systems: Mapping[str, Scores], values: FloatArray) -> float:
    """Return the largest possible difference of two values, up to the ideal or, if unbounded, the best observed."""
    if metric.definition.is_given:
        low, high = metric.definition.bounds
        if isfinite(high - low):
            return high - low
        return _observed_range(values)
    largest = 0.0
    for scores, column in zip(systems.values(), values, strict=True):
        sums = Sums.from_defined_values(column)
        upper = metric_bounds(scores, metric, sums)[1]
        if isinf(upper):
            upper = sums.largest
        largest = max(largest, upper)
    return largest or 1.0


def _observed_range(values: FloatArray) -> float:
    """Return the range of the values of queries that any two systems have in common; 1 if it is empty."""
    n_systems_per_query = (~np.isnan(values)).sum(axis=0)
    paired = values[:, n_systems_per_query > 1]
    if not paired.size:
        return 1.0
    return float(np.nanmax(paired) - np.nanmin(paired)) or 1.0


def list_pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return (system, baseline) for each comparison; without a baseline, each system with those before it."""
    if len(systems) < MIN_SYSTEMS:
        names = ", ".join(map(repr, systems))
        raise ValueError(f"a comparison needs at least two systems, got {names or 'none'}")
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(systems, 2)]
    if baseline not in systems:
        raise ValueError(f"baseline={baseline!r} is not one of the systems: {', '.join(map(repr, systems))}")
    return [(system, baseline) for system in systems if system != baseline]


def select_ranking_metrics(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of quality: all but `judged`, which measures the judgments."""
    chosen = tuple(metric for metric in metrics if metric.definition.is_quality_metric)
    if not chosen:
        raise ValueError("judged measures the judgments, not the quality of a system; name another metric to compare")
    return chosen
