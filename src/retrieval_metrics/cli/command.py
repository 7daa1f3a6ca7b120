"""The two functions that make a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


class Command(NamedTuple):
    """A command: how its arguments are declared, and how it runs with them.

    Attributes:
        add_arguments: Adds what the command takes to its parser.
        run: Runs the command; returns False if a threshold is missed.
    """

    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], bool]
