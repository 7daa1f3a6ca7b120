"""Find the baselines that belong to no test, and where a renamed test may have left them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_retrieval_metrics.file_names import get_test_name, make_file_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

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
