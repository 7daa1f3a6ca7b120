"""The names of tests, and of the files of their baselines."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

LONGEST_NAME = 120
"""Bytes: most file systems allow 255, and the temporary name of a file is longer."""
HEX_OF_A_NAME = 8
REPEAT_STEP = "__pytest_repeat_step_number"
"""The parameter that pytest-repeat adds to a test, with the number of the round."""


def name_of(item: pytest.Item) -> str:
    """Return the name of a test within its file, the same for every round of pytest-repeat."""
    test = item.nodeid.partition("::")[2]
    step = getattr(getattr(item, "callspec", None), "params", {}).get(REPEAT_STEP)
    if step is None:
        return test
    marker = item.get_closest_marker("repeat")
    return without_round(test, f"{step + 1}-{marker.args[0] if marker else item.config.getoption('count')}")


def beside(item: pytest.Item, folder: str, check: str, ending: str = ".json") -> Path:
    """Return the file of a check of a test, in a folder beside the file of the test."""
    return item.path.parent / folder / item.path.stem / file_name(name_of(item), check, ending)


def without_round(test: str, said: str) -> str:
    """Return the name of a test without the round that pytest-repeat wrote into its parameters.

    Example:
        >>> without_round("test_words[2-3]", "2-3"), without_round("test_words[1-1-3]", "1-3")
        ('test_words', 'test_words[1]')
    """
    head, _, parameters = test.removesuffix("]").partition("[")
    if parameters == said:
        return head
    rest = parameters.removesuffix(f"-{said}")
    return f"{head}[{parameters.removeprefix(f'{said}-') if rest == parameters else rest}]"


def shown(path: str | Path, root: Path) -> str:
    """Return a path for display: relative to the root of the project, if it is inside."""
    path = Path(path)
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def file_name(test: str, name: str = "", ending: str = ".json") -> str:
    """Return the file name of a check: its name within the file of the test, made valid on every file system.

    If two names could differ only in case, as parameters and names of checks can, the file name has a hash, because
    many file systems ignore case.

    Args:
        test: The name of the test within its file.
        name: The name of the check within its test.
        ending: The extension of the file.

    Example:
        >>> file_name("TestSearch::test_words[bm25]"), file_name("test_words", "BM25")
        ('TestSearch.test_words[bm25].json', 'test_words.BM25-56cbcbd4.json')
    """
    full = test.replace("::", ".") + (f".{name}" if name else "")
    fit = re.sub(r"[^\w\-.\[\]]", "_", full).encode()[:LONGEST_NAME].decode(errors="ignore")
    free = test.partition("[")[2] + name
    if fit != full or free != free.lower():  # two tests may become one name
        fit += f"-{sha256(full.encode()).hexdigest()[:HEX_OF_A_NAME]}"
    return fit + ending
