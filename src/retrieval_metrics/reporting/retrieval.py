"""The durations and failures of the retrievers of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.tables import Table

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics.results.compared import Compared

SHARES = {"median": 0.5, "95th percentile": 0.95, "longest": 1.0}


def retrieval_tables(comparison: Compared) -> list[Table]:
    """Return a table with one row per system whose run has times or errors; no table if there is none."""
    rows, notes = [], []
    for name, scores in comparison.scores.items():
        seconds, errors = scores.seconds, scores.errors
        if seconds or errors:
            rows.append([name, str(len(errors)), *_quantiles(seconds.values())])
        for query, error in list(errors.items())[:1]:
            notes.append(
                f"{name} failed for {numbers.queries(len(errors))}, for example {query!r}: "
                f"{type(error).__name__}: {error}"
            )
    return [Table(["system", "failed", *SHARES], rows, notes, "seconds per query")] if rows else []


def notes_tables(comparison: Compared) -> list[Table]:
    """Return what differs besides the rankings, if saved evaluations were compared."""
    return [Table([], [], comparison.notes, "what differs besides the rankings")] if comparison.notes else []


def _quantiles(seconds: Collection[float]) -> list[str]:
    if not seconds:
        return ["-"] * len(SHARES)
    return [numbers.three(value) for value in np.quantile(list(seconds), list(SHARES.values())).tolist()]
