"""Write the sentences about a ranking of systems: what its signs mean, and which systems are within the margin."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.conclusion_wording import MAX_NAMES
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from retrieval_metrics.comparison.system_ranking import Status, SystemRanking
    from retrieval_metrics.statistics.noninferiority import MarginOutcome

# The outcomes of a test against a margin, in the order in which they are reported.
OUTCOMES: tuple[MarginOutcome, ...] = ("noninferior", "inferior", "inconclusive")


@dataclass(frozen=True, slots=True)
class _OutcomeKey:
    """What metrics share that are reported in one sentence."""

    outcome: MarginOutcome
    systems: frozenset[str]


def format_noninferiority(ranking: SystemRanking) -> list[str]:
    """Return which systems are non-inferior to the baseline, inferior, or neither by the tests.

    Metrics in which the same systems have the same outcome share a sentence.
    """
    metrics_by_key: defaultdict[_OutcomeKey, list[str]] = defaultdict(list)
    for metric, outcomes in ranking.noninferiority.items():
        for outcome in OUTCOMES:
            systems = frozenset(system for system in outcomes if outcomes[system] == outcome)
            if systems:
                metrics_by_key[_OutcomeKey(outcome, systems)].append(metric)
    return [_format_margin_outcome(ranking, key, metrics) for key, metrics in metrics_by_key.items()]


def _format_margin_outcome(ranking: SystemRanking, key: _OutcomeKey, metrics: list[str]) -> str:
    systems = [system for system in ranking.noninferiority[metrics[0]] if system in key.systems]
    names = numbers.join_names(systems, most=MAX_NAMES)
    scope = f"to {ranking.baseline} in {numbers.join_names(metrics)}"
    margin = f"(margin {ranking.margin:g})"
    if key.outcome == "inconclusive":
        return f"Non-inferiority of {names} {scope} is not shown {margin}."
    verb = "is" if len(systems) == 1 else "are"
    outcome = "inferior" if key.outcome == "inferior" else "non-inferior"
    return f"{names} {verb} {outcome} {scope} {margin}."


def ranking_notes(ranking: SystemRanking) -> list[str]:
    """Return the notes below a ranking: which tests could not find anything, and what the columns and signs mean."""
    notes = [_unattainable_note(ranking), _pareto_note(ranking), _format_signs(ranking)]
    return list(filter(None, notes))


def _unattainable_note(ranking: SystemRanking) -> str:
    """Return how many tests can find nothing with so few queries or clusters, and what would help."""
    if not ranking.n_unattainable:
        return ""
    tests = numbers.format_count(ranking.tests, "test")
    if ranking.n_units >= ranking.min_units:
        verdict = f"{_count_unlikely_tests(ranking)} unlikely to reach significance"
        remedy = "choose a baseline or fewer metrics" if ranking.baseline is None else "use fewer metrics"
    elif ranking.tests > 1:
        verdict = f"none of the {tests} can reach significance"
        remedy = f"a single test needs {ranking.min_units}"
    else:
        verdict = "the test cannot reach significance"
        remedy = f"it needs {ranking.min_units}"
    if ranking.has_clusters:
        units = numbers.format_count(ranking.n_units, "cluster")
    else:
        units = numbers.format_query_count(ranking.n_units)
    return f"with {units}, {verdict}; {remedy}"


def _count_unlikely_tests(ranking: SystemRanking) -> str:
    """Return how many tests can hardly succeed, with the verb: `all 9 tests are`, `2 of the 9 tests are`."""
    tests = numbers.format_count(ranking.tests, "test")
    if ranking.n_unattainable < ranking.tests:
        verb = "is" if ranking.n_unattainable == 1 else "are"
        return f"{ranking.n_unattainable:,} of the {tests} {verb}"
    return "the test is" if ranking.tests == 1 else f"all {tests} are"


def _pareto_note(ranking: SystemRanking) -> str:
    """Return what the words in the column `Pareto` mean."""
    if not ranking.pareto:
        return ""
    return (
        f"Pareto: on = better in {ranking.first_metric} than every system at least as fast, off = a system at least "
        "as fast is better; seconds treated as exact"
    )


def _format_signs(ranking: SystemRanking) -> str:
    """Return what the signs behind the means are, and whose mean has an interval."""
    reference = "the best" if ranking.baseline is None else ranking.baseline
    words_by_status: dict[Status, str] = {
        "better": f"▲ better than {reference}",
        "not_significant": f"= not significantly different from {reference}",
        "worse": f"▼ worse than {reference}",
        "undetermined": "? undetermined",
    }
    statuses: set[Status] = set()
    for places in ranking.by_metric.values():
        statuses.update(place.status for place in places)
    signs = [words for status, words in words_by_status.items() if status in statuses]
    interval = f"{numbers.level_name(ranking.level)} shown for {reference}"
    if signs:
        return f"{', '.join(signs)}; {interval}"
    return interval
