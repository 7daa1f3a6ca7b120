"""The columns of a table: found by name, read from any frame, and checked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import chain, pairwise
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from retrieval_metrics._internal.validation import OPEN, format_argument, group_pairs, warn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    import polars as pl

    from retrieval_metrics._internal.validation import FloatArray, IntArray, QueryId
    from retrieval_metrics.inputs.items import Ranking, Relevant


QUERY_COLUMNS = ("query", "query_id", "query-id", "qid", "q_id", "topic", "topic_id")
DOCUMENT_COLUMNS = (
    *("document", "document_id", "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id"),
    *("pid", "passage_id", "chunk_id"),
)
SCORE_COLUMNS = ("score", "sim", "similarity")
RANK = ("rank",)
GRADE = ("grade", "relevance", "rel", "label", "score")
GROUP = ("group",)

USUAL = {
    "query": QUERY_COLUMNS,
    "document": DOCUMENT_COLUMNS,
    "score": SCORE_COLUMNS,
    "rank": RANK,
    "grade": GRADE,
    "group": GROUP,
}

IGNORED = {
    *("iteration", "iter", "q0", "tag", "run", "run_id", "system"),
    *("text", "title", "contents", "body", "source", "start", "end", "tokens", "metadata", "url"),
}
"""Columns that are known not to be a grade, a score or a rank."""

Role: TypeAlias = "bool | str"
"""Whether a role must have a column; or, for an optional role, what its absence means, in words.

