"""`--quick` runs what belongs to the changed files, and imports no host."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from quick import HOSTS, ROOT, belonging


def names(*changed: str) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in belonging(changed)}


def test_a_module_has_its_doctests_those_of_its_users_and_the_tests_of_its_folder() -> None:
    chosen = names("src/retrieval_metrics/scoring/score.py")
    assert "src/retrieval_metrics/scoring/score.py" in chosen
    assert "src/retrieval_metrics/evaluation/evaluate.py" in chosen
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "scoring").rglob("test_*.py")} < chosen
    assert "tests/test_architecture.py" in chosen
    assert not {name for name in chosen if name.startswith(("tests/files/", "tests/integrations/"))}


def test_a_module_without_a_folder_has_the_tests_of_its_name() -> None:
    assert "tests/test_checks.py" in names("src/retrieval_metrics/checks.py")


def test_a_helper_has_the_tests_that_import_it_also_through_another() -> None:
    assert {"tests/metrics/test_laws.py", "tests/metrics/test_against_reference.py"} < names("tests/generated.py")
    assert "tests/scoring/ties/test_over_orders.py" in names("tests/reference.py")
    assert "tests/metrics/test_laws.py" not in names("tests/reference.py")


@pytest.mark.parametrize("changed", ["docs/index.md", "tests/integrations/ray/test_results.py", "src/gone.py"])
def test_what_needs_a_host_or_is_gone_has_none(changed: str) -> None:
    assert names(changed) == set()


def test_it_imports_no_host(tmp_path: Path) -> None:
    (tmp_path / "watching.py").write_text(
        "import sys\ndef pytest_unconfigure():\n"
        f"    print('imported:', sorted({HOSTS!r} & {{name.partition('.')[0] for name in sys.modules}}))\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "watching", "-q", "-n", "0", "--quick"]
    command += ["--deselect=tests/test_architecture.py"]  # what builds wheels imports nothing
    command += [
        f"--changed={path}"
        for path in ("src/retrieval_metrics/retrieving/fuse.py", "tests/evaluation/test_documents.py")
    ]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(r"\d+ passed", done.stdout), done.stdout + done.stderr
    assert "imported: []" in done.stdout
    assert re.search(
        r"SKIPPED .* --quick imports no host, and this imports haystack", done.stdout
    )  # as the second does
