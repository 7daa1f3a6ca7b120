"""Find the columns of a table by their names: which one holds the queries, the documents, the scores and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from retrieval_metrics._internal.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


QUERY_ID_COLUMNS = ("query_id", "query-id", "qid", "q_id", "topic_id", "question_id")
QUERY_COLUMNS = ("query", *QUERY_ID_COLUMNS, "topic")
DOCUMENT_COLUMNS = (
    *("document", "document_id", "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id"),
    *("pid", "passage_id", "chunk_id", "relevant_doc_id", "relevant_document_id", "relevant_chunk_id"),
)
SCORE_COLUMNS = ("score", "sim", "similarity")
RANK_COLUMNS = ("rank",)
GRADE_COLUMNS = ("grade", "relevance", "rel", "label", "score", "is_relevant", "relevance_grade", "relevance_label")
GROUP_COLUMNS = ("group",)
# Columns with all relevant documents of a question, in tables with one row per question.
RELEVANT_COLUMNS = (
    *("relevant", "relevant_docs", "expected_ids", "reference_context_ids", "qrels"),
    *("relevant_ids", "relevant_doc_ids", "relevant_document_ids", "relevant_documents", "relevant_chunk_ids"),
    *("expected_doc_ids", "expected_document_ids", "expected_chunk_ids"),
    *("gold_ids", "gold_doc_ids", "gold_document_ids", "gold_chunk_ids", "retrieval_gt"),
    *("ground_truth_ids", "ground_truth_doc_ids", "ground_truth_document_ids", "ground_truth_chunk_ids"),
    *("expected_docs", "expected_documents", "gold_docs", "gold_documents"),
)
# A column of the questions that `to_pandas` returns: how many documents are relevant, not which.
COUNT_COLUMN = "n_relevant"
# The columns of a document that a query failed to find, or should not have found, in the tables of `worst`.
FAILURE_COLUMNS = ("document", "grade", "rank", "outcome", "detail")
# Columns that grow as a document fits less well, so that they are no scores.
DISTANCE_COLUMNS = ("distance", "dist", "l2", "cost")

COLUMN_NAMES = {
    "query": QUERY_COLUMNS,
    "document": DOCUMENT_COLUMNS,
    "score": SCORE_COLUMNS,
    "rank": RANK_COLUMNS,
    "grade": GRADE_COLUMNS,
    "group": GROUP_COLUMNS,
}

# Columns that are known not to be a grade, a score or a rank.
IGNORED_COLUMNS = {
    *("iteration", "iter", "q0", "tag", "run", "run_id", "system"),
    *("text", "title", "contents", "body", "source", "start", "end", "tokens", "metadata", "url"),
}


class Requirement(NamedTuple):
    """Whether a role must have a column.

    Attributes:
        is_required: Whether a table without such a column is refused.
        meaning_if_missing: What it means if there is no such column, in words. A column with an unknown name could
            then be the missing one, so it is refused. Empty if nothing can be mistaken for it.
    """

    is_required: bool
    meaning_if_missing: str = ""


REQUIRED = Requirement(is_required=True)
OPTIONAL = Requirement(is_required=False)
# The column of each role named by the user, or its position from 1 in a file without a header; None if there is none.
Columns: TypeAlias = "Mapping[str, str | int | None]"

RUN_ROLES: Mapping[str, Requirement] = {
    "query": REQUIRED,
    "document": REQUIRED,
    "score": Requirement(is_required=False, meaning_if_missing="if the rows of a query are in rank order"),
    "rank": OPTIONAL,
}
JUDGMENT_ROLES: Mapping[str, Requirement] = {
    "query": REQUIRED,
    "document": REQUIRED,
    "grade": Requirement(is_required=False, meaning_if_missing="if every document listed is relevant"),
    "group": OPTIONAL,
}
# For a role, the other roles whose columns can stand in for its own.
SUBSTITUTES = {"score": ("rank",)}

# The roles whose columns hold numbers. No column of ids is one of them, though a query can have the id of its document.
NUMBER_ROLES = ("grade", "score", "rank")
# What pandas adds to the name of a column that a table has twice: `relevant.1`.
_COPY_SUFFIX = lazy_pattern(r"\.\d+$")

# Separators other than that of the format. A table whose only column has one in its name was split at the wrong one.
OTHER_SEPARATORS = (";", "\t", "|")
# The first line of a table in which Excel names its separator.
EXCEL_SEPARATOR_NOTE = lazy_pattern(r"(?i)sep=(.)")


def find_columns(
    names: Iterable[str],
    roles: Mapping[str, Requirement],
    columns: Columns | None,
    source: str,
    allow: Collection[str] = (),
) -> dict[str, str]:
    """Return the column of each role.

    Args:
        names: The names of all columns of the table.
        roles: The roles, such as `RUN_ROLES`.
        columns: The columns that the user named, by role; None for a role without a column.
        source: The name of the table, for messages.
        allow: `"repeated"` allows columns with the same name.

    Raises:
        ValueError: If a column is not found or ambiguous, or an unknown column could be a missing one.
    """
    column_names = list(names)
    columns_by_user = dict(columns or {})
    _refuse_failures(column_names, source)
    for role in columns_by_user:
        if role not in roles:
            raise ValueError(f"columns= takes {', '.join(roles)}, not {role!r}")
    require_different_columns(columns_by_user)
    column_by_role: dict[str, str] = {}
    for role, requirement in roles.items():
        if role in columns_by_user:
            name = _require_column(columns_by_user[role], column_names, source)
        else:
            name = _find_column_by_name(column_names, role, columns_by_user, source)
        if name is not None:
            column_by_role[role] = name
        elif requirement.is_required:
            raise ValueError(_describe_missing_column(role, column_names, source))
    if "repeated" not in allow:
        _require_single_columns(column_names, column_by_role, columns_by_user, source)
    for role, requirement in roles.items():
        if requirement.meaning_if_missing and role not in column_by_role and role not in columns_by_user:
            _require_no_candidate(column_names, role, requirement.meaning_if_missing, column_by_role, source)
    return column_by_role


def _refuse_failures(column_names: Collection[str], source: str) -> None:
    """Raise if a table holds the failures of the worst queries, which are no run and only some of the judgments."""
    if {"query", *FAILURE_COLUMNS} <= set(column_names):
        raise ValueError(
            f"{source} holds the failures of the worst queries, as worst(...).to_pandas() does: only some of the "
            "judgments, and no ranking; read the file or object that was evaluated instead"
        )


def require_different_columns(columns: Columns, number_roles: Collection[str] = NUMBER_ROLES) -> None:
    """Raise if the user named one column as a number and as something else.

    Args:
        columns: The columns that the user named, by role.
        number_roles: The roles whose columns hold numbers.

    Raises:
        ValueError: If there is such a column.
    """
    role_by_name: dict[str, str] = {}
    for role, name in columns.items():
        if name is None:
            continue
        other_role = role_by_name.setdefault(str(name), role)
        if other_role != role and (role in number_roles or other_role in number_roles):
            raise ValueError(
                f"columns= names {name!r} as the {other_role} and as the {role}; name another column for one of them, "
                "or leave that role out"
            )


def find_copied_name(name: str) -> str:
    """Return the name that a column had before pandas renamed it as the second of this name; empty for any other.

    Example:
        >>> find_copied_name("relevant.1"), find_copied_name("relevant")
        ('relevant', '')
    """
    copied_name = _COPY_SUFFIX.sub("", name)
    return "" if copied_name == name else copied_name


def _require_column(name: str | int | None, column_names: list[str], source: str) -> str | None:
    """Return the name of a column that the user named, if the table has it."""
    if name is None:
        return None
    if str(name) not in column_names:
        raise ValueError(f"{source} has no column {name!r}; it has {_list_names(column_names)}")
    return str(name)


def _describe_missing_column(role: str, column_names: list[str], source: str) -> str:
    """Return what to do about a table without the column of a role."""
    usual_names = ", ".join(COLUMN_NAMES[role])
    message = f"{source} has no {role} column (expected one of {usual_names}); it has {_list_names(column_names)}"
    if role == "document":
        for name in column_names:
            if _simplify(name) in RELEVANT_COLUMNS:
                return (
                    f"{message}; {name!r} seems to hold all documents of a question, which read_questions(path) reads"
                )
    return f"{message}; name the column with columns={{{role!r}: ...}}{separator_note(column_names)}"


def _require_single_columns(
    column_names: list[str], column_by_role: Mapping[str, str], columns_by_user: Columns, source: str
) -> None:
    """Raise if a column of a role is there twice, also under the name that pandas gives to the second."""
    copy_by_name = {find_copied_name(name): name for name in reversed(column_names)}
    for role, name in column_by_role.items():
        remedy = "remove one, or pass allow='repeated', with which the first counts"
        if column_names.count(name) > 1:
            raise ValueError(f"{source} has two columns named {name!r}; {remedy}")
        if name in copy_by_name and role not in columns_by_user:
            raise ValueError(
                f"{source} has two columns named {name!r}, of which pandas names the second {copy_by_name[name]!r}; "
                f"{remedy}"
            )


def describe_excel_separator(separator: str) -> str:
    """Return what to do about a first line in which Excel names the separator of a table."""
    return (
        f"; the first line is Excel's separator note, {separator!r}: remove it, and save the table with "
        "commas as CSV or with tabs as TSV"
    )


def separator_note(column_names: list[str]) -> str:
    """Return a hint for an error message if the only column of a table seems to hold several; empty otherwise."""
    if len(column_names) != 1:
        return ""
    declared = EXCEL_SEPARATOR_NOTE.fullmatch(column_names[0].strip())
    if declared is not None:
        return describe_excel_separator(declared[1])
    for separator in OTHER_SEPARATORS:
        if separator in column_names[0]:
            return (
                f"; it seems to be separated by {separator!r}: a CSV file has commas, a TSV file tabs; save it so, or "
                f"pass pandas.read_csv(path, sep={separator!r}, dtype=str)"
            )
    return ""


def _find_column_by_name(column_names: list[str], role: str, columns_by_user: Columns, source: str) -> str | None:
    """Return the column that has a usual name of a role; None if there is none.

    Raises:
        ValueError: If several columns have one.
    """
    named_by_user = set(columns_by_user.values())
    candidates: dict[str, None] = {}
    for name in column_names:
        if _simplify(name) in COLUMN_NAMES[role] and name not in named_by_user:
            candidates[name] = None
    if role == "grade" and candidates:
        # Beside a grade, whether the document is relevant is a second opinion on it.
        for name in column_names:
            if _simplify(name) == "relevant" and name not in named_by_user:
                candidates[name] = None
    candidate_names = _drop_secondary_names(list(candidates), role)
    if role == "query" and candidate_names and _simplify(candidate_names[0]) == "query":
        # Beside a text, an id is the id of the query; beside the id of a query, it is the number of a row.
        for name in column_names:
            if _simplify(name) in {"id", "_id"} and name not in named_by_user:
                candidate_names.append(name)
    if len(candidate_names) > 1:
        raise ValueError(
            f"{source} has {_list_names(candidate_names)}, any of which could be the {role}; choose one of them with "
            f"columns={{{role!r}: ...}}"
        )
    return next(iter(candidate_names), None)


def _drop_secondary_names(candidates: Sequence[str], role: str) -> list[str]:
    """Return the candidates without those that have another meaning beside the others.

    Beside the id of a query, `query` is its text; beside `docno`, the id of a document in TREC collections, `docid` is
    the number by which a search engine counts it. Results of PyTerrier have all four.
    """
    simplified = {_simplify(name) for name in candidates}
    secondary: set[str] = set()
    if role == "query" and simplified & set(QUERY_ID_COLUMNS):
        secondary = {"query"}
    if role == "document" and "docno" in simplified:
        secondary = {"docid"}
    return [name for name in candidates if _simplify(name) not in secondary]


def _require_no_candidate(
    column_names: list[str], role: str, meaning: str, column_by_role: Mapping[str, str], source: str
) -> None:
    """Raise if an unknown column could be the missing one."""
    substitutes = SUBSTITUTES.get(role, ())
    if any(substitute in column_by_role for substitute in substitutes):
        return
    harmless = {*IGNORED_COLUMNS, *QUERY_COLUMNS, *DOCUMENT_COLUMNS, *RANK_COLUMNS}
    candidates: dict[str, None] = {}
    for name in column_names:
        is_used = name in column_by_role.values() or find_copied_name(name) in column_by_role.values()
        if not is_used and _simplify(name) not in harmless:
            candidates[name] = None
    if not candidates:
        return
    roles = " or ".join((role, *substitutes))
    missing = f"{source} has no {roles} column (expected one of {', '.join(COLUMN_NAMES[role])})"
    without = f"columns={{{role!r}: None}} {meaning}"
    distances = [name for name in candidates if _simplify(name) in DISTANCE_COLUMNS]
    if role == "score" and distances:
        raise ValueError(
            f"{missing}, and {distances[0]!r} seems to be a distance, which is small where a score is large; pass "
            f"{without}, or add a column score with its negative values"
        )
    if len(candidates) > 1:
        raise ValueError(
            f"{missing}, and any of {_list_names(candidates)} could be it; choose one of them with "
            f"columns={{{role!r}: ...}}, or pass {without}"
        )
    name = next(iter(candidates))
    raise ValueError(f"{missing}, and {name!r} could be it; pass columns={{{role!r}: {name!r}}}, or {without}")


def _simplify(name: str) -> str:
    return name.strip().lower()


def _list_names(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
