"""`retrieval-metrics compare QRELS RUN RUN`, and the same for saved evaluations."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import retrieval_metrics as rm
from retrieval_metrics._internal.validation import positive_number
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_file_arguments,
    add_function_options,
    add_metric_options,
    add_output_options,
    add_reading_options,
    add_rule_options,
    add_text_options,
    select_arguments,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import (
    paths_by_name,
    read_qrels_and_run,
    read_report_texts,
    read_saved_evaluations,
    scoring_arguments,
)
from retrieval_metrics.cli.printed_warnings import show_warnings_except
from retrieval_metrics.comparison.comparison_tables import comparison_tables, notes_tables
from retrieval_metrics.comparison.difference import supported_numbers
from retrieval_metrics.comparison.plan import SPARSE_SCENARIO
from retrieval_metrics.comparison.spread_estimates import MIN_PILOT_QUERIES
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Sequence

    from retrieval_metrics.comparison.plan import PlanScenario


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
        margin="SIZE | also test non-inferiority with this margin, such as 0.02",
        unretrieved_relevant="N | with --unjudged bounds: a query may have up to N more relevant documents that no "
        "system retrieved",
        seed="seed of the randomisation test",
    )
    parser.add_argument(
        "--unjudged",
        choices=["bounds", "condensed"],
        help="how to treat unjudged documents: bounds reports how much grading them could change, condensed removes "
        "them from the rankings (default: they count as not relevant)",
    )
    parser.add_argument(
        "--plan",
        type=float,
        metavar="SIZE",
        help="also estimate how many questions it takes to detect a difference of this size; these runs are the pilot",
    )
    parser.add_argument(
        "--fail-if-worse", action="store_true", help="exit with 1 if a run is significantly worse than the baseline"
    )
    add_output_options(parser)
    add_text_options(parser)
    add_reading_options(parser, "qrels", "run")


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; with --fail-if-worse, return whether no run is significantly worse than the baseline."""
    if arguments.fail_if_worse and arguments.baseline is None:
        raise ValueError("--fail-if-worse needs --baseline NAME, the run to compare with")
    if arguments.plan is not None:
        positive_number(arguments.plan, "plan")
    saved = read_saved_evaluations([arguments.qrels, *arguments.runs])
    names: Collection[str] = saved if saved is not None else paths_by_name(arguments.runs)
    if arguments.baseline is not None and arguments.baseline not in names:
        raise ValueError(f"--baseline: no run is named {arguments.baseline!r}; the runs are {', '.join(names)}")
    texts = read_report_texts(arguments)
    options = select_arguments(
        rm.compare, arguments, metrics=arguments.metric or rm.DEFAULT_METRICS, **scoring_arguments(arguments)
    )
    compared: tuple[Any, ...] = (saved,)
    if saved is None:
        compared = read_qrels_and_run(arguments, paths_by_name(arguments.runs))
    comparison = _compare(compared, options, prints_text=output.prints_text(arguments))
    if arguments.report is not None:
        comparison.report(arguments.report, **texts)
    if arguments.save is not None:
        comparison.save(arguments.save)
    failures = []
    for conclusion in comparison.conclusions:
        is_unmeasured = conclusion.kind == "not_comparable" and not conclusion.details.measured
        if arguments.fail_if_worse and (conclusion.kind == "worse" or is_unmeasured):
            failures.append(conclusion.sentence)
    return output.finish(_comparison_output(comparison, arguments.plan), arguments, failures)


def _compare(compared: tuple[Any, ...], options: dict[str, Any], *, prints_text: bool) -> rm.Comparison:
    """Return the comparison, and show the warnings that the printed text does not contain anyway."""
    caught: list[warnings.WarningMessage] = []
    caveats: Sequence[str] = ()
    try:
        with warnings.catch_warnings(record=True) as caught:
            comparison = rm.compare(*compared, **options)
        if prints_text:
            caveats = comparison.conclusions.caveats
        return comparison
    finally:
        show_warnings_except(caught, caveats)


class _PairPlan(NamedTuple):
    """A difference of two runs, and the plan of how many questions it takes to find one of a given size."""

    difference: rm.types.Difference
    plan: rm.types.Plan

    @property
    def scenario(self) -> PlanScenario:
        """The scenario between the lowest and the highest spread."""
        return self.plan.scenarios[1]


def _plan_pairs(comparison: rm.Comparison, size: float) -> list[_PairPlan]:
    """Return a plan for each measured difference whose spread is known."""
    n_differences = len(comparison.differences)
    plans = []
    for difference in comparison.differences:
        if difference.measured and difference.n >= MIN_PILOT_QUERIES and not difference.identical:
            plan = rm.plan(size, difference.metric, pilot=difference, comparisons=n_differences, level=comparison.level)
            plans.append(_PairPlan(difference, plan))
    return plans


def _plan_table(plans: list[_PairPlan], size: float) -> Table:
    header = ["metric", "pair", "SD", "questions", "range", "if sparse"]
    rows = []
    for pair in plans:
        low, high = pair.plan.range
        rows.append(
            [
                pair.difference.metric,
                f"{pair.difference.system} - {pair.difference.baseline}",
                numbers.format_value(pair.scenario.sd),
                f"{pair.plan.n_questions:,}",
                f"{low:,} to {high:,}",
                f"{pair.scenario.n_questions_sparse:,}",
            ]
        )
    note = SPARSE_SCENARIO if rows else "no pair of systems differs on any query, so there is no spread to plan with"
    title = f"questions needed to detect a difference of {size:g} with 80% power"
    return Table(header, rows, [note], title, words=(0, 1))


def _plan_data(pair: _PairPlan) -> dict[str, Any]:
    return {
        **output.fields(pair.difference, "metric", "system", "baseline"),
        "sd": pair.scenario.sd,
        **output.fields(pair.plan, "n_questions", "range"),
        "n_questions_sparse": pair.scenario.n_questions_sparse,
    }


def _conclusion_record(conclusion: rm.types.Conclusion) -> dict[str, Any]:
    return {
        **output.fields(conclusion, "metric", "system", "baseline", "n"),
        **supported_numbers(conclusion.details),
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


COMMAND = Command(add_arguments, run)
