"""Messages in the words of the command line: options of the command that was called, not arguments of Python."""

from __future__ import annotations

import re
from ast import literal_eval
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

from retrieval_metrics.command_line.values import READING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


TEXT = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
ARGUMENT = re.compile(
    rf"""(?<![\w.-])(?P<name>[a-z_]+)=(?:
        (?P<value>
            \{{ {TEXT}:\ (?:{TEXT}|None|\.\.\.) \}} | {TEXT}(?:\ or\ {TEXT})* | \[{TEXT}\] | None | \d+(?:\.\d+)? )
        | (?:\{{\.\.\.\}})? (?![\w(\[{{'"]) )""",
    re.VERBOSE,
)
"""`name='value'`, `name={'role': 'column'}` and their like, and `name=` where the value is left to the reader."""
BARE = re.compile(r"^[a-z_]+(?:, [a-z_]+)*(?= (?:of \S+ )?must be | cannot be changed )")
"""Names of arguments at the beginning of a message that says what is wrong with their values."""
ITEMS = "a run of items has rows with the text, the source or the metadata of each"
PHRASES = {
    r"evaluate\(qrels, run\) takes the judgments first": "the file of judgments comes first",
    r"(?<=TREC qrels, which )read_qrels reads": "come before the run",
    r"(?<=TREC run, which )read_run reads": "comes after the judgments",
    r"read three columns without a header with polars or pandas, and the DataFrame with Run\.from_frame": (
        "three columns need a header: separate them by commas, put query,document,score above, pass format='csv'"
    ),
    r"read it again with read_run": "run the command again",
    r"rm\.History\(path\) reads it": "history show prints it",
    r"limits=Limits\((\w+)=\.\.\.\)": r"\1=",
    r"first `import ([\w.]+)`": r"pass --metrics-from \1",
    r"a Run in columns(?= holds)": "the run",
    r"pass lists of Retrieved per query": ITEMS,
    r"pass a list of Retrieved\(id, text=\.\.\., source=\.\.\.\), best first": ITEMS,
    r"pass Retrieved\(id, text=\.\.\., source=\.\.\.\) for every item": ITEMS,
    r"pass lists of Retrieved\(id, text=\.\.\.\)": "the rows of the run need a column of texts, text",
    r"pass Retrieved\(\.\.\., tokens=\.\.\.\), or .* len\(encode\(text\)\)\)": (
        "the rows of the run need a column of them, tokens"
    ),
    r"(?<=pass )(it|them) to evaluate\(\.\.\.\)": r"\1 to evaluate",
    r"pass \{id: -distance\}, or a list of ids, best first": "write -distance as the score",
    r"(?<=is a judged id: )(pass match=lambda|write id\.).*": "cut off the rest",
    r"; add them: evaluate\(\.\.\.\)\.with_scores\(\.\.\.\)": ", and stand in saved results",
    r"the texts by source or the documents of the framework": "what they were cut from",
    r"fewer systems, metrics or resamples= take less": "fewer systems or metrics take less",
    # What only helps who writes Python:
    r", or set match=Matching\(.*?\)|, got unjudged='?\w+'?| or a callable|; show_progress=True .*": "",
    r"; documents= takes a function .*?found$|documents= takes a function .*?; | convert them into plain dicts$": "",
    r"; use one from evaluate\(.*|: evaluate\(questions, rm\.load.*|; to read texts, use read_queries or .*": "",
    r"; read other files with read_run, .*|, and load the file again \(loading a file imports nothing\)": "",
}
"""What somebody at a shell is told in place of what somebody in Python is told."""
DESTINATIONS = {"query": "question_id", "runs": "run", "tools": "tool"}
"""The options whose names are not those of their arguments, as argparse stores them."""
POSITIONAL = {"qrels", "run", "saved", "source", "target"}
"""What commands take without a name, but for the runs of lint."""


@contextmanager
def about(given: argparse.Namespace, file: str) -> Iterator[None]:
    """Let messages name the options of a file: `"qrels"`, `"run"` or `"target"`."""
    given.file = file
    yield
    given.file = None  # but not after an error, which is worded last


def worded(message: str, given: argparse.Namespace) -> str:
    """Return a message with the options of a command in place of arguments of Python; other names stay.

    Example:
        >>> from argparse import Namespace
        >>> given = Namespace(allow=[], clusters="source", file="run")
        >>> worded("pass columns={'score': 'bm25'} or allow='blanks'; clusters=None turns it off", given)
        'pass --run-column score=bm25 or --allow blanks; --clusters none turns it off'
    """
    for python, shell in PHRASES.items():
        message = re.sub(python, shell, message)
    names = BARE.match(message)
    if names is not None:
        leading = [_option(name, None, given) or name for name in names[0].split(", ")]
        message = ", ".join(leading) + message[names.end() :]
    return ARGUMENT.sub(lambda found: _option(found["name"], found["value"], given) or found[0], message)


def _option(name: str, value: str | None, given: argparse.Namespace) -> str | None:
    """Return an option with its value, if there is one; None if the command has no such option."""
    file: str | None = getattr(given, "file", None)
    if name == "columns":
        ((role, column),) = literal_eval(value or "{'ROLE': ...}").items()
        return f"{_of_file('column', file)} {quote(f'{role}={_column(column)}')}"
    if name == "format":
        option = "--to" if file == "target" else _of_file("format", file)
    elif name in READING and "reading" in given:
        return f"--reading {name}={READING[name].word}"
    else:
        destination = DESTINATIONS.get(name, name)
        if destination not in given or (destination in POSITIONAL and "fail_on" not in given):
            return None
        option = f"--{destination.replace('_', '-')}"
    return option if value is None else f"{option} {_text(value)}"


def _of_file(what: str, file: str | None) -> str:
    return f"--{file}-{what}" if file in {"qrels", "run"} else f"--run-{what} (or --qrels-{what})"


def _column(name: Any) -> str:
    return "NAME" if name is ... else name or ""


def _text(value: str) -> str:
    """Return a value of Python as a shell takes it; `'a' or 'b'` becomes `a|b`."""
    if value == "None":
        return "none"
    return "|".join(quote(literal_eval(one)) for one in re.findall(TEXT, value)) or value