If its absence means something, an unknown column could be the missing one, and is refused.
"""
Columns: TypeAlias = "Mapping[str, str | None]"
"""The column of each role named by the user; None if there is none."""

RUN_ROLES: Mapping[str, Role] = {
    "query": True,
    "document": True,
    "score": "if the rows of a query are in rank order",
    "rank": False,
}
JUDGMENT_ROLES: Mapping[str, Role] = {
    "query": True,
    "document": True,
    "grade": "if every document listed is relevant",
    "group": False,
}
INSTEAD = {"score": ("rank",)}
"""Roles that make another unnecessary."""

ALLOWANCES = ("blanks", "repeated")
"""The values of `allow`: ids may begin or end with blanks; of repeated columns or keys the first counts."""


def parse_allowances(allow: str | Collection[str]) -> frozenset[str]:
    """Return the values of `allow=` as a set."""
    given = frozenset([allow] if isinstance(allow, str) else allow)
    if unknown := sorted(given - set(ALLOWANCES)):
        raise ValueError(f"{format_argument('allow')} takes {' and '.join(map(repr, ALLOWANCES))}, not {unknown[0]!r}")
    return given


def find_columns(
    names: Iterable[str],
    wanted: Mapping[str, Role],
    columns: Columns | None,
    source: str,
    allow: Collection[str] = (),
) -> dict[str, str]:
    """Return the column of each role."""
    there = list(names)
    given = dict(columns or {})
    if unknown := [role for role in given if role not in wanted]:
        raise ValueError(f"{format_argument('columns')} takes {', '.join(wanted)}, not {unknown[0]!r}")
    found: dict[str, str] = {}
    for role, required in wanted.items():
        name = given[role] if role in given else _usual(there, role, given, source)
        if role in given and name is not None and name not in there:
            raise ValueError(f"{source} has no column {name!r}; it has {_listed(there)}")
        if name is not None:
            found[role] = name
        elif required is True:
            raise ValueError(
                f"{source} has no column named like a {role} ({', '.join(USUAL[role])}); it has {_listed(there)}; "
                f"name the column with {format_argument('columns', {role: OPEN})}{_separated(there)}"
            )
    for role, meaning in wanted.items():
        if isinstance(meaning, str) and role not in found and role not in given:
            _refuse_unknown(there, role, meaning, found, source)
    if "repeated" not in allow and (twice := [name for name in found.values() if there.count(name) > 1]):
        raise ValueError(
            f"{source} has two columns named {twice[0]!r}; remove one, or pass {format_argument('allow', 'repeated')}, with "
            "which the first counts"
        )
    return found


def _separated(there: list[str]) -> str:
    """Return what to add to a message if a table seems to have a single column because it is separated otherwise."""
    (first, *others) = there or [""]
    found = [] if others else [separator for separator in (";", "\t", "|") if separator in first]
    return f"; it seems to be separated by {found[0]!r}: a CSV file has commas, a TSV file tabs" if found else ""


def _usual(there: list[str], role: str, given: Columns, source: str) -> str | None:
    named = set(given.values())
    candidates = dict.fromkeys(name for name in there if name.strip().lower() in USUAL[role] and name not in named)
    if len(candidates) > 1:
        raise ValueError(
            f"{source} has {_listed(candidates)}, any of which could be the {role}; "
            f"pass {format_argument('columns', {role: list(candidates)[-1]})}"
        )
    return next(iter(candidates), None)


def _refuse_unknown(there: list[str], role: str, meaning: str, found: Mapping[str, str], source: str) -> None:
    """Raise if an unknown column could be the missing one."""
    if any(other in found for other in INSTEAD.get(role, ())):
        return
    known = {*IGNORED, *QUERY_COLUMNS, *DOCUMENT_COLUMNS, *RANK}
    unknown = [name for name in there if name not in found.values() and name.strip().lower() not in known]
    if unknown:
        roles = " or a ".join((role, *INSTEAD.get(role, ())))
        raise ValueError(
            f"{source} has no column named like a {roles} ({', '.join(USUAL[role])}), and {unknown[0]!r} could be it; "
            f"pass {format_argument('columns', {role: unknown[0]})}, or {format_argument('columns', {role: None})} {meaning}"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


# The columns of a table: pandas, polars, Arrow, or a mapping of names to columns.

# ruff: noqa: PLC0415  (polars is an extra and decimal is rarely needed: imported where they are used)


def is_dataframe(source: Any) -> bool:
    """Return whether something is a table rather than a path or an open file."""
    return not (
        isinstance(source, (str, bytes)) or hasattr(source, "__fspath__") or callable(getattr(source, "read", None))
    )


def refuse_frame(given: Any, what: str, reader: str) -> None:
    """Raise if a table is given where a mapping is meant."""
    if not isinstance(given, Mapping) and (hasattr(given, "columns") or hasattr(given, "column_names")):
        raise TypeError(
            f"{what} must be a mapping of query ids, got a {type(given).__name__}; read it with {reader}(frame)"
        )


def wrong_argument_hint(given: Any, name: Literal["qrels", "run"]) -> str:
    """Return what to add to a message where something else is given in place of judgments or a run by query id."""
    if isinstance(given, (str, PathLike)):
        return f"; a file is read with read_{name}({str(given)!r})"
    if callable(getattr(given, "to_dict", None)):  # as of ranx
        return f"; pass {name}.to_dict()"
    if name == "qrels" and hasattr(type(given), "qrels"):  # as of labels
        return "; pass its judgments, .qrels"
    if callable(given) or any(hasattr(given, way) for way in ("invoke", "retrieve", "run")):
        return "; ask it first: evaluate(questions, retrieve(retriever, questions)), or compare_retrievers for several"
    return _instead_of_rows(given[0], name) if isinstance(given, (list, tuple)) and given else ""


def _instead_of_rows(first: Any, name: str) -> str:
    if hasattr(first, "query_id") and hasattr(first, "doc_id"):  # as of ir_measures and ir_datasets
        return f"; pass {name.capitalize()}.from_frame(pandas.DataFrame({name}))"
    is_pair = isinstance(first, (list, tuple)) and len(first) > 1 and not isinstance(first[1], (str, Real))
    if isinstance(first, Mapping) or (is_pair and isinstance(first[0], str)):
        return "; they are questions = EvaluationSet.of(qrels): evaluate(questions, retrieve(retriever, questions))"
    if isinstance(first, (list, tuple, set)):
        return "; number the queries: evaluate(dict(enumerate(qrels)), dict(enumerate(run)))"
    return ""


def column_names(frame: Any) -> list[str]:
    """Return the names of all columns."""
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    if hasattr(frame, "collect_schema"):  # polars, lazy or not
        return list(frame.collect_schema().names())
    names = getattr(frame, "column_names", None)  # Arrow
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None:
        got = type(frame).__name__
        raise TypeError(
            f"a table must be a pandas or polars DataFrame, an Arrow table or a mapping of columns, got {got}"
        )
    return [str(name) for name in names]


def select_columns(frame: Any, names: list[str], source: str) -> pl.DataFrame:
    """Return some columns as a polars DataFrame."""
    import polars as pl

    if hasattr(frame, "collect_schema"):
        chosen: pl.DataFrame = frame.lazy().select(names).collect()
        return chosen
    if hasattr(frame, "column_names"):
        first = [frame.column_names.index(name) for name in names]  # of several with the same name
        return cast("pl.DataFrame", pl.from_arrow(frame.select(first)))
    name_in_frame = {str(name): name for name in (frame if isinstance(frame, Mapping) else frame.columns)}
    columns = [_series(name, _first(frame[name_in_frame[name]]), source) for name in names]
    for column in columns[1:]:
        if len(column) != len(columns[0]):
            raise ValueError(
                f"the columns of {source} must have the same length, but {columns[0].name!r} has {len(columns[0])} "
                f"values, {column.name!r} {len(column)}"
            )
    return pl.DataFrame(columns)


def _first(column: Any) -> Any:
    """Return a column of pandas; of several with the same name, the first."""
    return column.iloc[:, 0] if getattr(column, "ndim", 1) == 2 and hasattr(column, "iloc") else column


def _series(name: str, column: Any, source: str) -> pl.Series:
    """Return a column of pandas, numpy or plain Python; text stays text, whatever its dtype."""
    import polars as pl

    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        raise TypeError(f"column {name!r} of {source} must be a list or an array of values, got {column!r}")
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    try:
        if kind == "f":
            values = np.asarray(values, dtype=np.float64)
        elif kind not in "biumM":
            # pandas has several missing values; polars knows only None.
            missing = column.isna() if hasattr(column, "isna") else [False] * len(values)
            values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
            return pl.Series(name, *_with_type(values), strict=True)
        return pl.Series(name, values, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise TypeError(
            f"column {name!r} of {source} holds values of different types: {str(error).splitlines()[0]}"
        ) from error


def _with_type(values: list[Any]) -> tuple[list[Any], pl.DataType | type[pl.DataType] | None]:
    """Return values with their type if polars, which infers it from the first values, would get it wrong."""
    from decimal import Decimal

    import polars as pl

    types = set(map(type, values)) - {type(None)}
    if types and all(issubclass(cls, Integral) for cls in types):
        beyond = max(abs(value) for value in values if value is not None) >= 2**63
        return values, pl.Int128 if beyond else None
    if len(types) > 1 and all(issubclass(cls, (Real, Decimal)) for cls in types):  # mixed numbers become floats
        return [None if value is None else float(value) for value in values], pl.Float64
    return values, None


class Batch(NamedTuple):
    """All rows of several queries: their retrieved documents, or their judgments.

    Attributes:
        queries: The ids of the queries.
        bounds: Shape (queries + 1,): query `i` owns the rows from `bounds[i]` to `bounds[i + 1]`.
        documents: The document of each row, as a polars Series of text or whole numbers.
        scores: Shape (rows,), finite: the scores of a run or the grades of judgments. None if a run is in rank order
            or every judged document has grade 1.
    """

    queries: list[QueryId]
    bounds: IntArray
    documents: pl.Series
    scores: FloatArray | None

    def row_queries(self, row: int) -> QueryId:
        """Return the query that owns a row."""
        return self.queries[bisect_right(self.bounds, row) - 1]

    def ranking(self, at: int) -> Ranking:
        """Return what was retrieved for query `at`: documents with scores, or documents best first."""
        rows = slice(int(self.bounds[at]), int(self.bounds[at + 1]))
        documents: list[Any] = self.documents[rows].to_list()
        return documents if self.scores is None else dict(zip(documents, self.scores[rows].tolist(), strict=True))


# Check the grades of judgments, and put them into a column.

MAX_GRADE_VALUE = 2.0**53
"""Above it floats cannot hold every integer, and no scale of relevance goes that far."""


def as_grade_column(
    grades: Sequence[Any], documents: Sequence[Relevant], owners: IntArray, queries: Sequence[QueryId]
) -> FloatArray:
    """Return grades as a column."""
    if not all(issubclass(cls, Real) for cls in set(map(type, grades))):
        at, wrong = next((at, grade) for at, grade in enumerate(grades) if not isinstance(grade, Real))
        nested = "; groups are written as a list of lists or a list of {id: grade}"
        if isinstance(wrong, str):
            nested = "; above 0 is relevant, 0 is not, and below 0 must not come back"
            with suppress(ValueError):
                float(wrong)
                nested = f"; convert it, as float({wrong!r})"
        complaint = _complaint(wrong, documents[at], queries[int(owners[at])], "a number")
        raise TypeError(complaint + (nested if isinstance(wrong, Collection) else ""))
    return require_finite_grades(np.fromiter(grades, np.float64, len(grades)), documents, owners, queries)


def require_finite_grades(
    column: FloatArray, documents: Sequence[Relevant], owners: IntArray, queries: Sequence[QueryId]
) -> FloatArray:
    """Return a column of grades unchanged, if every grade is finite and at most 2**53."""
    bad = np.flatnonzero(~(np.abs(column) <= MAX_GRADE_VALUE))
    if bad.size:
        at = int(bad[0])
        raise ValueError(
            _complaint(float(column[at]), documents[at], queries[int(owners[at])], "finite and at most 2**53")
        )
    return column


def _complaint(grade: Any, document: Relevant, query: QueryId, must: str) -> str:
    return f"the grade of document {document!r} for query {query!r} must be {must}, got {grade!r}"


# Notice a run whose scores are none: its ranks say the opposite.

FEWEST_RANKS, BY_CHANCE = 3, 0.2
"""Of fewer documents, or where more orders than this share would rise, ranks and scores may disagree by an accident."""
MAX_CHECKED_ROWS = 2000
"""The rows at the beginning of a run that are looked at."""


def warn_about_score_direction(rows: Iterable[tuple[Hashable, float, float]], source: str) -> None:
    """Warn if the ranks at the beginning of a run speak against its scores."""
    if doubt := doubt_about_scores(rows):
        warn(f"{source} is ordered by score, the largest first, as trec_eval does it; but {doubt}")


def doubt_about_scores(rows: Iterable[tuple[Hashable, float, float]]) -> str:
    """Return why the scores of a run seem to be none, judged by its ranks; empty if nothing speaks against them.

    Example:
        >>> doubt_about_scores([("q", 1, 0.1), ("q", 2, 0.2), ("q", 3, 0.3)])
        'the scores in it rise with the ranks: if they are distances, negate them'
        >>> doubt_about_scores([("q", 1, 0.3), ("q", 2, 0.2), ("q", 3, 0.1)])
        ''
    """
    queries = [
        sorted(of_query) for of_query in group_pairs((query, (rank, score)) for query, rank, score in rows).values()
    ]
    queries = [ranked for ranked in queries if len(ranked) >= FEWEST_RANKS]
    if not queries:
        return ""
    ranks, scores = zip(*chain.from_iterable(queries), strict=True)
    if all(score.is_integer() for score in scores) and not all(rank.is_integer() for rank in ranks):
        return "its ranks are no whole numbers and its scores are: if the columns are exchanged, put them right"
    apart = all(before[0] < after[0] for ranked in queries for before, after in pairwise(ranked))
    if apart and is_increasing([[score for _, score in ranked] for ranked in queries], BY_CHANCE):
        return "the scores in it rise with the ranks: if they are distances, negate them"
    return ""


def is_increasing(rankings: Iterable[Iterable[float]], chance: float) -> bool:
    """Return whether scores never fall in the order given, and in fewer orders than this share of all would not.

    Example:
        >>> is_increasing([[1, 2, 3], [1, 1, 4]], 0.1), is_increasing([[1, 2, 3], [2, 1]], 0.1)  # 1 of 3! * 2! orders; one falls
        (True, False)
    """
    share = 1.0
    for scores in rankings:
        before, different = None, 1
        for score in scores:
            if before is not None and score != before:
                if score < before:
                    return False
                different += 1
                share /= different
            before = score
    return share < chance
