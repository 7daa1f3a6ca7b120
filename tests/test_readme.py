"""Every example of the READMEs runs as printed, and prints what stands below it."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from retrieval_metrics.definition.table import DEFINITIONS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
SECTIONS = {part.splitlines()[0]: part for part in re.split(r"^## ", README, flags=re.MULTILINE)[1:]}
INTEGRATIONS = {path.parent.name: path.read_text() for path in sorted(ROOT.glob("integrations/*/README.md"))}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


pytestmark = pytest.mark.filterwarnings("ignore::retrieval_metrics.RetrievalWarning")  # which examples show


def run_blocks(title: str, text: str) -> None:
    """Run the python blocks of a text in one namespace, and compare each with the text block below it."""
    namespace: dict[str, object] = {}
    printed = ""
    for language, code in BLOCK.findall(text):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, f"README: {title}", "exec"), namespace)  # noqa: S102  (the README is ours)
            printed = out.getvalue()
        elif language == "text":
            assert printed == code


@pytest.mark.parametrize("title", [title for title, text in SECTIONS.items() if "```python" in text])
def test_the_section_runs_and_prints_what_it_says(title: str) -> None:
    run_blocks(title, SECTIONS[title])


@pytest.mark.parametrize("integration", INTEGRATIONS)
def test_the_readme_of_the_integration_runs_and_prints_what_it_says(integration: str) -> None:
    run_blocks(integration, INTEGRATIONS[integration])


def test_every_metric_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+)(@k)?` \|", SECTIONS["Metrics"], flags=re.MULTILINE)
    assert {name: bool(k) for name, k in rows} == {name: d.takes_cutoff for name, d in DEFINITIONS.items()}
