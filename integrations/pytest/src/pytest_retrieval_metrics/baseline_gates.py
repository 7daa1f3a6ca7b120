"""Compare with a baseline: fail on significant drops, on losses of named queries, and on any loss if asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

from pytest_retrieval_metrics.baselines import with_metrics
from pytest_retrieval_metrics.floor_and_ceiling_gates import ROUNDING
from pytest_retrieval_metrics.gate_wording import (
    format_change,
    format_change_details,
    format_deterministic_losses,
    format_missing_metric,
    format_not_comparable_queries,
    format_required_losses,
    mde_note,
    too_few_note,
)
from pytest_retrieval_metrics.verdicts import Verdict
from retrieval_metrics import Metric, compare

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pytest_retrieval_metrics.settings import Settings
    from pytest_retrieval_metrics.verdicts import Outcome
    from retrieval_metrics import Comparison, Evaluation
    from retrieval_metrics.types import Conclusion, Difference, Interval, QueryId

# The names of the two systems in every comparison of this plug-in.
NOW = "now"
BASELINE = "baseline"

# The share of builds in which a drop of `Verdict.mde` does fail.
POWER = 0.8


def compare_with_baseline(evaluation: Evaluation, baseline: Evaluation, alpha: float) -> Comparison:
    """Compare with the baseline, on the queries that are the same in both."""
    # Only drops fail, so the test is one-sided at alpha. It rejects a drop where the two-sided test at 2 alpha does.
    systems = {NOW: evaluation, BASELINE: with_metrics(baseline, evaluation.metrics)}
    return compare(systems, baseline=BASELINE, level=1 - 2 * alpha)


def regression_gate(
    evaluation: Evaluation,
    comparison: Comparison,
    baseline_name: str,
    settings: Settings,
    guarded: Collection[str] = (),
) -> list[Verdict]:
    """Test each metric against the baseline on the same queries.

    A metric in which no drop could be significant is not compared, unless something else guards it or it has improved:
    an improvement never fails.

    Args:
        evaluation: The evaluation of this build.
        comparison: Its comparison with the baseline.
        baseline_name: The name of the file of the baseline, for messages.
        settings: The settings of the run.
        guarded: The metrics that can fail without this test.
    """
    compared_metrics = {difference.metric for difference in comparison.differences}
    notes = " ".join(comparison.notes)
    verdicts = []
    for metric in map(str, evaluation.metrics):
        if metric not in compared_metrics:
            figures = format_missing_metric(baseline_name)
            verdicts.append(Verdict(metric=metric, outcome="not_compared", figures=figures, details=notes))
    for conclusion in comparison.conclusions:
        verdicts.append(_regression_verdict(comparison, conclusion, settings, guarded))
    if notes:
        _begin_with_notes(verdicts, notes)
    return verdicts


def _begin_with_notes(verdicts: list[Verdict], notes: str) -> None:
    """Put the notes before the first reason why a metric is not compared, because they explain it."""
    for index, verdict in enumerate(verdicts):
        if verdict.difference is not None and verdict.outcome == "not_compared":
            # The notes are whole sentences, so another begins here.
            figures = verdict.figures[:1].upper() + verdict.figures[1:]
            verdicts[index] = replace(verdict, figures=f"{notes} {figures}")
            return


def _regression_verdict(
    comparison: Comparison, conclusion: Conclusion, settings: Settings, guarded: Collection[str]
) -> Verdict:
    """Return the verdict on a metric from the conclusion of the test against the baseline."""
    difference = conclusion.details
    metric = conclusion.metric
    before = comparison.evaluations[BASELINE]
    if conclusion.kind in {"no_common_queries", "not_comparable"}:
        reasons = [conclusion.sentence.removesuffix("."), *conclusion.caveats]
        is_unmeasured = conclusion.kind == "not_comparable" and not difference.measured
        outcome: Outcome = "not_measured" if is_unmeasured else "not_compared"
        return Verdict(metric=metric, outcome=outcome, figures="; ".join(reasons), difference=difference)
    units = UnitsAtRisk.from_difference(difference, before)
    too_few = too_few_note(units, difference.min_units, difference.alpha / 2, metric)
    has_improved = conclusion.kind != "identical" and conclusion.gain > ROUNDING
    if too_few and metric not in guarded and not has_improved:
        return Verdict(metric=metric, outcome="not_compared", figures=too_few, difference=difference)
    outcome = _regression_outcome(conclusion, settings.tolerance)
    mde = difference.mde(POWER, max_difference=max(_largest_drops(difference, before), default=0.0))
    change = MetricChange.from_comparison(comparison, difference, settings.level)
    details = format_change_details(change)
    if too_few and has_improved:
        details = f"{too_few}; {details}"
    if outcome == "inconclusive":
        power_note = too_few or mde_note(mde.spread, mde.sparse)
        if power_note:
            details = f"{power_note}; {details}"
    return Verdict(
        metric=metric,
        outcome=outcome,
        figures=format_change(change),
        details=details,
        difference=difference,
        mde=mde.sparse,
    )


def _regression_outcome(conclusion: Conclusion, tolerance: float) -> Outcome:
    has_dropped = conclusion.kind != "identical" and -conclusion.gain > tolerance
    if not has_dropped:
        return "passed"
    if conclusion.kind == "worse":
        return "worse"
    return "inconclusive"


@dataclass(frozen=True, slots=True)
class MetricChange:
    """How the mean of a metric has changed from the baseline; `p_value` is that of a drop."""

    mean_before: float
    mean_now: float
    interval_before: Interval
    interval_now: Interval
    p_value: float
    difference: Difference

    @classmethod
    def from_comparison(cls, comparison: Comparison, difference: Difference, level: float) -> MetricChange:
        """Take the means, and their intervals at a level, from a comparison with the baseline."""
        metric = difference.metric
        before = comparison.evaluations[BASELINE]
        now = comparison.evaluations[NOW]
        return cls(
            mean_before=before.means[metric],
            mean_now=now.means[metric],
            interval_before=before.intervals(level)[metric],
            interval_now=now.intervals(level)[metric],
            p_value=drop_p_value(difference),
            difference=difference,
        )


def _largest_drops(difference: Difference, before: Evaluation) -> list[float]:
    """Return how much worse each query of a difference can become."""
    min_value, max_value = Metric.parse(difference.metric).definition.bounds
    per_query = before.per_query[difference.metric]
    values = [per_query[query] for query in difference.queries]
    if difference.higher_is_better:
        return [value - min_value for value in values]
    return [max_value - value for value in values]


UnitName: TypeAlias = Literal["query", "document", "cluster"]


class UnitsAtRiskRecord(TypedDict):
    """The fields of `UnitsAtRisk`, as a record of a check holds them."""

    n_at_risk: int
    n_units: int
    unit_name: UnitName


class UnitsAtRisk(NamedTuple):
    """How many independent units of a baseline can lose, because only these can make a drop significant.

    Attributes:
        n_at_risk: The units that can lose.
        n_units: All units.
        unit_name: What a unit is.
    """

    n_at_risk: int
    n_units: int
    unit_name: UnitName

    @classmethod
    def from_difference(cls, difference: Difference, before: Evaluation) -> UnitsAtRisk:
        """Count the units of a difference from a baseline, as the test does."""
        unit_name: UnitName = "query"
        unit_by_row = list(range(difference.n))
        if difference.clusters is not None:
            clusters = before.scores.clusters
            unit_name = "document" if clusters is not None and clusters.by_source else "cluster"
            unit_by_row = difference.clusters.tolist()
        at_risk = set()
        for unit, largest_drop in zip(unit_by_row, _largest_drops(difference, before), strict=True):
            if largest_drop > ROUNDING:
                at_risk.add(unit)
        return cls(len(at_risk), difference.n_units, unit_name)

    def to_record(self) -> UnitsAtRiskRecord:
        """Return the fields by name, so that a record of a check can hold them."""
        return {"n_at_risk": self.n_at_risk, "n_units": self.n_units, "unit_name": self.unit_name}


def drop_p_value(difference: Difference) -> float:
    """Return the corrected p value of the one-sided test: how likely so low a mean is if nothing got worse."""
    if difference.identical:
        return 1.0
    half = difference.p_corrected / 2
    if difference.gain < 0:
        return half
    return 1 - half


def no_regression_gate(comparison: Comparison, no_regression: Sequence[QueryId]) -> list[Verdict]:
    """Require that no value of these queries is lower than in the baseline, exactly, in any metric."""
    verdicts = []
    for losses in _find_losses(comparison, no_regression):
        figures = format_required_losses(losses, len(no_regression))
        verdicts.append(Verdict(metric=losses.metric, outcome="worse", figures=figures))
    compared_queries: set[QueryId] = set()
    for difference in comparison.differences:
        compared_queries.update(difference.queries)
    not_comparable = [str(query) for query in no_regression if query not in compared_queries]
    if not_comparable:
        figures = format_not_comparable_queries(not_comparable)
        verdicts.append(Verdict(metric=str(comparison.metrics[0]), outcome="not_compared", figures=figures))
    return verdicts


def deterministic_gate(comparison: Comparison) -> list[Verdict]:
    """Require that no query has lost in any metric, because a deterministic retriever loses nothing by chance."""
    verdicts = []
    for losses in _find_losses(comparison, comparison.evaluations[NOW].queries):
        verdicts.append(Verdict(metric=losses.metric, outcome="worse", figures=format_deterministic_losses(losses)))
    return verdicts


class QueryLoss(NamedTuple):
    """A query that lost, with its values."""

    query: QueryId
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class MetricLosses:
    """The queries that lost in a metric, and how many were compared."""

    metric: str
    n_compared: int
    queries: list[QueryLoss]


def _find_losses(comparison: Comparison, queries: Collection[QueryId]) -> Iterator[MetricLosses]:
    """Yield the metrics in which some of these queries lost, exactly."""
    selected = set(queries)
    for difference in comparison.differences:
        values_before = comparison.evaluations[BASELINE].per_query[difference.metric]
        values_now = comparison.evaluations[NOW].per_query[difference.metric]
        losses = []
        for query, change in worse_queries(difference):
            if abs(change) > ROUNDING and query in selected:
                losses.append(QueryLoss(query, values_before[query], values_now[query]))
        if losses:
            yield MetricLosses(difference.metric, difference.n, losses)


class QueryChange(NamedTuple):
    """A query, and by how much its value has changed."""

    query: QueryId
    change: float


def worse_queries(difference: Difference) -> list[QueryChange]:
    """Return the queries that became worse, the largest loss first."""
    if difference.higher_is_better:
        return _queries_that_fell(difference)
    return _queries_that_rose(difference)


def better_queries(difference: Difference) -> list[QueryChange]:
    """Return the queries that became better, the largest gain first."""
    if difference.higher_is_better:
        return _queries_that_rose(difference)
    return _queries_that_fell(difference)


def _queries_that_fell(difference: Difference) -> list[QueryChange]:
    changes = [query_change for query_change in _query_changes(difference) if query_change.change < 0]
    return sorted(changes, key=attrgetter("change"))


def _queries_that_rose(difference: Difference) -> list[QueryChange]:
    changes = [query_change for query_change in _query_changes(difference) if query_change.change > 0]
    return sorted(changes, key=attrgetter("change"), reverse=True)


def _query_changes(difference: Difference) -> Iterator[QueryChange]:
    for query, change in zip(difference.queries, difference.values.tolist(), strict=True):
        yield QueryChange(query, change)
