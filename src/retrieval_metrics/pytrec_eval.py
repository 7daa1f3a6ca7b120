"""The interface of pytrec_eval, with the values of trec_eval and errors where the original crashes.

Code that imports pytrec_eval runs with this module in its place:

    import beir.retrieval.evaluation, retrieval_metrics.pytrec_eval
    beir.retrieval.evaluation.pytrec_eval = retrieval_metrics.pytrec_eval
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise, repeat
from math import exp, fsum, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.matching.ids import IdFinder
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.rules import TREC_EVAL, Rules
from retrieval_metrics.metrics.base.score import apply_rules_to_qrels, require_accepted_queries, score
from retrieval_metrics.metrics.infap import estimate_average_precision
from retrieval_metrics.metrics.iprec import DEFINITION as IPREC
from retrieval_metrics.metrics.iprec import ROUNDING_ALLOWANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun


__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

__version__ = "0.5.11"
"""The version of the original whose interface and values these are: ir_measures asks for one."""
PYTREC_EVAL = replace(TREC_EVAL, name="pytrec_eval", scores="single", parameters={})
"""The rules of trec_eval 9.0.8 of 2020, which pytrec_eval packs."""


# `RelevanceEvaluator` and the functions beside it, as pytrec_eval has them.


class RelevanceEvaluator:
    """Evaluates runs against judgments with the measures of trec_eval.

    Example:
        >>> evaluator = RelevanceEvaluator({"q1": {"d7": 1, "d9": 2}}, {"map", "P_5"})
        >>> evaluator.evaluate({"q1": {"d7": 1.5, "d3": 1.0}})  # (1/1) / 2, and 1/5
        {'q1': {'map': 0.5, 'P_5': 0.2}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,  # noqa: FBT001, FBT002  (the signature is pytrec_eval's)
    ) -> None:
        self._asked = asked(measures)
        self._level = positive_integer(relevance_level, "relevance_level")
        self._judged_only = judged_docs_only_flag
        self._judged = {query: dict(judged) for query, judged in query_relevance.items() if judged}
        _require_whole_grades(self._judged)
        self._are_usual = not judged_docs_only_flag and self._asked.keys() <= OF_ONE.keys()
        self._known: dict[str, QueryJudgments] = {}

    @cached_property
    def _qrels(self) -> Qrels:
        return as_qrels(self._judged)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return the values of each query that is in the run and has judgments, in the order of the run."""
        queries = [query for query in scores or () if query in self._judged]
        for query in queries:
            ranking = scores[query]
            if type(ranking) is not dict and not hasattr(ranking, "items"):
                raise TypeError(
                    f"the ranking of query {query!r} must map documents to scores, got {type(ranking).__name__}"
                )
        if len(queries) <= FEW and self._are_usual and (found := self._one_by_one(queries, scores)) is not None:
            return found
        if not queries or not self._asked:
            return {query: {} for query in queries}
        # Only what the run asks for is judged: a loop may evaluate batches against a large collection.
        some = len(queries) * 2 < len(self._judged)
        qrels = as_qrels({query: self._judged[query] for query in queries}) if some else self._qrels
        columns = self._columns(qrels, scores)
        numbers = (np.nan_to_num(column).tolist() for column in columns.values())  # 0/0 is 0, which has a mean
        names, rows = list(columns), list(zip(*numbers, strict=True))
        return {query: dict(zip(names, rows[qrels.place[query]], strict=True)) for query in queries}

    def _one_by_one(
        self, queries: list[str], scores: Mapping[str, Mapping[str, float]]
    ) -> dict[str, dict[str, float]] | None:
        """Return the values of a few queries without columns, to the last bit; None if ids are no text."""
        values: dict[str, dict[str, float]] = {}
        wanted = [(name, OF_ONE[measure], cut) for measure, name, cut in columns_of(self._asked)]
        finder, level = IdFinder([], [], [], PYTREC_EVAL.order), self._level
        for query in queries:
            ranking = scores[query]
            if (known := self._known.get(query)) is None:
                known = self._known[query] = QueryJudgments(query, self._judged[query], level)
            if ranking and not (known.has_texts and type(next(iter(ranking))) is str):
                return None
            found = FoundDocuments(finder, query, known, ranking, level)
            values[query] = {name: value_of(found, cut) for name, value_of, cut in wanted}
        return values

    def _columns(self, qrels: Qrels, scores: Mapping[str, Mapping[str, float]]) -> Mapping[str, Any]:
        judged = judge(apply_rules_to_qrels(qrels, PYTREC_EVAL), scores, "id", PYTREC_EVAL.order)
        require_accepted_queries(judged, PYTREC_EVAL)
        if self._judged_only:
            condensed = judged.condensed()
            return MeasureValues(condensed, self._level, lambda: condensed).of(self._asked)
        with_pooled = partial(judge, qrels, scores, "id", PYTREC_EVAL.order)
        return MeasureValues(judged, self._level, with_pooled).of(self._asked)


def _require_whole_grades(judged: Mapping[str, Mapping[str, Any]]) -> None:
    for query, grades in judged.items():
        if set(map(type, grades.values())) == {int}:
            continue
        for document, grade in grades.items():
            if not isinstance(grade, int):
                raise TypeError(f"the grade of document {document!r} for query {query!r} must be an int, got {grade!r}")


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the run in the lines of a TREC file: `query Q0 document rank score tag`; comments (`#`) are skipped."""
    return _parsed(f_run, fields=6, value_at=4, number=float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the judgments in the lines of a TREC file: `query 0 document grade`; comments (`#`) are skipped."""
    return _parsed(f_qrel, fields=4, value_at=3, number=int)


def _parsed(lines: Iterable[str], *, fields: int, value_at: int, number: Callable[[str], Any]) -> dict[str, Any]:
    found: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for at, line in enumerate(lines, start=1):
        words = line.split()
        if line.lstrip().startswith("#"):
            continue
        if len(words) != fields:
            raise ValueError(f"line {at} must have {fields} fields, got {len(words)}: {line.strip()!r}")
        query, document = words[0], words[2]
        if document in found[query]:
            raise ValueError(f"line {at}: document {document!r} is there twice for query {query!r}")
        try:
            found[query][document] = number(words[value_at])
        except ValueError as error:
            raise ValueError(f"line {at}: {words[value_at]!r} is not a number: {line.strip()!r}") from error
    return found


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return the value of a measure for all queries: a sum (`num_...`), a geometric mean (`gm_...`) or a mean.

    The mean of no values is NaN.
    """
    total = fsum(values)
    if measure.startswith("num_"):
        return total
    mean = total / len(values) if len(values) else nan
    return exp(mean) if measure.startswith("gm_") else mean


# The names of trec_eval's measures, their parameters, and their order.

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
TENTHS = tuple(at / 10 for at in range(11))
DEFAULTS: Mapping[str, tuple[float, ...]] = {
    "iprec_at_recall": TENTHS,
    "P": CUTS,
    "recall": CUTS,
    "Rprec_mult": tuple(at / 5 for at in range(1, 11)),
    "ndcg_cut": CUTS,
    "map_cut": CUTS,
    "relative_P": CUTS,
    "success": (1, 5, 10),
    "unj": (5, 10, 20),
    "set_F": (1.0,),
}
"""The parameters of each measure that has some, as trec_eval has them."""
SHARES = {"iprec_at_recall", "Rprec_mult", "set_F"}
"""Measures whose parameters are not numbers of documents; that of set_F is not part of its name."""
ORDER = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg"),
    *("binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P"),
    *("set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"),
)
"""All measures in the order in which trec_eval prints them."""

