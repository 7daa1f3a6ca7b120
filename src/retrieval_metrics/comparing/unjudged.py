"""Unjudged documents that several systems retrieved, and how their grades could change a comparison.

Only judged documents are scored. Here judgments are completed in every possible way, and scored like any others.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.evaluation.scored_run import scored_run
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.ranking_order import Rankings
from retrieval_metrics.results.ignorance import Ignorance, ToJudge, UnjudgedBounds
from retrieval_metrics.scoring.score import score
from retrieval_metrics.statistics import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics.aliases import DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.results.scores import Scores

DEPTH = 10
"""The number of documents of each ranking that are used if no metric has a cut-off."""
MOST_OF_A_QUERY = 2**12
"""The largest number of ways to grade the unjudged documents of a query that are tried, and"""
MOST_OF_ALL = 2**17
"""of all queries together, those with the fewest ways first; about ten seconds for two systems."""


class Open(NamedTuple):
    """A query with documents whose grades are unknown.

    Attributes:
        query: The query.
        graded: The known grades.
        documents: The unjudged documents among the first k of any run, in the order of their best rank.
        rankings: What each system retrieved.
        ranks: The rank of each document in each system that has it among its first k.
    """

    query: QueryId
    graded: Mapping[Any, float]
    documents: tuple[DocumentId, ...]
    rankings: Mapping[str, Any]
    ranks: Mapping[DocumentId, Mapping[str, int]]


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


def open_queries(scores: Mapping[str, Scores], k: int) -> list[Open]:
    """Return the queries of all systems with unjudged documents among the first k of one of them.

    Raises:
        ValueError: If the judgments are groups or pieces, or values came without a run.
    """
    first = next(iter(scores.values()))
    qrels = first.needed_origin("completed with grades").judged.qrels
    if qrels.has_pieces or not qrels.is_flat:
        raise ValueError("unjudged documents can be given grades only if single documents are judged by id")
    common = set.intersection(*(set(one.queries) for one in scores.values()))
    queries = [query for query in first.queries if query in common]
    known = {query: dict(_grades(qrels.judgments(at))) for at, query in enumerate(qrels.queries) if query in common}
    rankings: dict[QueryId, dict[str, Any]] = {query: {} for query in queries}
    ranks: dict[QueryId, dict[DocumentId, dict[str, int]]] = {query: {} for query in queries}
    for name, one in scores.items():
        origin = one.needed_origin("completed with grades")
        found = Rankings(origin.run, origin.match, one.rules.ties)
        for query, ranking in found.of(queries):
            rankings[query][name] = ranking
            for rank, document in enumerate(found.ids(ranking)[:k], start=1):
                if document not in known[query]:
                    ranks[query].setdefault(document, {}).setdefault(name, rank)
    return [
        Open(
            query,
            known[query],
            tuple(sorted(ranks[query], key=lambda document: min(ranks[query][document].values()))),
            rankings[query],
            ranks[query],
        )
        for query in queries
        if ranks[query]
    ]


def _grades(judgments: Any) -> Iterable[tuple[Any, float]]:
    return judgments.items() if hasattr(judgments, "items") else ((document, 1.0) for document in judgments)


def bounds_of_unjudged(
    scores: Mapping[str, Scores], metrics: Sequence[Metric], pairs: Sequence[tuple[str, str]]
) -> UnjudgedBounds:
    """Return the bounds of means and differences over all grades of the unjudged documents.

    Raises:
        ValueError: If the judgments are groups or pieces, values came without a run, or a metric has no upper bound.
    """
    for metric in metrics:
        if not metric.definition.bounded:
            raise ValueError(f'{metric} has no upper bound, which unjudged="bounds" needs; leave it out')
    k = depth_of(metrics)
    qrels = next(iter(scores.values())).needed_origin("completed with grades").judged.qrels
    grades = tuple(sorted({0.0, *(grade for grade in qrels.document_grade.tolist() if grade > 0)}))
    queries = open_queries(scores, k)
    ways = sorted(queries, key=lambda one: len(one.documents))
    tried, spent = [], 0
    for one in ways:
        number = len(grades) ** len(one.documents)
        if number > MOST_OF_A_QUERY or spent + number > MOST_OF_ALL:
            break
        tried.append(one)
        spent += number
    completed = [
        (one, [dict(zip(one.documents, chosen, strict=True)) for chosen in product(grades, repeat=len(one.documents))])
        for one in tried
    ]
    values = _scored(scores, metrics, completed)
    starts = np.cumsum([0, *(len(each) for _, each in completed)], dtype=np.int64)[:-1]
    position = {one.query: at for at, one in enumerate(tried)}
    beyond = {one.query for one in ways[len(tried) :]}
    means: dict[str, dict[str, Interval]] = {}
    differences = {}
    for at, metric in enumerate(metrics):
        name = str(metric)
        defined = _defined(scores, metric)
        columns = {system: of_system[:, at] for system, of_system in values.items()}
        reach = _Reach(starts, position, beyond)
        means[name] = {
            system: reach.mean({query: row[system] for query, row in defined.items()}, column)
            for system, column in columns.items()
        }
        for system, baseline in pairs:
            base = {query: row[system] - row[baseline] for query, row in defined.items()}
            both = columns[system] - columns[baseline]
            differences[name, system, baseline] = reach.mean(base, both, lowest=-1.0)
    return UnjudgedBounds(k, grades, means, differences, len(queries), len(beyond))


def _defined(scores: Mapping[str, Scores], metric: Metric) -> dict[QueryId, dict[str, float]]:
    """Return the values of each query for which the metric is defined in all systems."""
    columns = {name: one.per_query[str(metric)] for name, one in scores.items()}
    first = next(iter(columns.values()))
    rows = {query: {name: column.get(query, float("nan")) for name, column in columns.items()} for query in first}
    return {query: row for query, row in rows.items() if not np.isnan(list(row.values())).any()}


class _Reach(NamedTuple):
    """The positions of the completions of each query.

    Attributes:
        starts: Shape (queries tried,), the first completion of each.
        position: The position of each query among those tried.
        beyond: The queries with too many completions.
    """

    starts: IntArray
    position: Mapping[QueryId, int]
    beyond: set[QueryId]

    def mean(self, base: Mapping[QueryId, float], completed: FloatArray, lowest: float = 0.0) -> Interval:
        """Return the means over the queries of the least and of the greatest value.

        Args:
            base: The value of each query under the existing judgments.
            completed: Shape (completions,), the values of the queries tried under all completions.
            lowest: The least value of a query with too many completions; the greatest is 1.
        """
        low = np.minimum.reduceat(completed, self.starts) if len(self.starts) else completed
        high = np.maximum.reduceat(completed, self.starts) if len(self.starts) else completed
        ends = []
        for query, value in base.items():
            if query in self.position:
                ends.append((float(low[self.position[query]]), float(high[self.position[query]])))
            else:
                ends.append((lowest, 1.0) if query in self.beyond else (value, value))
        if not ends:
            return Interval(float("nan"), float("nan"))
        return Interval(*np.mean(ends, axis=0).tolist())


def _scored(
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
    values = _scored(scores, metrics, completed)
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
