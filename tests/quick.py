"""`pytest --quick`: the tests that belong to the changed files, within seconds and without any host.

A module of the core has its own doctests, those of the modules that import it, the folder of tests with its folder's
name, and the tests that import it. A changed test is run, and so is a test whose helper changed. The tests of
integrations, examples and pages need hosts, so they are left to a run without `--quick`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "retrieval_metrics"
SECONDS = 25
"""When no further test is begun: the command promises half a minute."""

LEFT_OUT = ("tests/integrations", "tests/examples", "tests/documentation", "tests/distributions", "tests/peers")
"""What needs a host, an environment of its own, or the site."""

HOSTS = {
    "datasets",
    "haystack",
    "ir_measures",
    "langchain_classic",
    "langchain_community",
    "langchain_core",
    "langsmith",
    "llama_index",
    "mlflow",
    "pydantic_evals",
    "ragas",
    "ray",
    "selenium",
}


class Quick:
    """The plugin behind `--quick`."""

    def __init__(self, changed: Sequence[str]) -> None:
        self.changed = changed
        self.chosen = belonging(changed)
        self.begun = time.monotonic()

    def pytest_report_header(self) -> str:
        left = sorted({path for path in self.changed if not belonging([path])})
        unseen = f"; nothing here belongs to {', '.join(left)}" if left else ""
        return f"quick: {len(self.chosen)} files belong to {len(self.changed)} changed{unseen}"

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if collection_path.is_dir():
            return None if any(path.is_relative_to(collection_path) for path in self.chosen) else True
        return None if collection_path in self.chosen or collection_path.name == "conftest.py" else True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        changed = {ROOT / path for path in self.changed}
        items.sort(key=lambda item: item.path not in changed)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if time.monotonic() - self.begun > SECONDS:
            pytest.skip(f"--quick begins no test after {SECONDS} seconds")

    def find_spec(self, name: str, _path: object, _target: object = None) -> None:
        """Skip what imports a host."""
        if name.partition(".")[0] in HOSTS:
            pytest.skip(f"--quick imports no host, and this imports {name}", allow_module_level=True)


def start(config: pytest.Config) -> None:
    """Let a session run what belongs to the changed files only."""
    plugin = Quick(config.getoption("changed") or changed_files())
    config.pluginmanager.register(plugin, "quick")
    sys.meta_path.insert(0, plugin)
    settings.load_profile("quick")


def changed_files() -> list[str]:
    """Return the files that differ from the main branch, committed or not, relative to the repository."""
    bases = (_git("merge-base", "HEAD", branch) for branch in ("origin/main", "main"))
    base = next((lines[0] for lines in bases if lines), "HEAD")
    return sorted({*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")})


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def belonging(changed: Iterable[str]) -> set[Path]:
    """Return the files whose tests belong to changed files, which are given relative to the repository."""
    chosen: set[Path] = set()
    for path in (ROOT / name for name in changed if name.endswith(".py")):
        if path.is_relative_to(CORE):
            module = _module(path)
            chosen |= {path, *(user for user in _files(CORE) if module in _imported(user))}
            folder = ROOT / "tests" / path.relative_to(CORE).parent
            if folder == ROOT / "tests":
                chosen.add(folder / f"test_{path.stem}.py")
            else:
                chosen |= set(folder.rglob("test_*.py"))
            chosen |= {test for test in _files(ROOT / "tests") if module in _imported(test)}
            chosen.add(ROOT / "tests" / "test_architecture.py")
        elif path.is_relative_to(ROOT / "tests"):
            chosen |= {path, *(test for test in _files(ROOT / "tests") if path.stem in _helpers(test))}
    left_out = tuple(ROOT / folder for folder in LEFT_OUT)
    return {path for path in chosen if path.exists() and not any(map(path.is_relative_to, left_out))}


@cache
def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "benchmarks" not in path.parts)


@cache
def _imported(path: Path) -> frozenset[str]:
    """Return every module that a file names in an import."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


@cache
def _helpers(path: Path) -> frozenset[str]:
    """Return the modules beside the tests that a test imports, also through each other."""
    beside = {helper.stem: helper for helper in (ROOT / "tests").glob("*.py")}
    direct = _imported(path) & beside.keys() - {path.stem}
    return frozenset(direct.union(*(_helpers(beside[name]) for name in direct)))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(CORE.parent).with_suffix("").parts).removesuffix(".__init__")
