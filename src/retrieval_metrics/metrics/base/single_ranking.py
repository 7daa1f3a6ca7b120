"""Compute a metric of one ranking from its gains, for the functions such as `metrics.ndcg`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.validation import integer
from retrieval_metrics.inputs.grade_checks import MAX_GRADE_VALUE
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.matching.exact_ids import judge_by_id
from retrieval_metrics.matching.plain_ranking import MAX_PLAIN_LENGTH, read_plain_gains
from retrieval_metrics.matching.ranking_order import TIES_AS_GIVEN
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.rules import STANDARD
from retrieval_metrics.metrics.base.score import score

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Gains
    from retrieval_metrics.matching.plain_ranking import PlainRanking
    from retrieval_metrics.metrics.base.definition import Definition

# Each document that is not in the list takes memory; no collection has so many relevant ones.
MAX_TOTAL = 10_000_000


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
    if definition.score_plain is not None and n_nonrelevant is None and not others:
        ranking = _read_plain_ranking(gains, definition, k, n_relevant, ideal, parameters)
        if ranking is not None:
            return definition.score_plain(ranking, k)
    metric = Metric(definition.name, k, **parameters)
    listed = _read_numbers(gains, "gains", allow_none=True)
    grade_by_position = {position: grade for position, grade in enumerate(listed) if grade is not None}
    listed_grades = list(grade_by_position.values())
    unlisted_grades = _list_missing_relevant(listed_grades, n_relevant, ideal, needs_relevant=definition.needs_relevant)
    unlisted_grades += others
    n_listed_nonrelevant = sum(grade <= 0 for grade in listed_grades)
    unlisted_grades += [0.0] * _count_missing(n_listed_nonrelevant, n_nonrelevant, "not relevant")
    grades = {**grade_by_position, **dict(enumerate(unlisted_grades, start=len(listed)))}
    judged = judge_by_id(Qrels.unchecked({0: grades}), {0: range(len(listed))}, TIES_AS_GIVEN)
    return float(score(judged, metric, STANDARD).values[0])


def _read_plain_ranking(
    gains: Gains,
    definition: Definition,
    k: int | None,
    n_relevant: int | None,
    ideal: Gains | None,
    parameters: Mapping[str, Any],
) -> PlainRanking | None:
    """Return the ranking if `score_plain` takes it, with all that is relevant; None for the general path."""
    if k is not None and (type(k) is not int or k < 1):
        return None
    for name, value in parameters.items():
        if value != definition.parameters[name].default:
            return None
    ranking = read_plain_gains(gains)
    if ranking is None:
        return None
    if n_relevant is None and ideal is None:
        if ranking.ideal:
            return ranking
        # Nothing in the list is relevant, so the one relevant document that is assumed was not retrieved.
        return ranking._replace(ideal=[1.0])
    missing = _list_missing_relevant(ranking.grades, n_relevant, ideal, needs_relevant=definition.needs_relevant)
    relevant_grades = sorted([*ranking.grades, *missing], reverse=True)
    # Without anything relevant the metric is undefined, and long ideals take longer here.
    if not relevant_grades or len(relevant_grades) > MAX_PLAIN_LENGTH:
        return None
    return ranking._replace(ideal=relevant_grades)


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
                "of document IDs, use evaluate(qrels, run)"
            )
        if isinstance(value, int) and abs(value) > MAX_GRADE_VALUE:
            raise ValueError(
                f"{argument} must be at most 2**53 in size, got an integer of {value.bit_length()} bits at position "
                f"{position}"
            )
        if not isfinite(value):
            raise ValueError(f"{argument} must be finite, got {value!r} at position {position}")
    return list(values)


def _list_missing_relevant(
    grades: list[float], n_relevant: int | None, ideal: Gains | None, *, needs_relevant: bool
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
    if needs_relevant and not relevant:
        return [1.0]
    return []


def _count_missing(n_listed: int, total: int | None, kind: str) -> int:
    """Return how many documents of a kind are not in the list."""
    if total is None:
        return 0
    n_documents = integer(total, f"the number of documents that are {kind}")
    if n_documents > MAX_TOTAL:
        raise ValueError(
            f"the number of documents that are {kind} must be at most {MAX_TOTAL:,}, got an integer of "
            f"{n_documents.bit_length()} bits"
        )
    if n_documents < n_listed:
        raise ValueError(f"the list holds {n_listed} documents that are {kind}, but the given total is {n_documents}")
    return n_documents - n_listed
