"""The notebook of the tutorial: the cells are those of its pages, with what they show when they run in order.

`uv run --all-extras tests/examples/test_tutorial.py` writes the notebook from the pages and runs it.
"""

import itertools
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
GATE = "5-gate.md"
"""The page that a notebook does not have: a test runs elsewhere."""
PAGES = [page for page in sorted((ROOT / "docs" / "tutorial").glob("[0-9]*.md")) if page.name != GATE]
NOTEBOOK = ROOT / "examples" / "tutorial.ipynb"
NEXT = re.compile(r"^Next: .*$", re.MULTILINE)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\((\w+)\)\n\Z", re.MULTILINE)


def cells() -> Iterator[dict[str, Any]]:
    """Yield the cells of the notebook: the texts and the code of the page, without what the code prints."""
    text = "\n\n".join(NEXT.sub("", page.read_text(encoding="utf-8")).strip() for page in PAGES)
    parts = FENCE.split(text + "\n")
    for text, language, code in zip(parts[::3], [*parts[1::3], ""], [*parts[2::3], ""], strict=True):
        if words := local(text.strip()):
            yield {"cell_type": "markdown", "metadata": {}, "source": lines(words)}
        if language == "python":
            shown = PRINTED.sub(r"\1\n", code)  # a notebook shows more of a result than print does
            yield {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": lines(shown.rstrip()),
            }


def local(text: str) -> str:
    """Return a text without links to other pages, which are not beside the notebook; the words stay."""
    return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook() -> str:
    """Return the notebook before it runs."""
    notebook_cells = {
        "cells": [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells(), start=1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook_cells, indent=1, ensure_ascii=False) + "\n"


def run_in_kernel(folder: Path) -> str:
    """Run the notebook in a kernel, beside the handbook in an empty folder, and return it with its outputs."""
    shutil.copytree(NOTEBOOK.parent / "handbook", folder / "handbook")
    copy = folder / NOTEBOOK.name
    copy.write_text(notebook(), encoding="utf-8")
    # Editable, because uv otherwise takes the package that it built earlier, as long as pyproject.toml is the same.
    command = ["uv", "run", "--quiet", "--no-project", "--with-editable", str(ROOT), "--with", "scikit-learn"]
    command += ["--with", "nbclient", "--with", "ipykernel", "jupyter-execute", "--inplace", copy.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    return without_progress(copy.read_text(encoding="utf-8"))


def without_progress(executed: str) -> str:
    """Return a notebook without what differs from run to run: progress bars, times and the version of Python."""
    contents = json.loads(executed)
    contents["metadata"] = json.loads(notebook())["metadata"]
    for cell in contents["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"] = [output for output in cell["outputs"] if output.get("name") != "stderr"]
    return json.dumps(contents, indent=1, ensure_ascii=False) + "\n"


def code_cells(stored: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(stored)["cells"] if cell["cell_type"] == "code"]


def shown_text(cell: dict[str, Any]) -> str:
    """Return what a cell printed, then the plain text of its result."""
    printed = "".join("".join(output.get("text", "")) for output in cell["outputs"])
    results = "".join("".join(output.get("data", {}).get("text/plain", "")) for output in cell["outputs"])
    return printed + results


def test_the_notebook_has_the_cells_of_the_tutorial() -> None:
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 9
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for cell in code:
        cell.update(execution_count=None, outputs=[])
    assert stored == json.loads(notebook())


def test_the_notebook_shows_what_the_tutorial_prints() -> None:
    shown = "".join(shown_text(cell) for cell in code_cells(NOTEBOOK.read_text(encoding="utf-8")))
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    blocks = FENCE.findall(text)
    outputs = [
        block
        for (_, code), (language, block) in itertools.pairwise(blocks)
        if language == "text" and not PRINTED.search(code)  # which the notebook shows as a table
    ]
    assert len(outputs) >= 6
    missing = [line for block in outputs for line in block.splitlines() if line.strip() and line not in shown]
    assert missing == []


@pytest.mark.examples
def test_the_notebook_runs_in_a_kernel(tmp_path: Path) -> None:
    run = run_in_kernel(tmp_path)
    stored = NOTEBOOK.read_text(encoding="utf-8")
    for cell, stored_cell in zip(code_cells(run), code_cells(stored), strict=True):
        assert shown_text(cell) == shown_text(stored_cell)
    assert "text/html" in run  # a comparison is a table there
    assert (tmp_path / "with-titles.json").exists()
    assert (tmp_path / "decision.html").exists()
    assert (tmp_path / "history.jsonl").exists()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        NOTEBOOK.write_text(run_in_kernel(Path(folder)), encoding="utf-8")
