"""What the package prints stays as it is, unless somebody reads the difference and accepts it."""

import subprocess
import sys
from pathlib import Path

import pytest

import printed_results
from golden_texts import check_golden_text
from printed_calls import SECTIONS

GOLDEN = Path(__file__).parent / "golden" / "printed_results.txt"


@pytest.mark.thorough
def test_every_result_is_printed_as_in_the_golden_file() -> None:
    # A process of its own, because pytest runs in it, and because a message names the metrics that others have defined.
    program = [sys.executable, printed_results.__file__]
    done = subprocess.run(program, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    check_golden_text(GOLDEN, done.stdout)


def test_the_golden_file_has_the_calls_and_begins_with_what_the_first_prints() -> None:
    golden = GOLDEN.read_text(encoding="utf-8")
    headings = [line.removeprefix("## ") for line in golden.splitlines() if line.startswith("## ")]
    assert headings == [section.heading for section in SECTIONS]
    assert golden.startswith(next(printed_results.iterate_gallery()))
