"""The best approved baseline, with which updates are compared as well, so that small drops add up to a refusal.

It is a copy in a folder beside the baseline, for as long as the baseline itself is not significantly better.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.baseline import Baseline
from pytest_retrieval_metrics.gates import Verdict, compared, regression_gate
from retrieval_metrics.adapting.printing import save_text

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation

FOLDER = "best"


def best_of(path: Path) -> Path:
    """Return where the best approved baseline is kept, if it is not the baseline itself."""
    return path.parent / FOLDER / path.name


def worse_than_best(evaluation: Evaluation, path: Path, test: str, settings: Settings, alpha: float) -> list[Verdict]:
    """Return a verdict for each metric that is significantly worse than in the best approved baseline.

    Raises:
        ValueError: If the file cannot be read.
    """
    comparison = _compared(evaluation, path, test, alpha)
    if comparison is None:
        return []
    found = regression_gate(evaluation, comparison, Baseline.read(best_of(path), test), settings)
    return [
        replace(one, figures=f"than the best approved baseline: {one.figures}", difference=None)
        for one in found
        if one.outcome == "worse"
    ]


def keep_best(evaluation: Evaluation, known: Baseline, test: str, alpha: float) -> None:
    """Keep the best approved baseline before another one replaces `known`.

    It stays as it is unless the new one is significantly better or worse (which was accepted), or has nothing in common
    with it; then the new one is the best.
    """
    kept = best_of(known.path)
    if not kept.exists():
        comparison = _against(evaluation, known, alpha)
    else:
        comparison = _compared(evaluation, known.path, test, alpha)
    if comparison is None or any(one.kind in {"better", "worse"} for one in comparison.conclusions):
        forget_best(known.path)
    elif not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        save_text(kept, known.path.read_text(encoding="utf-8"))


def forget_best(path: Path) -> None:
    """Remove the best approved baseline, and its folder if it is empty."""
    kept = best_of(path)
    kept.unlink(missing_ok=True)
    if kept.parent.is_dir() and not any(kept.parent.iterdir()):
        kept.parent.rmdir()


def _compared(evaluation: Evaluation, path: Path, test: str, alpha: float) -> Comparison | None:
    """Compare with the best approved baseline; None if there is none, or nothing in common with it."""
    kept = best_of(path)
    return _against(evaluation, Baseline.read(kept, test), alpha) if kept.exists() else None


def _against(evaluation: Evaluation, baseline: Baseline, alpha: float) -> Comparison | None:
    try:
        return compared(evaluation, baseline, alpha)
    except ValueError:  # no question is the same
        return None
