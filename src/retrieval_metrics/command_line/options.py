"""Messages in the words of the command line: what Python calls an argument is an option here."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import OPEN
from retrieval_metrics.command_line.values import READING

if TYPE_CHECKING:
    import argparse

DESTINATIONS = {"n": "number", "query": "question_id", "runs": "run", "tools": "tool"}
"""The options whose names are not those of their arguments, as argparse stores them."""
POSITIONAL = {"corpus", "qrels", "run", "runs", "saved", "source", "target"}
"""What some commands take without a name."""


@dataclass(frozen=True, slots=True)
class Options:
    """Spells arguments as options; see `retrieval_metrics.checks`.

    Attributes:
        given: What was given to the command.
        file: What is being read or written: `"qrels"`, `"run"` or `"target"`.

    Example:
        >>> from argparse import Namespace
        >>> said = Options(Namespace(allow=[], clusters="source"), "run")
        >>> said("columns", {"score": "bm25"}), said("allow", "repeated"), said("clusters", None)
        ('--run-column score=bm25', '--allow repeated', '--clusters none')
    """

    given: argparse.Namespace
    file: str | None = None

    def __call__(self, name: str, value: Any) -> str | None:
        """Return the option, with its value if there is one; None if this command has none."""
        if name == "format":
            return f"{'--to' if self.file == 'target' else self._of_file('format')} {_text(value)}".rstrip()
        if name == "columns":
            pair = "ROLE=NAME" if value is OPEN else "".join(f"{role}={_column(one)}" for role, one in value.items())
            return f"{self._of_file('column')} {quote(pair)}"
        if name in READING and self._has("reading"):
            return f"--reading {name}={READING[name].word}"
        destination = DESTINATIONS.get(name, name)
        if not self._has(destination) or (name in POSITIONAL and not self._has("fail_on")):
            return None
        option = f"-{name}" if len(name) == 1 else f"--{destination.replace('_', '-')}"
        return option if value is OPEN else f"{option} {_text(value)}"

    def _has(self, destination: str) -> bool:
        return destination in vars(self.given)

    def _of_file(self, what: str) -> str:
        return f"--{self.file}-{what}" if self.file in {"qrels", "run"} else f"--run-{what} (or --qrels-{what})"


def _column(name: Any) -> str:
    return "NAME" if name is OPEN else name or ""


def _text(value: Any) -> str:
    if value is OPEN:
        return ""
    if isinstance(value, tuple):
        return "|".join(value)
    return " ".join(map(quote, value)) if isinstance(value, list) else "none" if value is None else quote(str(value))
