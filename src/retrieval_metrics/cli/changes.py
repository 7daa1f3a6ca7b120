"""`retrieval-metrics changes BEFORE AFTER`, without judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_function_options,
    add_match_option,
    add_output_options,
    add_reading_options,
    add_text_options,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import (
    read_report_texts,
    read_run_or_saved,
)

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    for side in ("before", "after"):
        parser.add_argument(side, metavar=side.upper(), help=f"the run {side} the change, in any format of a run")
    parser.add_argument(
        "-m",
        "--measures",
        default="overlap@10,rbo,ndcg@10",
        help="overlap@k, rbo, and metrics whose largest possible change is bounded (default: %(default)s)",
    )
    add_function_options(rm.changes, parser, tolerance="SIZE | scores that differ by no more than this tie at rank k")
    add_match_option(parser)
    parser.add_argument("--save", type=Target, metavar="FILE", help="save the numbers, such as changes.json.gz")
    add_output_options(parser)
    add_text_options(parser)
    add_reading_options(parser, "run")


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; its exit code is always 0."""
    before = read_run_or_saved(arguments, arguments.before)
    after = read_run_or_saved(arguments, arguments.after)
    measures = arguments.measures.split(",")
    changes = rm.changes(before, after, measures, match=arguments.match, tolerance=arguments.tolerance)
    if arguments.report is not None:
        changes.report(arguments.report, **read_report_texts(arguments))
    if arguments.save is not None:
        changes.save(arguments.save)
    intervals = changes.intervals()
    records = []
    for name, mean in changes.means.items():
        interval = intervals[name]
        records.append({"metric": name, "mean": mean, "ci_low": interval.low, "ci_high": interval.high})
    data = output.fields(changes, "means", "per_query")
    return output.finish(output.CommandOutput(changes.tables, data, records), arguments)


COMMAND = Command(add_arguments, run)
