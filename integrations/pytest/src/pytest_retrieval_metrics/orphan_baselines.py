"""Count the baselines of a project that belong to a test, and find those that belong to none."""

from __future__ import annotations

import os
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_retrieval_metrics.file_names import get_test_name, make_file_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import pytest

    from pytest_retrieval_metrics.check_records import CheckRecord


class OrphanBaseline(NamedTuple):
    """A baseline that belongs to no test."""

    path: Path
    reason: str


class FinishedTest(NamedTuple):
    """A test that has passed, and the folder of its baselines."""

    folder: str
    test: str


def tests_by_folder(config: pytest.Config, items: Sequence[pytest.Item], baselines: str) -> dict[str, list[str]]:
    """Return the names of the tests by their folder of baselines, for the files whose tests were all collected."""
    # If single tests of a file were selected by name, its other tests are unknown here.
    if config.getoption("lf", default=False):
        return {}
    root = config.invocation_params.dir
    partly_selected = set()
    for argument in config.args:
        if "::" in argument:
            partly_selected.add((root / argument.partition("::")[0]).resolve())
    tests: dict[str, list[str]] = {}
    for item in items:
        if item.path.resolve() not in partly_selected:
            folder = item.path.parent / baselines / item.path.stem
            tests.setdefault(str(folder), []).append(get_test_name(item))
    return tests


def find_orphans(
    tests: Mapping[str, Sequence[str]], used: Collection[str], finished: Collection[FinishedTest]
) -> Iterator[OrphanBaseline]:
    """Yield the baselines that belong to no test.

    Args:
        tests: The names of the tests by their folder of baselines.
        used: The files of baselines that checks of this run compared with.
        finished: The tests that have passed, so that all of their checks are known.
    """
    for folder, names in tests.items():
        yield from _orphans_of_tests(folder, names, used, finished)
    for baselines_folder in sorted({Path(folder).parent for folder in tests}):
        if baselines_folder.is_dir():
            yield from _orphans_of_files(baselines_folder)


def _orphans_of_tests(
    folder: str, tests: Sequence[str], used: Collection[str], finished: Collection[FinishedTest]
) -> Iterator[OrphanBaseline]:
    """Yield the baselines of a file of tests whose test, or whose check in its test, is gone."""
    from pytest_retrieval_metrics.baselines import read_labels

    for path in sorted(Path(folder).glob("*.json")):
        labels = read_labels(path)
        test = str(labels.get("test", ""))
        check = str(labels.get("check", ""))
        if str(path) in used or not test:
            continue
        if test not in tests:
            was_renamed_by_hand = path.name in {make_file_name(name, check) for name in tests}
            if not was_renamed_by_hand:
                yield OrphanBaseline(path, f"there is no test {test}")
        elif FinishedTest(folder, test) in finished:
            check_text = f"check {check!r}" if check else "such check"
            yield OrphanBaseline(path, f"{test} has no {check_text}")


def _orphans_of_files(baselines_folder: Path) -> Iterator[OrphanBaseline]:
    """Yield the baselines whose file of tests is gone."""
    for folder in sorted(baselines_folder.iterdir()):
        if folder.is_dir() and not (baselines_folder.parent / f"{folder.name}.py").exists():
            for path in sorted(folder.glob("*.json")):
                yield OrphanBaseline(path, f"there is no {folder.name}.py")


def find_new_path(orphan: OrphanBaseline, records: Sequence[CheckRecord]) -> str | None:
    """Return the path to which an orphan probably belongs: that of a check with the same questions and no baseline."""
    from pytest_retrieval_metrics.baselines import read_baseline
    from retrieval_metrics.integration_api.pytest_support import evaluation_set_fingerprint

    path_by_questions: dict[str, str] = {}
    for record in records:
        if record["baseline"] and record["questions"] and not record["had_baseline"]:
            path_by_questions.setdefault(record["questions"], record["baseline"])
    if not path_by_questions:
        return None
    try:
        questions = evaluation_set_fingerprint(read_baseline(orphan.path, "").scores)
    except ValueError:
        return None
    return path_by_questions.get(questions)


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
    return not test or any(re.search(rf"\b{re.escape(name)}\b", text) for name in test.split("::"))
