"""The module loaded by pytest: hooks and the fixture; numpy and the core are imported when a check runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_retrieval_metrics.gathering import CheckSession, count_project_baselines, tests_by_folder
from pytest_retrieval_metrics.settings import Settings, add_options, report_paths

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_retrieval_metrics.checking import RetrievalCheck

FIXTURE = "retrieval_check"
GATHERED = "retrieval_metrics_gathered"
TESTS, FOLDER = "retrieval_tests", "retrieval_folder"
"""The keys passed through xdist: the tests that a worker collected, and the folder for whole evaluations."""
SETTINGS = pytest.StashKey[Settings]()
CHECKS = pytest.StashKey[int]()
RECORDS = pytest.StashKey[list[dict[str, Any]]]()
CHECK = pytest.StashKey["RetrievalCheck"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options and ini keys."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the settings, so that a wrong one is reported before any test runs."""
    config.stash[SETTINGS] = Settings.of(config)
    if not hasattr(config, "workerinput"):  # a worker of xdist neither prints nor writes
        gathered = CheckSession(config, config.stash[SETTINGS], report_paths(config))
        config.pluginmanager.register(gathered, GATHERED)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the files passed between processes."""
    if gathered := config.pluginmanager.get_plugin(GATHERED):
        gathered.clear()


@pytest.hookimpl(tryfirst=True)  # before -k and -m deselect, so that selecting tests does not change the verdicts
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the checks that share the accepted rate of false alarms: those with a baseline."""
    # They are all that the project has, so that neither tests with only floors nor the selection of tests, by name or
    # by path, changes a verdict.
    tested = {item.path for item in items if FIXTURE in getattr(item, "fixturenames", ())}
    folder = config.stash[SETTINGS].baselines
    if tested:
        folders = {path.parent / folder for path in tested}
        config.stash[CHECKS] = count_project_baselines(config.rootpath, folders, folder, config.getini("norecursedirs"))
    tests = tests_by_folder(config, items, folder)
    if hasattr(config, "workeroutput"):
        config.workeroutput[TESTS] = tests
    elif gathered := config.pluginmanager.get_plugin(GATHERED):
        gathered.tests = tests


@pytest.fixture
def retrieval_check(request: pytest.FixtureRequest) -> RetrievalCheck:
    """Check retrieval: `retrieval_check(qrels, run_or_retriever, at_least={"ndcg@10": 0.35}, baseline=True)`."""
    from pytest_retrieval_metrics.checking import RetrievalCheck  # noqa: PLC0415  (numpy only where it is used)

    config = request.config
    gathered = config.pluginmanager.get_plugin(GATHERED)
    check = request.node.stash[CHECK] = RetrievalCheck(
        request.node,
        config.stash[SETTINGS],
        checks=config.stash.get(CHECKS, 1),
        records=request.node.stash.setdefault(RECORDS, []),
        folder=getattr(config, "workerinput", {}).get(FOLDER) if gathered is None else gathered.folder,
    )
    return check


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the checks of a phase to its report, which xdist passes to the process that prints.

    A test that took the fixture and passes without a check fails.
    """
    report = yield
    records, check = item.stash.get(RECORDS, []), item.stash.get(CHECK, None)
    if report.when == "call" and check is not None:
        del item.stash[CHECK]
        if report.passed and (failure := check.unchecked(asked=_asks(item))):
            report.outcome, report.longrepr = "failed", failure
    if records:
        report.retrieval_checks = list(records)  # type: ignore[attr-defined]  # pytest keeps what is set on a report
        records.clear()
    return report


def _asks(item: pytest.Item) -> bool:
    """Whether a test takes the fixture itself or through others, but not because one of them is used automatically."""
    info: Any = getattr(item, "_fixtureinfo", None)
    names = list(getattr(info, "argnames", ()))
    for mark in item.iter_markers("usefixtures"):
        names += mark.args
    for name in names:
        if name == FIXTURE:
            return True
        names += [one for each in info.name2fixturedefs.get(name, ()) for one in each.argnames if one not in names]
    return False


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist the folder for whole evaluations."""
    node.workerinput[FOLDER] = node.config.pluginmanager.get_plugin(GATHERED).folder


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    """Take the tests collected by a worker of xdist; every worker collects all."""
    del error
    node.config.pluginmanager.get_plugin(GATHERED).tests |= getattr(node, "workeroutput", {}).get(TESTS, {})
