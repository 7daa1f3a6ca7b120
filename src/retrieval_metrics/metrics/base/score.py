"""From a judged run, a metric and rules to values: of a run, of an ideal run, of one ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import integer
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.matching.ids import judge_by_id
from retrieval_metrics.matching.judged_columns import Items
from retrieval_metrics.matching.judged_run import JudgedRun
from retrieval_metrics.matching.rank_rows import is_relevant, ordinals
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN
from retrieval_metrics.metrics.base.definition import TieOrderValues
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
    parameters = parameters_of(metric, rules)
    rules = rules.for_metric(metric.name)
    k = judged.cutoff(metric.k)
    definition = metric.definition
    judged = judged.with_duplicate_rule(rules.duplicates)
    if rules.unjudged == "condensed" and not definition.keeps_unjudged_places:
        if isinstance(k, np.ndarray):
            raise ValueError(f"{metric}: a budget counts everything retrieved, so unjudged documents cannot be removed")
        judged = judged.condensed()
    formula_values = definition.score(judged, k=k, **parameters)
    values = _apply_rules_to_values(formula_values, judged, metric, parameters, rules)
    residual = None
    if definition.residual is not None:
        residual = definition.residual(judged, k=k, **parameters)
    if rules.ties != "expected":
        return MetricValues(values, None, None, residual)
    over_orders = _score_tied_queries(judged, metric, parameters, values)
    return MetricValues(over_orders.mean, over_orders.lowest, over_orders.highest, residual)


def parameters_of(metric: Metric, rules: Rules) -> dict[str, Any]:
    """Return the parameters of a metric: those in its name, and otherwise those of the rules."""
    return {**rules.parameters.get(metric.name, {}), **dict(metric.parameters)}


def _apply_rules_to_values(
    values: FloatArray, judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], rules: Rules
) -> FloatArray:
    """Return the values as the rules read them for queries without a relevant or a retrieved document."""
    if metric.definition.needs_relevant:
        without_relevant = judged.without_relevant(parameters.get("rel"))
        if without_relevant is not None:
            values = np.where(without_relevant, np.nan, values)
        if rules.no_relevant == "zero":
            values = np.nan_to_num(values, nan=0.0)
        elif rules.no_relevant == "match":
            values = np.where(np.isnan(values), judged.n_retrieved == 0, values)
    if rules.empty == "zero":
        return values
    return np.where(judged.n_retrieved > 0, values, np.nan)


def _score_tied_queries(
    judged: JudgedRun, metric: Metric, parameters: Mapping[str, Any], values: FloatArray
) -> TieOrderValues:
    """Return mean, smallest and largest value; queries without ties keep their value, and NaN stays NaN."""
    over_orders = TieOrderValues(values.copy(), values.copy(), values.copy())
    tied = judged.tied_queries()
    defined = tied[~np.isnan(values[tied])]
    if not len(defined):
        return over_orders
    # Imported here because only ties need it.
    from retrieval_metrics.metrics.base.ties import score_over_orders

    tied_values = score_over_orders(judged, defined, metric, parameters)
    for column, tied_column in zip(over_orders, tied_values, strict=True):
        column[defined] = tied_column[defined]
    return over_orders


# Read judgments according to a rule set, before any metric is computed.


def apply_rules_to_qrels(qrels: Qrels, rules: Rules) -> Qrels:
    """Return the judgments as the rules read them."""
    if rules.negative == "unjudged":
        qrels = qrels.without_negative_grades()
    if rules.grades == "integer":
        qrels.require_integer_grades(rules.name)
    return qrels.flattened() if rules.groups == "flatten" else qrels


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
    if smallest < 0:
        return -inf, inf
    if not metric.definition.bounded or largest > 1:
        return 0.0, inf
    if ideal is None:
        return 0.0, 1.0
    return 0.0, min(max(ideal, largest), 1.0) or 1.0


def is_two_valued(metric: Metric, judged: JudgedRun, rules: Rules) -> BoolArray | None:
    """Return of which queries every ranking scores 0 or 1, though the metric can be a fraction; None: of none."""
    find_two_valued = metric.definition.two_valued
    if find_two_valued is None:
        return None
    return find_two_valued(judged, k=judged.cutoff(metric.k), **parameters_of(metric, rules))


def share_binary(metric: Metric, sums: Sums, two_valued: Sums | None) -> float:
    """Return the share of queries that can only be 0 or 1; over orders of equal scores even hit rates are fractions."""
    if two_valued is not None and two_valued.count:
        share = two_valued.mean
    else:
        share = float(metric.definition.binary)
    has_only_zeros_and_ones = sums.total == sums.total_of_squares
    return share if share < 1 or has_only_zeros_and_ones else 0.0


def _has_known_ideal(metric: Metric, qrels: Qrels) -> bool:
    """Return whether sorting the relevant documents by grade gives the metric's best value."""
    if qrels.has_pieces or isinstance(metric.k, Budget):
        return False
    return metric.definition.ignores_groups or qrels.is_flat


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
    listed = _read_numbers(gains, "gains", allow_none=True)
    grade_by_position = {position: grade for position, grade in enumerate(listed) if grade is not None}
    listed_grades = list(grade_by_position.values())
    unlisted_grades = _list_missing_relevant(listed_grades, n_relevant, ideal, needs_one=definition.needs_relevant)
    unlisted_grades += others
    n_listed_nonrelevant = sum(grade <= 0 for grade in listed_grades)
    unlisted_grades += [0.0] * _count_missing(n_listed_nonrelevant, n_nonrelevant, "not relevant")
    grades = {**grade_by_position, **dict(enumerate(unlisted_grades, start=len(listed)))}
    judged = judge_by_id(Qrels({0: grades}), {0: range(len(listed))}, TIES_AS_GIVEN)
    return float(score(judged, metric, STANDARD).values[0])


def _read_numbers(values: Any, argument: str, *, allow_none: bool = False) -> list[float | None]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise TypeError(f"{argument} must be a list of numbers in rank order, got {type(values).__name__}")
    for position, value in enumerate(values):
        if value is None and allow_none:
            continue
        if not isinstance(value, Real):
            raise TypeError(
                f"{argument} must be numbers in rank order, got {value!r} at position {position}; to score rankings "
                "of document ids, use evaluate(qrels, run)"
            )
        if not isfinite(value):
            raise ValueError(f"{argument} must be finite, got {value!r} at position {position}")
    return list(values)


def _list_missing_relevant(
    grades: list[float], n_relevant: int | None, ideal: Gains | None, *, needs_one: bool
) -> list[float]:
    """Return the grades of the relevant documents that are not in the list."""
    relevant = [grade for grade in grades if grade > 0]
    if ideal is not None:
        ideal_grades = _read_numbers(ideal, "ideal")
        in_ideal = Counter(grade for grade in ideal_grades if grade is not None and grade > 0)
        in_list = Counter(relevant)
        surplus = in_list - in_ideal
        if surplus:
            raise ValueError(
                f"the ideal lacks the gain {max(surplus)!r} of the list; it must hold every relevant document"
            )
        return list((in_ideal - in_list).elements())
    if n_relevant is not None:
        return [1.0] * _count_missing(len(relevant), n_relevant, "relevant")
    if needs_one and not relevant:
        return [1.0]
    return []


def _count_missing(n_listed: int, total: int | None, kind: str) -> int:
    """Return how many documents of a kind are not in the list."""
    if total is None:
        return 0
    n_documents = integer(total, f"the number of documents that are {kind}")
    if n_documents < n_listed:
        raise ValueError(f"the list holds {n_listed} documents that are {kind}, but the given total is {n_documents}")
    return n_documents - n_listed
