"""Refuse ids in a single ranking that would be judged documents but for a blank or a control character.

Of a whole run, near misses are counted and warned of. Tools that score one row at a time see no whole run, and a 0 in
silence would look like a bad retriever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.id_checks import describe_invalid_id, holds_a_list, may_hold_invalid_id, remove_invalid
from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.judged_run import JudgedRun


def require_valid_row_ids(judged: JudgedRun, run: Mapping[Any, Any], key: Key) -> None:
    """Raise if an id of a row would be a judged one but for a blank or a control character, or is a printed list.

    Args:
        judged: The judged rows.
        run: The rankings.
        key: Returns the id of an item.

    Raises:
        ValueError: If an id is invalid; the message says what to do.
    """
    qrels = judged.qrels
    if qrels.document_kind is not str or len(judged.items.document) == len(qrels.documents):
        return
    for index, query in enumerate(qrels.queries):
        document_ids = []
        for element in run.get(query, ()):
            document_id: Any = key(element) if isinstance(element, Retrieved) else element
            if isinstance(document_id, str):
                document_ids.append(document_id)
        if document_ids and may_hold_invalid_id(document_ids):
            judged_ids = set(qrels.documents[qrels.bounds[index] : qrels.bounds[index + 1]])
            _require_valid(document_ids, judged_ids, query)


def _require_valid(document_ids: Collection[str], judged_ids: Collection[Any], query: Any) -> None:
    for document_id in document_ids:
        fault = describe_invalid_id(document_id)
        if fault is None or document_id in judged_ids:
            continue
        if remove_invalid(document_id) in judged_ids or holds_a_list(document_id):
            raise ValueError(f"document {document_id!r} in the ranking of query {query!r} {fault}")