ALL = "all_trec"
supported_measures = set(ORDER)
supported_nicknames: dict[str, set[str]] = {
    "official": {
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
        *("iprec_at_recall", "P"),
    },
    "set": {
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_relative_P", "set_recall"),
        *("set_map", "set_F"),
    },
    ALL: set(ORDER),
}

_WITH_PARAMETERS = re.compile(r"(?P<measure>.+?)[._](?P<values>[0-9]*\.?[0-9]+(?:,[0-9]*\.?[0-9]+)*)")


def asked(measures: Iterable[str], order: Sequence[str] = ORDER) -> dict[str, tuple[float, ...]]:
    """Return the measures with their parameters, in the order of trec_eval; `()` for a measure that has none.

    `order` holds every measure there is.

    Example:
        >>> asked({"map", "P.10,5", "P_20"})
        {'map': (), 'P': (5, 10, 20)}
    """
    if isinstance(measures, str):
        raise TypeError(f"measures must be several names, such as {{{measures!r}}}, got a str")
    found: dict[str, set[float]] = {}
    for name in measures:
        if name in supported_nicknames:
            for each in order if name == ALL else supported_nicknames[name]:
                found.setdefault(each, set())
        elif name in order:
            found.setdefault(name, set())
        else:
            measure, values = _parsed_asked(name, order)
            found.setdefault(measure, set()).update(values)
    return {name: tuple(sorted(found[name])) or DEFAULTS.get(name, ()) for name in order if name in found}


