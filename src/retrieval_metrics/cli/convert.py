"""`retrieval-metrics convert run|qrels SOURCE TARGET`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_reading_options,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import (
    read_qrels_file,
    read_run_file,
)
from retrieval_metrics.cli.option_names import reading
from retrieval_metrics.files.formats import FORMATS

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
    add_reading_options(parser, "qrels", "run")


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; the exit code of a conversion is always 0."""
    with output.for_reader(sys.stdout):
        if arguments.what == "qrels":
            qrels = read_qrels_file(arguments, arguments.source)
            with reading(arguments, "target"):
                rm.write_qrels(qrels, arguments.target, format=arguments.write_as)
        else:
            run = read_run_file(arguments, arguments.source)
            with reading(arguments, "target"):
                rm.write_run(run, arguments.target, format=arguments.write_as, tag=arguments.tag)
    return True


COMMAND = Command(add_arguments, run)
