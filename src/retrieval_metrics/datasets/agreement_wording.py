"""Format the agreement of two graders as tables with notes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.statistics.agreement import MIN_DISAGREEMENTS

if TYPE_CHECKING:
    from retrieval_metrics.datasets.grader_agreement import Agreement


def agreement_tables(agreement: Agreement) -> list[Table]:
    """Return the tables of an agreement: its measures, the confusion of grades, and the kinds of passages."""
    tables = [_measures_table(agreement), _confusion_table(agreement)]
    if agreement.kinds is not None:
        tables.append(_kinds_table(agreement))
    return tables


def _measures_table(agreement: Agreement) -> Table:
    first_name, second_name = agreement.names
    measures = {
        "raw agreement": agreement.raw_agreement,
        "unweighted kappa": agreement.kappa,
        "quadratic-weighted kappa (ordinal grades)": agreement.quadratic_kappa,
        "linear-weighted kappa": agreement.linear_kappa,
        f"binary kappa ({agreement.relevant})": agreement.binary_kappa,
    }
    rows = []
    lacks_interval = False
    for name, measure in measures.items():
        value = "-" if math.isnan(measure.value) else numbers.format_value(measure.value)
        interval = numbers.format_interval(measure.interval)
        rows.append([name, value, interval])
        lacks_interval = lacks_interval or (interval == "-" and value != "-")
    queries = numbers.format_query_count(len(agreement.by_query))
    title = f"{first_name} vs {second_name}: {numbers.format_count(agreement.n, 'document')}, {queries}"
    notes = [mean_difference_text(agreement)]
    if lacks_interval:
        notes.append(f"-: no CI for kappa if the graders disagree on fewer than {MIN_DISAGREEMENTS} queries")
    if agreement.near_chance:
        notes.append(f"agreement is {agreement.chance_note}")
    return Table(["agreement", "", numbers.level_name(agreement.level)], rows, notes, title)


def _confusion_table(agreement: Agreement) -> Table:
    first_name, second_name = agreement.names
    header = [f"{first_name} \\ {second_name}", *(f"{grade:g}" for grade in agreement.grades)]
    rows = []
    for grade, counts in zip(agreement.grades, agreement.confusion, strict=True):
        rows.append([f"{grade:g}", *(f"{int(count):,}" for count in counts)])
    return Table(header, rows)


def _kinds_table(agreement: Agreement) -> Table:
    rows = []
    for kind_agreement in agreement.by_kind:
        raw_agreement = numbers.format_value(kind_agreement.raw_agreement)
        difference = numbers.format_signed(kind_agreement.mean_difference)
        rows.append([kind_agreement.respect, kind_agreement.kind, f"{kind_agreement.n:,}", raw_agreement, difference])
    header = ["passage type", "", "n", "raw agreement", f"{agreement.names[1]} - {agreement.names[0]}"]
    return Table(header, rows, words=(0, 1))


def calibration_label(agreement: Agreement) -> str:
    """Return the label of the axis of a calibration plot."""
    relevant = "relevant"
    if agreement.relevant_from is not None:
        relevant = f"relevant (grade ≥ {agreement.relevant_from:g})"
    return f"share that {agreement.names[0]} grades {relevant}\n({numbers.level_name(agreement.level)})"


def mean_difference_text(agreement: Agreement) -> str:
    """Return how much higher the second grader grades on average, such as `mean difference, model - Ada: +0.08`."""
    first_name, second_name = agreement.names
    return f"mean difference, {second_name} - {first_name}: {agreement.mean_difference:+.2f}"


def relevance_text(agreement: Agreement) -> str:
    """Return the two classes of documents that the binary kappa compares."""
    if agreement.relevant_from is None:
        return "relevant or not"
    return f"relevant: grade ≥ {agreement.relevant_from:g}"


def chance_text(agreement: Agreement) -> str:
    """Return how an agreement near chance compares with chance."""
    value, (low, high) = agreement.quadratic_kappa
    if math.isnan(value):
        return "not assessable: both graders gave every document the same grade"
    if math.isnan(low):
        return "indistinguishable from chance with so few queries"
    if high < 0:
        return "below chance; check for a reversed scale"
    if low <= 0:
        return "not significantly above chance"
    return "barely above chance"
