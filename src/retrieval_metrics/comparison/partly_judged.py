"""Find the queries with unjudged documents, and score them with grades for these documents."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.score_run import score_run
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.single_precision import round_ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, QueryId
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.ranking_order import OrderedRankings
    from retrieval_metrics.metrics.base.metric import Metric


NO_FURTHER_RELEVANT: Mapping[Any, int] = MappingProxyType({})
# The number of documents of each ranking that are used if no metric has a cutoff.
DEFAULT_DEPTH = 10
# What the rankings are needed for, in the error of scores that do not have them.
PURPOSE = "completed with grades"


class PartlyJudgedQuery(NamedTuple):
    """A query with documents whose grades are unknown.

    Attributes:
        query: The query.
        graded: The known grades.
        documents: The unjudged documents among the first k of any run, in the order of their best rank.
        rankings: What each system retrieved.
        ranks: The rank of each document in each system that has it among its first k.
        unretrieved_relevant: How many relevant documents there may be that nobody judged or retrieved.
    """

    query: QueryId
    graded: Mapping[Any, float]
    documents: tuple[DocumentId, ...]
    rankings: Mapping[str, Any]
    ranks: Mapping[DocumentId, Mapping[str, int]]
    unretrieved_relevant: int = 0


def largest_cutoff(metrics: Iterable[Metric]) -> int:
    """Return the largest cutoff of the metrics, or ten if none has one."""
    cutoffs = [metric.k for metric in metrics if isinstance(metric.k, int)]
    return max(cutoffs, default=DEFAULT_DEPTH)


def find_partly_judged_queries(
    scores: Mapping[str, Scores], k: int | None, unretrieved_relevant: Mapping[QueryId, int] = NO_FURTHER_RELEVANT
) -> list[PartlyJudgedQuery]:
    """Return the queries of all systems with documents of unknown grade, retrieved or not."""
    first_scores = next(iter(scores.values()))
    qrels = first_scores.require_origin(PURPOSE).judged.qrels
    if qrels.has_pieces or not qrels.is_flat:
        raise ValueError("unjudged documents can be given grades only if single documents are judged by ID")
    common_queries = set.intersection(*(set(system_scores.queries) for system_scores in scores.values()))
    queries = [query for query in first_scores.queries if query in common_queries]
    graded = {query: grades for query, grades in qrels.graded().items() if query in common_queries}
    rankings: dict[QueryId, dict[str, Any]] = {query: {} for query in queries}
    unjudged_ranks: dict[QueryId, dict[DocumentId, dict[str, int]]] = {query: {} for query in queries}
    for system, system_scores in scores.items():
        ordered = system_scores.rankings(PURPOSE)
        for query, ranking in ordered.iterate(queries):
            rankings[query][system] = ranking
            for rank, document in enumerate(_first_documents(ordered, ranking, k), start=1):
                if document not in graded[query]:
                    unjudged_ranks[query].setdefault(document, {}).setdefault(system, rank)
    partly_judged_queries = []
    for query in queries:
        ranks = unjudged_ranks[query]
        n_unretrieved_relevant = unretrieved_relevant.get(query, 0)
        if not ranks and not n_unretrieved_relevant:
            continue
        partly_judged = PartlyJudgedQuery(
            query=query,
            graded=graded[query],
            documents=_sort_by_best_rank(ranks),
            rankings=rankings[query],
            ranks=ranks,
            unretrieved_relevant=n_unretrieved_relevant,
        )
        partly_judged_queries.append(partly_judged)
    return partly_judged_queries


def _sort_by_best_rank(ranks: Mapping[DocumentId, Mapping[str, int]]) -> tuple[DocumentId, ...]:
    best_ranks = {document: min(rank_by_system.values()) for document, rank_by_system in ranks.items()}
    return tuple(sorted(best_ranks, key=best_ranks.__getitem__))


def _first_documents(rankings: OrderedRankings, ranking: Any, k: int | None) -> list[DocumentId]:
    """Return the first k documents; if the rules do not order ties, also those that tie with the document at rank k."""
    ids = rankings.ids(ranking)
    if k is None or len(ids) <= k:
        return ids
    if rankings.order.ties != "expected" or not isinstance(ranking, Mapping):
        return ids[:k]
    scores = round_ranking(ranking) if rankings.order.single_precision else ranking
    lowest_score = scores[ids[k - 1]]
    return [document for document in ids if scores[document] >= lowest_score]


class QueryCompletions(NamedTuple):
    """A query with grades to try for its unknown documents.

    Attributes:
        partly_judged: The query.
        completions: The grades of each attempt, by document; they are added to the known grades.
    """

    partly_judged: PartlyJudgedQuery
    completions: Sequence[Mapping[Any, float]]


def score_completions(
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    completions_by_query: Sequence[QueryCompletions],
) -> dict[str, FloatArray]:
    """Return the values of each system under completed judgments, shape (completions of all queries, metrics)."""
    # Each completion is scored as a query of its own, whose id is its number.
    completed_qrels: dict[int, Any] = {}
    runs: dict[str, dict[int, Any]] = {system: {} for system in scores}
    for partly_judged, completions in completions_by_query:
        for completion in completions:
            number = len(completed_qrels)
            completed_qrels[number] = {**partly_judged.graded, **completion}
            for system, ranking in partly_judged.rankings.items():
                runs[system][number] = ranking
    if not completed_qrels:
        return {system: np.empty((0, len(metrics))) for system in scores}
    qrels = Qrels.unchecked(completed_qrels)
    values = {}
    for system, system_scores in scores.items():
        origin = system_scores.require_origin(PURPOSE)
        # Where nothing is relevant yet, a completion has the largest grade.
        scale = max(origin.judged.qrels.largest_grade, qrels.largest_grade)
        scored = score_run(qrels, runs[system], metrics, system_scores.rules, origin.match, scale=scale)
        values[system] = scored.values
    return values
