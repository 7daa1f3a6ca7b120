"""The commands for files of data: lint finds problems in them, and convert writes them in another format."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from retrieval_metrics._internal.append_log import save_text
from retrieval_metrics.cli import output
from retrieval_metrics.cli.arguments import (
    Target,
    add_function_options,
    add_output_options,
    add_reading_options,
    select_arguments,
)
from retrieval_metrics.cli.input_files import (
    read_document_texts,
    read_judgments,
    read_qrels_file,
    read_query_texts,
    read_run_file,
    read_run_or_saved,
)
from retrieval_metrics.cli.option_names import use_option_names
from retrieval_metrics.cli.option_types import parse_metric
from retrieval_metrics.datasets.lint_report import COLUMNS
from retrieval_metrics.datasets.sample import select_queries
from retrieval_metrics.files.formats import FORMATS

if TYPE_CHECKING:
    import argparse


SEVERITIES = ("error", "warning", "note")


def add_to_lint(parser: argparse.ArgumentParser) -> None:
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
    add_output_options(parser)
    parser.add_argument("--fail-on", choices=SEVERITIES, help="exit with 1 if there is a finding at least this severe")
    add_reading_options(parser, "qrels", "run")


def run_lint(given: argparse.Namespace) -> bool:
    """Run the command; return whether no finding is as severe as --fail-on."""
    lint = _questions(given).lint(
        None if given.corpus is None else read_document_texts(given, given.corpus),
        {name: read_run_or_saved(given, path) for name, path in map(_named, given.run)} or None,
        **select_arguments(rm.EvaluationSet.lint, given),
    )
    shown = _shown(lint)
    if given.report is not None:
        save_text(given.report, output.page(shown))
    failing = () if given.fail_on is None else SEVERITIES[: SEVERITIES.index(given.fail_on) + 1]
    found = sum(finding.severity in failing for finding in lint)
    why = [f"{found:,} findings are as severe as {given.fail_on}, or more"] if found else []
    return output.finish(shown, given, why)


def _questions(given: argparse.Namespace) -> rm.EvaluationSet:
    """Return the questions that have a text in one file and judgments in the other."""
    texts, judged = read_query_texts(given, given.queries), read_judgments(given)
    whole = judged if isinstance(judged, rm.EvaluationSet) else rm.EvaluationSet({}, judged.as_dict())
    asked: Any = {query: texts[str(query)] for query in whole.qrels if str(query) in texts}
    if not asked:
        raise ValueError(
            f"no query of {given.qrels}, such as {next(iter(whole.qrels))!r}, has a text in {given.queries}, which has "
            f"{next(iter(texts))!r}"
        )
    return replace(select_queries(whole, asked), queries=asked)


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    return (name, path) if equals else (text, text)


def _shown(lint: rm.types.Lint[Any]) -> output.CommandOutput:
    found = output.plain([dict(zip(COLUMNS, row, strict=True)) for row in lint.rows()])
    data = {"questions": len(lint.questions), "findings": found, "skipped": lint.skipped}
    return output.CommandOutput(lint.tables, data, found, [name for name in COLUMNS if name != "evidence"])


def add_to_convert(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("what", choices=["run", "qrels"], help="what the file holds")
    parser.add_argument("source", metavar="SOURCE", help="a file, or - for standard input")
    parser.add_argument(
        "target",
        type=Target,
        metavar="TARGET",
        help="a file, compressed if it ends in .gz or .zst, or - for standard output",
    )
    parser.add_argument(
        "--to", dest="write_as", choices=FORMATS, help="the format of TARGET, if its name does not show it"
    )
    parser.add_argument(
        "--tag", default="retrieval-metrics", help="the last column of a TREC run (default: %(default)s)"
    )
    add_reading_options(parser, "qrels", "run")


def run_convert(given: argparse.Namespace) -> bool:
    """Run the command; the exit code of a conversion is always 0."""
    with output.for_reader(sys.stdout):
        if given.what == "qrels":
            judged = read_qrels_file(given, given.source)
            with use_option_names(given, "target"):
                rm.write_qrels(judged, given.target, format=given.write_as)
        else:
            found = read_run_file(given, given.source)
            with use_option_names(given, "target"):
                rm.write_run(found, given.target, format=given.write_as, tag=given.tag)
    return True
