"""Tables with a row per document, read into columns of whole queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import format_argument, import_optional
from retrieval_metrics.inputs.column_detection import (
    MAX_CHECKED_ROWS,
    MAX_GRADE_VALUE,
    Batch,
    column_names,
    find_columns,
    parse_allowances,
    select_columns,
    warn_about_score_direction,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    import polars as pl

    from retrieval_metrics._internal.validation import FloatArray, IntArray
    from retrieval_metrics.inputs.column_detection import Columns, Role

    Line = Callable[[int], str]
    """Returns the name of a row's line for errors, for tables read from a text file."""


# ruff: noqa: PLC0415  (polars is an extra: imported where it is used)


class LongTable:
    """A table with one row per document: the columns in use, checked as they are read.

    Args:
        frame: A pandas or polars DataFrame, an Arrow table, or a mapping of column names to columns.
        wanted: The roles of its columns, such as `RUN_ROLES`.
        columns: The columns of these roles, if their names do not show it; None for a role without a column.
        source: The name of the table, for messages.
        line: Names the line of a row in errors; None names the number of the row.
        allow: `"blanks"`, `"repeated"`, or both, as in `Run.from_frame`.
        names: The names of the columns, if they differ from those in the table.

    Raises:
        TypeError: If it is not a table.
        ValueError: If a column is missing or ambiguous.
        ImportError: If polars is not installed.
    """

    def __init__(
        self,
        frame: Any,
        wanted: Mapping[str, Role],
        columns: Columns | None,
        source: str = "the table",
        line: Line | None = None,
        *,
        allow: str | Collection[str] = (),
        names: Iterable[str] | None = None,
    ) -> None:
        import_optional("polars", "reading a DataFrame")
        self.source = source
        self.line = line
        self.allow = parse_allowances(allow)
        self.roles = find_columns(column_names(frame) if names is None else names, wanted, columns, source, self.allow)
        self.frame = select_columns(frame, list(dict.fromkeys(self.roles.values())), source)

    def rankings(self) -> Batch:
        """Return the rankings in a table with one row per retrieved document."""
        self._refuse_empty()
        queries, documents = self.ids("query"), self.ids("document")
        if self.has_column("score"):
            scores = self.numbers("score")
            if self.has_column("rank"):
                self._warn_of_doubt(queries, scores)
            batch = grouped(queries, documents, scores)
            self._refuse_repeats(batch)
            return batch
        if self.has_column("rank"):
            ranks = self.numbers("rank")
            self._refuse_equal_ranks(queries, ranks)
            order = np.argsort(ranks, kind="stable")
            queries, documents = queries.gather(order), documents.gather(order)
        return grouped(queries, documents, None)

    def judgments(self) -> Batch | dict[Any, list[dict[Any, float]]]:
        """Return the judgments in a table with one row per judged document: flat ones as a batch, groups by query."""
        self._refuse_empty()
        queries, documents = self.ids("query"), self.ids("document")
        grades = self.numbers("grade") if self.has_column("grade") else None
        if self.has_column("group"):
            return self._groups(queries, documents, grades)
        batch = grouped(queries, documents, grades)
        self._refuse_repeats(batch)
        return batch

    def has_column(self, role: str) -> bool:
        """Return whether there is a column with this role."""
        return role in self.roles

    def ids(self, role: str) -> pl.Series:
        """Return a column of ids, all of them text or all of them whole numbers."""
        import polars as pl

        column = self.frame[self.roles[role]]
        if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
            column = column.cast(pl.String)
        if column.dtype.is_float():  # pandas turns whole numbers into floats where one is missing
            column = column.fill_nan(None)
        if column.null_count():
            self._refuse(column.is_null(), f"has no {role}")
        if not len(column):
            return column.cast(pl.String)
        if column.dtype.is_integer():
            whole: pl.Series = column.cast(pl.Int64, strict=False)
            if whole.null_count():
                self._refuse(whole.is_null(), f"has a {role} beyond 64 bits; give such ids as text")
            return whole
        if column.dtype != pl.String:
            raise TypeError(
                f"column {column.name!r} of {self.source} must hold ids, text or whole numbers, not {column.dtype}; "
                "convert it to text or to whole numbers"
            )
        if "blanks" not in self.allow and (edged := column != column.str.strip_chars()).any():
            self._refuse(
                edged,
                f"has a {role} that begins or ends with a blank, in column {column.name!r} "
                f"({format_argument('allow', 'blanks')} keeps it)",
            )
        return column.rechunk()

    def numbers(self, role: str) -> FloatArray:
        """Return a column of finite numbers, parsed where they are text; a grade may be True or False."""
        import polars as pl

        column = self.frame[self.roles[role]]
        others = {pl.String, pl.Null, pl.Boolean} if role == "grade" else {pl.String, pl.Null}
        if not (column.dtype.is_numeric() or column.dtype in others):
            raise TypeError(f"column {column.name!r} of {self.source} must hold numbers, not {column.dtype}")
        numbers: pl.Series = column.cast(pl.Float64, strict=False)
        wrong = numbers.is_finite().fill_null(value=False).not_()
        if wrong.any():
            self._refuse(wrong, f"has {column.filter(wrong)[0]!r} as {role}, which is not a finite number")
        if role == "grade" and (wrong := numbers.abs() > MAX_GRADE_VALUE).any():
            self._refuse(wrong, f"has {column.filter(wrong)[0]!r} as grade, which is beyond 2**53")
        return numbers.rechunk().to_numpy()

    def _warn_of_doubt(self, queries: pl.Series, scores: FloatArray) -> None:
        """Warn if the ranks at the beginning speak against the scores, by which the run is ordered."""
        import polars as pl

        ranks = self.frame[self.roles["rank"]].head(MAX_CHECKED_ROWS).cast(pl.Float64, strict=False)
        rows = zip(queries.head(MAX_CHECKED_ROWS), ranks, scores[:MAX_CHECKED_ROWS].tolist(), strict=True)
        warn_about_score_direction((row for row in rows if row[1] is not None), self.source)

    def _refuse_equal_ranks(self, queries: pl.Series, ranks: FloatArray) -> None:
        """Raise if two rows of a query have the same rank, so that only their order could tell which is better."""
        import polars as pl

        by_rank = grouped(queries, pl.Series("rank", ranks), None)
        row = find_first_duplicate(by_rank)
        if row is None:
            return
        query, rank = by_rank.row_queries(row), by_rank.documents[row]
        rows = np.flatnonzero((queries == query).to_numpy() & (ranks == rank)).tolist()
        one, other = sorted((self.ids("document")[at] for at in rows[:2]), key=str)
        where = f"{self.source}, rows {rows[0] + 1} and {rows[1] + 1}" if self.line is None else self.line(rows[1])
        raise ValueError(
            f"{where}: documents {one!r} and {other!r} of query {query!r} have the same rank, "
            f"{rank:g}; give them different ranks, or scores, or pass {format_argument('columns', {'rank': None})} if the "
            "rows of a query are in rank order"
        )

    def _groups(
        self, queries: pl.Series, documents: pl.Series, grades: FloatArray | None
    ) -> dict[Any, list[dict[Any, float]]]:
        """Return the groups of each query, in the order in which they first appear."""
        found: dict[Any, dict[Any, dict[Any, float]]] = {}
        values = np.ones(len(documents)) if grades is None else grades
        labels = self.ids("group").to_list()
        rows = zip(queries.to_list(), labels, documents.to_list(), values.tolist(), strict=True)
        for at, (query, label, document, grade) in enumerate(rows):
            group = found.setdefault(query, {}).setdefault(label, {})
            if document in group:
                where = f"{self.source}, row {at + 1}" if self.line is None else self.line(at)
                raise ValueError(f"{where}: document {document!r} appears twice in group {label!r} of query {query!r}")
            group[document] = grade
        return {query: list(groups.values()) for query, groups in found.items()}

    def _refuse_repeats(self, batch: Batch) -> None:
        """Raise if a query has a document twice, naming both rows."""
        row = find_first_duplicate(batch)
        if row is None:
            return
        query, document = batch.row_queries(row), batch.documents[row]
        same = (self.ids("query") == query) & (self.ids("document") == document)
        rows = np.flatnonzero(same.to_numpy()).tolist()
        if self.line is not None:
            raise ValueError(f"{self.line(rows[1])}: document {document!r} appears twice for query {query!r}")
        raise ValueError(
            f"rows {rows[0] + 1} and {rows[1] + 1} of {self.source} both hold document {document!r} for query {query!r}"
        )

    def _refuse_empty(self) -> None:
        if not len(self.frame):
            raise ValueError(f"{self.source} is empty: it has no rows")

    def _refuse(self, wrong: pl.Series, what: str) -> None:
        at = int(wrong.arg_max() or 0)
        if self.line is not None:
            raise ValueError(f"{self.line(at)}: the line {what}")
        raise ValueError(f"row {at + 1} of {self.source} {what}: {self.frame.row(at, named=True)}")


