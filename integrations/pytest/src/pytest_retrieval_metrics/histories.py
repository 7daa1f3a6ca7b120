"""Histories beside the tests: the numbers of every run, one file per check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.carrying import taken
from retrieval_metrics import History

if TYPE_CHECKING:
    from collections.abc import Sequence


def remember(records: Sequence[dict[str, Any]], label: str) -> None:
    """Append the results of each check to its history.

    Args:
        records: The checks.
        label: The label of the entries; without one they are numbered.

    Raises:
        ValueError: If a file is not a history or cannot be written, or an evaluation cannot be read here because a test
            under xdist defined a metric; all others are written.
    """
    errors = []
    for record in records:
        if record["history"] is None or record["evaluation"] is None:
            continue
        path = Path(record["history"])
        try:
            evaluation = taken(record["evaluation"])
            path.parent.mkdir(parents=True, exist_ok=True)
            History(path).add(evaluation, label or None)
        except (ValueError, OSError) as error:
            errors.append(f"{path.name}: {error}")
    if errors:
        raise ValueError("; ".join(errors))
