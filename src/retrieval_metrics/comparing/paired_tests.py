"""Test all pairs of systems in all metrics together."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import combinations
from math import isfinite, isinf
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.argument_names import in_python
from retrieval_metrics.inputs.question_clusters import Clusters
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.watching import watched
from retrieval_metrics.results.difference import Difference
from retrieval_metrics.results.summary import bounds_of
from retrieval_metrics.statistics import Contrasts, Sums, Units, paired_differences, within_margins
from retrieval_metrics.statistics.paired import without_rounding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.aliases import FloatArray
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.aligned import Aligned
    from retrieval_metrics.results.room import BudgetUse
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.statistics import PairedDifference

FEWEST_SYSTEMS = 2
RESAMPLES = 10_000


def tested(
    scores: Mapping[str, Scores],
    aligned: Aligned,
    metrics: Sequence[Metric],
    baseline: str | None,
    *,
    level: float,
    resamples: int,
    seed: int,
    margin: float | None,
    clusters: Clusters | None,
    budgets: Sequence[BudgetUse],
    show_progress: bool,
) -> tuple[Difference, ...]:
    """Return the differences of all pairs in all metrics, tested together."""
    hypotheses = [(metric, *pair) for metric in metrics for pair in pairs_of(list(scores), baseline)]
    queries = aligned.queries
    spans = {metric: _span(metric, scores, aligned) for metric in metrics}
    differences = np.column_stack(
        [
            without_rounding(aligned.column(metric, ours), aligned.column(metric, theirs))
            for metric, ours, theirs in hypotheses
        ]
    )
    labels = None if clusters is None else clusters.of(queries).labels
    of_each = [spans[metric] for metric, _, _ in hypotheses]
    doing = (
        f"testing {numbers.count(len(hypotheses), 'difference')} on {numbers.queries(len(queries))} with "
        f"{resamples:,} choices of signs"
    )
    less = in_python("fewer systems, metrics or resamples= take less", "fewer systems or metrics take less")
    with watched("testing", resamples, doing, less, show_progress=show_progress) as advance:
        found = paired_differences(
            differences,
            spans=of_each,
            level=level,
            resamples=resamples,
            seed=seed,
            clusters=labels,
            contrasts=_contrasts(aligned, metrics, differences, hypotheses),
            advance=advance,
        )
    defined = ~np.isnan(differences)
    samples = [
        Units.of(column[mask], None if labels is None else labels[mask])
        for column, mask in zip(differences.T, defined.T, strict=True)
    ]
    unequal = {
        (name, *pair)
        for use in budgets
        for name in use.metrics
        for pair in use.unequal(pairs_of(list(scores), baseline))
    }
    signs = [metric.definition.sign for metric, _, _ in hypotheses]
    gains = [
        sample if sign == 1 else Units.of(-column[mask], None if labels is None else labels[mask])
        for sample, sign, column, mask in zip(samples, signs, differences.T, defined.T, strict=True)
    ]
    margins = [None] * len(samples) if margin is None else within_margins(gains, of_each, margin, alpha=1 - level)
    return tuple(
        Difference(
            metric=str(metric),
            system=system,
            baseline=other,
            queries=queries if defined[:, at].all() else aligned.queries_at(np.flatnonzero(defined[:, at])),
            values=differences[defined[:, at], at],
            paired=found.each[at] if signs[at] == 1 else _mirrored(found.each[at]),
            higher_is_better=signs[at] == 1,
            comparisons=len(hypotheses),
            p_corrected=found.corrected[at],
            span=spans[metric],
            clusters=None if labels is None else labels[defined[:, at]],
            margin=margins[at],
            comparable=(str(metric), system, other) not in unequal,
        )
        for at, (metric, system, other) in enumerate(hypotheses)
    )


def _mirrored(paired: PairedDifference) -> PairedDifference:
    """Return a difference in which a lower value wins."""
    return replace(paired, wins=paired.losses, losses=paired.wins)


def _contrasts(
    aligned: Aligned,
    metrics: Sequence[Metric],
    differences: FloatArray,
    hypotheses: Sequence[tuple[Metric, str, str]],
) -> Contrasts:
    """Return the differences as those of one column per system and metric.

    Where the systems define a metric on different queries, each difference keeps a column of its own.

    Args:
        aligned: The values of the systems.
        metrics: The metrics that are tested.
        differences: Shape (queries, hypotheses).
        hypotheses: The metric, the system and its baseline.
    """
    place = {metric: at for at, metric in enumerate(metrics)}
    columns_of = [aligned.metrics[metric] for metric in metrics]
    values = {name: each[:, columns_of] for name, each in aligned.values.items()}
    first, *others = values.values()
    undefined = np.isnan(first)
    shared = np.all([(np.isnan(other) == undefined).all(axis=0) for other in others], axis=0)
    number = {name: at for at, name in enumerate(values)}
    # Relative to one system, because small differences of large values would lose digits.
    of_systems = np.hstack([without_rounding(each, first) for each in values.values()])
    plus: list[int] = []
    minus: list[int] = []
    own: list[int] = []
    for at, (metric, system, baseline) in enumerate(hypotheses):
        alike = bool(shared[place[metric]])
        plus.append(number[system] * len(shared) + place[metric] if alike else of_systems.shape[1] + len(own))
        minus.append(number[baseline] * len(shared) + place[metric] if alike else -1)
        own += [] if alike else [at]
    columns = np.nan_to_num(np.hstack([of_systems, differences[:, own]]))
    return Contrasts(columns, np.array(plus), np.array(minus))


def common_clusters(scores: Mapping[str, Scores]) -> Clusters | None:
    """Return the clusters of all queries, taken from all systems.

    Raises:
        ValueError: If two systems have a query in different clusters.
    """
    known = [one.clusters for one in scores.values() if one.clusters is not None]
    return reduce(Clusters.plus, known) if known else None


def _span(metric: Metric, systems: Mapping[str, Scores], aligned: Aligned) -> float:
    """Return the largest possible difference of two values, up to the ideal or, if unbounded, the best observed."""
    if metric.definition.given:
        low, high = metric.definition.bounds
        return high - low if isfinite(high - low) else _observed(aligned.shared(metric)[1])
    largest = 0.0
    for name, scores in systems.items():
        sums = Sums.of(aligned.shared(metric, [name])[1][:, 0])
        upper = bounds_of(scores, metric, sums)[1]
        largest = max(largest, sums.largest if isinf(upper) else upper)
    return largest or 1.0


def _observed(values: FloatArray) -> float:
    return float(np.ptp(values)) if values.size and np.ptp(values) else 1.0


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return (system, baseline) for each comparison; without a baseline, each system with those before it.

    Raises:
        ValueError: If there are fewer than two systems, or none has the baseline's name.
    """
    if len(systems) < FEWEST_SYSTEMS:
        raise ValueError(f"a comparison needs at least two systems, got {', '.join(map(repr, systems)) or 'none'}")
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(systems, 2)]
    if baseline not in systems:
        raise ValueError(
            f"there is no system {baseline!r} for the baseline; the systems are {', '.join(map(repr, systems))}"
        )
    return [(system, baseline) for system in systems if system != baseline]


def ranking_metrics(metrics: Sequence[Metric]) -> tuple[Metric, ...]:
    """Return the metrics of quality: all but `judged`, which measures the judgments.

    Raises:
        ValueError: If there is none.
    """
    chosen = tuple(metric for metric in metrics if metric.definition.says_how_good)
    if not chosen:
        raise ValueError("judged measures the judgments, not the quality of a system; name another metric to compare")
    return chosen
