"""Read JSONL files in which each line holds one query with all its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.encodings import format_line_location
from retrieval_metrics.files.formats import CANDIDATES_KEY, DOCUMENT_LIST_KEYS
from retrieval_metrics.files.json_parsing import read_jsonl_objects
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, QUERY_COLUMNS
from retrieval_metrics.inputs.ignored_grades import describe_grade_beside_list
from retrieval_metrics.inputs.json_codec import FORBIDDEN_KEY
from retrieval_metrics.inputs.question_columns import PLAIN_ID_KEYS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics.files.opening import Reader
    from retrieval_metrics.inputs.column_detection import Columns

# What to do about a line whose documents have another name.
DOCUMENT_HINT = "; name the key with columns={'document': ...}"


def read_queries_per_line(
    source: Reader, allow: Collection[str] = (), columns: Columns | None = None, *, is_judged: bool = False
) -> dict[str, Any] | None:
    """Return the documents of each query of a JSONL file with one line per query; None if it has one per document.

    Args:
        source: The file.
        allow: `"repeated"` allows repeated keys, of which the first counts.
        columns: The columns that the user named, by role.
        is_judged: Whether it holds judgments, in which a grade beside a list of documents is refused.
    """
    documents_by_query: dict[Any, Any] = {}
    columns = columns or {}
    for number, line, read_row in read_jsonl_objects(source, allow):
        row = _read_reranked_row(read_row)
        list_keys = _find_list_keys(row, columns)
        where = format_line_location(source.name, number, line)
        if not list_keys:
            if not documents_by_query and _has_document(row, columns):
                return None
            hint = "; to read texts, use read_queries or read_corpus" if "text" in row else ""
            raise ValueError(
                f"{where}: there is no list of documents ({', '.join(DOCUMENT_LIST_KEYS)}){hint or DOCUMENT_HINT}"
            )
        _require_used_columns(row, columns, where)
        query = _read_query(row, columns, where)
        if query in documents_by_query:
            raise ValueError(f"{where}: query {query!r} appears twice")
        if is_judged and len(list_keys) == 1:
            fault = describe_grade_beside_list(row, list_keys[0])
            if fault:
                raise ValueError(f"{where}: {fault}")
        documents_by_query[query] = _read_documents(row, list_keys, where)
    if not documents_by_query:
        raise ValueError(f"{source.name} is empty")
    return documents_by_query


def _find_list_keys(row: Mapping[str, Any], columns: Columns) -> list[str]:
    """Return the keys of a row that hold the documents of its query; the one that the user named, if it does."""
    document_column = columns.get("document")
    if isinstance(document_column, str) and isinstance(row.get(document_column), (list, dict)):
        return [document_column]
    return [key for key in DOCUMENT_LIST_KEYS if isinstance(row.get(key), (list, dict))]


def _require_used_columns(row: Mapping[str, Any], columns: Columns, where: str) -> None:
    """Raise if the user named a column that is not read from a line with all documents of a query."""
    for role, name in columns.items():
        if name is None:
            continue
        if role not in {"query", "document"}:
            raise ValueError(
                f"{where}: the line holds all documents of its query, so columns={{{role!r}: {name!r}}} is not used; "
                "leave it out"
            )
        if name not in row:
            raise ValueError(f"{where}: there is no key {name!r}; there are {', '.join(map(repr, row))}")


def _has_document(row: Mapping[str, Any], columns: Columns) -> bool:
    """Return whether a row has a column for a document."""
    document_column = columns.get("document")
    return any(key.strip().lower() in DOCUMENT_COLUMNS or key == document_column for key in row)


def _read_reranked_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of rank_llm with the id of its query, and ids and scores of its documents; other rows as they are.

    It holds `{"query": {"text": ..., "qid": ...}, "candidates": [{"docid": ..., "score": ..., "doc": {...}}]}`.
    """
    query = row.get("query")
    candidates = row.get(CANDIDATES_KEY)
    if not isinstance(query, dict) or "qid" not in query or not isinstance(candidates, list):
        return row
    results = []
    for candidate in candidates:
        if isinstance(candidate, dict):
            results.append({key: candidate[key] for key in ("docid", "score") if key in candidate})
        else:
            results.append(candidate)
    return {"qid": query["qid"], CANDIDATES_KEY: results}


def _read_query(row: Mapping[str, Any], columns: Columns, where: str) -> str | int:
    query_column = columns.get("query")
    if query_column is None:
        query_column = _find_query_key(row, where)
    query = row[str(query_column)]
    if not isinstance(query, (str, int)) or isinstance(query, bool):
        raise ValueError(f"{where}: the id of the query must be text or a whole number, got {query!r}")
    return query


def _find_query_key(row: Mapping[str, Any], where: str) -> str:
    """Return the key of the id of a query; beside an id, `query` is its text, as in a row of questions."""
    id_keys = [key for key in QUERY_COLUMNS if key in row and key != "query"]
    if not id_keys:
        id_keys = [key for key in PLAIN_ID_KEYS if key in row]
    return _find_only_key(row, id_keys or QUERY_COLUMNS, where, "query")


def _read_documents(row: Mapping[str, Any], list_keys: Collection[str], where: str) -> Any:
    documents = row[_find_only_key(row, list_keys, where, "document")]
    if isinstance(row.get(FORBIDDEN_KEY), list):
        return {"relevant": documents, FORBIDDEN_KEY: row[FORBIDDEN_KEY]}
    if isinstance(documents, list) and isinstance(row.get("scores"), list):
        return {"documents": documents, "scores": row["scores"]}
    return documents


def _find_only_key(row: Mapping[str, Any], keys: Collection[str], where: str, role: str) -> str:
    present = [key for key in keys if key in row]
    if not present:
        raise ValueError(
            f"{where}: no {role}; expected a key named {', '.join(keys)}, or name the key with "
            f"columns={{{role!r}: ...}}"
        )
    if len(present) > 1:
        raise ValueError(
            f"{where}: both {present[0]!r} and {present[1]!r} are present; choose one of them with "
            f"columns={{{role!r}: ...}}"
        )
    return present[0]
