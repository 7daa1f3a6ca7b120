"""Find the columns of a table by their names: which one holds the queries, the documents, the scores and so on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


QUERY_COLUMNS = ("query", "query_id", "query-id", "qid", "q_id", "topic", "topic_id")
DOCUMENT_COLUMNS = (
    *("document", "document_id", "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id"),
    *("pid", "passage_id", "chunk_id"),
)
SCORE_COLUMNS = ("score", "sim", "similarity")
RANK_COLUMNS = ("rank",)
GRADE_COLUMNS = ("grade", "relevance", "rel", "label", "score")
GROUP_COLUMNS = ("group",)

USUAL_NAMES = {
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

# Whether a role must have a column. For an optional role, it may also be the meaning of a missing column, in words; a
# column with an unknown name could then be the missing one, so it is refused.
Requirement: TypeAlias = "bool | str"
# The column of each role named by the user; None if there is none.
Columns: TypeAlias = "Mapping[str, str | None]"

RUN_ROLES: Mapping[str, Requirement] = {
    "query": True,
    "document": True,
    "score": "if the rows of a query are in rank order",
    "rank": False,
}
JUDGMENT_ROLES: Mapping[str, Requirement] = {
    "query": True,
    "document": True,
    "grade": "if every document listed is relevant",
    "group": False,
}
# For a role, the other roles whose columns can stand in for its own.
SUBSTITUTES = {"score": ("rank",)}

# The values of `allow`: ids that begin or end with blanks, and repeated columns or keys, of which the first counts.
ALLOWANCES = ("blanks", "repeated")
# Separators other than that of the format. A table whose only column has one in its name was split at the wrong one.
OTHER_SEPARATORS = (";", "\t", "|")


def parse_allowances(allow: str | Collection[str]) -> frozenset[str]:
    """Return the values of `allow=` as a set."""
    allowed = frozenset([allow] if isinstance(allow, str) else allow)
    unknown = sorted(allowed - set(ALLOWANCES))
    if unknown:
        raise ValueError(f"allow= takes {' and '.join(map(repr, ALLOWANCES))}, not {unknown[0]!r}")
    return allowed


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
    present = list(names)
    columns_by_user = dict(columns or {})
    for role in columns_by_user:
        if role not in roles:
            raise ValueError(f"columns= takes {', '.join(roles)}, not {role!r}")
    column_by_role: dict[str, str] = {}
    for role, requirement in roles.items():
        if role in columns_by_user:
            name = columns_by_user[role]
            if name is not None and name not in present:
                raise ValueError(f"{source} has no column {name!r}; it has {_list_names(present)}")
        else:
            name = _find_usual(present, role, columns_by_user, source)
        if name is not None:
            column_by_role[role] = name
        elif requirement is True:
            raise ValueError(
                f"{source} has no column named like a {role} ({', '.join(USUAL_NAMES[role])}); it has "
                f"{_list_names(present)}; name the column with columns={{{role!r}: ...}}{_separator_note(present)}"
            )
    for role, requirement in roles.items():
        if isinstance(requirement, str) and role not in column_by_role and role not in columns_by_user:
            _require_no_candidate(present, role, requirement, column_by_role, source)
    if "repeated" not in allow:
        _require_single_columns(present, column_by_role, source)
    return column_by_role


def _require_single_columns(present: list[str], column_by_role: Mapping[str, str], source: str) -> None:
    for name in column_by_role.values():
        if present.count(name) > 1:
            raise ValueError(
                f"{source} has two columns named {name!r}; remove one, or pass allow='repeated', with which the first "
                "counts"
            )


def _separator_note(present: list[str]) -> str:
    """Return a hint for an error message if the only column of a table seems to hold several; empty otherwise."""
    if len(present) != 1:
        return ""
    for separator in OTHER_SEPARATORS:
        if separator in present[0]:
            return f"; it seems to be separated by {separator!r}: a CSV file has commas, a TSV file tabs"
    return ""


def _find_usual(present: list[str], role: str, columns_by_user: Columns, source: str) -> str | None:
    """Return the column that has a usual name of a role; None if there is none.

    Raises:
        ValueError: If several columns have one.
    """
    named_by_user = set(columns_by_user.values())
    candidates: dict[str, None] = {}
    for name in present:
        if name.strip().lower() in USUAL_NAMES[role] and name not in named_by_user:
            candidates[name] = None
    if len(candidates) > 1:
        raise ValueError(
            f"{source} has {_list_names(candidates)}, any of which could be the {role}; "
            f"pass columns={{{role!r}: {list(candidates)[-1]!r}}}"
        )
    return next(iter(candidates), None)


def _require_no_candidate(
    present: list[str], role: str, meaning: str, column_by_role: Mapping[str, str], source: str
) -> None:
    """Raise if an unknown column could be the missing one."""
    substitutes = SUBSTITUTES.get(role, ())
    if any(substitute in column_by_role for substitute in substitutes):
        return
    harmless = {*IGNORED_COLUMNS, *QUERY_COLUMNS, *DOCUMENT_COLUMNS, *RANK_COLUMNS}
    for name in present:
        if name not in column_by_role.values() and name.strip().lower() not in harmless:
            roles = " or a ".join((role, *substitutes))
            raise ValueError(
                f"{source} has no column named like a {roles} ({', '.join(USUAL_NAMES[role])}), and {name!r} could be "
                f"it; pass columns={{{role!r}: {name!r}}}, or columns={{{role!r}: None}} {meaning}"
            )


def _list_names(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
