"""List the folders of the core from the ground up, each with the first line of its docstring.

The order is that of the test which keeps it. A page that says ```` ```{house} ```` gets the list.
"""

import ast
import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent.parent
CORE = ROOT / "src" / "retrieval_metrics"
BLOCK = re.compile(r"^```\{house\}\n```$", re.MULTILINE)


PARTS = {
    "NUMBERS": "Numbers: from judgments and rankings to conclusions",
    "ON_TOP": "On top of the numbers: agents' searches, and tools for making judgments",
    "ENTRANCES": "Interfaces to both parts",
}
"""The parts of the house, from the ground up, by their name in the test of the architecture."""


def floors() -> dict[str, list[list[str]]]:
    """Return the folders and modules that the test of the architecture puts on each floor, by part of the house."""
    tree = ast.parse((ROOT / "tests" / "test_architecture.py").read_text(encoding="utf-8"))
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {title: ast.literal_eval(named[part]) for part, title in PARTS.items()}


def description_of(name: str) -> str:
    """Return the first line of the docstring of a folder or a module."""
    path = CORE / name / "__init__.py"
    text = (path if path.exists() else CORE / f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def house() -> str:
    """Return the list, as a table of Markdown for each part of the house."""
    lines = []
    for title, of_part in floors().items():
        rows = [f"| `{name}` | {description_of(name)} |" for floor in of_part for name in floor]
        lines += [f"**{title}**", "", "| folder or module | contents |", "| --- | --- |", *rows, ""]
    return "\n".join(lines)


def _expand(_app: Sphinx, _name: str, source: list[str]) -> None:
    source[0] = BLOCK.sub(lambda _: house(), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Change what a page says before it is parsed."""
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
