"""Find the unjudged documents whose judgments would change a comparison most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.comparison.partly_judged import (
    PURPOSE,
    QueryCompletions,
    find_partly_judged_queries,
    largest_cutoff,
    score_completions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, QueryId
    from retrieval_metrics.comparison.partly_judged import PartlyJudgedQuery
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.metrics.base.metric import Metric


# The grade of a forbidden document; any grade below 0 is one.
FORBIDDEN_GRADE = -1.0


class ToJudge(NamedTuple):
    """A document whose judgment could change a comparison.

    Attributes:
        query: The query.
        document: The document.
        effect: How much the largest mean difference between two systems would change if it had the highest grade, or
            were forbidden if a metric looks for that.
        ranks: Its rank in each system that has it among its first k.
    """

    query: QueryId
    document: DocumentId
    effect: float
    ranks: Mapping[str, int]


def rank_documents_to_judge(
    scores: Mapping[str, Scores], metrics: Sequence[Metric], pairs: Sequence[tuple[str, str]], n: int
) -> list[ToJudge]:
    """Return the n unjudged documents whose judgment, each by itself, would change a difference most.

    See `Comparison.to_judge`.
    """
    k = largest_cutoff(metrics)
    qrels = next(iter(scores.values())).require_origin(PURPOSE).judged.qrels
    partly_judged_queries = find_partly_judged_queries(scores, k)
    extreme_grades = [max(qrels.largest_grade, 1.0)]
    if not all(metric.definition.higher_is_better for metric in metrics):
        extreme_grades.append(FORBIDDEN_GRADE)
    completions_by_query = [
        _complete_one_document(partly_judged, extreme_grades) for partly_judged in partly_judged_queries
    ]
    values = score_completions(scores, metrics, completions_by_query)
    n_queries = len(next(iter(scores.values())).queries)
    candidates = []
    start = 0
    for partly_judged, completions in completions_by_query:
        rows = slice(start, start + len(completions))
        start = rows.stop
        query_values = {system: system_values[rows] for system, system_values in values.items()}
        changes = _largest_changes(query_values, pairs, len(partly_judged.documents))
        for document, change in zip(partly_judged.documents, changes.tolist(), strict=True):
            ranks = partly_judged.ranks[document]
            candidates.append(ToJudge(partly_judged.query, document, change / n_queries, ranks))
    return sorted(candidates, key=lambda candidate: -candidate.effect)[:n]


def _complete_one_document(partly_judged: PartlyJudgedQuery, grades: Sequence[float]) -> QueryCompletions:
    """Return the judgments as they are, then with each grade of each single document."""
    completions: list[dict[Any, float]] = [{}]
    for grade in grades:
        completions += [{document: grade} for document in partly_judged.documents]
    return QueryCompletions(partly_judged, completions)


def _largest_changes(
    values: Mapping[str, FloatArray], pairs: Sequence[tuple[str, str]], n_documents: int
) -> FloatArray:
    """Return how much the judgment of each document changes the difference of a query, in the pair where it is most.

    Args:
        values: The values of each system, shape (completions, metrics), in the order of `_complete_one_document`.
        pairs: The systems to compare, each as system and baseline.
        n_documents: The number of unjudged documents of the query.
    """
    largest = np.zeros(n_documents)
    for system, baseline in pairs:
        differences = np.nan_to_num(values[system] - values[baseline])
        as_judged = differences[0]
        change = np.abs(differences[1:] - as_judged).max(axis=1)
        change_by_grade = change.reshape(-1, n_documents)
        largest = np.maximum(largest, change_by_grade.max(axis=0))
    return largest
