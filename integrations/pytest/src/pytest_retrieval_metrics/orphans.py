"""Baselines whose test is gone or has another name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_retrieval_metrics.naming import file_name, name_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import pytest


class Orphan(NamedTuple):
    """A baseline that belongs to no test.

    Attributes:
        path: The file.
        why: What is missing, in words.
    """

    path: Path
    why: str


def tests_by_folder(config: pytest.Config, items: Sequence[pytest.Item], baselines: str) -> dict[str, list[str]]:
    """Return the tests of each folder of baselines, by the name of the folder, only for whole files of tests.

    If single tests of a file were selected by name, its other tests are unknown here.
    """
    if config.getoption("lf", default=False):
        return {}
    root = config.invocation_params.dir
    parts = {(root / argument.partition("::")[0]).resolve() for argument in config.args if "::" in argument}
    found: dict[str, list[str]] = {}
    for item in items:
        if item.path.resolve() not in parts:
            folder = item.path.parent / baselines / item.path.stem
            found.setdefault(str(folder), []).append(name_of(item))
    return found


def orphans(
    tests: dict[str, list[str]], used: Collection[str], finished: Collection[tuple[str, str]]
) -> Iterator[Orphan]:
    """Return the baselines that belong to no test.

    Args:
        tests: The names of the tests, by the folder of their baselines.
        used: The baselines used by tests of this run.
        finished: Folder and name of the tests that ran to their end, so that all their checks are known.
    """
    from pytest_retrieval_metrics.baseline import labels_of  # noqa: PLC0415  (brings the core)

    for folder, names in tests.items():
        for path in sorted(Path(folder).glob("*.json")):
            labels = labels_of(path)
            test, check = str(labels.get("test", "")), str(labels.get("check", ""))
            if str(path) in used or not test:
                continue
            if test not in names:
                if path.name not in {file_name(name, check) for name in names}:  # renamed by hand
                    yield Orphan(path, f"there is no test {test}")
            elif (folder, test) in finished:
                yield Orphan(path, f"{test} has no check {check!r}" if check else f"{test} has no such check")
    for parent in sorted({Path(folder).parent for folder in tests}):
        for gone in sorted(parent.iterdir()) if parent.is_dir() else ():
            if gone.is_dir() and not (parent.parent / f"{gone.name}.py").exists():
                yield from (Orphan(path, f"there is no {gone.name}.py") for path in sorted(gone.glob("*.json")))


def renamed(orphan: Orphan, records: Sequence[dict[str, Any]]) -> str | None:
    """Return the new name of an orphan: the file of a check with the same questions but no baseline."""
    from pytest_retrieval_metrics.baseline import read  # noqa: PLC0415  (brings the core)
    from retrieval_metrics.adapting.gating import questions_fingerprint  # noqa: PLC0415  (likewise)

    homeless = [one for one in records if one["baseline"] and not one["had_baseline"] and one["questions"]]
    if not homeless:
        return None
    try:
        found = questions_fingerprint(read(orphan.path, "").scores)
    except ValueError:
        return None
    return next((one["baseline"] for one in homeless if one["questions"] == found), None)
