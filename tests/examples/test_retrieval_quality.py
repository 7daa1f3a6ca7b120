"""The example of the pytest plug-in passes, and fails as promised where its retriever is made worse on purpose."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "test_retrieval_quality.py"


def build(**environment: str) -> subprocess.CompletedProcess[str]:
    options = ["-q", "--retrieval-show=2", "-p", "no:cacheprovider", "-p", "xdist", "--numprocesses=0"]
    # Not the arguments of the suite that runs this test, nor all the plug-ins of its environment: only what is shown.
    environment = {
        **os.environ,
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": "pytest_retrieval_metrics.plugin",
        "DEGRADED": "",
        **environment,
    }
    command = [sys.executable, "-m", "pytest", *options, str(EXAMPLE)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_it_passes() -> None:
    done = build()
    assert done.returncode == 0, done.stdout
    assert "ndcg@10" in done.stdout


@pytest.mark.thorough
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the stored baseline is that of Python 3.11's reference")
def test_a_retriever_made_worse_on_purpose_fails_as_the_pages_show() -> None:
    done = build(DEGRADED="1")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    for page in ("README.md", "integrations/pytest/README.md"):
        _, start, shown = (ROOT / page).read_text(encoding="utf-8").partition("ndcg@10 below floor: ")
        assert start, page
        assert start + shown.partition("\n...\n")[0] in done.stdout, page
