"""Plots of plain numbers; text and lines have the colours of matplotlib's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from retrieval_metrics.statistics.intervals import Interval
    from retrieval_metrics.types import FloatArray

COLOURS = ("#3d8fd1", "#e08a1e", "#2fa37c", "#b06ac0", "#d1605e", "#8d8f3a", "#7a7f87")
"""Mid tones that differ from each other, also for colour-blind readers, and from a white or black page."""
MARKERS = "osD^vPX"
TIED = "#9aa0a6"
WIDEST_GAP = 0.8
"""The share of the space between two metrics that the systems take up."""


class Plot(Figure):
    """A figure that displays in any notebook and does not touch the global state of pyplot."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        from io import BytesIO  # noqa: PLC0415  (only needed in a notebook)

        page = BytesIO()
        self.savefig(page, format="png", dpi=120)
        return page.getvalue()


class Side(NamedTuple):
    """One of the two systems of a pair."""

    name: str
    colour: str

    @property
    def better(self) -> str:
        """The label of the side where this system is better."""
        return f"{_literal(self.name)} better"


def side(name: str, systems: Sequence[str]) -> Side:
    """Return a system with its colour, which is the same in all plots."""
    return Side(name, COLOURS[systems.index(name) % len(COLOURS)])


def _literal(name: str) -> str:
    """Return a name with dollar signs escaped, which matplotlib would read as a formula."""
    return name.replace("$", r"\$")


def _plain(axes: Axes, *, grid: str) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x" if grid == "x" else "y", alpha=0.25, linewidth=0.7)
    axes.set_axisbelow(True)


def draw_intervals(
    axes: Axes, metrics: Sequence[str], systems: Mapping[str, Sequence[tuple[float, Interval]]], level: float
) -> None:
    """Draw the mean and interval of every metric, with the systems of one metric below each other."""
    offsets = (np.arange(len(systems)) - (len(systems) - 1) / 2) * WIDEST_GAP / max(len(systems), 3)
    for at, (system, cells) in enumerate(systems.items()):
        means = np.array([mean for mean, _ in cells])
        ends = np.array([interval for _, interval in cells])
        reach = np.where(np.isfinite(ends), np.abs(ends - means[:, None]), 0).T
        axes.errorbar(
            means,
            np.arange(len(metrics)) + offsets[at],
            xerr=np.nan_to_num(reach),
            fmt=MARKERS[at % len(MARKERS)],
            color=COLOURS[at % len(COLOURS)],
            label=_literal(system),
            capsize=2.5,
            markersize=5,
            linewidth=1.6,
        )
    axes.set_yticks(range(len(metrics)), metrics)
    axes.set_ylim(len(metrics) - 0.5, -0.5)
    axes.set_xlabel(f"mean, with its {100 * level:g} % interval")
    axes.set_xlim(left=0)
    _plain(axes, grid="x")
    if len(systems) > 1:
        axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(systems), 3))


def draw_cutoffs(axes: Axes, lines: Mapping[str, Mapping[int, float]], metric: str = "") -> None:
    """Draw means over the cut-off k, one line per metric or system, with its name at the end of the line."""
    for at, (name, means) in enumerate(lines.items()):
        axes.plot(
            list(means), list(means.values()), color=COLOURS[at % len(COLOURS)], label=_literal(name), linewidth=1.8
        )
    axes.set_xlabel("cut-off k")
    axes.set_ylabel(f"{metric}@k, mean" if metric else "mean at k")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
    _plain(axes, grid="y")
    _name_lines(axes, lines)


