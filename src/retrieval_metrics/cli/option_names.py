"""Translate messages of the library into the words of the command line.

The library words its messages for Python: `pass match='source'`. A user of the command needs the option instead:
`pass --match source`. Every message passes through `translate` before it is printed.
"""

from __future__ import annotations

import ast
import re
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

from retrieval_metrics.cli.option_types import READING_KEYS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


# Arguments of the library whose option has another name, with the name under which argparse stores the option.
DESTINATIONS = {"n": "number", "query": "question_id", "runs": "run", "tools": "tool"}
# Arguments that commands take by position and not as options; only lint has an option --run.
POSITIONAL = {"qrels", "run", "saved", "source", "target"}

ROWS_OF_ITEMS = "a run of items has rows with the text, the source or the metadata of each"

# Advice that helps only in Python, as a pattern, and the advice that replaces it; empty if there is none for a shell.
REMEDIES = tuple(
    (re.compile(python), shell)
    for python, shell in (
        (r"evaluate\(qrels, run\) takes the judgments first", "the file of judgments comes first"),
        (r"Write evaluate\(qrels, run\)", "The file of judgments comes first"),
        (r"; show_progress=True shows the progress", ""),
        (r"; explain\(query\) shows them", ""),
        (r"print\(comparison\.conclusions\)", "--format json"),
        (r", or set match=Matching\(min_quote_length=\d+\)", ""),
        (
            r"pass Retrieved\(\.\.\., tokens=\.\.\.\), or its text and match=Matching\(count_tokens=lambda .*\)\)",
            "the rows of the run need a column of them, tokens",
        ),
        (r"pass lists of Retrieved\(id, text=\.\.\.\)", "the rows of the run need a column of texts, text"),
        (r"a Run in columns holds only IDs", "the run holds only IDs"),
        (r"pass lists of Retrieved per query", ROWS_OF_ITEMS),
        (r"pass a list of Retrieved\(id, text=\.\.\., source=\.\.\.\), best first", ROWS_OF_ITEMS),
        (r"pass Retrieved\(id, text=\.\.\., source=\.\.\.\) for every item", ROWS_OF_ITEMS),
        (r", ('metadata:<name>') or a callable", r" or \1"),
        (r"('metadata:<name>') or a callable", r"\1"),
        (r"questions\.lint\(documents\) lists them", "lint lists them"),
        (r"compare the results of evaluate\(\.\.\.\)", "compare the results of evaluate"),
        (r"(requires unjudged='bounds'), got unjudged=\S+", r"\1"),
        (r": evaluate\(questions, rm\.load\(path\)\.scores\.origin\.run\)", ""),
        (r"fewer systems, metrics or resamples= take less", "fewer systems or metrics take less"),
        (r"add one with add\(evaluation, label\)", "history add adds one"),
        (
            r"first `import ([\w.]+)`, which defined it, and load the file again \(loading a file imports nothing\)",
            r"pass --metrics-from \1, which defined it",
        ),
        (r"; read other files with read_run, read_qrels, read_queries or read_corpus", ""),
        (r"which read_qrels reads", "which come before the run on the command line"),
        (r"which read_run reads", "which comes after the judgments on the command line"),
        (r"pass header=False, and the positions of its columns, such as", "pass the positions of its columns, such as"),
        (
            r"; read_questions\(path\) reads tables with one row per question",
            "; without --qrels-column it is read as a table of questions",
        ),
        (r"which read_questions\(path\) reads", "and without --qrels-column the table is read as questions"),
        (r"(pass columns=\{[^{}]*\}) to read_questions", r"\1"),
        (r"read it again with read_run", "run the command again"),
        (r"(is what a file holds and not its path); pass .* in its place", r"\1"),
        (r"; to read texts, use read_queries or read_corpus", ""),
        (r"pass \{id: -distance\}, or IDs in rank order", "write -distance as the score"),
        (r"use name\.rpartition\('/'\)\[2\] for each judged ID", "cut off the rest"),
        (r"(Part of .* is a judged ID): .*", r"\1: cut off the rest"),
        (
            r"use (?:id\.|' '\.join|(?:unicodedata|urllib|html|uuid|re)\.).* for the IDs (on both sides|in the \w+)",
            r"change the IDs \1",
        ),
        (r"(read the IDs on both sides as text), as with dtype=str in pandas", r"\1"),
        (r"\(texts by source, or the framework's documents\)", "what they were cut from"),
        (r"\. Use one from evaluate\(qrels, run\), or the unmerged parts", ""),
        (r"; add them: evaluate\(\.\.\.\)\.with_scores\(\.\.\.\)", ", and are in saved results"),
        (r"; evaluation\.with_scores\(\.\.\.\) adds it", ""),
        (r"; documents= takes a function that returns those that the search found", ""),
        (r"; if the trace format is not supported, convert the spans into plain dicts", ""),
        (r"; if citations are numbers of the documents in the context, pass citations='numbered'", ""),
        (r": known = trajectories\.with_recorded\(.*?\), and evaluate a view of it with known\.judgments\(qrels\)", ""),
        (r"; citations= takes a function of the answer and the context", ""),
        (r"(and [\d,]+ more), in \.to_pandas\(\)", r"\1 (--format csv lists all)"),
        (r": \.fixed\(\) (applies (?:it|them))", r": EvaluationSet.lint().fixed() in Python \1"),
        (r"; if it is a path, the file does not exist; if it is JSON, parse it with json\.loads", ""),
        (r"rm\.History\(path\) reads it", "history show prints it"),
        (r"; \.pool\(questions\) collects them", ""),
        (r"limits=Limits\((line|compression)=\.\.\.\)", r"\1=..."),
        (r"such as Trajectories\.union\(\)", "such as view='union'"),
    )
)

