"""`retrieval-metrics tune QRELS RUN RUN --default NAME`, and the same for saved evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_file_arguments,
    add_function_options,
    add_module_option,
    add_output_options,
    add_reading_options,
    add_rule_options,
    select_arguments,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import (
    paths_by_name,
    read_qrels_and_run,
    read_saved_evaluations,
    scoring_arguments,
)
from retrieval_metrics.cli.option_types import parse_bound, parse_metrics
from retrieval_metrics.cli.printed_warnings import show_unprinted_warnings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from retrieval_metrics.comparison.tuning_result import TriedSetting


# The attributes of a tuning that JSON holds as they are.
TUNING_FIELDS = (
    "metric",
    "winner",
    "default",
    "n_questions",
    "level",
    "mean",
    "expected_mean",
    "gain",
    "expected_gain",
    "p",
    "is_significant",
    "conclusion",
    "expected_mean_interval",
    "expected_gain_interval",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    add_file_arguments(parser, runs="+")
    parser.add_argument(
        "-m",
        "--metric",
        type=parse_metrics,
        default=["ndcg@10"],
        metavar="METRIC",
        help="the metric to choose by; further ones, after commas, are shown (default: ndcg@10)",
    )
    add_function_options(
        rm.tune,
        parser,
        default="NAME | the run to keep unless another is better",
        level="confidence level",
        seed="seed of the resamples",
    )
    for option, side in (("--at-least", "below"), ("--at-most", "above")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            type=parse_bound,
            metavar="METRIC=MEAN",
            help=f"exclude runs whose mean is {side} this",
        )
    parser.add_argument("--save", type=Target, metavar="FILE", help="save the tuning, such as tuning.json.gz")
    add_rule_options(parser)
    add_output_options(parser)
    add_module_option(parser)
    add_reading_options(parser, "qrels", "run")


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; the exit code of a choice is always 0."""
    metric, *extra_metrics = arguments.metric
    saved = read_saved_evaluations([arguments.qrels, *arguments.runs])
    # `tune` has no options for scoring of its own: it passes them on to `evaluate`.
    options = select_arguments(
        rm.tune,
        arguments,
        extra_metrics=extra_metrics,
        at_least=_bounds_by_metric(arguments.at_least),
        at_most=_bounds_by_metric(arguments.at_most),
        **scoring_arguments(arguments),
    )
    qrels: Any = None
    runs: Any = saved
    if saved is None:
        qrels, runs = read_qrels_and_run(arguments, paths_by_name(arguments.runs))
    with show_unprinted_warnings(arguments) as printed_tables:
        tuning = rm.tune(runs, qrels, metric, **options)
        printed_tables.extend(tuning.tables)
    if arguments.report is not None:
        tuning.report(arguments.report)
    if arguments.save is not None:
        tuning.save(arguments.save)
    return output.finish(_tuning_output(tuning), arguments)


def _bounds_by_metric(bounds: Sequence[tuple[Any, float]]) -> dict[str, float]:
    return {str(metric): bound for metric, bound in bounds}


def _tuning_output(tuning: rm.types.Tuning) -> output.CommandOutput:
    records = [_setting_record(setting, tuning) for setting in tuning.settings]
    data = {**output.fields(tuning, *TUNING_FIELDS), "settings": records}
    return output.CommandOutput(tuning.tables, data, records)


def _setting_record(setting: TriedSetting, tuning: rm.types.Tuning) -> dict[str, Any]:
    difference = setting.difference
    if difference is None:  # the default, which is compared with itself
        comparison: dict[str, float | None] = {"gain": 0.0, "ci_low": 0.0, "ci_high": 0.0, "p_corrected": 1.0}
    elif setting.obstacle is not None:  # the numbers would say how its ids match
        comparison = dict.fromkeys(("gain", "ci_low", "ci_high", "p_corrected"))
    else:
        comparison = {
            "gain": difference.mean,
            "ci_low": difference.interval.low,
            "ci_high": difference.interval.high,
            "p_corrected": difference.p_corrected,
        }
    return {
        "setting": setting.name,
        **{str(name): setting.means[name] for name in tuning.rule.metrics},
        **comparison,
        "selection_rate": setting.selection_rate,
        "indistinguishable": setting.name == tuning.winner or setting.name in tuning.indistinguishable,
        "feasible": setting.feasible,
        "obstacle": setting.obstacle,
    }


COMMAND = Command(add_arguments, run)
