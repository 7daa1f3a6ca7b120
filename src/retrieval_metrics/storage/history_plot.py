"""The figure of a history: the means of a metric from entry to entry."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.metric import Metric, match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import TIED_COLOUR, line_style
from retrieval_metrics.reports.plots import (
    SMALL_FONT_SIZE,
    Panel,
    add_title,
    figure,
    simplify_axes,
    start_y_at_zero,
    wrap_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from retrieval_metrics.reports.plots import Plot
    from retrieval_metrics.storage.history import Entry


MOST_LABELS = 8
"""The number of labels below a panel."""
HALF = 0.5
"""If all means are below this, words are written above them."""
LETTERS = 20
"""The number of letters of a label that are shown; `History.table` has whole labels."""


def history_figure(entries: Sequence[Entry], metric: str | Metric, across: int | None) -> Plot:
    """Return the figure of a metric; lines join means on the same questions under the same rules."""
    name = match_metric_name(metric, {each for entry in entries for each in entry.means})
    having = [entry for entry in entries if name in entry.means]
    if not having:
        known = dict.fromkeys(each for entry in entries for each in entry.means)
        raise ValueError(f"no entry has {name}; the metrics are {', '.join(known)}")

    def draw(axes: Axes) -> None:
        start, top = 0, float(np.nanmax([entry.means[name] for entry in having])) < HALF
        for at in range(1, len(having) + 1):
            if at == len(having) or having[at].differs_from(having[at - 1]):
                _draw(axes, having[start:at], start, name)
                if at < len(having):
                    _break(axes, at, having[at - 1], having[at], top=top)
                start = at
        step = -(-len(having) // MOST_LABELS)
        places = range(0, len(having), step)
        labels = [wrap_text(shorten(having[at].label, LETTERS, placeholder="…"), LETTERS) for at in places]
        axes.set_xticks(list(places), labels, rotation=30, ha="right", rotation_mode="anchor")
        looks = numbers.format_count(sum(entry.questions == having[-1].questions for entry in having), "look", "looks")
        axes.set_xlabel(f"{looks} at the last questions; the more looks,\nthe more likely the top result is luck")
        add_title(axes, f"{name}, mean and 95 % interval")
        start_y_at_zero(axes)
        simplify_axes(axes, grid="y")

    return figure([Panel(draw, rows=10)], across, wide=2)


def _draw(axes: Axes, entries: Sequence[Entry], start: int, name: str) -> None:
    means = np.array([entry.means[name] for entry in entries])
    ends = np.array([entry.intervals[name] for entry in entries])
    reach = np.where(np.isfinite(ends), np.abs(ends - means[:, None]), 0).T
    places = start + np.arange(len(entries))
    axes.errorbar(
        places,
        means,
        yerr=np.nan_to_num(reach),
        color=line_style(0).colour,
        marker="o",
        markersize=6.5,
        elinewidth=2.4,
        linewidth=1.2,
    )


def _break(axes: Axes, at: int, before: Entry, after: Entry, *, top: bool) -> None:
    what = " and ".join(after.differs_from(before))
    axes.axvline(at - 0.5, linestyle=":", linewidth=1, color=TIED_COLOUR)
    axes.annotate(
        f"{what} changed",
        (at - 0.5, 1 if top else 0),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3 if top else 3),
        textcoords="offset points",
        va="top" if top else "bottom",
        rotation=90,
        fontsize=SMALL_FONT_SIZE,
    )
