"""Find the columns of a table by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

QUERY = ("query", "query_id", "query-id", "qid", "q_id", "topic", "topic_id")
DOCUMENT = (
    *("document", "document_id", "doc", "doc_id", "docid", "docno", "corpus-id", "corpus_id"),
    *("pid", "passage_id", "chunk_id"),
)
SCORE = ("score", "sim", "similarity")
RANK = ("rank",)
GRADE = ("grade", "relevance", "rel", "label", "score")

USUAL = {"query": QUERY, "document": DOCUMENT, "score": SCORE, "rank": RANK, "grade": GRADE}


def find_columns(
    names: Iterable[str], wanted: Mapping[str, bool], columns: Mapping[str, str] | None, source: str
) -> dict[str, str]:
    """Return the column of each role.

    Args:
        names: The names of all columns.
        wanted: The roles to look for, such as `query`, and whether each must have a column.
        columns: The columns of the roles that the user names.
        source: What is read, for the messages.

    Raises:
        ValueError: If a column is missing, or two could be meant.
    """
    there = list(names)
    given = dict(columns or {})
    if unknown := [role for role in given if role not in wanted]:
        raise ValueError(f"columns= takes {', '.join(wanted)}, not {unknown[0]!r}")
    found: dict[str, str] = {}
    for role, required in wanted.items():
        if role in given:
            if given[role] not in there:
                raise ValueError(f"{source} has no column {given[role]!r}; it has {_listed(there)}")
            found[role] = given[role]
            continue
        candidates = [name for name in there if name.strip().lower() in USUAL[role] and name not in given.values()]
        if len(candidates) > 1:
            raise ValueError(
                f"{source} has {_listed(candidates)}, any of which could be the {role}; "
                f"say columns={{{role!r}: {candidates[-1]!r}}}"
            )
        if candidates:
            found[role] = candidates[0]
        elif required:
            raise ValueError(
                f"{source} has no column named like a {role} ({', '.join(USUAL[role])}); it has {_listed(there)}; "
                f"say which it is with columns={{{role!r}: ...}}"
            )
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
