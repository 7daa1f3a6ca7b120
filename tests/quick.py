"""`pytest --quick`: the tests that belong to the changed files, chosen by what imports what, and no host.

A changed module of the core has its doctests, the tests of its folder and the tests that import it; every module that
imports it when it runs, also through others, has its doctests and the test of its name. A changed test is run, and so
is a test whose helper changed. What is nearest to a change runs first. The tests of integrations, examples and pages
need hosts, so they are left to a run without `--quick`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "retrieval_metrics"
LARGE = 60
"""More files than this are no quick choice any more, so the header says how to narrow it."""

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

    def __init__(self, changed: Sequence[str], depth: int | None) -> None:
        self.changed = changed
        self.chosen = belonging(changed, depth)

    def pytest_report_header(self) -> str:
        unseen = [path for path in self.changed if not belonging([path], 0)]
        header = f"quick: {len(self.chosen)} files belong to {len(self.changed)} changed"
        if unseen:
            header += f"; nothing here belongs to {', '.join(unseen)}"
        if len(self.chosen) > LARGE:
            nearer = len([distance for distance in self.chosen.values() if distance <= 1])
            header += (
                f"; that is much: -x stops at the first failure, and the nearest run first; --depth=1 takes the "
                f"{nearer} of what imports a change directly, --changed=FILE a single file"
            )
        return header

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        if collection_path.is_dir():
            return None if any(path.is_relative_to(collection_path) for path in self.chosen) else True
        return None if collection_path in self.chosen or collection_path.name == "conftest.py" else True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.chosen.get(item.path, 0))

    def find_spec(self, name: str, _path: object, _target: object = None) -> None:
        """Skip what imports a host."""
        if name.partition(".")[0] in HOSTS:
            pytest.skip(f"--quick imports no host, and this imports {name}", allow_module_level=True)


def start(config: pytest.Config) -> None:
    """Let a session run what belongs to the changed files only."""
    plugin = Quick(config.getoption("changed") or changed_files(), config.getoption("depth"))
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


def belonging(changed: Iterable[str], depth: int | None = None) -> dict[Path, int]:
    """Return the files whose tests belong to changed files, each with how many imports lie between the two."""
    distances: dict[Path, int] = {}
    for path in (ROOT / name for name in changed if name.endswith(".py")):
        if path.is_relative_to(CORE):
            for user, distance in _users(path, depth).items():
                for changed_path in (user, _test_of(user)):
                    distances[changed_path] = min(distance, distances.get(changed_path, distance))
            module, beside = _module(path), _test_of(path).parent
            tests = [test for test in _files(ROOT / "tests") if module in _imported(test)]
            tests += beside.rglob("test_*.py") if beside != ROOT / "tests" else []
            distances |= dict.fromkeys([*tests, ROOT / "tests" / "test_architecture.py"], 0)
        elif path.is_relative_to(ROOT / "tests"):
            tests = [test for test in _files(ROOT / "tests") if path.stem in _helpers(test)]
            distances |= dict.fromkeys([path, *tests], 0)
    left_out = tuple(ROOT / folder for folder in LEFT_OUT)
    return {
        path: steps
        for path, steps in distances.items()
        if path.exists() and not any(map(path.is_relative_to, left_out))
    }


def _users(path: Path, depth: int | None) -> dict[Path, int]:
    """Return a module and all that import it, also through others, each with how many imports lie between."""
    distances, latest = {path: 0}, [path]
    while latest and (depth is None or distances[latest[0]] < depth):
        modules = {_module(latest_path) for latest_path in latest}
        distance = distances[latest[0]] + 1
        latest = [user for user in _files(CORE) if user not in distances and modules & _imported(user)]
        distances |= dict.fromkeys(latest, distance)
    return distances


def _test_of(path: Path) -> Path:
    """Return where the test of a module stands: in the same folder of the tests, with the same name."""
    return ROOT / "tests" / path.relative_to(CORE).parent / f"test_{path.stem}.py"


@cache
def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "benchmarks" not in path.parts)


@cache
def _imported(path: Path) -> frozenset[str]:
    """Return every module that a file names in an import which runs; what is imported for types alone never does."""
    modules = set()
    left: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        left += [] if for_types else ast.iter_child_nodes(node)
    return frozenset(modules)


@cache
def _helpers(path: Path) -> frozenset[str]:
    """Return the modules beside the tests that a test imports, also through each other."""
    beside = {helper.stem: helper for helper in (ROOT / "tests").glob("*.py")}
    direct = _imported(path) & beside.keys() - {path.stem}
    return frozenset(direct.union(*(_helpers(beside[name]) for name in direct)))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(CORE.parent).with_suffix("").parts).removesuffix(".__init__")
