"""The arguments that several commands have, and how their files are read."""

from __future__ import annotations

import argparse
import json
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval_metrics.checks import positive_number
from retrieval_metrics.command_line.output import FORMATS as OUTPUT_FORMATS
from retrieval_metrics.definition.metric import DEFAULT_METRICS, Metric
from retrieval_metrics.files.formats import COMPRESSIONS, FORMATS
from retrieval_metrics.files.limits import Limits
from retrieval_metrics.files.opening import STANDARD_INPUT
from retrieval_metrics.files.reading import read_qrels, read_run
from retrieval_metrics.inputs.columns import ALLOWED
from retrieval_metrics.inputs.run import StreamedRun
from retrieval_metrics.scoring.rules import RULE_SETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.inputs.clusters import ClustersBy
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.inputs.retrieved_run import RetrievedRun
    from retrieval_metrics.inputs.run import Run

UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
LARGE = 50_000_000
"""Larger files, in bytes, get a progress bar."""
BETWEEN_METRICS = re.compile(r",(?![^(]*\))")
"""Commas that are not within parentheses."""


def add_files_to(parser: argparse.ArgumentParser, *, runs: str | None) -> None:
    """Add the judgments and the runs.

    Args:
        parser: The parser of a command.
        runs: How many runs it takes: `"+"` for several, None for one.
    """
    parser.add_argument(
        "qrels", metavar="QRELS", help="judgments: TREC, BEIR, CSV, TSV, JSON, JSONL or Parquet; - is standard input"
    )
    one = "what was retrieved, in any of these formats, also .gz and .zst"
    if runs is None:
        parser.add_argument("run", metavar="RUN", help=one)
    else:
        several = f"{one}; named after its file, or NAME=FILE to give another name"
        parser.add_argument("runs", metavar="RUN", nargs=runs, help=several)


