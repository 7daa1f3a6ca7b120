"""Files with named columns: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval_metrics.checks import require
from retrieval_metrics.files.opening import at_line, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    import polars as pl

SEPARATORS = {"csv": ",", "tsv": "\t"}
QUOTES = {"csv": '"', "tsv": None}


def read_table(path: str | PathLike[str], kind: str) -> pl.DataFrame:
    """Read a file with a header; every column of a text file is read as text.

    Raises:
        ValueError: If the file cannot be read in this format.
    """
    require("polars", "reading a DataFrame")
    import polars as pl

    try:
        if kind == "parquet":
            return pl.read_parquet(Path(path))
        with opened(path) as (text, _):
            data = text.read()
        if not data.strip():
            raise ValueError(f"{path} is empty")
        frame = pl.read_csv(data, separator=SEPARATORS[kind], quote_char=QUOTES[kind], infer_schema=False)
    except pl.exceptions.PolarsError as error:
        if kind in SEPARATORS:
            _refuse_uneven_line(path, kind)
        raise ValueError(f"{path} cannot be read as {kind}: {str(error).splitlines()[0]}") from error
    if frame.to_series(-1).null_count():  # the end of a line is missing, or only its last value
        _refuse_uneven_line(path, kind)
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))  # an empty line is not a row


def line_at(path: str | PathLike[str], kind: str, row: int) -> str:
    """Return how an error names the line of a row, counted from 0 and without the header."""
    number, line = next(islice(_lines(path, kind), row + 1, None))
    return at_line(path, number, SEPARATORS[kind].join(line))


def _lines(path: str | PathLike[str], kind: str) -> Iterator[tuple[int, list[str]]]:
    """Return the values of every line that is not empty, the header among them, with the number of the line."""
    with opened(path) as (text, _):
        lines = csv.reader(
            TextIOWrapper(text, "utf-8-sig", newline=""),
            delimiter=SEPARATORS[kind],
            quoting=csv.QUOTE_MINIMAL if QUOTES[kind] else csv.QUOTE_NONE,
        )
        for line in lines:
            if line:
                yield lines.line_num, line


def _refuse_uneven_line(path: str | PathLike[str], kind: str) -> None:
    lines = _lines(path, kind)
    _, header = next(lines)
    for number, line in lines:
        if len(line) != len(header):
            where = at_line(path, number, SEPARATORS[kind].join(line))
            raise ValueError(f"{where}: {len(line)} columns where the header has {len(header)}: {' '.join(header)}")
