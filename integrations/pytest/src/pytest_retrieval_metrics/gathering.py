"""Collect the checks of all tests in the process that prints and writes the results."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import pytest

from pytest_retrieval_metrics.naming import shown
from pytest_retrieval_metrics.orphans import orphans, renamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_retrieval_metrics.settings import Settings

PAGES = ".html"


class Gathered:
    """The checks of a run of pytest.

    Attributes:
        reports: The files of the reports.
        tests: The names of the tests, by the folder of their baselines; see `tests_by_folder`.
        checks: The checks, by test and name; for a test that ran again, the last.
        said: Lines for the terminal about written and deleted files.
    """

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
            from pytest_retrieval_metrics.histories import remember  # noqa: PLC0415  (only where it is asked for)

            self._tried(session, "history", lambda: remember(records, self._settings.label))
        for path in self.reports:
            from pytest_retrieval_metrics.reports import write  # noqa: PLC0415  (only where it is asked for)

            if self._tried(session, str(path), lambda path=path: write(path, records)):
                self.said.append(f"retrieval report: {path}")
        if records or self._config.getoption("retrieval_prune"):
            self.said += self._without_a_test(records)

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
        from pytest_retrieval_metrics.best import forget_best  # noqa: PLC0415  (brings the core)

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
            hint = "" if new is None else f"; move it to {shown(new, root)}, which has the same questions, or prune it"
            yield f"  {shown(one.path, root)}: {one.why}{hint}"
            if prune:
                one.path.unlink()
                forget_best(one.path)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of all checks, and what was written."""
        if self.checks:
            from pytest_retrieval_metrics.summary import summary  # noqa: PLC0415  (only where a check ran)

            terminalreporter.section("retrieval quality")
            terminalreporter.write_line(summary(list(self.checks.values()), self._settings.show))
        for line in self.said:
            terminalreporter.write_line(line)
