"""The commands for several runs: compare, changes, tune and audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import save_text
from retrieval_metrics._internal.validation import positive_number
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_file_arguments,
    add_function_options,
    add_match_option,
    add_metric_options,
    add_module_option,
    add_output_options,
    add_reading_options,
    add_rule_options,
    add_text_options,
    select_arguments,
)
from retrieval_metrics.cli.input_files import (
    paths_by_name,
    read_qrels_and_run,
    read_report_texts,
    read_run_or_saved,
    read_saved_evaluations,
    scoring_arguments,
)
from retrieval_metrics.cli.option_types import bound, parse_metrics
from retrieval_metrics.comparison.comparison_tables import comparison_tables, notes_tables
from retrieval_metrics.comparison.plan import MIN_PILOT_QUERIES, SPARSE_SCENARIO
from retrieval_metrics.metrics.base.rules import RULE_SETS
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    import argparse


def add_to_compare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    add_file_arguments(parser, runs="+")
    parser.add_argument(
        "--save", type=Target, metavar="FILE", help="save the comparison for report, such as comparison.json.gz"
    )
    add_metric_options(parser)
    add_rule_options(parser)
    add_function_options(
        rm.compare,
        parser,
        baseline="NAME | compare all other runs with this one (default: every pair)",
        level="confidence level",
        margin="SIZE | also say whether a run is no worse by more than this, such as 0.02",
        unretrieved_relevant="N | with --unjudged bounds: a query may have up to N more relevant documents that nobody "
        "retrieved",
        seed="seed of the randomisation test",
    )
    parser.add_argument(
        "--unjudged",
        choices=["bounds", "condensed"],
        help="how to treat unjudged documents: bounds reports how much their grades could change, condensed takes them "
        "out of the rankings (default: they are not relevant)",
    )
    parser.add_argument(
        "--plan",
        type=float,
        metavar="SIZE",
        help="also say how many questions it takes to find a difference of this size, with these as a pilot",
    )
    parser.add_argument(
        "--fail-if-worse", action="store_true", help="exit with 1 if a run is significantly worse than the baseline"
    )
    add_output_options(parser)
    add_text_options(parser)
    add_reading_options(parser, "qrels", "run")


def run_compare(given: argparse.Namespace) -> bool:
    """Run the command; with --fail-if-worse, return whether no run is significantly worse than the baseline."""
    if given.fail_if_worse and given.baseline is None:
        raise ValueError("--fail-if-worse needs --baseline NAME, the run to compare with")
    if given.plan is not None:
        positive_number(given.plan, "plan")
    saved = read_saved_evaluations([given.qrels, *given.runs])
    names = paths_by_name(given.runs) if saved is None else saved
    if given.baseline is not None and given.baseline not in names:
        raise ValueError(f"no run is named {given.baseline!r}, the --baseline; the runs are {', '.join(names)}")
    texts = read_report_texts(given)
    of = read_qrels_and_run(given, paths_by_name(given.runs)) if saved is None else (saved,)
    options = select_arguments(
        rm.compare, given, metrics=given.metric or rm.DEFAULT_METRICS, **scoring_arguments(given)
    )
    result = rm.compare(*of, **options)
    if given.report is not None:
        result.report(given.report, **texts)
    if given.save is not None:
        result.save(given.save)
    worse = [each.sentence for each in result.conclusions if given.fail_if_worse and each.kind == "worse"]
    return output.finish(_shown(result, given.plan), given, worse)


def _plans(result: rm.Comparison, size: float) -> list[tuple[rm.types.Difference, rm.types.Plan]]:
    """Return how many questions each difference takes that shows a spread."""
    return [
        (each, rm.plan(size, each.metric, pilot=each, comparisons=len(result.differences), level=result.level))
        for each in result.differences
        if each.n >= MIN_PILOT_QUERIES and not each.identical
    ]


def _plan_table(plans: list[tuple[rm.types.Difference, rm.types.Plan]], size: float) -> Table:
    header = ["metric", "pair", "standard deviation", "questions", "range", "if few carry it"]
    rows = [
        [
            each.metric,
            f"{each.system} - {each.baseline}",
            numbers.value(of.scenarios[1].sd),
            f"{of.n_questions:,}",
            "{:,} to {:,}".format(*of.range),
            f"{of.scenarios[1].n_questions_sparse:,}",
        ]
        for each, of in plans
    ]
    notes = (
        [SPARSE_SCENARIO] if rows else ["no pair of systems differs on any query, which shows no spread to plan with"]
    )
    return Table(header, rows, notes, f"questions for a difference of {size:g}, found in 80 % of evaluations", (0, 1))


def _shown(result: rm.Comparison, size: float | None) -> output.CommandOutput:
    data = {
        **output.fields(result, "baseline", "level"),
        "means": result.means,
        "conclusions": [each.as_dict() for each in result.conclusions],
        **output.fields(result, "summary", "notes"),
    }
    records = [
        output.fields(each, "metric", "system", "baseline", "n", "difference")
        | {
            "ci_low": each.interval.low,
            "ci_high": each.interval.high,
            "p_corrected": each.p_corrected,
            "p_uncorrected": each.details.p_uncorrected,
        }
        | {"conclusion": each.kind}
        for each in result.conclusions
    ]
    tables = [*comparison_tables(result), *notes_tables(result)]
    if size is not None:
        plans = _plans(result, size)
        data["plan"] = [
            output.fields(each, "metric", "system", "baseline")
            | {"sd": of.scenarios[1].sd, **output.fields(of, "n_questions", "range")}
            | {"n_questions_sparse": of.scenarios[1].n_questions_sparse}
            for each, of in plans
        ]
        tables.append(_plan_table(plans, size))
    return output.CommandOutput(tables, data, records)


# `retrieval-metrics changes BEFORE AFTER`, without judgments.


def add_to_changes(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    for side in ("before", "after"):
        parser.add_argument(side, metavar=side.upper(), help=f"the run {side} the change, in any format of a run")
    parser.add_argument(
        "-m",
        "--measures",
        default="overlap@10,rbo,ndcg@10",
        help="overlap@k, rbo, and metrics of which the largest possible change is told (default: %(default)s)",
    )
    add_function_options(rm.changes, parser, tolerance="SIZE | scores no further apart tie at rank k")
    add_match_option(parser)
    parser.add_argument("--save", type=Target, metavar="FILE", help="save the numbers, such as changes.json.gz")
    add_output_options(parser)
    add_text_options(parser)
    add_reading_options(parser, "run")


def run_changes(given: argparse.Namespace) -> bool:
    """Run the command; its exit code is always 0."""
    before, after = (read_run_or_saved(given, path) for path in (given.before, given.after))
    result = rm.changes(before, after, given.measures.split(","), match=given.match, tolerance=given.tolerance)
    if given.report is not None:
        result.report(given.report, **read_report_texts(given))
    if given.save is not None:
        result.save(given.save)
    means, ends = result.means, result.intervals()
    records = [
        {"metric": name, "mean": mean, "ci_low": ends[name].low, "ci_high": ends[name].high}
        for name, mean in means.items()
    ]
    return output.finish(
        output.CommandOutput(result.tables, output.fields(result, "means", "per_query"), records), given
    )


# `retrieval-metrics tune QRELS RUN RUN --default NAME`, or `tune SAVED SAVED --default NAME`.

PLAIN = (
    *("metric", "winner", "default", "n_questions", "level", "mean", "expected_mean", "gain", "expected_gain", "p"),
    *("is_significant", "conclusion", "expected_mean_interval", "expected_gain_interval"),
)
"""What JSON holds of a tuning as it is."""


def add_to_tune(parser: argparse.ArgumentParser) -> None:
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
    add_rule_options(parser)
    add_output_options(parser)
    add_module_option(parser)
    add_reading_options(parser, "qrels", "run")


def run_tune(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of a choice is always 0."""
    chosen_by, *others = given.metric
    saved = read_saved_evaluations([given.qrels, *given.runs])
    qrels, runs = read_qrels_and_run(given, paths_by_name(given.runs)) if saved is None else (None, saved)
    bounds = {name: {str(metric): mean for metric, mean in getattr(given, name)} for name in ("at_least", "at_most")}
    # The options for scoring are no arguments of `tune` itself, which passes them on.
    arguments = select_arguments(rm.tune, given, extra_metrics=others, **bounds, **scoring_arguments(given))
    result = rm.tune(runs, qrels, chosen_by, **arguments)
    if given.report is not None:
        result.report(given.report)
    if given.save is not None:
        result.save(given.save)
    return output.finish(_shown_tune(result), given)


