"""Collect the checks of all tests in the main process, and print and write their results."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest

from pytest_retrieval_metrics.file_names import format_path
from pytest_retrieval_metrics.orphan_baselines import FinishedTest, find_new_path, find_orphans
from pytest_retrieval_metrics.project_baselines import count_project_baselines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_retrieval_metrics.check_records import CheckRecord
    from pytest_retrieval_metrics.orphan_baselines import OrphanBaseline
    from pytest_retrieval_metrics.settings import Settings

PAGES_ENDING = ".html"


class CheckSession:
    """The checks of a run of pytest."""

    def __init__(self, config: pytest.Config, settings: Settings, reports: Sequence[Path]) -> None:
        self.reports = list(reports)
        self.tests: dict[str, list[str]] = {}
        self.records: dict[tuple[str, str], CheckRecord] = {}
        self.lines: list[str] = []
        self._config = config
        self._settings = settings
        self._finished_tests: set[str] = set()
        self._needs_folder = bool(settings.history) or any(path.suffix == PAGES_ENDING for path in reports)
        self._folder: str | None = None

    @property
    def folder(self) -> str | None:
        """The folder for files of whole evaluations; None if they are not needed."""
        if self._needs_folder and self._folder is None:
            self._folder = mkdtemp(prefix="retrieval-checks-")
        return self._folder

    def clear(self) -> None:
        """Remove the files of whole evaluations."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the checks of a phase of a test, with how pytest ended the test."""
        # A test that will run again is reported after its last run.
        is_rerun = str(report.outcome) == "rerun"
        if not is_rerun:
            for record in getattr(report, "retrieval_checks", ()):
                self._keep(record, report)
        if report.when == "call" and report.passed:
            self._finished_tests.add(report.nodeid)

    def _keep(self, record: CheckRecord, report: pytest.TestReport) -> None:
        if report.skipped:
            record["ended"] = "xfailed" if hasattr(report, "wasxfail") else "skipped"
        self.records[record["test"], record["name"]] = record

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write reports and histories, and look for baselines without a test."""
        if self._config.getoption("collectonly", default=False):
            return
        records = list(self.records.values())
        if records and self._settings.history:
            self._write(session, "history", partial(self._append_to_history, records))
        for path in self.reports:
            if self._write(session, str(path), partial(_write_report, path, records)):
                self.lines.append(f"retrieval report: {path}")
        if records or self._config.getoption("retrieval_prune"):
            self.lines += self._handle_orphans(records)
        self.lines += self._list_insensitive_checks(records)

    def _append_to_history(self, records: Sequence[CheckRecord]) -> None:
        from pytest_retrieval_metrics.check_records import append_to_history

        append_to_history(records, self._settings.label)

    def _write(self, session: pytest.Session, label: str, write: Callable[[], None]) -> bool:
        """Call a function that writes, and return whether it succeeded; an error must not hide the results of tests."""
        try:
            write()
        except (OSError, ValueError) as error:
            self.lines.append(f"retrieval: {label} was not written: {error}")
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR
            return False
        return True

    def _handle_orphans(self, records: Sequence[CheckRecord]) -> Iterator[str]:
        """Yield lines on the baselines without a test, and delete these with `--retrieval-prune`."""
        from pytest_retrieval_metrics.baseline_update import forget_best

        prune = self._config.getoption("retrieval_prune")
        orphans = self._find_orphans(records)
        if not orphans:
            if prune:
                yield "no baseline is without a test"
            return
        if prune:
            yield "baselines without a test, deleted:"
        else:
            yield "baselines without a test (--retrieval-prune deletes):"
        for orphan in orphans:
            yield self._format_orphan(orphan, records)
            if prune:
                orphan.path.unlink()
                forget_best(orphan.path)

    def _find_orphans(self, records: Sequence[CheckRecord]) -> list[OrphanBaseline]:
        used = set()
        finished = set()
        for record in records:
            if record["baseline"]:
                used.add(record["baseline"])
                if record["test"] in self._finished_tests:
                    finished.add(FinishedTest(str(Path(record["baseline"]).parent), record["within"]))
        return list(find_orphans(self.tests, used, finished))

    def _format_orphan(self, orphan: OrphanBaseline, records: Sequence[CheckRecord]) -> str:
        root = self._config.rootpath
        line = f"  {format_path(orphan.path, root)}: {orphan.reason}"
        new_path = find_new_path(orphan, records)
        if new_path is None:
            return line
        return f"{line}; move it to {format_path(new_path, root)}, which has the same questions, or prune it"

    def _list_insensitive_checks(self, records: Sequence[CheckRecord]) -> Iterator[str]:
        """Yield the metrics of new baselines in which no drop can fail, now that all baselines are written."""
        stored = [record for record in records if record["units_at_risk"]]
        if not stored:
            return
        from pytest_retrieval_metrics.baseline_gates import UnitsAtRisk
        from pytest_retrieval_metrics.check_records import format_title
        from pytest_retrieval_metrics.gate_wording import too_few_note
        from retrieval_metrics.integration_api.pytest_support import min_significant_units

        settings = self._settings
        folders = {Path(record["baseline"]).parent.parent for record in stored if record["baseline"]}
        n_checks = count_project_baselines(
            self._config.rootpath, folders, settings.baselines, self._config.getini("norecursedirs")
        )
        alpha = settings.alpha / settings.builds / max(n_checks, 1)
        min_units = min_significant_units(1 - 2 * alpha)
        for record in stored:
            for metric, units in record["units_at_risk"].items():
                note = too_few_note(UnitsAtRisk(**units), min_units, alpha, metric)
                if note:
                    yield f"{format_title(record)}: {metric} will not be compared: {note}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of all checks, or a line if all passed, and what was written."""
        if self.records:
            self._print_records(terminalreporter)
        for line in self.lines:
            terminalreporter.write_line(line)

    def _print_records(self, terminalreporter: pytest.TerminalReporter) -> None:
        from pytest_retrieval_metrics.summary_wording import (
            format_passed,
            format_summary,
        )

        records = list(self.records.values())
        passed_lines = ""
        if terminalreporter.verbosity <= 0:
            passed_lines = format_passed(records)
        if passed_lines:
            terminalreporter.write_line(passed_lines)
        else:
            terminalreporter.section("retrieval quality")
            terminalreporter.write_line(format_summary(records, self._settings.show))


def _write_report(path: Path, records: Sequence[CheckRecord]) -> None:
    from pytest_retrieval_metrics.reports import write_report

    write_report(path, records)
