"""The two gates: a floor, and no regression against the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING, Literal

from pytest_retrieval_metrics.baseline import Baseline, fingerprint, key
from pytest_retrieval_metrics.sensitivity import POWER, detectable_drop
from retrieval_metrics import Comparison
from retrieval_metrics.adapting import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Evaluation
    from retrieval_metrics.adapting import Difference

Outcome = Literal["passed", "below the floor", "worse", "cannot tell", "not compared"]
NOW, BASELINE = "now", "baseline"
ROUNDING = 1e-12
"""A mean that misses its floor by no more than the rounding of its sum reaches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate says of a metric.

    Attributes:
        metric: The metric.
        outcome: What came out.
        said: Why, in words.
        difference: The comparison with the baseline, if there was one.
        drop: The drop that such a comparison finds in 80 % of builds; infinite where that is unknown.
    """

    metric: str
    outcome: Outcome
    said: str = ""
    difference: Difference | None = None
    drop: float = float("inf")


def floor_gate(evaluation: Evaluation, floors: Mapping[str, float | None], settings: Settings) -> list[Verdict]:
    """Compare each mean, or the low end of its interval, with its floor."""
    verdicts = []
    for metric, floor in floors.items():
        if floor is None:
            continue
        mean, interval = evaluation.means[metric], evaluation.intervals(settings.level)[metric]
        reached, what = (mean, "mean") if settings.floor == "mean" else (interval.low, "low end of the interval")
        n = numbers.queries(evaluation.n[metric])
        said = (
            f"the {what} {reached:.4f} is below the floor {floor:g}; mean {mean:.4f}, "
            f"{numbers.level_name(settings.level)} {numbers.interval(interval)}, {n}"
        )
        if isnan(reached):
            said = f"{metric} is undefined for every query: none has a relevant document"
        if not reached >= floor - ROUNDING:
            verdicts.append(Verdict(metric=metric, outcome="below the floor", said=said))
        else:
            verdicts.append(Verdict(metric=metric, outcome="passed"))
    return verdicts


def regression_gate(
    evaluation: Evaluation, baseline: Baseline, path: Path, settings: Settings, alpha: float
) -> list[Verdict]:
    """Test each metric against the baseline on the same queries.

    Args:
        evaluation: What was measured now.
        baseline: What was measured when the baseline was written.
        path: Where the baseline is, to be named.
        settings: How to judge.
        alpha: The accepted rate of false alarms of this check, over all its metrics together.
    """
    if changed := _changed(evaluation, baseline):
        said = f"{path.name} was made with {changed}; nothing is compared. --retrieval-update writes a new one"
        return [Verdict(metric=str(metric), outcome="not compared", said=said) for metric in evaluation.metrics]
    before = baseline.evaluation(evaluation)
    absent = [str(metric) for metric in evaluation.metrics if str(metric) not in baseline.metrics]
    said = f"{path.name} does not hold it; --retrieval-update writes a new one"
    verdicts = [Verdict(metric=metric, outcome="not compared", said=said) for metric in absent]
    if not before.metrics:
        return verdicts
    comparison = Comparison.of({NOW: evaluation, BASELINE: before}, baseline=BASELINE, level=1 - alpha)
    return verdicts + [_verdict(evaluation, difference, settings, before) for difference in comparison.differences]


def _changed(evaluation: Evaluation, baseline: Baseline) -> str:
    """Return in which way the evaluation set is another one than the baseline's; empty if it is the same."""
    judged = evaluation.scores.needed_origin("compared").judged
    if evaluation.rules.name != baseline.rules:
        return f"{baseline.rules} rules, now they are {evaluation.rules.name}"
    if fingerprint(judged.qrels) == baseline.qrels:
        return ""
    now = set(map(key, evaluation.queries))
    added, removed = len(now - set(baseline.values)), len(set(baseline.values) - now)
    if added or removed:
        return f"another evaluation set: {numbers.queries(added)} added, {removed} removed"
    return "other judgments of the same queries"


def _verdict(evaluation: Evaluation, difference: Difference, settings: Settings, before: Evaluation) -> Verdict:
    metric = difference.metric
    column = before.per_query[metric]
    drop = detectable_drop(difference, max((column[query] for query in difference.queries), default=0.0))
    lower = difference.n > 0 and not difference.identical and -difference.mean > settings.tolerance
    outcome: Outcome = "passed"
    if not difference.n:
        outcome = "not compared"
    elif lower:
        outcome = "worse" if difference.significant else "cannot tell"
    was, now = (
        f"{one.means[metric]:.4f} {numbers.interval(one.intervals(settings.level)[metric])}"
        for one in (before, evaluation)
    )
    alpha = f"{difference.alpha:.4g}"
    said = (
        f"was {was}, is {now}; difference {numbers.signed(difference.mean)} "
        f"{numbers.interval(difference.interval, signed=True)}, p {numbers.p_value(difference.p_corrected)}, "
        f"alpha {alpha}, {numbers.queries(difference.n)}: {difference.paired.wins} better, "
        f"{difference.paired.ties} equal, {difference.paired.losses} worse"
    )
    if outcome == "not compared":
        said = "no query has a value both now and in the baseline"
    elif outcome == "cannot tell":
        said = f"{detects(difference, drop)}; {said}"
    return Verdict(metric=metric, outcome=outcome, said=said, difference=difference, drop=drop)


def detects(difference: Difference, drop: float) -> str:
    """Return what a comparison like this one is able to find, in words; nothing where no query differs."""
    if difference.units < difference.fewest:
        return f"{numbers.queries(difference.n)} cannot show any drop: at least {difference.fewest} are needed"
    if difference.identical or isinf(drop):
        return ""
    return f"this set detects drops of {drop:.2f} in at least {100 * POWER:g} % of builds"
