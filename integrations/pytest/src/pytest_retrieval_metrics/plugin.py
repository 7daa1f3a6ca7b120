"""The hooks and the fixture that pytest loads; numpy and the core are imported only when a check runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_retrieval_metrics.orphan_baselines import tests_by_folder
from pytest_retrieval_metrics.project_baselines import count_project_baselines
from pytest_retrieval_metrics.session import CheckSession
from pytest_retrieval_metrics.settings import Settings, add_options, report_paths

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_retrieval_metrics.check_records import CheckRecord
    from pytest_retrieval_metrics.checking import RetrievalCheck

    class WorkerNode(Protocol):
        """A worker of xdist, as the process that prints sees it; `workeroutput` appears when the worker has ended."""

        config: pytest.Config
        workerinput: dict[str, Any]


FIXTURE = "retrieval_check"

# The name of the plug-in that holds the checks of all tests.
SESSION_PLUGIN = "retrieval_metrics_session"

# What is passed through xdist: the tests that a worker collected, and the folder for whole evaluations.
TESTS_KEY = "retrieval_tests"
FOLDER_KEY = "retrieval_folder"

SETTINGS = pytest.StashKey[Settings]()
N_CHECKS = pytest.StashKey[int]()
RECORDS = pytest.StashKey[list["CheckRecord"]]()
CHECK = pytest.StashKey["RetrievalCheck"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and ini keys."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, so that a wrong one is reported before any test runs."""
    config.stash[SETTINGS] = Settings.from_config(config)
    if not hasattr(config, "workerinput"):  # a worker of xdist neither prints nor writes
        session = CheckSession(config, config.stash[SETTINGS], report_paths(config))
        config.pluginmanager.register(session, SESSION_PLUGIN)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the files passed between processes."""
    session = _find_session(config)
    if session is not None:
        session.clear()


def _find_session(config: pytest.Config) -> CheckSession | None:
    session: CheckSession | None = config.pluginmanager.get_plugin(SESSION_PLUGIN)
    return session


@pytest.hookimpl(tryfirst=True)  # before -k and -m deselect, so that selecting tests does not change the verdicts
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the checks that share the accepted rate of false alarms: those with a baseline."""
    # All baselines of the project are counted, so that a verdict depends neither on tests with only floors nor on the
    # selection of tests by name or by path.
    test_files = {item.path for item in items if FIXTURE in getattr(item, "fixturenames", ())}
    baselines = config.stash[SETTINGS].baselines
    if test_files:
        folders = {path.parent / baselines for path in test_files}
        config.stash[N_CHECKS] = count_project_baselines(
            config.rootpath, folders, baselines, config.getini("norecursedirs")
        )
    tests = tests_by_folder(config, items, baselines)
    session = _find_session(config)
    if hasattr(config, "workeroutput"):
        config.workeroutput[TESTS_KEY] = tests
    elif session is not None:
        session.tests = tests


@pytest.fixture
def retrieval_check(request: pytest.FixtureRequest) -> RetrievalCheck:
    """Check retrieval: `retrieval_check(qrels, run_or_retriever, at_least={"ndcg@10": 0.35}, baseline=True)`."""
    from pytest_retrieval_metrics.checking import RetrievalCheck

    config = request.config
    session = _find_session(config)
    if session is None:
        folder = getattr(config, "workerinput", {}).get(FOLDER_KEY)
    else:
        folder = session.folder
    check = RetrievalCheck(
        request.node,
        config.stash[SETTINGS],
        checks=config.stash.get(N_CHECKS, 1),
        records=request.node.stash.setdefault(RECORDS, []),
        folder=folder,
    )
    request.node.stash[CHECK] = check
    return check


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the checks of a phase to its report, which xdist passes to the process that prints.

    A test that took the fixture and passes without a check fails.
    """
    report = yield
    records = item.stash.get(RECORDS, [])
    check = item.stash.get(CHECK, None)
    if report.when == "call" and check is not None:
        del item.stash[CHECK]
        if report.passed:
            failure = check.record_unchecked(is_requested=_requests_fixture(item))
            if failure:
                report.outcome = "failed"
                report.longrepr = failure
    if records:
        report.retrieval_checks = list(records)  # type: ignore[attr-defined]  # pytest keeps what is set on a report
        records.clear()
    return report


def _requests_fixture(item: pytest.Item) -> bool:
    """Return whether a test requests the fixture itself or through other fixtures, apart from automatic ones."""
    info: Any = getattr(item, "_fixtureinfo", None)
    pending = list(getattr(info, "argnames", ()))
    for mark in item.iter_markers("usefixtures"):
        pending += mark.args
    visited: set[str] = set()
    while pending:
        name = pending.pop()
        if name == FIXTURE:
            return True
        if name in visited:
            continue
        visited.add(name)
        for fixture in info.name2fixturedefs.get(name, ()):
            pending += fixture.argnames
    return False


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerNode) -> None:
    """Tell a worker of xdist the folder for whole evaluations."""
    session = _find_session(node.config)
    if session is not None:
        node.workerinput[FOLDER_KEY] = session.folder


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerNode, error: object) -> None:
    """Add the tests that a worker of xdist collected; every worker collects all of them."""
    del error
    session = _find_session(node.config)
    if session is not None:
        session.tests |= getattr(node, "workeroutput", {}).get(TESTS_KEY, {})
