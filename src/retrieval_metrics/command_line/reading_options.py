"""The options for reading files, the same for every command, and the files that they are for."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import retrieval_metrics as rm
from retrieval_metrics.checks import spelled_by
from retrieval_metrics.command_line.completion import offer
from retrieval_metrics.command_line.options import Options
from retrieval_metrics.command_line.values import READING, assignments, memory_size
from retrieval_metrics.files.formats import FORMATS
from retrieval_metrics.files.texts import texts_at
from retrieval_metrics.inputs.columns import ALLOWED, OF_A_RUN, OF_JUDGMENTS
from retrieval_metrics.inputs.run import StreamedRun
from retrieval_metrics.keeping.document import is_saved

LARGE = 50_000_000
"""The size in bytes above which a file gets a progress bar."""


def add_reading_to(parser: argparse.ArgumentParser, *files: str) -> None:
    """Add the options for reading files.

    Args:
        parser: The parser of a command.
        files: What it reads beside texts: `"qrels"`, `"run"`, both or nothing.
    """
    reading = parser.add_argument_group("reading files")
    for what in files:
        number = "grade" if what == "qrels" else "score"
        reading.add_argument(
            f"--{what}-format", choices=FORMATS, help=f"the format of {what.upper()}, if its name does not show it"
        )
        option = reading.add_argument(
            f"--{what}-column",
            action="append",
            default=[],
            metavar="ROLE=NAME",
            help=f"a column of {what.upper()}: query=..., document=..., {number}=...; {number}= if there is none",
        )
        offer(option, [f"{role}=" for role in (OF_JUDGMENTS if what == "qrels" else OF_A_RUN)])
    if files:
        reading.add_argument(
            "--allow",
            action="append",
            default=[],
            choices=ALLOWED,
            help="accept ids with blanks at their ends, or repeated columns and keys, of which the first counts",
        )
    if "run" in files:
        reading.add_argument(
            "--memory",
            type=memory_size,
            metavar="SIZE",
            help="stream a run that needs more memory than this, such as 4GB",
        )
    option = reading.add_argument(
        "--reading",
        action="append",
        default=[],
        type=_setting,
        metavar="KEY=VALUE",
        help="what is rarely needed: compression=RATIO and line=SIZE, beyond which a file is refused (default: "
        f"{rm.Limits().compression:g} and 64MB); progress=no, no bar for a large file; subset=NAME and split=NAME, of "
        "the predictions of MTEB",
    )
    offer(option, [f"{key}=" for key in READING])


def _setting(text: str) -> tuple[str, Any]:
    """Return what a text such as `line=1GB` says.

    Raises:
        argparse.ArgumentTypeError: If there is no such setting, or it has no such value.
    """
    key, equals, value = text.partition("=")
    if not equals or key not in READING:
        raise argparse.ArgumentTypeError(f"{text!r} must be one of {', '.join(f'{name}=...' for name in READING)}")
    try:
        return key, READING[key].convert(value)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error


def _limits(given: argparse.Namespace) -> rm.Limits:
    return rm.Limits(**{key: value for key, value in given.reading if key in {"compression", "line"}})


def qrels_at(given: argparse.Namespace, path: str) -> rm.Qrels:
    """Read judgments as the options say.

    Raises:
        ValueError: If something in the file is wrong.
    """
    with spelled_by(Options(given, "qrels")):
        return rm.read_qrels(
            path,
            format=given.qrels_format,
            columns=assignments(given.qrels_column),
            allow=given.allow,
            limits=_limits(given),
        )


def run_at(given: argparse.Namespace, path: str) -> rm.Run | rm.RetrievedRun:
    """Read a run as the options say, with a progress bar if it is large, and a note if it is too large for memory.

    Raises:
        ValueError: If something in the file is wrong.
    """
    settings = dict(given.reading)
    with spelled_by(Options(given, "run")):
        run = rm.read_run(
            path,
            format=given.run_format,
            columns=assignments(given.run_column),
            memory=given.memory,
            show_progress=settings.get("progress", True) and _deserves_progress(path),
            allow=given.allow,
            limits=_limits(given),
            subset=settings.get("subset"),
            split=settings.get("split"),
        )
    if isinstance(run, StreamedRun):
        sys.stderr.write(f"retrieval-metrics: note: {run!r}: larger than its memory limit, read again at every use\n")
    return run


def _deserves_progress(path: str) -> bool:
    """Return whether to show a progress bar: on a terminal, for a large file, if rich is installed."""
    file = Path(path)
    large = file.is_file() and file.stat().st_size > LARGE
    return large and sys.stderr.isatty() and find_spec("rich") is not None


def questions_at(path: str) -> rm.EvaluationSet | None:
    """Return the evaluation set that was saved to a file; None if it holds anything else."""
    if not is_saved(path):
        return None
    found = rm.load(path)
    return found if isinstance(found, rm.EvaluationSet) else None


def queries_at(given: argparse.Namespace, path: str) -> dict[str, str]:
    """Read the texts of queries, within the limits of the options; those of a saved set of questions too."""
    if (questions := questions_at(path)) is not None:
        return {str(query): text for query, text in questions.queries.items()}
    return rm.read_queries(path, limits=_limits(given))


def documents_at(given: argparse.Namespace, path: str) -> dict[str, str]:
    """Read the texts of a folder or of a corpus, within the limits of the options."""
    return texts_at(path, _limits(given))
