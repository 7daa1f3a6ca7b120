"""Count the baselines of a project that belong to a test."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def count_project_baselines(root: Path, folders: Iterable[Path], baselines: str, skipped: Sequence[str]) -> int:
    """Return how many baselines of a project belong to a test.

    Args:
        root: The folder of the project.
        folders: Folders of baselines that are known.
        baselines: The name of such folders.
        skipped: Patterns of folders that are not searched.
    """
    # The files in the project are counted, and not the collected tests, so that a verdict is the same whether a file, a
    # folder or the whole project is run, and on every shard.
    n_baselines = 0
    for folder in {*folders, *_find_folders(root, baselines, skipped)}:
        n_baselines += sum(map(_belongs_to_test, folder.glob("*/*.json")))
    return n_baselines


def _find_folders(root: Path, baselines: str, skipped: Sequence[str]) -> Iterator[Path]:
    """Yield the folders of baselines in a project, outside the folders that are skipped."""
    for parent, subfolders, _ in os.walk(root):
        folder = Path(parent) / baselines
        if folder.is_dir():
            yield folder
        subfolders[:] = [name for name in subfolders if not any(fnmatch(name, pattern) for pattern in skipped)]


def _belongs_to_test(path: Path) -> bool:
    """Return whether the file of tests of a baseline exists and names its test, or its class if it is inherited."""
    from pytest_retrieval_metrics.baselines import read_labels

    test_file = path.parent.parent.parent / f"{path.parent.name}.py"
    if not test_file.exists():
        return False
    text = test_file.read_text(encoding="utf-8", errors="replace")
    test = str(read_labels(path).get("test", "")).partition("[")[0]
    if not test:
        return True
    return any(re.search(rf"\b{re.escape(name)}\b", text) for name in test.split("::"))
