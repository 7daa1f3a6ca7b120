"""Files with named columns: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.checks import require
from retrieval_metrics.files.encodings import at_line, refuse_other_encoding
from retrieval_metrics.files.formats import FORMATS
from retrieval_metrics.files.quoting import refuse_carriage_returns, refuse_quotes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from retrieval_metrics.files.formats import Format
    from retrieval_metrics.files.opening import Reader


class FileTable(NamedTuple):
    """A table from a file.

    Attributes:
        frame: Its rows, as a lazy frame or as columns by name; every column of CSV and TSV is text.
        names: The names of its columns as in the file; polars would number repeated ones.
        line: Returns the name of a row's line for errors, counted from 0 without the header; None for Parquet.
    """

    frame: Any
    names: list[str]
    line: Callable[[int], str] | None


def read_table(source: Reader, kind: str) -> FileTable:
    """Read a file with a header.

    Raises:
        ValueError: If the file cannot be read in this format.
    """
    require("polars", "reading a table")
    import polars as pl

    if kind == "parquet":
        # From bytes rather than the path, in which polars would read [1] as a pattern.
        content = BytesIO(source.content())
        names = list(pl.read_parquet_schema(content))
        content.seek(0)
        return FileTable(pl.scan_parquet(content), names, None)
    lines = _Lines(b"".join(source.pieces()), source, FORMATS[kind])
    return FileTable(lines.frame().lazy(), lines.header, lines.named)


class _Lines:
    """The text of a file with a header."""

    def __init__(self, text: bytes, source: Reader, form: Format) -> None:
        refuse_other_encoding(text, source.name)
        if not text.strip():
            raise ValueError(f"{source.name} is empty")
        if form.quote is not None:
            refuse_quotes(text, form.separator, source.name)
        # polars drops a carriage return before a separator, which ends the line for the csv module.
        refuse_carriage_returns(text, source.name, quoted=form.quote is not None)
        self._text, self._source, self._form = text, source, form
        self.header = next(self._lines())[1]

    def frame(self) -> pl.DataFrame:
        """Return the rows.

        Raises:
            ValueError: If a line has fewer or more columns than the header, or only separators.
        """
        import polars as pl

        try:
            frame = pl.read_csv(
                self._text, separator=self._form.separator, quote_char=self._form.quote, infer_schema=False
            )
        except pl.exceptions.PolarsError:
            self._refuse_uneven_line()
            raise
        if frame.to_series(-1).null_count():  # the last columns of a line are missing, or just its last value
            self._refuse_uneven_line()
        empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if not empty.any():
            return frame
        for number, line in self._lines():
            if not any(line):
                raise ValueError(f"{self._where(number, line)}: the line has only separators")
        return frame.filter(~empty)  # an empty line is not a row

    def named(self, row: int) -> str:
        """Return the name of a row's line, for errors."""
        found = next(islice(self._lines(), row + 1, None), None)
        return f"{self._source.name}, row {row + 1}" if found is None else self._where(*found)

    def _where(self, number: int, line: list[str]) -> str:
        return at_line(self._source.name, number, self._form.separator.join(line))

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the values of every line that is not empty, including the header, with the number of its first line."""
        lines = csv.reader(
            StringIO(self._text.decode(), newline=""),
            delimiter=self._form.separator,
            quoting=csv.QUOTE_MINIMAL if self._form.quote else csv.QUOTE_NONE,
        )
        usual = csv.field_size_limit(max(csv.field_size_limit(), len(self._text)))
        number = 1
        try:
            for line in lines:
                if line:
                    yield number, line
                number = lines.line_num + 1
        except csv.Error as error:
            raise ValueError(f"{self._source.name}, line {lines.line_num}: {error}") from error
        finally:
            csv.field_size_limit(usual)

    def _refuse_uneven_line(self) -> None:
        for number, line in self._lines():
            if len(line) != len(self.header):
                raise ValueError(
                    f"{self._where(number, line)}: {len(line)} columns where the header has {len(self.header)}: "
                    f"{' '.join(self.header)}"
                )
