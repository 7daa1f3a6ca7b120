"""The gates: floors of means and queries, no regression against the baseline, and queries that must not get worse."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, isnan
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from pytest_retrieval_metrics.baseline import with_metrics
from retrieval_metrics import compare
from retrieval_metrics.adapting.printing import numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation
    from retrieval_metrics.types import Conclusion, Difference, QueryId

Outcome = Literal[
    "passed", "stored", "below the floor", "worse", "cannot tell", "not compared", "not stored", "warning"
]
NOW, BASELINE = "now", "baseline"
ROUNDING = 1e-12
"""A value that misses its floor or baseline by no more than this, the rounding of a sum, still reaches it."""
POWER = 0.8
"""The share of builds in which a drop that "would fail" does."""
NAMED = 5
"""The number of queries named in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of a gate on a metric.

    Attributes:
        metric: The metric.
        outcome: The outcome.
        figures: The deciding numbers, short enough for a line.
        said: Further information in words.
        difference: The comparison with the baseline, if there was one.
        fails_at: The drop that fails a check like this one in at least 80 % of builds, whichever queries lose; infinite
            if no drop does, or if no query differs, so that the spread is unknown.
    """

    metric: str
    outcome: Outcome
    figures: str = ""
    said: str = ""
    difference: Difference | None = None
    fails_at: float = inf

    @property
    def line(self) -> str:
        """The metric, the outcome and the numbers, in a line."""
        return f"{self.metric} {self.outcome}" + (f": {self.figures}" if self.figures else "")


def floor_gate(evaluation: Evaluation, floors: Mapping[str, float | None], settings: Settings) -> list[Verdict]:
    """Compare each mean, or the low end of its interval, with its floor."""
    verdicts = []
    for metric, floor in floors.items():
        if floor is None:
            continue
        mean, interval = evaluation.means[metric], evaluation.intervals(settings.level)[metric]
        reached, what = (mean, "") if settings.floor == "mean" else (interval.low, "the low end of the interval ")
        if reached >= floor - ROUNDING:
            verdicts.append(Verdict(metric=metric, outcome="passed"))
            continue
        figures = f"{what}{numbers.apart(reached, floor)[0]} < {floor:g}, {numbers.queries(evaluation.n[metric])}"
        if isnan(reached):
            figures = "undefined for every query: none has a relevant document"
        said = f"mean {numbers.value(mean)}, {numbers.level_name(settings.level)} {numbers.interval(interval)}"
        verdicts.append(Verdict(metric=metric, outcome="below the floor", figures=figures, said=said))
    return verdicts


def query_floor_gate(evaluation: Evaluation, floors: Mapping[str, float | Mapping[QueryId, float]]) -> list[Verdict]:
    """Compare the value of each query with its floor, exactly; a number is the floor of all queries with a value."""
    verdicts = []
    for metric, floor in floors.items():
        values = evaluation.per_query[metric]
        if isinstance(floor, (int, float)):
            wanted = {query: float(floor) for query, value in values.items() if not isnan(value)}
        else:
            wanted = {query: float(least) for query, least in floor.items()}
        missed = {query: least for query, least in wanted.items() if not values[query] >= least - ROUNDING}
        if missed:
            each = [f"{query} {numbers.apart(values[query], least)[0]} < {least:g}" for query, least in missed.items()]
            figures = f"{len(missed)} of {numbers.queries(len(wanted))}: {_some(each)}"
            verdicts.append(Verdict(metric=metric, outcome="below the floor", figures=figures))
    return verdicts


def compared(evaluation: Evaluation, before: Evaluation, alpha: float) -> Comparison:
    """Compare with the baseline, on the queries that are the same in both.

    Only drops fail, so the test is one-sided at alpha: it rejects where the two-sided one at 2 alpha does, downwards.

    Raises:
        ValueError: If nothing can be compared; the message says why.
    """
    both = {NOW: evaluation, BASELINE: with_metrics(before, evaluation.metrics)}
    return compare(both, baseline=BASELINE, level=1 - 2 * alpha)


def regression_gate(evaluation: Evaluation, comparison: Comparison, baseline: str, settings: Settings) -> list[Verdict]:
    """Test each metric against the baseline, a file of that name, on the same queries."""
    held = {difference.metric for difference in comparison.differences}
    notes, lacking = " ".join(comparison.notes), f"{baseline} does not hold it"
    verdicts = [
        Verdict(metric=str(metric), outcome="not compared", figures=lacking, said=notes)
        for metric in evaluation.metrics
        if str(metric) not in held
    ]
    return verdicts + [_verdict(comparison, conclusion, settings) for conclusion in comparison.conclusions]


def _verdict(comparison: Comparison, conclusion: Conclusion, settings: Settings) -> Verdict:
    difference, metric = conclusion.found, conclusion.metric
    before, now = (comparison.evaluations[name] for name in (BASELINE, NOW))
    column = before.per_query[metric]
    largest_loss = max((column[query] for query in difference.queries), default=0.0)
    fails_at = difference.detectable(POWER, span=largest_loss).high
    if conclusion.kind in {"no common query", "not comparable"}:
        said = "; ".join([conclusion.sentence.removesuffix("."), *conclusion.caveats])
        return Verdict(metric=metric, outcome="not compared", figures=said, difference=difference, fails_at=fails_at)
    outcome: Outcome = "passed"
    if conclusion.kind != "the same" and -conclusion.gain > settings.tolerance:
        outcome = "worse" if conclusion.kind == "worse" else "cannot tell"
    ends = (numbers.interval(one.intervals(settings.level)[metric]) for one in (before, now))
    figures = (
        f"{numbers.change(before.means[metric], now.means[metric])} (p {numbers.p_value(p_of_drop(difference))}), "
        f"{difference.paired.losses} of {numbers.queries(difference.n)}"
    )
    said = (
        f"was {next(ends)}, is {next(ends)}; difference {numbers.signed(difference.mean)} "
        f"{numbers.interval(difference.interval, difference=True)}, alpha {difference.alpha / 2:.4g} per build; "
        f"{difference.paired.wins} better, {difference.paired.ties} equal, {difference.paired.losses} worse"
    )
    if outcome == "cannot tell" and (able := would_fail(difference, fails_at)):
        said = f"{able}; {said}"
    return Verdict(metric=metric, outcome=outcome, figures=figures, said=said, difference=difference, fails_at=fails_at)


def p_of_drop(difference: Difference) -> float:
    """Return the corrected p value of the one-sided test: how likely so low a mean is if nothing got worse."""
    half = difference.p_corrected / 2
    return 1.0 if difference.identical else half if difference.gain < 0 else 1 - half


def would_fail(difference: Difference, fails_at: float) -> str:
    """Return in words which drop would fail such a check; nothing if no query differs."""
    if difference.units < difference.fewest:
        return f"{numbers.queries(difference.n)} cannot show any drop: at least {difference.fewest} are needed"
    if difference.identical or isinf(fails_at):
        return ""
    return f"a drop of {fails_at:.2f} fails at least {100 * POWER:g} % of builds"


def never_worse_gate(comparison: Comparison, never_worse: Sequence[QueryId]) -> list[Verdict]:
    """Require that no value of the given queries is lower than in the baseline, exactly, in any metric."""
    of = f"of {numbers.queries(len(never_worse))} that must not get worse"
    verdicts = [
        Verdict(metric=one.metric, outcome="worse", figures=f"{len(lost)} {of}: {_some(lost)}")
        for one, lost in _losses(comparison, never_worse)
    ]
    found = {query for difference in comparison.differences for query in difference.queries}
    if absent := [str(query) for query in never_worse if query not in found]:
        figures = f"{_some(absent)} must not get worse, but cannot be compared: new, rejudged or reworded"
        verdicts.append(Verdict(metric=str(comparison.metrics[0]), outcome="not compared", figures=figures))
    return verdicts


def deterministic_gate(comparison: Comparison) -> list[Verdict]:
    """Require that no query has lost anything in any metric, because a retriever without chance changed it."""
    return [
        Verdict(
            metric=one.metric,
            outcome="worse",
            figures=f"{len(lost)} of {numbers.queries(one.n)} lost, none by chance: {_some(lost)}",
        )
        for one, lost in _losses(comparison, comparison.evaluations[NOW].queries)
    ]


def _losses(comparison: Comparison, queries: Collection[QueryId]) -> Iterator[tuple[Difference, list[str]]]:
    """Yield each metric in which some of the queries lost, with what each of these lost, exactly."""
    for difference in comparison.differences:
        now = comparison.evaluations[NOW].per_query[difference.metric]
        lost = [
            f"{query} {numbers.change(now[query] - change, now[query])}"
            for query, change in losers(difference)
            if change < -ROUNDING and query in queries
        ]
        if lost:
            yield difference, lost


def losers(difference: Difference) -> list[tuple[QueryId, float]]:
    """Return the queries that became worse with their differences, the largest first."""
    return sorted((pair for pair in _changes(difference) if pair[1] < 0), key=itemgetter(1))


def winners(difference: Difference) -> list[tuple[QueryId, float]]:
    """Return the queries that became better with their differences, the largest first."""
    return sorted((pair for pair in _changes(difference) if pair[1] > 0), key=itemgetter(1), reverse=True)


def _changes(difference: Difference) -> Iterator[tuple[QueryId, float]]:
    return zip(difference.queries, difference.values.tolist(), strict=True)


def _some(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
