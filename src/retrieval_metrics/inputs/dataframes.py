"""Read tables with one row per document into the columns of a run or of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics.inputs.allowances import parse_allowances
from retrieval_metrics.inputs.batch import drop_repeated_rows, find_first_duplicate, group_rows
from retrieval_metrics.inputs.column_detection import RELEVANT_COLUMNS, find_columns
from retrieval_metrics.inputs.frame_columns import column_names, copy_numbers, select_columns
from retrieval_metrics.inputs.grade_checks import (
    GRADE_OF_WORD,
    MAX_GRADE_VALUE,
    describe_grade,
    describe_repeated_judgment,
)
from retrieval_metrics.inputs.id_checks import CONTROL_CHARACTERS, holds_a_list
from retrieval_metrics.inputs.score_checks import MAX_CHECKED_ROWS, warn_about_score_direction

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    import polars as pl

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.inputs.batch import Batch
    from retrieval_metrics.inputs.column_detection import Columns, Requirement

# A cell that holds several ids: a printed list, or ids with a separator between them.
LIST_PATTERN = r"^\s*[\[{(]|[;|,\n]"


class LongTable:
    """A table with one row per document: the columns in use, checked as they are read.

    Args:
        frame: A pandas or polars DataFrame, an Arrow table, or a mapping of column names to columns.
        roles: The roles of its columns, such as `RUN_ROLES`.
        columns: The columns of these roles, if their names do not show it; None for a role without a column.
        source: The name of the table, for messages.
        locate_row: Returns how errors name the line of a row, for a table from a text file; None names its number.
        allow: `"blanks"`, `"repeated"`, or both, as in `Run.from_frame`.
        names: The names of the columns, if they differ from those in the table.
        is_kept: Whether what is read outlives the call, so that it must not share memory with the table.

    Raises:
        TypeError: If it is not a table.
        ValueError: If a column is missing or ambiguous.
        ImportError: If polars is not installed.
    """

    def __init__(
        self,
        frame: Any,
        roles: Mapping[str, Requirement],
        columns: Columns | None,
        source: str = "the table",
        locate_row: Callable[[int], str] | None = None,
        *,
        allow: str | Collection[str] = (),
        names: Iterable[str] | None = None,
        is_kept: bool = False,
    ) -> None:
        import_optional("polars", "reading a DataFrame")
        self.source = source
        self.locate_row = locate_row
        self.allow = parse_allowances(allow)
        if names is None:
            names = column_names(frame)
        self.roles = find_columns(names, roles, columns, source, self.allow)
        self.frame = select_columns(frame, list(dict.fromkeys(self.roles.values())), source)
        if is_kept:
            self.frame = copy_numbers(self.frame)

    def rankings(self) -> Batch:
        """Return the rankings in a table with one row per retrieved document."""
        self._require_rows()
        queries = self.ids("query")
        documents = self.ids("document")
        if self.has_column("score"):
            scores = self.numbers("score")
            if self.has_column("rank"):
                self._warn_about_ranks(queries, scores)
            batch = group_rows(queries, documents, scores)
            self._require_no_duplicates(batch)
            return batch
        if self.has_column("rank"):
            ranks = self.numbers("rank")
            self._require_distinct_ranks(queries, ranks)
            order = np.argsort(ranks, kind="stable")
            queries = queries.gather(order)
            documents = documents.gather(order)
        return group_rows(queries, documents, None)

    def require_no_ranks_as_scores(self, remedy: str = "") -> None:
        """Raise if the scores count the rows of each query, as ranks do: the order would be turned around.

        Args:
            remedy: What the message advises; by default, to name the column as the rank.
        """
        if not self.has_column("score") or self.has_column("rank"):
            return
        scores = self.numbers("score")[:MAX_CHECKED_ROWS].tolist()
        n_rows_of_query: dict[Any, int] = {}
        for query, score in zip(self.ids("query").head(MAX_CHECKED_ROWS), scores, strict=True):
            n_rows_of_query[query] = n_rows_of_query.get(query, 0) + 1
            if score != n_rows_of_query[query]:
                return
        if max(n_rows_of_query.values(), default=0) > 1:
            column = self.roles["score"]
            remedy = remedy or f"name it as the rank: columns={{'rank': {column}}}"
            raise ValueError(
                f"{self.source} holds ranks, 1, 2 and so on, in column {column!r}, and not scores; {remedy}"
            )

    def judgments(self) -> Batch | dict[Any, list[dict[Any, float]]]:
        """Return the judgments in a table with one row per judged document: a batch, or groups by query."""
        self._require_rows()
        queries = self.ids("query")
        documents = self.ids("document")
        grades = self.numbers("grade") if self.has_column("grade") else None
        if self.has_column("group"):
            return self._read_groups(queries, documents, grades)
        batch = group_rows(queries, documents, grades)
        if "repeated" in self.allow:
            batch = drop_repeated_rows(batch)
        self._require_no_duplicates(batch, grades, is_judged=True)
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
            integers: pl.Series = column.cast(pl.Int64, strict=False)
            if integers.null_count():
                self._refuse(integers.is_null(), f"has a {role} beyond 64 bits; give such ids as text")
            return integers
        if column.dtype != pl.String:
            raise TypeError(
                f"column {column.name!r} of {self.source} must hold ids, text or whole numbers, not {column.dtype}; "
                "convert it to text or to whole numbers"
            )
        if "blanks" not in self.allow:
            has_blanks = column != column.str.strip_chars()
            if has_blanks.any():
                self._refuse(
                    has_blanks,
                    f"has a {role} that begins or ends with whitespace, in column {column.name!r} "
                    "(allow='blanks' keeps it)",
                )
        if role == "document" and column.name.strip().lower() in RELEVANT_COLUMNS:
            holds_several = column.str.contains(LIST_PATTERN)
            if holds_several.any():
                self._refuse(
                    holds_several,
                    f"seems to hold several documents in column {column.name!r}; read_questions(path) reads tables "
                    "with one row per question",
                )
        self._refuse_invalid_text(column, role)
        return column.rechunk()

    def _refuse_invalid_text(self, column: pl.Series, role: str) -> None:
        """Raise if an id is empty, holds a control character, or is a list that was written as text."""
        import polars as pl

        is_empty = column.str.len_bytes() == 0
        if "blanks" not in self.allow and is_empty.any():
            self._refuse(is_empty, f"has no {role}: column {column.name!r} holds an empty text")
        has_control = column.str.contains(CONTROL_CHARACTERS)
        if has_control.any():
            self._refuse(
                has_control, f"has a {role} with a control character, in column {column.name!r}; remove it from the id"
            )
        if role != "document" or not column.str.contains(r"^\s*[\[({]").any():
            return
        is_list = pl.Series([holds_a_list(text) for text in column])
        if is_list.any():
            self._refuse(
                is_list,
                f"has a list that was written as text, in column {column.name!r}; give each document a row of its own, "
                "or pass {query: list} with lists read by ast.literal_eval(text) or json.loads(text)",
            )

    def numbers(self, role: str) -> FloatArray:
        """Return a column of finite numbers, parsed where they are text; a grade may be True, "yes" and the like."""
        import polars as pl

        column = self.frame[self.roles[role]]
        convertible: set[Any] = {pl.String, pl.Null}
        if role == "grade":
            convertible.add(pl.Boolean)
        if not (column.dtype.is_numeric() or column.dtype in convertible):
            raise TypeError(f"column {column.name!r} of {self.source} must hold numbers, not {column.dtype}")
        if column.dtype == pl.String:
            column = column.str.strip_chars()
        numbers: pl.Series = column.cast(pl.Float64, strict=False)
        if role == "grade" and column.dtype == pl.String and numbers.null_count() > column.null_count():
            words = column.str.to_lowercase()
            numbers = numbers.fill_null(words.replace_strict(GRADE_OF_WORD, default=None, return_dtype=pl.Float64))
        is_invalid = numbers.is_finite().fill_null(value=False).not_()
        if is_invalid.any():
            value = column.filter(is_invalid)[0]
            remedy = f"; {describe_grade(value)}" if role == "grade" else ""
            self._refuse(is_invalid, f"has {value!r} as {role}, which is not a finite number{remedy}")
        if role == "grade":
            is_too_large = numbers.abs() > MAX_GRADE_VALUE
            if is_too_large.any():
                self._refuse(is_too_large, f"has {column.filter(is_too_large)[0]!r} as grade, which is beyond 2**53")
        return numbers.rechunk().to_numpy()

    def _warn_about_ranks(self, queries: pl.Series, scores: FloatArray) -> None:
        """Warn if the ranks at the beginning speak against the scores, by which the run is ordered."""
        import polars as pl

        ranks = self.frame[self.roles["rank"]].head(MAX_CHECKED_ROWS).cast(pl.Float64, strict=False)
        first_scores = scores[:MAX_CHECKED_ROWS].tolist()
        rows = []
        for query, rank, score in zip(queries.head(MAX_CHECKED_ROWS), ranks, first_scores, strict=True):
            if rank is not None:
                rows.append((query, rank, score))
        warn_about_score_direction(rows, self.source)

    def _require_distinct_ranks(self, queries: pl.Series, ranks: FloatArray) -> None:
        """Raise if two rows of a query have the same rank, because the rank does not say which of them is better."""
        import polars as pl

        by_rank = group_rows(queries, pl.Series("rank", ranks), None)
        duplicate = find_first_duplicate(by_rank)
        if duplicate is None:
            return
        query = by_rank.find_query(duplicate)
        rank = by_rank.documents[duplicate]
        rows = np.flatnonzero((queries == query).to_numpy() & (ranks == rank)).tolist()
        documents = self.ids("document")
        first_document, second_document = sorted((documents[row] for row in rows[:2]), key=str)
        where = f"{self.source}, rows {rows[0] + 1} and {rows[1] + 1}"
        if self.locate_row is not None:
            where = self.locate_row(rows[1])
        raise ValueError(
            f"{where}: documents {first_document!r} and {second_document!r} of query {query!r} have the same rank, "
            f"{rank:g}; give them different ranks, or scores, or pass columns={{'rank': None}} if the "
            "rows of a query are in rank order"
        )

    def _read_groups(
        self, queries: pl.Series, documents: pl.Series, grades: FloatArray | None
    ) -> dict[Any, list[dict[Any, float]]]:
        """Return the groups of each query, in the order in which they first appear."""
        groups_by_query: dict[Any, dict[Any, dict[Any, float]]] = {}
        if grades is None:
            grades = np.ones(len(documents))
        labels = self.ids("group").to_list()
        rows = zip(queries.to_list(), labels, documents.to_list(), grades.tolist(), strict=True)
        for row, (query, label, document, grade) in enumerate(rows):
            group = groups_by_query.setdefault(query, {}).setdefault(label, {})
            if document in group:
                if "repeated" in self.allow and group[document] == grade:
                    continue
                where = f"{self.source}, row {row + 1}" if self.locate_row is None else self.locate_row(row)
                raise ValueError(f"{where}: document {document!r} appears twice in group {label!r} of query {query!r}")
            group[document] = grade
        return {query: list(groups.values()) for query, groups in groups_by_query.items()}

    def _require_no_duplicates(
        self, batch: Batch, grades: FloatArray | None = None, *, is_judged: bool = False
    ) -> None:
        """Raise if a query has a document twice, naming both rows, and the grades if it is judged."""
        duplicate = find_first_duplicate(batch)
        if duplicate is None:
            return
        query = batch.find_query(duplicate)
        document = batch.documents[duplicate]
        is_equal = (self.ids("query") == query) & (self.ids("document") == document)
        rows = np.flatnonzero(is_equal.to_numpy()).tolist()
        note = ""
        if is_judged:
            first_grade = 1.0 if grades is None else float(grades[rows[0]])
            # Of several rows, the first with another grade is the one that cannot be left out.
            others = [row for row in rows[1:] if grades is not None and grades[row] != first_grade]
            second_row = (others or rows[1:])[0]
            rows = [rows[0], second_row]
            second_grade = first_grade if grades is None else float(grades[second_row])
            note = describe_repeated_judgment(first_grade, second_grade)
        if self.locate_row is not None:
            first_line = f"; first in {self.locate_row(rows[0])}" if note else ""
            raise ValueError(
                f"{self.locate_row(rows[1])}: document {document!r} appears twice for query {query!r}{note}{first_line}"
            )
        raise ValueError(
            f"rows {rows[0] + 1} and {rows[1] + 1} of {self.source} both hold document {document!r} for query "
            f"{query!r}{note}"
        )

    def _require_rows(self) -> None:
        """Raise if there are no rows, or if one repeats the header, as where files were joined."""
        import polars as pl

        if not len(self.frame):
            below_header = " below its header" if self.locate_row is not None else ""
            raise ValueError(f"{self.source} is empty: it has no rows{below_header}")
        if self.locate_row is None:
            return
        is_header = pl.Series([True]).new_from_index(0, len(self.frame))
        for column in self.frame:
            if column.dtype != pl.String or column.name.isdigit():  # the positions of a file without a header
                return
            is_header &= column == column.name
        if is_header.any():
            self._refuse(is_header, "repeats the header, as where files were joined; remove it")

    def _refuse(self, is_invalid: pl.Series, complaint: str) -> None:
        row = int(is_invalid.arg_max() or 0)
        if self.locate_row is not None:
            raise ValueError(f"{self.locate_row(row)}: the line {complaint}")
        raise ValueError(f"row {row + 1} of {self.source} {complaint}: {self.frame.row(row, named=True)}")
