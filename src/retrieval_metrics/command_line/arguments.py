"""What arguments are made of."""

from __future__ import annotations

import argparse
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

    from retrieval_metrics.inputs.run import Run

UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
LARGE = 50_000_000
"""Files of more bytes take longer than a moment and get a progress bar."""


def metric(text: str) -> Metric:
    """Return the metric of that name.

    Raises:
        argparse.ArgumentTypeError: If there is none; the message offers the nearest.
    """
    try:
        return Metric.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def named_value(text: str) -> tuple[Metric, float]:
    """Return the metric and the number of `ndcg@10=0.35`.

    Raises:
        argparse.ArgumentTypeError: If the text is something else.
    """
    name, equals, value = text.rpartition("=")
    try:
        if not equals:
            raise ValueError  # noqa: TRY301  (all that is wrong with the text is said in one place)
        return Metric.parse(name), float(value)
    except ValueError as error:
        said = f": {error}" if equals and str(error) and "float" not in str(error) else ""
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a metric and a number, such as ndcg@10=0.35{said}"
        ) from error


def assignments(pairs: Sequence[str]) -> dict[str, str] | None:
    """Return the columns that `query=qid` and its like name; None if there are none.

    Raises:
        ValueError: If a text has no equals sign.
    """
    for pair in pairs:
        if "=" not in pair:
            raise ValueError(f"a column is given as ROLE=NAME, such as query=qid, got {pair!r}")
    return dict(pair.split("=", 1) for pair in pairs) or None


def memory_size(text: str) -> int:
    """Return the bytes that `4GB`, `500M` or `1000000` mean.

    Raises:
        argparse.ArgumentTypeError: If the text is something else.
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
    """Read a run with a progress bar if it is large, and say so if it is too large to be held in memory."""
    run = read_run(
        path, format=file_format, columns=columns, memory=memory, show_progress=show_progress(path, wanted=progress)
    )
    if isinstance(run, StreamedRun):
        sys.stderr.write(f"retrieval-metrics: note: {run!r}: too large for the memory it may take, read at every use\n")
    return run


def show_progress(path: str, *, wanted: bool) -> bool:
    """Return whether a progress bar is shown: on a terminal, for a large file, and only if rich is there to draw it."""
    file = Path(path)
    large = file.is_file() and file.stat().st_size > LARGE
    return wanted and large and sys.stderr.isatty() and find_spec("rich") is not None
