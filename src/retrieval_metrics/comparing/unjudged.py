"""Unjudged documents that several systems retrieved, and how their grades could change a comparison.

Only judged documents are scored. Here judgments are completed in every possible way, and scored like any others.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.evaluate import scored_run
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.run import in_single_precision
from retrieval_metrics.results.conclusions import Ignorance, ToJudge
from retrieval_metrics.scoring.metric import Metric
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.checks import DocumentId, FloatArray, QueryId
    from retrieval_metrics.judging.ranking_order import Rankings
    from retrieval_metrics.results.scores import Scores

NOTHING: Mapping[Any, int] = MappingProxyType({})
DEPTH = 10
"""The number of documents of each ranking that are used if no metric has a cut-off."""


class Open(NamedTuple):
    """A query with documents whose grades are unknown.

    Attributes:
        query: The query.
        graded: The known grades.
        documents: The unjudged documents among the first k of any run, in the order of their best rank.
        rankings: What each system retrieved.
        ranks: The rank of each document in each system that has it among its first k.
        unseen: How many relevant documents there may be that nobody judged or retrieved.
    """

    query: QueryId
    graded: Mapping[Any, float]
    documents: tuple[DocumentId, ...]
    rankings: Mapping[str, Any]
    ranks: Mapping[DocumentId, Mapping[str, int]]
    unseen: int = 0


def depth_of(metrics: Iterable[Metric]) -> int:
    """Return the largest cut-off of the metrics, or ten if none has one."""
    return max((metric.k for metric in metrics if isinstance(metric.k, int)), default=DEPTH)


def ignorance(scores: Mapping[str, Scores], metrics: Sequence[Metric]) -> Ignorance | None:
    """Return how much of each system's first documents is judged; None if that is unknown or meaningless."""
    origins = [one.origin for one in scores.values()]
    if any(origin is None or not origin.judged.is_by_id or origin.judged.qrels.has_pieces for origin in origins):
        return None
    k = depth_of(metrics)
    judged = Metric.parse(f"judged@{k}")
    shares = {}
    for name, one in scores.items():
        values = score(one.needed_origin("looked into").judged, judged, one.rules).values[one.positions]
        known = values[~np.isnan(values)]
        shares[name] = float(known.mean()) if len(known) else float("nan")
    first = next(iter(scores.values())).needed_origin("looked into")
    return Ignorance(k, shares, bool((first.judged.qrels.document_grade <= 0).any()))


def open_queries(scores: Mapping[str, Scores], k: int | None, unseen: Mapping[QueryId, int] = NOTHING) -> list[Open]:
    """Return the queries of all systems with documents of unknown grade, retrieved or not.

    Args:
        scores: The scores of each system, by name.
        k: How many documents of each ranking are looked at; None for all.
        unseen: For some queries, how many relevant documents there may be that nobody judged or retrieved.

    Raises:
        ValueError: If the judgments are groups or pieces, or values came without a run.
    """
    first = next(iter(scores.values()))
    qrels = first.needed_origin("completed with grades").judged.qrels
    if qrels.has_pieces or not qrels.is_flat:
        raise ValueError("unjudged documents can be given grades only if single documents are judged by id")
    common = set.intersection(*(set(one.queries) for one in scores.values()))
    queries = [query for query in first.queries if query in common]
    known = {query: grades for query, grades in qrels.graded().items() if query in common}
    rankings: dict[QueryId, dict[str, Any]] = {query: {} for query in queries}
    ranks: dict[QueryId, dict[DocumentId, dict[str, int]]] = {query: {} for query in queries}
    for name, one in scores.items():
        found = one.rankings("completed with grades")
        for query, ranking in found.of(queries):
            rankings[query][name] = ranking
            for rank, document in enumerate(_first(found, ranking, k), start=1):
                if document not in known[query]:
                    ranks[query].setdefault(document, {}).setdefault(name, rank)
    return [
        Open(
            query,
            known[query],
            tuple(sorted(ranks[query], key=lambda document: min(ranks[query][document].values()))),
            rankings[query],
            ranks[query],
            unseen.get(query, 0),
        )
        for query in queries
        if ranks[query] or unseen.get(query, 0)
    ]


def _first(rankings: Rankings, ranking: Any, k: int | None) -> list[DocumentId]:
    """Return the first k documents, with those that tie with the last of them if the ties are in no order."""
    ids = rankings.ids(ranking)
    if k is None or len(ids) <= k:
        return ids
    if rankings.order.ties != "expected" or not isinstance(ranking, Mapping):
        return ids[:k]
    scores = in_single_precision(ranking) if rankings.order.single_precision else ranking
    return [document for document in ids if scores[document] >= scores[ids[k - 1]]]


def completed_scores(
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    completed: Sequence[tuple[Open, Sequence[Mapping[Any, float]]]],
) -> dict[str, FloatArray]:
    """Return the values of each system under completed judgments, shape (completions, metrics)."""
    truth: dict[int, Any] = {}
    runs: dict[str, dict[int, Any]] = {name: {} for name in scores}
    for one, completions in completed:
        for given in completions:
            number = len(truth)
            truth[number] = {**one.graded, **given}
            for name, ranking in one.rankings.items():
                runs[name][number] = ranking
    if not truth:
        return {name: np.empty((0, len(metrics))) for name in scores}
    qrels = Qrels(truth)
    found = {}
    for name, of_system in scores.items():
        origin = of_system.needed_origin("completed with grades")
        scale = origin.judged.qrels.largest_grade
        found[name] = scored_run(qrels, runs[name], metrics, of_system.rules, origin.match, scale=scale).values
    return found


def to_judge(
    scores: Mapping[str, Scores], metrics: Sequence[Metric], pairs: Sequence[tuple[str, str]], n: int
) -> list[ToJudge]:
    """Return the n unjudged documents, one at a time, whose grade would move a difference most; see `Comparison`."""
    k = depth_of(metrics)
    qrels = next(iter(scores.values())).needed_origin("completed with grades").judged.qrels
    queries = open_queries(scores, k)
    highest = max(qrels.largest_grade, 1.0)
    completed = [(one, [{}, *({document: highest} for document in one.documents)]) for one in queries]
    values = completed_scores(scores, metrics, completed)
    answered = len(next(iter(scores.values())).queries)
    found, at = [], 0
    for one in queries:
        rows = slice(at, at + 1 + len(one.documents))
        at = rows.stop
        moved = np.zeros(len(one.documents))
        for system, baseline in pairs:
            difference = np.nan_to_num(values[system][rows] - values[baseline][rows])
            moved = np.maximum(moved, np.abs(difference[1:] - difference[0]).max(axis=1))
        found += [
            ToJudge(one.query, document, float(effect) / answered, one.ranks[document])
            for document, effect in zip(one.documents, moved.tolist(), strict=True)
        ]
    return sorted(found, key=lambda each: -each.effect)[:n]
