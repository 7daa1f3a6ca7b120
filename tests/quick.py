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
# More files than this are no quick choice any more, so the header says how to narrow it.
LARGE = 60

# What needs a host, an environment of its own, or the site.
LEFT_OUT = ("tests/integrations", "tests/examples", "tests/documentation", "tests/distributions", "tests/peers")

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
            n_nearest = sum(distance <= 1 for distance in self.chosen.values())
            header += (
                f"; that is much: -x stops at the first failure, and the nearest run first; --depth=1 takes the "
                f"{n_nearest} of what imports a change directly, --changed=FILE a single file"
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
    distance_by_file: dict[Path, int] = {}
    for path in (ROOT / name for name in changed if name.endswith(".py")):
        if path.is_relative_to(CORE):
            for user, distance in _users(path, depth).items():
                for file in (user, _test_of(user)):
                    distance_by_file[file] = min(distance, distance_by_file.get(file, distance))
            module = _module(path)
            folder = _test_of(path).parent
            tests = [test for test in _files(ROOT / "tests") if module in _imported(test)]
            if folder != ROOT / "tests":
                tests += folder.rglob("test_*.py")
            distance_by_file |= dict.fromkeys([*tests, ROOT / "tests" / "test_architecture.py"], 0)
        elif path.is_relative_to(ROOT / "tests"):
            tests = [test for test in _files(ROOT / "tests") if path.stem in _helpers(test)]
            distance_by_file |= dict.fromkeys([path, *tests], 0)
    for file in list(distance_by_file):
        if not file.exists() or any(file.is_relative_to(ROOT / folder) for folder in LEFT_OUT):
            del distance_by_file[file]
    return distance_by_file


def _users(path: Path, depth: int | None) -> dict[Path, int]:
    """Return a module and all that import it, also through others, each with how many imports lie between."""
    distance_by_file = {path: 0}
    latest = [path]
    distance = 0
    while latest and (depth is None or distance < depth):
        distance += 1
        modules = {_module(file) for file in latest}
        latest = [user for user in _files(CORE) if user not in distance_by_file and modules & _imported(user)]
        distance_by_file |= dict.fromkeys(latest, distance)
    return distance_by_file


def _test_of(path: Path) -> Path:
    """Return where the test of a module stands: in the same folder of the tests, with the same name."""
    return ROOT / "tests" / path.relative_to(CORE).parent / f"test_{path.stem}.py"


@cache
def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "benchmarks" not in path.parts)


@cache
def _imported(path: Path) -> frozenset[str]:
    """Return every module that a file names in an import which runs; what is imported for types alone never does."""
    modules: set[str] = set()
    unvisited: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while unvisited:
        node = unvisited.pop()
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
            modules.update(f"{node.module}.{alias.name}" for alias in node.names)
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not is_for_types:
            unvisited += ast.iter_child_nodes(node)
    return frozenset(modules)


@cache
def _helpers(path: Path) -> frozenset[str]:
    """Return the modules beside the tests that a test imports, also through each other."""
    beside = {helper.stem: helper for helper in (ROOT / "tests").glob("*.py")}
    direct = _imported(path) & beside.keys() - {path.stem}
    return frozenset(direct.union(*(_helpers(beside[name]) for name in direct)))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(CORE.parent).with_suffix("").parts).removesuffix(".__init__")
