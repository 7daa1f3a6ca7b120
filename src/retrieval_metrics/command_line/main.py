"""`retrieval-metrics`: parse the arguments, run the command, and report errors in one line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval_metrics.argument_names import spelled_by
from retrieval_metrics.checks import RetrievalWarning
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
from retrieval_metrics.command_line.arguments import import_metrics, refuse_lost_files
from retrieval_metrics.command_line.options import Options
from retrieval_metrics.presentation.escapes import on_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

BELOW, WRONG, DEFECT, INTERRUPTED = 1, 2, 3, 130
"""Exit codes: a threshold is missed; the call or a file is invalid; a bug in this package; Ctrl-C."""

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

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call, and stop."""
        _say(f"error: {message}; {self.prog} --help shows what it takes")
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
    for command in (evaluate, compare, tune, audit, lint, generate, convert, check, history, report):
        command.add_to(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Every error ends here: errors of the call and of files with code 2 and a line that says what is wrong, all others
    with code 3 and a line that says how to report them.
    """
    if sys.stdout is None or sys.stderr is None:
        return WRONG  # there is nowhere to report it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RetrievalWarning)
            warnings.showwarning = _show_warning
            try:
                return _run(arguments)
            finally:
                with output.for_reader(sys.stdout):
                    """What argparse or a command wrote, and nobody may read."""
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        _say(f"error: {error or 'there is not enough memory; a TREC run can be streamed with --memory SIZE'}")
        _discard_output()
        return WRONG
    except Exception as error:  # noqa: BLE001  (reported with its place and a separate exit code)
        return _defect(error)


def _run(arguments: Sequence[str] | None) -> int:
    top = parser()
    import_metrics(arguments)
    given = top.parse_args(arguments)
    if given.version:
        from retrieval_metrics.version import __version__  # noqa: PLC0415  (takes as long to import as half of this package)

        with output.for_reader(sys.stdout):
            sys.stdout.write(__version__ + "\n")
        return 0
    if not hasattr(given, "run_command"):
        top.print_help()
        return WRONG
    refuse_lost_files(given)
    with spelled_by(Options(given)):
        met: bool = given.run_command(given)
    return 0 if met else BELOW


def _defect(error: Exception) -> int:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" ({os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno})"  # noqa: PTH119  (a name for the message)
    _say(
        f"internal error: {type(error).__name__}: {error}{where}; this is a bug in retrieval-metrics, please report "
        "it with the command, this line and, if possible, the files"
    )
    return DEFECT


def _say(text: str) -> None:
    with output.for_reader(sys.stderr):
        sys.stderr.write(f"retrieval-metrics: {on_one_line(text)}\n")


def _discard_output() -> None:
    """Discard the output that cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        output.discard(sys.stdout)


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    kind = "warning" if issubclass(category, RetrievalWarning) else category.__name__
    _say(f"{kind}: {message}")


def _terminated(*_: Any) -> NoReturn:
    _say("terminated")
    sys.exit(128 + signal.SIGTERM)


def script() -> NoReturn:
    """Run the command line as a program."""
    signal.signal(signal.SIGTERM, _terminated)  # as an exception, so that no partly written file stays behind
    sys.exit(main())
