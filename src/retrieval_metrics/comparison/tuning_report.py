"""Write the report of a choice among settings."""

from __future__ import annotations

from contextlib import suppress
from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.comparison.difference import UNKNOWN
from retrieval_metrics.comparison.tuning_curves import make_grid
from retrieval_metrics.evaluation.about_section import format_about_section
from retrieval_metrics.reports import numbers, page, svg_charts
from retrieval_metrics.reports.charts import ChartRow, ChartRows
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from retrieval_metrics.comparison.tuning_result import TriedSetting, TuningResult


# The largest number of settings in the chart, which has the best; the table has all.
MAX_DRAWN = 12


def write_tuning_report(tuning: TuningResult, tables: Sequence[Table], path: str | PathLike[str], title: str) -> None:
    """Write the report; see `Tuning.report`."""
    key = NameKey([setting.name for setting in tuning.settings])
    parts = [
        page.paragraph(tuning.conclusion, lead=True),
        svg_charts.arrange_charts(svg_charts.draw_rows(key(gain_rows(tuning, MAX_DRAWN)))),
    ]
    if key.lines:
        parts.append(page.sentences(key.lines))
    parts += map(page.table, tables[:-1])  # the last table is the conclusion, which stands above already
    with suppress(ValueError):  # not exactly two parameters vary, so there is no grid
        parts.append(page.section("By the two parameters", page.table(_grid_table(tuning))))
    parts.append(page.section("All settings", page.table(_settings_table(tuning))))
    # All settings have the same questions and rules, so the section describes one evaluation.
    name, evaluation = next(iter(tuning.evaluations.items()))
    parts += format_about_section({name: evaluation.scores}, {}, None)
    page.write(path, title or f"Tuning of {len(tuning.settings):,} settings by {tuning.metric}", parts)


def _grid_table(tuning: TuningResult) -> Table:
    grid = make_grid(tuning)
    header = [f"{grid.row_parameter} \\ {grid.column_parameter}", *map(str, grid.columns)]
    rows = []
    for value, settings in zip(grid.rows, grid.settings, strict=True):
        rows.append([str(value), *(_grid_cell(setting, tuning) for setting in settings)])
    return Table(header, rows, [f"gain in {tuning.metric} over the default (observed)"])


def _grid_cell(setting: TriedSetting | None, tuning: TuningResult) -> str:
    if setting is None:
        return ""
    if setting.obstacle is not None:
        return "not compared"
    marks = {tuning.winner: " (winner)", tuning.default: " (default)"}
    return numbers.format_signed(setting.gain) + marks.get(setting.name, "")


def _settings_table(tuning: TuningResult) -> Table:
    header = ["setting", *tuning.rule.metrics, "gain", f"{numbers.level_name(tuning.level)}", "p", "selected", ""]
    rows = []
    for setting in tuning.settings:
        gain_cells = ["", "", ""]
        if setting.obstacle is not None:
            gain_cells = [UNKNOWN] * len(gain_cells)
        elif setting.difference is not None:
            gain_cells = [
                numbers.format_signed(setting.difference.mean),
                numbers.format_interval(setting.difference.interval, difference=True),
                numbers.format_p_value(setting.difference.p_corrected),
            ]
        means = [numbers.format_known_value(setting.means[metric]) for metric in tuning.rule.metrics]
        share = f"{100 * setting.selection_rate:.0f}%"
        rows.append([setting.name, *means, *gain_cells, share, _format_standing(setting, tuning)])
    notes = ["CIs and p values are simultaneous over all settings; selected: best in bootstrap resamples"]
    return Table(header, rows, notes, words=(0, len(header) - 1))


def _format_standing(setting: TriedSetting, tuning: TuningResult) -> str:
    """Return whether a setting is the winner, the default, as good or not allowed; empty if none of these."""
    if setting.name == tuning.winner:
        return "winner"
    words = []
    if setting.difference is None:
        words.append("default")
    if setting.obstacle is not None:
        words.append("not compared")
    if setting.name in tuning.indistinguishable:
        words.append("not significantly different")
    elif not setting.feasible:
        words.append("violates the constraints")
    return ", ".join(words)


def list_compared(tuning: TuningResult) -> list[TriedSetting]:
    """Return the settings that are compared with the default, the best first."""
    compared = []
    for setting in tuning.settings:
        if setting.difference is not None and setting.obstacle is None:
            compared.append(setting)
    return compared


def gain_rows(tuning: TuningResult, max_settings: int) -> ChartRows:
    """Return the expected gain on new questions, then the gains of the best settings, at most `max_settings`."""
    rows = []
    gain = tuning.expected_gain
    if tuning.winner != tuning.default and not isnan(gain):  # if the default wins, no gain is expected
        rows.append(
            ChartRow("expected on new questions", gain, tuning.expected_gain_interval, numbers.format_signed(gain), 1)
        )
    for setting in list_compared(tuning)[:max_settings]:
        if setting.difference is not None:
            gain = setting.difference.mean
            rows.append(ChartRow(setting.name, gain, setting.difference.interval, numbers.format_signed(gain)))
    label = f"difference in {tuning.metric}, with its {numbers.level_name(tuning.level)}"
    return ChartRows.scaled(f"gain in {tuning.metric} over {tuning.default}", label, rows, gains=True)
