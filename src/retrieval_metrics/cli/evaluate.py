"""`retrieval-metrics evaluate QRELS RUN [RUN ...]`."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_file_arguments,
    add_metric_options,
    add_output_options,
    add_reading_options,
    add_rule_options,
    add_text_options,
    add_trace_options,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import (
    paths_by_name,
    read_named_inputs,
    read_report_texts,
    read_run_name,
    scoring_arguments,
    truncate_rankings,
)
from retrieval_metrics.cli.option_types import parse_labels, parse_metric_value, read_values_by_query
from retrieval_metrics.cli.printed_warnings import show_unprinted_warnings
from retrieval_metrics.cli.trec_eval_lines import (
    format_trec_eval,
    is_known_metric,
    is_trec_eval_only,
    select_measures,
    with_relevance_level,
)
from retrieval_metrics.comparison.system_warnings import repeat_warnings_once
from retrieval_metrics.evaluation.evaluation_table import summary_table, widen_for_terminal
from retrieval_metrics.evaluation.mean_limits import check_ceiling
from retrieval_metrics.evaluation.useful_bounds import require_useful_bound
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.metric import as_metric
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    add_file_arguments(parser, runs="+")
    add_metric_options(parser)
    add_rule_options(parser)
    parser.add_argument("-q", "--per-query", action="store_true", help="also show the values of every query")
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        type=parse_metric_value,
        metavar="METRIC=VALUE",
        help="exit with 1 if the mean of the metric is below the value, for any of the runs",
    )
    parser.add_argument(
        "--at-most",
        action="append",
        default=[],
        type=parse_metric_value,
        metavar="METRIC=VALUE",
        help="exit with 1 if the mean of a metric in which lower is better, such as leak@5, is above the value for "
        "any of the runs, or cannot be checked",
    )
    parser.add_argument(
        "--slices",
        metavar="FILE",
        help='also show the means of every slice: a JSON file {"query id": "slice", ...}',
    )
    add_output_options(parser, formats=["trec_eval"])
    trec_eval = parser.add_argument_group("as in trec_eval")
    trec_eval.add_argument("-c", "--complete", action="store_true", help="score 0 for judged queries not in the run")
    trec_eval.add_argument(
        "-l", "--level", type=int, metavar="GRADE", default=1, help="the lowest relevant grade (default: %(default)s)"
    )
    trec_eval.add_argument(
        "-J", "--judged-only", action="store_true", help="remove unjudged documents from the run (condensed lists)"
    )
    trec_eval.add_argument("-n", "--no-summary", action="store_true", help="with -q: omit the means")
    trec_eval.add_argument("-M", "--most", type=int, metavar="N", help="score only the first N documents of each query")
    add_text_options(parser)
    parser.add_argument(
        "--save",
        type=Target,
        metavar="FILE",
        help="save the evaluation for compare, history and report, such as result.json.gz",
    )
    parser.add_argument(
        "--label",
        action="append",
        default=[],
        metavar="NAME=TEXT",
        help="a label to save with the evaluation, such as commit=4f2a91c; repeat for several",
    )
    add_trace_options(parser)
    add_reading_options(parser, "qrels", "run")


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; return whether every metric reaches its threshold in every run."""
    paths = paths_by_name(arguments.runs)
    measures = _measures_to_print(arguments)
    rules = _rules_of_options(arguments)
    _require_useful_bounds(arguments)
    _refuse_contradictions(arguments, has_several_runs=len(paths) > 1)
    labels = parse_labels(arguments.label)
    texts = read_report_texts(arguments)
    inputs = read_named_inputs(arguments, paths)
    bounded_metrics = [metric for metric, _ in (*arguments.fail_under, *arguments.at_most)]
    metrics = [*_metrics_to_compute(measures, arguments.level), *bounded_metrics]
    options = scoring_arguments(arguments) | {"rules": rules}
    evaluations = {}
    to_terminal = output.prints_text(arguments)
    with show_unprinted_warnings(arguments) as printed_tables:
        with repeat_warnings_once(len(inputs)) as run_warnings:
            for name, (qrels, whole_run) in inputs.items():
                scored_run = whole_run
                if arguments.most is not None:
                    scored_run = truncate_rankings(whole_run, arguments.most)
                with run_warnings.record(name, f"while evaluating the run {name!r}"):
                    evaluations[name] = rm.evaluate(qrels, scored_run, metrics, **options)
        result = evaluations_output(evaluations, per_query=arguments.per_query, to_terminal=to_terminal)
        printed_tables.extend(result.tables)
    first_evaluation = next(iter(evaluations.values()))
    if arguments.slices is not None:
        slices = read_values_by_query(arguments.slices, "slices")
        result = add_slices(result, first_evaluation.group_by(slices))
        texts["slices"] = {query: slices[query] for query in first_evaluation.queries if slices.get(query) is not None}
    if arguments.format == "trec_eval":
        qrels, _ = next(iter(inputs.values()))
        run_name = read_run_name(next(iter(paths.values())))
        result = result._replace(lines=_trec_eval_lines(first_evaluation, measures, run_name, qrels, arguments))
    if arguments.report is not None:
        first_evaluation.report(arguments.report, **texts)
    if arguments.save is not None:
        first_evaluation.save(arguments.save, labels=labels)
    passed, failed = _check_ceilings(evaluations, arguments.at_most)
    if passed:
        result = result._replace(tables=[*result.tables, Table((), (), passed)])
    return output.finish(result, arguments, [*means_below(evaluations, arguments.fail_under), *failed])


