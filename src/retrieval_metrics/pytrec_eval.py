"""Provide the interface of pytrec_eval, with the values of trec_eval and errors where the original crashes.

Code that imports pytrec_eval runs with this module in its place:

    import beir.retrieval.evaluation, retrieval_metrics.pytrec_eval
    beir.retrieval.evaluation.pytrec_eval = retrieval_metrics.pytrec_eval
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, pairwise, repeat
from math import exp, fsum, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.exact_ids import IdFinder
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.refused_queries import require_accepted_queries
from retrieval_metrics.metrics.base.rules import TREC_EVAL, Rules
from retrieval_metrics.metrics.base.score import apply_rules_to_qrels, score, undefined_as_zero
from retrieval_metrics.metrics.infap import estimate_average_precision
from retrieval_metrics.metrics.iprec import DEFINITION as IPREC
from retrieval_metrics.metrics.iprec import ROUNDING_ALLOWANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun


__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

# The version of the original whose interface and values these are: ir_measures asks for one.
__version__ = "0.5.11"

# The rules of trec_eval 9.0.8 of 2020, which pytrec_eval packs.
PYTREC_EVAL = replace(TREC_EVAL, name="pytrec_eval", scores="single", parameters={})


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
        self._parameters_by_measure = parse_measures(measures)
        self._level = positive_integer(relevance_level, "relevance_level")
        self._judged_only = judged_docs_only_flag
        self._qrels_by_query = {query: dict(judged) for query, judged in query_relevance.items() if judged}
        _require_whole_grades(self._qrels_by_query)
        has_usual_measures = self._parameters_by_measure.keys() <= SINGLE_QUERY_MEASURES.keys()
        self._can_score_singly = has_usual_measures and not judged_docs_only_flag
        self._judgments_by_query: dict[str, QueryJudgments] = {}

    @cached_property
    def _requested(self) -> list[RequestedValue]:
        """The values of each query; kept, because an evaluator may be called for one query after another."""
        return list(iterate_values(self._parameters_by_measure))

    @cached_property
    def _qrels(self) -> Qrels:
        return Qrels.unchecked(self._qrels_by_query)

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return the values of each query that is in the run and has judgments, in the order of the run."""
        queries = [query for query in scores or () if query in self._qrels_by_query]
        for query in queries:
            ranking = scores[query]
            if type(ranking) is not dict and not hasattr(ranking, "items"):
                raise TypeError(
                    f"the ranking of query {query!r} must map documents to scores, got {type(ranking).__name__}"
                )
        if not queries or not self._parameters_by_measure:
            return {query: {} for query in queries}
        if len(queries) <= MAX_SINGLE_QUERIES and self._can_score_singly:
            values = self._score_singly(queries, scores)
            if values is not None:
                return values
        qrels = self._select_qrels(queries)
        columns = self._compute_columns(qrels, scores)
        table = np.nan_to_num(np.column_stack(list(columns.values())))  # 0/0 is 0, which has a mean
        values_by_position = map(dict, map(zip, repeat(list(columns)), table.tolist()))
        if queries == qrels.queries:  # the usual order
            return dict(zip(queries, values_by_position, strict=True))
        listed_values = list(values_by_position)
        return {query: listed_values[qrels.place[query]] for query in queries}

    def _select_qrels(self, queries: Sequence[str]) -> Qrels:
        """Return the judgments of the queries: only theirs if they are few, as in batches of a large collection."""
        if len(queries) * 2 < len(self._qrels_by_query):
            return Qrels.unchecked({query: self._qrels_by_query[query] for query in queries})
        return self._qrels

    def _score_singly(
        self, queries: list[str], scores: Mapping[str, Mapping[str, float]]
    ) -> dict[str, dict[str, float]] | None:
        """Return the values of a few queries without arrays, equal to the last bit; None if some ids are not text."""
        judgments_of_queries = []
        for query in queries:
            judgments = self._judgments_by_query.get(query)
            if judgments is None:
                judgments = QueryJudgments(query, self._qrels_by_query[query], self._level)
                self._judgments_by_query[query] = judgments
            ranking = scores[query]
            if ranking and not (judgments.has_text_ids and type(next(iter(ranking))) is str):
                return None
            judgments_of_queries.append(judgments)
        found = find_documents(queries, judgments_of_queries, scores, self._level)
        columns = []
        for value in self._requested:
            compute = SINGLE_QUERY_MEASURES[value.measure]
            columns.append([compute(documents, value.parameter) for documents in found])
        names = [value.name for value in self._requested]
        rows = zip(*columns, strict=True)
        return dict(zip(queries, map(dict, map(zip, repeat(names), rows)), strict=True))

    def _compute_columns(self, qrels: Qrels, scores: Mapping[str, Mapping[str, float]]) -> Mapping[str, FloatArray]:
        judged = judge(apply_rules_to_qrels(qrels, PYTREC_EVAL), scores, "id", PYTREC_EVAL.order)
        require_accepted_queries(judged, PYTREC_EVAL)
        if self._judged_only:
            condensed = judged.condensed()
            measure_values = MeasureValues(condensed, self._level, lambda: condensed)
        else:
            measure_values = MeasureValues(judged, self._level, partial(judge, qrels, scores, "id", PYTREC_EVAL.order))
        return measure_values.columns(self._parameters_by_measure)