def _parsed_asked(name: str, order: Sequence[str]) -> tuple[str, list[float]]:
    known = ", ".join(order)
    match = _WITH_PARAMETERS.fullmatch(name)
    if match is None or match["measure"] not in order:
        raise ValueError(
            f"unsupported measure {name}; the measures are {known}, with parameters such as P_5 and P.5,10"
        )
    measure, texts = match["measure"], match["values"].split(",")
    if measure not in DEFAULTS:
        raise ValueError(f"unsupported measure {name}: {measure} has no parameters")
    if measure == "set_F" and len(texts) > 1:
        raise ValueError(f"unsupported measure {name}: set_F has one parameter, the weight of recall")
    values: list[float] = [float(text) if measure in SHARES else _documents(name, text) for text in texts]
    if measure == "Rprec_mult" and 0 in values:
        raise ValueError(f"unsupported measure {name}: a cut-off of 0 documents holds nothing")
    return measure, values


def _documents(name: str, text: str) -> int:
    number = float(text)
    if number < 1 or number != int(number):
        raise ValueError(f"unsupported measure {name}: a cut-off is a number of documents, at least 1, got {text}")
    return int(number)


def columns_of(asked: Mapping[str, tuple[float, ...]]) -> Iterator[tuple[str, str, float | None]]:
    """Yield each value asked for: its measure, its name and its parameter."""
    for measure, parameters in asked.items():
        yield from zip(repeat(measure), measure_keys(measure, parameters), parameters or (None,))


def measure_keys(measure: str, parameters: tuple[float, ...]) -> list[str]:
    """Return the names of a measure's values.

    Example:
        >>> measure_keys("P", (5, 10)), measure_keys("iprec_at_recall", (0.0,)), measure_keys("map", ())
        (['P_5', 'P_10'], ['iprec_at_recall_0.00'], ['map'])
    """
    if measure == "set_F" or not parameters:
        return [measure]
    return [f"{measure}_{value:.2f}" if measure in SHARES else f"{measure}_{value}" for value in parameters]


# trec_eval's measures as columns: a value for each judged query.

