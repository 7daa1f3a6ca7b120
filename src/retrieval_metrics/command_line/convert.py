"""`retrieval-metrics convert run|qrels SOURCE TARGET`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics.checks import spelled_by
from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import Target
from retrieval_metrics.command_line.options import Options
from retrieval_metrics.command_line.reading_options import add_reading_to, qrels_at, run_at
from retrieval_metrics.files.formats import FORMATS

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("what", choices=["run", "qrels"], help="what the file holds")
    parser.add_argument("source", metavar="SOURCE", help="a file, or - for standard input")
    parser.add_argument(
        "target",
        type=Target,
        metavar="TARGET",
        help="a file, compressed if it ends in .gz or .zst, or - for standard output",
    )
    parser.add_argument(
        "--to", dest="write_as", choices=FORMATS, help="the format of TARGET, if its name does not show it"
    )
    parser.add_argument(
        "--tag", default="retrieval-metrics", help="the last column of a TREC run (default: %(default)s)"
    )
    add_reading_to(parser, "qrels", "run")


def run(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of a conversion is always 0."""
    with output.for_reader(sys.stdout):
        if given.what == "qrels":
            judged = qrels_at(given, given.source)
            with spelled_by(Options(given, "target")):
                rm.write_qrels(judged, given.target, format=given.write_as)
        else:
            found = run_at(given, given.source)
            with spelled_by(Options(given, "target")):
                rm.write_run(found, given.target, format=given.write_as, tag=given.tag)
    return True
