"""Pass whole evaluations as files from the processes that run tests to the one that writes reports and histories."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from retrieval_metrics import load

if TYPE_CHECKING:
    from retrieval_metrics import Comparison, Evaluation


def put(found: Evaluation | Comparison, folder: str | None) -> str | None:
    """Write an evaluation or a comparison to the folder, and return the file; None if there is no folder."""
    if folder is None:
        return None
    path = Path(folder) / f"{token_hex(8)}.json"
    try:
        found.save(path)
    except ValueError:  # a function given as match, or metadata that JSON cannot hold: the numbers are enough
        found.save(path, rankings=False)
    return str(path)


def taken(path: str | None) -> Any:
    """Return what was written there; None if nothing was."""
    return None if path is None else load(path)
