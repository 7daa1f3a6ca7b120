"""Detect swapped arguments: judgments that look like the scores of a run, and a run that looks like judgments."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.evaluation.score_order import MAX_CHANCE, MAX_RANKINGS, iterate_scores
from retrieval_metrics.inputs.score_checks import chance_of_increase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, QueryId
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.judged_run import JudgedRun

# Judgments have few different grades, runs many different scores.
MAX_GRADES = 5
MIN_SCORES = 20
# Scores are nearly all fractions, and seldom tie within a query.
MIN_FRACTIONAL_SHARE = 0.9
MIN_DISTINCT_SHARE = 0.7


class SwappedArguments(NamedTuple):
    """The evidence that judgments and run were exchanged.

    Attributes:
        query: The first query with a grade that is a fraction.
        document: The document with that grade.
        grade: The grade.
        largest_score: The largest score of the run, a whole number like a grade; None if the run has no scores, so that
            only the grades speak.
    """

    query: QueryId
    document: Any
    grade: float
    largest_score: float | None


def find_swapped_arguments(judged: JudgedRun, run: Mapping[Any, Any]) -> SwappedArguments | None:
    """Return the evidence that the judgments look like a run and the run like judgments; None if there is none."""
    qrels = judged.qrels
    # An empty run cannot look like judgments.
    if not _has_fractional_grades(qrels) or not judged.longest_ranking:
        return None
    negated_grades = np.split(-qrels.document_grade, qrels.bounds[1:-1])
    chance = chance_of_increase(negated_grades)
    if chance is None:
        return None
    is_order_conclusive = chance < MAX_CHANCE
    if not _are_like_scores(negated_grades, is_order_conclusive=is_order_conclusive):
        return None

    has_more_grades = bool(judged.n_retrieved.sum() < len(qrels.document_grade))
    rankings = _read_rankings(run)
    if rankings:
        if _are_like_grades(rankings, has_more_grades=has_more_grades):
            return _collect_evidence(qrels, max(map(max, rankings)))
    elif has_more_grades and is_order_conclusive:
        return _collect_evidence(qrels, None)
    return None


def _has_fractional_grades(qrels: Qrels) -> bool:
    """Return whether nearly all grades are fractions."""
    grades = qrels.document_grade
    n_fractional = int(np.count_nonzero(grades != np.floor(grades)))  # faster than the remainder of 1
    return qrels.is_flat and n_fractional > 0 and n_fractional >= MIN_FRACTIONAL_SHARE * len(grades)


def _are_like_scores(negated_grades: Sequence[FloatArray], *, is_order_conclusive: bool) -> bool:
    """Return whether grades, which fall in the order given, are as different as scores."""
    n_grades = sum(map(len, negated_grades))
    n_distinct = sum(len(np.unique(grades)) for grades in negated_grades)
    if n_distinct < MIN_DISTINCT_SHARE * n_grades:
        return False
    n_values = len(np.unique(np.concatenate(negated_grades)))
    return is_order_conclusive or n_values >= min(MIN_DISTINCT_SHARE * n_grades, MIN_SCORES)


def _read_rankings(run: Mapping[Any, Any]) -> list[list[float]]:
    """Return the scores of the first rankings that have some."""
    rankings = map(list, islice(iterate_scores(run), MAX_RANKINGS))
    return [scores for scores in rankings if scores]


def _are_like_grades(rankings: Sequence[list[float]], *, has_more_grades: bool) -> bool:
    """Return whether scores are few whole numbers, with 0 among them or not in the order of a run.

    If the run has fewer entries than the judgments, which is usual for judgments, scores may also fall by chance.
    """
    values: set[float] = set()
    for scores in rankings:
        values.update(map(float, scores))
    if len(values) > MAX_GRADES or not all(map(float.is_integer, values)):
        return False
    if 0.0 in values:
        return True
    # Different values in every ranking are ranks turned into scores.
    are_ranks = len(values) > 1 and all(len(set(scores)) == len(scores) for scores in rankings)
    if are_ranks:
        return False
    chance = chance_of_increase(_negate(rankings))
    if chance is None:
        return True
    return has_more_grades and chance >= MAX_CHANCE


def _negate(rankings: Iterable[list[float]]) -> Iterator[list[float]]:
    for scores in rankings:
        yield [-score for score in scores]


def _collect_evidence(qrels: Qrels, largest_score: float | None) -> SwappedArguments:
    position = int((qrels.document_grade % 1 != 0).argmax())
    return SwappedArguments(
        query=qrels.queries[int(qrels.document_query[position])],
        document=qrels.documents[position],
        grade=float(qrels.document_grade[position]),
        largest_score=largest_score,
    )
