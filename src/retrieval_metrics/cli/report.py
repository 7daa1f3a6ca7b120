"""`retrieval-metrics report SAVED`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics.cli.arguments import (
    Target,
    add_module_option,
    add_reading_options,
    add_text_options,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import format_saved_kind, read_report_texts

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "saved", metavar="SAVED", help="a file written by --save, Evaluation.save, Comparison.save or Tuning.save"
    )
    parser.add_argument("-o", "--output", type=Target, metavar="FILE", required=True, help="where to write the report")
    parser.add_argument("--title", default="", help="the heading of the report")
    add_text_options(parser)
    add_module_option(parser)
    add_reading_options(parser)


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; the exit code of a report is always 0."""
    saved = rm.load(arguments.saved)
    if isinstance(saved, rm.types.Tuning):
        if (arguments.queries, arguments.corpus) != (None, None):
            raise ValueError("a tuning report shows no individual queries, so it takes no --queries and no --corpus")
        saved.report(arguments.output, title=arguments.title)
        return True
    if not isinstance(saved, (rm.Evaluation, rm.Comparison)):
        raise ValueError(f"{arguments.saved} cannot be reported: it holds {format_saved_kind(saved)}")
    saved.report(arguments.output, title=arguments.title, **read_report_texts(arguments))
    return True


COMMAND = Command(add_arguments, run)
