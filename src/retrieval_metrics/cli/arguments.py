"""The arguments that several commands share, and the completions that a shell offers for them."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import retrieval_metrics as rm
from retrieval_metrics.cli.option_types import READING_KEYS, parse_memory_size, parse_metrics
from retrieval_metrics.cli.output import FORMATS as OUTPUT_FORMATS
from retrieval_metrics.files.formats import FORMATS, POSITIONAL_FORMATS
from retrieval_metrics.inputs.allowances import ALLOWANCES
from retrieval_metrics.inputs.column_detection import JUDGMENT_ROLES, RUN_ROLES
from retrieval_metrics.metrics.base.registry import DEFINITIONS
from retrieval_metrics.metrics.base.rules import RULE_SETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Target(str):
    """The path of a file that a command writes, apart from those that it reads."""

    __slots__ = ()


def add_file_arguments(parser: argparse.ArgumentParser, *, runs: str | None) -> None:
    """Add the judgments and the run or runs.

    Args:
        parser: The parser of the command.
        runs: How many runs there can be, as `nargs` of argparse; None for exactly one.
    """
    parser.add_argument(
        "qrels",
        metavar="QRELS",
        help="judgments: TREC, BEIR, CSV, TSV, JSON, JSONL, Parquet, Arrow; - is standard input",
    )
    run_help = "a run, in any of these formats, also .gz, .zst, .bz2, .xz and .zip"
    if runs is None:
        parser.add_argument("run", metavar="RUN", help=run_help)
    else:
        runs_help = f"{run_help}; named after its file, or NAME=FILE to give another name"
        parser.add_argument("runs", metavar="RUN", nargs=runs, help=runs_help)


def add_metric_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose metrics."""
    option = parser.add_argument(
        "-m",
        "--metric",
        action="extend",
        type=parse_metrics,
        metavar="METRIC",
        help="a metric such as ndcg@10; for several, use commas or repeat the option (default: "
        f"{','.join(rm.DEFAULT_METRICS)})",
    )
    offer_completions(option, sorted({*DEFINITIONS, *rm.DEFAULT_METRICS}))
    add_module_option(parser)


def add_module_option(parser: argparse.ArgumentParser) -> None:
    """Add `--metrics-from`, for names on the command line and in saved files."""
    parser.add_argument(
        "--metrics-from",
        action="append",
        default=[],
        metavar="MODULE",
        help="a Python module that defines metrics of your own, in the current folder or on the Python path",
    )


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for scoring."""
    parser.add_argument("--rules", choices=list(RULE_SETS), help="default: standard; trec_eval if that is the --format")
    parser.add_argument(
        "--ties",
        choices=["docid", "input", "expected"],
        help="order of equal scores: by document ID, as given, or the mean of all orders (default: the rule set's)",
    )
    add_match_option(parser)
    parser.add_argument(
        "--documents",
        metavar="PATH",
        help="the documents that chunks were cut from, if spans are judged: a folder of text files, or a corpus file",
    )
    add_exclude_option(parser)
    parser.add_argument(
        "--clusters",
        default="source",
        metavar="FILE",
        help='a JSON file {"query id": "cluster", ...} of queries that belong together, such as those about one '
        'document; "none" if all are independent (default: the source of the judgments, if they have one)',
    )


def add_exclude_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that leaves documents out of rankings."""
    parser.add_argument(
        "--exclude",
        metavar="WHAT",
        help="exclude documents from the rankings: query-id (documents with the same ID as the query, as in BEIR and "
        "MTEB), or a two-column file (query, document)",
    )


def add_match_option(parser: argparse.ArgumentParser) -> None:
    """Add the option for matching items with judgments."""
    parser.add_argument(
        "--match",
        default="id",
        metavar="WHAT",
        help="what identifies a result: id, source or metadata:NAME (default: %(default)s)",
    )


def add_output_options(parser: argparse.ArgumentParser, formats: Sequence[str] = ()) -> None:
    """Add the options for output, among them `--report`; `formats` are offered beside the usual ones."""
    add_result_options(parser, formats)
    parser.add_argument("--report", type=Target, metavar="FILE", help="also write an HTML report to this file")


def add_result_options(parser: argparse.ArgumentParser, formats: Sequence[str] = ()) -> None:
    """Add the options for where a result is written, and in which format: the usual ones and `formats`."""
    file_formats = [name for name in OUTPUT_FORMATS if name != "trec_eval"]
    parser.add_argument(
        "--format",
        choices=[*file_formats, *formats],
        help="default: inferred from FILE's extension, such as .csv, else text",
    )
    parser.add_argument(
        "-o", "--output", type=Target, metavar="FILE", help="write to this file instead of the terminal"
    )


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that give a report the texts of queries and documents."""
    parser.add_argument(
        "--queries", metavar="FILE", help="the texts of the queries, for the report: JSONL, TSV, CSV, JSON or Parquet"
    )
    parser.add_argument(
        "--corpus",
        metavar="FILE",
        help="the texts of the documents, for the report: a folder of texts, or a file such as BEIR's corpus.jsonl",
    )


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for traces of agents."""
    traces = parser.add_argument_group("traces of agents")
    traces.add_argument(
        "--view",
        choices=get_args(rm.types.CallsView),
        help="the runs are traces of agents: score all searches (union, with metrics such as recall@3calls; or "
        "interleaved), the first or the last one, what the answering model read (context), or what it cited",
    )
    traces.add_argument(
        "--question-id",
        metavar="PATH",
        help="where a trace stores the ID of its question, such as metadata.question_id (default: the ID of the trace)",
    )
    traces.add_argument(
        "--tool", action="append", default=[], metavar="NAME", help="a tool that searches; repeat for several"
    )
    traces.add_argument(
        "--citations",
        metavar="PATTERN",
        help=r"a regular expression for the IDs that an answer cites, such as \[(\w+)\]",
    )


