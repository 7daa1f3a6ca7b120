"""Find the unjudged documents whose judgments would change a comparison most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from retrieval_metrics.comparison.comparison_wording import EFFECT_MEANING
from retrieval_metrics.comparison.partly_judged import (
    PURPOSE,
    QueryCompletions,
    find_partly_judged_queries,
    largest_cutoff,
    score_completions,
)
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.display_text import format_ranks
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.comparison.difference import Differences
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

    def __str__(self) -> str:
        return f"{self.query}: {self.document} (effect {numbers.format_value(self.effect)}; {format_ranks(self.ranks)})"


class DocumentsToJudge(list[ToJudge], Printed):
    """Documents to judge, those that could change a comparison most first, as a printable list."""

    def _tables(self) -> list[Table]:
        rows = []
        for item in self:
            effect = numbers.format_value(item.effect)
            rows.append([str(item.query), str(item.document), effect, format_ranks(item.ranks)])
        return [Table(["query", "document", "effect", "ranks"], rows, [EFFECT_MEANING], words=(0, 1, 3))]

    def __str__(self) -> str:  # list is the first base, so its method would be inherited
        return Printed.__str__(self)


def rank_documents_to_judge(
    scores: Mapping[str, Scores], metrics: Sequence[Metric], differences: Differences, n: int
) -> DocumentsToJudge:
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
    mean_differences = [_MeanDifferences.from_pair(pair, metrics) for pair in differences.by_pair.values()]
    candidates = []
    start = 0
    for partly_judged, completions in completions_by_query:
        rows = slice(start, start + len(completions))
        start = rows.stop
        query_values = {system: system_values[rows] for system, system_values in values.items()}
        changes = _largest_changes(query_values, mean_differences, len(partly_judged.documents))
        for document, change in zip(partly_judged.documents, changes.tolist(), strict=True):
            ranks = partly_judged.ranks[document]
            candidates.append(ToJudge(partly_judged.query, document, change, ranks))
    candidates.sort(key=lambda candidate: -candidate.effect)
    return DocumentsToJudge(candidates[:n])


def _complete_one_document(partly_judged: PartlyJudgedQuery, grades: Sequence[float]) -> QueryCompletions:
    """Return the judgments as they are, then with each grade of each single document."""
    completions: list[dict[Any, float]] = [{}]
    for grade in grades:
        completions += [{document: grade} for document in partly_judged.documents]
    return QueryCompletions(partly_judged, completions)


class _MeanDifferences(NamedTuple):
    """The mean differences of two systems.

    Attributes:
        system: The system.
        baseline: The system it is compared with.
        means: Shape (metrics,), the mean differences; 0 for a metric that is defined for no query.
        n_defined: Shape (metrics,), the number of queries of each mean.
    """

    system: str
    baseline: str
    means: FloatArray
    n_defined: IntArray

    @classmethod
    def from_pair(cls, differences: Differences, metrics: Sequence[Metric]) -> _MeanDifferences:
        """Take the means of the differences of a single pair in some metrics, which may not be all that it has."""
        system, baseline = differences[0].pair
        difference_by_metric = {difference.metric: difference for difference in differences}
        selected = [difference_by_metric[str(metric)] for metric in metrics]
        means = np.nan_to_num([difference.mean for difference in selected])
        return cls(system, baseline, means, np.array([difference.n for difference in selected]))

    def changes(self, as_judged: FloatArray, completed: FloatArray) -> FloatArray:
        """Return how much the means change, shape (completions, metrics).

        Args:
            as_judged: The differences of a query under the judgments as they are, shape (metrics,).
            completed: Its differences under each completion, shape (completions, metrics).
        """
        was_defined = ~np.isnan(as_judged)
        is_defined = ~np.isnan(completed)
        # A query that enters or leaves a mean moves it like one that comes from, or goes to, the mean of the others.
        differences_before = np.where(was_defined, as_judged, self.means)
        differences_after = np.where(is_defined, completed, self.means)
        n_after = self.n_defined - was_defined.astype(int) + is_defined
        changes: FloatArray = np.abs(differences_after - differences_before) / np.maximum(n_after, 1)
        return changes


def _largest_changes(
    values: Mapping[str, FloatArray], mean_differences: Sequence[_MeanDifferences], n_documents: int
) -> FloatArray:
    """Return how much the judgment of each document changes a mean difference, in the pair where it is most.

    Args:
        values: The values of each system, shape (completions, metrics), in the order of `_complete_one_document`.
        mean_differences: Those of each pair of systems.
        n_documents: The number of unjudged documents of the query.
    """
    largest = np.zeros(n_documents)
    for pair in mean_differences:
        differences = values[pair.system] - values[pair.baseline]
        changes = pair.changes(differences[0], differences[1:]).max(axis=1)
        changes_by_grade = changes.reshape(-1, n_documents)
        largest = np.maximum(largest, changes_by_grade.max(axis=0))
    return largest
