"""`retrieval-metrics tune QRELS RUN RUN --default NAME`, or `tune SAVED SAVED --default NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import (
    Target,
    add_arguments_of,
    add_files_to,
    add_modules_to,
    add_output_to,
    add_rules_to,
    passed_to,
    scoring_of,
)
from retrieval_metrics.command_line.named_files import named, read_both, saved_evaluations
from retrieval_metrics.command_line.reading_options import add_reading_to
from retrieval_metrics.command_line.values import bound, metrics

if TYPE_CHECKING:
    import argparse


PLAIN = (
    *("metric", "winner", "default", "questions", "level", "mean", "new_mean", "gain", "new_gain", "p", "better"),
    "conclusion",
)
"""What JSON holds of a tuning as it is."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    add_files_to(parser, runs="+")
    parser.add_argument(
        "-m",
        "--metric",
        type=metrics,
        default=["ndcg@10"],
        metavar="METRIC",
        help="the metric to choose by; further ones, after commas, are shown (default: ndcg@10)",
    )
    add_arguments_of(
        rm.tune,
        parser,
        default="NAME | the run to keep unless another is better",
        level="confidence level",
        seed="seed of the resamples",
    )
    for name, words in (("least", "least"), ("most", "largest")):
        parser.add_argument(
            f"--at-{name}",
            action="append",
            default=[],
            type=bound,
            metavar="METRIC=MEAN",
            help=f"do not choose a run whose mean is beyond this, the {words} that it may be",
        )
    parser.add_argument("--save", type=Target, metavar="FILE", help="save the tuning, such as tuning.json.gz")
    add_rules_to(parser)
    add_output_to(parser)
    add_modules_to(parser)
    add_reading_to(parser, "qrels", "run")


def run(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of a choice is always 0."""
    chosen_by, *others = given.metric
    saved = saved_evaluations([given.qrels, *given.runs])
    qrels, runs = read_both(given, named(given.runs)) if saved is None else (None, saved)
    bounds = {name: {str(metric): mean for metric, mean in getattr(given, name)} for name in ("at_least", "at_most")}
    # The options for scoring are no arguments of `tune` itself, which passes them on.
    result = rm.tune(runs, qrels, chosen_by, **passed_to(rm.tune, given, others=others, **bounds, **scoring_of(given)))
    if given.report is not None:
        result.report(given.report)
    if given.save is not None:
        result.save(given.save)
    return output.finish(_shown(result), given.format, given.output)


def _shown(result: rm.types.Tuning) -> output.Shown:
    settings: list[dict[str, Any]] = []
    for one in result.settings:
        found = one.difference
        gain, low, high, p = (0.0, 0.0, 0.0, 1.0) if found is None else (found.mean, *found.interval, found.p_corrected)
        settings.append(
            {
                "setting": one.name,
                **{str(name): one.means[name] for name in result.rule.metrics},
                "gain": gain,
                "low": low,
                "high": high,
                "p": p,
                "chosen": one.chosen,
                "as_good": one.name == result.winner or one.name in result.as_good,
                "allowed": one.allowed,
            }
        )
    data = {
        **{name: getattr(result, name) for name in PLAIN},
        "new_mean_interval": list(result.new_mean_interval),
        "new_gain_interval": list(result.new_gain_interval),
        "settings": settings,
    }
    return output.Shown(result.tables, data, settings)
