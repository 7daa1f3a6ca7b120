"""Count judged chunks that may be contained in retrieved parents, where nothing says what these contain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from retrieval_metrics.inputs.items import Piece, Retrieved
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.scores import Origin


def count_chunks_in_parents(origin: Origin) -> int:
    """Return how many relevant ids were not found for queries in which a parent came back.

    If a judged id is a chunk of any retrieved parent, the chunks that are judged are those that parents name, and all
    of them were looked for: then the count is 0.
    """
    judged = origin.judged
    qrels = judged.qrels
    if isinstance(origin.run, Run) or origin.match != "id" or qrels.document_kind is None:
        return 0
    ranking_types = set(map(type, origin.run.values()))
    if ranking_types == {dict} or all(issubclass(cls, Mapping) for cls in ranking_types):
        return 0  # rankings with scores hold ids only
    queries_with_parents = []
    for position, query in enumerate(qrels.queries):
        ranking = origin.run.get(query, ())
        if isinstance(ranking, Mapping) or not len(ranking) or not isinstance(ranking[0], Retrieved):
            continue
        contained: set[Any] = set()
        for item in ranking:
            contained.update(item.contains)
        if not contained:
            continue
        if not contained.isdisjoint(qrels.documents[qrels.bounds[position] : qrels.bounds[position + 1]]):
            return 0
        queries_with_parents.append(position)
    found = set(judged.items.document.tolist())
    n_missing = 0
    for position in queries_with_parents:
        for document in range(qrels.bounds[position], qrels.bounds[position + 1]):
            is_relevant_id = not isinstance(qrels.documents[document], Piece) and qrels.document_grade[document] > 0
            n_missing += is_relevant_id and document not in found
    return int(n_missing)
