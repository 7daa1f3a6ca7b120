"""The lines that trec_eval 10.0 prints: its names, its order, its counts."""

from __future__ import annotations

from functools import partial
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics import pytrec_eval
from retrieval_metrics.metrics.base.rules import TREC_EVAL
from retrieval_metrics.pytrec_eval import METRIC_BY_MEASURE, MeasureValues, measure_keys, supported_nicknames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retrieval_metrics.matching.judged_run import JudgedRun

# Measures without values of single queries.
SUMMARY_ONLY = ("runid", "num_q", "gm_map", "gm_bpref")
# How many documents `relstring` shows.
RELSTRING_LENGTH = 10
# The names in trec_eval of metrics with a cutoff, and of those without.
NAME_WITH_CUTOFF: dict[str, str] = {}
NAME_WITHOUT_CUTOFF: dict[str, str] = {}
for _measure, _metric in METRIC_BY_MEASURE.items():
    if _measure in pytrec_eval.DEFAULTS:
        NAME_WITH_CUTOFF[_metric] = _measure
    else:
        NAME_WITHOUT_CUTOFF[_metric] = _measure
NAME_WITHOUT_CUTOFF["f1"] = "set_F"
# Measures that differ from our metrics of their names: by negative grades, which are pooled and not judged, and p.
DIFFERENT_MEASURES = {"infAP", "rbp"}
# The measures of version 10.
ORDER = (*pytrec_eval.ORDER, "rbp", "rbp_resid", "unj")
read_measures = partial(pytrec_eval.parse_measures, order=ORDER)


class TrecEvalLine(NamedTuple):
    """A measure of all queries.

    Attributes:
        name: Its name in trec_eval.
        per_query: What is printed of single queries, or None if nothing is.
        mean_value: What is printed of all queries; an empty text if nothing is.
    """

    name: str
    per_query: Sequence[Any] | None
    mean_value: float | str


def is_trec_eval_only(name: str) -> bool:
    """Return whether a name is a nickname or a measure of trec_eval that is none of our metrics."""
    if name in supported_nicknames:
        return True
    try:
        (measure,) = read_measures({name})
    except ValueError:
        return False
    return measure in DIFFERENT_MEASURES or not is_known_metric(name)


def is_known_metric(name: str) -> bool:
    """Return whether a metric of ours has this name, in any spelling."""
    try:
        rm.Metric.parse(name)
    except ValueError:
        return False
    return True


def select_measures(names: Sequence[str]) -> list[rm.Metric | str]:
    """Return what to print in the order of trec_eval: metrics, and the texts of measures that only trec_eval has."""
    measures: dict[rm.Metric | str, None] = {}
    for name in names:
        for single_name in _expand(name) if name in _SEVERAL_VALUES else [name]:
            measure = single_name if is_trec_eval_only(single_name) else rm.Metric.parse(single_name)
            measures[measure] = None
    return sorted(measures, key=_sort_key)


# Names that stand for several values: nicknames, and measures that have usual cutoffs, such as `P`.
_SEVERAL_VALUES = {*supported_nicknames, *pytrec_eval.DEFAULTS}


def _expand(name: str) -> list[str]:
    """Return the measures that a name stands for, those with cutoffs one by one."""
    keys: list[str] = []
    for measure, parameters in read_measures({name}).items():
        if measure in METRIC_BY_MEASURE:
            keys += measure_keys(measure, parameters)
        else:
            keys.append(measure)
    return keys


def _sort_key(metric_or_measure: rm.Metric | str) -> tuple[int, float]:
    name = trec_name(metric_or_measure) if isinstance(metric_or_measure, rm.Metric) else metric_or_measure
    try:
        ((measure, parameters),) = read_measures({name}).items()
    except ValueError:  # a metric that trec_eval does not have
        return len(ORDER), 0
    return ORDER.index(measure), parameters[0] if parameters else 0


def trec_name(metric: rm.Metric) -> str:
    """Return the name of a metric in trec_eval, whose relevance level is an option; its own if it has none there."""
    if any(name != "rel" for name, _ in metric.parameters) or not (metric.k is None or isinstance(metric.k, int)):
        return str(metric)
    if metric.k is None:
        return NAME_WITHOUT_CUTOFF.get(metric.name, str(metric))
    if metric.name in NAME_WITH_CUTOFF:
        return f"{NAME_WITH_CUTOFF[metric.name]}_{metric.k}"
    return str(metric)


def format_trec_eval(
    scores: rm.types.Scores,
    measures: Sequence[rm.Metric | str],
    run_name: str,
    level: int,
    *,
    with_pooled: Callable[[], JudgedRun],
    per_query: bool,
    summary: bool,
) -> str:
    """Return the lines of a run."""
    order = sorted(range(len(scores.queries)), key=lambda row: str(scores.queries[row]).encode())
    origin = scores.require_origin("counted")
    is_condensed = scores.rules.unjudged == "condensed"
    if is_condensed:  # with -J, what is pooled and not judged is taken out too
        judged = origin.judged.condensed()
        values = ValuesOf10(judged, level, lambda: judged, TREC_EVAL)
    else:
        values = ValuesOf10(origin.judged, level, with_pooled, TREC_EVAL)
    # Under -c, trec_eval takes a query that is not in the run for one with a document that is not judged.
    in_run = np.array([is_condensed or scores.queries[row] in origin.run for row in order])
    lines: list[TrecEvalLine] = []
    for measure in measures:
        lines += _lines(scores, values, measure, order, in_run)
    rows: list[str] = []
    if per_query:
        for position, row in enumerate(order):
            query = str(scores.queries[row])
            rows += [_format_row(line.name, query, line.per_query[position]) for line in lines if line.per_query]
    if summary:
        for line in lines:
            value = run_name if line.name == "runid" else line.mean_value
            if value != "":
                rows.append(_format_row(line.name, "all", value))
    return "\n".join(rows)


