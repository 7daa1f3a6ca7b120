"""Find queries whose own id comes back first, as where the queries are documents of the corpus."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval_metrics.evaluation.scores import Origin
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun

# The first so many queries of a run are looked at.
MAX_QUERIES = 50
# With fewer queries, it could be chance.
MIN_QUERIES = 5


class OwnIdFirst(NamedTuple):
    """How many queries have their own id as their first result.

    Attributes:
        n_queries: How many do.
        n_checked: Of how many.
        example: One of them.
    """

    n_queries: int
    n_checked: int
    example: Any


def find_own_id_first(origin: Origin) -> OwnIdFirst | None:
    """Return how many queries have their own id first and not judged relevant, if most have; else None."""
    qrels = origin.judged.qrels
    if origin.judged.n_excluded is not None or qrels.query_kind is not qrels.document_kind:
        return None
    examples = []
    n_checked = 0
    for query, ranking in iterate_first_rankings(origin.run, origin.judged, MAX_QUERIES):
        n_checked += 1
        if _comes_first(query, ranking) and not _is_relevant(query, qrels):
            examples.append(query)
    if n_checked < MIN_QUERIES or 2 * len(examples) <= n_checked:
        return None
    return OwnIdFirst(len(examples), n_checked, examples[0])


def iterate_first_rankings(run: Mapping[Any, Any], judged: JudgedRun, max_queries: int) -> Iterator[tuple[Any, Any]]:
    """Yield the first judged queries of a run for which something was retrieved."""
    if isinstance(run, Run):
        for query, ranking_in_columns in islice(run.rankings(), max_queries):
            if query in judged.qrels.place and len(ranking_in_columns):
                yield query, ranking_in_columns
        return
    n_retrieved = judged.n_retrieved[:max_queries].tolist()
    for query, n_results in zip(judged.qrels.queries[:max_queries], n_retrieved, strict=True):
        if n_results:
            yield query, run[query]


def _comes_first(query: Any, ranking: Any) -> bool:
    if type(ranking) is dict and query not in ranking:  # the usual case, and faster than asking what a mapping is
        return False
    if isinstance(ranking, Mapping):
        return query in ranking and ranking[query] >= max(ranking.values())
    first = ranking[0]
    return bool((first.id if isinstance(first, Retrieved) else first) == query)


def _is_relevant(query: Any, qrels: Qrels) -> bool:
    position = qrels.place[query]
    for document in range(qrels.bounds[position], qrels.bounds[position + 1]):
        if qrels.documents[document] == query and qrels.document_grade[document] > 0:
            return True
    return False
