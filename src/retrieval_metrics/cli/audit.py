"""`retrieval-metrics audit QRELS RUN`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics._internal.atomic_write import save_text
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    add_exclude_option,
    add_file_arguments,
    add_match_option,
    add_metric_options,
    add_output_options,
    add_reading_options,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import read_exclusion, read_qrels_and_run
from retrieval_metrics.metrics.base.rules import RULE_SETS

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    add_file_arguments(parser, runs=None)
    add_metric_options(parser)
    parser.add_argument(
        "--rules",
        action="append",
        choices=list(RULE_SETS),
        help="a rule set; repeat for several; the others are compared with the first (default: all)",
    )
    add_match_option(parser)
    add_exclude_option(parser)
    add_output_options(parser)
    add_reading_options(parser, "qrels", "run")


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; the exit code of an audit is always 0."""
    qrels, runs = read_qrels_and_run(arguments, {"run": arguments.run})
    audit = rm.audit(
        qrels,
        runs["run"],
        arguments.metric or rm.DEFAULT_METRICS,
        rules=arguments.rules or tuple(RULE_SETS),
        match=arguments.match,
        exclude=None if arguments.exclude is None else read_exclusion(arguments.exclude),
    )
    result = _audit_output(audit)
    if arguments.report is not None:
        save_text(arguments.report, output.page(result))
    return output.finish(result, arguments)


def _audit_output(audit: rm.types.Audit) -> output.CommandOutput:
    columns = ("metric", "rule_name", "rules", "meaning", "queries", "example", "value", "reference")
    data = {
        **output.fields(audit, "means", "refused"),
        "differences": [output.fields(difference, *columns) for difference in audit.differences],
        "lints": audit.lints,
    }
    records = []
    for metric in map(str, audit.metrics):
        record: dict[str, Any] = {"metric": metric}
        for rule_set_name, means in audit.means.items():
            record[rule_set_name] = means.get(metric, float("nan"))
        records.append(record)
    return output.CommandOutput(audit.tables, data, records)


COMMAND = Command(add_arguments, run)
