"""Tables with named columns: DataFrames, Arrow, CSV, TSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from decimal import Decimal
from io import TextIOWrapper
from itertools import islice
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import require
from retrieval_metrics.files.opening import at_line, opened
from retrieval_metrics.inputs.columns import find_columns
from retrieval_metrics.inputs.grouping import first_repeat, grouped
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.run import Batch, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    import polars as pl

    from retrieval_metrics.types import FloatArray

    Line = Callable[[int], str]
    """How an error names the line of a row."""

SEPARATORS = {"csv": ",", "tsv": "\t"}
QUOTES = {"csv": '"', "tsv": None}


def is_frame(source: Any) -> bool:
    """Return whether something is a table rather than the path of a file."""
    return not isinstance(source, (str, bytes)) and not hasattr(source, "__fspath__")


def read_table(path: str | PathLike[str], kind: str) -> pl.DataFrame:
    """Read a file with a header; of text files every column is text.

    Raises:
        ValueError: If the file cannot be read as what it should be.
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
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))  # an empty line is no row


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


def run_of_frame(
    frame: Any, columns: Mapping[str, str] | None, source: str = "the table", line: Line | None = None
) -> Run:
    """Return the run that a table holds, a row per retrieved document."""
    require("polars", "reading a DataFrame")
    wanted = {"query": True, "document": True, "score": False, "rank": False}
    table = _Table(frame, source, find_columns(_names(frame), wanted, columns, source), line)
    queries, documents = table.ids("query"), table.ids("document")
    if table.has("score"):
        batch = grouped(queries, documents, table.numbers("score"))
    elif table.has("rank"):
        order = np.argsort(table.numbers("rank"), kind="stable")
        batch = grouped(queries.gather(order), documents.gather(order), None)
    else:
        batch = grouped(queries, documents, None)
    if batch.scores is not None and (row := first_repeat(batch)) is not None:
        table.refuse_repeat(batch.query_of(row), batch.documents[row])
    return Run([batch])


def run_of_mapping(rankings: Mapping[Any, Any], source: str) -> Run:
    """Return the run that a mapping of queries holds: documents with scores, or documents best first."""
    scored = {query: ranking for query, ranking in rankings.items() if isinstance(ranking, Mapping)}
    listed = {query: ranking for query, ranking in rankings.items() if isinstance(ranking, (list, tuple))}
    if stray := [query for query in rankings if query not in scored and query not in listed]:
        raise ValueError(
            f"{source}, query {stray[0]!r}: a ranking is a list of documents, best first, or an object of documents "
            f"with scores, got {rankings[stray[0]]!r}"
        )
    return Run(_batch_of_mapping(part, source, scores=part is scored) for part in (scored, listed) if part)


def _batch_of_mapping(rankings: Mapping[Any, Any], source: str, *, scores: bool) -> Batch:
    import polars as pl

    documents = [document for ranking in rankings.values() for document in ranking]
    columns: dict[str, Any] = {"document": documents or pl.Series([], dtype=pl.String)}
    if scores:
        columns["score"] = [score for ranking in rankings.values() for score in ranking.values()]
    table = _Table(columns, source, {role: role for role in columns}, may_be_empty=True)
    bounds = np.cumsum([0, *map(len, rankings.values())])
    return Batch(list(rankings), bounds, table.ids("document"), table.numbers("score") if scores else None)


def qrels_of_frame(
    frame: Any, columns: Mapping[str, str] | None, source: str = "the table", line: Line | None = None
) -> Qrels:
    """Return the judgments that a table holds, a row per judged document."""
    require("polars", "reading a DataFrame")
    wanted = {"query": True, "document": True, "grade": False}
    table = _Table(frame, source, find_columns(_names(frame), wanted, columns, source), line)
    queries, documents = table.ids("query"), table.ids("document")
    batch = grouped(queries, documents, table.numbers("grade") if table.has("grade") else None)
    if (row := first_repeat(batch)) is not None:
        table.refuse_repeat(batch.query_of(row), batch.documents[row])
    return Qrels.from_grouped(batch.queries, batch.bounds, batch.documents.to_list(), batch.scores)


def _names(frame: Any) -> list[str]:
    if isinstance(frame, Mapping):
        return list(frame)
    if hasattr(frame, "collect_schema"):  # polars, lazy or not
        return list(frame.collect_schema().names())
    names = getattr(frame, "column_names", None)  # Arrow
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None:
        got = type(frame).__name__
        raise TypeError(f"a table is a pandas or polars DataFrame, an Arrow table or a mapping of columns, got {got}")
    return [str(name) for name in names]


