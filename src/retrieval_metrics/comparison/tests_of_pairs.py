"""Test all pairs of systems in all metrics together."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import combinations
from math import isfinite, isinf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import python_or_cli_text
from retrieval_metrics.comparison.difference import Difference, Differences
from retrieval_metrics.evaluation.summary import metric_bounds
from retrieval_metrics.inputs.clusters import Clusters
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import track_steps
from retrieval_metrics.statistics import Contrasts, Sums, Units, paired_differences, within_margins
from retrieval_metrics.statistics.paired import subtract_exactly

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.comparison.difference import PairedValues
    from retrieval_metrics.evaluation.budget_coverage import BudgetUse
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.statistics import MarginTest, PairedDifference

FEWEST_SYSTEMS = 2


class _Hypothesis(NamedTuple):
    """That two systems do not differ in a metric, each by its place."""

    metric: int
    system: int
    baseline: int


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
    """Return the differences of all pairs in all metrics, tested together."""
    pairs = list_pairs(aligned.systems, baseline)
    values = aligned.values[:, :, [aligned.metrics[metric] for metric in metrics]]
    spans = [_span(metric, scores, values[:, :, at]) for at, metric in enumerate(metrics)]
    place = {name: at for at, name in enumerate(aligned.systems)}
    hypotheses = [_Hypothesis(at, place[system], place[other]) for at in range(len(metrics)) for system, other in pairs]
    differences = np.column_stack(
        [
            subtract_exactly(values[each.system, :, each.metric], values[each.baseline, :, each.metric])
            for each in hypotheses
        ]
    )
    of_each = [spans[each.metric] for each in hypotheses]
    doing = (
        f"testing {numbers.format_count(len(hypotheses), 'difference')} on "
        f"{numbers.format_query_count(len(aligned.queries))} with "
        f"{resamples:,} choices of signs"
    )
    less = python_or_cli_text("fewer systems, metrics or resamples= take less", "fewer systems or metrics take less")
    with track_steps("testing", resamples, doing, less, show_progress=show_progress) as advance:
        found = paired_differences(
            differences,
            spans=of_each,
            level=level,
            resamples=resamples,
            seed=seed,
            clusters=aligned.labels,
            contrasts=_contrasts(values, differences, hypotheses),
            advance=advance,
        )
    rows = [np.flatnonzero(~np.isnan(column)) for column in differences.T]
    columns = [column[defined] for column, defined in zip(differences.T, rows, strict=True)]
    labels = [aligned.shared_labels(defined) for defined in rows]
    signs = [metrics[each.metric].definition.sign for each in hypotheses]
    margins: Sequence[MarginTest | None] = [None] * len(hypotheses)
    if margin is not None:
        gains = [Units.from_values(sign * column, of) for sign, column, of in zip(signs, columns, labels, strict=True)]
        margins = within_margins(gains, of_each, margin, alpha=1 - level)
    unequal = {(name, *pair) for use in budgets for name in use.metrics for pair in use.unequal(pairs)}
    names = [(str(metric), *pair) for metric in metrics for pair in pairs]
    return Differences(
        Difference(
            metric=name[0],
            system=name[1],
            baseline=name[2],
            queries=aligned.shared_queries(rows[at]),
            values=columns[at],
            paired=found.differences[at] if signs[at] == 1 else _mirrored(found.differences[at]),
            higher_is_better=signs[at] == 1,
            comparisons=len(hypotheses),
            p_corrected=found.corrected[at],
            max_difference=of_each[at],
            clusters=labels[at],
            margin=margins[at],
            comparable=name not in unequal,
        )
        for at, name in enumerate(names)
    )


def _mirrored(paired: PairedDifference) -> PairedDifference:
    """Return a difference in which a lower value wins."""
    return replace(paired, wins=paired.losses, losses=paired.wins)


def _contrasts(values: FloatArray, differences: FloatArray, hypotheses: Sequence[_Hypothesis]) -> Contrasts:
    """Return the differences as those of one column per system and metric."""
    undefined = np.isnan(values)
    shared = (undefined == undefined[0]).all(axis=(0, 1)).tolist()
    # Relative to one system, because small differences of large values would lose digits.
    of_systems = np.hstack([subtract_exactly(each, values[0]) for each in values])
    plus: list[int] = []
    minus: list[int] = []
    own: list[int] = []
    for at, (metric, system, baseline) in enumerate(hypotheses):
        alike = shared[metric]
        plus.append(system * len(shared) + metric if alike else of_systems.shape[1] + len(own))
        minus.append(baseline * len(shared) + metric if alike else -1)
        own += [] if alike else [at]
    columns = np.nan_to_num(np.hstack([of_systems, differences[:, own]]))
    return Contrasts(columns, np.array(plus), np.array(minus))


def merge_clusters(scores: Mapping[str, Scores]) -> Clusters | None:
    """Return the clusters of all queries, taken from all systems."""
    known = [one.clusters for one in scores.values() if one.clusters is not None]
    return reduce(Clusters.merge, known) if known else None


def _span(metric: Metric, systems: Mapping[str, Scores], values: FloatArray) -> float:
    """Return the largest possible difference of two values, up to the ideal or, if unbounded, the best observed."""
    if metric.definition.is_given:
        low, high = metric.definition.bounds
        return high - low if isfinite(high - low) else _observed(values)
    largest = 0.0
    for scores, column in zip(systems.values(), values, strict=True):
        sums = Sums.from_defined_values(column)
        upper = metric_bounds(scores, metric, sums)[1]
        largest = max(largest, sums.largest if isinf(upper) else upper)
    return largest or 1.0


def _observed(values: FloatArray) -> float:
    """Return the range of what was seen in the queries that any pair has in common."""
    paired = values[:, (~np.isnan(values)).sum(axis=0) > 1]
    return float(np.nanmax(paired) - np.nanmin(paired)) or 1.0 if paired.size else 1.0


def list_pairs(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return (system, baseline) for each comparison; without a baseline, each system with those before it."""
    if len(systems) < FEWEST_SYSTEMS:
        raise ValueError(f"a comparison needs at least two systems, got {', '.join(map(repr, systems)) or 'none'}")
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(systems, 2)]
    if baseline not in systems:
        raise ValueError(
            f"there is no system {baseline!r} for the baseline; the systems are {', '.join(map(repr, systems))}"
        )
    return [(system, baseline) for system in systems if system != baseline]


def select_ranking_metrics(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of quality: all but `judged`, which measures the judgments."""
    chosen = tuple(metric for metric in metrics if metric.definition.is_quality_metric)
    if not chosen:
        raise ValueError("judged measures the judgments, not the quality of a system; name another metric to compare")
    return chosen
