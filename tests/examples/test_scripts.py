"""Every script among the examples runs from beginning to end, with nothing on its error stream."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if path.read_text().startswith("# /// script"))


@cache
def run(script: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_it_runs(script: Path) -> None:
    done = run(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_the_first_command_prints_one_table_of_both_retrievers() -> None:
    row = re.search(
        r"^ndcg@10 +(0\.\d{4}) +(0\.\d{4})   whether", run(EXAMPLES / "quickstart.py").stdout, flags=re.MULTILINE
    )
    assert row is not None
    assert all(float(mean) > 0.2 for mean in row.groups())
