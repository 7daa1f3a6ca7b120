"""Run the code of the page of plots, and set each figure below the line that makes it."""

import ast
import contextlib
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sphinx.application import Sphinx

DOCS = Path(__file__).parent.parent
PAGE = "guides/plots"
BLOCK = re.compile(r"(?P<question>[^\n]*)\n\n```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
DOTS = 144
"""Per inch: sharp on a phone."""


def with_pictures(text: str, folder: Path) -> str:
    """Return a page with a picture below each of its blocks that is a figure, together with the question above it."""
    names: dict[str, Any] = {}

    def drawn(block: re.Match[str]) -> str:
        tree = ast.parse(block["code"])
        if not isinstance(tree.body[0], ast.Expr):
            exec(compile(tree, PAGE, "exec"), names)  # noqa: S102  (the page is ours)
            return block[0]
        figure = eval(block["code"], names)  # noqa: S307  (likewise)
        figure.arrange(1)  # as in a narrow notebook
        picture = folder / f"{len(list(folder.iterdir())):02}.png"
        figure.savefig(picture, dpi=DOTS)
        alt = " ".join(f"{block['question']} {figure.describe}".split())
        return f"::::{{container}} plot\n{block[0]}\n\n![{alt}](../_build/plots/{picture.name})\n::::"

    return BLOCK.sub(drawn, text)


def _draw(_app: Sphinx, name: str, source: list[str]) -> None:
    if name == PAGE:
        folder = DOCS / "_build" / "plots"
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        with TemporaryDirectory() as working_folder, contextlib.chdir(working_folder):
            source[0] = with_pictures(source[0], folder)


def setup(app: Sphinx) -> dict[str, bool]:
    """Change what the page says before it is parsed."""
    app.connect("source-read", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
