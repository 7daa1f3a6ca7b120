"""Questions with their judgments, checked before anything is retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llama_index.core.schema import BaseNode, NodeWithScore

from retrieval_metrics import EvaluationSet, Qrels, Span, Text
from retrieval_metrics.adapting import clusters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.types import ClustersBy, Judgments, QueryId


class CheckedQuestions:
    """Questions with their judgments, checked before anything is retrieved.

    Attributes:
        dataset: The questions as the core holds them.
        rows: The text and the judgments of each query.
        texts: The text of each query.
        qrels: The judgments as the core reads them.
        sources: The sources of the judged spans.
        clusters: The clusters of the queries; None if they are unknown.

    Raises:
        TypeError: If the judgments are of the wrong type.
        ValueError: If a grade is not finite, a group is empty, or `clusters` has none of the queries.
    """

    def __init__(self, dataset: EvaluationSet, clusters: ClustersBy = "source") -> None:
        texts: Mapping[Any, str] = dataset.queries
        truth: Mapping[Any, Any] = dataset.qrels
        self.rows = {query: (text, truth[query]) for query, text in texts.items()}
        self.texts = dataset.queries
        self.dataset = dataset
        for query, (_, judgments) in self.rows.items():
            _refuse_nodes(query, judgments)
        self.qrels = Qrels(dataset.qrels)
        self.sources = {one.source for one in self.qrels.documents if isinstance(one, Span)}
        self.clusters = clusters_of(dataset, self.qrels, clusters)


def _refuse_nodes(query: QueryId, judgments: Any) -> None:
    """Raise if a node is given in place of its id; a node cannot be looked up."""
    for entry in judgments if isinstance(judgments, (list, tuple)) else ():
        if isinstance(entry, (BaseNode, NodeWithScore)):
            raise TypeError(
                f"a {type(entry).__name__} is among the judgments of query {query!r}; pass its id, "
                f"{entry.node_id!r}, or its text as rm.Text(...)"
            )
        _refuse_nodes(query, entry)


def single_question(query: str, expected_ids: Judgments | None, expected_texts: list[str] | None) -> CheckedQuestions:
    """Return one question whose id is its text; without ids, the expected texts are its judgments.

    Raises:
        TypeError: If there is neither, or the query is not a text.
    """
    if not isinstance(query, str):
        raise TypeError(f"the query must be a str, got {query!r}")
    if expected_ids is not None:
        return CheckedQuestions(EvaluationSet({query: query}, {query: expected_ids}))
    if expected_texts is None:
        raise TypeError("evaluate needs expected_ids or expected_texts; if nothing is relevant, pass an empty list")
    if isinstance(expected_texts, str):
        raise TypeError(f"expected_texts is the bare string {expected_texts!r}; write a list: [{expected_texts!r}]")
    return CheckedQuestions(EvaluationSet({query: query}, {query: [Text(text) for text in expected_texts]}))