def _format_row(name: str, query: str, value: Any) -> str:
    if isinstance(value, str):
        text = value
    elif name.startswith("num_"):
        text = f"{value:.0f}"
    else:
        text = f"{value:6.4f}"
    return f"{name:<22}\t{query}\t{text}"


def _lines(
    scores: rm.types.Scores,
    values: ValuesOf10,
    measure: rm.Metric | str,
    order: list[int],
    in_run: rm.types.BoolArray,
) -> Iterator[TrecEvalLine]:
    positions = scores.positions[order]
    if isinstance(measure, rm.Metric):
        column = np.nan_to_num(scores.column(measure))[order]
        yield TrecEvalLine(trec_name(measure), column.tolist(), _mean(column))
    elif measure == "runid":
        yield TrecEvalLine(measure, None, "")
    elif measure == "relstring":
        grades = _first_grades(values.judged_with_pooled)
        yield TrecEvalLine(measure, [grades[position] for position in positions.tolist()], "")
    else:
        for key, whole_column in values.columns(read_measures({measure})).items():
            column = whole_column[positions]
            column = np.where(in_run, column, np.nan_to_num(column))  # of a query that is not, 0/0 is 0
            mean = float(column.sum()) if key.startswith("num_") else _mean(column)
            if key == "num_rel" and scores.rules.missing == "zero":  # counted in the judgments, whatever -l says
                mean = float((values.judged.qrels.document_grade > 0).sum())
            if key.startswith("gm_"):
                mean = exp(mean)
            name = measure.replace(".", "_", 1) if key == "set_F" else key  # with the weight as it was typed
            yield TrecEvalLine(name, None if measure in SUMMARY_ONLY else column.tolist(), mean)


def _first_grades(judged: JudgedRun) -> list[str]:
    """Return the grades of the first documents of each query, a character each: `-` unjudged, `.` pooled only."""
    lengths = np.minimum(judged.n_retrieved, RELSTRING_LENGTH)
    characters = [["-"] * length for length in lengths.tolist()]
    is_shown = judged.items.rank <= RELSTRING_LENGTH
    queries = judged.items.query[is_shown].tolist()
    ranks = judged.items.rank[is_shown].tolist()
    grades = judged.items.grade[is_shown].tolist()
    for query, rank, grade in zip(queries, ranks, grades, strict=True):
        characters[query][rank - 1] = _grade_character(grade)
    return [f"'{''.join(text)}'" for text in characters]


def _grade_character(grade: float) -> str:
    if grade < 0:
        return "."
    return ">" if grade > 9 else f"{grade:.0f}"


def with_relevance_level(metric: Any, level: int) -> Any:
    """Return a metric at a relevance level, if it has one, and says none itself."""
    if level == 1 or not isinstance(metric, rm.Metric) or "rel" in dict(metric.parameters):
        return metric
    try:
        return rm.Metric(metric.name, metric.k, **dict(metric.parameters), rel=level)
    except (TypeError, ValueError):  # graded metrics have no level
        return metric


def _mean(column: rm.types.FloatArray) -> float:
    """Return the mean of a column, summed as trec_eval does it, one after the other."""
    return float(np.cumsum(column)[-1]) / len(column) if len(column) else 0.0


# What version 10 adds: rank-biased precision with p = .9, and how much is not judged.

# The probability of looking at the next document.
PERSISTENCE = 0.9


def _rank_weights(values: MeasureValues) -> rm.types.FloatArray:
    """Return the weight of each rank, multiplied one after the other as in trec_eval."""
    return np.cumprod(np.append(1.0, np.full(int(values.n_retrieved.max(initial=0)), PERSISTENCE)))


def biased_precision(values: MeasureValues) -> rm.types.FloatArray:
    """Return rank-biased precision; grades above 1 are divided by the largest of the query."""
    qrels = values.judged.qrels
    hits = values.judged.hits()
    largest = np.ones(values.judged.n_queries)
    np.maximum.at(largest, qrels.document_query, qrels.document_grade)
    weight = _rank_weights(values)[hits.rank - 1]
    return (1 - PERSISTENCE) * values.judged.sum_by_query(hits.query, hits.grade / largest[hits.query] * weight)


def biased_residual(values: MeasureValues) -> rm.types.FloatArray:
    """Return how much of rank-biased precision is unknown; 0 if every document retrieved is judged, or none is."""
    judged = values.judged
    is_judged = judged.items.grade >= 0
    query = judged.items.query[is_judged]
    weight = _rank_weights(values)[judged.items.rank[is_judged] - 1]
    is_fully_judged = judged.n_retrieved == judged.sum_by_query(query)
    return np.where(is_fully_judged, 0.0, 1 - (1 - PERSISTENCE) * judged.sum_by_query(query, weight))


def share_unjudged(values: MeasureValues, cutoff: float) -> rm.types.FloatArray:
    """Return how many of the first documents are not judged, over the cutoff."""
    items = values.judged.items
    is_judged = (items.grade >= 0) & (items.rank <= cutoff)
    n_judged = values.judged.sum_by_query(items.query[is_judged])
    return (np.minimum(values.n_retrieved, cutoff) - n_judged) / cutoff


class ValuesOf10(MeasureValues):
    """The values of the measures of version 10."""

    def _column(self, measure: str, parameter: float | None) -> rm.types.FloatArray:
        if measure == "unj" and parameter is not None:
            return share_unjudged(self, parameter)
        if measure in {"rbp", "rbp_resid"}:
            return biased_precision(self) if measure == "rbp" else biased_residual(self)
        return super()._column(measure, parameter)