class _Table:
    """The columns that matter, and the words for what is wrong with them."""

    def __init__(
        self,
        frame: Any,
        source: str,
        roles: Mapping[str, str],
        line: Line | None = None,
        *,
        may_be_empty: bool = False,
    ) -> None:
        import polars as pl

        self.source = source
        self.line = line
        self.roles = roles
        names = list(dict.fromkeys(roles.values()))
        if hasattr(frame, "collect_schema"):
            chosen = frame.lazy().select(names).collect()
        elif hasattr(frame, "column_names"):
            chosen = pl.from_arrow(frame.select(names))
        else:
            chosen = _frame_of_columns(frame, names, source)
        self.frame: pl.DataFrame = chosen
        if not (len(chosen) or may_be_empty):
            raise ValueError(f"{source} is empty: it has no rows")

    def has(self, role: str) -> bool:
        return role in self.roles

    def ids(self, role: str) -> pl.Series:
        """Return a column of ids, all of them text or all of them whole numbers."""
        import polars as pl

        column = self.frame[self.roles[role]]
        if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
            column = column.cast(pl.String)
        if column.dtype.is_float():  # as which pandas holds whole numbers where one is missing
            column = column.fill_nan(None)
        if column.null_count():
            self._refuse(column.is_null(), f"has no {role}")
        if not len(column):
            return column.cast(pl.String)
        if column.dtype.is_integer():
            whole: pl.Series = column.cast(pl.Int64, strict=False)
            if whole.null_count():
                self._refuse(whole.is_null(), f"has a {role} beyond 64 bits, which is to be given as text")
            return whole
        if column.dtype != pl.String:
            raise TypeError(
                f"column {column.name!r} of {self.source} must hold ids, text or whole numbers, not {column.dtype}; "
                "convert it to text or to whole numbers"
            )
        return column.rechunk()

    def numbers(self, role: str) -> FloatArray:
        """Return a column of finite numbers, reading them where they are text; a grade may be True or False."""
        import polars as pl

        column = self.frame[self.roles[role]]
        others = {pl.String, pl.Null, pl.Boolean} if role == "grade" else {pl.String, pl.Null}
        if not (column.dtype.is_numeric() or column.dtype in others):
            raise TypeError(f"column {column.name!r} of {self.source} must hold numbers, not {column.dtype}")
        numbers: pl.Series = column.cast(pl.Float64, strict=False)
        wrong = numbers.is_finite().fill_null(value=False).not_()
        if wrong.any():
            self._refuse(wrong, f"has {column.filter(wrong)[0]!r} as {role}, which is no finite number")
        return numbers.rechunk().to_numpy()

    def _refuse(self, wrong: pl.Series, what: str) -> None:
        at = int(wrong.arg_max() or 0)
        if self.line is not None:
            msg = f"{self.line(at)}: the line {what}"
        else:
            msg = f"row {at + 1} of {self.source} {what}: {self.frame.row(at, named=True)}"
        raise ValueError(msg)

    def refuse_repeat(self, query: Any, document: Any) -> None:
        same = (self.ids("query") == query) & (self.ids("document") == document)
        rows = np.flatnonzero(same.to_numpy()).tolist()
        if self.line is not None:
            msg = f"{self.line(rows[1])}: document {document!r} stands twice for query {query!r}"
        else:
            places = f"rows {rows[0] + 1} and {rows[1] + 1} of {self.source}"
            msg = f"{places} both hold document {document!r} for query {query!r}"
        raise ValueError(msg)


def _frame_of_columns(frame: Any, names: list[str], source: str) -> pl.DataFrame:
    """Return some columns of a pandas DataFrame, or of a mapping of names to columns."""
    import polars as pl

    name_in_frame = {str(name): name for name in (frame if isinstance(frame, Mapping) else frame.columns)}
    columns = [_series(name, frame[name_in_frame[name]], source) for name in names]
    for column in columns[1:]:
        if len(column) != len(columns[0]):
            raise ValueError(
                f"the columns of {source} must be of the same length, and {columns[0].name!r} has {len(columns[0])} "
                f"values, {column.name!r} {len(column)}"
            )
    return pl.DataFrame(columns)


def _series(name: str, column: Any, source: str) -> pl.Series:
    """Return a column of pandas, numpy or plain Python; text is taken as it is, whatever holds it."""
    import polars as pl

    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        raise TypeError(f"column {name!r} of {source} must be a list or an array of values, got {column!r}")
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    try:
        if kind == "f":
            values = np.asarray(values, dtype=np.float64)
        elif kind not in "biumM":
            # What pandas takes for missing has many forms, of which polars knows one.
            missing = column.isna() if hasattr(column, "isna") else [False] * len(values)
            values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
            return pl.Series(name, *_with_type(values), strict=True)
        return pl.Series(name, values, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise TypeError(
            f"column {name!r} of {source} holds values of different kinds: {str(error).splitlines()[0]}"
        ) from error


def _with_type(values: list[Any]) -> tuple[list[Any], pl.DataType | type[pl.DataType] | None]:
    """Return values with the type of their column where polars, which looks at the first of them, would miss it."""
    import polars as pl

    types = set(map(type, values)) - {type(None)}
    if types and all(issubclass(cls, Integral) for cls in types):
        beyond = max(abs(value) for value in values if value is not None) >= 2**63
        return values, pl.Int128 if beyond else None
    if len(types) > 1 and all(issubclass(cls, (Real, Decimal)) for cls in types):  # one has a point, so all are floats
        return [None if value is None else float(value) for value in values], pl.Float64
    return values, None
