"""The best approved baseline, with which updates are compared as well, so that small drops add up to a refusal.

It is a copy in a folder beside the baseline, for as long as the baseline itself is not significantly better.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.baseline import best_of
from pytest_retrieval_metrics.gates import compared, regression_gate
from retrieval_metrics.adapting.printing import save_text

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_retrieval_metrics.baseline import Baseline
    from pytest_retrieval_metrics.gates import Verdict
    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation


def worse_than_best(evaluation: Evaluation, baseline: Baseline, settings: Settings, alpha: float) -> list[Verdict]:
    """Return a verdict for each metric that is significantly worse than in the best approved baseline."""
    comparison = _against(evaluation, baseline.best, alpha)
    if comparison is None:
        return []
    return [
        replace(one, figures=f"than the best approved baseline: {one.figures}", difference=None)
        for one in regression_gate(evaluation, comparison, best_of(baseline.path).name, settings)
        if one.outcome == "worse"
    ]


def keep_best(evaluation: Evaluation, baseline: Baseline, alpha: float) -> None:
    """Keep the best approved baseline before another one replaces it.

    It stays as it is unless the new one is significantly better or worse (which was accepted), or has nothing in common
    with it; then the new one is the best.
    """
    comparison = _against(evaluation, baseline.best or baseline.known, alpha)
    if comparison is None or any(one.kind in {"better", "worse"} for one in comparison.conclusions):
        forget_best(baseline.path)
    elif baseline.best is None:
        kept = best_of(baseline.path)
        kept.parent.mkdir(exist_ok=True)
        save_text(kept, baseline.path.read_text(encoding="utf-8"))


def forget_best(path: Path) -> None:
    """Remove the best approved baseline, and its folder if it is empty."""
    kept = best_of(path)
    kept.unlink(missing_ok=True)
    if kept.parent.is_dir() and not any(kept.parent.iterdir()):
        kept.parent.rmdir()


def _against(evaluation: Evaluation, before: Evaluation | None, alpha: float) -> Comparison | None:
    """Return the comparison with an evaluation; None if there is none, or no question is the same."""
    try:
        return None if before is None else compared(evaluation, before, alpha)
    except ValueError:
        return None
