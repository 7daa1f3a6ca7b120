"""Show the warnings of a command once: not those that stand in what it prints as well."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from retrieval_metrics.cli.output import prints_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from retrieval_metrics.reports.tables import Table


@contextmanager
def show_unprinted_warnings(arguments: argparse.Namespace) -> Iterator[list[Table]]:
    """Hold back the warnings within a block, and show at its end those that will not be read beside the output anyway.

    The block adds the tables that will be printed to the list that it gets. All warnings are shown beside another
    format than text, and if stdout goes elsewhere than stderr: to a file, or to a program that may drop the line.
    """
    tables: list[Table] = []
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield tables
    finally:
        printed_notes: list[str] = []
        if prints_text(arguments) and _have_one_destination(sys.stdout, sys.stderr):
            printed_notes = [note for table in tables for note in table.notes]
        show_warnings_except(caught, printed_notes)


def show_warnings_except(caught: Iterable[warnings.WarningMessage], printed_notes: Iterable[str]) -> None:
    """Show the warnings that were held back, without those that the printed notes say."""
    printed = {note.removesuffix(".") for note in printed_notes}
    for warning in caught:
        if str(warning.message).removesuffix(".") not in printed:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)


def _have_one_destination(stream: Any, other: Any) -> bool:
    """Return whether what is written to two streams is read in one place, such as a terminal or the log of a build."""
    try:
        return os.path.sameopenfile(stream.fileno(), other.fileno())
    except (OSError, ValueError, AttributeError):  # tests replace them by something that is not a file
        return False
