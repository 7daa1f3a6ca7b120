"""Unjudged documents: which to judge, and the bounds of a comparison over their grades."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb, log2
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import argument_name, format_argument, integer
from retrieval_metrics.comparison.conclusions import JudgedCoverage, ToJudge, UnjudgedBounds
from retrieval_metrics.evaluation.evaluate import score_run
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.inputs.single_precision import round_ranking
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import score
from retrieval_metrics.statistics import Interval, paired_differences
from retrieval_metrics.statistics.paired import subtract_exactly

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics._internal.validation import DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.comparison.difference import Difference, PairedValues
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.matching.ranking_order import OrderedRankings


NOTHING: Mapping[Any, int] = MappingProxyType({})
DEPTH = 10
"""The number of documents of each ranking that are used if no metric has a cut-off."""


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
    """Return the largest cut-off of the metrics, or ten if none has one."""
    return max((metric.k for metric in metrics if isinstance(metric.k, int)), default=DEPTH)


def measure_judged_coverage(scores: Mapping[str, Scores], metrics: Sequence[Metric]) -> JudgedCoverage | None:
    """Return how much of each system's first documents is judged; None if that is unknown or meaningless."""
    origins = [one.origin for one in scores.values()]
    if any(origin is None or not origin.judged.is_by_id or origin.judged.qrels.has_pieces for origin in origins):
        return None
    k = largest_cutoff(metrics)
    judged = Metric.parse(f"judged@{k}")
    shares = {}
    for name, one in scores.items():
        values = score(one.require_origin("looked into").judged, judged, one.rules).values[one.positions]
        known = values[~np.isnan(values)]
        shares[name] = float(known.mean()) if len(known) else float("nan")
    first = next(iter(scores.values())).require_origin("looked into")
    return JudgedCoverage(k, shares, bool((first.judged.qrels.document_grade <= 0).any()))


def open_queries(
    scores: Mapping[str, Scores], k: int | None, unretrieved_relevant: Mapping[QueryId, int] = NOTHING
) -> list[PartlyJudgedQuery]:
    """Return the queries of all systems with documents of unknown grade, retrieved or not."""
    first = next(iter(scores.values()))
    qrels = first.require_origin("completed with grades").judged.qrels
    if qrels.has_pieces or not qrels.is_flat:
        raise ValueError("unjudged documents can be given grades only if single documents are judged by id")
    common = set.intersection(*(set(one.queries) for one in scores.values()))
    queries = [query for query in first.queries if query in common]
    known = {query: grades for query, grades in qrels.graded().items() if query in common}
    rankings: dict[QueryId, dict[str, Any]] = {query: {} for query in queries}
    ranks: dict[QueryId, dict[DocumentId, dict[str, int]]] = {query: {} for query in queries}
    for name, one in scores.items():
        found = one.rankings("completed with grades")
        for query, ranking in found.iterate(queries):
            rankings[query][name] = ranking
            for rank, document in enumerate(_first(found, ranking, k), start=1):
                if document not in known[query]:
                    ranks[query].setdefault(document, {}).setdefault(name, rank)
    return [
        PartlyJudgedQuery(
            query,
            known[query],
            tuple(sorted(ranks[query], key=lambda document: min(ranks[query][document].values()))),
            rankings[query],
            ranks[query],
            unretrieved_relevant.get(query, 0),
        )
        for query in queries
        if ranks[query] or unretrieved_relevant.get(query, 0)
    ]


def _first(rankings: OrderedRankings, ranking: Any, k: int | None) -> list[DocumentId]:
    """Return the first k documents, with those that tie with the last of them if the ties are in no order."""
    ids = rankings.ids(ranking)
    if k is None or len(ids) <= k:
        return ids
    if rankings.order.ties != "expected" or not isinstance(ranking, Mapping):
        return ids[:k]
    scores = round_ranking(ranking) if rankings.order.single_precision else ranking
    return [document for document in ids if scores[document] >= scores[ids[k - 1]]]


