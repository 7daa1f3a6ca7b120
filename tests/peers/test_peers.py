"""The rule sets named after libraries agree with the libraries, each installed in an environment of its own."""

import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "guides" / "coming-from.md"
SCRIPTS = sorted(Path(__file__).parent.glob("with_*.py"))


@pytest.mark.peers
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_case_agrees(script: Path) -> None:
    done = subprocess.run(["uv", "run", "--quiet", script], capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert " cases agree in " in done.stdout


@pytest.mark.peers
def test_the_page_says_what_the_tools_say() -> None:
    script = Path(__file__).parent / "coming_from.py"
    done = subprocess.run(["uv", "run", "--quiet", script], capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert len(printed) == 4
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert not [line for line in printed if line not in page]
