"""How messages name an argument: as Python writes it, or as a program that was asked calls it."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Speller = Callable[[str, Any], str | None]

_speller: ContextVar[Speller | None] = ContextVar("speller", default=None)

ROWS_OF_ITEMS = "a run of items has rows with the text, the source or the metadata of each"
"""What a file holds where Python has lists of items."""

OPEN: Any = ...
"""The value of an argument, or of a key in it, if a message leaves it to the reader."""


@contextmanager
def spelled_by(speller: Speller) -> Iterator[None]:
    """Name arguments as a program calls them, in all messages that are made inside.

    Args:
        speller: What the program calls an argument, from its name and its value (`OPEN` if the message gives none);
            None if nobody can give it there.
    """
    before = _speller.set(speller)
    try:
        yield
    finally:
        _speller.reset(before)


def argument(name: str, value: Any = OPEN, *, python: str | None = None) -> str:
    """Return an argument as the reader of a message writes it.

    Args:
        name: The name of the argument.
        value: The value to give it.
        python: How Python writes it, if not as a keyword.

    Example:
        >>> argument("clusters", None), argument("columns", {"query": OPEN}), argument("documents")
        ('clusters=None', "columns={'query': ...}", 'documents=')
        >>> with spelled_by(lambda name, value: f"--{name} {value}"):
        ...     argument("allow", "blanks")
        '--allow blanks'
    """
    speller = _speller.get()
    spelled = None if speller is None else speller(name, value)
    if spelled is not None:
        return spelled
    return f"{name}={'' if value is OPEN else _literal(value)}" if python is None else python


def named(name: str) -> str:
    """Return the bare name of an argument, for messages that say what is wrong with its value.

    Example:
        >>> named("level")
        'level'
    """
    return argument(name, python=name)


def in_python(python: str, otherwise: str = "") -> str:
    """Return words that only help who writes Python, or others where a program was asked.

    Example:
        >>> in_python("evaluate(qrels, run) takes the judgments first", "the file of judgments comes first")
        'evaluate(qrels, run) takes the judgments first'
    """
    return python if _speller.get() is None else otherwise


def judgments_first() -> str:
    """Return the advice to whoever may have exchanged judgments and rankings."""
    return in_python("evaluate(qrels, run) takes the judgments first", "the file of judgments comes first")


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {'...' if each is OPEN else repr(each)}" for key, each in value.items()) + "}"
    return repr(value)
