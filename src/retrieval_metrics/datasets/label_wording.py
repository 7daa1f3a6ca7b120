"""Format labels as a table with notes, and grades and the kinds of graded passages as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.datasets.pooled_documents import MAX_EARLY_RANK
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.datasets.grader_agreement import GraderKinds
    from retrieval_metrics.datasets.labels import LabelsSummary
    from retrieval_metrics.datasets.pooled_documents import PoolKinds

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
        notes.append(f"{numbers.format_count(summary.n_unrated, 'row')} of the export without a grade, in .unrated")
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
        notes.append(f"{numbers.format_count(summary.n_conflicts, 'disagreement')}, in .conflicts")
    return notes


def format_grades(grades: Iterable[float]) -> str:
    """Return grades as a list in words, such as `0, 1, 2.5`."""
    return ", ".join(f"{grade:g}" for grade in grades)


def format_passage_kinds(pool_kinds: PoolKinds, systems: Sequence[str]) -> GraderKinds:
    """Return the kinds of each passage of a pool in words, by the name of what they tell apart."""
    median_length = f"{pool_kinds.median_length:.0f} words"
    median_overlap = f"{pool_kinds.median_overlap:.0%}"
    kinds_by_passage = {}
    for passage, kinds in pool_kinds.by_passage.items():
        texts = {
            "found by": format_found_by(kinds.found_by, systems),
            "best rank": f"1 to {MAX_EARLY_RANK}" if kinds.is_early else f"beyond {MAX_EARLY_RANK}",
        }
        if kinds.is_long is not None:
            texts["length"] = f"over {median_length}" if kinds.is_long else f"up to {median_length}"
        if kinds.has_many_question_words is not None:
            overlap_side = "over" if kinds.has_many_question_words else "up to"
            texts["question-word overlap"] = f"{overlap_side} {median_overlap}"
        kinds_by_passage[passage] = texts
    return kinds_by_passage


def format_found_by(found_by: Sequence[str], systems: Sequence[str]) -> str:
    """Return which of several systems found a passage, in words."""
    names = " and ".join(found_by)
    if len(found_by) == 1 and len(systems) > 1:
        return f"{names} only"
    return names