def _require_whole_grades(qrels_by_query: Mapping[str, dict[str, Any]]) -> None:
    all_grades = chain.from_iterable(map(dict.values, qrels_by_query.values()))
    if set(map(type, all_grades)) == {int}:  # the usual case, in one pass
        return
    for query, grades in qrels_by_query.items():
        for document, grade in grades.items():
            if not isinstance(grade, int):
                hint = ""
                if isinstance(grade, float) and grade.is_integer():
                    hint = (
                        "; convert the grades, {query: {document: int(grade) for document, grade in "
                        "qrels[query].items()} for query in qrels}, or read a TREC file with parse_qrel(file)"
                    )
                raise TypeError(
                    f"the grade of document {document!r} for query {query!r} must be an int, got {grade!r}{hint}"
                )


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the run in the lines of a TREC file: `query Q0 document rank score tag`; comments (`#`) are skipped."""
    return _parse_lines(f_run, n_fields=6, value_field=4, read_number=float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return the judgments in the lines of a TREC file: `query 0 document grade`; comments (`#`) are skipped."""
    return _parse_lines(f_qrel, n_fields=4, value_field=3, read_number=int)


def _parse_lines(
    lines: Iterable[str], *, n_fields: int, value_field: int, read_number: Callable[[str], Any]
) -> dict[str, Any]:
    values_by_query: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for line_number, line in enumerate(lines, start=1):
        fields = line.split()
        if line.lstrip().startswith("#"):
            continue
        if len(fields) != n_fields:
            raise ValueError(f"line {line_number} must have {n_fields} fields, got {len(fields)}: {line.strip()!r}")
        query = fields[0]
        document = fields[2]
        if document in values_by_query[query]:
            raise ValueError(f"line {line_number}: document {document!r} appears twice for query {query!r}")
        value = fields[value_field]
        try:
            values_by_query[query][document] = read_number(value)
        except ValueError as error:
            raise ValueError(f"line {line_number}: {value!r} is not a number: {line.strip()!r}") from error
    return values_by_query


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
RECALL_TENTHS = tuple(tenth / 10 for tenth in range(11))

# The parameters of each measure that has some, as trec_eval has them.
DEFAULTS: Mapping[str, tuple[float, ...]] = {
    "iprec_at_recall": RECALL_TENTHS,
    "P": CUTS,
    "recall": CUTS,
    "Rprec_mult": tuple(fifth / 5 for fifth in range(1, 11)),
    "ndcg_cut": CUTS,
    "map_cut": CUTS,
    "relative_P": CUTS,
    "success": (1, 5, 10),
    "unj": (5, 10, 20),
    "set_F": (1.0,),
}

# Measures whose parameters are not numbers of documents; that of set_F is not part of its name.
MEASURES_OF_SHARES = {"iprec_at_recall", "Rprec_mult", "set_F"}

# All measures in the order in which trec_eval prints them.
ORDER = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg"),
    *("binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P"),
    *("set_relative_P", "set_recall", "set_map", "set_F", "num_nonrel_judged_ret"),
)

ALL_MEASURES = "all_trec"
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
    ALL_MEASURES: set(ORDER),
}