def _shown_tune(result: rm.types.Tuning) -> output.CommandOutput:
    settings: list[dict[str, Any]] = []
    for one in result.settings:
        found = one.difference
        gain, low, high, p = (0.0, 0.0, 0.0, 1.0) if found is None else (found.mean, *found.interval, found.p_corrected)
        settings.append(
            {
                "setting": one.name,
                **{str(name): one.means[name] for name in result.rule.metrics},
                "gain": gain,
                "ci_low": low,
                "ci_high": high,
                "p_corrected": p,
                "selection_rate": one.selection_rate,
                "indistinguishable": one.name == result.winner or one.name in result.indistinguishable,
                "feasible": one.feasible,
            }
        )
    return output.CommandOutput(result.tables, {**output.fields(result, *PLAIN), "settings": settings}, settings)


# `retrieval-metrics audit QRELS RUN`.


def add_to_audit(parser: argparse.ArgumentParser) -> None:
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
    add_output_options(parser)
    add_reading_options(parser, "qrels", "run")


def run_audit(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of an audit is always 0."""
    qrels, runs = read_qrels_and_run(given, {"run": given.run})
    result = rm.audit(
        qrels,
        runs["run"],
        given.metric or rm.DEFAULT_METRICS,
        rules=given.rules or tuple(RULE_SETS),
        match=given.match,
    )
    shown = _shown_audit(result)
    if given.report is not None:
        save_text(given.report, output.page(shown))
    return output.finish(shown, given)


def _shown_audit(result: rm.types.Audit) -> output.CommandOutput:
    told = ("metric", "rule_name", "rules", "meaning", "queries", "example", "value", "reference")
    data = {
        **output.fields(result, "means", "refused"),
        "differences": [output.fields(found, *told) for found in result.differences],
        "lints": result.lints,
    }
    metrics, means = map(str, result.metrics), result.means
    records = [{"metric": name} | {one: means[one].get(name, float("nan")) for one in means} for name in metrics]
    return output.CommandOutput(result.tables, data, records)