# Cut columns of rows into whole queries, and find repeated documents.

LARGEST_INT32 = 2**31
ODD = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio, whose multiples differ in every bit."""


def stretches(queries: pl.Series) -> IntArray:
    """Return the rows at which a new query begins; the first is 0."""
    changes: IntArray = np.flatnonzero((queries[1:] != queries[:-1]).to_numpy()) + 1
    return np.concatenate([[0], changes])


def batch_of(queries: pl.Series, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return rows as a batch, in which a query may still occur more than once."""
    starts = stretches(queries)
    return Batch(queries.gather(starts).to_list(), np.append(starts, len(queries)), documents, scores)


def grouped(queries: pl.Series, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return rows as a batch in which every query has its rows together, in their original order."""
    starts = stretches(queries)
    return _gathered(queries.gather(starts), np.append(starts, len(queries)), documents, scores)


def regroup_by_query(batches: Iterable[Batch]) -> Batch:
    """Return one batch in which every query has its rows together, in their original order."""
    import polars as pl

    parts = list(batches)
    names = pl.Series([query for part in parts for query in part.queries])
    sizes = np.concatenate([np.diff(part.bounds) for part in parts])
    documents = pl.concat([part.documents for part in parts])
    scores = None
    if parts[0].scores is not None:
        scores = np.concatenate([part.scores for part in parts if part.scores is not None])
    return _gathered(names, np.append(0, np.cumsum(sizes)), documents, scores)


def _gathered(names: pl.Series, bounds: IntArray, documents: pl.Series, scores: FloatArray | None) -> Batch:
    """Return stretches of rows with those of a query next to each other; stretch `i` belongs to query `names[i]`."""
    import polars as pl

    of_query = pl.DataFrame({"query": names, "at": np.arange(len(names))}).group_by("query", maintain_order=True)
    stretch = of_query.agg("at")
    if len(stretch) == len(names):
        return Batch(names.to_list(), bounds, documents, scores)
    at = stretch["at"].explode().to_numpy()
    sizes = np.diff(bounds)[at]
    ends = np.cumsum(sizes)
    order = np.repeat(bounds[at] - (ends - sizes), sizes) + np.arange(len(documents))
    of_each = np.append(0, ends)[np.append(0, stretch["at"].list.len().cum_sum().to_numpy())]
    gathered = None if scores is None else scores[order]
    return Batch(stretch["query"].to_list(), of_each, documents.gather(order), gathered)


def split_by_query(parts: Iterable[tuple[pl.Series, pl.Series, FloatArray]]) -> Iterator[Batch]:
    """Cut rows that arrive in parts so that a query whose rows are consecutive is in one batch."""
    kept: Batch | None = None
    for queries, documents, scores in parts:
        if not len(queries):
            continue
        batch = batch_of(queries, documents, scores)
        if kept is not None:
            batch = _joined(kept, batch)
        whole = len(batch.queries) - 1
        row = int(batch.bounds[whole])
        if whole:
            yield Batch(batch.queries[:whole], batch.bounds[: whole + 1], batch.documents[:row], _cut(batch, 0, row))
        # The next part may continue the last query.
        kept = Batch(batch.queries[whole:], batch.bounds[whole:] - row, batch.documents[row:], _cut(batch, row, None))
    if kept is not None:
        yield kept


def _cut(batch: Batch, start: int, end: int | None) -> FloatArray | None:
    return None if batch.scores is None else batch.scores[start:end]


def _joined(kept: Batch, batch: Batch) -> Batch:
    """Return the rows of one query followed by a batch, which may continue that query."""
    import polars as pl

    more = kept.queries[0] == batch.queries[0]
    bounds = np.append(0, batch.bounds[1 if more else 0 :] + len(kept.documents))
    queries = batch.queries if more else [*kept.queries, *batch.queries]
    documents = pl.concat([kept.documents, batch.documents], rechunk=False)
    scores = None
    if kept.scores is not None and batch.scores is not None:
        scores = np.concatenate([kept.scores, batch.scores])
    return Batch(queries, bounds, documents, scores)


def find_first_duplicate(batch: Batch) -> int | None:
    """Return the first row whose document appears earlier in its query; None if there is none."""
    rows = len(batch.documents)
    salt = np.arange(len(batch.queries), dtype=np.uint64) * ODD
    hashes = batch.documents.hash().to_numpy() + np.repeat(salt, np.diff(batch.bounds))
    bits = rows.bit_length() + 3
    slot = (hashes >> np.uint64(64 - bits)).view(np.int64)
    number = np.arange(rows, dtype=np.int32 if rows < LARGEST_INT32 else np.int64)
    table = np.empty(1 << bits, number.dtype)
    table[slot] = number
    holder = table[slot]
    crowded = np.flatnonzero(holder != number)
    others = np.sort(hashes[crowded])
    if not ((hashes[crowded] == hashes[holder[crowded]]).any() or (others[1:] == others[:-1]).any()):
        return None
    return _first_equal(batch, np.union1d(crowded, holder[crowded]))


def _first_equal(batch: Batch, suspects: IntArray) -> int | None:
    """Return the first of the suspected rows that repeats an earlier one; equal hashes alone prove nothing."""
    seen: set[tuple[int, object]] = set()
    owner = np.searchsorted(batch.bounds, suspects, side="right").tolist()
    documents = batch.documents.gather(suspects).to_list()
    for row, query, document in zip(suspects.tolist(), owner, documents, strict=True):
        if (query, document) in seen:
            return int(row)
        seen.add((query, document))
    return None
