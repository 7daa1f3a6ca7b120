"""Format labels as a table with notes, and grades as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.datasets.labels import LabelsSummary

# How many reasons for missing grades are printed, the most frequent first.
MAX_REASONS = 3


def labels_table(summary: LabelsSummary) -> Table:
    """Return the table of labels: how many each grader gave of each grade, with the agreement of graders."""
    header = ["grader", "kind", "queries", *(f"grade {grade:g}" for grade in summary.grades), "none"]
    rows = []
    for counts in summary.graders:
        n_by_grade = [f"{counts.n_by_grade[grade]:,}" for grade in summary.grades]
        rows.append([counts.grader, counts.kind, f"{counts.n_queries:,}", *n_by_grade, f"{counts.n_ungraded:,}"])
    notes = [*_failure_notes(summary), *_grader_notes(summary)]
    if summary.n_unrated:
        notes.append(f"{numbers.format_count(summary.n_unrated, 'row')} of the export without a grade: .unrated")
    if summary.scale is not None:
        notes.append(f"relevant: grade ≥ {summary.scale.relevant_from:g}")
    notes += summary.notes
    return Table(header, rows, notes, numbers.format_count(summary.n_labels, "label"), (0, 1))


def _failure_notes(summary: LabelsSummary) -> list[str]:
    """Return notes about why models gave no grade, the most frequent reasons first."""
    return [
        f"not graded: {numbers.format_count(count, 'document')}, {reason}"
        for reason, count in summary.failures.most_common(MAX_REASONS)
    ]


def _grader_notes(summary: LabelsSummary) -> list[str]:
    """Return notes about how far pairs of graders agree, how far all do, and how many documents have conflicts."""
    notes = []
    for agreement in summary.agreements:
        first_name, second_name = agreement.names
        kappa = numbers.format_mean(*agreement.quadratic_kappa)
        documents = numbers.format_count(agreement.n, "document")
        notes.append(f"{first_name} vs {second_name}: quadratic-weighted kappa {kappa}, {documents}")
    if summary.alpha is not None:
        documents = numbers.format_count(summary.n_with_several_grades, "document")
        alpha = numbers.format_mean(*summary.alpha)
        notes.append(f"all {len(summary.graders)} graders: Krippendorff's alpha {alpha}, {documents}")
    if summary.n_conflicts:
        notes.append(f"{numbers.format_count(summary.n_conflicts, 'disagreement')}: .conflicts")
    return notes


def format_grades(grades: Iterable[float]) -> str:
    """Return grades as a list in words, such as `0, 1, 2.5`."""
    return ", ".join(f"{grade:g}" for grade in grades)
