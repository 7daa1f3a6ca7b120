"""The figures of a choice among settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rcParams
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm, to_rgba

from retrieval_metrics.comparison.tuning_result import curve, gain_rows, grid
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import GAIN, LOSS_COLOUR, TIED_COLOUR, line_style
from retrieval_metrics.reports.name_key import NameKey
from retrieval_metrics.reports.plots import (
    SMALL_FONT_SIZE,
    Panel,
    add_title,
    count_name_rows,
    figure,
    label_line_ends,
    line_dashes,
    rows_panel,
    simplify_axes,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from retrieval_metrics.comparison.tuning_result import Curve, TuningResult
    from retrieval_metrics.reports.plots import Plot


SHOWN = 12
"""The largest number of settings that are drawn, the best."""
NAMED_CELLS = 49
"""The largest number of cells of a grid in which the gain is written."""
PALE = 0.45
"""How opaque the smallest and the largest gain of a grid are: letters stay readable on them."""


def tuning_figure(tuning: TuningResult, kind: str | None) -> Plot:
    """Return the figure of a choice; see `Tuning.plot`."""
    found = curve(tuning) if kind in {None, "curve"} else None
    key = NameKey([one.name for one in tuning.settings])
    if found is not None:
        panel = Panel(
            partial(_curve, tuning, found, key), rows=max(10.0, count_name_rows([name for name, _ in found.lines]))
        )
        note = f"diamond: what to expect of {tuning.winner} on new questions" if tuning.winner != tuning.default else ""
        return figure([panel], title=tuning.conclusion, note=note, wide=2, key=key)
    if kind in {None, "settings"}:
        left = sum(one.difference is not None for one in tuning.settings) - SHOWN
        note = f"{numbers.format_count(left, 'setting')} with smaller means left out" if left > 0 else ""
        return figure([rows_panel(key(gain_rows(tuning, SHOWN)))], title=tuning.conclusion, note=note, key=key)
    if kind == "grid":
        panel = Panel(partial(_grid, tuning, key), rows=1.6 * len(grid(tuning).rows))
        return figure([panel], title=tuning.conclusion, key=key)
    if kind == "curve":
        raise ValueError("a curve needs a parameter with three numbers or more; plot('settings') draws every setting")
    raise ValueError(f"there is no plot {kind!r} of a tuning; there are curve, settings and grid")


def _curve(tuning: TuningResult, found: Curve, key: NameKey, axes: Axes) -> None:
    """Draw the gain over a number, with whole intervals; lines are the values of the other parameters."""
    xs = sorted({x for _, points in found.lines for x, _ in points})
    step = min(np.diff(xs)) / 8
    axes.axhline(0, color=TIED_COLOUR, linewidth=1, linestyle=":")
    for at, (_, points) in enumerate(found.lines):
        colour, marker, _ = line_style(at)
        places = [x + step * (at - (len(found.lines) - 1) / 2) for x, _ in points]
        gained = [one.gain for _, one in points]
        axes.plot(
            places, gained, color=colour, marker=marker, linestyle=line_dashes(at), linewidth=1.6, markersize=5.5,
        )  # fmt: skip
        for place, (_, one) in zip(places, points, strict=True):
            if one.difference is not None:
                axes.vlines(place, *one.difference.interval[:2], color=colour, linewidth=1.4, alpha=0.75)
            words = {tuning.winner: "winner", tuning.default: "default"}
            if word := words.get(one.name):
                right = place > (xs[0] + xs[-1]) / 2
                axes.plot([place], [one.gain], marker="o", markersize=12, markerfacecolor="none", color=colour)
                axes.annotate(
                    word, (place, one.gain), xytext=(-9 if right else 9, -9 if word == "default" else 9),
                    textcoords="offset points", ha="right" if right else "left", va="center", fontsize=SMALL_FONT_SIZE,
                )  # fmt: skip
            if one.name == tuning.winner != tuning.default:
                beside = place + step / 2
                axes.vlines(beside, *tuning.expected_gain_interval[:2], color=rcParams["text.color"], linewidth=1.1)
                axes.plot([beside], [tuning.expected_gain], marker="D", markersize=5, color=rcParams["text.color"])
    axes.margins(x=0.06, y=0.08)
    axes.autoscale_view()
    axes.set_xlabel(found.parameter)
    add_title(axes, key(f"gain in {tuning.metric} over {tuning.default}, {numbers.level_name(tuning.level)}"))
    simplify_axes(axes, grid="y")
    if len(found.lines) > 1:
        label_line_ends(axes, [(name, points[-1][0], points[-1][1].gain) for name, points in found.lines])


def _grid(tuning: TuningResult, key: NameKey, axes: Axes) -> None:
    held = grid(tuning)
    gains = np.array([[np.nan if one is None else one.gain for one in row] for row in held.settings])
    most = float(np.nanmax(np.abs(gains))) or 1.0
    ends = [to_rgba(LOSS_COLOUR, PALE), to_rgba(LOSS_COLOUR, 0), to_rgba(GAIN, 0), to_rgba(GAIN, PALE)]
    colours = LinearSegmentedColormap.from_list("gains", list(zip((0, 0.5, 0.5, 1), ends, strict=True)))
    axes.imshow(gains, cmap=colours, norm=TwoSlopeNorm(0.0, -most, most), aspect="auto")
    for at, row in enumerate(held.settings):
        for across, one in enumerate(row):
            if one is None:
                continue
            marks = {tuning.winner: "winner", tuning.default: "default"}.get(one.name, "")
            said = numbers.signed(float(gains[at, across])) if gains.size <= NAMED_CELLS else ""
            axes.text(
                across, at, "\n".join(filter(None, [said, marks])), ha="center", va="center", fontsize=SMALL_FONT_SIZE,
                color=rcParams["text.color"],
            )  # fmt: skip
    axes.set_xticks(range(len(held.columns)), [wrap_text(f"{value}", 8) for value in held.columns])
    axes.set_yticks(range(len(held.rows)), [wrap_text(f"{value}", 14) for value in held.rows])
    axes.tick_params(length=0)
    axes.set_xlabel(held.names[1])
    axes.set_ylabel(held.names[0])
    add_title(axes, key(f"gain in {tuning.metric} over {tuning.default}"))
