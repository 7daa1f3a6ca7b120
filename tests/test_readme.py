"""Every example of the README runs as printed, and prints what stands below it."""

import re
from pathlib import Path

import pytest

from readme_examples import run_examples
from retrieval_metrics.metrics.table import DEFINITIONS

README = (Path(__file__).parent.parent / "README.md").read_text()
SECTIONS = {part.splitlines()[0]: part for part in re.split(r"^## ", README, flags=re.MULTILINE)[1:]}


@pytest.mark.parametrize("title", [title for title, text in SECTIONS.items() if "```python" in text])
def test_the_section_runs_and_prints_what_it_says(title: str) -> None:
    assert run_examples(SECTIONS[title], f"README: {title}")


def test_every_metric_has_its_row() -> None:
    rows = re.findall(r"^\| `(\w+)(@k)?` \|", SECTIONS["Metrics"], flags=re.MULTILINE)
    assert {name: bool(k) for name, k in rows} == {name: d.takes_cutoff for name, d in DEFINITIONS.items()}
