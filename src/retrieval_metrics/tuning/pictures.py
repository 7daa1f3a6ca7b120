"""Drawings of a choice among settings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import TwoSlopeNorm

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.plots import Panel, broken, figure, plain
from retrieval_metrics.presentation.series import style
from retrieval_metrics.tuning.grid import grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from retrieval_metrics.presentation.plots import Plot
    from retrieval_metrics.tuning.choice import Choice

SHOWN = 24
"""The largest number of settings that are drawn, the best."""
NAMED_CELLS = 100
"""The largest number of cells of a grid in which the gain is written."""
LETTERS = 26
"""Letters after which a line below a narrow panel is wrapped."""
DARK = 0.6
"""How far a colour is from the middle, as a share, from which white letters are readable on it."""


def drawn(tuning: Choice, kind: str) -> Plot:
    """Return the figure of a choice; see `Tuning.plot`.

    Raises:
        ValueError: If the kind is unknown, or as in `grid`.
    """
    if kind == "settings":
        rows = min(len(tuning.settings), SHOWN) + 1
        return figure([Panel(partial(_settings, tuning), rows=rows)], 1)
    if kind == "grid":
        return figure([Panel(partial(_grid, tuning), rows=len(grid(tuning).rows))], 1)
    raise ValueError(f"there is no plot {kind!r} of a tuning; there are settings and grid")


def _settings(tuning: Choice, axes: Axes) -> None:
    tried = [one for one in tuning.settings if one.difference is not None][:SHOWN]
    left = len(tuning.settings) - 1 - len(tried)
    for at, one in enumerate(tried, start=1):
        if one.difference is not None:
            colour = style(0).colour
            axes.hlines(at, *one.difference.interval, color=colour, linewidth=1.6)
            axes.plot([one.difference.mean], [at], marker="o", color=colour, markersize=5)
    axes.hlines(0, *tuning.new_gain_interval, color=style(1).colour, linewidth=2.4)
    axes.plot([tuning.new_gain], [0], marker="s", color=style(1).colour, markersize=6)
    axes.axvline(0, color="0.6", linewidth=0.9, linestyle=":")
    names = [broken(one.name) for one in tried]
    axes.set_yticks(range(len(names) + 1), ["the choice, on new questions", *names])
    axes.set_ylim(len(names) + 0.5, -0.5)
    said = [f"gain in {tuning.metric} over", tuning.default, *([f"{left} more settings are lower"] if left else [])]
    axes.set_xlabel("\n".join(broken(line, LETTERS) for line in said))
    plain(axes, grid="x")


def _grid(tuning: Choice, axes: Axes) -> None:
    held = grid(tuning)
    base = tuning.default_mean
    gains = np.array(
        [[np.nan if one is None else one.means[tuning.metric] - base for one in row] for row in held.settings]
    )
    most = float(np.nanmax(np.abs(gains))) or 1.0
    image = axes.imshow(gains, cmap="RdBu", norm=TwoSlopeNorm(0.0, -most, most), aspect="auto")
    for at, row in enumerate(held.settings):
        for across, one in enumerate(row):
            if one is None:
                continue
            marks = {tuning.winner: "winner", tuning.default: "default"}.get(one.name, "")
            said = numbers.signed(float(gains[at, across])) if gains.size <= NAMED_CELLS else ""
            colour = "white" if abs(gains[at, across]) > DARK * most else "black"
            axes.text(
                across, at, "\n".join(filter(None, [said, marks])), ha="center", va="center", color=colour, size=8
            )
    axes.set_xticks(range(len(held.columns)), [broken(f"{value}") for value in held.columns])
    axes.set_yticks(range(len(held.rows)), [broken(f"{value}") for value in held.rows])
    axes.set_xlabel(held.names[1])
    axes.set_ylabel(held.names[0])
    axes.set_title(f"gain in {broken(tuning.metric)}", loc="left")
    axes.figure.colorbar(image, ax=axes, shrink=0.8)
