"""The lines that trec_eval 10.0 prints: its names, its order, its counts."""

from __future__ import annotations

from functools import partial
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics import pytrec_eval as of_trec_eval
from retrieval_metrics.metrics.base.rules import TREC_EVAL
from retrieval_metrics.pytrec_eval import METRIC_BY_MEASURE, MeasureValues, measure_keys, supported_nicknames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retrieval_metrics.matching.judged_run import JudgedRun

ONLY_OF_ALL = ("runid", "num_q", "gm_map", "gm_bpref")
"""Measures without values of single queries."""
FIRST = 10
"""How many documents `relstring` shows."""
CUT = {metric: name for name, metric in METRIC_BY_MEASURE.items() if name in of_trec_eval.DEFAULTS}
WHOLE = {metric: name for name, metric in METRIC_BY_MEASURE.items() if name not in of_trec_eval.DEFAULTS} | {
    "f1": "set_F"
}
"""The names in trec_eval of metrics with a cut-off, and of those without."""
APART = {"infAP", "rbp"}
"""Measures that differ from our metrics of their names: by negative grades, which are pooled and not judged, and p."""
ORDER = (*of_trec_eval.ORDER, "rbp", "rbp_resid", "unj")
"""The measures of version 10."""
measures_in = partial(of_trec_eval.asked, order=ORDER)


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
        (measure,) = measures_in({name})
    except ValueError:
        return False
    return measure in APART or not is_known_metric(name)


def is_known_metric(name: str) -> bool:
    """Return whether a metric of ours has this name, in any spelling."""
    try:
        rm.Metric.parse(name)
    except ValueError:
        return False
    return True


def select_measures(names: Sequence[str]) -> list[rm.Metric | str]:
    """Return what to print in the order of trec_eval: metrics, and the texts of measures that only trec_eval has."""
    found = [each for one in names for each in (_measures_of(one) if one in _SEVERAL else [one])]
    parsed = [one if is_trec_eval_only(one) else rm.Metric.parse(one) for one in found]
    return sorted(dict.fromkeys(parsed), key=_place)


_SEVERAL = {*supported_nicknames, *of_trec_eval.DEFAULTS}
"""Names that stand for several values: nicknames, and measures that have usual cut-offs, such as `P`."""


def _measures_of(name: str) -> list[str]:
    """Return the measures that a name stands for, those with cut-offs one by one."""
    return [
        key
        for measure, parameters in measures_in({name}).items()
        for key in (measure_keys(measure, parameters) if measure in METRIC_BY_MEASURE else [measure])
    ]


def _place(one: rm.Metric | str) -> tuple[int, float]:
    name = trec_name(one) if isinstance(one, rm.Metric) else one
    try:
        ((measure, parameters),) = measures_in({name}).items()
    except ValueError:  # a metric that trec_eval does not have
        return len(ORDER), 0
    return ORDER.index(measure), parameters[0] if parameters else 0


def trec_name(metric: rm.Metric) -> str:
    """Return the name of a metric in trec_eval, whose relevance level is an option; its own if it has none there."""
    if any(name != "rel" for name, _ in metric.parameters) or not (metric.k is None or isinstance(metric.k, int)):
        return str(metric)
    if metric.k is None:
        return WHOLE.get(metric.name, str(metric))
    return f"{CUT[metric.name]}_{metric.k}" if metric.name in CUT else str(metric)


def format_trec_eval(
    scores: rm.types.Scores,
    asked: Sequence[rm.Metric | str],
    name: str,
    level: int,
    *,
    with_pooled: Callable[[], JudgedRun],
    per_query: bool,
    summary: bool,
) -> str:
    """Return the lines of a run."""
    order = sorted(range(len(scores.queries)), key=lambda at: str(scores.queries[at]).encode())
    origin = scores.require_origin("counted")
    judged, condensed = origin.judged, scores.rules.unjudged == "condensed"
    counted = judged.condensed() if condensed else judged
    # With -J, what is pooled and not judged is taken out too.
    values = ValuesOf10(counted, level, (lambda: counted) if condensed else with_pooled, TREC_EVAL)
    # Under -c, trec_eval takes a query that is not in the run for one with a document that is not judged.
    in_run = np.array([condensed or scores.queries[at] in origin.run for at in order])
    lines = [line for one in asked for line in _lines(scores, values, one, order, in_run)]
    lines = [line._replace(mean_value=name) if line.name == "runid" else line for line in lines]
    rows: list[str] = []
    for at, number in enumerate(order) if per_query else ():
        query = str(scores.queries[number])
        rows += [_row(line.name, query, line.per_query[at]) for line in lines if line.per_query is not None]
    of_all = lines if summary else ()
    return "\n".join([*rows, *(_row(line.name, "all", line.mean_value) for line in of_all if line.mean_value != "")])


