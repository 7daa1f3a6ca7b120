"""Messages in the words of the command line: what they offer in Python is offered as an option."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

COLUMN = r"columns=\{'(?P<role>\w+)': (?P<value>'(?P<name>[^']*)'|\.{3}|None)\}(?P<other>, or columns=\{'\w+': None\})?"
FILE = {"grade": "--qrels-column", "group": "--qrels-column", "score": "--run-column", "rank": "--run-column"}


def _column(found: re.Match[str]) -> str:
    """Return the option that names the column of a role; where both files have one, both options."""
    role, other = found["role"], found["other"]
    name = "" if found["value"] == "None" else found["name"] or "NAME"
    option = FILE.get(role, "--run-column (or --qrels-column)")
    return f"{option} '{role}={name}'" + (f", or '{role}='" if other else "")


REPLACED: Mapping[str, str | Callable[[re.Match[str]], str]] = {
    COLUMN: _column,
    r"(BEIR qrels \w+) format='tsv'": r"\1 --qrels-format tsv",
    r"\bformat='(\w+)'": r"--run-format \1 (or --qrels-format)",
    r"\ballow='(\w+)'": r"--allow \1",
    r"first `import ([\w.]+)`, which defined it, and load the file again \([^)]*\)": (
        r"pass --metrics-from \1, which defined it"
    ),
    r"evaluate\(qrels, run\) takes the judgments first": "the file of judgments comes first",
    r", which read_qrels reads": ", which come before the run",
    r", which read_run reads": ", which comes after the judgments",
    r"read three columns without a header with polars or pandas, and the DataFrame with Run\.from_frame": (
        "three columns need a header: separate them by commas, put query,document,score above, pass --run-format csv"
    ),
    r'unjudged="bounds"': "--unjudged bounds",
    r"clusters=None turns": "--clusters none turns",
    r"pass documents=, the texts by source or the documents of the framework,": (
        "pass --documents, the folder or the corpus that they were cut from,"
    ),
    r"'(\S+)', which query= names": r"'\1', which --question-id names",
}
"""What messages say in Python, and how the same is said here."""


def in_options(message: str) -> str:
    """Return a message with the options of the command line in place of the arguments of functions.

    Example:
        >>> in_options("run.csv has no column named like a score; pass columns={'score': 'bm25'}")
        "run.csv has no column named like a score; pass --run-column 'score=bm25'"
    """
    for python, here in REPLACED.items():
        message = re.sub(python, here, message)
    return message