def _name_lines(axes: Axes, lines: Mapping[str, Mapping[int, float]]) -> None:
    """Write each line's name at its end, moved apart where names would overlap."""
    low, high = axes.get_ylim()
    apart = (high - low) * 0.06
    ends = sorted((list(means.values())[-1], at, name) for at, (name, means) in enumerate(lines.items()))
    lowest = -np.inf
    last = max(max(means) for means in lines.values())
    for height, at, name in ends:
        place = max(height, lowest + apart)
        axes.annotate(
            _literal(name),
            (last, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=COLOURS[at % len(COLOURS)],
            fontsize="small",
            annotation_clip=False,
        )
        lowest = place


def draw_differences(axes: Axes, values: FloatArray, mean: float, interval: Interval, sides: tuple[Side, Side]) -> None:
    """Draw the difference of every query, largest first, with the mean difference and its interval."""
    system, baseline = sides
    ordered = np.sort(values)[::-1]
    edges = np.arange(len(ordered) + 1) + 0.5
    if len(ordered):  # two outlines instead of a bar per query, as there may be thousands
        axes.stairs(np.maximum(ordered, 0), edges, fill=True, color=system.colour)
        axes.stairs(np.minimum(ordered, 0), edges, fill=True, color=baseline.colour)
    text = rcParams["text.color"]
    axes.axhline(0, color=text, linewidth=0.8)
    if np.isfinite(interval).all():
        axes.axhspan(*interval, color=text, alpha=0.14, linewidth=0)
    axes.axhline(mean, color=text, linewidth=1.2, linestyle="--")
    above = mean >= 0
    axes.annotate(
        f"mean {mean:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]",
        (1.0, interval.high if above else interval.low),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3 if above else -3),
        textcoords="offset points",
        ha="right",
        va="bottom" if above else "top",
        fontsize="small",
    )
    axes.text(
        0.02, 0.03, baseline.better, transform=axes.transAxes, color=baseline.colour, fontsize="small", va="bottom"
    )
    axes.text(
        0.98, 0.97, system.better, transform=axes.transAxes, color=system.colour, fontsize="small", va="top", ha="right"
    )
    widest = (np.abs(ordered).max(initial=0.0) or 1.0) * 1.1
    axes.set_ylim(-widest, widest)
    axes.set_xlim(0.5, max(len(ordered), 1) + 0.5)
    axes.set_xlabel("queries, sorted")
    axes.set_ylabel("difference")
    _plain(axes, grid="y")


class Point(NamedTuple):
    """One point of a plot and its name."""

    name: str
    x: float
    y: float


def draw_trade_off(axes: Axes, line: Sequence[Point], label: str, reference: Point) -> None:
    """Draw named points joined by a line that `label` describes, and a reference beside them as a cross."""
    xs, ys = [point.x for point in line], [point.y for point in line]
    axes.plot(xs, ys, marker="o", color=COLOURS[0], label=label, linewidth=1.8)
    for name, x, y in line:
        axes.annotate(_literal(name), (x, y), textcoords="offset points", xytext=(5, 5), fontsize="small")
    name, x, y = reference
    axes.plot([x], [y], "x", color=COLOURS[1], markersize=9, markeredgewidth=2, label=_literal(name))
    axes.legend(frameon=False)
    _plain(axes, grid="y")


def draw_wins(axes: Axes, rows: Sequence[tuple[str, int, int, int]], sides: tuple[Side, Side]) -> None:
    """Draw, per metric, the queries won to the right, lost to the left, and tied in the middle."""
    system, baseline = sides
    for at, (_, won, tied, lost) in enumerate(rows):
        for left, width, colour in (
            (-tied / 2 - lost, lost, baseline.colour),
            (-tied / 2, tied, TIED),
            (tied / 2, won, system.colour),
        ):
            axes.barh(at, width, left=left, color=colour, height=0.72, linewidth=0, alpha=0.45 if colour == TIED else 1)
    widest = max((tied / 2 + max(won, lost) for _, won, tied, lost in rows), default=1) * 1.22
    for at, (_, won, tied, lost) in enumerate(rows):
        for place, number, side in ((-tied / 2 - lost, lost, "right"), (tied / 2 + won, won, "left")):
            shift = -4 if side == "right" else 4
            axes.annotate(
                str(number), (place, at), xytext=(shift, 0), textcoords="offset points", ha=side, va="center",
                fontsize="small",
            )  # fmt: skip
        if tied:
            axes.text(0, at, str(tied), ha="center", va="center", fontsize="small")
    axes.set_yticks(range(len(rows)), [metric for metric, *_ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(-widest, widest)
    axes.set_xticks([])
    axes.set_xlabel("queries")
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.text(
        0.0, 1.01, baseline.better, transform=axes.transAxes, color=baseline.colour, fontsize="small", va="bottom"
    )
    axes.text(1.0, 1.01, system.better, transform=axes.transAxes, color=system.colour, fontsize="small", ha="right")
    axes.text(0.5, 1.01, "tied", transform=axes.transAxes, color=TIED, fontsize="small", ha="center")
