"""`--quick` runs what belongs to the changed files, and imports no host."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from quick import HOSTS, LARGE, ROOT, Quick, belonging


def names(*changed: str, depth: int | None = None) -> dict[str, int]:
    return {path.relative_to(ROOT).as_posix(): distance for path, distance in belonging(changed, depth).items()}


@pytest.mark.thorough
def test_a_module_has_its_doctests_and_the_tests_of_its_folder() -> None:
    chosen = names("src/retrieval_metrics/metrics/base/score.py", depth=0)
    beside = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "metrics" / "base").rglob("test_*.py")}
    assert {"src/retrieval_metrics/metrics/base/score.py", "tests/test_architecture.py", *beside} <= chosen.keys()
    assert set(chosen.values()) == {0}
    assert not {name for name in chosen if name.startswith(("tests/files/", "tests/integrations/"))}


@pytest.mark.thorough
def test_a_module_has_the_test_of_its_name() -> None:
    assert "tests/_internal/test_validation.py" in names("src/retrieval_metrics/_internal/validation.py", depth=0)


@pytest.mark.thorough
def test_what_imports_a_module_is_chosen_also_through_others_but_not_for_its_types() -> None:
    chosen = names("src/retrieval_metrics/metrics/base/score.py")
    assert chosen["src/retrieval_metrics/evaluation/cutoffs.py"] == 1
    assert chosen["src/retrieval_metrics/storage/load.py"] > 1
    assert chosen["tests/evaluation/test_cutoffs.py"] == 1
    assert "src/retrieval_metrics/inputs/column_detection.py" not in chosen
    near = names("src/retrieval_metrics/metrics/base/score.py", depth=1)
    assert near == {name: distance for name, distance in chosen.items() if distance <= 1}


@pytest.mark.thorough
def test_a_large_choice_says_how_to_narrow_it() -> None:
    one_file = Quick(["tests/_internal/test_lazy.py"], None)
    many_files = Quick(["src/retrieval_metrics/_internal/validation.py"], None)
    assert len(one_file.chosen) <= LARGE < len(many_files.chosen)
    assert "--depth=1" not in one_file.pytest_report_header()
    assert "--depth=1" in many_files.pytest_report_header()


def test_a_helper_has_the_tests_that_import_it() -> None:
    assert {"tests/metrics/test_laws.py", "tests/metrics/test_against_reference.py"} <= set(names("tests/generated.py"))
    assert "tests/metrics/test_against_reference.py" in names("tests/reference.py")
    assert "tests/metrics/test_laws.py" not in names("tests/reference.py")


@pytest.mark.parametrize("changed", ["docs/index.md", "tests/integrations/ray/test_results.py", "src/gone.py"])
def test_what_needs_a_host_or_is_gone_has_none(changed: str) -> None:
    assert names(changed) == {}


@pytest.mark.parametrize(
    "options",
    [
        ["--changed=tests/_internal/test_grouping.py", "--changed=tests/inputs/test_documents.py"],
        pytest.param(
            ["--changed=src/retrieval_metrics/retrieval/fuse.py", "--changed=tests/inputs/test_documents.py"],
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["tests", "module"],
)
def test_it_imports_no_host(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "watching.py").write_text(
        "import sys\ndef pytest_unconfigure():\n"
        f"    print('imported:', sorted({HOSTS!r} & {{name.partition('.')[0] for name in sys.modules}}))\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "watching", "-q", "-n", "0", "--quick"]
    command += ["--deselect=tests/test_architecture.py"]  # what builds wheels imports nothing
    command += options
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