def add_metrics_to(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose metrics."""
    parser.add_argument(
        "-m",
        "--metric",
        action="extend",
        type=metrics,
        metavar="METRIC",
        help=f"a metric such as ndcg@10; several with commas, or repeated (default: {','.join(DEFAULT_METRICS)})",
    )
    _add_modules_to(parser)


def add_rules_to(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to score."""
    parser.add_argument("--semantics", choices=list(RULE_SETS), default="standard", help="default: %(default)s")
    parser.add_argument(
        "--ties",
        choices=["docid", "input", "expected"],
        help="equal scores: by document id, in the order given, or the mean of all orders (default: as the rules say)",
    )
    add_match_to(parser)
    add_clusters_to(parser)


def add_match_to(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how items meet judgments."""
    parser.add_argument(
        "--match",
        default="id",
        metavar="WHAT",
        help="what an id of the judgments is compared with: id, source or metadata:NAME (default: %(default)s)",
    )


def add_reading_to(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to read files."""
    reading = parser.add_argument_group("reading files")
    for what in ("qrels", "run"):
        number = "grade" if what == "qrels" else "score"
        reading.add_argument(
            f"--{what}-format", choices=FORMATS, help=f"the format of {what.upper()}, if its name does not show it"
        )
        reading.add_argument(
            f"--{what}-column",
            action="append",
            default=[],
            metavar="ROLE=NAME",
            help=f"a column of {what.upper()}: query=..., document=..., {number}=...; {number}= for none",
        )
    add_limits_to(reading)
    reading.add_argument(
        "--memory", type=memory_size, metavar="SIZE", help="stream a run that needs more memory than this, such as 4GB"
    )


def add_limits_to(parser: argparse._ActionsContainer) -> None:
    """Add the options that allow what is refused otherwise."""
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        choices=ALLOWED,
        help="accept ids with blanks at their ends, or repeated columns and keys, of which the first counts",
    )
    parser.add_argument(
        "--max-compression",
        type=float,
        metavar="RATIO",
        default=Limits().compression,
        help="refuse a file whose text is so many times larger (default: %(default)g)",
    )
    parser.add_argument(
        "--max-line",
        type=memory_size,
        metavar="SIZE",
        default=Limits().line,
        help="refuse a line longer than this (default: 64 MB)",
    )
    parser.add_argument("--no-progress", action="store_true", help="no progress bar for large files")


def add_output_to(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what to write, and where."""
    parser.add_argument("--format", choices=list(OUTPUT_FORMATS), default="text", help="default: %(default)s")
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of to the terminal")
    parser.add_argument("--report", metavar="FILE", help="also write a report there, one HTML page")


def metrics(text: str) -> list[Metric]:
    """Return the metrics in a text such as `ndcg@10,map`.

    Raises:
        argparse.ArgumentTypeError: If there is no such metric; the message offers the nearest.
    """
    try:
        return [Metric.parse(name.strip()) for name in BETWEEN_METRICS.split(text)]
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _add_modules_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metrics-from",
        action="append",
        default=[],
        metavar="MODULE",
        help="a Python module that defines metrics of your own when it is imported, from here or from the Python path",
    )


def import_metrics(arguments: Sequence[str] | None) -> None:
    """Import the modules of `--metrics-from`, wherever it is written: the names that other options hold need them.

    Raises:
        ImportError: If a module cannot be imported.
    """
    early = argparse.ArgumentParser(prog="retrieval-metrics", add_help=False, allow_abbrev=False)
    _add_modules_to(early)
    modules: list[str] = early.parse_known_args(arguments)[0].metrics_from
    if modules and not {"", str(Path.cwd())} & set(sys.path):
        sys.path.insert(0, str(Path.cwd()))  # where `python -m` looks too, and a script on the path does not
    for module in modules:
        try:
            import_module(module)
        except Exception as error:
            raise ImportError(
                f"--metrics-from {module} cannot be imported: {type(error).__name__}: {error}", name=module
            ) from error


def named_value(text: str) -> tuple[Metric, float]:
    """Return the metric and the number in a text such as `ndcg@10=0.35`.

    Raises:
        argparse.ArgumentTypeError: If the text has another form, or the number is not finite.
    """
    name, equals, value = text.rpartition("=")
    try:
        if not equals:
            raise ValueError  # noqa: TRY301  (one message covers all errors)
        number = float(value)
        if not isfinite(number):
            raise ValueError(f"no mean is compared with {value}")  # noqa: TRY301  (as above)
        return Metric.parse(name), number
    except ValueError as error:
        said = f": {error}" if equals and str(error) and "float" not in str(error) else ""
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a metric and a number, such as ndcg@10=0.35{said}"
        ) from error


def assignments(pairs: Sequence[str]) -> dict[str, str | None] | None:
    """Return the columns given as `query=qid`, None for one given as `grade=`; None without any.

    Raises:
        ValueError: If a text has no equals sign.
    """
    for pair in pairs:
        if "=" not in pair:
            raise ValueError(f"a column must be given as ROLE=NAME, such as query=qid, got {pair!r}")
    return {role: name or None for role, name in (pair.split("=", 1) for pair in pairs)} or None


def labels_of(pairs: Sequence[str]) -> dict[str, str]:
    """Return the labels given as `commit=4f2a91c`.

    Raises:
        ValueError: If a text has no equals sign.
    """
    for pair in pairs:
        if "=" not in pair:
            raise ValueError(f"a label must be given as NAME=TEXT, such as commit=4f2a91c, got {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs)


def memory_size(text: str) -> int:
    """Return the number of bytes in `4GB`, `500M` or `1000000`.

    Raises:
        argparse.ArgumentTypeError: If the text has another form.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip().upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} must be a size such as 4GB or 500MB")
    return int(float(match[1]) * UNITS[match[2]])


def read_both(given: argparse.Namespace, runs: dict[str, str]) -> tuple[Qrels, dict[str, Run | RetrievedRun]]:
    """Read the judgments and the runs of a command.

    Args:
        given: The arguments.
        runs: The file of each run by its name.

    Raises:
        ValueError: If standard input is asked for twice, or something in a file is wrong.
    """
    if [given.qrels, *runs.values()].count(STANDARD_INPUT) > 1:
        raise ValueError("standard input (-) can be read once only")
    qrels = read_qrels(
        given.qrels,
        format=given.qrels_format,
        columns=assignments(given.qrels_column),
        allow=given.allow,
        limits=limits(given),
    )
    return qrels, {name: _read(path, given) for name, path in runs.items()}


def limits(given: argparse.Namespace) -> Limits:
    """Return the limits that the arguments say."""
    return Limits(positive_number(given.max_compression, "--max-compression"), given.max_line)


def _read(path: str, given: argparse.Namespace) -> Run | RetrievedRun:
    """Read a run, with a progress bar if it is large and a note if it is too large for memory."""
    run = read_run(
        path,
        format=given.run_format,
        columns=assignments(given.run_column),
        memory=given.memory,
        show_progress=show_progress(path, wanted=not given.no_progress),
        allow=given.allow,
        limits=limits(given),
    )
    if isinstance(run, StreamedRun):
        sys.stderr.write(f"retrieval-metrics: note: {run!r}: larger than its memory limit, read again at every use\n")
    return run


def show_progress(path: str, *, wanted: bool) -> bool:
    """Return whether to show a progress bar: on a terminal, for a large file, if rich is installed."""
    file = Path(path)
    large = file.is_file() and file.stat().st_size > LARGE
    return wanted and large and sys.stderr.isatty() and find_spec("rich") is not None


def add_clusters_to(parser: argparse.ArgumentParser) -> None:
    """Add `--clusters` to a parser."""
    parser.add_argument(
        "--clusters",
        default="source",
        metavar="FILE",
        help='a JSON file {"query id": "cluster", ...} of queries that belong together, such as those about one '
        'document; "none": all are independent (default: the source of the judgments, where they have one)',
    )


def clusters(text: str) -> ClustersBy:
    """Return what `--clusters` means: the mapping in the file, or a word.

    Raises:
        ValueError: If the file does not hold a mapping.
    """
    if text in {"source", "none"}:
        return "source" if text == "source" else None
    held = json.loads(Path(text).read_text(encoding="utf-8"))
    if not isinstance(held, dict):
        raise ValueError(  # noqa: TRY004  (the content of a file, not an argument)
            f"{text} must hold a JSON object of query ids and clusters, got {type(held).__name__}"
        )
    # The names of a JSON object are texts; query ids that are numbers are found by their text.
    return lambda query: held.get(str(query))


def named(arguments: Sequence[str]) -> dict[str, str]:
    """Return the file of each run by the name of the run.

    Raises:
        ValueError: If two runs have the same name.
    """
    paths: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or Path(argument).exists():
            name, path = _name_of(argument), argument
        if name in paths:
            raise ValueError(f"two runs are named {name!r}: {paths[name]} and {path}; name them with NAME=FILE")
        paths[name] = path
    return paths


def _name_of(path: str) -> str:
    file = Path(path)
    return Path(file.stem).stem if file.suffix in COMPRESSIONS else file.stem
