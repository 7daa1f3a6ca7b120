"""How verdicts end a test: it fails, is skipped, warns, or passes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

from pytest_retrieval_metrics.records import FAILING
from retrieval_metrics import RetrievalWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_retrieval_metrics.gates import Verdict
    from pytest_retrieval_metrics.settings import Settings


def ends(verdict: Verdict, settings: Settings) -> str:
    """Return how a verdict ends the test: as configured, or `pass` if nothing is wrong."""
    asked = {"cannot tell": settings.undecided, "not compared": settings.uncompared}
    return "fail" if verdict.outcome in FAILING else asked.get(verdict.outcome, "pass")


def warned(
    test: str, verdicts: Sequence[Verdict], met: Sequence[warnings.WarningMessage], settings: Settings
) -> Warning | None:
    """Warn, and return the first warning that pytest is told to raise, so that nothing is stored before."""
    said = [RetrievalWarning(f"{test}: {_whole(one)}") for one in verdicts if ends(one, settings) == "warn"]
    raised = None
    for warning in (*said, *(one.message for one in met)):
        try:
            warnings.warn(warning, stacklevel=4)
        except Warning as error:  # filterwarnings = error
            raised = raised or error
    return raised


def end(verdicts: Sequence[Verdict], failure: str, settings: Settings) -> None:
    """End the test if it fails or is skipped."""
    __tracebackhide__ = True
    if failure:
        pytest.fail(failure, pytrace=False)
    if left := [verdict for verdict in verdicts if ends(verdict, settings) == "skip"]:
        pytest.skip("; ".join(map(_whole, left)))


def _whole(verdict: Verdict) -> str:
    return "; ".join(part for part in (verdict.line, verdict.said) if part)
