"""A history beside the tests: the numbers of every run, per check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_retrieval_metrics.carrying import taken
from retrieval_metrics import History

if TYPE_CHECKING:
    from collections.abc import Sequence


def remember(records: Sequence[dict[str, Any]], label: str) -> None:
    """Append what each check measured to its history.

    Args:
        records: The checks.
        label: What the entries are called; they are numbered without one.

    Raises:
        ValueError: If a file is something else.
        OSError: If it cannot be written.
    """
    for record in records:
        evaluation = taken(record["evaluation"])
        if record["history"] is not None and evaluation is not None:
            path = Path(record["history"])
            path.parent.mkdir(parents=True, exist_ok=True)
            History(path).add(evaluation, label or None)
