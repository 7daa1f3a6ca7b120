"""Parsing of arguments that several commands have."""

from __future__ import annotations

import argparse
import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.files.reading import read_run
from retrieval_metrics.inputs.run import StreamedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.inputs.clusters import ClustersBy
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
) -> Run:
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