def completed_scores(
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    completed: Sequence[tuple[PartlyJudgedQuery, Sequence[Mapping[Any, float]]]],
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
        origin = of_system.require_origin("completed with grades")
        scale = origin.judged.qrels.largest_grade
        found[name] = score_run(qrels, runs[name], metrics, of_system.rules, origin.match, scale=scale).values
    return found


def rank_documents_to_judge(
    scores: Mapping[str, Scores], metrics: Sequence[Metric], pairs: Sequence[tuple[str, str]], n: int
) -> list[ToJudge]:
    """Return the n unjudged documents, one at a time, whose grade would move a difference most; see `Comparison`."""
    k = largest_cutoff(metrics)
    qrels = next(iter(scores.values())).require_origin("completed with grades").judged.qrels
    queries = open_queries(scores, k)
    highest = max(qrels.largest_grade, 1.0)
    extremes = [highest] if all(one.definition.higher_is_better for one in metrics) else [highest, -1.0]
    completed = [(one, [{}, *({each: grade} for grade in extremes for each in one.documents)]) for one in queries]
    values = completed_scores(scores, metrics, completed)
    answered = len(next(iter(scores.values())).queries)
    found, at = [], 0
    for one in queries:
        rows = slice(at, at + 1 + len(one.documents) * len(extremes))
        at = rows.stop
        moved = np.zeros(len(one.documents))
        for system, baseline in pairs:
            difference = np.nan_to_num(values[system][rows] - values[baseline][rows])
            of_each = np.abs(difference[1:] - difference[0]).max(axis=1)
            moved = np.maximum(moved, of_each.reshape(len(extremes), -1).max(axis=0))
        found += [
            ToJudge(one.query, document, float(effect) / answered, one.ranks[document])
            for document, effect in zip(one.documents, moved.tolist(), strict=True)
        ]
    return sorted(found, key=lambda each: -each.effect)[:n]


MOST_OF_A_QUERY = 2**12
"""The largest number of ways to grade the unjudged documents of a query that are tried, and"""
MOST_OF_ALL = 2**17
"""of all queries and depths together, those with the fewest ways first; about ten seconds for two systems."""


def bound_unjudged(
    scores: Mapping[str, Scores],
    aligned: PairedValues,
    metrics: Sequence[Metric],
    differences: Sequence[Difference],
    *,
    resamples: int,
    seed: int,
    unretrieved_relevant: int | Mapping[QueryId, int] | None = None,
) -> UnjudgedBounds:
    """Return the bounds of means and differences over all grades of the unjudged documents."""
    for metric in metrics:
        if metric.definition.is_given:
            raise ValueError(
                f"{metric} is given, so {format_argument('unjudged', 'bounds')} has nothing to grade; leave it out"
            )
        if not metric.definition.bounded:
            raise ValueError(
                f"{metric} has no upper bound, which {format_argument('unjudged', 'bounds')} needs; leave it out"
            )
    first = next(iter(scores.values()))
    if first.rules.unjudged == "condensed":
        raise ValueError(
            f"{format_argument('unjudged', 'bounds')} grades what {format_argument('unjudged', 'condensed')} takes "
            f"out of the "
            "rankings; choose one"
        )
    further = _unretrieved_relevant(unretrieved_relevant, first.queries)
    qrels = first.require_origin("completed with grades").judged.qrels
    known = {0.0, *qrels.document_grade.tolist()}
    depths = {metric: metric.k if isinstance(metric.k, int) else None for metric in metrics}
    reaches: dict[str, _CompletionValues] = {}
    for depth in dict.fromkeys(depths.values()):
        among = [metric for metric in metrics if depths[metric] == depth]
        # What is forbidden is another grade only where a metric looks for it.
        rewarding = all(metric.definition.higher_is_better for metric in among)
        grades = tuple(sorted(grade for grade in known if grade >= 0 or not rewarding))
        reach = _reach(
            scores, among, open_queries(scores, depth, further), grades, MOST_OF_ALL // len({*depths.values()})
        )
        reaches |= {str(metric): reach for metric in among}
    ends = [reaches[each.metric].of_difference(each) for each in differences]
    keys = [(each.metric, *each.pair) for each in differences]
    tested = [_p_values(differences, side, resamples, seed) for side in zip(*ends, strict=True)]
    return UnjudgedBounds(
        depths={str(metric): depth for metric, depth in depths.items()},
        grades=tuple(sorted(grade for grade in known if grade >= 0)),
        unretrieved_relevant=max(further.values(), default=0),
        means={str(metric): reaches[str(metric)].of_means(aligned, metric) for metric in metrics},
        differences={key: Interval(*map(_mean, both)) for key, both in zip(keys, ends, strict=True)},
        p_values=dict(zip(keys, zip(*tested, strict=True), strict=True)),
        queries={name: len(reach.position) + len(reach.beyond) for name, reach in reaches.items()},
        outer={
            name: len(reach.beyond - {key[0] for key in reach.counted.get(name, ())}) for name, reach in reaches.items()
        },
    )


def _unretrieved_relevant(given: int | Mapping[QueryId, int] | None, queries: Sequence[QueryId]) -> dict[QueryId, int]:
    numbers = given if isinstance(given, Mapping) else dict.fromkeys(queries, 0 if given is None else given)
    if others := numbers.keys() - set(queries):
        raise ValueError(
            f"unretrieved_relevant has a number for {min(others, key=str)!r}, which is no query that was evaluated"
        )
    for query, number in numbers.items():
        if integer(number, "unretrieved_relevant") < 0:
            raise ValueError(
                f"{argument_name('unretrieved_relevant')} must be 0 or more relevant documents; got {number} for "
                f"{query!r}"
            )
    return {query: number for query, number in numbers.items() if number}


class _CompletionValues(NamedTuple):
    """The values of every completion of the queries with documents of unknown grade.

    Attributes:
        metrics: The metrics, which have one depth.
        values: The values of each system, shape (completions, metrics).
        starts: Shape (queries tried,), the first completion of each.
        position: The place of each query among those tried.
        beyond: The queries with too many completions.
        counted: Of those, by metric, the ends of the means (a pair of one system) and differences that counts of grades
            give.
    """

    metrics: list[str]
    values: Mapping[str, FloatArray]
    starts: IntArray
    position: Mapping[QueryId, int]
    beyond: set[QueryId]
    counted: Mapping[str, Mapping[tuple[QueryId, *tuple[str, ...]], tuple[float, float]]]

    def of_means(self, aligned: PairedValues, metric: Metric) -> dict[str, Interval]:
        """Return the least and the greatest mean of each system, over the queries that all have a value for."""
        rows, columns = aligned.shared(metric)
        queries = aligned.shared_queries(rows)
        at = self.metrics.index(str(metric))
        found = {}
        for system, column in zip(aligned.systems, columns.T, strict=True):
            both = self._ends(queries, column, self.values[system][:, at], self.metrics[at], (system,))
            found[system] = Interval(*map(_mean, both))
        return found

    def of_difference(self, difference: Difference) -> tuple[FloatArray, FloatArray]:
        """Return the least and the greatest difference of each query; a document has one grade in both systems."""
        at = self.metrics.index(difference.metric)
        ours, theirs = (self.values[system][:, at] for system in difference.pair)
        completed = subtract_exactly(ours, theirs)
        return self._ends(difference.queries, difference.values, completed, self.metrics[at], difference.pair)

    def _ends(
        self,
        queries: Sequence[QueryId],
        base: FloatArray,
        completed: FloatArray,
        metric: str,
        of: tuple[str, ...],
    ) -> tuple[FloatArray, FloatArray]:
        """Return the least and the greatest value of each query."""
        low, high = base.copy(), base.copy()
        if len(self.starts):
            least, most = (of.reduceat(completed, self.starts) for of in (np.fmin, np.fmax))  # NaN: undefined so
        for place, query in enumerate(queries):
            if query in self.position:
                low[place], high[place] = least[self.position[query]], most[self.position[query]]
            elif query in self.beyond:
                whole = (1.0 - len(of), 1.0)  # nothing is known: [0, 1], or of a difference [-1, 1]
                low[place], high[place] = self.counted.get(metric, {}).get((query, *of), whole)
        return low, high


def _reach(
    scores: Mapping[str, Scores],
    metrics: list[Metric],
    queries: Sequence[PartlyJudgedQuery],
    grades: tuple[float, ...],
    most: int,
) -> _CompletionValues:
    """Score every completion of the queries with the fewest, as long as there are not too many."""
    tried: list[PartlyJudgedQuery] = []
    ways = sorted(queries, key=lambda one: _number(one, grades))
    for one in ways:
        most -= _number(one, grades)
        if _number(one, grades) > MOST_OF_A_QUERY or most < 0:
            break
        tried.append(one)
    completed = [(one, _completions(one, grades)) for one in tried]
    plain = all(one.rules == STANDARD for one in scores.values())
    counted = [metric for metric in metrics if plain and metric.name == "ndcg" and not metric.parameters]
    return _CompletionValues(
        [str(metric) for metric in metrics],
        completed_scores(scores, metrics, completed),
        np.cumsum([0, *(len(each) for _, each in completed)], dtype=np.int64)[:-1],
        {one.query: at for at, one in enumerate(tried)},
        {one.query for one in ways[len(tried) :]},
        {str(metric): _ends_by_counts(scores, metric, ways[len(tried) :], grades) for metric in counted},
    )


def _number(one: PartlyJudgedQuery, grades: tuple[float, ...]) -> int:
    # bounded, because the power of a long ranking is a number of many thousand digits
    of_documents = len(grades) ** min(len(one.documents), MOST_OF_A_QUERY.bit_length())
    return int(of_documents * (1 + one.unretrieved_relevant * sum(grade > 0 for grade in grades)))


def _completions(one: PartlyJudgedQuery, grades: tuple[float, ...]) -> list[dict[Any, float]]:
    """Return every way to grade what is unknown; documents that nobody retrieved have one grade, which is enough."""
    known = [*one.graded, *one.documents]
    names: list[Any] = [f"\0{at}" for at in range(one.unretrieved_relevant)]
    if isinstance(known[0], int):
        least = min(known)
        names = [least - 1 - at for at in range(one.unretrieved_relevant)]
    relevant = [grade for grade in grades if grade > 0]
    unseen = [
        dict.fromkeys(names[:number], grade)
        for number, grade in [(0, 0.0), *product(range(1, one.unretrieved_relevant + 1), relevant)]
    ]
    seen = (dict(zip(one.documents, chosen, strict=True)) for chosen in product(grades, repeat=len(one.documents)))
    return [{**of_seen, **of_unseen} for of_seen in seen for of_unseen in unseen]


# NDCG of queries with too many completions: it is enough to know how many documents get each grade.

MOST_COUNTS = 2**16
"""The largest number of ways to share out the grades that are tried for a query."""


def _ends_by_counts(
    scores: Mapping[str, Scores], metric: Metric, queries: Sequence[PartlyJudgedQuery], grades: tuple[float, ...]
) -> dict[tuple[QueryId, *tuple[str, ...]], tuple[float, float]]:
    """Return the exact ends of NDCG for each system and pair of systems.

    Given how many documents get each grade, the ideal is known, and the value is largest if the documents that are
    worth most to it get the highest grades.
    """
    k = metric.k if isinstance(metric.k, int) else None
    found: dict[tuple[QueryId, *tuple[str, ...]], tuple[float, float]] = {}
    for one in queries:
        if comb(len(one.documents) + len(grades) - 1, len(grades) - 1) > MOST_COUNTS:
            continue
        worth = {}
        for name, of_system in scores.items():
            rankings = of_system.rankings("completed with grades")
            first = enumerate(rankings.ids(one.rankings[name])[:k], start=1)
            places = {document: rank for rank, document in reversed(list(first))}  # a repeat earns at its first rank
            worth[name] = {document: 1 / log2(rank + 1) for document, rank in places.items()}
        ways = _GradeAllocations(one, grades, k)
        for of in [(name,) for name in scores] + [(ours, theirs) for ours in scores for theirs in scores]:
            net = dict(worth[of[0]])
            for document, taken in (worth[of[1]] if len(of) > 1 else {}).items():
                net[document] = net.get(document, 0.0) - taken
            found[one.query, *of] = ways.ends(net)
    return found


class _GradeAllocations:
    """The ways to share out the grades among the unjudged documents of a query."""

    def __init__(self, one: PartlyJudgedQuery, grades: tuple[float, ...], k: int | None) -> None:
        self._one = one
        self._gains = np.array(grades[:0:-1])  # the highest first, without 0
        self._ends = _counts(len(one.documents), len(self._gains))
        known = np.array([sum(grade >= gain for grade in one.graded.values()) for gain in self._gains])
        self._ideals = [self._ideal(self._ends + known + unseen, k) for unseen in (0, one.unretrieved_relevant)]

    def _ideal(self, relevant: IntArray, k: int | None) -> FloatArray:
        most = int(relevant.max(initial=0))
        discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, most + 2)))])
        reached = discounts[relevant if k is None else np.minimum(relevant, k)]
        ideal: FloatArray = np.diff(reached, axis=1, prepend=0.0) @ self._gains
        return ideal

    def ends(self, net: Mapping[DocumentId, float]) -> tuple[float, float]:
        """Return the least and the greatest value, given what each place is worth to it if its document is relevant."""
        known = sum(net.get(document, 0.0) * max(grade, 0.0) for document, grade in self._one.graded.items())
        worth = np.sort([net.get(document, 0.0) for document in self._one.documents])
        low, high = (
            known + np.diff(np.concatenate([[0.0], each.cumsum()])[self._ends], axis=1, prepend=0.0) @ self._gains
            for each in (worth, worth[::-1])
        )
        ratios = [(low / ideal, high / ideal) for each in self._ideals for ideal in [np.where(each > 0, each, np.inf)]]
        return min(float(each.min()) for each, _ in ratios), max(float(each.max()) for _, each in ratios)


@cache
def _counts(documents: int, grades: int) -> IntArray:
    """Return how many documents have at least each grade, the highest first, in every way; shape (ways, grades)."""
    return np.array(list(combinations_with_replacement(range(documents + 1), grades)), dtype=np.int64)


def _p_values(
    differences: Sequence[Difference], values: Sequence[FloatArray], resamples: int, seed: int
) -> list[float]:
    """Return the corrected p values that the differences would have with these values."""
    place: dict[QueryId, int] = {}
    for each in differences:
        for query in each.queries:
            place.setdefault(query, len(place))
    table = np.full((len(place), len(differences)), np.nan)
    clusters = None if differences[0].clusters is None else np.zeros(len(place), dtype=np.int64)
    for at, (each, column) in enumerate(zip(differences, values, strict=True)):
        rows = [place[query] for query in each.queries]
        table[rows, at] = column
        if clusters is not None and each.clusters is not None:
            clusters[rows] = each.clusters
    spans = [each.max_difference for each in differences]
    level = differences[0].paired.level
    return paired_differences(
        table, spans=spans, level=level, resamples=resamples, seed=seed, clusters=clusters
    ).corrected


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")