def _row(name: str, query: str, value: Any) -> str:
    shown = value if isinstance(value, str) else f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}"
    return f"{name:<22}\t{query}\t{shown}"


def _lines(
    scores: rm.types.Scores, values: ValuesOf10, one: rm.Metric | str, order: list[int], in_run: rm.types.BoolArray
) -> Iterator[TrecEvalLine]:
    kept = scores.positions[order]
    if isinstance(one, rm.Metric):
        column = np.nan_to_num(scores.column(one))[order]
        yield TrecEvalLine(trec_name(one), column.tolist(), _mean(column))
    elif one == "runid":
        yield TrecEvalLine(one, None, "")
    elif one == "relstring":
        shown = _first_grades(values.places)
        yield TrecEvalLine(one, [shown[at] for at in kept.tolist()], "")
    else:
        for key, column in values.of(measures_in({one})).items():
            of_queries = np.where(in_run, column[kept], np.nan_to_num(column[kept]))  # of one that is not, 0/0 is 0
            total = float(of_queries.sum()) if key.startswith("num_") else _mean(of_queries)
            if key == "num_rel" and scores.rules.missing == "zero":  # counted in the judgments, whatever -l says
                total = float((values.judged.qrels.document_grade > 0).sum())
            of_all = exp(total) if key.startswith("gm_") else total
            name = one.replace(".", "_", 1) if key == "set_F" else key  # with the weight as it was typed
            yield TrecEvalLine(name, None if one in ONLY_OF_ALL else of_queries.tolist(), of_all)


def _first_grades(judged: JudgedRun) -> list[str]:
    """Return the grades of the first documents of each query, a character each: `-` unjudged, `.` pooled only."""
    shown = [["-"] * n for n in np.minimum(judged.n_retrieved, FIRST).tolist()]
    early = judged.items.rank <= FIRST
    columns = (judged.items.query, judged.items.rank, judged.items.grade)
    for query, rank, grade in zip(*(column[early].tolist() for column in columns), strict=True):
        shown[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else f"{grade:.0f}"
    return [f"'{''.join(characters)}'" for characters in shown]


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

PERSISTENCE = 0.9
"""The probability of looking at the next document."""


def _powers(values: MeasureValues) -> rm.types.FloatArray:
    """Return the weight of each rank, multiplied one after the other as in trec_eval."""
    return np.cumprod(np.append(1.0, np.full(int(values.retrieved.max(initial=0)), PERSISTENCE)))


def biased_precision(values: MeasureValues) -> rm.types.FloatArray:
    """Return rank-biased precision; grades above 1 are divided by the largest of the query."""
    qrels, hits = values.judged.qrels, values.judged.hits()
    largest = np.ones(values.judged.n_queries)
    np.maximum.at(largest, qrels.document_query, qrels.document_grade)
    weight = _powers(values)[hits.rank - 1]
    return (1 - PERSISTENCE) * values.judged.sum_by_query(hits.query, hits.grade / largest[hits.query] * weight)


def biased_residual(values: MeasureValues) -> rm.types.FloatArray:
    """Return how much of rank-biased precision is unknown; 0 if every document retrieved is judged, or none is."""
    items, powers = values.judged.items, _powers(values)
    known = items.grade >= 0
    query, rank = items.query[known], items.rank[known]
    whole = values.judged.n_retrieved == values.judged.sum_by_query(query)
    return np.where(whole, 0.0, 1 - (1 - PERSISTENCE) * values.judged.sum_by_query(query, powers[rank - 1]))


def share_unjudged(values: MeasureValues, cut: float) -> rm.types.FloatArray:
    """Return how many of the first documents are not judged, over the cut-off."""
    items = values.judged.items
    known = (items.grade >= 0) & (items.rank <= cut)
    return (np.minimum(values.retrieved, cut) - values.judged.sum_by_query(items.query[known])) / cut


class ValuesOf10(MeasureValues):
    """The values of the measures of version 10."""

    def _column(self, measure: str, parameter: float | None) -> rm.types.FloatArray:
        if measure == "unj" and parameter is not None:
            return share_unjudged(self, parameter)
        if measure in {"rbp", "rbp_resid"}:
            return biased_precision(self) if measure == "rbp" else biased_residual(self)
        return super()._column(measure, parameter)
