"""Format the agreement of two graders as tables with notes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.statistics.kappa import MIN_DISAGREEMENTS

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
        "same grade": agreement.raw_agreement,
        "kappa": agreement.kappa,
        "kappa, weighted by squares": agreement.quadratic_kappa,
        "kappa, weighted linearly": agreement.linear_kappa,
        f"kappa, {agreement.relevant}": agreement.binary_kappa,
    }
    rows = []
    lacks_interval = False
    for name, measure in measures.items():
        value = "-" if math.isnan(measure.value) else numbers.format_value(measure.value)
        interval = numbers.format_interval(measure.interval)
        rows.append([name, value, interval])
        lacks_interval = lacks_interval or (interval == "-" and value != "-")
    queries = numbers.format_query_count(len(agreement.by_query))
    title = f"{first_name} with {second_name}: {numbers.format_count(agreement.n, 'document')} of {queries}"
    direction = "higher" if agreement.mean_difference > 0 else "lower"
    notes = [f"{second_name} grades {abs(agreement.mean_difference):.2f} {direction} on average"]
    if lacks_interval:
        notes.append(f"-: a kappa has no interval if they disagree in fewer than {MIN_DISAGREEMENTS} queries")
    if agreement.near_chance:
        notes.append(f"this agreement is {agreement.chance_note}")
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
    header = ["kind of passage", "", "n", "same grade", f"{agreement.names[1]} higher by"]
    return Table(header, rows, words=(0, 1))


def calibration_label(agreement: Agreement) -> str:
    """Return the label of the axis of a calibration plot."""
    relevant = "relevant"
    if agreement.relevant_from is not None:
        relevant = f"relevant (from grade {agreement.relevant_from:g})"
    return f"share that {agreement.names[0]} calls {relevant},\nwith its {numbers.level_name(agreement.level)}"


def relevance_text(agreement: Agreement) -> str:
    """Return the two classes of documents that the binary kappa compares."""
    if agreement.relevant_from is None:
        return "relevant or not"
    return f"relevant (from {agreement.relevant_from:g}) or not"


def chance_text(agreement: Agreement) -> str:
    """Return how an agreement near chance compares with chance."""
    value, (low, high) = agreement.quadratic_kappa
    if math.isnan(value):
        return "no evidence: both gave every document one and the same grade"
    if math.isnan(low):
        return "not to be told from chance, from so few queries"
    if high < 0:
        return "worse than chance; is a scale turned round?"
    return "hardly better than chance"
