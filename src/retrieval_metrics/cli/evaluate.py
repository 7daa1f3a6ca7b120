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
from retrieval_metrics.cli.input_files import (
    paths_by_name,
    read_named_inputs,
    read_report_texts,
    read_run_name,
    scoring_arguments,
    truncate_rankings,
)
from retrieval_metrics.cli.option_types import parse_labels, parse_metric_value, read_values_by_query
from retrieval_metrics.cli.trec_eval_lines import (
    format_trec_eval,
    is_known_metric,
    is_trec_eval_only,
    with_relevance_level,
)
from retrieval_metrics.cli.trec_eval_lines import select_measures as trec_eval_names
from retrieval_metrics.evaluation.mean_limits import check_ceiling, require_useful_bound
from retrieval_metrics.evaluation.summary_table import summary_table
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.metric import as_metric
from retrieval_metrics.metrics.base.rules import as_rules
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence


def add_to_evaluate(parser: argparse.ArgumentParser) -> None:
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
    trec_eval.add_argument("-J", "--judged-only", action="store_true", help="take unjudged documents out of the run")
    trec_eval.add_argument("-n", "--no-summary", action="store_true", help="with -q: only the lines of single queries")
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


def run_evaluate(given: argparse.Namespace) -> bool:
    """Run the command; return whether every metric reaches its threshold in every run."""
    paths = paths_by_name(given.runs)
    asked, rules = _asked(given), _rules(given)
    bounded = [*given.fail_under, *given.at_most]
    metrics = [*_computed(asked, given.level), *(name for name, _ in bounded)]
    for option in ("fail_under", "at_most"):
        for bound in getattr(given, option):
            require_useful_bound(option, *bound)
    _refuse_contradictions(given, several=len(paths) > 1)
    labels, texts = parse_labels(given.label), read_report_texts(given)
    judged = read_named_inputs(given, paths)
    options = scoring_arguments(given) | {"rules": rules}
    results = {
        name: rm.evaluate(truth, one if given.most is None else truncate_rankings(one, given.most), metrics, **options)
        for name, (truth, one) in judged.items()
    }
    first = next(iter(results.values()))
    shown = shown_of(results, per_query=given.per_query)
    if given.slices is not None:
        slices = read_values_by_query(given.slices, "slices")
        shown = with_slices(shown, first.group_by(slices))
        texts["slices"] = {query: slices[query] for query in first.queries if slices.get(query) is not None}
    if given.format == "trec_eval":
        name = read_run_name(next(iter(paths.values())))
        ((truth, _),) = judged.values()
        origin = first.scores.require_origin("counted")
        lines = format_trec_eval(
            first.scores,
            asked,
            name,
            given.level,
            with_pooled=lambda: judge(as_qrels(truth), origin.run, origin.match, rules.order),
            per_query=given.per_query,
            summary=not given.no_summary,
        )
        shown = shown._replace(lines=lines)
    if given.report is not None:
        first.report(given.report, **texts)
    if given.save is not None:
        first.save(given.save, labels=labels)
    ceilings = [(name, check_ceiling(one.scores, *bound)) for name, one in results.items() for bound in given.at_most]
    said = {f"{name}: {one.line}" if len(results) > 1 else one.line: one.outcome == "passed" for name, one in ceilings}
    passed, failed = ([line for line, fine in said.items() if fine is wanted] for wanted in (True, False))
    if passed:
        shown = shown._replace(tables=[*shown.tables, Table((), (), passed)])
    return output.finish(shown, given, [*too_low(results, given.fail_under), *failed])


def _refuse_contradictions(given: argparse.Namespace, *, several: bool) -> None:
    """Raise if options do not go together."""
    lines = given.format == "trec_eval"
    for is_wrong, said in (
        (given.no_summary and not lines, "-n is about the lines of trec_eval, and needs --format trec_eval"),
        (
            lines and (several or given.slices is not None),
            "--format trec_eval is about one run; call evaluate once for each",
        ),
        (given.report is not None and several, "--report takes one run; use compare for a report on several"),
        (given.save is not None and several, "--save saves one evaluation; run evaluate once for each run"),
        (given.label and given.save is None, "--label is saved with the evaluation, so it needs --save FILE"),
        (given.slices is not None and several, "--slices is about one run; call evaluate once for each"),
    ):
        if is_wrong:
            raise ValueError(said)


def _rules(given: argparse.Namespace) -> rm.Rules:
    usual = "trec_eval" if given.format == "trec_eval" else "standard"
    rules = as_rules(given.rules or usual, given.ties, "condensed" if given.judged_only else None)
    return replace(rules, missing="zero") if given.complete else rules


