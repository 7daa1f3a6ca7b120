"""A check as plain data: xdist carries it from the worker to the process that prints."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_retrieval_metrics.gates import Verdict
    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Evaluation

GRAVITY = ("below the floor", "worse", "not compared", "cannot tell", "passed")


def record(
    test: str,
    name: str,
    evaluation: Evaluation,
    *,
    floors: Mapping[str, float | None],
    verdicts: Sequence[Verdict],
    settings: Settings,
    alpha: float,
    replaced: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what was checked, with nothing in it but dicts, lists, texts and numbers; None where there is none.

    Args:
        test: The test.
        name: The name of the check within it.
        evaluation: What was measured.
        floors: The floor of each metric.
        verdicts: What the gates said.
        settings: How it was judged.
        alpha: The accepted rate of false alarms of this check.
        replaced: What an earlier baseline held and the new one holds, in words.
    """
    rows = []
    for metric in map(str, evaluation.metrics):
        of_metric = [verdict for verdict in verdicts if verdict.metric == metric]
        outcomes = [verdict.outcome for verdict in of_metric] or ["passed"]
        difference = next((verdict.difference for verdict in of_metric if verdict.difference is not None), None)
        drop = next((verdict.drop for verdict in of_metric if verdict.difference is not None), None)
        low, high = evaluation.intervals(settings.level)[metric]
        rows.append(
            {
                "metric": metric,
                "outcome": min(outcomes, key=GRAVITY.index),
                "mean": _number(evaluation.means[metric]),
                "low": _number(low),
                "high": _number(high),
                "n": evaluation.n[metric],
                "floor": floors[metric],
                "difference": None if difference is None else _number(difference.mean),
                "p": None if difference is None else _number(difference.p_corrected),
                "detects": None if drop is None else _number(drop),
                "said": "; ".join(verdict.said for verdict in of_metric if verdict.said),
            }
        )
    return {
        "test": test,
        "name": name,
        "level": settings.level,
        "alpha": alpha,
        "metrics": rows,
        "replaced": list(replaced),
    }


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None
