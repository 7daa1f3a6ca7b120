"""Test every pair of systems in every metric, and correct for having tested that much."""

from __future__ import annotations

from itertools import combinations
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.results.aligned import aligned
from retrieval_metrics.results.difference import Difference
from retrieval_metrics.results.summary import bounds_of
from retrieval_metrics.statistics import Sums, holm, paired_difference, tukey_hsd
from retrieval_metrics.statistics.paired import differences_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.statistics import PairedDifference
    from retrieval_metrics.types import FloatArray, QueryId

FEWEST_SYSTEMS = 2
RESAMPLES = 10_000
FINENESS = 10
"""The smallest p value that random resamples can give, corrected, is a tenth of what counts as a finding."""


class _Tested(NamedTuple):
    """A pair of systems in one metric, before its p value is corrected."""

    metric: Metric
    system: str
    baseline: str
    queries: Sequence[QueryId]
    values: FloatArray
    paired: PairedDifference
    p_tukey: float | None
    span: float


def tested(
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    baseline: str | None,
    *,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[Difference, ...]:
    """Return the differences of all pairs in all metrics, their p values corrected by Holm for all of them."""
    pairs = pairs_of(list(scores), baseline)
    tests = len(pairs) * len(metrics)
    resamples = max(resamples, round(FINENESS * tests / (1 - level)))
    found = []
    for metric in metrics:
        span = _span(metric, list(scores.values()))
        tukey = _tukey(metric, scores, resamples, seed)
        for system, other in pairs:
            queries, values = aligned([scores[system], scores[other]], metric)
            ours, theirs = values.T
            paired = paired_difference(ours, theirs, level=level, span=span, resamples=resamples, seed=seed)
            differences = differences_of(ours, theirs)
            found.append(_Tested(metric, system, other, queries, differences, paired, tukey.get((system, other)), span))
    corrected = holm([one.paired.p_randomisation for one in found]).tolist()
    return tuple(
        Difference(
            metric=str(one.metric),
            system=one.system,
            baseline=one.baseline,
            queries=one.queries,
            values=one.values,
            paired=one.paired,
            comparisons=tests,
            p_holm=p_holm,
            p_tukey=one.p_tukey,
            span=one.span,
        )
        for one, p_holm in zip(found, corrected, strict=True)
    )


def _span(metric: Metric, systems: Sequence[Scores]) -> float:
    """Return how far two values can lie apart: to the best reachable value, or the best observed if that is open."""
    largest = 0.0
    for system in systems:
        values = aligned([system], metric)[1]
        sums = Sums.of(values[:, 0])
        upper = bounds_of(system, metric, sums)[1]
        largest = max(largest, sums.largest if isinf(upper) else upper)
    return largest or 1.0


def _tukey(metric: Metric, scores: Mapping[str, Scores], resamples: int, seed: int) -> dict[tuple[str, str], float]:
    """Return the p value of Tukey's test for each ordered pair; nothing for two systems, which one test serves."""
    if len(scores) <= FEWEST_SYSTEMS:
        return {}
    values = aligned(list(scores.values()), metric)[1]
    p_values = tukey_hsd(values, resamples=resamples, seed=seed).tolist()
    names = list(enumerate(scores))
    return {(one, other): p_values[at][place] for at, one in names for place, other in names if one != other}


def pairs_of(systems: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return (system, baseline) for each comparison; without a baseline each system is compared with those before it.

    Raises:
        ValueError: If there are fewer than two systems, or none has the baseline's name.
    """
    if len(systems) < FEWEST_SYSTEMS:
        raise ValueError(f"a comparison needs at least two systems, got {', '.join(map(repr, systems)) or 'none'}")
    if baseline is None:
        return [(later, earlier) for earlier, later in combinations(systems, 2)]
    if baseline not in systems:
        raise ValueError(
            f"there is no system named {baseline!r} to be the baseline; there are {', '.join(map(repr, systems))}"
        )
    return [(system, baseline) for system in systems if system != baseline]


def common_metrics(scores: Mapping[str, Scores]) -> tuple[Metric, ...]:
    """Return the metrics that all systems have, in the order of the first.

    Raises:
        ValueError: If there is no such metric, or the systems were scored under different rules.
    """
    rules = {of_system.rules.name: name for name, of_system in scores.items()}
    if len(rules) > 1:
        said = ", ".join(f"{system!r} under {rule}" for rule, system in rules.items())
        raise ValueError(f"evaluations under different rules cannot be compared: {said}")
    columns = [of_system.metrics for of_system in scores.values()]
    common = tuple(metric for metric in (columns[0] if columns else ()) if all(metric in one for one in columns))
    if columns and not common:
        raise ValueError(
            f"the evaluations have no metric in common: {'; '.join(', '.join(map(str, one)) for one in columns)}"
        )
    return common
