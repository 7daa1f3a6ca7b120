"""A metric over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from retrieval_metrics.definition.metric import as_metric
from retrieval_metrics.presentation.series import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.history.entry import Entry

MOST_LABELS = 12


def history_figure(entries: Sequence[Entry], metric: str | Metric) -> Figure:
    """Return the figure of a metric; a line joins what was measured on the same questions by the same rules."""
    name = str(as_metric(metric))
    having = [entry for entry in entries if name in entry.means]
    if not having:
        known = dict.fromkeys(each for entry in entries for each in entry.means)
        raise ValueError(f"no entry has {name}; there are {', '.join(known)}")
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    start = 0
    for at in range(1, len(having) + 1):
        if at == len(having) or having[at].differs_from(having[at - 1]):
            _draw(axes, having[start:at], start, name)
            if at < len(having):
                _break(axes, at, having[at - 1], having[at])
            start = at
    step = -(-len(having) // MOST_LABELS)
    places = range(0, len(having), step)
    axes.set_xticks(list(places), [having[at].label.replace("$", r"\$") for at in places], rotation=30, ha="right")
    axes.set_ylabel(f"{name}, mean and 95 % interval")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25, linewidth=0.7)
    looked = f"{len(having)} looks; the more often one looks, the likelier the best is best by chance."
    axes.set_title(looked, fontsize="x-small", loc="right")
    return figure


def _draw(axes: Axes, entries: Sequence[Entry], start: int, name: str) -> None:
    means = np.array([entry.means[name] for entry in entries])
    ends = np.array([entry.intervals[name] for entry in entries])
    reach = np.where(np.isfinite(ends), np.abs(ends - means[:, None]), 0).T
    places = start + np.arange(len(entries))
    axes.errorbar(places, means, yerr=np.nan_to_num(reach), color=COLOURS[0], marker="o", capsize=3, linewidth=1.6)


def _break(axes: Axes, at: int, before: Entry, after: Entry) -> None:
    what = " and ".join(after.differs_from(before))
    axes.axvline(at - 0.5, linestyle=":", linewidth=1, color="grey")
    axes.annotate(
        f"{what} changed",
        (at - 0.5, 1),
        xycoords=("data", "axes fraction"),
        xytext=(3, -3),
        textcoords="offset points",
        va="top",
        fontsize="x-small",
        rotation=90,
    )
