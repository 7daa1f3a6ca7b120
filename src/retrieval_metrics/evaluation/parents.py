"""Count judged chunks that may be contained in retrieved parents, where nothing says what these contain."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice, repeat
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
    n_with_results = judged.n_queries - len(judged.without_results)
    if judged.read_scores is not None and len(judged.read_scores) == n_with_results:  # all have scores, and no items
        return 0
    if not _may_hold_items(origin.run):
        return 0
    queries_with_parents = []
    for position, query in enumerate(qrels.queries):
        ranking = origin.run.get(query, ())
        if not isinstance(ranking, (list, tuple)) and isinstance(ranking, Mapping):  # the first is asked faster
            continue
        if not len(ranking) or not isinstance(ranking[0], Retrieved):
            continue
        contained: set[Any] = set()
        for item in ranking:
            if item.contains:
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


def _may_hold_items(run: Mapping[Any, Any]) -> bool:
    """Return whether a ranking of a run may begin with an item: never wrong if it says no, and much faster than a look.

    Most runs hold ids, in rankings with scores or in lists, which the types of their first results show.
    """
    ranking_types = set(map(type, run.values()))
    if ranking_types <= {list, tuple}:
        first_results = chain.from_iterable(map(islice, run.values(), repeat(1)))
        return any(issubclass(cls, Retrieved) for cls in set(map(type, first_results)))
    return not all(issubclass(cls, Mapping) for cls in ranking_types)
