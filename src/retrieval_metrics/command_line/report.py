"""`retrieval-metrics report SAVED -o REPORT`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics.command_line.arguments import Target, add_modules_to, add_texts_to, texts_of
from retrieval_metrics.command_line.named_files import kind_of
from retrieval_metrics.command_line.reading_options import add_reading_to

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "saved", metavar="SAVED", help="a file written by --save, Evaluation.save, Comparison.save or Tuning.save"
    )
    parser.add_argument("-o", "--output", type=Target, metavar="FILE", required=True, help="where to write the report")
    parser.add_argument("--title", default="", help="the heading of the report")
    add_texts_to(parser)
    add_modules_to(parser)
    add_reading_to(parser)


def run(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of a report is always 0."""
    saved = rm.load(given.saved)
    if isinstance(saved, rm.types.Tuning):
        if (given.queries, given.corpus) != (None, None):
            raise ValueError("the report of a tuning shows no single queries, so it takes no --queries and no --corpus")
        saved.report(given.output, title=given.title)
        return True
    if not isinstance(saved, (rm.Evaluation, rm.Comparison)):
        raise ValueError(f"{given.saved} cannot be reported: it holds {kind_of(saved)}")  # noqa: TRY004  (of the file)
    saved.report(given.output, title=given.title, **texts_of(given))
    return True
