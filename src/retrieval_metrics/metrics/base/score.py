"""From a judged run, a metric and rules to values: of a run, of an ideal run, of one ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import format_argument, integer
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.matching.ids import judge_by_id
from retrieval_metrics.matching.judged_run import Items, JudgedRun, is_relevant, ordinals
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.validation import BoolArray, FloatArray, Gains
    from retrieval_metrics.metrics.base.definition import Definition
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.statistics.means import Sums


class MetricValues(NamedTuple):
    """One metric of every query.

    Attributes:
        values: Shape (queries,); NaN where the metric is undefined.
        lowest: Shape (queries,), the smallest value over all orders of equal scores; None unless ties="expected".
        highest: Shape (queries,), the largest, likewise.
        residual: Shape (queries,), by how much unjudged and unseen documents could raise each value; None if the metric
            has no residual.
    """

    values: FloatArray
    lowest: FloatArray | None
    highest: FloatArray | None
    residual: FloatArray | None


def score(judged: JudgedRun, metric: Metric, rules: Rules) -> MetricValues:
    """Return a metric of every query under a rule set."""
    parameters, rules, k = parameters_of(metric, rules), rules.of(metric.name), judged.cutoff(metric.k)
    definition, judged = metric.definition, judged.with_duplicate_rule(rules.duplicates)
    if rules.unjudged == "condensed" and not definition.keeps_unjudged_places:
        if isinstance(k, np.ndarray):
            raise ValueError(f"{metric}: a budget counts everything retrieved, so unjudged documents cannot be removed")
        judged = judged.condensed()
    values = _settled(definition.score(judged, k=k, **parameters), judged, metric, parameters, rules)
    residual = None if definition.residual is None else definition.residual(judged, k=k, **parameters)
    if rules.ties != "expected":
        return MetricValues(values, None, None, residual)
    return MetricValues(*_over_orders(judged, metric, parameters, values), residual)


def parameters_of(metric: Metric, rules: Rules) -> dict[str, Any]:
    """Return the parameters of a metric: those in its name, and otherwise those of the rules."""
    return {**rules.parameters.get(metric.name, {}), **dict(metric.parameters)}


def _settled(
    values: FloatArray, judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], rules: Rules
) -> FloatArray:
    if metric.definition.needs_relevant:
        if (lacking := judged.without_relevant(parameters.get("rel"))) is not None:
            values = np.where(lacking, np.nan, values)
        if rules.no_relevant == "zero":
            values = np.nan_to_num(values, nan=0.0)
        elif rules.no_relevant == "match":
            values = np.where(np.isnan(values), judged.n_retrieved == 0, values)
    return values if rules.empty == "zero" else np.where(judged.n_retrieved > 0, values, np.nan)


def _over_orders(
    judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], values: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, smallest and largest value; queries without ties keep their value, and NaN stays NaN."""
    expected = values.copy(), values.copy(), values.copy()
    tied = judged.tied_queries()
    defined = tied[~np.isnan(values[tied])]
    if len(defined):
        # Imported here because only ties need it.
        from retrieval_metrics.metrics.base.ties import score_over_orders  # noqa: PLC0415

        found = score_over_orders(judged, defined, metric, parameters)
        for target, source in zip(expected, found, strict=True):
            target[defined] = source[defined]
    return expected


# Read judgments and runs according to a rule set, before any metric is computed.


def apply_rules_to_qrels(truth: Qrels, rules: Rules) -> Qrels:
    """Return the judgments as the rules read them."""
    if rules.negative == "unjudged":
        truth = truth.without_negative_grades()
    if rules.grades == "integer":
        truth.require_integer_grades(rules.name)
    return truth.flattened() if rules.groups == "flatten" else truth


def require_accepted_queries(judged: JudgedRun, rules: Rules) -> None:
    """Raise if the rules refuse a query."""
    for rule, (queries, complaint) in find_refused_queries(judged, rules).items():
        if queries.any():
            query = judged.qrels.queries[int(queries.argmax())]
            raise ValueError(
                f'{complaint.format(query=repr(query))}, which {rules.name} refuses ({rule}="error"); {_advice(rule)}'
            )


def find_refused_queries(judged: JudgedRun, rules: Rules) -> dict[str, tuple[BoolArray, str]]:
    """Return, for each rule that refuses something, the queries it refuses and the reason."""
    found: dict[str, tuple[BoolArray, str]] = {}
    if rules.duplicates == "error":
        found["duplicates"] = judged.n_duplicates > 0, "the ranking of query {query} holds a document twice"
    if rules.no_relevant == "error":
        found["no_relevant"] = judged.n_relevant() == 0, "query {query} has no relevant document"
    if rules.empty == "error":
        found["empty"] = judged.n_retrieved == 0, "nothing was retrieved for query {query}"
    return found


def has_fractional_grades(truth: Qrels) -> BoolArray:
    """Return which queries have a grade that is not a whole number, shape (queries,)."""
    found: BoolArray = np.bincount(truth.document_query, truth.document_grade % 1 != 0, minlength=len(truth)) > 0
    return found


def _advice(rule: str) -> str:
    what, otherwise = _ADVICE[rule]
    return f"remove {what}, or use {format_argument('rules', 'standard')}, where {otherwise}"


_ADVICE = {
    "duplicates": ("it", "only the first counts"),
    "no_relevant": ("the query", "it is counted but left out of the mean"),
    "empty": ("the query", "it scores 0"),
}