def add_reading_options(parser: argparse.ArgumentParser, *files: str) -> None:
    """Add the options for reading files.

    Args:
        parser: The parser of the command.
        files: What the command reads: `"qrels"` and `"run"`.
    """
    reading = parser.add_argument_group("reading files")
    for file in files:
        number_role = "grade" if file == "qrels" else "score"
        roles = JUDGMENT_ROLES if file == "qrels" else RUN_ROLES
        question_roles = "; for question files also id=..., relevant=..." if file == "qrels" else ""
        reading.add_argument(
            f"--{file}-format",
            choices=[*FORMATS, *POSITIONAL_FORMATS],
            help=f"the format of {file.upper()}, if its name does not show it",
        )
        option = reading.add_argument(
            f"--{file}-column",
            action="append",
            default=[],
            metavar="ROLE=NAME",
            help=f"a column of {file.upper()}: query=..., document=..., {number_role}=...{question_roles}; "
            f"write {number_role}= (empty) if there is no {number_role} column; use positions (query=1) if there is no "
            "header",
        )
        offer_completions(option, [f"{role}=" for role in roles])
    if files:
        reading.add_argument(
            "--allow",
            action="append",
            default=[],
            choices=ALLOWANCES,
            help="accept IDs with leading or trailing whitespace, or duplicate columns and keys (the first counts)",
        )
    if "run" in files:
        reading.add_argument(
            "--memory",
            type=parse_memory_size,
            metavar="SIZE",
            help="stream a run that needs more memory than this, such as 4GB",
        )
    option = reading.add_argument(
        "--reading",
        action="append",
        default=[],
        type=_parse_reading,
        metavar="KEY=VALUE",
        help="advanced: compression=RATIO and line=SIZE, limits above which a file is refused (default: "
        f"{rm.Limits().compression:g} and 64MB); progress=no hides the progress bar; separator=TEXT "
        "separates the IDs in a cell; subset=NAME and split=NAME select from MTEB predictions",
    )
    offer_completions(option, [f"{key}=" for key in READING_KEYS])


def _parse_reading(text: str) -> tuple[str, Any]:
    """Return the key and the value of a text such as `line=1GB`."""
    key, equals, value = text.partition("=")
    if not equals or key not in READING_KEYS:
        choices = ", ".join(f"{name}=..." for name in READING_KEYS)
        raise argparse.ArgumentTypeError(f"{text!r} must be one of {choices}")
    try:
        return key, READING_KEYS[key].convert(value)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error


def add_function_options(function: Callable[..., Any], parser: argparse.ArgumentParser, **help_texts: str) -> None:
    """Add options for some arguments of a function, with their types and defaults.

    Args:
        function: The function.
        parser: The parser of the command.
        help_texts: The help text of each argument; the part before ` | ` names its value, as in `NAME | the help text`.
    """
    for name, text in help_texts.items():
        parameter = signature(function).parameters[name]
        is_required = parameter.default is Parameter.empty
        metavar, _, description = text.rpartition(" | ")
        if not is_required and parameter.default is not None:
            description = f"{description} (default: %(default)s)"
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type={"int": int, "float": float}.get(parameter.annotation.partition(" ")[0], str),
            default=None if is_required else parameter.default,
            required=is_required,
            metavar=metavar or None,
            help=description,
        )


def select_arguments(function: Callable[..., Any], arguments: argparse.Namespace, **further: Any) -> dict[str, Any]:
    """Return the options of a command that are keyword arguments of a function, by name, and further arguments."""
    selected = {}
    for name, parameter in signature(function).parameters.items():
        value = getattr(arguments, name, None)
        if parameter.kind is Parameter.KEYWORD_ONLY and value is not None:
            selected[name] = value
    return selected | further


def offer_completions(option: argparse.Action, words: Iterable[str]) -> None:
    """Let a shell complete the value of an option with some words, also after a comma."""

    def complete_last(prefix: str, **_: Any) -> list[str]:
        earlier_words, comma, _last = prefix.rpartition(",")
        return [f"{earlier_words}{comma}{word}" for word in words]

    option.completer = complete_last  # type: ignore[attr-defined]  # argcomplete reads it


def import_metrics(arguments: Sequence[str] | None) -> None:
    """Import the modules of `--metrics-from`, before other options that can name their metrics are parsed."""
    module_parser = argparse.ArgumentParser(prog="retrieval-metrics", add_help=False, allow_abbrev=False)
    add_module_option(module_parser)
    modules: list[str] = module_parser.parse_known_args(arguments)[0].metrics_from
    is_folder_searched = "" in sys.path or str(Path.cwd()) in sys.path
    if modules and not is_folder_searched:
        sys.path.insert(0, str(Path.cwd()))  # `python -m` searches the current folder; an installed script does not
    for module in modules:
        try:
            import_module(module)
        except Exception as error:
            raise ImportError(
                f"--metrics-from {module} cannot be imported: {type(error).__name__}: {error}", name=module
            ) from error