LEAST = 1e-5
"""Values below it count as this in a geometric mean."""
METRIC_BY_MEASURE = {
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
        rules: Those of the version of trec_eval.
    """

    def __init__(
        self, judged: JudgedRun, level: int, with_pooled: Callable[[], JudgedRun], rules: Rules = PYTREC_EVAL
    ) -> None:
        self.judged = judged
        self.level = level
        self.rules = rules
        self._with_pooled = with_pooled

    @cached_property
    def places(self) -> JudgedRun:
        """The judged run with negative grades as judged, for infAP: documents that are pooled and not judged."""
        return self._with_pooled()

    def of(self, asked: Mapping[str, tuple[float, ...]]) -> dict[str, FloatArray]:
        """Return the column of each measure asked for, by its name in trec_eval."""
        return {name: self._column(measure, each) for measure, name, each in columns_of(asked)}

    def _column(self, measure: str, parameter: float | None) -> FloatArray:
        if measure in TEXTS:
            return np.zeros(self.judged.n_queries)
        if measure in METRIC_BY_MEASURE:
            return self._ours(measure, parameter)
        if measure.startswith("gm_"):
            return np.log(np.maximum(self._ours(measure.removeprefix("gm_"), None), LEAST))
        if measure in WITH_PARAMETER and parameter is not None:
            return WITH_PARAMETER[measure](self, parameter)
        return WHOLE[measure](self)

    def _ours(self, measure: str, parameter: float | None) -> FloatArray:
        cut = None if parameter is None else int(parameter)
        rel = {} if measure in GRADED or self.level == 1 else {"rel": float(self.level)}
        return np.nan_to_num(score(self.judged, Metric(METRIC_BY_MEASURE[measure], cut, **rel), self.rules).values)

    def interpolated(self, recall: float | None) -> FloatArray:
        """Return the interpolated precision at a recall, or the average of the eleven, shape (queries,)."""
        how = self.rules.parameters.get("iprec", {})
        found = IPREC.score(self.judged, rel=float(self.level), recall=recall, **how)
        values = np.where(self.relevant > 0, found, 0.0)
        wanted = np.floor((recall or 0.0) * self.relevant + ROUNDING_ALLOWANCE[str(how.get("rounding", "up"))])
        undefined = (self.retrieved == 0) & (wanted == 0)
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
        return self.judged.sum_by_query(self.judged.hits(self.level).query)

    def found_in(self, cut: IntArray | int) -> FloatArray:
        """Return the number of relevant documents among the first, shape (queries,)."""
        hits = self.judged.hits(self.level)
        cuts = np.broadcast_to(np.asarray(cut), (self.judged.n_queries,))
        return self.judged.sum_by_query(hits.query[hits.rank <= cuts[hits.query]])

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


# The usual measures of one query, as the metrics compute them for all: columns cost more than a few queries do.

FEW = 64
"""With more queries, columns cost less."""


class QueryJudgments:
    """The judgments of a query, as far as their grades are not negative."""

    def __init__(self, query: str, judged: Mapping[str, int], level: int) -> None:
        self.documents = [document for document, grade in judged.items() if grade >= 0]
        self.grades = [grade for grade in judged.values() if grade >= 0]
        self.bounds = 0, len(self.documents)
        self.has_texts = isinstance(query, str) and all(isinstance(document, str) for document in self.documents)
        self.needed = sum(grade >= level for grade in self.grades)
        self.best: dict[float | None, float] = {}  # the DCG of the ideal ranking, by cut-off


class FoundDocuments:
    """What is found of the judged documents in a ranking: their ranks, ascending, with and without grades."""

    def __init__(
        self, finder: IdFinder, query: str, known: QueryJudgments, ranking: Mapping[str, float], level: int
    ) -> None:
        finder.found, finder.above = [], []
        finder.queries, finder.documents, finder.bounds = (query,), known.documents, known.bounds
        finder.scored(0, ranking)
        grades = known.grades
        self.known, self.retrieved = known, len(ranking)
        self.gains = gains = [(above + 1, grades[at]) for above, at in zip(finder.above, finder.found)]  # noqa: B905
        gains.sort()
        self.ranks = [rank for rank, grade in gains if grade >= level]

    def within(self, cut: float | None) -> int:
        """Return how many relevant documents are among the first."""
        return len(self.ranks) if cut is None else bisect_right(self.ranks, cut)

    def share(self, part: float) -> float:
        """Return a part of the relevant documents, as a share."""
        return part / max(self.known.needed, 1)

    def average_precision(self, cut: float | None) -> float:
        """Return average precision, added one after the other as in columns."""
        total = 0.0
        for at, rank in enumerate(self.ranks[: self.within(cut)], start=1):
            total += at / rank
        return self.share(total)

    def ndcg(self, cut: float | None) -> float:
        """Return NDCG, 0 without a gain."""
        best = self.known.best.get(cut)
        if best is None:
            ideal = enumerate(sorted(self.known.grades, reverse=True), start=1)
            best = self.known.best[cut] = _discounted(ideal, cut)
        return min(_discounted(self.gains, cut) / best, 1.0) if best else 0.0


def _discounted(gains: Iterable[tuple[int, int]], cut: float | None) -> float:
    total = 0.0
    for rank, gain in gains:
        if cut is not None and rank > cut:
            break
        total += gain / (LOGS[rank] if rank < KEPT else float(np.log2(rank + 1)))
    return total


KEPT = 1001
LOGS = np.log2(np.arange(1, KEPT + 1)).tolist()
OF_ONE: Mapping[str, Callable[[FoundDocuments, Any], float]] = {
    "num_ret": lambda one, _: float(one.retrieved),
    "num_rel": lambda one, _: float(one.known.needed),
    "num_rel_ret": lambda one, _: float(len(one.ranks)),
    "map": FoundDocuments.average_precision,
    "map_cut": FoundDocuments.average_precision,
    "Rprec": lambda one, _: one.share(one.within(one.known.needed)),
    "recip_rank": lambda one, _: 1 / one.ranks[0] if one.ranks else 0.0,
    "P": lambda one, cut: one.within(cut) / cut,
    "recall": lambda one, cut: one.share(one.within(cut)),
    "ndcg": FoundDocuments.ndcg,
    "ndcg_cut": FoundDocuments.ndcg,
    "success": lambda one, cut: float(one.within(cut) > 0),
    "set_P": lambda one, _: len(one.ranks) / max(one.retrieved, 1),
    "set_recall": lambda one, _: one.share(len(one.ranks)),
}
"""The measures that single queries have without columns."""


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    shares: FloatArray = part / np.where(whole > 0, whole, 1.0)
    return np.where(whole > 0, shares, 0.0)


def _documents_measure_values(share: float, relevant: FloatArray) -> IntArray:
    """Return a share of the relevant documents as trec_eval rounds it."""
    return (share * relevant + 0.9).astype(np.int64)


def r_precision_of_multiple(values: MeasureValues, multiple: float) -> FloatArray:
    """Return precision at a multiple of the number of relevant documents."""
    cut = _documents_measure_values(multiple, values.relevant)
    return _share(values.found_in(cut), cut.astype(np.float64))


def f_of_sets(values: MeasureValues, weight: float) -> FloatArray:
    """Return the weighted harmonic mean of the precision and the recall of the whole ranking."""
    precision, recall = _share(values.found, values.retrieved), _share(values.found, values.relevant)
    return _share((1 + weight) * precision * recall, recall + weight * precision)


def _dcg(grades: list[tuple[int, int]]) -> float:
    return float(sum(grade / np.log2(rank + 1) for rank, grade in grades))


def judged_not_relevant(values: MeasureValues) -> FloatArray:
    """Return how many documents judged not relevant were retrieved."""
    items = values.judged.items
    return values.judged.sum_by_query(items.query[(items.grade >= 0) & (items.grade < values.level)])


def binary_gain(values: MeasureValues) -> FloatArray:
    """Return the mean over the relevant documents of 1 / log2(2 + documents not relevant above it)."""
    hits = values.judged.hits(values.level)
    return _share(values.judged.sum_by_query(hits.query, 1 / np.log2(2 + hits.rank - hits.ordinal)), values.relevant)


def normalised_gain(values: MeasureValues) -> FloatArray:
    """Return the gains found, each divided by log2(2 + the gain missed so far), over all gains."""

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
    """Return the mean NDCG over the gains, each cut off at the number of documents with that gain or more."""

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
    "infAP": lambda values: estimate_average_precision(
        values.places, float(values.level), values.places.items.grade < 0
    ),
    "11pt_avg": lambda values: values.interpolated(None),
    "utility": lambda values: values.found - (values.retrieved - values.found),
    "set_relative_P": lambda values: _share(values.found, np.minimum(values.relevant, values.retrieved)),
    "set_map": lambda values: _share(values.found**2, values.retrieved * values.relevant),
    "num_nonrel_judged_ret": judged_not_relevant,
    "binG": binary_gain,
    "G": normalised_gain,
    "ndcg_rel": ndcg_at_found,
    "Rndcg": ndcg_at_levels,
}