_MEASURE_WITH_PARAMETERS = lazy_pattern(r"(?P<measure>.+?)[._](?P<values>[0-9]*\.?[0-9]+(?:,[0-9]*\.?[0-9]+)*)")


def parse_measures(measures: Iterable[str], order: Sequence[str] = ORDER) -> dict[str, tuple[float, ...]]:
    """Return the measures with their parameters, in the order of trec_eval; `()` for a measure that has none.

    `order` holds every measure there is.

    Example:
        >>> parse_measures({"map", "P.10,5", "P_20"})
        {'map': (), 'P': (5, 10, 20)}
    """
    if isinstance(measures, str):
        raise TypeError(f"measures must be several names, such as {{{measures!r}}}, got a str")
    parameters_by_measure: dict[str, set[float]] = {}
    for name in measures:
        if name == ALL_MEASURES:
            for measure in order:
                parameters_by_measure.setdefault(measure, set())
        elif name in supported_nicknames:
            for measure in supported_nicknames[name]:
                parameters_by_measure.setdefault(measure, set())
        elif name in order:
            parameters_by_measure.setdefault(name, set())
        else:
            measure, parameters = _parse_parameters(name, order)
            parameters_by_measure.setdefault(measure, set()).update(parameters)
    ordered: dict[str, tuple[float, ...]] = {}
    for measure in order:
        if measure in parameters_by_measure:
            ordered[measure] = tuple(sorted(parameters_by_measure[measure])) or DEFAULTS.get(measure, ())
    return ordered


def _parse_parameters(name: str, order: Sequence[str]) -> tuple[str, list[float]]:
    """Return the measure and the parameters in a name such as `P_5` or `P.5,10`."""
    match = _MEASURE_WITH_PARAMETERS.fullmatch(name)
    if match is None or match["measure"] not in order:
        raise ValueError(
            f"unsupported measure {name}; the measures are {', '.join(order)}, with parameters such as P_5 and P.5,10"
        )
    measure = match["measure"]
    texts = match["values"].split(",")
    if measure not in DEFAULTS:
        raise ValueError(f"unsupported measure {name}: {measure} has no parameters")
    if measure == "set_F" and len(texts) > 1:
        raise ValueError(f"unsupported measure {name}: set_F has one parameter, the weight of recall")
    parameters: list[float]
    if measure in MEASURES_OF_SHARES:
        parameters = [float(text) for text in texts]
    else:
        parameters = [_read_cut(name, text) for text in texts]
    if measure == "Rprec_mult" and 0 in parameters:
        raise ValueError(f"unsupported measure {name}: a cutoff of 0 documents holds nothing")
    return measure, parameters


def _read_cut(name: str, text: str) -> int:
    number = float(text)
    if number < 1 or number != int(number):
        raise ValueError(f"unsupported measure {name}: a cutoff is a number of documents, at least 1, got {text}")
    return int(number)


class RequestedValue(NamedTuple):
    """A value to compute: its measure, its name in the result, and its parameter if it has one."""

    measure: str
    name: str
    parameter: float | None


def iterate_values(parameters_by_measure: Mapping[str, tuple[float, ...]]) -> Iterator[RequestedValue]:
    """Yield each value of the measures."""
    for measure, parameters in parameters_by_measure.items():
        names = measure_keys(measure, parameters)
        # Only the first parameter of set_F counts, which is not part of its name.
        for name, parameter in zip(names, parameters or (None,), strict=False):
            yield RequestedValue(measure, name, parameter)


def measure_keys(measure: str, parameters: tuple[float, ...]) -> list[str]:
    """Return the names of a measure's values.

    Example:
        >>> measure_keys("P", (5, 10)), measure_keys("iprec_at_recall", (0.0,)), measure_keys("map", ())
        (['P_5', 'P_10'], ['iprec_at_recall_0.00'], ['map'])
    """
    if measure == "set_F" or not parameters:
        return [measure]
    if measure in MEASURES_OF_SHARES:
        return [f"{measure}_{parameter:.2f}" for parameter in parameters]
    return [f"{measure}_{parameter}" for parameter in parameters]


# trec_eval's measures as columns: a value for each judged query.

# Values below it count as this in a geometric mean.
MIN_GEOMETRIC_VALUE = 1e-5

