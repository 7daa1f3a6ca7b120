"""Read JSONL files in which each line holds one query with all its documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.files.encodings import format_line_location
from retrieval_metrics.files.formats import DOCUMENT_LIST_KEYS
from retrieval_metrics.files.json_parsing import read_jsonl_objects
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, QUERY_COLUMNS
from retrieval_metrics.inputs.json_codec import FORBIDDEN_KEY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics.files.opening import Reader
    from retrieval_metrics.inputs.column_detection import Columns


def read_queries_per_line(
    source: Reader, allow: Collection[str] = (), columns: Columns | None = None
) -> dict[str, Any] | None:
    """Return the documents of each query of a JSONL file with one line per query; None if it has one per document."""
    documents_by_query: dict[Any, Any] = {}
    for number, line, row in read_jsonl_objects(source, allow):
        list_keys = [key for key in DOCUMENT_LIST_KEYS if isinstance(row.get(key), (list, dict))]
        where = format_line_location(source.name, number, line)
        if not list_keys:
            if not documents_by_query and _has_document(row, columns):
                return None
            hint = "; to read texts, use read_queries or read_corpus" if "text" in row else ""
            raise ValueError(f"{where}: there is no list of documents ({', '.join(DOCUMENT_LIST_KEYS)}){hint}")
        query = _read_query(row, where)
        if query in documents_by_query:
            raise ValueError(f"{where}: query {query!r} appears twice")
        documents_by_query[query] = _read_documents(row, list_keys, where)
    if not documents_by_query:
        raise ValueError(f"{source.name} is empty")
    return documents_by_query


def _has_document(row: Mapping[str, Any], columns: Columns | None) -> bool:
    """Return whether a row has a column for a document."""
    document_column = (columns or {}).get("document")
    return any(key.strip().lower() in DOCUMENT_COLUMNS or key == document_column for key in row)


def _read_query(row: Mapping[str, Any], where: str) -> str | int:
    # Beside the id of a query, "query" is its text, as in the predictions of sentence-transformers.
    id_keys = [key for key in QUERY_COLUMNS if key in row and key != "query"]
    query = row[_find_only_key(row, id_keys or QUERY_COLUMNS, where)]
    if not isinstance(query, (str, int)) or isinstance(query, bool):
        raise ValueError(f"{where}: the id of the query must be text or a whole number, got {query!r}")
    return query


def _read_documents(row: Mapping[str, Any], list_keys: Collection[str], where: str) -> Any:
    documents = row[_find_only_key(row, list_keys, where)]
    if isinstance(row.get(FORBIDDEN_KEY), list):
        return {"relevant": documents, FORBIDDEN_KEY: row[FORBIDDEN_KEY]}
    if isinstance(documents, list) and isinstance(row.get("scores"), list):
        return {"documents": documents, "scores": row["scores"]}
    return documents


def _find_only_key(row: Mapping[str, Any], keys: Collection[str], where: str) -> str:
    present = [key for key in keys if key in row]
    if not present:
        raise ValueError(f"{where}: there is none of {', '.join(keys)}")
    if len(present) > 1:
        raise ValueError(f"{where}: there is both {present[0]!r} and {present[1]!r}")
    return present[0]
