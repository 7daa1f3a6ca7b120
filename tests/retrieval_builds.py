"""A project with a test of retrieval, built again and again: what the tests of the pytest plug-in share."""

from pathlib import Path

import numpy as np  # noqa: F401  (see below)
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401  (see below)

import retrieval_metrics as rm
import retrieval_metrics.evaluation.explanation
import retrieval_metrics.retrieval.retrieve
from pytest_retrieval_metrics import checking, reports, session  # noqa: F401  (see below)
from pytest_retrieval_metrics.settings import Settings

# pytester forgets after each run what the run imported, and numpy cannot be imported twice in a process: so everything
# that a run imports late is imported above.

SUITE = """
    import asyncio, os
    import pytest

    QRELS = {f"q{i}": {"d": 3, "e": 1} for i in range(40)}
    LOST = int(os.environ.get("LOST", "0"))

    def found(query):
        return ["d", "e", "x"] if int(query[1:]) >= LOST else ["x", "y", "e"]

    def test_words(retrieval_check):
        retrieval_check(QRELS, found, at_least={"ndcg@10": 0.35, "mrr": None}, baseline=True)
"""
SETTINGS = Settings(
    "mean", 0.95, 0.05, 1, 0, "pass", "fail", 5, "retrieval_baselines", "", "", update=False, accept_worse=()
)
WORDS = Path("retrieval_baselines", "test_search", "test_words.json")


class Builds:
    """A project with a test of retrieval."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.monkeypatch = monkeypatch
        self.path = pytester.path
        for name in ("GITHUB_SHA", "CI_COMMIT_SHA"):
            monkeypatch.delenv(name, raising=False)
        self.write(SUITE)
        self.ini()

    def write(self, text: str) -> None:
        self.text = text
        self.pytester.makepyfile(test_search=text)

    def ini(self, **keys: str) -> None:
        lines = "\n".join(f"retrieval_{name} = {value}" for name, value in keys.items())
        self.pytester.makeini(
            f"[pytest]\nasyncio_default_fixture_loop_scope = function\nfilterwarnings = default\n{lines}\n"
        )

    def run(self, *options: str, lost: int = 0) -> pytest.RunResult:
        """Build once, with a retriever that loses what is best for the first `lost` queries."""
        self._begin("pytest_asyncio.plugin", lost)
        return self.pytester.runpytest_inprocess(*options)

    def run_alone(self, plugins: str, *options: str, lost: int = 0) -> pytest.RunResult:
        """Build once in a process of its own, beside other plug-ins."""
        self._begin(plugins, lost)
        return self.pytester.runpytest_subprocess(*options)

    def _begin(self, plugins: str, lost: int) -> None:
        """Let the next build load no plug-ins but these and ours: to look for all takes as long as the build."""
        self.monkeypatch.setenv("LOST", str(lost))
        self.monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        self.monkeypatch.setenv("PYTEST_PLUGINS", f"{plugins},pytest_retrieval_metrics.plugin")

    def write_baseline(self) -> None:
        self.run("--retrieval-update").assert_outcomes(passed=1)

    def load_baseline(self) -> rm.Evaluation:
        """Return what the baseline holds."""
        baseline = rm.load(self.path / WORDS)
        assert isinstance(baseline, rm.Evaluation)
        return baseline


def count_warnings(result: pytest.RunResult) -> int:
    """Return how often the plug-in or the core warned.

    pytest counts every warning of the process: also those of objects that an earlier test left to the collector.
    """
    return sum("RetrievalWarning:" in line for line in result.outlines)


def read_section(result: pytest.RunResult) -> list[str]:
    """Return the lines of the plug-in's block, with its title."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if " retrieval quality " in line)
    rest = lines[start + 1 :]
    return [lines[start], *rest[: next(index for index, line in enumerate(rest) if line.startswith("==="))]]


def read_failure(result: pytest.RunResult) -> list[str]:
    """Return the lines of the only failure."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if line.startswith("____"))
    rest = lines[start + 1 :]
    return rest[: next(index for index, line in enumerate(rest) if line.startswith("==="))]
