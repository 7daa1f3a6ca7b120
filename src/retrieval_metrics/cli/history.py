"""`retrieval-metrics history add|show|plot`."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_module_option,
    add_result_options,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.option_types import parse_metrics
from retrieval_metrics.statistics import Interval
from retrieval_metrics.storage.history_table import entries_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    add = _add_action(actions, "add", "append the results of a saved evaluation", _add)
    add.add_argument("saved", metavar="SAVED", help="a file written by evaluate --save or Evaluation.save")
    add_module_option(add)
    add.add_argument("--label", metavar="TEXT", help="the label of the entry (default: its label commit, or a number)")
    show = _add_action(actions, "show", "print every entry, and where the questions or the rules changed", _show)
    add_result_options(show)
    plot = _add_action(actions, "plot", "draw a metric over time", _plot)
    plot.add_argument(
        "-m", "--metric", action="extend", type=parse_metrics, metavar="METRIC", help="default: the first"
    )
    plot.add_argument("-o", "--output", type=Target, metavar="FILE", required=True, help="an image: .svg, .png or .pdf")


def _add_action(
    actions: Any, name: str, summary: str, run_action: Callable[[argparse.Namespace], bool]
) -> argparse.ArgumentParser:
    description = f"{summary[0].upper()}{summary[1:]}."
    parser: argparse.ArgumentParser = actions.add_parser(name, help=summary, description=description)
    parser.add_argument("history", metavar="HISTORY", help="the file of the history, such as retrieval.jsonl")
    parser.set_defaults(run_action=run_action)
    return parser


def run(arguments: argparse.Namespace) -> bool:
    """Run the action; the exit code of a history is always 0."""
    succeeded: bool = arguments.run_action(arguments)
    return succeeded


def _add(arguments: argparse.Namespace) -> bool:
    rm.History(arguments.history).add(arguments.saved, arguments.label)
    return True


def _show(arguments: argparse.Namespace) -> bool:
    entries = rm.History(arguments.history).entries()
    if not entries:
        raise ValueError(f"{arguments.history} has no entries; add one with history add")
    entry_data: list[dict[str, Any]] = []
    records: list[dict[str, Any]] = []
    for entry in entries:
        label = {"label": entry.label, "date": entry.date.isoformat()}
        basis = output.fields(entry, "questions", "rules")
        metrics: dict[str, Any] = {}
        for name in entry.means:
            mean = nan
            interval = Interval(nan, nan)
            if entry.is_measured:
                mean = entry.means[name]
                interval = entry.intervals[name]
            n = entry.n[name]
            metrics[name] = {"mean": mean, "interval": interval, "n": n}
            values = {"metric": name, "mean": mean, "low": interval.low, "high": interval.high, "n": n}
            records.append({**label, **values, **basis, "warnings": "\n".join(entry.warnings)})
        warnings = list(entry.warnings)
        entry_data.append({**label, "metrics": metrics, **basis, "saved": entry.saved, "warnings": warnings})
    result = output.CommandOutput([entries_table(entries)], {"entries": entry_data}, records)
    return output.finish(result, arguments)


def _plot(arguments: argparse.Namespace) -> bool:
    metrics = arguments.metric or []
    if len(metrics) > 1:
        raise ValueError("history plot draws one metric; run it once for each")
    metric = metrics[0] if metrics else None
    rm.History(arguments.history).plot(metric).savefig(arguments.output)
    return True


COMMAND = Command(add_arguments, run)
