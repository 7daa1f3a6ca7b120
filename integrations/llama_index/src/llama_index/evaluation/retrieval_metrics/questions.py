"""The questions of a call, refused where they hold nodes in place of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.schema import BaseNode, NodeWithScore

from retrieval_metrics import EvaluationSet, Text

if TYPE_CHECKING:
    from retrieval_metrics.types import Judgments


def refuse_nodes(dataset: EvaluationSet) -> None:
    """Raise if a node is given in place of its id; a node cannot be looked up.

    Raises:
        TypeError: If there is one; the message names it.
    """
    for query, judgments in dataset.qrels.items():
        waiting: list[Any] = [judgments]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, (list, tuple)):
                waiting += entry
            elif isinstance(entry, (BaseNode, NodeWithScore)):
                raise TypeError(
                    f"a {type(entry).__name__} is among the judgments of query {query!r}; pass its id, "
                    f"{entry.node_id!r}, or its text as rm.Text(...)"
                )


def single_question(query: str, expected_ids: Judgments | None, expected_texts: list[str] | None) -> EvaluationSet:
    """Return one question whose id is its text; without ids, the expected texts are its judgments.

    Raises:
        TypeError: If there is neither, or the query is not a text.
    """
    if not isinstance(query, str):
        raise TypeError(f"the query must be a str, got {query!r}")
    if expected_ids is not None:
        return EvaluationSet({query: query}, {query: expected_ids})
    if expected_texts is None:
        raise TypeError("evaluate needs expected_ids or expected_texts; if nothing is relevant, pass an empty list")
    if isinstance(expected_texts, str):
        raise TypeError(f"expected_texts is the bare string {expected_texts!r}; write a list: [{expected_texts!r}]")
    return EvaluationSet({query: query}, {query: [Text(text) for text in expected_texts]})
