# /// script
# requires-python = ">=3.11"
# dependencies = ["hypothesis>=6.100", "pytest>=9"]
# ///
"""Change the core in one place at a time and see whether a test notices: `uv run python tests/benchmarks/mutation.py`.

Every mutant is one changed expression in a copy of the repository: a comparison, `and` or `or`, an operator, a number,
a condition. The tests that belong to its file (as `pytest --quick` chooses them, doctests included) run on the copy.
Survivors are printed: either a test is missing, or the change changes nothing, which only a reader can decide. What
fails is run once more without the change, since a test that wants a program or a repository decides nothing.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from quick import CORE, ROOT, belonging

FOLDERS = (
    *("auditing", "comparing", "definition", "evaluation", "explaining", "files", "inputs", "judging", "keeping"),
    *("labelling", "metrics", "questions", "reranking", "results", "retrieving", "scoring", "statistics"),
)
SECONDS = 1200
"""A mutant whose tests take so long has been noticed: a loop no longer ends. (The slowest take a quarter of it.)"""

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


class Mutant(NamedTuple):
    """One change: the file, the expression as it stands, and what replaces it."""

    path: Path
    node: ast.expr
    changed: str

    def text(self) -> str:
        """Return the file with the change."""
        lines = self.path.read_bytes().splitlines(keepends=True)
        first, last = self.node.lineno - 1, (self.node.end_lineno or 1) - 1
        before, after = lines[first][: self.node.col_offset], lines[last][self.node.end_col_offset :]
        middle = f"({self.changed})".encode()
        return b"".join([*lines[:first], before, middle, after, *lines[last + 1 :]]).decode()

    def __str__(self) -> str:
        """Return where it is and what it changes."""
        place = self.path.relative_to(CORE).as_posix()
        return f"{place}:{self.node.lineno}  {ast.unparse(self.node)}  ->  {self.changed}"


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


def expressions(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield every expression that is computed: no annotation, no message, no type, nothing for the type checker."""
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list", "exc"}:
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.JoinedStr | ast.AnnAssign | ast.Assert):
                continue
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            if isinstance(node, ast.expr):
                yield node
            yield from expressions(node)


def mutants(folder: str) -> list[Mutant]:
    """Return every mutant of a folder."""
    return [
        Mutant(path, node, ast.unparse(changed))
        for path in sorted((CORE / folder).rglob("*.py"))
        for node in expressions(ast.parse(path.read_text()))
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


def failing(copy: Path, tests: Sequence[str], *options: str) -> set[str] | None:
    """Return which test fails first on the copy, if any does; None if the tests do not end."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore", *tests]
    command += ["--hypothesis-profile=quick", *options]
    command += ["-o", "python_functions=test_*"]  # a file that is named is read for tests, and some say `tested`
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    # What cannot even be collected fails without a name.
    named = set(re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, flags=re.MULTILINE))
    return named or ({"collection"} if done.returncode else set())


def noticed(mutant: Mutant, copy: Path) -> bool:
    """Return whether a test fails because of the change."""
    relative = mutant.path.relative_to(ROOT)
    tests = nearest_first(mutant.path)
    kept, changed = (copy / relative).read_text(), mutant.text()
    left_out: set[str] = set()
    while True:
        (copy / relative).write_text(changed)
        failed = failing(copy, tests, *(f"--deselect={name}" for name in left_out))
        (copy / relative).write_text(kept)
        if not failed:
            return failed is None
        if failed == {"collection"} or not failing(copy, sorted(failed)):
            return True
        left_out |= failed


def nearest_first(path: Path) -> list[str]:
    """Return the tests that belong to a file of the core: its own, then those of its folder, then the others."""
    tests = belonging([path.relative_to(ROOT).as_posix()]) - {ROOT / "tests" / "test_architecture.py"}
    folder = ROOT / "tests" / path.parent.relative_to(CORE)

    def distance(test: Path) -> tuple[bool, bool, Path]:
        return test not in {path, folder / f"test_{path.stem}.py"}, not test.is_relative_to(folder), test

    return [test.relative_to(ROOT).as_posix() for test in sorted(tests, key=distance)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=150, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: %(default)s)")
    parser.add_argument("--folder", action="append", choices=FOLDERS, help="only this one; may be repeated")
    given = parser.parse_args()
    found: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "tests", "examples", "docs", "integrations"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        for part in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / part, copy / part)
        for mutant in drawn(given.folder or FOLDERS, given.mutants, given.seed):
            outcome = "killed" if noticed(mutant, copy) else "survived"
            found[mutant.path.relative_to(CORE).parts[0]][outcome] += 1
            print(f"{outcome}: {mutant}", flush=True)
    for part, outcomes in sorted(found.items()):
        decided = outcomes["killed"] + outcomes["survived"]
        print(f"{part:<12} {outcomes['killed']:>4} of {decided:<4} killed")
    killed, survived = (sum(each[name] for each in found.values()) for name in ("killed", "survived"))
    print(f"{killed} of {killed + survived} killed ({killed / max(killed + survived, 1):.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
