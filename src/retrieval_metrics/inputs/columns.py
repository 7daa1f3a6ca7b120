"""Find the columns of a table by name, and refuse to guess if a guess could change a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from retrieval_metrics.checks import OPEN, argument

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

QUERY = ("query", "query_id", "query-id", "qid", "q_id", "topic", "topic_id")
DOCUMENT = (
    *("document", "document_id", "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id"),
    *("pid", "passage_id", "chunk_id"),
)
SCORE = ("score", "sim", "similarity")
RANK = ("rank",)
GRADE = ("grade", "relevance", "rel", "label", "score")
GROUP = ("group",)

USUAL = {"query": QUERY, "document": DOCUMENT, "score": SCORE, "rank": RANK, "grade": GRADE, "group": GROUP}

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

OF_A_RUN: Mapping[str, Role] = {
    "query": True,
    "document": True,
    "score": "if the rows of a query are in rank order",
    "rank": False,
}
OF_JUDGMENTS: Mapping[str, Role] = {
    "query": True,
    "document": True,
    "grade": "if every document listed is relevant",
    "group": False,
}
INSTEAD = {"score": ("rank",)}
"""Roles that make another unnecessary."""

ALLOWED = ("blanks", "repeated")
"""The values of `allow`: ids may begin or end with blanks; of repeated columns or keys the first counts."""


def allowances(allow: str | Collection[str]) -> frozenset[str]:
    """Return the values of `allow=` as a set.

    Raises:
        ValueError: If a value is unknown.
    """
    given = frozenset([allow] if isinstance(allow, str) else allow)
    if unknown := sorted(given - set(ALLOWED)):
        raise ValueError(f"{argument('allow')} takes {' and '.join(map(repr, ALLOWED))}, not {unknown[0]!r}")
    return given


def find_columns(
    names: Iterable[str],
    wanted: Mapping[str, Role],
    columns: Columns | None,
    source: str,
    allow: Collection[str] = (),
) -> dict[str, str]:
    """Return the column of each role.

    Args:
        names: The names of all columns.
        wanted: The roles to look for, such as `query`.
        columns: The columns of roles, as named by the user; None for a role without a column.
        source: The name of the table, for messages.
        allow: With `"repeated"`, the first of columns with the same name counts.

    Raises:
        ValueError: If a column is missing or ambiguous, or an unknown column could be the missing one.
    """
    there = list(names)
    given = dict(columns or {})
    if unknown := [role for role in given if role not in wanted]:
        raise ValueError(f"{argument('columns')} takes {', '.join(wanted)}, not {unknown[0]!r}")
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
                f"name the column with {argument('columns', {role: OPEN})}{_separated(there)}"
            )
    for role, meaning in wanted.items():
        if isinstance(meaning, str) and role not in found and role not in given:
            _refuse_unknown(there, role, meaning, found, source)
    if "repeated" not in allow and (twice := [name for name in found.values() if there.count(name) > 1]):
        raise ValueError(
            f"{source} has two columns named {twice[0]!r}; remove one, or pass {argument('allow', 'repeated')}, with "
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
            f"pass {argument('columns', {role: list(candidates)[-1]})}"
        )
    return next(iter(candidates), None)


def _refuse_unknown(there: list[str], role: str, meaning: str, found: Mapping[str, str], source: str) -> None:
    """Raise if an unknown column could be the missing one."""
    if any(other in found for other in INSTEAD.get(role, ())):
        return
    known = {*IGNORED, *QUERY, *DOCUMENT, *RANK}
    unknown = [name for name in there if name not in found.values() and name.strip().lower() not in known]
    if unknown:
        roles = " or a ".join((role, *INSTEAD.get(role, ())))
        raise ValueError(
            f"{source} has no column named like a {roles} ({', '.join(USUAL[role])}), and {unknown[0]!r} could be it; "
            f"pass {argument('columns', {role: unknown[0]})}, or {argument('columns', {role: None})} {meaning}"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
