"""Give the columns of questions that a user named the names by which questions are read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from retrieval_metrics.inputs.column_detection import (
    COUNT_COLUMN,
    DOCUMENT_COLUMNS,
    GRADE_COLUMNS,
    QUERY_ID_COLUMNS,
    RELEVANT_COLUMNS,
    find_copied_name,
    require_different_columns,
)
from retrieval_metrics.inputs.ignored_grades import refuse_dropped_flags
from retrieval_metrics.inputs.own_tables import refuse_own_table
from retrieval_metrics.inputs.provenance import PROVENANCE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from retrieval_metrics.inputs.column_detection import Columns


# Names of an id whose row has no other id. Beside the id of a query, such a name can be the number of a row.
PLAIN_ID_KEYS = ("id", "_id")
ID_KEYS = (*QUERY_ID_COLUMNS, *PLAIN_ID_KEYS)
QUERY_KEYS = ("query", "question", "user_input", "text", "query_text", "input")
ANSWER_KEYS = (
    *("answer", "reference", "reference_answer", "expected_response"),
    *("expected_answer", "ground_truth", "ground_truth_answer", "gold_answer", "golden_answer", "expected_output"),
)
# The column of AutoRAG that holds a list of answers.
ANSWERS_KEY = "generation_gt"
# The usual names of the columns of each role, of which the first counts.
NAMES_BY_ROLE: Mapping[str, Sequence[str]] = {
    "id": ID_KEYS,
    "query": QUERY_KEYS,
    "relevant": RELEVANT_COLUMNS,
    "document": DOCUMENT_COLUMNS,
    "grade": GRADE_COLUMNS,
    "answer": ANSWER_KEYS,
}
# Columns that name the document of a judgment if no other column does; beside one, they are labels of the question.
FILE_COLUMNS = ("file", "filename", "file_name", "file_path", "filepath", "path", "document_name", "doc_name")
# Columns that name the files or pages with the answer if no other column holds judgments.
SOURCE_COLUMNS = (
    *("expected_source", "expected_sources", "expected_file", "expected_files", "expected_source_path"),
    *("ground_truth_source", "ground_truth_sources", "gold_source", "gold_sources"),
)
# The columns whose names are recognised whatever their case.
_NAMES_IN_LOWER_CASE = frozenset(
    [name for names in NAMES_BY_ROLE.values() for name in names]
    + [*FILE_COLUMNS, *SOURCE_COLUMNS, *PROVENANCE_FIELDS, "forbidden", "conversation", "reference_contexts"]
)
# The columns of which one holds the judgments of a question.
_JUDGMENT_NAMES = (
    *RELEVANT_COLUMNS,
    *DOCUMENT_COLUMNS,
    *FILE_COLUMNS,
    *SOURCE_COLUMNS,
    "reference_contexts",
    "context",
)
# The columns of datasets of other tools, which hold the question and its judgments further inside.
_OTHER_SHAPES = ("inputs", "outputs", "eval_sample")
# The columns that may be in a table once; the context of a golden holds its judgments.
_SINGLE_NAMES = _NAMES_IN_LOWER_CASE | {"context"}


def require_single_columns(names: Iterable[Any], columns: Columns | None, source: str) -> None:
    """Raise if two columns of a table have the same name or the same usual name, because only one of them would count.

    Columns that are not read may be repeated: those without a meaning here, those in whose place the user named
    another, and those after which none is looked at, such as `text` beside `query`.

    Args:
        names: The names of all columns of a table, as often as they stand there.
        columns: The columns that the user named, by role.
        source: The name of the table, for messages.

    Raises:
        ValueError: If there are two such columns.
    """
    names_by_user: set[str] = set()
    named_roles: set[str] = set()
    replaced_names: set[str] = set()
    for role, name in (columns or {}).items():
        replaced_names.update(_list_replaced_names(role, columns or {}))
        if name is not None:
            names_by_user.add(str(name))
            named_roles.update(NAMES_BY_ROLE.get(role, ())[:1])
    seen_by_user: set[str] = set()
    names_by_usual_name: dict[str, list[str]] = {}
    for name in names:
        if not isinstance(name, str):
            continue
        if name in names_by_user:
            if name in seen_by_user:
                raise ValueError(f"{source} has two columns named {name!r}; remove or rename one")
            seen_by_user.add(name)
            continue
        usual_name = _usual_form(name)
        if usual_name in _SINGLE_NAMES and usual_name not in replaced_names:
            names_by_usual_name.setdefault(usual_name, []).append(name)
    _add_copies(names, names_by_usual_name)
    _drop_repeated_unread(names_by_usual_name, named_roles)
    _require_single_names(names_by_usual_name, source)


def _drop_repeated_unread(names_by_usual_name: dict[str, list[str]], named_roles: Collection[str] = ()) -> None:
    """Drop the usual names of several columns that are not read.

    Args:
        names_by_usual_name: The columns of a table or row by their usual names.
        named_roles: The usual names of the columns that the user named.
    """
    unread_names = _find_unread_names({*names_by_usual_name, *named_roles})
    for usual_name in unread_names.intersection(names_by_usual_name):
        if len(names_by_usual_name[usual_name]) > 1:
            del names_by_usual_name[usual_name]


def _find_unread_names(usual_names: set[str]) -> set[str]:
    """Return the names of columns that are not read where a table or row has columns of some usual names."""
    unread_names: set[str] = set()
    for names_of_role in (ID_KEYS, QUERY_KEYS):
        present_names = [name for name in names_of_role if name in usual_names]
        unread_names.update(present_names[1:])
    if not usual_names.isdisjoint(RELEVANT_COLUMNS):
        unread_names.update([*GRADE_COLUMNS, "reference_contexts"])
    if not usual_names.isdisjoint([*RELEVANT_COLUMNS, *DOCUMENT_COLUMNS, "reference_contexts"]):
        unread_names.update([*FILE_COLUMNS, *SOURCE_COLUMNS])
    if not usual_names >= {"input", "expected_output"}:  # only a golden of DeepEval has judgments in its context
        unread_names.add("context")
    return unread_names


def _add_copies(names: Iterable[Any], names_by_usual_name: dict[str, list[str]]) -> None:
    """Add the columns that pandas renamed because they had the name of a known one, such as `relevant.1`."""
    for name in names:
        copied_name = find_copied_name(_usual_form(name)) if isinstance(name, str) else ""
        if copied_name in names_by_usual_name:
            names_by_usual_name[copied_name].append(name)


def _list_replaced_names(role: str, columns: Columns) -> Sequence[str]:
    """Return the usual names that have no meaning where the user named the column of a role.

    Judgments are in one column or in the other, so naming one of them replaces both.
    """
    for own_role, other_role in (("relevant", "document"), ("document", "relevant")):
        if role == own_role and other_role not in columns:
            return (*NAMES_BY_ROLE[role], *NAMES_BY_ROLE[other_role])
    return NAMES_BY_ROLE.get(role, ())


def _require_single_names(names_by_usual_name: Mapping[str, list[str]], source: str) -> None:
    """Raise if several columns have one usual name."""
    for usual_name, names in names_by_usual_name.items():
        if len(names) > 1:
            _refuse_names(usual_name, names, names_by_usual_name.keys(), source)


def _refuse_names(usual_name: str, names: Sequence[str], usual_names: Collection[str], source: str) -> NoReturn:
    first_name, second_name = names[:2]
    if first_name == second_name:
        raise ValueError(f"{source} has two columns named {first_name!r}; remove or rename one")
    advice = "remove or rename one"
    for role, names_of_role in NAMES_BY_ROLE.items():
        # Beside another name of the role, naming this one could change which column is read.
        if usual_name in names_of_role and len(set(names_of_role).intersection(usual_names)) == 1:
            advice += f", or pass the one that counts, as in columns={{{role!r}: {second_name!r}}}"
            break
    if find_copied_name(_usual_form(second_name)) == usual_name:
        raise ValueError(
            f"{source} has two columns named {first_name!r}, of which pandas names the second {second_name!r}; {advice}"
        )
    raise ValueError(
        f"{source} has two columns named {usual_name!r} but for case and blanks, {first_name!r} and {second_name!r}; "
        f"{advice}"
    )


def use_usual_names(rows: Iterable[Any], row_numbers: Sequence[int] | None = None) -> list[Any]:
    """Return rows whose columns have their usual names, whatever the case and the blanks in those of the user.

    Where no other column holds judgments, the only column of expected sources becomes `"relevant"`; without one, the
    only column of file names becomes `"document"`. A column `query` that holds ids beside a `text` becomes
    `"query_id"`.

    Args:
        rows: The rows of a dataset; what is not a mapping is returned as it is.
        row_numbers: The number of each row, for messages; None to count from 1.

    Raises:
        ValueError: If two columns of a row have the same usual name.
    """
    named_rows: list[Any] = []
    usual_names: set[str] = set()
    numbers: Iterable[int] = count(1) if row_numbers is None else row_numbers
    for number, row in zip(numbers, rows, strict=False):
        named_row = _use_usual_names_in_row(row, number) if isinstance(row, Mapping) else row
        named_rows.append(named_row)
        if isinstance(named_row, Mapping):
            usual_names.update(name for name in named_row if isinstance(name, str))
    if _is_query_an_id(named_rows, usual_names):
        named_rows = [_rename_column(row, "query", QUERY_ID_COLUMNS[0]) for row in named_rows]
    column = _find_judgment_column(usual_names)
    if column is None:
        return named_rows
    return [_rename_column(row, column.name, column.usual_name) for row in named_rows]


def _is_query_an_id(rows: Iterable[Any], usual_names: set[str]) -> bool:
    """Return whether the column `query` holds ids, and the column `text` the texts of the questions.

    That is so in the tables of this package. In others, `text` may be that of a document, so each query must look like
    an id: a number, or ASCII text with a digit and without a blank.
    """
    text_keys = usual_names.intersection(QUERY_KEYS)
    other_names = [*ID_KEYS, *DOCUMENT_COLUMNS, *FILE_COLUMNS]
    has_judgments = not usual_names.isdisjoint(_JUDGMENT_NAMES)
    if text_keys != {"query", "text"} or not usual_names.isdisjoint(other_names) or not has_judgments:
        return False
    is_own_table = COUNT_COLUMN in usual_names
    queries: set[Any] = set()
    n_rows = 0
    for row in rows:
        if not isinstance(row, Mapping):
            return False
        query = row.get("query")
        text = row.get("text")
        if not query and not text:
            continue
        if not isinstance(text, str) or not text.strip():
            return False
        if not isinstance(query, (str, Integral)) or not (is_own_table or _looks_like_id(query)):
            return False
        queries.add(query)
        n_rows += 1
    return 0 < n_rows == len(queries)


def _looks_like_id(query: str | Integral) -> bool:
    """Return whether a value is a number, or ASCII text with a digit and without a blank."""
    if isinstance(query, Integral):
        return True
    has_digit = any(character.isdigit() for character in query)
    has_blank = any(character.isspace() for character in query)
    return has_digit and not has_blank and query.isascii()  # some scripts write questions without blanks


class _JudgmentColumn(NamedTuple):
    """The only column that can hold judgments, and the usual name of such a column."""

    name: str
    usual_name: str


def _find_judgment_column(usual_names: set[str]) -> _JudgmentColumn | None:
    """Return the only column of sources or of file names, if no other column of the questions holds judgments."""
    has_judgments = not usual_names.isdisjoint([*RELEVANT_COLUMNS, *DOCUMENT_COLUMNS, "reference_contexts"])
    if has_judgments or usual_names.isdisjoint(QUERY_KEYS):
        return None
    source_columns = usual_names.intersection(SOURCE_COLUMNS)
    file_columns = usual_names.intersection(FILE_COLUMNS)
    if len(source_columns) == 1:
        return _JudgmentColumn(source_columns.pop(), "relevant")
    if len(file_columns) == 1 and not source_columns:
        return _JudgmentColumn(file_columns.pop(), "document")
    return None


def _rename_column(row: Any, old_name: str, new_name: str) -> Any:
    """Return a row in which a column has another name; what is no row, or has no such column, as it is."""
    if not isinstance(row, Mapping) or old_name not in row:
        return row
    renamed = {}
    for name, value in row.items():
        if name == old_name:
            renamed[new_name] = value
        else:
            renamed[name] = value
    return renamed


def _usual_form(name: str) -> str:
    """Return a name without surrounding blanks, in lower case, with an underscore for each blank."""
    return name.strip().lower().replace(" ", "_")


def _use_usual_names_in_row(row: Mapping[Any, Any], number: int) -> Mapping[Any, Any]:
    """Return a row in which the names of columns are in lower case where that gives a usual name."""
    if all(not isinstance(name, str) or name in _NAMES_IN_LOWER_CASE for name in row):
        return row
    names_by_usual_name: dict[str, list[str]] = {}
    for name in row:
        if isinstance(name, str):
            usual_name = _usual_form(name)
            if usual_name in _NAMES_IN_LOWER_CASE:
                names_by_usual_name.setdefault(usual_name, []).append(name)
    _add_copies(row, names_by_usual_name)
    _drop_repeated_unread(names_by_usual_name)
    _require_single_names(names_by_usual_name, f"row {number}")
    usual_name_by_name = {names[0]: usual for usual, names in names_by_usual_name.items()}
    if all(name == usual_name for name, usual_name in usual_name_by_name.items()):
        return row
    return {usual_name_by_name.get(name, name): value for name, value in row.items()}


def use_named_columns(rows: Iterable[Any], columns: Columns, source: str) -> list[dict[str, Any]]:
    """Return rows whose columns have the usual names of their roles, if they hold questions with judgments.

    Args:
        rows: The rows of a dataset.
        columns: The columns that the user named, by role; see `rename_columns`.
        source: The name of the dataset, for messages.

    Raises:
        TypeError: If a row has no columns.
        ValueError: If a role is unknown, or no row has a column, or none has a question or judgments; or if a column
            that is left out says that a document is not relevant.
    """
    raw_rows = list(rows)
    renamed_rows = rename_columns(raw_rows, columns, source)
    refuse_dropped_flags(raw_rows, columns, source)
    names_in_rows = dict.fromkeys(map(str, chain.from_iterable(raw_rows)))
    refuse_own_table(names_in_rows, columns)
    _require_roles(renamed_rows, columns, names_in_rows, source)
    return renamed_rows


def rename_columns(rows: Iterable[Any], columns: Columns, source: str) -> list[dict[str, Any]]:
    """Return rows whose columns have the usual names of their roles.

    Other columns with a usual name of a role that the user named are left out, because they mean something else.

    Args:
        rows: The rows of a dataset.
        columns: The columns that the user named, by role: their names, or positions from 1 in a file without a header;
            None for a role without a column.
        source: The name of the dataset, for messages.

    Raises:
        TypeError: If a row has no columns.
        ValueError: If a role is unknown, or no row has a column.
    """
    for role in columns:
        if role not in NAMES_BY_ROLE:
            raise ValueError(f"columns= takes {', '.join(NAMES_BY_ROLE)}, not {role!r}")
    require_different_columns(columns)
    if columns.get("relevant") is not None and columns.get("document") is not None:
        raise ValueError(
            "columns= names a column with all relevant documents of a question, 'relevant', and one with the document "
            "of a single judgment, 'document'; name the one that counts"
        )
    named_rows = []
    names_in_rows: dict[str, None] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"columns= names the columns of rows, but row {number} of {source} is {row!r}")
        names_in_rows.update(dict.fromkeys(map(str, row)))
        named_rows.append(row)
    roles_by_name: dict[str, list[str]] = {}
    replaced_names: set[str] = set()
    for role, name in columns.items():
        replaced_names.update(_list_replaced_names(role, columns))
        if name is not None:
            roles_by_name.setdefault(_find_name(str(name), names_in_rows, source), []).append(role)
    for name, roles in roles_by_name.items():
        document_roles = {"relevant", "document"}.intersection(roles)
        if "query" in roles and document_roles:
            raise ValueError(
                f"columns= names {name!r} as the query and as the {document_roles.pop()}; name another column for one "
                "of them"
            )
    return [_rename_row(row, roles_by_name, replaced_names) for row in named_rows]


def _require_roles(
    renamed_rows: Iterable[Mapping[str, Any]], columns: Columns, names_in_rows: Iterable[str], source: str
) -> None:
    """Raise if no row has a question or judgments, naming the columns as the user knows them."""
    usual_names = set(map(_usual_form, map(str, chain.from_iterable(renamed_rows))))
    if not usual_names.isdisjoint(_OTHER_SHAPES):
        return
    if not usual_names.isdisjoint(QUERY_ID_COLUMNS) and not usual_names.isdisjoint(DOCUMENT_COLUMNS):
        return  # judgments without texts, of which reading their rows says how they are read
    for role, names in (("query", QUERY_KEYS), ("relevant", _JUDGMENT_NAMES)):
        if usual_names.isdisjoint(names):
            example = ", ".join(f"{other!r}: {name!r}" for other, name in columns.items())
            raise ValueError(
                f"{source} has no {role!r} column; it has {', '.join(map(repr, names_in_rows))}; name one of them too: "
                f"columns={{{example}, {role!r}: ...}}"
            )


def _find_name(name: str, names_in_rows: Iterable[str], source: str) -> str:
    """Return the column that the user named; its case and blanks may differ, as in the names that messages show."""
    names = list(names_in_rows)
    if name in names:
        return name
    alike = [other for other in names if _usual_form(other) == _usual_form(name)]
    if len(alike) != 1:
        raise ValueError(f"{source} has no column {name!r}; it has {', '.join(map(repr, names)) or 'none'}")
    return alike[0]


def _rename_row(
    row: Mapping[Any, Any], roles_by_name: Mapping[str, list[str]], replaced_names: set[str]
) -> dict[str, Any]:
    """Return a row whose columns have the names of their roles; a column with two roles is there twice."""
    renamed = {}
    for name, value in row.items():
        roles = roles_by_name.get(str(name), [])
        for role in roles:
            renamed[NAMES_BY_ROLE[role][0]] = value
        usual_name = _usual_form(str(name))
        is_replaced = usual_name in replaced_names or find_copied_name(usual_name) in replaced_names
        if not roles and not is_replaced:
            renamed[name] = value
    return renamed
