"""`retrieval-metrics`: parse the arguments, run the command, and report errors in one line."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from typing import TYPE_CHECKING, NoReturn

import retrieval_metrics as rm
from retrieval_metrics.checks import RetrievalWarning
from retrieval_metrics.command_line import audit, compare, convert, evaluate, lint
from retrieval_metrics.command_line.arguments import import_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

BELOW, WRONG = 1, 2
"""Exit codes: a threshold is missed; the call or a file is invalid."""

EXAMPLES = """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec.gz -m ndcg@10 -m map
  retrieval-metrics evaluate qrels/test.tsv run.csv -m mrr@10 --per-query --format csv -o scores.csv
  retrieval-metrics evaluate qrels.trec run.trec --fail-under ndcg@10=0.35     (exit code 1 if it is lower)
  retrieval-metrics evaluate qrels.trec run.trec --metrics-from my_metrics -m my_metric@10
  retrieval-metrics compare qrels.trec bm25.run dense.run -m ndcg@10 --baseline bm25
  retrieval-metrics audit qrels.trec run.trec -m ndcg@10 -m map
  retrieval-metrics lint queries.jsonl qrels/test.tsv --corpus corpus.jsonl --fail-on error
  retrieval-metrics convert run run.parquet run.trec.zst

exit codes:
  0  done
  1  a metric is below its --fail-under, with --fail-if-worse a run is worse, or with --fail-on something is wrong
  2  the call or a file is invalid
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="retrieval-metrics",
        description="Retrieval metrics from files: exact, fast, and the same as in Python.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for command in (evaluate, compare, audit, lint, convert):
        command.add_to(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    top = parser()
    try:
        import_metrics(arguments)
    except ImportError as error:
        sys.stderr.write(f"retrieval-metrics: error: {error}\n")
        return WRONG
    given = top.parse_args(arguments)
    if given.version:
        sys.stdout.write(rm.__version__ + "\n")
        return 0
    if not hasattr(given, "run_command"):
        top.print_help()
        return WRONG
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RetrievalWarning)
            warnings.showwarning = _show_warning
            met: bool = given.run_command(given)
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed the pipe, as with "| head"
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ImportError, OSError, TypeError, ValueError) as error:
        sys.stderr.write(f"retrieval-metrics: error: {error}\n")
        return WRONG
    return 0 if met else BELOW


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "warning" if issubclass(category, RetrievalWarning) else category.__name__
    sys.stderr.write(f"retrieval-metrics: {kind}: {message}\n")


def script() -> NoReturn:
    """Run the command line as a program."""
    sys.exit(main())
