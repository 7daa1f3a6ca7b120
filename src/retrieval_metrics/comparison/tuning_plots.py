"""Draw the figures of a choice among settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rcParams
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm, to_rgba

from retrieval_metrics.comparison.tuning_curves import find_curve, make_grid
from retrieval_metrics.comparison.tuning_report import gain_rows, list_compared
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.line_panels import LineEnd, count_name_rows, label_line_ends, line_dashes
from retrieval_metrics.reports.line_styles import GAIN, LOSS_COLOUR, TIED_COLOUR, line_style
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.plots import SMALL_FONT_SIZE, Panel, add_title, figure, simplify_axes, wrap_text
from retrieval_metrics.reports.row_panels import rows_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from retrieval_metrics.comparison.tuning_curves import Curve, CurvePoint
    from retrieval_metrics.comparison.tuning_result import TuningResult
    from retrieval_metrics.reports.plots import Plot


# The largest number of settings that are drawn; they are the best.
MAX_DRAWN = 12
# In a grid with more cells, the gains are shown by colour alone.
MAX_CELLS_WITH_GAIN = 49
# The opacity of the smallest and the largest gain of a grid, on which letters stay readable.
OPACITY = 0.45
# The distance of a label from its point, in points of the font.
LABEL_OFFSET = 9


def tuning_figure(tuning: TuningResult, kind: str | None) -> Plot:
    """Return the figure of a choice; see `Tuning.plot`."""
    key = NameKey([setting.name for setting in tuning.settings])
    if kind in {None, "curve"}:
        curve = find_curve(tuning)
        if curve is not None:
            n_rows = max(10.0, count_name_rows(list(curve.lines)))
            panel = Panel(partial(_draw_curve, tuning, curve, key), rows=n_rows)
            note = ""
            if tuning.winner != tuning.default:
                note = f"diamond: expected gain of {tuning.winner} on new questions"
            return figure([panel], title=tuning.conclusion, note=note, wide=2, key=key)
    if kind in {None, "settings"}:
        n_left_out = len(list_compared(tuning)) - MAX_DRAWN
        note = ""
        if n_left_out > 0:
            note = f"{numbers.format_count(n_left_out, 'setting')} with smaller means left out"
        return figure([rows_panel(key(gain_rows(tuning, MAX_DRAWN)))], title=tuning.conclusion, note=note, key=key)
    if kind == "grid":
        panel = Panel(partial(_draw_grid, tuning, key), rows=1.6 * len(make_grid(tuning).rows))
        return figure([panel], title=tuning.conclusion, key=key)
    if kind == "curve":
        raise ValueError("a curve needs a parameter with three numbers or more; plot('settings') draws every setting")
    raise ValueError(f"there is no plot {kind!r} of a tuning; there are curve, settings and grid")


def _draw_curve(tuning: TuningResult, curve: Curve, key: NameKey, axes: Axes) -> None:
    """Draw the gain over a number, with whole intervals, as a line for each combination of the other parameters."""
    values: set[float] = set()
    for points in curve.lines.values():
        values.update(point.value for point in points)
    xs = sorted(values)
    step = min(np.diff(xs)) / 8
    axes.axhline(0, color=TIED_COLOUR, linewidth=1, linestyle=":")
    for index, points in enumerate(curve.lines.values()):
        # Intervals of several lines at one number stand side by side.
        offset = step * (index - (len(curve.lines) - 1) / 2)
        _draw_line(tuning, points, index, offset, step, (xs[0] + xs[-1]) / 2, axes)
    axes.margins(x=0.06, y=0.08)
    axes.autoscale_view()
    axes.set_xlabel(curve.parameter)
    add_title(axes, key(f"gain in {tuning.metric} over {tuning.default}, {numbers.level_name(tuning.level)}"))
    simplify_axes(axes, grid="y")
    if len(curve.lines) > 1:
        line_ends = []
        for name, points in curve.lines.items():
            last_point = points[-1]
            line_ends.append(LineEnd(name, last_point.value, last_point.setting.gain))
        label_line_ends(axes, line_ends)


def _draw_line(
    tuning: TuningResult,
    points: list[CurvePoint],
    index: int,
    offset: float,
    step: float,
    middle: float,
    axes: Axes,
) -> None:
    colour, marker, _ = line_style(index)
    positions = [point.value + offset for point in points]
    gains = [point.setting.gain for point in points]
    axes.plot(
        positions, gains, color=colour, marker=marker, linestyle=line_dashes(index), linewidth=1.6, markersize=5.5,
    )  # fmt: skip
    for position, point in zip(positions, points, strict=True):
        setting = point.setting
        if setting.difference is not None:
            axes.vlines(position, *setting.difference.interval[:2], color=colour, linewidth=1.4, alpha=0.75)
        label = {tuning.winner: "winner", tuning.default: "default"}.get(setting.name)
        if label is not None:
            # Labels in the right half stand to the left of their points, so that they stay within the axes.
            is_right = position > middle
            x_offset = -LABEL_OFFSET if is_right else LABEL_OFFSET
            y_offset = -LABEL_OFFSET if label == "default" else LABEL_OFFSET
            axes.plot([position], [setting.gain], marker="o", markersize=12, markerfacecolor="none", color=colour)
            axes.annotate(
                label, (position, setting.gain), xytext=(x_offset, y_offset),
                textcoords="offset points", ha="right" if is_right else "left", va="center", fontsize=SMALL_FONT_SIZE,
            )  # fmt: skip
        if setting.name == tuning.winner != tuning.default:
            beside = position + step / 2
            axes.vlines(beside, *tuning.expected_gain_interval[:2], color=rcParams["text.color"], linewidth=1.1)
            axes.plot([beside], [tuning.expected_gain], marker="D", markersize=5, color=rcParams["text.color"])


def _draw_grid(tuning: TuningResult, key: NameKey, axes: Axes) -> None:
    grid = make_grid(tuning)
    gains = np.full((len(grid.rows), len(grid.columns)), np.nan)
    for row, settings in enumerate(grid.settings):
        for column, setting in enumerate(settings):
            if setting is not None and setting.obstacle is None:
                gains[row, column] = setting.gain
    largest_gain = float(np.nanmax(np.abs(gains))) or 1.0
    ends = [to_rgba(LOSS_COLOUR, OPACITY), to_rgba(LOSS_COLOUR, 0), to_rgba(GAIN, 0), to_rgba(GAIN, OPACITY)]
    colours = LinearSegmentedColormap.from_list("gains", list(zip((0, 0.5, 0.5, 1), ends, strict=True)))
    axes.imshow(gains, cmap=colours, norm=TwoSlopeNorm(0.0, -largest_gain, largest_gain), aspect="auto")
    for row, settings in enumerate(grid.settings):
        for column, setting in enumerate(settings):
            if setting is None:
                continue
            mark = {tuning.winner: "winner", tuning.default: "default"}.get(setting.name, "")
            gain = ""
            if setting.obstacle is not None:
                mark = "not compared"
            elif gains.size <= MAX_CELLS_WITH_GAIN:
                gain = numbers.format_signed(float(gains[row, column]))
            axes.text(
                column, row, "\n".join(filter(None, [gain, mark])), ha="center", va="center", fontsize=SMALL_FONT_SIZE,
                color=rcParams["text.color"],
            )  # fmt: skip
    axes.set_xticks(range(len(grid.columns)), [wrap_text(f"{value}", 8) for value in grid.columns])
    axes.set_yticks(range(len(grid.rows)), [wrap_text(f"{value}", 14) for value in grid.rows])
    axes.tick_params(length=0)
    axes.set_xlabel(grid.column_parameter)
    axes.set_ylabel(grid.row_parameter)
    add_title(axes, key(f"gain in {tuning.metric} over {tuning.default}"))
