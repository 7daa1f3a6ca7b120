"""Read files with named columns: CSV, TSV, Parquet and Arrow."""

from __future__ import annotations

import csv
from io import BytesIO, StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.files.csv_checks import require_closed_quotes, require_line_feeds
from retrieval_metrics.files.encodings import format_line_location, require_utf8
from retrieval_metrics.files.formats import FORMATS
from retrieval_metrics.files.headers import POSITIONS_OF_RANKINGS, require_names
from retrieval_metrics.inputs.column_detection import (
    EXCEL_SEPARATOR_NOTE,
    describe_excel_separator,
    separator_note,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from retrieval_metrics.files.formats import Format
    from retrieval_metrics.files.opening import Reader
    from retrieval_metrics.inputs.column_detection import Columns


# The first bytes of Arrow's streaming format.
ARROW_STREAM_MARK = b"\xff" * 4


class FileTable(NamedTuple):
    """A table from a file.

    Attributes:
        frame: Its rows, as a lazy frame or as columns by name; every column of CSV and TSV is text.
        names: The names of its columns as in the file; polars would number repeated ones.
        locate_row: Takes the index of a row, from 0 without the header, and returns the location of its line for
            messages; None if the file has no lines.
        row_numbers: The number of each row in a spreadsheet, which counts the header and empty rows; None if the file
            is not a text, whose rows count from 1 without the header.
    """

    frame: Any
    names: list[str]
    locate_row: Callable[[int], str] | None
    row_numbers: Sequence[int] | None = None


def read_table(
    source: Reader,
    format: str,
    columns: Columns | None = None,
    *,
    header: bool = True,
    example: str = POSITIONS_OF_RANKINGS,
    blank_rows: bool = False,
) -> FileTable:
    """Read a file with named columns, or with `header=False` one whose columns are named by their positions from 1.

    Args:
        source: The file.
        format: Its format.
        columns: The columns that the user named, by role; a text file is refused if they are values.
        header: Whether the first line of a text file holds the names of its columns.
        example: How columns can be given by position, for the message about a file without a header.
        blank_rows: Whether lines of separators alone are left out, as empty lines are; otherwise they are refused.
    """
    import_optional("polars", "reading a table")
    import polars as pl

    if not header and not FORMATS[format].separator:
        raise ValueError(f"{source.name} is read as {format}, which always has names; leave header=False out")
    if format in {"parquet", "arrow"} and not source.beginning(1):
        raise ValueError(f"{source.name} is empty")
    if format == "parquet":
        # From bytes rather than the path, in which polars would read [1] as a pattern.
        content = BytesIO(source.content())
        names = list(pl.read_parquet_schema(content))
        content.seek(0)
        return FileTable(pl.scan_parquet(content), names, None)
    if format == "arrow":
        is_stream = source.beginning(len(ARROW_STREAM_MARK)) == ARROW_STREAM_MARK
        read = pl.read_ipc_stream if is_stream else pl.read_ipc
        frame = read(BytesIO(source.content()))
        return FileTable(frame.lazy(), frame.columns, None)
    text = b"".join(source.pieces())
    if blank_rows:
        text = _empty_first_lines(text, FORMATS[format].separator)
    table = TextTable(text, source, FORMATS[format], has_header=header)
    if header:
        require_names(table.header, table.first_row, columns, source.name, example)
    frame = table.frame(blank_rows=blank_rows)
    return FileTable(frame.lazy(), table.header, table.locate_row, table.row_numbers(frame.height))


def _empty_first_lines(text: bytes, separator: str) -> bytes:
    """Return text whose lines before the first value are empty rather than separators.

    The lines stay, because messages count them.
    """
    n_blank = len(text) - len(text.lstrip(f"{separator}\r\n".encode()))
    end_of_lines = text.rfind(b"\n", 0, n_blank) + 1
    return text[:end_of_lines].replace(separator.encode(), b"") + text[end_of_lines:]


class _NumberedLine(NamedTuple):
    """The values of a row, and the number of its first line of text; a quoted value may span several lines.

    The number of the row counts the header and empty rows, as a spreadsheet does.
    """

    number: int
    row_number: int
    values: list[str]


class TextTable:
    """The text of a file with columns.

    Attributes:
        header: The names of the columns; without a header, their positions from 1.
        first_row: The values of the line after the first; none if there is no such line.
    """

    def __init__(self, text: bytes, source: Reader, layout: Format, *, has_header: bool = True) -> None:
        require_utf8(text, source.name)
        if not text.strip():
            raise ValueError(f"{source.name} is empty")
        if layout.quote is not None:
            require_closed_quotes(text, layout.separator, source.name)
        # polars drops a carriage return before a separator, which ends the line for the csv module.
        require_line_feeds(text, source.name, quoted=layout.quote is not None)
        self._text = text
        self._source = source
        self._layout = layout
        self._has_header = has_header
        self._has_blank_rows = False  # known once the frame is read
        # Both lines are read at once, because each reading decodes the whole text.
        first_line, *next_lines = (line.values for line in islice(self._read_lines(), 2))
        self.first_row = next_lines[0] if next_lines else []
        self.header = first_line if has_header else [str(number) for number in range(1, len(first_line) + 1)]

    def frame(self, *, blank_rows: bool = False) -> pl.DataFrame:
        """Return the rows, without empty lines.

        Args:
            blank_rows: Whether lines of separators alone are left out too, rather than refused.
        """
        import polars as pl

        try:
            frame = pl.read_csv(
                self._text,
                has_header=self._has_header,
                separator=self._layout.separator,
                quote_char=self._layout.quote,
                infer_schema=False,
            )
        except pl.exceptions.PolarsError:
            self._require_even_lines()
            raise
        if not self._has_header:
            if len(frame.columns) > len(self.header):
                self._require_even_lines()
            frame = frame.rename(dict(zip(frame.columns, self.header, strict=True)))
        # A null in the last column means that columns of a line, or just its last value, are missing.
        if frame.to_series(-1).null_count():
            self._require_even_lines()
        is_empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if not is_empty.any():
            return frame
        self._has_blank_rows = True
        for line in self._read_lines():
            if not blank_rows and not any(line.values):
                raise ValueError(f"{self._locate(line)}: the line has only separators")
        return frame.filter(~is_empty)  # an empty line is not a row

    def row_numbers(self, n_rows: int) -> Sequence[int]:
        """Return the numbers that a spreadsheet gives the rows of the frame, of which there are `n_rows`."""
        first_number = 2 if self._has_header else 1
        if not self._has_blank_rows:
            return range(first_number, first_number + n_rows)
        numbers = []
        for line in self._read_lines():
            if any(line.values):
                numbers.append(line.row_number)
        return numbers[first_number - 1 :]

    def locate_row(self, row: int) -> str:
        """Return the location of the line of a row, for messages."""
        n_lines_before = row + 1 if self._has_header else row
        line = next(islice(self._read_lines(), n_lines_before, None), None)
        if line is None:
            return f"{self._source.name}, row {row + 1}"
        return self._locate(line)

    def _locate(self, line: _NumberedLine) -> str:
        return format_line_location(self._source.name, line.number, self._layout.separator.join(line.values))

    def _read_lines(self) -> Iterator[_NumberedLine]:
        """Yield every line that is not empty, including the header."""
        reader = csv.reader(
            StringIO(self._text.decode(), newline=""),
            delimiter=self._layout.separator,
            quoting=csv.QUOTE_MINIMAL if self._layout.quote else csv.QUOTE_NONE,
        )
        usual_limit = csv.field_size_limit(max(csv.field_size_limit(), len(self._text)))
        number = 1
        try:
            for row_number, values in enumerate(reader, start=1):
                if values:
                    yield _NumberedLine(number, row_number, values)
                number = reader.line_num + 1
        except csv.Error as error:
            raise ValueError(f"{self._source.name}, line {reader.line_num}: {error}") from error
        finally:
            csv.field_size_limit(usual_limit)

    def _require_even_lines(self) -> None:
        for line in self._read_lines():
            if len(line.values) != len(self.header):
                first = "the header" if self._has_header else "the first line"
                raise ValueError(
                    f"{self._locate(line)}: {len(line.values)} columns where {first} has {len(self.header)}: "
                    f"{' '.join(self.header)}{self._separator_hint()}"
                )

    def _separator_hint(self) -> str:
        """Return a hint for the message if the lines seem to be separated otherwise."""
        first_line = self._text.split(b"\n", 1)[0].decode().strip()
        declared = EXCEL_SEPARATOR_NOTE.fullmatch(first_line)
        if declared is not None:
            return describe_excel_separator(declared[1])
        if len(self.header) > 1:
            return ""
        return separator_note(self.header)