# The metrics of this package that are measures of trec_eval, by the names there.
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

# Measures that read grades, and so have no relevance level.
GRADED_MEASURES = {"ndcg", "ndcg_cut"}

# Measures that are texts in trec_eval, and 0 in pytrec_eval.
TEXT_MEASURES = ("runid", "relstring")


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
    def judged_with_pooled(self) -> JudgedRun:
        """The judged run with negative grades as judged, for infAP: documents that are pooled and not judged."""
        return self._with_pooled()

    def columns(self, parameters_by_measure: Mapping[str, tuple[float, ...]]) -> dict[str, FloatArray]:
        """Return the column of each value, by its name in trec_eval."""
        return {
            value.name: self._column(value.measure, value.parameter) for value in iterate_values(parameters_by_measure)
        }

    def _column(self, measure: str, parameter: float | None) -> FloatArray:
        if measure in TEXT_MEASURES:
            return np.zeros(self.judged.n_queries)
        if measure in METRIC_BY_MEASURE:
            return self._score_metric(measure, parameter)
        if measure.startswith("gm_"):
            values = self._score_metric(measure.removeprefix("gm_"), None)
            return np.log(np.maximum(values, MIN_GEOMETRIC_VALUE))
        if measure in COLUMN_BY_PARAMETER_MEASURE and parameter is not None:
            return COLUMN_BY_PARAMETER_MEASURE[measure](self, parameter)
        return COLUMN_BY_MEASURE[measure](self)

    def _score_metric(self, measure: str, parameter: float | None) -> FloatArray:
        """Return the values of a measure that is a metric of this package."""
        k = None if parameter is None else int(parameter)
        metric = Metric(METRIC_BY_MEASURE[measure], k)
        if measure not in GRADED_MEASURES and self.level != 1:
            metric = Metric(metric.name, k, rel=float(self.level))
        return undefined_as_zero(score(self.judged, metric, self.rules).values)

    def interpolated_precision(self, recall: float | None) -> FloatArray:
        """Return the interpolated precision at a recall, or the average of the eleven, shape (queries,)."""
        parameters = self.rules.parameters.get("iprec", {})
        precision = IPREC.score(self.judged, rel=float(self.level), recall=recall, **parameters)
        values = np.where(self.n_relevant > 0, precision, 0.0)
        allowance = ROUNDING_ALLOWANCE[str(parameters.get("rounding", "up"))]
        n_needed = np.floor((recall or 0.0) * self.n_relevant + allowance)
        is_undefined = (self.n_retrieved == 0) & (n_needed == 0)
        return np.where(is_undefined, np.nan, values)

    @cached_property
    def n_retrieved(self) -> FloatArray:
        """The number of documents retrieved."""
        return self.judged.n_retrieved.astype(np.float64)

    @cached_property
    def n_relevant(self) -> FloatArray:
        """The number of relevant documents."""
        return self.judged.n_relevant(self.level).astype(np.float64)

    @cached_property
    def n_found(self) -> FloatArray:
        """The number of relevant documents retrieved."""
        return self.judged.sum_by_query(self.judged.hits(self.level).query)

    def n_found_within(self, cut: IntArray | int) -> FloatArray:
        """Return the number of relevant documents among the first, shape (queries,)."""
        hits = self.judged.hits(self.level)
        cuts = np.broadcast_to(np.asarray(cut), (self.judged.n_queries,))
        return self.judged.sum_by_query(hits.query[hits.rank <= cuts[hits.query]])

    def compute_by_query(self, compute: Callable[[QueryGains], float]) -> FloatArray:
        """Return a column made query by query, for measures that few ask for."""
        values = np.zeros(self.judged.n_queries)
        for gains in self._iterate_gains():
            values[gains.query] = compute(gains)
        return values

    def _iterate_gains(self) -> Iterator[QueryGains]:
        hits = self.judged.hits()
        qrels = self.judged.qrels
        bounds = np.searchsorted(hits.query, np.arange(self.judged.n_queries + 1))
        for query, (start, end) in enumerate(pairwise(bounds.tolist())):
            ranks = hits.rank[start:end].tolist()
            gains = hits.grade[start:end].astype(np.int64).tolist()
            grades = qrels.document_grade[qrels.bounds[query] : qrels.bounds[query + 1]].astype(np.int64)
            best_first = np.sort(grades[grades > 0])[::-1].tolist()
            yield QueryGains(query, list(zip(ranks, gains, strict=True)), best_first)


