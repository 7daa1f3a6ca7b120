"""`retrieval-metrics evaluate QRELS RUN`."""

from __future__ import annotations

import argparse
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_metrics.command_line import output
from retrieval_metrics.command_line.arguments import (
    add_clusters_to,
    assignments,
    clusters,
    memory_size,
    metric,
    named_value,
    read,
)
from retrieval_metrics.definition.metric import DEFAULT_METRICS, Metric
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.files.formats import FORMATS
from retrieval_metrics.files.reading import read_qrels
from retrieval_metrics.scoring.rules import RULE_SETS

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.evaluation import Evaluation

EXAMPLES = """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec
  retrieval-metrics evaluate qrels.trec run.trec -m ndcg@10 -m "precision(rel=2)@5" --semantics trec_eval
  retrieval-metrics evaluate qrels.csv run.csv --run-column query=qid --run-column document=passage
  retrieval-metrics evaluate qrels.trec run.trec --per-query --format json | jq .per_query
  retrieval-metrics evaluate qrels.trec run.trec --fail-under ndcg@10=0.35 --fail-under recall@100=0.8
"""


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "evaluate",
        help="score a run against judgments",
        description="Score what a retriever returned against what is relevant.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run_command=run)
    parser.add_argument("qrels", metavar="QRELS", help="judgments: TREC, BEIR, CSV, TSV, JSON, JSONL or Parquet")
    parser.add_argument("run", metavar="RUN", help="what was retrieved, in any of these formats, also .gz and .zst")
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        type=metric,
        metavar="METRIC",
        help=f"a metric such as ndcg@10, repeat for several (default: {' '.join(DEFAULT_METRICS)})",
    )
    parser.add_argument("--semantics", choices=list(RULE_SETS), default="standard", help="default: %(default)s")
    add_clusters_to(parser)
    parser.add_argument("--per-query", action="store_true", help="also show the values of every query")
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        type=named_value,
        metavar="METRIC=VALUE",
        help="exit with 1 if the mean of the metric is below the value",
    )
    parser.add_argument("--format", choices=list(output.FORMATS), default="text", help="default: %(default)s")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write there instead of to the terminal")
    for what in ("qrels", "run"):
        parser.add_argument(
            f"--{what}-format", choices=FORMATS, help=f"the format of {what.upper()}, if its name does not show it"
        )
        parser.add_argument(
            f"--{what}-column",
            action="append",
            default=[],
            metavar="ROLE=NAME",
            help=f"a column of {what.upper()}: query=..., document=..., {'grade' if what == 'qrels' else 'score'}=...",
        )
    parser.add_argument(
        "--memory", type=memory_size, metavar="SIZE", help="stream a run that needs more memory than this, such as 4GB"
    )
    parser.add_argument("--no-progress", action="store_true", help="no progress bar for large files")


def run(given: argparse.Namespace) -> bool:
    """Run the command; return whether every metric reaches its floor."""
    metrics = [*(given.metric or DEFAULT_METRICS), *(name for name, _ in given.fail_under)]
    qrels = read_qrels(given.qrels, format=given.qrels_format, columns=assignments(given.qrels_column))
    ranked = read(
        given.run,
        memory=given.memory,
        progress=not given.no_progress,
        file_format=given.run_format,
        columns=assignments(given.run_column),
    )
    result = evaluate(qrels, ranked, metrics, semantics=given.semantics, clusters=clusters(given.clusters))
    output.write(result, given.format, given.output, per_query=given.per_query)
    return _reaches(result, given.fail_under)


def _reaches(result: Evaluation, floors: list[tuple[Metric, float]]) -> bool:
    met = True
    for name, floor in floors:
        mean = result.means[str(name)]
        if isnan(mean) or mean < floor:
            met = False
            output.complain(f"{name} is {mean:.4f}, below {floor:g}")
    return met
