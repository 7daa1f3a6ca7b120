"""Every example as its readers run it: `uv run`, in an environment made from its own header and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.examples

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.read_text().startswith("# /// script"))
SMALLER = {"ray_evaluation": ["--queries", "4000"]}
LOGS = {"ray_evaluation"}
"""Ray writes its progress to the error stream."""


def run(script: Path) -> str:
    # What the tests set for Ray would hide what the example needs to set itself.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    command = ["uv", "run", "--quiet", str(script), *SMALLER.get(script.stem, [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=environment)
    assert done.returncode == 0, done.stderr
    assert not done.stderr or script.stem in LOGS, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", [path for path in SCRIPTS if path.stem not in SMALLER], ids=lambda path: path.stem)
def test_it_runs_on_what_its_header_names(script: Path) -> None:
    assert run(script)


def test_ray_counts_every_document_and_every_query_of_which_nothing_was_retrieved() -> None:
    printed = run(EXAMPLES / "ray_evaluation.py")
    assert "392,000 documents in " in printed  # 4,000 queries, 98% of them with 100 documents
    assert "4,000 queries\n80 queries with no results, scored 0" in printed
