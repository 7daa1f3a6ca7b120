"""Every code block of the site and of the READMEs runs as printed, and prints what stands below it.

`uv run --all-extras tests/documentation/test_pages.py [PAGE ...]` writes today's output into the pages.
"""

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

import pytest

import retrieval_metrics as rm
from retrieval_metrics.definition.table import DEFINITIONS

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(
    path
    for pattern in ("README.md", "docs/**/*.md", "integrations/*/README.md")
    for path in ROOT.glob(pattern)
    if "_build" not in path.parts
)
HANDBOOK = ROOT / "examples" / "handbook"
"""The documents of the tutorial, which stand beside whoever runs a page."""
FENCE = re.compile(r"^```(?P<language>\S+)[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "text", "console", "sh", "yaml"}  # directives of the site have their name in braces
PACKAGES = [
    "langchain_retrieval_metrics",
    "llama_index.evaluation.retrieval_metrics",
    "pytest_retrieval_metrics",
    "ragas_retrieval_metrics",
    "ray_retrieval_metrics",
    "retrieval_metrics",
    "retrieval_metrics.metrics",
]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")

pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # which examples show


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def run_python(code: str, page: str, namespace: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, page, "exec"), namespace)  # noqa: S102  (the pages are ours)
    return out.getvalue()


def run_commands(code: str) -> str:
    """Return a console block as it reads when its commands are run; one without commands is an excerpt, and stays."""
    commands = [line for line in code.splitlines() if line.startswith("$ ")]
    if not commands:
        return code
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = ""
    for command in commands:
        done = subprocess.run(
            shlex.split(command[2:]),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": path},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        shown += f"{command}\n{done.stdout}"
    return shown


def as_it_runs(page: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands in each block that shows an output, and what it should say; in one namespace for the page."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None
    for block in FENCE.finditer(text):
        language, code = block["language"], block["code"]
        if printed and language != "text":
            raise AssertionError(f"{page} prints what no text block shows:\n{printed}")
        if language == "text" and printed is not None:
            yield block[0], f"```text\n{printed}```"
        printed = run_python(code, page, namespace) if language == "python" else None
        if language == "console":
            yield block[0], f"```console\n{run_commands(code)}```"
    assert not printed, f"{page} prints what no text block shows"


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")], ids=name)
def test_the_page_runs_and_prints_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(HANDBOOK, tmp_path / HANDBOOK.name)
    for shown, printed in as_it_runs(name(page), page.read_text(encoding="utf-8")):
        assert shown == printed


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_escapes_the_test(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    languages = {block["language"] for block in FENCE.finditer(text)}
    assert {language for language in languages if not language.startswith("{")} <= LANGUAGES
    assert not languages & {"{code-block}", "{code}", "{doctest}"}
    assert len(re.findall(r"^\s*(```|~~~)", text, flags=re.MULTILINE)) == 2 * len(FENCE.findall(text))
    assert not re.search(r"^ {4}(import|from) ", FENCE.sub("", text), flags=re.MULTILINE), "code without a fence"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = [link.partition("#")[0] for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))]
    missing = [link for link in links if link and "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_the_front_door_is_short() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 8 * 1024


def test_every_metric_has_its_row_and_its_page() -> None:
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`(\w+)(@k)?`\]\(metrics/(\w+)\.md\) \|", text, flags=re.MULTILINE)
    assert [name for name, *_ in rows] == [page for *_, page in rows]
    assert {name: bool(k) for name, k, _ in rows} == {
        name: d.takes_cutoff for name, d in DEFINITIONS.items() if not d.made_by
    }
    for name, *_ in rows:
        assert f"```{{metric}} {name}\n" in (ROOT / f"docs/reference/metrics/{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_its_entry(package: str) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "api").glob("*.md")))
    entries = re.findall(r"^\.\. auto\w+:: (\S+)\.(\w+)$", text, flags=re.MULTILINE)
    public = set(import_module(package).__all__)
    if package != "retrieval_metrics":  # what the top level has too is documented there
        public -= {name for name in public if getattr(rm, name, None) is getattr(import_module(package), name)}
    assert sorted(name for module, name in entries if module == package) == sorted(public - {"metrics"})


def test_what_is_quoted_of_the_simulations_stands_there() -> None:
    guide = (ROOT / "docs/guides/reading-a-result.md").read_text(encoding="utf-8")
    page = (ROOT / "docs/reference/statistics.md").read_text(encoding="utf-8").splitlines()
    _, _, trusted = guide.partition("## How far this can be trusted")
    quoted = [line for block in FENCE.finditer(trusted) for line in block["code"].splitlines()]
    assert len(quoted) >= 10
    assert not [line for line in quoted if line not in page]


def write_outputs(pages: list[Path]) -> None:
    """Write what the blocks of the pages print below them."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415  (only where somebody asks for it)

    warnings.simplefilter("ignore", rm.RetrievalWarning)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        with TemporaryDirectory() as folder, contextlib.chdir(folder):
            shutil.copytree(HANDBOOK, HANDBOOK.name)
            changes = [(shown, printed) for shown, printed in as_it_runs(name(page), text) if shown != printed]
        at = 0
        for shown, printed in changes:
            at = text.index(shown, at)
            text = text[:at] + printed + text[at + len(shown) :]
            at += len(printed)
            sys.stdout.write(f"{name(page)}:\n{printed}\n")
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_outputs([Path(argument).resolve() for argument in sys.argv[1:]] or PAGES)