class QueryGains(NamedTuple):
    """What a query gained.

    Attributes:
        query: The position of the query.
        retrieved: Rank and gain of each document with a gain that was retrieved, in rank order.
        ideal: All gains, best first.
    """

    query: int
    retrieved: list[tuple[int, int]]
    ideal: list[int]


# The usual measures of one query, as the metrics compute them for all: columns cost more than a few queries do.

# With more queries, columns cost less.
MAX_SINGLE_QUERIES = 48


class QueryJudgments:
    """The judgments of a query whose grades are not negative.

    Attributes:
        documents: The judged documents.
        grades: The grade of each.
        has_text_ids: Whether the ids of the query and of all documents are str.
        n_relevant: How many documents are relevant.
        ideal_dcg: The DCG of the ideal ranking by cutoff, for the cutoffs computed so far.
    """

    def __init__(self, query: str, grade_by_document: Mapping[str, int], level: int) -> None:
        self.documents = list(grade_by_document)
        self.grades = list(grade_by_document.values())
        if min(self.grades) < 0:
            self.documents = [document for document, grade in grade_by_document.items() if grade >= 0]
            self.grades = [grade for grade in grade_by_document.values() if grade >= 0]
        self.has_text_ids = type(query) is str and set(map(type, self.documents)) <= {str}
        self.n_relevant = 0
        for grade in self.grades:
            if grade >= level:
                self.n_relevant += 1
        self.ideal_dcg: dict[float | None, float] = {}


class FoundDocuments(NamedTuple):
    """The judged documents that are in a ranking.

    Attributes:
        judgments: The judgments of the query.
        n_retrieved: How many documents the ranking has.
        gains: Rank and grade of each judged document, in rank order.
        relevant_ranks: The ranks of the relevant documents, ascending.
    """

    judgments: QueryJudgments
    n_retrieved: int
    gains: list[tuple[int, int]]
    relevant_ranks: list[int]

    def n_relevant_within(self, cut: float | None) -> int:
        """Return how many relevant documents are among the first."""
        if cut is None:
            return len(self.relevant_ranks)
        return bisect_right(self.relevant_ranks, cut)

    def share_of_relevant(self, amount: float) -> float:
        """Return an amount divided by the number of relevant documents."""
        return amount / max(self.judgments.n_relevant, 1)

    def average_precision(self, cut: float | None) -> float:
        """Return average precision, added one after the other as in columns."""
        total = 0.0
        for n_found, rank in enumerate(self.relevant_ranks[: self.n_relevant_within(cut)], start=1):
            total += n_found / rank
        return self.share_of_relevant(total)

    def ndcg(self, cut: float | None) -> float:
        """Return NDCG, 0 without a gain."""
        ideal_dcg = self.judgments.ideal_dcg.get(cut)
        if ideal_dcg is None:
            best_first = sorted(self.judgments.grades, reverse=True)
            ideal_dcg = _sum_discounted(enumerate(best_first, start=1), cut)
            self.judgments.ideal_dcg[cut] = ideal_dcg
        if not ideal_dcg:
            return 0.0
        return min(_sum_discounted(self.gains, cut) / ideal_dcg, 1.0)

    def r_precision(self, _: float | None) -> float:
        """Return precision at the number of relevant documents."""
        return self.share_of_relevant(self.n_relevant_within(self.judgments.n_relevant))

    def reciprocal_rank(self, _: float | None) -> float:
        """Return 1 over the first relevant rank, 0 without one."""
        return 1 / self.relevant_ranks[0] if self.relevant_ranks else 0.0


