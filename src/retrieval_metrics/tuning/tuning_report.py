"""The report of a choice among settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.presentation import charts as draw
from retrieval_metrics.presentation import numbers, page
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.reporting.reports import about
from retrieval_metrics.tuning.gains import gains
from retrieval_metrics.tuning.grid import grid

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from retrieval_metrics.tuning.choice import Choice

DRAWN = 12
"""The largest number of settings in the chart, the best; the table has all."""


def tuning_report(tuning: Choice, tables: Sequence[Table], path: str | PathLike[str], title: str) -> None:
    """Write the report; see `Tuning.report`."""
    try:
        by_two = [page.section("By the two parameters", page.table(_by_two(tuning)))]
    except ValueError:
        by_two = []
    parts = [
        page.paragraph(tuning.conclusion, lead=True),
        draw.grid(draw.rows(gains(tuning, DRAWN))),
        *map(page.table, tables[:-1]),  # the last is the conclusion, which leads
        *by_two,
        page.section("Every setting", page.table(_every(tuning))),
        *about({name: one.scores for name, one in list(tuning.evaluations.items())[:1]}, {}, None),
    ]
    page.write(path, title or f"Tuning of {len(tuning.settings):,} settings by {tuning.metric}", parts)


def _by_two(tuning: Choice) -> Table:
    held = grid(tuning)
    header = [f"{held.names[0]} \\ {held.names[1]}", *map(str, held.columns)]
    marked = {tuning.winner: " (winner)", tuning.default: " (default)"}
    rows = [
        [
            str(value),
            *("" if one is None else numbers.signed(one.gain) + marked.get(one.name, "") for one in row),
        ]
        for value, row in zip(held.rows, held.settings, strict=True)
    ]
    return Table(header, rows, [f"gain in {tuning.metric} over the default, on these questions"])


def _every(tuning: Choice) -> Table:
    header = ["setting", *tuning.rule.metrics, "gain", f"{numbers.level_name(tuning.level)}", "p", "chosen", ""]
    rows = []
    for one in tuning.settings:
        found, gained = one.difference, ["", "", ""]
        if found is not None:
            ends = numbers.interval(found.interval, difference=True)
            gained = [numbers.signed(found.mean), ends, numbers.p_value(found.p_corrected)]
        said = "default" if found is None else ""
        if one.name == tuning.winner:
            said = "winner"
        elif one.name in tuning.as_good:
            said = f"{said}{', ' * bool(said)}may be as good"
        elif not one.allowed:
            said = f"{said}{', ' * bool(said)}beyond the bounds"
        means = [numbers.value(one.means[metric]) for metric in tuning.rule.metrics]
        rows.append([one.name, *means, *gained, f"{100 * one.chosen:.0f} %", said])
    notes = ["intervals and p values hold for all settings together; chosen: in how many of the resamples"]
    return Table(header, rows, notes, words=(0, len(header) - 1))
