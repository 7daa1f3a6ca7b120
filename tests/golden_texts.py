"""Compare texts with those in a golden file, case by case.

Run the tests with `WRITE_GOLDEN=1` in the environment to accept the present texts, and read the difference before
committing it.
"""

import os
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path

WRITE = "WRITE_GOLDEN"


def check_golden_texts(path: Path, texts_by_case: Mapping[str, Sequence[str]]) -> None:
    """Raise unless the golden file has these cases with these texts."""
    sections = []
    for case, texts in texts_by_case.items():
        sections.append("\n".join([f"[{case}]", *texts]))
    check_golden_text(path, "\n\n".join(sections) + "\n")


def check_golden_text(path: Path, text: str) -> None:
    """Raise unless the golden file has this text."""
    if os.environ.get(WRITE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    golden_lines = path.read_text(encoding="utf-8").splitlines()
    difference = "\n".join(unified_diff(golden_lines, text.splitlines(), path.name, "now", lineterm=""))
    assert not difference, difference
    assert text == path.read_text(encoding="utf-8"), "the ends of lines differ"
