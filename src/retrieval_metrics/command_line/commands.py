"""The parser of the whole command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.command_line import (
    audit,
    check,
    compare,
    convert,
    evaluate,
    generate,
    history,
    lint,
    output,
    report,
    tune,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: Sequence[Any] = (evaluate, compare, tune, audit, lint, generate, convert, check, history, report)
"""The commands: each has its name, says what it does and shows examples, adds its options to a parser, and runs."""
WRONG = 2
"""The exit code if the call or a file is invalid."""

EXAMPLES = """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec.gz -m ndcg@10,map
  retrieval-metrics evaluate qrels.trec bm25.run dense.run -m ndcg@10
  retrieval-metrics evaluate qrels/test.tsv run.csv -m mrr@10 -q --format csv -o scores.csv
  retrieval-metrics evaluate qrels.trec run.trec --fail-under ndcg@10=0.35     (exit code 1 if it is lower)
  retrieval-metrics evaluate qrels.trec run.trec --metrics-from my_metrics -m my_metric@10
  retrieval-metrics compare qrels.trec bm25.run dense.run -m ndcg@10 --baseline bm25
  retrieval-metrics tune qrels.trec k10.run k60.run k100.run -m ndcg@10 --default k60
  retrieval-metrics audit qrels.trec run.trec -m ndcg@10,map
  retrieval-metrics evaluate qrels.trec run.trec --save today.json.gz
  retrieval-metrics compare last-week.json.gz today.json.gz
  retrieval-metrics history add retrieval.jsonl today.json.gz
  retrieval-metrics lint queries.jsonl qrels/test.tsv --corpus corpus.jsonl --fail-on error
  retrieval-metrics convert run run.parquet run.trec.zst
  retrieval-metrics check today.json.gz

exit codes:
  0  done
  1  a metric is below its --fail-under, a run is worse (--fail-if-worse), there is such a finding (--fail-on), or a
     file is not what was saved (check)
  2  the call or a file is invalid
  3  a bug in this program
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all others of this program are, and not below a page of usage."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.set_defaults(parser=self)  # that of the command, for what is wrong with several arguments together

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call, and stop."""
        output.say(f"error: {message}; {self.prog} --help shows what it takes")
        self.exit(WRONG)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    top = Parser(
        prog="retrieval-metrics",
        description="Retrieval metrics from files: exact, fast, and the same as in Python.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        summary = command.DESCRIPTION.partition(". ")[0].removesuffix(".")
        one = commands.add_parser(
            command.__name__.rpartition(".")[2],
            help=summary[0].lower() + summary[1:],
            description=command.DESCRIPTION,
            epilog=command.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        one.set_defaults(run_command=command.run)
        command.add_to(one)
    return top