# `name=value`, by which a message refers to an argument; followed by more, as in `match=None.run`, it is the name of a
# file. Text in quotes is data: it matches without a name, and stays.
ARGUMENT = re.compile(
    r"""(?<![\w.'"@/\-])(?P<name>[A-Za-z_]\w*)=
        (?P<value>\{[^{}]*\}|\.\.\.|None|True|False|'(?:[^'\\]|\\.)*'(?:\ or\ '(?:[^'\\]|\\.)*')*|(?=[\s,;:.)]|$))
        (?![\w.]*\w)
      |(?<!\w)'(?:[^'\\]|\\.)*'|(?<!\w)"(?:[^"\\]|\\.)*"
    """,
    re.VERBOSE,
)
# The name of an argument at the beginning of a message that says what is wrong with its value.
FIRST_WORD = re.compile(r"\A(?P<name>[a-z_]+)(?= (?:must|is|of|for|has|takes|puts|cannot) )")
# Stands for a value that a message leaves open, as in `pass match=...`.
OPEN = ...


@contextmanager
def reading(arguments: argparse.Namespace, file: str) -> Iterator[None]:
    """Let messages name the options of the file that is read or written: `"qrels"`, `"run"` or `"target"`.

    An error leaves the name where it is, because its message is translated afterwards.
    """
    arguments.file = file
    yield
    arguments.file = None


def translate(message: str, arguments: argparse.Namespace) -> str:
    """Return a message of the library with the options of the command that was called.

    Example:
        >>> from argparse import Namespace
        >>> arguments = Namespace(match="id", clusters="source", level=0.95, file=None)
        >>> translate("pass match='source', or clusters=None", arguments)
        'pass --match source, or --clusters none'
        >>> translate("level must be below 1, got 2.0; 'match=x' is data", arguments)
        "--level must be below 1, got 2.0; 'match=x' is data"
    """
    for python, shell in REMEDIES:
        message = python.sub(shell, message)

    def replace_argument(match: re.Match[str]) -> str:
        if match["name"] is None:
            return match[0]
        try:
            value = _read_value(match["value"])
        except (ValueError, SyntaxError):  # not Python, as in the name of a file
            return match[0]
        return format_option(arguments, match["name"], value) or match[0]

    def replace_name(match: re.Match[str]) -> str:
        return format_option(arguments, match["name"], OPEN) or match[0]

    return ARGUMENT.sub(replace_argument, FIRST_WORD.sub(replace_name, message, count=1))


def _read_value(text: str) -> Any:
    """Return the value that a message gives for an argument, several values as a tuple; OPEN if it gives none."""
    if text in {"", "...", "{...}"}:
        return OPEN
    if " or " in text:
        return tuple(ast.literal_eval(choice) for choice in text.split(" or "))
    return ast.literal_eval(text)


def format_option(arguments: argparse.Namespace, name: str, value: Any) -> str | None:
    """Return an argument as an option, with its value if there is one; None if the command has no such option.

    Example:
        >>> from argparse import Namespace
        >>> arguments = Namespace(allow=[], clusters="source", file="run")
        >>> format_option(arguments, "columns", {"score": "bm25"}), format_option(arguments, "clusters", None)
        ('--run-column score=bm25', '--clusters none')
    """
    file: str | None = getattr(arguments, "file", None)
    if name == "columns" and (value is OPEN or isinstance(value, dict)):
        option = _file_option("column", file)
        return " ".join(f"{option} {quote(pair)}" for pair in _format_columns(value))
    if name == "format":
        option = "--to" if file == "target" else _file_option("format", file)
    elif name in READING_KEYS and "reading" in arguments:
        is_value = isinstance(value, str)
        text = value if is_value else READING_KEYS[name].placeholder
        return f"--reading {quote(f'{name}={text}')}" if is_value else f"--reading {name}={text}"
    else:
        destination = DESTINATIONS.get(name, name)
        if destination not in arguments or _is_positional(arguments, destination):
            return None
        option = f"-{name}" if len(name) == 1 else f"--{destination.replace('_', '-')}"
    if value is OPEN:
        return option
    return f"{option} {_format_value(value)}"


def _is_positional(arguments: argparse.Namespace, destination: str) -> bool:
    """Return whether an argument is taken by position; `run` is an option where it can be repeated, as in lint."""
    if destination == "run":
        return not isinstance(arguments.run, list)
    return destination in POSITIONAL


def _file_option(suffix: str, file: str | None) -> str:
    """Return the option for the file that is read, such as `--run-format`; both options if that is unknown."""
    if file in {"qrels", "run"}:
        return f"--{file}-{suffix}"
    return f"--run-{suffix} (or --qrels-{suffix})"


def _format_columns(columns: Any) -> list[str]:
    """Return columns as the values of an option, one for each."""
    if columns is OPEN:
        return ["ROLE=NAME"]
    pairs = []
    for role, name in columns.items():
        shown_name = "NAME" if name is OPEN else name or ""
        pairs.append(f"{role}={shown_name}")
    return pairs


def _format_value(value: Any) -> str:
    """Return a value as a shell takes it; the choice between several values is `a|b`."""
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return "|".join(map(quote, value))
    if isinstance(value, list):
        return " ".join(map(quote, value))
    return quote(str(value))