def _asked(given: argparse.Namespace) -> list[Any]:
    """Return what is to be printed: metrics, and what only trec_eval has."""
    if given.format == "trec_eval":
        return [with_relevance_level(one, given.level) for one in trec_eval_names(given.metric or ["official"])]
    if others := [one for one in given.metric or () if is_trec_eval_only(one) and not is_known_metric(one)]:
        raise ValueError(f"{others[0]} is no metric but a line of trec_eval, and needs --format trec_eval")
    return [with_relevance_level(one, given.level) for one in map(as_metric, given.metric or rm.DEFAULT_METRICS)]


def _computed(asked: Sequence[Any], level: int) -> list[rm.Metric]:
    metrics = [one for one in asked if isinstance(one, rm.Metric)]
    return metrics or [with_relevance_level(rm.Metric.parse("map"), level)]


def shown_of(results: Mapping[str, rm.Evaluation], *, per_query: bool) -> output.CommandOutput:
    """Return the evaluation of one run, or those of several side by side, ready to be written."""
    if len(results) == 1:
        (result,) = results.values()
        names = list(map(str, result.metrics))
        shown = [_query_table("", names, result.queries, result.values.tolist())] if per_query else []
        tables = [*shown, summary_table(result.scores)]
        return output.CommandOutput(tables, _data(result, per_query=per_query), _records(result, per_query=per_query))
    tables = [_side_by_side(results, metric) for metric in next(iter(results.values())).per_query] if per_query else []
    return output.CommandOutput(
        [*tables, _means(results)],
        {"runs": {name: _data(result, per_query=per_query) for name, result in results.items()}},
        [{"run": name} | row for name, result in results.items() for row in _records(result, per_query=per_query)],
    )


def _records(result: rm.Evaluation, *, per_query: bool) -> list[dict[str, Any]]:
    if not per_query:
        return [{"metric": name, "mean": mean, "n": result.n[name]} for name, mean in result.means.items()]
    names = list(map(str, result.metrics))
    values = zip(result.queries, result.values.tolist(), strict=True)
    return [{"query": query, **dict(zip(names, row, strict=True))} for query, row in values]


def with_slices(shown: output.CommandOutput, found: rm.types.Slices[rm.Evaluation]) -> output.CommandOutput:
    """Return what is shown of a run with its slices below; a spreadsheet has the slices alone."""
    data = {str(label): _data(one, per_query=False)["metrics"] for label, one in found.items()}
    return output.CommandOutput(
        [*shown.tables, *found.tables],
        {**shown.data, "slices": data},
        [{"slice": label} | row for label, one in found.items() for row in _records(one, per_query=False)],
    )


def _side_by_side(results: Mapping[str, rm.Evaluation], metric: str) -> Table:
    """Return the values of a metric for every query, a column for each run."""
    values = [result.per_query[metric] for result in results.values()]
    queries = list(dict.fromkeys(query for one in values for query in one))
    by_query = [[one.get(query, float("nan")) for one in values] for query in queries]
    return _query_table(metric, list(results), queries, by_query)


def _means(results: Mapping[str, rm.Evaluation]) -> Table:
    """Return the means of every metric, a column for each run."""
    metrics = map(str, next(iter(results.values())).metrics)
    means = [[metric, *(_number(result.means[metric]) for result in results.values())] for metric in metrics]
    return Table(["metric", *results], means, _notes(results))


def _notes(results: Mapping[str, rm.Evaluation]) -> list[str]:
    """Return the notes common to all runs once, and other notes after the name of their run."""
    notes = {name: summary_table(result.scores).notes for name, result in results.items()}
    first, *others = notes.values()
    common = [note for note in first if all(note in other for other in others)]
    return common + [f"{name}: {note}" for name, said in notes.items() for note in said if note not in common]


def _query_table(
    title: str, columns: Sequence[str], queries: Sequence[Any], values: Sequence[Sequence[float]]
) -> Table:
    rows = [[str(query), *map(_number, row)] for query, row in zip(queries, values, strict=True)]
    return Table(["query", *columns], rows, title=title)


def _number(value: float) -> str:
    return "-" if isnan(value) else numbers.value(value)


def _data(result: rm.Evaluation, *, per_query: bool) -> dict[str, Any]:
    content: dict[str, Any] = {
        "rules": result.rules.name,
        "metrics": {name: {"mean": mean, "n": result.n[name]} for name, mean in result.means.items()},
        "counts": result.counts,
    }
    return content | output.fields(result, "per_query") if per_query else content


def too_low(results: Mapping[str, rm.Evaluation], floors: list[tuple[rm.Metric, float]]) -> list[str]:
    """Return which means of which runs are below their floors."""
    found = []
    for run_name, result in results.items():
        for name, floor in floors:
            mean = result.means[str(name)]
            if isnan(mean) or mean < floor:
                of_run = f" of {run_name}" if len(results) > 1 else ""
                found.append(f"{name}{of_run} is {numbers.apart(mean, floor)[0]}, below {floor:g}")
    return found
