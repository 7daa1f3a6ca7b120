"""The rule sets named after libraries agree with the libraries, each installed in an environment of its own."""

import subprocess
from pathlib import Path

import pytest

SCRIPTS = sorted(Path(__file__).parent.glob("with_*.py"))


@pytest.mark.peers
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_case_agrees(script: Path) -> None:
    done = subprocess.run(["uv", "run", "--quiet", script], capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert " cases agree in " in done.stdout
