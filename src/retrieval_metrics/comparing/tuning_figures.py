"""The figures of a choice among settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rcParams
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm, to_rgba

from retrieval_metrics.comparing.tuning import gains, grid
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.charts import GAIN, LOSS
from retrieval_metrics.presentation.plots import SMALL, Panel, broken, entitle, figure, rows_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from retrieval_metrics.comparing.tuning import Choice
    from retrieval_metrics.presentation.plots import Plot


SHOWN = 24
"""The largest number of settings that are drawn, the best."""
NAMED_CELLS = 49
"""The largest number of cells of a grid in which the gain is written."""
PALE = 0.45
"""How opaque the smallest and the largest gain of a grid are: letters stay readable on them."""


def drawn(tuning: Choice, kind: str) -> Plot:
    """Return the figure of a choice; see `Tuning.plot`."""
    if kind == "settings":
        left = sum(one.difference is not None for one in tuning.settings) - SHOWN
        note = f"{numbers.count(left, 'setting')} with smaller means left out" if left > 0 else ""
        return figure([rows_panel(gains(tuning, SHOWN))], title=tuning.conclusion, note=note)
    if kind == "grid":
        return figure([Panel(partial(_grid, tuning), rows=1.6 * len(grid(tuning).rows))], title=tuning.conclusion)
    raise ValueError(f"there is no plot {kind!r} of a tuning; there are settings and grid")


def _grid(tuning: Choice, axes: Axes) -> None:
    held = grid(tuning)
    gains = np.array([[np.nan if one is None else one.gain for one in row] for row in held.settings])
    most = float(np.nanmax(np.abs(gains))) or 1.0
    ends = [to_rgba(LOSS, PALE), to_rgba(LOSS, 0), to_rgba(GAIN, 0), to_rgba(GAIN, PALE)]
    colours = LinearSegmentedColormap.from_list("gains", list(zip((0, 0.5, 0.5, 1), ends, strict=True)))
    axes.imshow(gains, cmap=colours, norm=TwoSlopeNorm(0.0, -most, most), aspect="auto")
    for at, row in enumerate(held.settings):
        for across, one in enumerate(row):
            if one is None:
                continue
            marks = {tuning.winner: "winner", tuning.default: "default"}.get(one.name, "")
            said = numbers.signed(float(gains[at, across])) if gains.size <= NAMED_CELLS else ""
            axes.text(
                across, at, "\n".join(filter(None, [said, marks])), ha="center", va="center", fontsize=SMALL,
                color=rcParams["text.color"],
            )  # fmt: skip
    axes.set_xticks(range(len(held.columns)), [broken(f"{value}", 8) for value in held.columns])
    axes.set_yticks(range(len(held.rows)), [broken(f"{value}", 14) for value in held.rows])
    axes.tick_params(length=0)
    axes.set_xlabel(held.names[1])
    axes.set_ylabel(held.names[0])
    entitle(axes, f"gain in {tuning.metric} over {tuning.default}")
