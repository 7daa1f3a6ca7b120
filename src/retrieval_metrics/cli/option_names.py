"""Arguments in the words of the command line: the options of the command that was called, as messages name them."""

from __future__ import annotations

from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import OPEN
from retrieval_metrics.cli.option_types import READING_KEYS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


DESTINATIONS = {"n": "number", "query": "question_id", "runs": "run", "tools": "tool"}
"""The options whose names are not those of their arguments, as argparse stores them."""
POSITIONAL = {"qrels", "run", "saved", "source", "target"}
"""What commands take without a name, but for the runs of lint."""


@contextmanager
def use_option_names(given: argparse.Namespace, file: str) -> Iterator[None]:
    """Let messages name the options of a file: `"qrels"`, `"run"` or `"target"`."""
    given.file = file
    try:
        yield
    finally:
        given.file = None


def format_option(given: argparse.Namespace, name: str, value: Any) -> str | None:
    """Return an argument as an option, with its value if there is one; None if the command has no such option.

    Example:
        >>> from argparse import Namespace
        >>> given = Namespace(allow=[], clusters="source", file="run")
        >>> format_option(given, "columns", {"score": "bm25"}), format_option(given, "clusters", None)
        ('--run-column score=bm25', '--clusters none')
    """
    file: str | None = getattr(given, "file", None)
    if name == "columns":
        pair = "ROLE=NAME" if value is OPEN else "".join(f"{role}={_column(one)}" for role, one in value.items())
        return f"{_of_file('column', file)} {quote(pair)}"
    if name == "format":
        found = "--to" if file == "target" else _of_file("format", file)
    elif name in READING_KEYS and "reading" in given:
        return f"--reading {name}={READING_KEYS[name].placeholder}"
    else:
        destination = DESTINATIONS.get(name, name)
        if destination not in given or (destination in POSITIONAL and "fail_on" not in given):
            return None
        found = f"-{name}" if len(name) == 1 else f"--{destination.replace('_', '-')}"
    return found if value is OPEN else f"{found} {_text(value)}"


def _of_file(what: str, file: str | None) -> str:
    return f"--{file}-{what}" if file in {"qrels", "run"} else f"--run-{what} (or --qrels-{what})"


def _column(name: Any) -> str:
    return "NAME" if name is OPEN else name or ""


def _text(value: Any) -> str:
    """Return a value as a shell takes it; one of several is `a|b`."""
    if isinstance(value, tuple):
        return "|".join(map(quote, value))
    return " ".join(map(quote, value)) if isinstance(value, list) else "none" if value is None else quote(str(value))
