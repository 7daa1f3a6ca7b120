"""Score one ranking, given as a list of gains, with the same code as a whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

from retrieval_metrics.checks import integer
from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.inputs.qrels import Qrels
from retrieval_metrics.judging.by_id import judge_by_id
from retrieval_metrics.judging.ranking_order import AS_GIVEN
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.scoring.score import score

if TYPE_CHECKING:
    from retrieval_metrics.checks import Gains
    from retrieval_metrics.definition.definition import Definition


def score_one(
    definition: Definition,
    gains: Gains,
    *,
    k: int | None = None,
    n_relevant: int | None = None,
    ideal: Gains | None = None,
    n_nonrelevant: int | None = None,
    **parameters: Any,
) -> float:
    """Return one metric of one ranking.

    Args:
        definition: The metric.
        gains: Grades in rank order; 0 is not relevant, None is not judged.
        k: The cut-off.
        n_relevant: How many documents are relevant, retrieved or not. None counts those in the list; if there are none,
            it assumes one that was not retrieved, so the list scores 0, as it would for any number.
        ideal: The grades of all relevant documents, retrieved or not, instead of their number.
        n_nonrelevant: How many documents are judged not relevant; None counts those in the list.
        **parameters: The metric's own parameters; None means the default.

    Raises:
        TypeError: If the gains are not a sequence of numbers.
        ValueError: If a gain is not finite, a parameter is not allowed, or the list holds more documents than the given
            number.
    """
    metric = Metric(definition.name, k, tuple(parameters.items()))
    listed = _numbers(gains, "gains", none_allowed=True)
    grades = {position: grade for position, grade in enumerate(listed) if grade is not None}
    missing = _missing(list(grades.values()), n_relevant, ideal)
    missing += [0.0] * _lacking(sum(grade <= 0 for grade in grades.values()), n_nonrelevant, "not relevant")
    truth = Qrels({0: grades | dict(enumerate(missing, start=len(listed)))})
    judged = judge_by_id(truth, {0: range(len(listed))}, AS_GIVEN)
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


def _missing(grades: list[float], n_relevant: int | None, ideal: Gains | None) -> list[float]:
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
        return [] if relevant else [1.0]
    return [1.0] * _lacking(len(relevant), n_relevant, "relevant")


def _lacking(listed: int, total: int | None, what: str) -> int:
    if total is None:
        return 0
    number = integer(total, f"the number of documents that are {what}")
    if number < listed:
        raise ValueError(f"the list holds {listed} documents that are {what}, but the given total is {number}")
    return number - listed
