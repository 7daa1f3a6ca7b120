"""Test every pair of systems in every metric, and correct for having tested that much."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.comparing.aligned import aligned
from retrieval_metrics.comparing.difference import Difference
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.statistics import Sums, holm, paired_difference, tukey_hsd
from retrieval_metrics.statistics.paired import differences_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.definition.metric import Metric
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
    evaluations: Mapping[str, Evaluation],
    metrics: Sequence[Metric],
    baseline: str | None,
    *,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[Difference, ...]:
    """Return the differences of all pairs in all metrics, their p values corrected by Holm for all of them."""
    pairs = pairs_of(list(evaluations), baseline)
    tests = len(pairs) * len(metrics)
    resamples = max(resamples, round(FINENESS * tests / (1 - level)))
    found = []
    for metric in metrics:
        span = _span(metric, list(evaluations.values()))
        tukey = _tukey(metric, evaluations, resamples, seed)
        for system, other in pairs:
            queries, values = aligned([evaluations[system], evaluations[other]], metric)
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


def _span(metric: Metric, evaluations: Sequence[Evaluation]) -> float:
    """Return how far two values can lie apart: to the best reachable value, or the best observed if that is open."""
    largest = 0.0
    for evaluation in evaluations:
        values = aligned([evaluation], metric)[1]
        sums = Sums.of(values[:, 0])
        upper = evaluation.bounds(metric, sums)[1]
        largest = max(largest, sums.largest if isinf(upper) else upper)
    return largest or 1.0


def _tukey(
    metric: Metric, evaluations: Mapping[str, Evaluation], resamples: int, seed: int
) -> dict[tuple[str, str], float]:
    """Return the p value of Tukey's test for each ordered pair; nothing for two systems, which one test serves."""
    if len(evaluations) <= FEWEST_SYSTEMS:
        return {}
    values = aligned(list(evaluations.values()), metric)[1]
    p_values = tukey_hsd(values, resamples=resamples, seed=seed).tolist()
    names = list(enumerate(evaluations))
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


def common_metrics(evaluations: Mapping[str, Evaluation]) -> tuple[Metric, ...]:
    """Return the metrics that all evaluations have, in the order of the first.

    Raises:
        TypeError: If it is no mapping of names to evaluations.
        ValueError: If there is no such metric, or the evaluations were made under different rules.
    """
    if not isinstance(evaluations, Mapping):
        raise TypeError(
            f"evaluations must map the name of each system to its Evaluation, got {type(evaluations).__name__}"
        )
    for name, evaluation in evaluations.items():
        if not isinstance(evaluation, Evaluation):
            raise TypeError(
                f"{name!r} must be an Evaluation, got {type(evaluation).__name__}; compare(qrels, runs) takes runs"
            )
    rules = {evaluation.rules.name: name for name, evaluation in evaluations.items()}
    if len(rules) > 1:
        said = ", ".join(f"{system!r} under {rule}" for rule, system in rules.items())
        raise ValueError(f"evaluations under different rules cannot be compared: {said}")
    columns = [evaluation.metrics for evaluation in evaluations.values()]
    common = tuple(metric for metric in (columns[0] if columns else ()) if all(metric in one for one in columns))
    if columns and not common:
        raise ValueError(
            f"the evaluations have no metric in common: {'; '.join(', '.join(map(str, one)) for one in columns)}"
        )
    return common
