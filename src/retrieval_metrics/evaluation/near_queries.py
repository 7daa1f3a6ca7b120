"""Find judged queries that are in a run under nearly their ids, so that they count as queries without results."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.matching.near_ids import find_near_kind, unify_loosely

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.evaluation.scores import Origin
    from retrieval_metrics.matching.near_ids import NearIdKind


class NearQuery(NamedTuple):
    """A judged query without results, and the query of the run whose id nearly equals its own.

    Attributes:
        judged_id: Its id in the judgments.
        run_id: The id in the run, which is not judged.
        kind: In what the two differ.
    """

    judged_id: str
    run_id: str
    kind: NearIdKind


def find_near_queries(origin: Origin) -> Sequence[NearQuery]:
    """Return the judged queries that are in the run under another spelling of their ids.

    Only queries that are missing on one side are compared; if a spelling is that of several, none of them is returned.
    """
    qrels = origin.judged.qrels
    if qrels.query_kind is not str:
        return ()
    missing = [qrels.queries[position] for position in origin.judged.without_results]
    missing_by_spelling: dict[str, list[str]] = {}
    for query in missing:
        if isinstance(query, str) and query not in origin.run:
            missing_by_spelling.setdefault(unify_loosely(query), []).append(query)
    if not missing_by_spelling:
        return ()
    unjudged_by_spelling: dict[str, list[str]] = {}
    for query in origin.run:
        if isinstance(query, str) and query not in qrels.place:
            unjudged_by_spelling.setdefault(unify_loosely(query), []).append(query)
    near_queries = []
    for spelling, judged_ids in missing_by_spelling.items():
        run_ids = unjudged_by_spelling.get(spelling, [])
        if len(judged_ids) == 1 and len(run_ids) == 1:
            kind = find_near_kind(judged_ids[0], run_ids[0])
            if kind is not None:
                near_queries.append(NearQuery(judged_ids[0], run_ids[0], kind))
    return near_queries
