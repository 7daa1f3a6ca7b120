"""trec_eval's measures as columns: a value for each judged query."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.iprec import DEFINITION as IPREC
from retrieval_metrics.pytrec_eval.asked import keys
from retrieval_metrics.scoring.metric import Metric
from retrieval_metrics.scoring.rules import TREC_EVAL
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from retrieval_metrics.checks import FloatArray, IntArray
    from retrieval_metrics.judging.judged_run import JudgedRun

LEAST = 1e-5
"""Values below it count as this in a geometric mean."""
EPSILON = 1e-5
"""What infAP adds to the numbers of documents that it divides."""
OURS = {
    "map": "map",
    "Rprec": "r_precision",
    "bpref": "bpref",
    "recip_rank": "mrr",
    "ndcg": "ndcg",
    "P": "precision",
    "recall": "recall",
    "ndcg_cut": "ndcg",
    "map_cut": "map",
    "success": "hit_rate",
    "set_P": "precision",
    "set_recall": "recall",
}
"""The metrics of this package that are measures of trec_eval, by the names there."""
GRADED = {"ndcg", "ndcg_cut"}
TEXTS = ("runid", "relstring")
"""Measures that are texts in trec_eval, and 0 in pytrec_eval."""


class MeasureValues:
    """The values of trec_eval's measures for a run, each with a column of shape (queries,).

    Attributes:
        judged: The judged run, negative grades as unjudged.
        level: The lowest relevant grade.
        places: The same with negative grades as judged, for infAP.
    """

    def __init__(self, judged: JudgedRun, level: int, places: Callable[[], JudgedRun]) -> None:
        self.judged = judged
        self.level = level
        self.places = places

    def of(self, asked: Mapping[str, tuple[float, ...]]) -> dict[str, FloatArray]:
        """Return the column of each measure asked for, by its name in trec_eval."""
        found: dict[str, FloatArray] = {}
        for measure, parameters in asked.items():
            columns = [self._column(measure, each) for each in parameters or (None,)]
            found.update(zip(keys(measure, parameters), columns, strict=True))
        return found

    def _column(self, measure: str, parameter: float | None) -> FloatArray:
        if measure in TEXTS:
            return np.zeros(self.judged.n_queries)
        if measure in OURS:
            return self._ours(measure, parameter)
        if measure.startswith("gm_"):
            return np.log(np.maximum(self._ours(measure.removeprefix("gm_"), None), LEAST))
        if measure in WITH_PARAMETER and parameter is not None:
            return WITH_PARAMETER[measure](self, parameter)
        return WHOLE[measure](self)

    def _ours(self, measure: str, parameter: float | None) -> FloatArray:
        cut = None if parameter is None else int(parameter)
        rel = {} if measure in GRADED or self.level == 1 else {"rel": float(self.level)}
        return np.nan_to_num(score(self.judged, Metric.of(OURS[measure], cut, **rel), TREC_EVAL).values)

    def interpolated(self, recall: float | None) -> FloatArray:
        """Return the interpolated precision at a recall, or the average of the eleven, shape (queries,).

        If nothing was retrieved, it is 0/0 at a recall that takes no document, as in trec_eval: NaN.
        """
        values = np.where(self.relevant > 0, IPREC.score(self.judged, rel=float(self.level), recall=recall), 0.0)
        undefined = (self.retrieved == 0) & (_documents(recall or 0.0, self.relevant) == 0)
        return np.where(undefined, np.nan, values)

    @cached_property
    def retrieved(self) -> FloatArray:
        """The number of documents retrieved."""
        return self.judged.n_retrieved.astype(np.float64)

    @cached_property
    def relevant(self) -> FloatArray:
        """The number of relevant documents."""
        return self.judged.n_relevant(self.level).astype(np.float64)

    @cached_property
    def found(self) -> FloatArray:
        """The number of relevant documents retrieved."""
        return self.judged.per_query(self.judged.hits(self.level).query)

    def found_in(self, cut: IntArray | int) -> FloatArray:
        """Return the number of relevant documents among the first, shape (queries,)."""
        hits = self.judged.hits(self.level)
        cuts = np.broadcast_to(np.asarray(cut), (self.judged.n_queries,))
        return self.judged.per_query(hits.query[hits.rank <= cuts[hits.query]])

    def graded(self) -> Iterator[tuple[int, list[tuple[int, int]], list[int]]]:
        """Yield each query with the ranks and gains of what was found, and all gains, best first."""
        hits, qrels = self.judged.hits(), self.judged.qrels
        ends = np.searchsorted(hits.query, np.arange(self.judged.n_queries + 1))
        for query, (start, end) in enumerate(pairwise(ends.tolist())):
            ranks, grades = hits.rank[start:end].tolist(), hits.grade[start:end].astype(np.int64).tolist()
            every = qrels.document_grade[qrels.bounds[query] : qrels.bounds[query + 1]].astype(np.int64)
            yield query, list(zip(ranks, grades, strict=True)), np.sort(every[every > 0])[::-1].tolist()

    def column(self, value_of: Callable[[int, list[tuple[int, int]], list[int]], float]) -> FloatArray:
        """Return a column made query by query, for measures that few ask for."""
        values = np.zeros(self.judged.n_queries)
        for query, hits, ideal in self.graded():
            values[query] = value_of(query, hits, ideal)
        return values


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    shares: FloatArray = part / np.where(whole > 0, whole, 1.0)
    return np.where(whole > 0, shares, 0.0)


def _documents(share: float, relevant: FloatArray) -> IntArray:
    """Return a share of the relevant documents as trec_eval rounds it."""
    return (share * relevant + 0.9).astype(np.int64)


def r_precision_of_multiple(values: MeasureValues, multiple: float) -> FloatArray:
    """Return precision at a multiple of the number of relevant documents."""
    cut = _documents(multiple, values.relevant)
    return _share(values.found_in(cut), cut.astype(np.float64))


def f_of_sets(values: MeasureValues, weight: float) -> FloatArray:
    """Return the weighted harmonic mean of the precision and the recall of the whole ranking."""
    precision, recall = _share(values.found, values.retrieved), _share(values.found, values.relevant)
    return _share((1 + weight) * precision * recall, recall + weight * precision)


def inferred_ap(values: MeasureValues) -> FloatArray:
    """Return average precision with the precision at a relevant document estimated from the judged ones above it.

    Source: Yilmaz and Aslam (2006), as trec_eval computes it: a negative grade says that the document was pooled and
    not judged.
    """
    places = values.places()
    items = places.items
    ends = np.searchsorted(items.query, np.arange(places.n_queries + 1))
    found = np.zeros(places.n_queries)
    for query, (start, end) in enumerate(pairwise(ends.tolist())):
        relevant = nonrelevant = pooled = 0
        total = 0.0
        for rank, grade in zip(items.rank[start:end].tolist(), items.grade[start:end].tolist(), strict=True):
            if grade < 0:
                pooled += 1
            elif grade < values.level:
                nonrelevant += 1
            else:
                above = rank - 1
                if above:
                    seen = (relevant + nonrelevant + pooled) / above
                    good = (relevant + EPSILON) / (relevant + nonrelevant + 2 * EPSILON)
                    total += 1 / rank + above / rank * seen * good
                else:
                    total += 1.0
                relevant += 1
        found[query] = total
    return _share(found, values.relevant)


def _dcg(grades: list[tuple[int, int]]) -> float:
    return float(sum(grade / np.log2(rank + 1) for rank, grade in grades))


def judged_not_relevant(values: MeasureValues) -> FloatArray:
    """Return how many documents judged not relevant were retrieved."""
    items = values.judged.items
    return values.judged.per_query(items.query[(items.grade >= 0) & (items.grade < values.level)])


def binary_gain(values: MeasureValues) -> FloatArray:
    """Return the mean over the relevant documents of 1 / log2(2 + documents not relevant above it)."""
    hits = values.judged.hits(values.level)
    return _share(values.judged.per_query(hits.query, 1 / np.log2(2 + hits.rank - hits.ordinal)), values.relevant)


def normalised_gain(values: MeasureValues) -> FloatArray:
    """Return the gains found, each divided by log2(2 + the gain missed so far), over all gains.

    The gain missed at a rank is that of the ideal ranking up to it, in which documents without gain count 1, minus that
    of this one.
    """

    def value(_: int, hits: list[tuple[int, int]], ideal: list[int]) -> float:
        whole, total, found = sum(ideal), 0.0, 0
        for rank, gain in hits:
            found += gain
            possible = sum(ideal[:rank]) + max(rank - len(ideal), 0)
            total += gain / np.log2(2 + possible - found)
        return float(total / whole) if whole else 0.0

    return values.column(value)


def ndcg_at_found(values: MeasureValues) -> FloatArray:
    """Return the mean NDCG at the ranks of the documents with a gain; for one that was not found, that of all ranks."""

    def value(_: int, hits: list[tuple[int, int]], ideal: list[int]) -> float:
        if not ideal:
            return 0.0
        at = [_ndcg(hits, ideal, rank) for rank, _ in hits]
        return float((sum(at) + (len(ideal) - len(at)) * _ndcg(hits, ideal, None)) / len(ideal))

    return values.column(value)


def ndcg_at_levels(values: MeasureValues) -> FloatArray:
    """Return the mean NDCG over the gains, each cut off at the number of documents with that gain or more.

    A ranking that goes on beyond the last of these cut-offs, by two documents or more, adds its NDCG of all ranks.
    """

    def value(query: int, hits: list[tuple[int, int]], ideal: list[int]) -> float:
        if not values.relevant[query]:
            return 0.0
        cuts: list[int | None] = [sum(each >= gain for each in ideal) for gain in sorted(set(ideal), reverse=True)]
        if values.retrieved[query] > len(ideal) + 1:
            cuts.append(None)
        return float(np.mean([_ndcg(hits, ideal, cut) for cut in cuts]))

    return values.column(value)


def _ndcg(hits: list[tuple[int, int]], ideal: list[int], cut: int | None) -> float:
    return _dcg([each for each in hits if cut is None or each[0] <= cut]) / _dcg(list(enumerate(ideal, start=1))[:cut])


WITH_PARAMETER: dict[str, Callable[[MeasureValues, float], FloatArray]] = {
    "iprec_at_recall": lambda values, recall: values.interpolated(recall),
    "Rprec_mult": r_precision_of_multiple,
    "relative_P": lambda values, cut: _share(values.found_in(int(cut)), np.minimum(values.relevant, cut)),
    "set_F": f_of_sets,
}
WHOLE: dict[str, Callable[[MeasureValues], FloatArray]] = {
    "num_q": lambda values: np.ones(values.judged.n_queries),
    "num_ret": lambda values: values.retrieved,
    "num_rel": lambda values: values.relevant,
    "num_rel_ret": lambda values: values.found,
    "infAP": inferred_ap,
    "11pt_avg": lambda values: values.interpolated(None),
    "utility": lambda values: values.found - (values.retrieved - values.found),
    "set_relative_P": lambda values: _share(values.found, np.minimum(values.relevant, values.retrieved)),
    "set_map": lambda values: _share(values.found, values.retrieved) * _share(values.found, values.relevant),
    "num_nonrel_judged_ret": judged_not_relevant,
    "binG": binary_gain,
    "G": normalised_gain,
    "ndcg_rel": ndcg_at_found,
    "Rndcg": ndcg_at_levels,
}
