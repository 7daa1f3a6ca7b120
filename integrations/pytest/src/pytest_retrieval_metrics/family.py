"""The baselines of a project: the checks that share the accepted rate of false alarms, whichever of them run."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def family(root: Path, tested: Iterable[Path], baselines: str, skipped: Sequence[str]) -> int:
    """Return how many baselines of a project belong to a test.

    They are counted by what is in the project, and not by what was collected, so that a verdict is the same for a file,
    a folder or the whole project, and on every shard.

    Args:
        root: The root of the project, as pytest finds it.
        tested: The files of collected tests, which may be outside of it.
        baselines: The name of the folder of the baselines, beside the file of the test.
        skipped: Patterns of folders in which pytest does not look for tests (`norecursedirs`).
    """
    folders = {path.parent / baselines for path in tested} | set(_folders(root, baselines, skipped))
    return sum(_belongs(path) for folder in folders for path in folder.glob("*/*.json"))


def _folders(root: Path, baselines: str, skipped: Sequence[str]) -> Iterator[Path]:
    for at, inner, _ in os.walk(root):
        folder = Path(at) / baselines
        if folder.is_dir():
            yield folder
        inner[:] = [name for name in inner if not any(fnmatch(name, pattern) for pattern in skipped)]


def _belongs(path: Path) -> bool:
    """Whether the file of tests is there, and names the test of a baseline, or its class if the test is inherited."""
    from pytest_retrieval_metrics.baseline import labels_of  # noqa: PLC0415  (brings the core)

    file = path.parent.parent.parent / f"{path.parent.name}.py"
    if not file.exists():
        return False
    text = file.read_text(encoding="utf-8", errors="replace")
    test = str(labels_of(path).get("test", "")).partition("[")[0]
    return not test or any(re.search(rf"\b{re.escape(name)}\b", text) for name in test.split("::"))