def find_documents(
    queries: Sequence[str],
    judgments_of_queries: Sequence[QueryJudgments],
    scores: Mapping[str, Mapping[str, float]],
    level: int,
) -> list[FoundDocuments]:
    """Return the judged documents in the ranking of each query."""
    documents: list[str] = []
    grades: list[int] = []
    bounds = [0]
    for judgments in judgments_of_queries:
        documents += judgments.documents
        grades += judgments.grades
        bounds.append(len(documents))
    finder = IdFinder(queries, documents, bounds, PYTREC_EVAL.order)
    found = []
    for index, query in enumerate(queries):
        ranking = scores[query]
        n_found_before = len(finder.positions)
        finder.find_in_scores(index, ranking)
        gains = []
        for found_index in range(n_found_before, len(finder.positions)):
            gains.append((finder.n_above[found_index] + 1, grades[finder.positions[found_index]]))
        gains.sort()
        relevant_ranks = [rank for rank, grade in gains if grade >= level]
        found.append(FoundDocuments(judgments_of_queries[index], len(ranking), gains, relevant_ranks))
    return found


def _sum_discounted(gains: Iterable[tuple[int, int]], cut: float | None) -> float:
    """Return the sum of the gains down to a rank, each divided by log2(rank + 1)."""
    total = 0.0
    for rank, gain in gains:
        if cut is not None and rank > cut:
            break
        discount = LOGARITHMS[rank] if rank < N_LOGARITHMS else float(np.log2(rank + 1))
        total += gain / discount
    return total


# log2(rank + 1) by rank, for the ranks that nearly all rankings have.
N_LOGARITHMS = 1001
LOGARITHMS = np.log2(np.arange(1, N_LOGARITHMS + 1)).tolist()

# The measures that single queries have without columns.
SINGLE_QUERY_MEASURES: Mapping[str, Callable[[FoundDocuments, Any], float]] = {
    "num_ret": lambda documents, _: float(documents.n_retrieved),
    "num_rel": lambda documents, _: float(documents.judgments.n_relevant),
    "num_rel_ret": lambda documents, _: float(len(documents.relevant_ranks)),
    "map": FoundDocuments.average_precision,
    "map_cut": FoundDocuments.average_precision,
    "Rprec": FoundDocuments.r_precision,
    "recip_rank": FoundDocuments.reciprocal_rank,
    "P": lambda documents, cut: documents.n_relevant_within(cut) / cut,
    "recall": lambda documents, cut: documents.share_of_relevant(documents.n_relevant_within(cut)),
    "ndcg": FoundDocuments.ndcg,
    "ndcg_cut": FoundDocuments.ndcg,
    "success": lambda documents, cut: float(documents.n_relevant_within(cut) > 0),
    "set_P": lambda documents, _: len(documents.relevant_ranks) / max(documents.n_retrieved, 1),
    "set_recall": lambda documents, _: documents.share_of_relevant(len(documents.relevant_ranks)),
}


# The measures that are no metrics of this package, as columns.


def _divide_or_zero(amount: FloatArray, total: FloatArray) -> FloatArray:
    quotient: FloatArray = amount / np.where(total > 0, total, 1.0)
    return np.where(total > 0, quotient, 0.0)


def r_precision_of_multiple(values: MeasureValues, multiple: float) -> FloatArray:
    """Return precision at a multiple of the number of relevant documents, rounded as trec_eval does."""
    cut = (multiple * values.n_relevant + 0.9).astype(np.int64)
    return _divide_or_zero(values.n_found_within(cut), cut.astype(np.float64))


def relative_precision(values: MeasureValues, cut: float) -> FloatArray:
    """Return precision at a cutoff, divided by the largest that is possible."""
    return _divide_or_zero(values.n_found_within(int(cut)), np.minimum(values.n_relevant, cut))


def f_of_sets(values: MeasureValues, weight: float) -> FloatArray:
    """Return the weighted harmonic mean of the precision and the recall of the whole ranking."""
    precision = _divide_or_zero(values.n_found, values.n_retrieved)
    recall = _divide_or_zero(values.n_found, values.n_relevant)
    return _divide_or_zero((1 + weight) * precision * recall, recall + weight * precision)


def n_judged_not_relevant(values: MeasureValues) -> FloatArray:
    """Return how many documents judged not relevant were retrieved."""
    items = values.judged.items
    is_nonrelevant = (items.grade >= 0) & (items.grade < values.level)
    return values.judged.sum_by_query(items.query[is_nonrelevant])


def inferred_average_precision(values: MeasureValues) -> FloatArray:
    """Return infAP, for which negative grades mean pooled and not judged."""
    judged = values.judged_with_pooled
    return estimate_average_precision(judged, float(values.level), judged.items.grade < 0)


