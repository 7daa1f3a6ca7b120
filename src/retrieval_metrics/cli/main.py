"""`retrieval-metrics`: parse the arguments, run the command, and report errors in one line."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from retrieval_metrics._internal.validation import RetrievalWarning
from retrieval_metrics.cli import output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.cli.command import Command


# Exit codes: a threshold is missed; the call or a file is invalid; a bug in this package; Ctrl-C.
BELOW = 1
WRONG = 2
DEFECT = 3
INTERRUPTED = 130


def script() -> NoReturn:
    """Run the command line as a program."""
    signal.signal(signal.SIGTERM, _terminated)  # as an exception, so that no partly written file stays behind
    sys.exit(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if sys.stdout is None or sys.stderr is None:
        return WRONG  # there is nowhere to report it
    arguments = argparse.Namespace()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RetrievalWarning)
            warnings.showwarning = partial(_show_warning, arguments)
            try:
                return _run(argv, arguments)
            finally:
                with output.for_reader(sys.stdout):
                    """What argparse or a command wrote, and nobody may read."""
    except KeyboardInterrupt:
        output.say("interrupted")
        return INTERRUPTED
    except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
        message = str(error) or "there is not enough memory; a TREC run can be streamed with --memory SIZE"
        output.say(f"error: {_in_options(message, arguments)}")
        _discard_output()
        return WRONG
    except Exception as error:
        return _defect(error)


def _run(argv: Sequence[str] | None, arguments: argparse.Namespace) -> int:
    is_completing = "_ARGCOMPLETE" in os.environ  # a shell asks what can come next
    if is_completing:
        words: Sequence[str] = os.environ["COMP_LINE"].split()
    else:
        words = sys.argv[1:] if argv is None else argv
    command = next((word for word in words if word in COMMANDS), None)
    top = _parser(command)
    if is_completing:
        import argcomplete

        argcomplete.autocomplete(top)  # which ends the process
    if command is None:
        top.parse_args(argv)  # --help, --version and what is wrong end the program
        top.print_help()
        return WRONG
    # Imported here, because numpy and what a command needs take tenths of a second, in which Ctrl-C ends it as later.
    from retrieval_metrics.cli import arguments as shared

    shared.import_metrics(argv)
    top.parse_args(argv, arguments)
    shared.refuse_unknown_metrics(arguments)
    shared.refuse_lost_files(arguments)
    has_passed: bool = arguments.run_command(arguments)
    return 0 if has_passed else BELOW


def _in_options(message: str, arguments: argparse.Namespace) -> str:
    """Return a message of the library with the options of the command."""
    from retrieval_metrics.cli.option_names import translate

    return translate(message, arguments)


def _show_warning(
    arguments: argparse.Namespace, message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    kind = "warning" if issubclass(category, RetrievalWarning) else category.__name__
    output.say(f"{kind}: {_in_options(str(message), arguments)}")


def _defect(error: Exception) -> int:
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = "" if place is None else f" ({os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno})"
    output.say(
        f"internal error: {type(error).__name__}: {error}{where}; this is a bug in retrieval-metrics, please report "
        "it with the command, this line and, if possible, the files"
    )
    return DEFECT


def _discard_output() -> None:
    """Discard the output that cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        output.discard(sys.stdout)


def _terminated(*_: Any) -> NoReturn:
    output.say("terminated")
    sys.exit(128 + signal.SIGTERM)


def _parser(called_command: str | None) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, with the options of the command that is called."""
    top = Parser(
        prog="retrieval-metrics",
        description="Retrieval metrics from files: exact, fast, and the same as in Python.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for name, description in COMMANDS.items():
        summary = description.text.partition(". ")[0].removesuffix(".")
        parser = commands.add_parser(
            name,
            help=summary[0].lower() + summary[1:],
            description=description.text,
            epilog=description.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == called_command:
            command: Command = import_module(f"{__package__}.{name}").COMMAND
            command.add_arguments(parser)
            parser.set_defaults(run_command=command.run)
    return top


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all others of this program are, and not below a page of usage."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.set_defaults(parser=self)  # that of the command, for what is wrong with several arguments together

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call, and stop."""
        output.say(f"error: {message}; {self.prog} --help shows what it takes")
        self.exit(WRONG)


class Version(argparse.Action):
    """Prints the version, which takes longer to find than the rest of a start, and ends the program."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print it to standard output."""
        from retrieval_metrics._internal.version import __version__

        with output.for_reader(sys.stdout):
            sys.stdout.write(f"{__version__}\n")
        parser.exit()


class Description(NamedTuple):
    """What the help says of a command: what it does, in sentences, and calls of it."""

    text: str
    examples: str


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

exit codes:
  0  done
  1  a metric is below its --fail-under, a run is worse (--fail-if-worse), or there is such a finding (--fail-on)
  2  the call or a file is invalid
  3  a bug in this program
