"""`retrieval-metrics audit QRELS RUN`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import retrieval_metrics as rm
from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import (
    add_files_to,
    add_match_to,
    add_metrics_to,
    add_output_to,
)
from retrieval_metrics.command_line.named_files import read_both
from retrieval_metrics.command_line.reading_options import add_reading_to
from retrieval_metrics.journal import save_text
from retrieval_metrics.scoring.rules import RULE_SETS

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    add_files_to(parser, runs=None)
    add_metrics_to(parser)
    parser.add_argument(
        "--semantics",
        action="append",
        choices=list(RULE_SETS),
        help="a rule set; repeat for several; the others are compared with the first (default: all)",
    )
    add_match_to(parser)
    add_output_to(parser)
    add_reading_to(parser, "qrels", "run")


def run(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of an audit is always 0."""
    qrels, runs = read_both(given, {"run": given.run})
    result = rm.audit(
        qrels,
        runs["run"],
        given.metric or rm.DEFAULT_METRICS,
        semantics=given.semantics or tuple(RULE_SETS),
        match=given.match,
    )
    shown = _shown(result)
    if given.report is not None:
        save_text(given.report, output.page(shown))
    return output.finish(shown, given.format, given.output)


def _shown(result: rm.types.Audit) -> output.Shown:
    means = {semantics: dict(values) for semantics, values in result.means.items()}
    differences = [
        {
            "metric": str(found.metric),
            "semantics": found.semantics,
            "rules": list(found.rules),
            "meaning": found.meaning,
            "queries": list(found.queries),
            "example": found.example,
            "value": found.value,
            "reference": found.reference,
        }
        for found in result.differences
    ]
    data = {"means": means, "refused": dict(result.refused), "differences": differences, "lints": list(result.lints)}
    metrics = map(str, result.metrics)
    records = [{"metric": name} | {one: means[one].get(name, float("nan")) for one in means} for name in metrics]
    return output.Shown(result.tables, data, records)