def binary_gain(values: MeasureValues) -> FloatArray:
    """Return the mean over the relevant documents of 1 / log2(2 + documents not relevant above it)."""
    hits = values.judged.hits(values.level)
    n_nonrelevant_above = hits.rank - hits.ordinal
    gain = values.judged.sum_by_query(hits.query, 1 / np.log2(2 + n_nonrelevant_above))
    return _divide_or_zero(gain, values.n_relevant)


def normalised_gain(values: MeasureValues) -> FloatArray:
    """Return the gains found, each divided by log2(2 + the gain missed so far), over all gains."""
    return values.compute_by_query(_normalised_gain)


def _normalised_gain(gains: QueryGains) -> float:
    total_gain = sum(gains.ideal)
    if not total_gain:
        return 0.0
    total = 0.0
    gain_so_far = 0
    for rank, gain in gains.retrieved:
        gain_so_far += gain
        possible_gain = sum(gains.ideal[:rank]) + max(rank - len(gains.ideal), 0)
        total += gain / np.log2(2 + possible_gain - gain_so_far)
    return float(total / total_gain)


def ndcg_at_found(values: MeasureValues) -> FloatArray:
    """Return the mean NDCG at the ranks of the documents with a gain; for one that was not found, that of all ranks."""
    return values.compute_by_query(_ndcg_at_found)


def _ndcg_at_found(gains: QueryGains) -> float:
    if not gains.ideal:
        return 0.0
    at_found = [_ndcg(gains, rank) for rank, _ in gains.retrieved]
    n_missed = len(gains.ideal) - len(at_found)
    return float((sum(at_found) + n_missed * _ndcg(gains, None)) / len(gains.ideal))


def ndcg_at_levels(values: MeasureValues) -> FloatArray:
    """Return the mean NDCG over the gains, each cut off at the number of documents with that gain or more."""

    def compute(gains: QueryGains) -> float:
        if not values.n_relevant[gains.query]:
            return 0.0
        cuts: list[int | None] = []
        for gain in sorted(set(gains.ideal), reverse=True):
            cuts.append(sum(other_gain >= gain for other_gain in gains.ideal))
        if values.n_retrieved[gains.query] > len(gains.ideal) + 1:
            cuts.append(None)
        return float(np.mean([_ndcg(gains, cut) for cut in cuts]))

    return values.compute_by_query(compute)


def _ndcg(gains: QueryGains, cut: int | None) -> float:
    found_within_cut = [(rank, gain) for rank, gain in gains.retrieved if cut is None or rank <= cut]
    ideal_within_cut = list(enumerate(gains.ideal, start=1))[:cut]
    return _dcg(found_within_cut) / _dcg(ideal_within_cut)


def _dcg(gains: list[tuple[int, int]]) -> float:
    return float(sum(gain / np.log2(rank + 1) for rank, gain in gains))


COLUMN_BY_PARAMETER_MEASURE: dict[str, Callable[[MeasureValues, float], FloatArray]] = {
    "iprec_at_recall": MeasureValues.interpolated_precision,
    "Rprec_mult": r_precision_of_multiple,
    "relative_P": relative_precision,
    "set_F": f_of_sets,
}
COLUMN_BY_MEASURE: dict[str, Callable[[MeasureValues], FloatArray]] = {
    "num_q": lambda values: np.ones(values.judged.n_queries),
    "num_ret": lambda values: values.n_retrieved,
    "num_rel": lambda values: values.n_relevant,
    "num_rel_ret": lambda values: values.n_found,
    "infAP": inferred_average_precision,
    "11pt_avg": lambda values: values.interpolated_precision(None),
    "utility": lambda values: values.n_found - (values.n_retrieved - values.n_found),
    "set_relative_P": lambda values: _divide_or_zero(values.n_found, np.minimum(values.n_relevant, values.n_retrieved)),
    "set_map": lambda values: _divide_or_zero(values.n_found**2, values.n_retrieved * values.n_relevant),
    "num_nonrel_judged_ret": n_judged_not_relevant,
    "binG": binary_gain,
    "G": normalised_gain,
    "ndcg_rel": ndcg_at_found,
    "Rndcg": ndcg_at_levels,
}
