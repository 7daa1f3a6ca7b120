"""The checks of all tests, in the process that prints and writes the results, and baselines without a test."""

from __future__ import annotations

import os
import re
import shutil
from fnmatch import fnmatch
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_retrieval_metrics.settings import format_path, get_test_name, make_file_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pytest_retrieval_metrics.settings import Settings

PAGES = ".html"


class CheckSession:
    """The checks of a run of pytest."""

    def __init__(self, config: pytest.Config, settings: Settings, reports: Sequence[Path]) -> None:
        self.reports = list(reports)
        self.tests: dict[str, list[str]] = {}
        self.checks: dict[tuple[str, str], dict[str, Any]] = {}
        self.said: list[str] = []
        self._config = config
        self._settings = settings
        self._finished: set[str] = set()
        self._carries = bool(settings.history) or any(path.suffix == PAGES for path in reports)
        self._folder: str | None = None

    @property
    def folder(self) -> str | None:
        """The folder for files of whole evaluations; None if they are not needed."""
        if self._carries and self._folder is None:
            self._folder = mkdtemp(prefix="retrieval-checks-")
        return self._folder

    def clear(self) -> None:
        """Remove the files of whole evaluations."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the checks of a phase, with what pytest makes of the test; one that runs again is told of at its end."""
        for record in getattr(report, "retrieval_checks", ()) if str(report.outcome) != "rerun" else ():
            ended = ("xfailed" if hasattr(report, "wasxfail") else "skipped") if report.skipped else ""
            self.checks[record["test"], record["name"]] = record | {"ended": ended}
        if report.when == "call" and report.passed:
            self._finished.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write reports and histories, and look for baselines without a test."""
        if self._config.getoption("collectonly", default=False):
            return
        records = list(self.checks.values())
        if records and self._settings.history:
            from pytest_retrieval_metrics.records import append_to_history  # noqa: PLC0415  (only where it is asked for)

            self._tried(session, "history", lambda: append_to_history(records, self._settings.label))
        for path in self.reports:
            from pytest_retrieval_metrics.reports import write_report  # noqa: PLC0415  (only where it is asked for)

            if self._tried(session, str(path), lambda path=path: write_report(path, records)):
                self.said.append(f"retrieval report: {path}")
        if records or self._config.getoption("retrieval_prune"):
            self.said += self._without_a_test(records)
        self.said += self._unable(records)

    def _tried(self, session: pytest.Session, what: str, work: Any) -> bool:
        """Do something that may fail, for example because the disk is full, without hiding the results of tests."""
        try:
            work()
        except (OSError, ValueError) as error:
            self.said.append(f"retrieval: {what} was not written: {error}")
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR
            return False
        return True

    def _without_a_test(self, records: list[dict[str, Any]]) -> Iterator[str]:
        from pytest_retrieval_metrics.approval import forget_best  # noqa: PLC0415  (brings the core)

        used = {one["baseline"] for one in records if one["baseline"]}
        ended = {(str(Path(one["baseline"]).parent), one["within"])
                 for one in records if one["baseline"] and one["test"] in self._finished}  # fmt: skip
        found = list(orphans(self.tests, used, ended))
        prune, root = self._config.getoption("retrieval_prune"), self._config.rootpath
        if not found:
            if prune:
                yield "no baseline is without a test"
            return
        yield "baselines without a test, deleted:" if prune else "baselines without a test (--retrieval-prune deletes):"
        for one in found:
            new = renamed(one, records)
            hint = (
                ""
                if new is None
                else f"; move it to {format_path(new, root)}, which has the same questions, or prune it"
            )
            yield f"  {format_path(one.path, root)}: {one.why}{hint}"
            if prune:
                one.path.unlink()
                forget_best(one.path)

    def _unable(self, records: Sequence[dict[str, Any]]) -> Iterator[str]:
        """Yield the metrics of new baselines in which no drop can fail, now that all baselines are there."""
        stored = [one for one in records if one["able"]]
        if not stored:
            return
        from pytest_retrieval_metrics.gates import UnitsAtRisk  # noqa: PLC0415  (brings the core)
        from pytest_retrieval_metrics.records import format_title  # noqa: PLC0415  (likewise)
        from retrieval_metrics.integration_api.pytest_support import min_significant_units  # noqa: PLC0415  (likewise)

        settings, config = self._settings, self._config
        folders = {Path(one["baseline"]).parent.parent for one in stored}
        checks = count_project_baselines(config.rootpath, folders, settings.baselines, config.getini("norecursedirs"))
        alpha = settings.alpha / settings.builds / max(checks, 1)
        for one in stored:
            for metric, able in one["able"].items():
                if said := UnitsAtRisk(*able).too_few_note(min_significant_units(1 - 2 * alpha), alpha, metric):
                    yield f"{format_title(one)}: {metric} will not be compared: {said}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of all checks, or a line if all passed, and what was written."""
        if self.checks:
            from pytest_retrieval_metrics.reports import format_passed, format_summary  # noqa: PLC0415  (only where a check ran)

            records = list(self.checks.values())
            if line := format_passed(records) if terminalreporter.verbosity <= 0 else "":
                terminalreporter.write_line(line)
            else:
                terminalreporter.section("retrieval quality")
                terminalreporter.write_line(format_summary(records, self._settings.show))
        for line in self.said:
            terminalreporter.write_line(line)


