"""`retrieval-metrics lint QUERIES QRELS`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics._internal.atomic_write import save_text
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    add_exclude_option,
    add_function_options,
    add_output_options,
    add_reading_options,
    select_arguments,
)
from retrieval_metrics.cli.command import Command
from retrieval_metrics.cli.input_files import (
    paths_by_name,
    read_document_texts,
    read_exclusion,
    read_judgments,
    read_query_texts,
    read_run_or_saved,
)
from retrieval_metrics.cli.option_types import parse_metric
from retrieval_metrics.datasets.lint_report import COLUMNS, SEVERITIES
from retrieval_metrics.reports.numbers import format_count

if TYPE_CHECKING:
    import argparse

    from retrieval_metrics.datasets.lint_report import Severity


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "queries",
        metavar="QUERIES",
        help="the texts of the questions: JSONL, TSV, CSV, JSON or Parquet, or a saved set of questions",
    )
    parser.add_argument(
        "qrels", metavar="QRELS", help="judgments, in any format that evaluate reads, or a saved set of questions"
    )
    parser.add_argument(
        "--corpus",
        metavar="CORPUS",
        help="the texts of the documents: a folder of text files, or a file such as BEIR's corpus.jsonl",
    )
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        metavar="NAME=RUN",
        help="a run; repeat for several (default: BM25 over the corpus)",
    )
    parser.add_argument(
        "-m", "--metric", type=parse_metric, default=parse_metric("ndcg@10"), help="default: %(default)s"
    )
    add_function_options(
        rm.EvaluationSet.lint, parser, difference="the difference of means that the questions should be able to detect"
    )
    add_exclude_option(parser)
    add_output_options(parser)
    parser.add_argument("--fail-on", choices=SEVERITIES, help="exit with 1 if there is a finding at least this severe")
    add_reading_options(parser, "qrels", "run")


def run(arguments: argparse.Namespace) -> bool:
    """Run the command; return whether no finding is as severe as --fail-on."""
    corpus = None
    if arguments.corpus is not None:
        corpus = read_document_texts(arguments, arguments.corpus)
    runs = {}
    for name, path in paths_by_name(arguments.run).items():
        runs[name] = read_run_or_saved(arguments, path)
    options = select_arguments(rm.EvaluationSet.lint, arguments)
    if arguments.exclude is not None:
        options["exclude"] = read_exclusion(arguments.exclude)
    lint = _read_questions(arguments).lint(corpus, runs or None, **options)
    result = _make_output(lint)
    if arguments.report is not None:
        save_text(arguments.report, output.page(result))
    return output.finish(result, arguments, _find_failures(lint, arguments.fail_on))


def _find_failures(lint: rm.types.Lint[Any], fail_on: Severity | None) -> list[str]:
    """Return the reason why the command fails; nothing unless a finding is at least as severe as `--fail-on`."""
    if fail_on is None:
        return []
    failing_severities = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    n_failing = sum(finding.severity in failing_severities for finding in lint)
    if not n_failing:
        return []
    threshold = fail_on if fail_on == SEVERITIES[0] else f"{fail_on} or higher"
    return [f"{format_count(n_failing, 'finding')} of severity {threshold}"]


def _read_questions(arguments: argparse.Namespace) -> rm.EvaluationSet:
    """Return the questions that have a text in one file and judgments in the other."""
    texts = read_query_texts(arguments, arguments.queries)
    judgments = read_judgments(arguments)
    if isinstance(judgments, rm.EvaluationSet):
        questions = judgments
    else:
        questions = rm.EvaluationSet({}, judgments.as_dict())
    queries: Any = {}
    for query in questions.qrels:
        if str(query) in texts:
            queries[query] = texts[str(query)]
    if not queries:
        raise ValueError(
            f"no query of {arguments.qrels}, such as {next(iter(questions.qrels))!r}, has a text in "
            f"{arguments.queries}, which has {next(iter(texts))!r}"
        )
    return replace(questions, queries=queries)


def _make_output(lint: rm.types.Lint[Any]) -> output.CommandOutput:
    findings = output.plain([dict(zip(COLUMNS, row, strict=True)) for row in lint.rows()])
    data = {"questions": len(lint.questions), "findings": findings, "skipped": lint.skipped}
    columns = [column for column in COLUMNS if column != "evidence"]
    return output.CommandOutput(lint.tables, data, findings, columns)


COMMAND = Command(add_arguments, run)
