"""Print a run as trec_eval 10.0 does: the same measures, names, order and digits."""

from __future__ import annotations

from functools import partial
from math import exp
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

import retrieval_metrics as rm
from retrieval_metrics import pytrec_eval
from retrieval_metrics.cli.trec_eval_measures import Version10Values
from retrieval_metrics.metrics.base.rules import TREC_EVAL
from retrieval_metrics.pytrec_eval import METRIC_BY_MEASURE, measure_keys, supported_nicknames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import IntArray
    from retrieval_metrics.matching.judged_run import JudgedRun

# Measures without values of single queries.
SUMMARY_ONLY = ("runid", "num_q", "gm_map", "gm_bpref")
# How many documents `relstring` shows.
RELSTRING_LENGTH = 10
# The largest grade that `relstring` shows as a digit.
MAX_DIGIT = 9
# The names in trec_eval of metrics with a cutoff, and of those without.
NAME_WITH_CUTOFF: dict[str, str] = {}
NAME_WITHOUT_CUTOFF: dict[str, str] = {}
for _measure, _metric in METRIC_BY_MEASURE.items():
    if _measure in pytrec_eval.DEFAULTS:
        NAME_WITH_CUTOFF[_metric] = _measure
    else:
        NAME_WITHOUT_CUTOFF[_metric] = _measure
NAME_WITHOUT_CUTOFF["f1"] = "set_F"
# Measures that differ from our metrics of the same names: infAP takes negative grades as pooled but not judged, and
# rbp has another persistence.
DIFFERENT_MEASURES = {"infAP", "rbp"}
# The measures of version 10, in the order in which they are printed.
ORDER = (*pytrec_eval.ORDER, "rbp", "rbp_resid", "unj")
read_measures = partial(pytrec_eval.parse_measures, order=ORDER)
# Names that stand for several values: nicknames, and measures with several usual cutoffs, such as `P`.
_NAMES_OF_SEVERAL = {*supported_nicknames, *pytrec_eval.DEFAULTS}


class TrecEvalLine(NamedTuple):
    """What is printed of one measure.

    Attributes:
        name: Its name in trec_eval.
        per_query: The value of each query, in the order of the lines; None if only the summary is printed.
        summary: The value for all queries; None if only single queries are printed.
    """

    name: str
    per_query: Sequence[float | str] | None
    summary: float | str | None


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
        single_names = _expand(name) if name in _NAMES_OF_SEVERAL else [name]
        for single_name in single_names:
            measure = single_name if is_trec_eval_only(single_name) else rm.Metric.parse(single_name)
            measures[measure] = None
    return sorted(measures, key=_sort_key)


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
    """Return the place of a measure in the order of trec_eval, and its cutoff; other metrics come last."""
    name = trec_name(metric_or_measure) if isinstance(metric_or_measure, rm.Metric) else metric_or_measure
    try:
        ((measure, parameters),) = read_measures({name}).items()
    except ValueError:  # a metric that trec_eval does not have
        return len(ORDER), 0
    return ORDER.index(measure), parameters[0] if parameters else 0


def trec_name(metric: rm.Metric) -> str:
    """Return the name of a metric in trec_eval, or its own name if trec_eval does not have it.

    The relevance level is no part of the name, because it is an option in trec_eval.
    """
    has_other_parameters = any(name != "rel" for name, _ in metric.parameters)
    has_whole_cutoff = metric.k is None or isinstance(metric.k, int)
    if has_other_parameters or not has_whole_cutoff:
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
    """Return the lines of a run.

    Args:
        scores: The scores of the run.
        measures: What to print, in order: metrics, and the names of measures that only trec_eval has.
        run_name: The name of the run, which `runid` prints.
        level: The lowest relevant grade.
        with_pooled: Judges the run with negative grades as pooled documents, where a measure needs them.
        per_query: Print lines of single queries.
        summary: Print lines for all queries.
    """
    order = sorted(range(len(scores.queries)), key=lambda row: str(scores.queries[row]).encode())
    origin = scores.require_origin("counted")
    is_condensed = scores.rules.unjudged == "condensed"
    if is_condensed:  # -J also removes documents that are pooled but not judged
        judged = origin.judged.condensed()
        values = Version10Values(judged, level, lambda: judged, TREC_EVAL)
    else:
        values = Version10Values(origin.judged, level, with_pooled, TREC_EVAL)
    # With -c, trec_eval treats a query that is not in the run as if one unjudged document was retrieved for it.
    in_run = np.array([is_condensed or scores.queries[row] in origin.run for row in order])
    lines: list[TrecEvalLine] = []
    for measure in measures:
        lines += _measure_lines(scores, values, measure, run_name, order, in_run)
    rows: list[str] = []
    if per_query:
        for position, row in enumerate(order):
            query = str(scores.queries[row])
            rows += [_format_row(line.name, query, line.per_query[position]) for line in lines if line.per_query]
    if summary:
        for line in lines:
            if line.summary is not None:
                rows.append(_format_row(line.name, "all", line.summary))
    return "\n".join(rows)