def _trec_eval_lines(
    evaluation: rm.Evaluation, measures: Sequence[Any], run_name: str, qrels: Any, arguments: argparse.Namespace
) -> str:
    origin = evaluation.scores.require_origin("counted")
    return format_trec_eval(
        evaluation.scores,
        measures,
        run_name,
        arguments.level,
        with_pooled=lambda: judge(as_qrels(qrels), origin.run, origin.match, evaluation.rules.order),
        per_query=arguments.per_query,
        summary=not arguments.no_summary,
    )


def _check_ceilings(
    evaluations: Mapping[str, rm.Evaluation], bounds: Sequence[tuple[rm.Metric, float]]
) -> tuple[list[str], list[str]]:
    """Return the lines about upper bounds that are kept, and those about bounds that are exceeded or unchecked."""
    passed: list[str] = []
    failed: list[str] = []
    for name, evaluation in evaluations.items():
        for metric, bound in bounds:
            check = check_ceiling(evaluation.scores, metric, bound)
            line = f"{name}: {check.line}" if len(evaluations) > 1 else check.line
            lines = passed if check.outcome == "passed" else failed
            if line not in lines:
                lines.append(line)
    return passed, failed


def _require_useful_bounds(arguments: argparse.Namespace) -> None:
    """Raise if a floor or a ceiling is one that every value keeps, or the wrong one of the two for its metric."""
    for metric, floor in arguments.fail_under:
        require_useful_bound("fail_under", metric, floor)
    for metric, ceiling in arguments.at_most:
        if metric.definition.higher_is_better and not metric.definition.is_given:
            raise ValueError(f"higher is better in {metric}, so it has no ceiling; give it a floor: --fail-under")
        require_useful_bound("at_most", metric, ceiling)


def _refuse_contradictions(arguments: argparse.Namespace, *, has_several_runs: bool) -> None:
    """Raise if options do not go together."""
    prints_trec_eval = arguments.format == "trec_eval"
    if arguments.no_summary and not prints_trec_eval:
        raise ValueError("-n is for the lines of trec_eval, and needs --format trec_eval")
    if prints_trec_eval and (has_several_runs or arguments.slices is not None):
        raise ValueError("--format trec_eval is for one run; call evaluate once for each")
    if arguments.report is not None and has_several_runs:
        raise ValueError("--report takes one run; use compare for a report on several")
    if arguments.save is not None and has_several_runs:
        raise ValueError("--save saves one evaluation; run evaluate once for each run")
    if arguments.label and arguments.save is None:
        raise ValueError("--label is saved with the evaluation, so it needs --save FILE")
    if arguments.slices is not None and has_several_runs:
        raise ValueError("--slices is for one run; call evaluate once for each")


def _rules_of_options(arguments: argparse.Namespace) -> rm.Rules:
    default = "trec_eval" if arguments.format == "trec_eval" else "standard"
    rules = as_rules(arguments.rules or default, arguments.ties, "condensed" if arguments.judged_only else None)
    return replace(rules, missing="zero") if arguments.complete else rules


def _measures_to_print(arguments: argparse.Namespace) -> list[Any]:
    """Return what to print: metrics and, in the format of trec_eval, the names of measures that only it has."""
    names = arguments.metric or ()
    if arguments.format == "trec_eval":
        measures = select_measures(names or ["official"])
        return [with_relevance_level(measure, arguments.level) for measure in measures]
    for name in names:
        if is_trec_eval_only(name) and not is_known_metric(name):
            raise ValueError(f"{name} is not a metric but a line of trec_eval; it needs --format trec_eval")
    metrics = map(as_metric, names or rm.DEFAULT_METRICS)
    return [with_relevance_level(metric, arguments.level) for metric in metrics]


def _metrics_to_compute(measures: Sequence[Any], level: int) -> list[rm.Metric]:
    metrics = [measure for measure in measures if isinstance(measure, rm.Metric)]
    return metrics or [with_relevance_level(rm.Metric.parse("map"), level)]


