"""Draw the figure of a threshold: false answers and the metric over the score above which results stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.reports.line_panels import line_dashes, start_y_at_zero
from retrieval_metrics.reports.line_styles import TIED_COLOUR, line_style
from retrieval_metrics.reports.plots import SMALL_FONT_SIZE, Panel, figure, simplify_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from retrieval_metrics.evaluation.threshold import Threshold
    from retrieval_metrics.reports.plots import Plot


def threshold_figure(threshold: Threshold) -> Plot:
    """Return the figure of the false answers, their bound and the metric over the score of a threshold."""
    points = [point for point in threshold.curve if np.isfinite(point.score)]
    scores = [point.score for point in points]
    shares_by_label = {
        "false answers": [point.false_answers / threshold.n_unanswerable for point in points],
        f"false answers, {100 * threshold.level:g}% bound": [point.false_answer_bound for point in points],
        threshold.metric: [point.mean for point in points],
    }

    def draw(axes: Axes) -> None:
        for series, (label, shares) in enumerate(shares_by_label.items()):
            colour = line_style(series).colour
            dashes = line_dashes(series)
            axes.plot(scores, shares, color=colour, linestyle=dashes, label=label, drawstyle="steps-post")
        axes.axhline(threshold.max_false_answers, color=TIED_COLOUR, linewidth=1, linestyle=":")
        if threshold.score is not None and np.isfinite(threshold.score):
            axes.axvline(threshold.score, color=TIED_COLOUR, linewidth=1)
        axes.set_xlabel(f"score threshold; dotted: limit {100 * threshold.max_false_answers:g}%")
        axes.legend(loc="best", frameon=False, fontsize=SMALL_FONT_SIZE)
        start_y_at_zero(axes)
        simplify_axes(axes, grid="y")

    return figure([Panel(draw, rows=12)], title=threshold.conclusion, wide=2)