"""


COMMANDS: Mapping[str, Description] = {
    "evaluate": Description(
        "Score a run against judgments, or several side by side. Use compare to test whether they differ.",
        """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec
  retrieval-metrics evaluate qrels.trec bm25.run dense.run -m ndcg@10,map
  retrieval-metrics evaluate qrels.trec run.trec -q -c -m P.5,10 -m map --format trec_eval
  retrieval-metrics evaluate qrels.csv run.csv --run-column query=qid --run-column document=passage
  retrieval-metrics evaluate qrels.trec run.trec -q --format json | jq .per_query
  retrieval-metrics evaluate qrels.trec run.trec --fail-under ndcg@10=0.35 --fail-under recall@100=0.8
  retrieval-metrics evaluate qrels.trec run.trec --save today.json.gz --label commit=4f2a91c
  retrieval-metrics evaluate questions.jsonl spans.jsonl --view context --question-id metadata.question_id -m recall
  zcat run.trec.gz | retrieval-metrics evaluate qrels.trec - --report report.html
""",
    ),
    "compare": Description(
        "Test which of several runs is better, query by query. They are scored on the same queries, and tested in "
        "which metrics they differ.",
        """\
examples:
  retrieval-metrics compare last-week.json.gz today.json.gz     (saved by evaluate --save: no judgments are needed)
  retrieval-metrics compare qrels.trec bm25.run dense.run hybrid.run -m ndcg@10 --baseline bm25
  retrieval-metrics compare qrels.trec old=build/1/run.trec new=build/2/run.trec -m mrr@10 --report report.html
  retrieval-metrics compare qrels.trec main.run change.run -m ndcg@10 --baseline main --fail-if-worse
""",
    ),
    "changes": Description(
        "Say what changed between two runs of the same queries. No judgments are needed.",
        """\
examples:
  retrieval-metrics changes before.trec after.trec
  retrieval-metrics changes exact.run index.run -m overlap@10 --save index.json
  retrieval-metrics changes before.jsonl after.jsonl --report changes.html --queries queries.tsv --corpus corpus.jsonl
""",
    ),
    "tune": Description(
        "Choose the best of several runs, and say what the choice is worth on new questions. The number for new "
        "questions is an honest one: it takes the choice into account.",
        """\
examples:
  retrieval-metrics tune qrels.trec k10.run k60.run k100.run -m ndcg@10 --default k60
  retrieval-metrics tune qrels.trec fused/*.run -m ndcg@10 --default k60 --at-least recall@100=0.8 --report tuning.html
  retrieval-metrics tune today/*.json.gz -m ndcg@10 --default main     (saved by evaluate --save)
""",
    ),
    "audit": Description(
        "Score a run by the rules of several libraries, and show which rule makes the difference.",
        """\
examples:
  retrieval-metrics audit qrels.trec run.trec
  retrieval-metrics audit qrels.trec run.trec -m ndcg@10,map --rules standard --rules llama_index
""",
    ),
    "lint": Description(
        "Find problems in questions and their judgments. No model is needed.",
        """\
examples:
  retrieval-metrics lint queries.jsonl qrels/test.tsv
  retrieval-metrics lint queries.jsonl qrels/test.tsv --corpus corpus.jsonl --fail-on error
  retrieval-metrics lint questions.json questions.json --corpus docs/     (a saved set holds both)
  retrieval-metrics lint queries.jsonl qrels.trec --run bm25=bm25.run --run dense=dense.run --format csv
""",
    ),
    "convert": Description(
        "Write a run or judgments in another format. Numbers stay the same to the last bit.",
        """\
examples:
  retrieval-metrics convert run run.csv run.trec.gz --tag bm25
  retrieval-metrics convert qrels qrels/test.tsv qrels.trec
  retrieval-metrics convert run hits.parquet run.jsonl --run-column query=qid --run-column document=passage
""",
    ),
    "history": Description(
        "Keep the numbers of saved evaluations, and show them over time. The file only ever grows.",
        """\
examples:
  retrieval-metrics evaluate qrels.trec run.trec --save results/4f2a91c.json.gz --label commit=4f2a91c
  retrieval-metrics history add retrieval.jsonl results/4f2a91c.json.gz
  retrieval-metrics history show retrieval.jsonl
  retrieval-metrics history plot retrieval.jsonl -m ndcg@10 -o retrieval.svg
""",
    ),
    "report": Description(
        "Write the HTML report of a saved evaluation, comparison or tuning. It is one file that fetches nothing.",
        """\
examples:
  retrieval-metrics report results/4f2a91c.json.gz -o report.html
  retrieval-metrics report comparison.json -o report.html --title "Before and after"
""",
    ),
}
