"""The commands for several runs: compare, changes, tune and audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import retrieval_metrics as rm
from retrieval_metrics._internal.atomic_write import save_text
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
from retrieval_metrics.cli.option_types import parse_bound, parse_metrics
from retrieval_metrics.comparison.comparison_tables import comparison_tables, notes_tables
from retrieval_metrics.comparison.plan import SPARSE_SCENARIO
from retrieval_metrics.comparison.spread_estimates import MIN_PILOT_QUERIES
from retrieval_metrics.metrics.base.rules import RULE_SETS
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence

    from retrieval_metrics.comparison.plan import PlanScenario
    from retrieval_metrics.comparison.tuning_result import TriedSetting


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


def run_compare(arguments: argparse.Namespace) -> bool:
    """Run the command; with --fail-if-worse, return whether no run is significantly worse than the baseline."""
    if arguments.fail_if_worse and arguments.baseline is None:
        raise ValueError("--fail-if-worse needs --baseline NAME, the run to compare with")
    if arguments.plan is not None:
        positive_number(arguments.plan, "plan")
    saved = read_saved_evaluations([arguments.qrels, *arguments.runs])
    names: Collection[str] = saved if saved is not None else paths_by_name(arguments.runs)
    if arguments.baseline is not None and arguments.baseline not in names:
        raise ValueError(f"no run is named {arguments.baseline!r}, the --baseline; the runs are {', '.join(names)}")
    texts = read_report_texts(arguments)
    options = select_arguments(
        rm.compare, arguments, metrics=arguments.metric or rm.DEFAULT_METRICS, **scoring_arguments(arguments)
    )
    if saved is None:
        qrels, runs = read_qrels_and_run(arguments, paths_by_name(arguments.runs))
        comparison = rm.compare(qrels, runs, **options)
    else:
        comparison = rm.compare(saved, **options)
    if arguments.report is not None:
        comparison.report(arguments.report, **texts)
    if arguments.save is not None:
        comparison.save(arguments.save)
    failures = []
    for conclusion in comparison.conclusions:
        if arguments.fail_if_worse and conclusion.kind == "worse":
            failures.append(conclusion.sentence)
    return output.finish(_comparison_output(comparison, arguments.plan), arguments, failures)


class _PairPlan(NamedTuple):
    """A difference with a spread, and the questions that it takes to find one of a given size."""

    difference: rm.types.Difference
    plan: rm.types.Plan

    @property
    def scenario(self) -> PlanScenario:
        """The scenario between the lowest and the highest spread."""
        return self.plan.scenarios[1]


def _plan_pairs(comparison: rm.Comparison, size: float) -> list[_PairPlan]:
    """Plan for each difference that shows a spread."""
    n_differences = len(comparison.differences)
    plans = []
    for difference in comparison.differences:
        if difference.n >= MIN_PILOT_QUERIES and not difference.identical:
            plan = rm.plan(size, difference.metric, pilot=difference, comparisons=n_differences, level=comparison.level)
            plans.append(_PairPlan(difference, plan))
    return plans


def _plan_table(plans: list[_PairPlan], size: float) -> Table:
    header = ["metric", "pair", "standard deviation", "questions", "range", "if few carry it"]
    rows = []
    for pair in plans:
        low, high = pair.plan.range
        rows.append(
            [
                pair.difference.metric,
                f"{pair.difference.system} - {pair.difference.baseline}",
                numbers.value(pair.scenario.sd),
                f"{pair.plan.n_questions:,}",
                f"{low:,} to {high:,}",
                f"{pair.scenario.n_questions_sparse:,}",
            ]
        )
    note = SPARSE_SCENARIO if rows else "no pair of systems differs on any query, which shows no spread to plan with"
    return Table(header, rows, [note], f"questions for a difference of {size:g}, found in 80 % of evaluations", (0, 1))


def _plan_data(pair: _PairPlan) -> dict[str, Any]:
    return {
        **output.fields(pair.difference, "metric", "system", "baseline"),
        "sd": pair.scenario.sd,
        **output.fields(pair.plan, "n_questions", "range"),
        "n_questions_sparse": pair.scenario.n_questions_sparse,
    }


def _conclusion_record(conclusion: rm.types.Conclusion) -> dict[str, Any]:
    return {
        **output.fields(conclusion, "metric", "system", "baseline", "n", "difference"),
        "ci_low": conclusion.interval.low,
        "ci_high": conclusion.interval.high,
        "p_corrected": conclusion.p_corrected,
        "p_uncorrected": conclusion.details.p_uncorrected,
        "conclusion": conclusion.kind,
    }


def _comparison_output(comparison: rm.Comparison, plan_size: float | None) -> output.CommandOutput:
    data = {
        **output.fields(comparison, "baseline", "level"),
        "means": comparison.means,
        "conclusions": [conclusion.as_dict() for conclusion in comparison.conclusions],
        **output.fields(comparison, "summary", "notes"),
    }
    records = [_conclusion_record(conclusion) for conclusion in comparison.conclusions]
    tables = [*comparison_tables(comparison), *notes_tables(comparison)]
    if plan_size is not None:
        plans = _plan_pairs(comparison, plan_size)
        data["plan"] = [_plan_data(pair) for pair in plans]
        tables.append(_plan_table(plans, plan_size))
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


def run_changes(arguments: argparse.Namespace) -> bool:
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


# `retrieval-metrics tune QRELS RUN RUN --default NAME`, or `tune SAVED SAVED --default NAME`.

# The attributes of a tuning that JSON holds as they are.
TUNING_FIELDS = (
    *("metric", "winner", "default", "n_questions", "level", "mean", "expected_mean", "gain", "expected_gain", "p"),
    *("is_significant", "conclusion", "expected_mean_interval", "expected_gain_interval"),
)


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
    for option, extreme in (("--at-least", "least"), ("--at-most", "largest")):
        parser.add_argument(
            option,
            action="append",
            default=[],
            type=parse_bound,
            metavar="METRIC=MEAN",
            help=f"do not choose a run whose mean is beyond this, the {extreme} that it may be",
        )
    parser.add_argument("--save", type=Target, metavar="FILE", help="save the tuning, such as tuning.json.gz")
    add_rule_options(parser)
    add_output_options(parser)
    add_module_option(parser)
    add_reading_options(parser, "qrels", "run")


def run_tune(arguments: argparse.Namespace) -> bool:
    """Run the command; the exit code of a choice is always 0."""
    metric, *extra_metrics = arguments.metric
    saved = read_saved_evaluations([arguments.qrels, *arguments.runs])
    # The options for scoring are no arguments of `tune` itself, which passes them on.
    options = select_arguments(
        rm.tune,
        arguments,
        extra_metrics=extra_metrics,
        at_least=_bounds_by_metric(arguments.at_least),
        at_most=_bounds_by_metric(arguments.at_most),
        **scoring_arguments(arguments),
    )
    if saved is None:
        qrels, runs = read_qrels_and_run(arguments, paths_by_name(arguments.runs))
        tuning = rm.tune(runs, qrels, metric, **options)
    else:
        tuning = rm.tune(saved, None, metric, **options)
    if arguments.report is not None:
        tuning.report(arguments.report)
    if arguments.save is not None:
        tuning.save(arguments.save)
    return output.finish(_tuning_output(tuning), arguments)


def _bounds_by_metric(bounds: Sequence[tuple[Any, float]]) -> dict[str, float]:
    return {str(metric): mean for metric, mean in bounds}


def _tuning_output(tuning: rm.types.Tuning) -> output.CommandOutput:
    records = [_setting_record(setting, tuning) for setting in tuning.settings]
    data = {**output.fields(tuning, *TUNING_FIELDS), "settings": records}
    return output.CommandOutput(tuning.tables, data, records)


def _setting_record(setting: TriedSetting, tuning: rm.types.Tuning) -> dict[str, Any]:
    difference = setting.difference
    if difference is None:  # the default, which is compared with itself
        comparison = {"gain": 0.0, "ci_low": 0.0, "ci_high": 0.0, "p_corrected": 1.0}
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
    }


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


def run_audit(arguments: argparse.Namespace) -> bool:
    """Run the command; the exit code of an audit is always 0."""
    qrels, runs = read_qrels_and_run(arguments, {"run": arguments.run})
    audit = rm.audit(
        qrels,
        runs["run"],
        arguments.metric or rm.DEFAULT_METRICS,
        rules=arguments.rules or tuple(RULE_SETS),
        match=arguments.match,
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
        for rule_name, means in audit.means.items():
            record[rule_name] = means.get(metric, float("nan"))
        records.append(record)
    return output.CommandOutput(audit.tables, data, records)