class OrphanBaseline(NamedTuple):
    """A baseline that belongs to no test."""

    path: Path
    why: str


def tests_by_folder(config: pytest.Config, items: Sequence[pytest.Item], baselines: str) -> dict[str, list[str]]:
    """Return the tests of each folder of baselines, by the name of the folder, only for whole files of tests."""
    # If single tests of a file were selected by name, its other tests are unknown here.
    if config.getoption("lf", default=False):
        return {}
    root = config.invocation_params.dir
    parts = {(root / argument.partition("::")[0]).resolve() for argument in config.args if "::" in argument}
    found: dict[str, list[str]] = {}
    for item in items:
        if item.path.resolve() not in parts:
            folder = item.path.parent / baselines / item.path.stem
            found.setdefault(str(folder), []).append(get_test_name(item))
    return found


def orphans(
    tests: dict[str, list[str]], used: Collection[str], finished: Collection[tuple[str, str]]
) -> Iterator[OrphanBaseline]:
    """Return the baselines that belong to no test."""
    from pytest_retrieval_metrics.gates import read_labels  # noqa: PLC0415  (brings the core)

    for folder, names in tests.items():
        for path in sorted(Path(folder).glob("*.json")):
            labels = read_labels(path)
            test, check = str(labels.get("test", "")), str(labels.get("check", ""))
            if str(path) in used or not test:
                continue
            if test not in names:
                if path.name not in {make_file_name(name, check) for name in names}:  # renamed by hand
                    yield OrphanBaseline(path, f"there is no test {test}")
            elif (folder, test) in finished:
                yield OrphanBaseline(path, f"{test} has no check {check!r}" if check else f"{test} has no such check")
    for parent in sorted({Path(folder).parent for folder in tests}):
        for gone in sorted(parent.iterdir()) if parent.is_dir() else ():
            if gone.is_dir() and not (parent.parent / f"{gone.name}.py").exists():
                yield from (OrphanBaseline(path, f"there is no {gone.name}.py") for path in sorted(gone.glob("*.json")))


def renamed(orphan: OrphanBaseline, records: Sequence[dict[str, Any]]) -> str | None:
    """Return the new name of an orphan: the file of a check with the same questions but no baseline."""
    from pytest_retrieval_metrics.gates import read_baseline  # noqa: PLC0415  (brings the core)
    from retrieval_metrics.integration_api.pytest_support import questions_fingerprint  # noqa: PLC0415  (likewise)

    homeless = [one for one in records if one["baseline"] and not one["had_baseline"] and one["questions"]]
    if not homeless:
        return None
    try:
        found = questions_fingerprint(read_baseline(orphan.path, "").scores)
    except ValueError:
        return None
    return next((one["baseline"] for one in homeless if one["questions"] == found), None)


def count_project_baselines(root: Path, folders: Iterable[Path], baselines: str, skipped: Sequence[str]) -> int:
    """Return how many baselines of a project belong to a test."""
    # They are counted by what is in the project, and not by what was collected, so that a verdict is the same for a
    # file, a folder or the whole project, and on every shard.
    found = {*folders, *_folders(root, baselines, skipped)}
    return sum(_belongs(path) for folder in found for path in folder.glob("*/*.json"))


def _folders(root: Path, baselines: str, skipped: Sequence[str]) -> Iterator[Path]:
    for at, inner, _ in os.walk(root):
        folder = Path(at) / baselines
        if folder.is_dir():
            yield folder
        inner[:] = [name for name in inner if not any(fnmatch(name, pattern) for pattern in skipped)]


def _belongs(path: Path) -> bool:
    """Whether the file of tests is there, and names the test of a baseline, or its class if the test is inherited."""
    from pytest_retrieval_metrics.gates import read_labels  # noqa: PLC0415  (brings the core)

    file = path.parent.parent.parent / f"{path.parent.name}.py"
    if not file.exists():
        return False
    text = file.read_text(encoding="utf-8", errors="replace")
    test = str(read_labels(path).get("test", "")).partition("[")[0]
    return not test or any(re.search(rf"\b{re.escape(name)}\b", text) for name in test.split("::"))