def _format_row(name: str, query: str, value: float | str) -> str:
    if isinstance(value, str):
        text = value
    elif name.startswith("num_"):
        text = f"{value:.0f}"
    else:
        text = f"{value:6.4f}"
    return f"{name:<22}\t{query}\t{text}"


def _measure_lines(
    scores: rm.types.Scores,
    values: Version10Values,
    measure: rm.Metric | str,
    run_name: str,
    order: list[int],
    in_run: rm.types.BoolArray,
) -> Iterator[TrecEvalLine]:
    """Yield the lines of a measure: one, or several for a measure with several cutoffs."""
    positions = scores.positions[order]
    if isinstance(measure, rm.Metric):
        column = np.nan_to_num(scores.column(measure))[order]
        yield TrecEvalLine(trec_name(measure), column.tolist(), _mean(column))
    elif measure == "runid":
        yield TrecEvalLine(measure, None, run_name or None)
    elif measure == "relstring":
        grades = _first_grades(values.judged_with_pooled)
        yield TrecEvalLine(measure, [grades[position] for position in positions.tolist()], None)
    else:
        yield from _column_lines(scores, values, measure, positions, in_run)


def _column_lines(
    scores: rm.types.Scores,
    values: Version10Values,
    measure: str,
    positions: IntArray,
    in_run: rm.types.BoolArray,
) -> Iterator[TrecEvalLine]:
    """Yield the lines of a measure that only trec_eval has."""
    for key, whole_column in values.columns(read_measures({measure})).items():
        column = whole_column[positions]
        # 0/0 is 0 for a query that is not in the run.
        column = np.where(in_run, column, np.nan_to_num(column))
        name = key
        # The weight stays as it was typed.
        if key == "set_F":
            name = measure.replace(".", "_", 1)
        per_query = None if measure in SUMMARY_ONLY else column.tolist()
        yield TrecEvalLine(name, per_query, _summarize_column(key, column, scores, values))


def _summarize_column(key: str, column: rm.types.FloatArray, scores: rm.types.Scores, values: Version10Values) -> float:
    """Return the value of a measure for all queries: a sum, a geometric mean or a mean, as its name says."""
    # With -c, the relevant documents are counted in the judgments, whatever -l says.
    if key == "num_rel" and scores.rules.missing == "zero":
        return float((values.judged.qrels.document_grade > 0).sum())
    if key.startswith("num_"):
        return float(column.sum())
    if key.startswith("gm_"):
        return exp(_mean(column))
    return _mean(column)


def _first_grades(judged: JudgedRun) -> list[str]:
    """Return the grades of the first documents of each query as a text, with one character for each document.

    `-` is an unjudged document, `.` one that is pooled but not judged, and `>` a grade above 9.
    """
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
    if grade > MAX_DIGIT:
        return ">"
    return f"{grade:.0f}"


@overload
def with_relevance_level(metric: rm.Metric, level: int) -> rm.Metric: ...


@overload
def with_relevance_level(metric: str, level: int) -> str: ...


def with_relevance_level(metric: rm.Metric | str, level: int) -> rm.Metric | str:
    """Return a metric with a relevance level, if it can have one and does not set its own."""
    if level == 1 or isinstance(metric, str) or "rel" in dict(metric.parameters):
        return metric
    try:
        return rm.Metric(metric.name, metric.k, **dict(metric.parameters), rel=level)
    except (TypeError, ValueError):  # graded metrics have no level
        return metric


def _mean(column: rm.types.FloatArray) -> float:
    """Return the mean of a column, summed one value after the other as trec_eval does."""
    return float(np.cumsum(column)[-1]) / len(column) if len(column) else 0.0
