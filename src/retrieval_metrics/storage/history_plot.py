"""Draw the figure of a history: the means of a metric from entry to entry."""

from __future__ import annotations

from math import ceil
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.metric import match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.line_panels import start_y_at_zero
from retrieval_metrics.reports.line_styles import TIED_COLOUR, line_style
from retrieval_metrics.reports.plots import SMALL_FONT_SIZE, Panel, add_title, figure, simplify_axes, wrap_text
from retrieval_metrics.storage.history_table import chance_reminder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.reports.plots import Plot
    from retrieval_metrics.storage.history_entry import Entry


# The largest number of labels below a panel.
MAX_LABELS = 8

# If all means are below this, the texts at breaks are written at the top of the panel, above the means.
MAX_MEAN_FOR_TEXT_ABOVE = 0.5

# The number of letters of a label that are shown; `History.table` has whole labels.
MAX_LABEL_LETTERS = 20

# What stands in the place of a mean from which nothing can be concluded; the printed history says why.
UNMEASURED = "not measured"


def history_figure(entries: Sequence[Entry], metric: str | Metric, across: int | None) -> Plot:
    """Return the figure of a metric, in which lines join the means on the same questions under the same rules.

    Where nothing can be concluded from a mean, it is not drawn.
    """
    names: dict[str, None] = {}
    for entry in entries:
        names |= dict.fromkeys(entry.means)
    name = match_metric_name(metric, set(names))
    drawn = [entry for entry in entries if name in entry.means]
    if not drawn:
        raise ValueError(f"no entry has {name}; the metrics are {', '.join(names)}")

    def draw(axes: Axes) -> None:
        means = [entry.means[name] for entry in drawn if entry.is_measured and np.isfinite(entry.means[name])]
        has_room_above = max(means, default=0.0) < MAX_MEAN_FOR_TEXT_ABOVE
        start = 0
        for position in range(1, len(drawn)):
            if drawn[position].differs_from(drawn[position - 1]):
                _draw_means(axes, drawn[start:position], start, name)
                _draw_break(axes, position, drawn[position - 1], drawn[position], is_above=has_room_above)
                start = position
        _draw_means(axes, drawn[start:], start, name)
        unmeasured = [position for position, entry in enumerate(drawn) if not entry.is_measured]
        for position in unmeasured:
            _mark_unmeasured(axes, position)
        if unmeasured:  # entries without a point need a place, too
            axes.set_xlim(-0.5, len(drawn) - 0.5)
        _label_entries(axes, drawn)
        add_title(axes, f"{name}, mean and 95% CI")
        start_y_at_zero(axes)
        simplify_axes(axes, grid="y")

    return figure([Panel(draw, rows=10)], across, wide=2)


def _draw_means(axes: Axes, entries: Sequence[Entry], start: int, name: str) -> None:
    """Draw the means of entries that can be compared, joined by a line, which entries that say nothing break."""
    means = np.array([entry.means[name] if entry.is_measured else np.nan for entry in entries])
    intervals = np.array([entry.intervals[name] for entry in entries])
    lengths = np.where(np.isfinite(intervals), np.abs(intervals - means[:, None]), 0).T
    axes.errorbar(
        start + np.arange(len(entries)),
        means,
        yerr=np.nan_to_num(lengths),
        color=line_style(0).colour,
        marker="o",
        markersize=6.5,
        elinewidth=2.4,
        linewidth=1.2,
    )


def _draw_break(axes: Axes, position: int, before: Entry, after: Entry, *, is_above: bool) -> None:
    """Draw a line between two entries that cannot be compared, and what changed."""
    changed = " and ".join(after.differs_from(before))
    axes.axvline(position - 0.5, linestyle=":", linewidth=1, color=TIED_COLOUR)
    axes.annotate(
        f"{changed} changed",
        (position - 0.5, 1 if is_above else 0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3 if is_above else 3),
        textcoords="offset points",
        va="top" if is_above else "bottom",
        rotation=90,
        fontsize=SMALL_FONT_SIZE,
    )


def _mark_unmeasured(axes: Axes, position: int) -> None:
    """Write in the place of a mean that it says how ids match, not how good the system is."""
    axes.annotate(
        UNMEASURED,
        (position, 0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        rotation=90,
        fontsize=SMALL_FONT_SIZE,
        color=TIED_COLOUR,
    )


def _label_entries(axes: Axes, entries: Sequence[Entry]) -> None:
    step = ceil(len(entries) / MAX_LABELS)
    positions = list(range(0, len(entries), step))
    labels = []
    for position in positions:
        label = shorten(entries[position].label, MAX_LABEL_LETTERS, placeholder="…")
        labels.append(wrap_text(label, MAX_LABEL_LETTERS))
    axes.set_xticks(positions, labels, rotation=30, ha="right", rotation_mode="anchor")
    n_looks = sum(entry.questions == entries[-1].questions for entry in entries)
    evaluations = numbers.format_count(n_looks, "evaluation")
    lines = [f"{evaluations} on the current questions", chance_reminder(n_looks)]
    axes.set_xlabel(";\n".join(filter(None, lines)))