def evaluations_output(
    evaluations: Mapping[str, rm.Evaluation], *, per_query: bool, to_terminal: bool = False
) -> output.CommandOutput:
    """Return the evaluation of one run, or those of several side by side, ready to be written."""
    first_evaluation = next(iter(evaluations.values()))
    tables = []
    if len(evaluations) == 1:
        if per_query:
            names = list(map(str, first_evaluation.metrics))
            tables.append(_query_table("", names, first_evaluation.queries, first_evaluation.values.tolist()))
        means_table = summary_table(first_evaluation.scores)
        if to_terminal:
            means_table = widen_for_terminal(means_table, first_evaluation.scores)
        tables.append(means_table)
        data = _evaluation_data(first_evaluation, per_query=per_query)
        return output.CommandOutput(tables, data, _evaluation_records(first_evaluation, per_query=per_query))
    if per_query:
        tables = [_values_of_runs_table(evaluations, metric) for metric in first_evaluation.per_query]
    tables.append(_means_table(evaluations))
    data_by_run = {}
    records = []
    for name, evaluation in evaluations.items():
        data_by_run[name] = _evaluation_data(evaluation, per_query=per_query)
        records += [{"run": name, **record} for record in _evaluation_records(evaluation, per_query=per_query)]
    return output.CommandOutput(tables, {"runs": data_by_run}, records)


def _evaluation_records(evaluation: rm.Evaluation, *, per_query: bool) -> list[dict[str, Any]]:
    if not per_query:
        return [{"metric": name, "mean": mean, "n": evaluation.n[name]} for name, mean in evaluation.means.items()]
    names = list(map(str, evaluation.metrics))
    records = []
    for query, values in zip(evaluation.queries, evaluation.values.tolist(), strict=True):
        records.append({"query": query, **dict(zip(names, values, strict=True))})
    return records


def add_slices(result: output.CommandOutput, slices: rm.types.Slices[rm.Evaluation]) -> output.CommandOutput:
    """Return the output of a run with its slices added; the records, for a spreadsheet, are of the slices alone."""
    data = {}
    records = []
    for label, evaluation in slices.items():
        data[str(label)] = _evaluation_data(evaluation, per_query=False)["metrics"]
        records += [{"slice": label, **record} for record in _evaluation_records(evaluation, per_query=False)]
    return output.CommandOutput([*result.tables, *slices.tables], {**result.data, "slices": data}, records)


def _values_of_runs_table(evaluations: Mapping[str, rm.Evaluation], metric: str) -> Table:
    """Return the table of the values of a metric, with a row for each query and a column for each run."""
    columns = [evaluation.per_query[metric] for evaluation in evaluations.values()]
    queries: dict[Any, None] = {}
    for column in columns:
        queries.update(dict.fromkeys(column))
    rows = [[column.get(query, float("nan")) for column in columns] for query in queries]
    return _query_table(metric, list(evaluations), list(queries), rows)


def _means_table(evaluations: Mapping[str, rm.Evaluation]) -> Table:
    """Return the table of means, with a row for each metric and a column for each run."""
    rows = []
    for metric in map(str, next(iter(evaluations.values())).metrics):
        means = [_format_mean(evaluation.means[metric]) for evaluation in evaluations.values()]
        rows.append([metric, *means])
    return Table(["metric", *evaluations], rows, _combine_notes(evaluations))


def _combine_notes(evaluations: Mapping[str, rm.Evaluation]) -> list[str]:
    """Return the notes common to all runs once, and other notes after the name of their run."""
    notes_by_name = {name: summary_table(evaluation.scores).notes for name, evaluation in evaluations.items()}
    first_notes, *further_notes = notes_by_name.values()
    common = [note for note in first_notes if all(note in notes for notes in further_notes)]
    lines = list(common)
    for name, notes in notes_by_name.items():
        lines += [f"{name}: {note}" for note in notes if note not in common]
    return lines


def _query_table(
    title: str, columns: Sequence[str], queries: Sequence[Any], values: Sequence[Sequence[float]]
) -> Table:
    rows = [[str(query), *map(_format_mean, row)] for query, row in zip(queries, values, strict=True)]
    return Table(["query", *columns], rows, title=title)


def _format_mean(value: float) -> str:
    return "-" if isnan(value) else numbers.format_value(value)


def _evaluation_data(evaluation: rm.Evaluation, *, per_query: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "rules": evaluation.rules.name,
        "metrics": {name: {"mean": mean, "n": evaluation.n[name]} for name, mean in evaluation.means.items()},
        "counts": evaluation.counts,
    }
    if per_query:
        data |= output.fields(evaluation, "per_query")
    return data


def means_below(evaluations: Mapping[str, rm.Evaluation], floors: list[tuple[rm.Metric, float]]) -> list[str]:
    """Return a line for each mean that is below its floor or undefined."""
    lines = []
    for name, evaluation in evaluations.items():
        suffix = f" of {name}" if len(evaluations) > 1 else ""
        for metric, floor in floors:
            mean = evaluation.means[str(metric)]
            if isnan(mean) or mean < floor:
                lines.append(f"{metric}{suffix} is {numbers.format_distinct(mean, floor)[0]}, below {floor:g}")
    return lines


COMMAND = Command(add_arguments, run)
