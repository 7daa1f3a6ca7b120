"""Format the entries of a history as a printable table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Table
from retrieval_metrics.storage.history_entry import count_looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.storage.history_entry import Entry


def entries_table(entries: Sequence[Entry]) -> Table:
    """Return entries as a printable table: where the questions or rules changed, and why means are left out."""
    metrics: dict[str, None] = {}
    for entry in entries:
        metrics |= dict.fromkeys(entry.means)
    rows = []
    previous = None
    for entry in entries:
        cells = [_format_mean(entry, metric) for metric in metrics]
        changes = "" if previous is None else " and ".join(entry.differs_from(previous))
        rows.append([f"{entry.date:%Y-%m-%d %H:%M}", entry.label, *cells, changes])
        previous = entry
    notes = _looks_notes(entries)
    for entry in entries:
        notes += [f"{entry.label}: {warning}" for warning in entry.warnings]
    return Table(["date", "label", *metrics, "changed"], rows, notes, words=(0, 1, -1))


def _looks_notes(entries: Sequence[Entry]) -> list[str]:
    """Return a note on how often the questions of the last entry were used; empty without an entry."""
    if not entries:
        return []
    n_looks = count_looks(entries, entries[-1])
    evaluations = numbers.format_count(n_looks, "evaluation")
    n_others = len(entries) - n_looks
    other_questions = f" ({n_others:,} earlier on other questions or judgments)" if n_others else ""
    notes = [f"{evaluations} on the current questions{other_questions}", chance_reminder(n_looks)]
    return ["; ".join(filter(None, notes))]


def chance_reminder(n_looks: int) -> str:
    """Return that the best of several evaluations may be due to chance; empty for one, which is not the best of any."""
    if n_looks < 2:
        return ""
    return "the more there are, the more likely the best one is due to chance"


def _format_mean(entry: Entry, metric: str) -> str:
    # As in a comparison, what says nothing about the system is not shown; a note says why.
    if metric not in entry.means or not entry.is_measured:
        return "-"
    return numbers.format_mean(entry.means[metric], entry.intervals[metric])