# The largest value that a metric can have on given queries, which bounds its confidence interval.


def ideal_values(metric: Metric, judged: JudgedRun, rules: Rules) -> FloatArray | None:
    """Return the metric of each query's ideal ranking, shape (queries,); None if it is always 1, or unknown."""
    if metric.definition.reaches_one or not _has_known_ideal(metric, judged.qrels):
        return None
    return score(_ideal_run(judged.qrels, dict(metric.parameters).get("rel")), metric, rules).values


def bounds(metric: Metric, smallest: float, largest: float, ideal: float | None) -> tuple[float, float]:
    """Return the smallest and the largest value that a metric can have on given queries."""
    if metric.definition.is_given:
        return metric.definition.bounds
    if not metric.definition.bounded or largest > 1 or smallest < 0:
        return (-inf if smallest < 0 else 0.0), inf
    if ideal is None:
        return 0.0, 1.0
    return 0.0, min(max(ideal, largest), 1.0) or 1.0


def is_two_valued(metric: Metric, judged: JudgedRun, rules: Rules) -> BoolArray | None:
    """Return of which queries every ranking scores 0 or 1, though the metric can be a fraction; None: of none."""
    of = metric.definition.two_valued
    return None if of is None else of(judged, k=judged.cutoff(metric.k), **parameters_of(metric, rules))


def share_binary(metric: Metric, sums: Sums, two_valued: Sums | None) -> float:
    """Return the share of queries that can only be 0 or 1; over orders of equal scores even hit rates are fractions."""
    share = two_valued.mean if two_valued is not None and two_valued.count else float(metric.definition.binary)
    return share if share < 1 or sums.total == sums.total_of_squares else 0.0


def _has_known_ideal(metric: Metric, qrels: Qrels) -> bool:
    """Return whether sorting the relevant documents by grade gives the metric's best value."""
    return (metric.definition.ignores_groups or qrels.is_flat) and not (
        qrels.has_pieces or isinstance(metric.k, Budget)
    )


def _ideal_run(qrels: Qrels, rel: object) -> JudgedRun:
    """Return the run that retrieves every relevant document, best first, and nothing else."""
    grade = qrels.document_grade
    relevant = np.flatnonzero(is_relevant(grade, rel if isinstance(rel, (int, float)) else None))
    document = relevant[np.lexsort((-grade[relevant], qrels.document_query[relevant]))]
    query = qrels.document_query[document]
    rank = ordinals(query)
    items = Items(document, query, rank, grade[document], np.ones_like(rank), rank)
    return JudgedRun(qrels, items, np.bincount(query, minlength=len(qrels)))


def score_one(
    definition: Definition,
    gains: Gains,
    *,
    k: int | None = None,
    n_relevant: int | None = None,
    ideal: Gains | None = None,
    n_nonrelevant: int | None = None,
    others: Sequence[float] = (),
    **parameters: Any,
) -> float:
    """Return one metric of one ranking; `others` are grades of documents that are not in it."""
    metric = Metric(definition.name, k, **parameters)
    listed = _numbers(gains, "gains", none_allowed=True)
    grades = {position: grade for position, grade in enumerate(listed) if grade is not None}
    missing = [*_missing(list(grades.values()), n_relevant, ideal, needs_one=definition.needs_relevant), *others]
    missing += [0.0] * _lacking(sum(grade <= 0 for grade in grades.values()), n_nonrelevant, "not relevant")
    truth = Qrels({0: grades | dict(enumerate(missing, start=len(listed)))})
    judged = judge_by_id(truth, {0: range(len(listed))}, TIES_AS_GIVEN)
    return float(score(judged, metric, STANDARD).values[0])


def _numbers(values: Any, what: str, *, none_allowed: bool = False) -> list[float | None]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise TypeError(f"{what} must be a list of numbers in rank order, got {type(values).__name__}")
    for position, value in enumerate(values):
        if value is None and none_allowed:
            continue
        if not isinstance(value, Real):
            raise TypeError(
                f"{what} must be numbers in rank order, got {value!r} at position {position}; to score rankings of "
                "document ids, use evaluate(qrels, run)"
            )
        if not isfinite(value):
            raise ValueError(f"{what} must be finite, got {value!r} at position {position}")
    return list(values)


def _missing(grades: list[float], n_relevant: int | None, ideal: Gains | None, *, needs_one: bool) -> list[float]:
    """Return the grades of the relevant documents that are not in the list."""
    relevant = [grade for grade in grades if grade > 0]
    if ideal is not None:
        lacking = Counter(grade for grade in _numbers(ideal, "ideal") if grade is not None and grade > 0)
        surplus = Counter(relevant) - lacking
        if surplus:
            raise ValueError(
                f"the ideal lacks the gain {max(surplus)!r} of the list; it must hold every relevant document"
            )
        return list((lacking - Counter(relevant)).elements())
    if n_relevant is None:
        return [] if relevant or not needs_one else [1.0]
    return [1.0] * _lacking(len(relevant), n_relevant, "relevant")


def _lacking(listed: int, total: int | None, what: str) -> int:
    if total is None:
        return 0
    number = integer(total, f"the number of documents that are {what}")
    if number < listed:
        raise ValueError(f"the list holds {listed} documents that are {what}, but the given total is {number}")
    return number - listed
