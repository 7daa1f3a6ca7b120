"""What pytest loads: hooks and the fixture; numpy and the core come when a check runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_retrieval_metrics.settings import Settings, add_options, report_path

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pytest_retrieval_metrics.checking import RetrievalCheck

FIXTURE = "retrieval_check"
SETTINGS = pytest.StashKey[Settings]()
CHECKS = pytest.StashKey[int]()
RECORDS = pytest.StashKey[list[dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and ini keys."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, so that a wrong one is said before any test runs."""
    config.stash[SETTINGS] = Settings.of(config)
    report = report_path(config)
    if not hasattr(config, "workerinput"):  # a worker of xdist neither prints nor writes
        config.pluginmanager.register(Gathered(report), "retrieval_metrics_gathered")


@pytest.hookimpl(tryfirst=True)  # before -k and -m deselect, so that choosing tests does not move the verdicts
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the checks that share the accepted rate of false alarms: those that have a baseline.

    They are known by their files, so that neither a test with floors alone nor the choice of tests moves a verdict.
    """
    tested = {item.path for item in items if FIXTURE in getattr(item, "fixturenames", ())}
    folder = config.stash[SETTINGS].baselines
    config.stash[CHECKS] = sum(len([*(path.parent / folder / path.stem).glob("*.json")]) for path in tested)


@pytest.fixture
def retrieval_check(request: pytest.FixtureRequest) -> RetrievalCheck:
    """Check retrieval: `retrieval_check(qrels, run_or_retriever, at_least={"ndcg@10": 0.35}, baseline=True)`."""
    from pytest_retrieval_metrics.checking import RetrievalCheck  # noqa: PLC0415  (numpy only where it is used)

    config = request.config
    records = request.node.stash.setdefault(RECORDS, [])
    return RetrievalCheck(request.node, config.stash[SETTINGS], checks=config.stash.get(CHECKS, 1), records=records)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hand the checks of a phase to its report, which xdist carries to the process that prints."""
    report = yield
    records = item.stash.get(RECORDS, [])
    if records:
        report.retrieval_checks = list(records)  # type: ignore[attr-defined]  # pytest keeps what is set on a report
        records.clear()
    return report


class Gathered:
    """The checks of all tests, for the terminal and the report.

    Attributes:
        report: Where the report goes, if anywhere.
        checks: What was checked, by test and name; of a test that ran again, the last.
    """

    def __init__(self, report: Path | None) -> None:
        self.report = report
        self.checks: dict[tuple[str, str], dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the checks of a phase."""
        for record in getattr(report, "retrieval_checks", ()):
            self.checks[record["test"], record["name"]] = record

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of all checks, and write the report."""
        if self.checks:
            from pytest_retrieval_metrics.reports import RATCHET, summary  # noqa: PLC0415  (only where a check ran)

            terminalreporter.section("retrieval quality")
            terminalreporter.write_line(summary(list(self.checks.values())))
            if replaced := [line for record in self.checks.values() for line in record["replaced"]]:
                terminalreporter.write_line("\n".join(["", "baselines replaced:", *replaced, "", RATCHET]))
        if self.report is not None:
            from pytest_retrieval_metrics.reports import write  # noqa: PLC0415  (as above)

            write(self.report, list(self.checks.values()))
            terminalreporter.write_line(f"retrieval report: {self.report}")
