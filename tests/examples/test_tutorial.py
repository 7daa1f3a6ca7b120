"""The notebook of the tutorial: the cells are those of its pages, without outputs, and run from top to bottom.

`uv run --all-extras tests/examples/test_tutorial.py` writes the notebook from the pages.
"""

import json
import re
import shutil
import subprocess
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
    """Return the notebook, as it is stored."""
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


def test_the_notebook_is_the_tutorial_without_outputs() -> None:
    stored = NOTEBOOK.read_text(encoding="utf-8")
    assert stored == notebook()
    code = [cell for cell in json.loads(stored)["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 9
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)


@pytest.mark.examples
def test_the_notebook_runs_in_a_kernel(tmp_path: Path) -> None:
    shutil.copytree(NOTEBOOK.parent / "handbook", tmp_path / "handbook")
    shutil.copy(NOTEBOOK, tmp_path)
    command = ["uv", "run", "--quiet", "--no-project", "--with", str(ROOT), "--with", "scikit-learn"]
    command += ["--with", "nbclient", "--with", "ipykernel", "jupyter-execute", "--inplace", NOTEBOOK.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    run = json.loads((tmp_path / NOTEBOOK.name).read_text(encoding="utf-8"))
    code = [cell for cell in run["cells"] if cell["cell_type"] == "code"]
    shown = "".join(json.dumps(cell["outputs"]) for cell in code)
    assert "text/html" in shown  # a comparison is a table there
    assert "with titles is better than words in paragraphs" in shown
    assert (tmp_path / "with-titles.json").exists()
    assert (tmp_path / "decision.html").exists()
    assert (tmp_path / "history.jsonl").exists()


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(), encoding="utf-8")
