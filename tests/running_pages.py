"""Run the code blocks of the documentation's pages, and compare or write what they print."""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import retrieval_metrics as rm
from handbook_search import HANDBOOK, write_questions
from retrieval_metrics.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    path
    for pattern in ("README.md", ".github/CONTRIBUTING.md", "docs/**/*.md", "integrations/*/README.md")
    for path in ROOT.glob(pattern)
    if "_build" not in path.parts
)
ENVIRONMENT = re.compile(r"^<!-- environment: (.+) -->$", re.MULTILINE)
"""What a recipe says it needs; `run_recipe.py` runs it there."""

RECIPES = {page: match[1].split() for page in PAGES if (match := ENVIRONMENT.search(page.read_text(encoding="utf-8")))}
RUN_HERE = [page for page in PAGES if page not in RECIPES]
FRONT = ROOT / "README.md"
YOURS = {
    "haystack": "handbook_haystack",
    "langchain": "handbook_langchain",
    "llama_index": "handbook_llama_index",
}
"""The example with what the page of an integration calls yours."""
CHAPTERS = sorted((ROOT / "docs" / "tutorial").glob("[0-9]*.md"))
"""The pages of the tutorial: each goes on where the one before ends."""
FENCE = re.compile(r"^```(?P<language>\S+)(?P<said>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)

INSTALL = re.compile(r"^```sh\npip install ([^\n]+)\n```$", re.MULTILINE)
"""How a page says what its code needs, if that is more than the core."""

RAISES = " raises"
"""What a block of wrong code says after its language; the error stands in the block below it."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def lay_out(folder: Path) -> None:
    """Put into a folder what the pages read."""
    shutil.copytree(HANDBOOK, folder / HANDBOOK.name)
    write_questions(folder / "questions.csv")


def installed(page: Path) -> list[str]:
    """Return what a page says to install before its first code: of a chapter, with those before it; else the core."""
    earlier = [CHAPTERS[0].with_name("index.md"), *CHAPTERS[: CHAPTERS.index(page)]] if page in CHAPTERS else []
    requirements = ["retrieval-metrics"]
    for recipe_page in [*earlier, page]:
        text = recipe_page.read_text(encoding="utf-8")
        code = next(
            (block.start() for block in FENCE.finditer(text) if block["language"] in {"python", "console"}), len(text)
        )
        if line := INSTALL.search(text, 0, code):
            requirements += shlex.split(line[1], comments=True)
    return requirements


def begun(page: Path) -> dict[str, object]:
    """Return the names with which a page begins: those of the chapters before it, what the front page calls yours."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    if page == FRONT:
        namespace |= import_module("front_page").names()  # imports three hosts
    if page.parent.parent == ROOT / "integrations":
        if page.parent.name in YOURS:
            namespace |= import_module(YOURS[page.parent.name]).yours()
        else:
            namespace |= import_module("your_search").names(page.parent.name)
    for earlier in CHAPTERS[: CHAPTERS.index(page)] if page in CHAPTERS else []:
        for block in FENCE.finditer(earlier.read_text(encoding="utf-8")):
            if block["language"] == "python":
                run_python(block["code"], name(earlier), namespace)
    return namespace


def run_python(code: str, page: str, namespace: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, page, "exec"), namespace)  # noqa: S102  (the pages are ours)
    return out.getvalue()


def run_wrong(code: str, page: str, namespace: dict[str, object]) -> str:
    """Return what the wrong code of a block raises: an error, or a warning that the page has made one."""
    try:
        run_python(code, page, namespace)
    except Exception as error:
        return f"{type(error).__name__}: {error}\n"
    raise AssertionError(f"{page} says that this raises something, and it does not:\n{code}")


def run_commands(code: str, *, wrong: bool = False) -> str:
    """Return a console block as it reads when its commands are run; one without commands is an excerpt, and stays.

    Args:
        code: The block.
        wrong: Whether the block says that its commands fail; it then shows what they say about it.
    """
    commands = [line for line in code.splitlines() if line.startswith("$ ")]
    if not commands:
        return code
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = ""
    for command in commands:
        program, *arguments = shlex.split(command[2:])
        if program == "retrieval-metrics":  # here, where everything is imported
            returned, out, err = run_our_command(arguments)
        else:
            environment = {**os.environ, "PATH": path}
            done = subprocess.run(
                [program, *arguments], capture_output=True, text=True, check=False, env=environment, timeout=120
            )
            returned = done.returncode
            out = done.stdout
            err = done.stderr
        assert bool(returned) == wrong, err
        shown += f"{command}\n{out}{err if wrong else ''}"
    return shown


def run_our_command(arguments: list[str]) -> tuple[int, str, str]:
    """Return the exit code of our command line, and what it writes to its two streams."""
    out = io.StringIO()
    err = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            returned = main(arguments)
        except SystemExit as stopped:
            returned = int(stopped.code or 0)
    return returned, out.getvalue(), err.getvalue()


def as_it_runs(page: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands in each block that shows an output, and what it should say; in one namespace for the page."""
    namespace = begun(ROOT / page)
    printed: str | None = None
    for block in FENCE.finditer(text):
        language = block["language"]
        code = block["code"]
        if printed and language != "text":
            raise AssertionError(f"{page} prints what no text block shows:\n{printed}")
        if language == "text" and printed is not None:
            yield block[0], f"```text\n{printed}```"
        printed = None
        if language == "python":
            run = run_wrong if block["said"] == RAISES else run_python
            printed = run(code, page, namespace)
        if language == "console":
            expected = block["said"]
            yield block[0], f"```console{expected}\n{run_commands(code, wrong=expected == RAISES)}```"
    assert not printed, f"{page} prints what no text block shows"


def write_outputs(pages: list[Path]) -> None:
    """Write what the blocks of the pages print below them."""
    warnings.simplefilter("ignore", rm.RetrievalWarning)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        # What a page does to warnings ends with it, as under pytest.
        with TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
            lay_out(Path(folder))
            changes = [(shown, printed) for shown, printed in as_it_runs(name(page), text) if shown != printed]
        position = 0
        for shown, printed in changes:
            position = text.index(shown, position)
            text = text[:position] + printed + text[position + len(shown) :]
            position += len(printed)
            sys.stdout.write(f"{name(page)}:\n{printed}\n")
        page.write_text(text, encoding="utf-8")
