"""The lines that trec_eval prints: its names, its order, its counts."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.definition.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from retrieval_metrics.aliases import FloatArray, IntArray
    from retrieval_metrics.results.scores import Scores

COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
MEASURES = ("gm_map", "iprec_at_recall")
OF_TREC_EVAL = (*COUNTS, *MEASURES)
"""What only these lines hold, beside metrics."""
LEVELS = tuple(at / 10 for at in range(11))
LEAST = 1e-5
"""The average precision of which the geometric mean takes the logarithm is at least this."""
CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OFFICIAL = (
    *(*COUNTS, "map", "gm_map", "r_precision", "bpref", "mrr", "iprec_at_recall"),
    *(f"precision@{k}" for k in CUTS),
)
"""What trec_eval prints if nothing else is asked for, in its order."""

WHOLE = {
    "map": "map",
    "r_precision": "Rprec",
    "bpref": "bpref",
    "mrr": "recip_rank",
    "ndcg": "ndcg",
    "precision": "set_P",
    "recall": "set_recall",
    "f1": "set_F",
}
CUT = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "map": "map_cut", "hit_rate": "success"}
ORDER = (
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P", "recall", "ndcg", "ndcg_cut", "map_cut", "success", "set_P", "set_recall", "set_F"),
)


class TrecEvalLine(NamedTuple):
    """A measure of all queries.

    Attributes:
        name: Its name in trec_eval.
        per_query: Its values, or None if it is none of single queries.
        of_all: Its value for all queries.
    """

    name: str
    per_query: FloatArray | IntArray | None
    of_all: float | str


def named(asked: Sequence[Metric | str]) -> list[Metric | str]:
    """Return what to print, `official` as what it stands for, in the order of trec_eval."""
    wanted = [each for one in asked for each in (OFFICIAL if one == "official" else (one,))]
    parsed = [one if one in OF_TREC_EVAL else Metric.parse(str(one)) for one in dict.fromkeys(wanted)]
    return sorted(dict.fromkeys(parsed), key=_place)


def _place(one: Metric | str) -> tuple[int, float]:
    name = trec_name(one) if isinstance(one, Metric) else one
    known = name if name in ORDER else name.rpartition("_")[0]
    cut = one.k if isinstance(one, Metric) and isinstance(one.k, int) else 0
    return (ORDER.index(known) if known in ORDER else len(ORDER)), cut


def trec_name(metric: Metric) -> str:
    """Return the name of a metric in trec_eval, whose relevance level is an option; its own if it has none there."""
    if any(name != "rel" for name, _ in metric.parameters) or not (metric.k is None or isinstance(metric.k, int)):
        return str(metric)
    if metric.k is None:
        return WHOLE.get(metric.name, str(metric))
    return f"{CUT[metric.name]}_{metric.k}" if metric.name in CUT else str(metric)


def text_of(scores: Scores, asked: Sequence[Metric | str], name: str, level: int, *, per_query: bool) -> str:
    """Return the lines of a run.

    Args:
        scores: Its scores, with a column for each metric asked for, and one for map if its geometric mean is.
        asked: What to print, from `named`.
        name: The name of the run.
        level: The lowest relevant grade.
        per_query: Whether to print single queries too.
    """
    order = sorted(range(len(scores.queries)), key=lambda at: str(scores.queries[at]).encode())
    lines = [line for one in asked for line in _lines(scores, one, name, level, order)]
    rows: list[str] = []
    for at, row in enumerate(order if per_query else ()):
        query = str(scores.queries[row])
        rows += [_row(line.name, query, line.per_query[at]) for line in lines if line.per_query is not None]
    return "\n".join([*rows, *(_row(line.name, "all", line.of_all) for line in lines)])


def _row(name: str, query: str, value: Any) -> str:
    shown = value if isinstance(value, str) else f"{value:d}" if name.startswith("num_") else f"{value:6.4f}"
    return f"{name:<22}\t{query}\t{shown}"


def _lines(scores: Scores, one: Metric | str, name: str, level: int, order: list[int]) -> Iterator[TrecEvalLine]:
    kept, judged = scores.positions[order], scores.needed_origin("counted").judged
    if isinstance(one, Metric):
        column = _values(scores, one)[order]
        yield TrecEvalLine(trec_name(one), column, _mean(column))
    elif one == "runid":
        yield TrecEvalLine(one, None, name)
    elif one == "num_q":
        yield TrecEvalLine(one, None, len(scores.queries))
    elif one == "gm_map":
        column = np.maximum(_values(scores, map_at(level))[order], LEAST)
        yield TrecEvalLine(one, None, exp(_mean(np.log(column))))
    elif one == "iprec_at_recall":
        for recall in LEVELS:
            column = _interpolated(scores, recall, level)[kept]
            yield TrecEvalLine(f"iprec_at_recall_{recall:.2f}", column, _mean(column))
    else:
        of_query = {
            "num_ret": judged.n_retrieved,
            "num_rel": judged.n_relevant(level),
            "num_rel_ret": judged.per_query(judged.hits(level).query),
        }[one]
        counts = of_query[kept].astype(np.int64)
        yield TrecEvalLine(one, counts, int(counts.sum()))


def map_at(level: int) -> Metric:
    """Return average precision at a relevance level."""
    found: Metric = at_level(Metric.parse("map"), level)
    return found


def at_level(metric: Any, level: int) -> Any:
    """Return a metric at a relevance level, if it has one, and says none itself."""
    if level == 1 or not isinstance(metric, Metric) or "rel" in dict(metric.parameters):
        return metric
    try:
        return Metric.of(metric.name, metric.k, **dict(metric.parameters), rel=level)
    except (TypeError, ValueError):  # graded metrics have no level
        return metric


def _values(scores: Scores, metric: Metric) -> FloatArray:
    """Return the values of a metric, shape (queries,), 0 where it is undefined."""
    return np.nan_to_num(scores.values[:, scores.metrics.index(metric)])


def _mean(column: FloatArray) -> float:
    """Return the mean of a column, summed as trec_eval does it, one after the other."""
    return float(np.cumsum(column)[-1]) / len(column) if len(column) else 0.0


def _interpolated(scores: Scores, recall: float, level: int) -> FloatArray:
    """Return the largest precision at this recall or more, shape (judged queries,); 0 where it is not reached."""
    judged = scores.needed_origin("counted").judged
    hits, needed = judged.hits(level), judged.n_relevant(level)
    reached = hits.ordinal >= (needed * recall + 0.9).astype(np.int64)[hits.query]
    found = np.zeros(judged.n_queries)
    np.maximum.at(found, hits.query[reached], (hits.ordinal / hits.rank)[reached])
    return found
