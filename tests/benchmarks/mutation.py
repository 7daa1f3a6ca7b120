# /// script
# requires-python = ">=3.11"
# dependencies = ["hypothesis>=6.100", "pytest>=9"]
# ///
"""Change the core in one place at a time and see whether a test notices: `uv run python tests/benchmarks/mutation.py`.

A mutant is one changed expression: a comparison, `and` or `or`, an operator, a number, a condition. All of them stand
in one copy of the package, each behind a switch, and an environment variable turns one on. So the tests of the core
run once without any, which shows which test reaches which mutant, how long it takes, and what fails anyway. Then
each mutant meets the tests that reach it, those of its own folder and the fastest first, and the first that fails has
noticed it. What none notices also meets the tests that belong to its file, with every example that hypothesis draws.

Survivors are printed: either a test is missing, or the change changes nothing, which only a reader can decide. With
`--work FOLDER`, which keeps the copy, a run that was broken off goes on, and a new test can be tried on a survivor:
`MUTANT=17 PYTHONPATH=FOLDER/src pytest -n 0 tests/...`.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from quick import CORE, LEFT_OUT, ROOT, belonging

FOLDERS = (
    *("comparison", "datasets", "evaluation", "files", "inputs", "matching", "metrics"),
    *("retrieval", "statistics", "storage"),
)
FIRST = 5.0
"""Seconds of the fastest tests of its own folder that a mutant meets at first: few files, and most end there."""
MAX_SECONDS = 60.0
"""Seconds of tests that a mutant meets in all, and as many again of those of its own folder with all their examples."""

OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}

SWITCH = '''
"""Which mutant is on, and which test reaches which mutant; also the plugin that chooses and times the tests."""

import json
import os

ACTIVE = int(os.environ.get("MUTANT", "-1"))
REACHED = os.environ.get("MUTANTS_REACHED")
CHOSEN = os.environ.get("MUTANTS_TESTS")
seen = set()


def on(number):
    if REACHED:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        if (number, test) not in seen:
            seen.add((number, test))
            with open(REACHED, "a") as file:
                print(json.dumps({"mutant": number, "test": test}), file=file)
    return number == ACTIVE


def pytest_collection_modifyitems(items):
    if CHOSEN:
        with open(CHOSEN) as file:
            place = {name: at for at, name in enumerate(json.load(file))}
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


def pytest_runtest_logreport(report):
    if REACHED and (report.when == "call" or report.failed):
        with open(REACHED, "a") as file:
            print(json.dumps({"ran": report.nodeid, "seconds": report.duration, "failed": report.failed}), file=file)
'''


class Mutant(NamedTuple):
    """One change: the file, the place of the expression among those of its file, and what replaces it."""

    path: Path
    place: int
    expression: ast.expr
    changed: ast.expr
    at_import: bool

    def __str__(self) -> str:
        """Return where it is and what it changes."""
        file = self.path.relative_to(CORE).as_posix()
        return f"{file}:{self.expression.lineno}  {ast.unparse(self.expression)}  ->  {ast.unparse(self.changed)}"


def changes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what a mutant puts in place of an expression."""
    new = deepcopy(node)
    match new:
        case ast.Compare(ops=[operator]) if type(operator) in OPPOSITE:
            new.ops = [OPPOSITE[type(operator)]()]  # type: ignore[list-item]
            yield new
        case ast.BoolOp() | ast.BinOp() if type(new.op) in OPPOSITE:
            new.op = OPPOSITE[type(new.op)]()  # type: ignore[assignment]
            yield new
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.IfExp(test=test, body=body, orelse=other):
            yield ast.IfExp(test, other, body)


def expressions(tree: ast.AST, *, at_import: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """Yield every expression that is computed, and whether an import computes it.

    An annotation is not computed, nor is a message, a type, a pattern, or what only a type checker reads.
    """
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list", "exc", "pattern"}:
            continue
        inside = isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and name == "body"
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.Assert):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            if isinstance(node, ast.expr):
                yield node, at_import and not inside
            yield from expressions(node, at_import=at_import and not inside)


