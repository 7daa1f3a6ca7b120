"""Name tests, and the files that belong to their checks."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

# Most file systems allow 255 bytes, and the temporary name of a file that is being written is longer than its own.
MAX_NAME_BYTES = 120

# The digits of the hash that keeps apart names which a file system may take for the same.
N_HASH_DIGITS = 8

# The parameter that pytest-repeat adds to a test, with the number of the round.
REPEAT_STEP = "__pytest_repeat_step_number"


def get_test_name(item: pytest.Item) -> str:
    """Return the name of a test within its file, the same for every round of pytest-repeat."""
    test = item.nodeid.partition("::")[2]
    step = getattr(getattr(item, "callspec", None), "params", {}).get(REPEAT_STEP)
    if step is None:
        return test
    marker = item.get_closest_marker("repeat")
    n_rounds = item.config.getoption("count") if marker is None else marker.args[0]
    return without_round(test, f"{step + 1}-{n_rounds}")


def without_round(test: str, round_text: str) -> str:
    """Return the name of a test without the round that pytest-repeat wrote into its parameters.

    Example:
        >>> without_round("test_words[2-3]", "2-3"), without_round("test_words[1-1-3]", "1-3")
        ('test_words', 'test_words[1]')
    """
    function, _, parameters = test.removesuffix("]").partition("[")
    if parameters == round_text:
        return function
    remaining = parameters.removesuffix(f"-{round_text}")
    if remaining == parameters:  # the round comes first
        remaining = parameters.removeprefix(f"{round_text}-")
    return f"{function}[{remaining}]"


def path_beside_test(item: pytest.Item, folder: str, check: str, ending: str = ".json") -> Path:
    """Return the file of a check of a test, in a folder beside the file of the test."""
    return item.path.parent / folder / item.path.stem / make_file_name(get_test_name(item), check, ending)


def format_path(path: str | Path, root: Path) -> str:
    """Return a path for display: relative to the root of the project, if it is inside."""
    path = Path(path)
    if path.is_relative_to(root):
        return str(path.relative_to(root))
    return str(path)


def make_file_name(test: str, name: str = "", ending: str = ".json") -> str:
    """Return the file name of a check: its name within the file of the test, made valid on every file system.

    If two names could differ only in case, as parameters and names of checks can, the file name has a hash, because
    many file systems ignore case.

    Example:
        >>> make_file_name("TestSearch::test_words[bm25]"), make_file_name("test_words", "BM25")
        ('TestSearch.test_words[bm25].json', 'test_words.BM25-56cbcbd4.json')
    """
    full_name = test.replace("::", ".")
    if name:
        full_name += f".{name}"
    valid_name = re.sub(r"[^\w\-.\[\]]", "_", full_name).encode()[:MAX_NAME_BYTES].decode(errors="ignore")
    free_text = test.partition("[")[2] + name
    if valid_name != full_name or free_text != free_text.lower():  # two tests may become one name
        valid_name += f"-{sha256(full_name.encode()).hexdigest()[:N_HASH_DIGITS]}"
    return valid_name + ending
