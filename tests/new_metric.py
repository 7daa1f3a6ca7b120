"""Start a metric from the one that is nearest to it: `python tests/new_metric.py NAME --like NEAREST`.

Every place that a metric needs is filled with a copy: its file, its line in the package, its reference, its page, its
row in the table and its entry in the API pages. The copy works, so the tests pass as long as you change the formula in
both its file and its reference; only `test_no_two_metrics_say_the_same` fails until what it says is your own.
"""

import argparse
import ast
import re
import sys
from pathlib import Path

from retrieval_metrics.metrics.base.definition import Definition
from retrieval_metrics.metrics.base.registry import DEFINITIONS, NAME_BY_ALIAS

ROOT = Path(__file__).parent.parent


def new_metric(name: str, like: str, root: Path = ROOT) -> list[Path]:
    """Write a copy of a metric under a new name, and return the files that were written.

    Raises:
        ValueError: If the name is not one word in lower case or is taken, or there is no metric to start from.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in NAME_BY_ALIAS:
        raise ValueError(f"the name must be new, in lower case, of letters, digits and underscores; got {name!r}")
    like = NAME_BY_ALIAS.get(like, like)
    if like not in DEFINITIONS or DEFINITIONS[like].needs_places:
        metrics = ", ".join(metric for metric, definition in DEFINITIONS.items() if not definition.needs_places)
        raise ValueError(f"--like must be one of {metrics}; got {like!r}")
    definition = DEFINITIONS[like]
    module = definition.score.__module__.rpartition(".")[2]
    return [
        _file(name, definition, module, root / "src" / "retrieval_metrics" / "metrics"),
        _package(name, module, root / "src" / "retrieval_metrics" / "metrics" / "__init__.py"),
        _reference(name, like, root / "tests" / "reference.py"),
        _page(name, definition, root / "docs" / "reference" / "metrics"),
        _table(name, like, root / "docs" / "reference" / "metrics.md"),
        _interface(name, module, root / "docs" / "api"),
    ]


def _file(name: str, definition: Definition, module: str, folder: Path) -> Path:
    text = (folder / f"{module}.py").read_text()
    text = re.sub(rf"\b{module}(?=\()", name, text)  # the function of one ranking and its examples
    text = text.replace(f'name="{definition.name}"', f'name="{name}"')
    text = re.sub(r"^    aliases=\(.*\),\n", "", text, flags=re.MULTILINE)
    return _written(folder / f"{name}.py", text)


def _package(name: str, module: str, path: Path) -> Path:
    text = path.read_text()
    lines = [line for line in text.splitlines(keepends=True) if line.startswith("from retrieval_metrics.metrics.")]
    added = [re.sub(rf"\b{module}\b", name, line) for line in lines if f".{module} " in line]
    added = [re.sub(r" as [A-Z0-9_]+", f" as {name.upper()}", line) for line in added]
    text = text.replace("".join(lines), "".join(sorted({*lines, *added})))
    text = text.replace(f"    {module.upper()},\n", f"    {module.upper()},\n    {name.upper()},\n")
    if f'    "{module}",\n' in text:
        listed = re.findall(r'^    "\w+",\n', text, flags=re.MULTILINE)
        text = text.replace("".join(listed), "".join(sorted([*listed, f'    "{name}",\n'])))
    return _written(path, text)


def _reference(name: str, like: str, path: Path) -> Path:
    text = path.read_text()
    entry = re.search(rf'^    "{like}": (\w+),\n', text, flags=re.MULTILINE)
    assert entry is not None
    (function,) = [node for node in ast.parse(text).body if getattr(node, "name", None) == entry[1]]
    source = ast.get_source_segment(text, function) or ""
    copy = source.replace(f"def {entry[1]}(", f"def {name}(", 1)
    text = text.replace(entry[0], f'{entry[0]}    "{name}": {name},\n')
    return _written(path, text.replace(source, f"{source}\n\n\n{copy}"))


def _page(name: str, definition: Definition, folder: Path) -> Path:
    title = name.replace("_", " ").capitalize()
    summary = definition.plain_summary.format(first="the first k")
    return _written(folder / f"{name}.md", f"# {title}\n\n{summary.capitalize()}.\n\n```{{metric}} {name}\n```\n")


def _table(name: str, like: str, path: Path) -> Path:
    text = path.read_text()
    for line in (rf"^\| \[`{like}[@`].*\n", rf"^metrics/{like}\n"):
        (row,) = re.findall(line, text, flags=re.MULTILINE)
        text = text.replace(row, row + re.sub(rf"([`/]){like}\b", rf"\1{name}", row))
    return _written(path, text)


def _interface(name: str, module: str, folder: Path) -> Path:
    path = folder / "one-ranking.md"
    text = path.read_text()
    # Not every metric can be computed from the grades of one ranking.
    if any(f".{module}\n" in page.read_text() for page in folder.glob("*.md")):
        last = re.findall(r"^\.\. autofunction:: retrieval_metrics\.metrics\.\w+\n", text, flags=re.MULTILINE)[-1]
        text = text.replace(last, f"{last}\n.. autofunction:: retrieval_metrics.metrics.{name}\n")
    return _written(path, text)


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Start a metric from the one that is nearest to it.")
    parser.add_argument("name")
    parser.add_argument("--like", required=True, metavar="NEAREST", help="the metric to copy")
    arguments = parser.parse_args()
    try:
        written = new_metric(arguments.name, arguments.like)
    except ValueError as error:
        parser.error(str(error))
    for path in written:
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
