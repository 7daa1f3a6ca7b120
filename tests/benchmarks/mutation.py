# /// script
# requires-python = ">=3.11"
# dependencies = ["hypothesis>=6.100", "pytest>=9"]
# ///
"""Change the core in one place at a time and see whether a test notices: `uv run python tests/benchmarks/mutation.py`.

Every mutant is one changed expression in a copy of the repository: a comparison, `and` or `or`, an operator, a number,
a condition. The tests that belong to its file (as `pytest --quick` chooses them, doctests included) run on the copy.
Survivors are printed: either a test is missing, or the change changes nothing, which only a reader can decide.
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
SLOWER = 10
"""A mutant that takes so many times as long as the unchanged tests has been noticed."""

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


class Ran(NamedTuple):
    """What the tests of a file said: whether one failed, which did, and how long they took."""

    noticed: bool
    failed: tuple[str, ...] = ()
    seconds: float = 0.0


def run(copy: Path, tests: Sequence[str], *options: str, seconds: float | None = None) -> Ran:
    """Run tests on the copy; taking too long is a failure."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore", *tests]
    command += ["--hypothesis-profile=quick", *options]
    command += ["-o", "python_functions=test_*"]  # a file that is named is read for tests, and some say `tested`
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    before = os.times().elapsed
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Ran(noticed=True)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
    return Ran(done.returncode != 0, tuple(failed), os.times().elapsed - before)


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
        usual: dict[Path, Ran] = {}
        for mutant in drawn(given.folder or FOLDERS, given.mutants, given.seed):
            relative = mutant.path.relative_to(ROOT)
            tests = [path.relative_to(ROOT).as_posix() for path in belonging([relative.as_posix()])]
            tests = sorted(set(tests) - {"tests/test_architecture.py"})
            if mutant.path not in usual:
                usual[mutant.path] = run(copy, tests)
            # What fails without a change, for want of a program or a repository, decides nothing.
            left_out = [f"--deselect={name}" for name in usual[mutant.path].failed]
            (copy / relative).write_text(mutant.text())
            noticed = run(copy, tests, "-x", *left_out, seconds=SLOWER * usual[mutant.path].seconds).noticed
            (copy / relative).write_text(mutant.path.read_text())
            found[mutant.path.relative_to(CORE).parts[0]]["killed" if noticed else "survived"] += 1
            if not noticed:
                print(f"survived: {mutant}", flush=True)
    for part, outcomes in sorted(found.items()):
        decided = outcomes["killed"] + outcomes["survived"]
        print(f"{part:<12} {outcomes['killed']:>4} of {decided:<4} killed")
    killed, survived = (sum(each[name] for each in found.values()) for name in ("killed", "survived"))
    print(f"{killed} of {killed + survived} killed ({killed / max(killed + survived, 1):.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
