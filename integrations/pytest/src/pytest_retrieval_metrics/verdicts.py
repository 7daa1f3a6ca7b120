"""The verdict of a gate on a metric, and the effect that it has on the test."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import pytest

from pytest_retrieval_metrics.gate_wording import format_verdict, format_verdict_with_details
from retrieval_metrics import RetrievalWarning
from retrieval_metrics.integration_api import warn

if TYPE_CHECKING:
    import warnings
    from collections.abc import Sequence

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics.types import Difference, QueryId

Outcome: TypeAlias = Literal[
    "passed",
    "stored",
    "not_gated",
    "below_floor",
    "above_ceiling",
    "not_checked",
    "worse",
    "inconclusive",
    "not_compared",
    "not_measured",
    "not_stored",
    "warning",
]
# The outcomes that fail a test, the most severe first.
FAILING: Final[tuple[Outcome, ...]] = (
    "below_floor",
    "above_ceiling",
    "not_checked",
    "worse",
    "not_measured",
    "not_stored",
    "warning",
)
MOST_SEVERE_FIRST: Final[tuple[Outcome, ...]] = (
    *FAILING,
    "not_compared",
    "inconclusive",
    "stored",
    "not_gated",
    "passed",
)

Effect: TypeAlias = Literal["pass", "warn", "skip", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of a gate on a metric.

    Attributes:
        metric: The full name of the metric.
        outcome: What the gate found.
        figures: The numbers or the reason behind the outcome, for the line of the metric.
        details: Further numbers, for a line below.
        difference: The difference from the baseline that was tested; None for the other gates.
        mde: The minimum detectable effect: the drop that fails with 80% power, however distributed over queries.
        queries: The queries that miss floors of their own.
    """

    metric: str
    outcome: Outcome
    figures: str = ""
    details: str = ""
    difference: Difference | None = None
    mde: float = inf
    queries: tuple[QueryId, ...] = ()

    @property
    def line(self) -> str:
        """The metric, the outcome and the numbers, in a line."""
        return format_verdict(self)


def get_effect(verdict: Verdict, settings: Settings) -> Effect:
    """Return how a verdict ends the test: as configured, or `pass` if nothing is wrong."""
    if verdict.outcome in FAILING:
        return "fail"
    if verdict.outcome == "inconclusive":
        return settings.inconclusive
    if verdict.outcome == "not_compared":
        return settings.not_compared
    return "pass"


def warn_about_verdicts(
    test: str,
    verdicts: Sequence[Verdict],
    measurement_warnings: Sequence[warnings.WarningMessage],
    settings: Settings,
) -> Warning | None:
    """Warn, and return the first warning that a filter turns into an error; the caller raises it later."""
    messages: list[Warning | str] = []
    for verdict in verdicts:
        if get_effect(verdict, settings) == "warn":
            messages.append(RetrievalWarning(f"{test}: {format_verdict_with_details(verdict)}"))
    for warning in measurement_warnings:
        messages.append(warning.message)
    raised = None
    for message in messages:
        try:
            warn(message)
        except Warning as error:  # filterwarnings = error
            raised = raised or error
    return raised


def end_test(verdicts: Sequence[Verdict], failure: str, settings: Settings) -> None:
    """End the test if it fails or is skipped."""
    __tracebackhide__ = True
    if failure:
        pytest.fail(failure, pytrace=False)
    skipping = [verdict for verdict in verdicts if get_effect(verdict, settings) == "skip"]
    if skipping:
        pytest.skip("; ".join(map(format_verdict_with_details, skipping)))
