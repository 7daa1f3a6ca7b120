"""Queries with unjudged documents, and their values once these have grades."""

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

    from retrieval_metrics._internal.validation import DocumentId, FloatArray, QueryId
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


def open_queries(
    scores: Mapping[str, Scores], k: int | None, unretrieved_relevant: Mapping[QueryId, int] = NO_FURTHER_RELEVANT
) -> list[PartlyJudgedQuery]:
    """Return the queries of all systems with documents of unknown grade, retrieved or not."""
    first = next(iter(scores.values()))
    qrels = first.require_origin(PURPOSE).judged.qrels
    if qrels.has_pieces or not qrels.is_flat:
        raise ValueError("unjudged documents can be given grades only if single documents are judged by id")
    common = set.intersection(*(set(system_scores.queries) for system_scores in scores.values()))
    queries = [query for query in first.queries if query in common]
    graded = {query: grades for query, grades in qrels.graded().items() if query in common}
    rankings: dict[QueryId, dict[str, Any]] = {query: {} for query in queries}
    ranks: dict[QueryId, dict[DocumentId, dict[str, int]]] = {query: {} for query in queries}
    for system, system_scores in scores.items():
        ordered = system_scores.rankings(PURPOSE)
        for query, ranking in ordered.iterate(queries):
            rankings[query][system] = ranking
            for rank, document in enumerate(_first_documents(ordered, ranking, k), start=1):
                if document not in graded[query]:
                    ranks[query].setdefault(document, {}).setdefault(system, rank)
    partly_judged = []
    for query in queries:
        n_further = unretrieved_relevant.get(query, 0)
        if not ranks[query] and not n_further:
            continue
        best_rank = {document: min(by_system.values()) for document, by_system in ranks[query].items()}
        documents = tuple(sorted(best_rank, key=best_rank.__getitem__))
        partly_judged.append(
            PartlyJudgedQuery(query, graded[query], documents, rankings[query], ranks[query], n_further)
        )
    return partly_judged


def _first_documents(rankings: OrderedRankings, ranking: Any, k: int | None) -> list[DocumentId]:
    """Return the first k documents, with those that tie with the last of them if the ties are in no order."""
    ids = rankings.ids(ranking)
    if k is None or len(ids) <= k:
        return ids
    if rankings.order.ties != "expected" or not isinstance(ranking, Mapping):
        return ids[:k]
    scores = round_ranking(ranking) if rankings.order.single_precision else ranking
    return [document for document in ids if scores[document] >= scores[ids[k - 1]]]


def score_completions(
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    completions_by_query: Sequence[tuple[PartlyJudgedQuery, Sequence[Mapping[Any, float]]]],
) -> dict[str, FloatArray]:
    """Return the values of each system under completed judgments, shape (completions, metrics)."""
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
    qrels = Qrels(completed_qrels)
    values = {}
    for system, system_scores in scores.items():
        origin = system_scores.require_origin(PURPOSE)
        scale = origin.judged.qrels.largest_grade
        scored = score_run(qrels, runs[system], metrics, system_scores.rules, origin.match, scale=scale)
        values[system] = scored.values
    return values
