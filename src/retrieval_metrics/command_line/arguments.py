"""Parsing of arguments that several commands have."""

from __future__ import annotations

import argparse
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval_metrics.definition.metric import DEFAULT_METRICS, Metric
from retrieval_metrics.files.reading import read_run
from retrieval_metrics.inputs.run import StreamedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.retrieved_run import RetrievedRun
    from retrieval_metrics.inputs.run import Run

UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
LARGE = 50_000_000
"""Larger files, in bytes, get a progress bar."""


def metric(text: str) -> Metric:
    """Return the metric of that name.

    Raises:
        argparse.ArgumentTypeError: If there is no such metric; the message offers the nearest.
    """
    try:
        return Metric.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_metrics_to(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose metrics."""
    parser.add_argument(
        "-m",
        "--metric",
        action="append",
        type=metric,
        metavar="METRIC",
        help=f"a metric such as ndcg@10, repeat for several (default: {' '.join(DEFAULT_METRICS)})",
    )
    _add_modules_to(parser)


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
        argparse.ArgumentTypeError: If the text has another form.
    """
    name, equals, value = text.rpartition("=")
    try:
        if not equals:
            raise ValueError  # noqa: TRY301  (one message covers all errors)
        return Metric.parse(name), float(value)
    except ValueError as error:
        said = f": {error}" if equals and str(error) and "float" not in str(error) else ""
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a metric and a number, such as ndcg@10=0.35{said}"
        ) from error


def assignments(pairs: Sequence[str]) -> dict[str, str] | None:
    """Return the columns given as `query=qid`, or None without any.

    Raises:
        ValueError: If a text has no equals sign.
    """
    for pair in pairs:
        if "=" not in pair:
            raise ValueError(f"a column must be given as ROLE=NAME, such as query=qid, got {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs) or None


def memory_size(text: str) -> int:
    """Return the number of bytes in `4GB`, `500M` or `1000000`.

    Raises:
        argparse.ArgumentTypeError: If the text has another form.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip().upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} must be a size such as 4GB or 500MB")
    return int(float(match[1]) * UNITS[match[2]])


def read(
    path: str,
    *,
    memory: int | None,
    progress: bool,
    file_format: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Run | RetrievedRun:
    """Read a run, with a progress bar if it is large and a note if it is too large for memory."""
    run = read_run(
        path, format=file_format, columns=columns, memory=memory, show_progress=show_progress(path, wanted=progress)
    )
    if isinstance(run, StreamedRun):
        sys.stderr.write(f"retrieval-metrics: note: {run!r}: larger than its memory limit, read again at every use\n")
    return run


def show_progress(path: str, *, wanted: bool) -> bool:
    """Return whether to show a progress bar: on a terminal, for a large file, if rich is installed."""
    file = Path(path)
    large = file.is_file() and file.stat().st_size > LARGE
    return wanted and large and sys.stderr.isatty() and find_spec("rich") is not None