def mutants(folder: str) -> list[Mutant]:
    """Return every mutant of a folder."""
    return [
        Mutant(path, place, node, changed, at_import)
        for path in sorted((CORE / folder).rglob("*.py"))
        for place, (node, at_import) in enumerate(expressions(ast.parse(path.read_text())))
        for changed in changes(node)
    ]


def drawn(folders: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw mutants, as many of each folder as of any other while it has them."""
    rng = random.Random(seed)
    of_folder = {folder: rng.sample(every := mutants(folder), len(every)) for folder in folders}
    chosen: list[Mutant] = []
    while len(chosen) < number and any(of_folder.values()):
        chosen += [every.pop() for every in of_folder.values() if every]
    return chosen[:number]


class Switched(ast.NodeTransformer):
    """Puts mutants behind their switches."""

    def __init__(self, switches: dict[ast.expr, tuple[int, ast.expr]]) -> None:
        self.switches = switches

    def visit(self, node: ast.AST) -> ast.AST:
        visited = self.generic_visit(node)
        if not isinstance(node, ast.expr) or not isinstance(visited, ast.expr) or node not in self.switches:
            return visited
        number, changed = self.switches[node]
        turned_on = ast.parse(f"__import__('mutant_switch').on({number})", mode="eval").body
        return ast.IfExp(turned_on, changed, visited)


def write_copy(copy: Path, chosen: Sequence[Mutant]) -> None:
    """Write the repository with every mutant behind its switch."""
    for part in ("src", "tests", "examples", "docs", "integrations"):
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for part in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / part, copy / part)
    (copy / "src" / "mutant_switch.py").write_text(SWITCH)
    for path in {mutant.path for mutant in chosen}:
        tree = ast.parse(path.read_text())
        nodes = [node for node, _ in expressions(tree)]
        switches = {
            nodes[mutant.place]: (number, mutant.changed) for number, mutant in enumerate(chosen) if mutant.path == path
        }
        new = ast.fix_missing_locations(Switched(switches).visit(tree))
        (copy / path.relative_to(ROOT)).write_text(ast.unparse(new))


class Work:
    """A folder with the copy and its mutants, what its tests reach, and the outcomes so far."""

    def __init__(self, folder: Path, folders: Sequence[str], number: int, seed: int) -> None:
        self.folder = folder
        self.outcomes = folder / "outcomes.jsonl"
        saved = folder / "mutants.json"
        if not saved.exists():  # else they stay, whatever has become of the repository
            chosen = drawn(folders, number, seed)
            write_copy(folder, chosen)
            saved.write_text(
                json.dumps(
                    [(mutant.path.relative_to(ROOT).as_posix(), str(mutant), mutant.at_import) for mutant in chosen]
                )
            )
        self.mutants: list[tuple[str, str, bool]] = json.loads(saved.read_text())
        reached = folder / "reached.jsonl"
        if not reached.exists():
            begun = folder / "reaching.jsonl"
            begun.unlink(missing_ok=True)
            left_out = [f"--ignore={path}" for path in (*LEFT_OUT, "tests/test_architecture.py")]
            self.pytest("tests", "src", *left_out, "--hypothesis-profile=quick", MUTANTS_REACHED=str(begun))
            begun.rename(reached)
        lines = [json.loads(line) for line in reached.read_text().splitlines()]
        failed = {line["ran"] for line in lines if line.get("failed")}
        self.seconds = {line["ran"]: line["seconds"] for line in lines if "ran" in line and line["ran"] not in failed}
        self.reaching: dict[int, set[str]] = defaultdict(set)
        for line in lines:
            if line.get("test") in self.seconds:
                self.reaching[line["mutant"]].add(line["test"])
        print(f"{len(self.seconds)} tests in {sum(self.seconds.values()):.0f} s; {len(failed)} fail anyway", flush=True)

    def pytest(
        self, *arguments: str, seconds: float | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run pytest on the copy."""
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "mutant_switch"]
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src"), **variables}
        return subprocess.run(
            [*command, "-W", "ignore", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def tests(self, number: int) -> tuple[list[str], list[str]]:
        """Return the tests that reach a mutant, and those of its own folder: the fastest, and not for too long."""
        path, _, at_import = self.mutants[number]
        near = {test_file.relative_to(ROOT).as_posix() for test_file in belonging([path])}
        belong = {test for test in self.seconds if test.partition("::")[0] in near}
        reach = self.reaching[number] | (belong if at_import else set())
        own = f"tests/{Path(path).relative_to(CORE.relative_to(ROOT)).parts[0]}/"
        return self.until(reach, MAX_SECONDS), self.until(
            {test for test in belong if test.startswith((own, path))}, MAX_SECONDS
        )

    def until(self, tests: Iterable[str], seconds: float) -> list[str]:
        """Return the fastest tests that take so many seconds together."""
        fastest = sorted(tests, key=lambda test: self.seconds[test])
        ends = accumulate(self.seconds[test] for test in fastest)
        return [test for test, end in zip(fastest, ends, strict=True) if end <= seconds]

    def failing(self, number: int, tests: Sequence[str], *options: str) -> str | None:
        """Return the test that notices a mutant, if any does."""
        if not tests:
            return None
        chosen = self.folder / "chosen.json"
        chosen.write_text(json.dumps(tests))
        # Doctests alone would not load what names the profiles of hypothesis.
        files = ["tests/conftest.py", *dict.fromkeys(test.partition("::")[0] for test in tests)]
        allowed = 120 + 10 * sum(self.seconds[test] for test in tests)
        variables = {"MUTANT": str(number), "MUTANTS_TESTS": str(chosen)}
        try:
            done = self.pytest("-x", *files, *options, seconds=allowed, **variables)
        except subprocess.TimeoutExpired:
            return "no end"
        if done.returncode in {0, 5}:
            return None
        named = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, flags=re.MULTILINE)
        return named[0] if named else f"pytest ends with {done.returncode}"

    def noticed(self, number: int) -> str | None:
        """Return which test notices a mutant, if any does."""
        reach, own = self.tests(number)
        first = self.until([test for test in own if test in reach] or reach, FIRST)
        other_tests = [test for test in reach if test not in first]
        for tests, profile in ((first, "quick"), (other_tests, "quick"), (own, "suite")):
            left = list(tests)
            while failed := self.failing(number, left, f"--hypothesis-profile={profile}"):
                if self.failing(-1, [failed] if failed in left else left, f"--hypothesis-profile={profile}") != failed:
                    return failed
                if failed not in left:
                    raise RuntimeError(f"of these tests {failed}, without any mutant: {left}")
                left.remove(failed)  # it fails without the mutant too
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=150, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: %(default)s)")
    parser.add_argument("--folder", action="append", choices=FOLDERS, help="only this one; may be repeated")
    parser.add_argument("--work", type=Path, help="where the copy and the outcomes are kept, to go on later")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.work or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        work = Work(folder, arguments.folder or FOLDERS, arguments.mutants, arguments.seed)
        outcomes = work.outcomes.read_text().splitlines() if work.outcomes.exists() else []
        for number, (_, mutant, _) in list(enumerate(work.mutants))[len(outcomes) :]:
            began = time.monotonic()
            by = work.noticed(number)
            outcome = {"outcome": "killed" if by else "survived", "number": number, "mutant": mutant, "by": by}
            outcomes.append(json.dumps({**outcome, "seconds": round(time.monotonic() - began, 1)}))
            with work.outcomes.open("a") as file:
                print(outcomes[-1], file=file)
            print(f"{outcome['outcome']}: {number} {mutant}", flush=True)
    return report([json.loads(line) for line in outcomes])


def report(outcomes: Sequence[dict[str, str]]) -> int:
    """Print the survivors and the rate by folder."""
    outcomes_by_module: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        outcomes_by_module[outcome["mutant"].partition("/")[0]][outcome["outcome"]] += 1
    for part, counts in sorted(outcomes_by_module.items()):
        print(f"{part:<12} {counts['killed']:>4} of {counts.total():<4} killed")
    killed = sum(counts["killed"] for counts in outcomes_by_module.values())
    every = len(outcomes)
    print(f"{killed} of {every} killed ({killed / max(every, 1):.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
