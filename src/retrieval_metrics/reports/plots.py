"""Figures of matplotlib: their layout, curves, and panels of rows."""

from __future__ import annotations

from html import escape
from math import ceil, isnan
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib import rc_context, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.offsetbox import AnnotationBbox, HPacker, TextArea
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation, blended_transform_factory, offset_copy

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.charts import GAIN, LOSS_COLOUR, TIED_COLOUR, line_style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from matplotlib.transforms import Transform

    from retrieval_metrics.reports.charts import (
        ChartRow,
        ChartRows,
        CutoffLines,
        Line,
        Point,
        PointLines,
        Shares,
        SortedChanges,
    )
    from retrieval_metrics.reports.name_key import NameKey


# Width of a panel in inches: the widest that a phone shows without shrinking the letters.
PANEL_WIDTH = 4.6

# Height of a panel without rows, in inches, and of a small one.
PANEL_HEIGHT = 3.1
SMALL_PANEL_HEIGHT = 2.5

# Height of a row in a panel with rows, in inches.
ROW_HEIGHT = 0.3

# Height of what is around the rows of a panel: its title, its ticks and its label.
HEIGHT_AROUND_ROWS = 1.0

# Points of the letters, and of those of a note: on a phone at least 11 pixels.
FONT_SIZE = 10.5
SMALL_FONT_SIZE = 9.5

# Letters in an inch, those of a title, and those of a note: after them, a line is wrapped.
LETTERS_PER_INCH = 11.5
BOLD_LETTERS_PER_INCH = 9.8
SMALL_LETTERS_PER_INCH = 12.5

# Panels in a row, if nothing else is asked for.
DEFAULT_ACROSS = 2

# In a window with fewer pixels, a notebook shows the panels below each other.
NARROW_WINDOW = 900

# As a notebook shows it.
PIXELS_PER_INCH = 85

_SETTINGS: dict[Any, Any] = {
    "font.size": FONT_SIZE,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.labelsize": FONT_SIZE,
    "xtick.labelsize": FONT_SIZE,
    "ytick.labelsize": FONT_SIZE,
}


class Panel(NamedTuple):
    """One of the plots of a figure.

    Attributes:
        draw: Draws it.
        rows: How many rows it has, where it has rows.
        small: Whether it is one of a small multiple, of which more are in a row.
        shares: Whether its rows are named by the panel to the left of it.
    """

    draw: Callable[[Axes], None]
    rows: float = 0
    small: bool = False
    shares: bool = False

    @property
    def height(self) -> float:
        """The height it needs, in inches."""
        if self.rows:
            return HEIGHT_AROUND_ROWS + ROW_HEIGHT * self.rows
        return SMALL_PANEL_HEIGHT if self.small else PANEL_HEIGHT


class _WrappedText:
    """A text above or below the panels, which is wrapped anew to the width of each arrangement."""

    def __init__(self, text: Text, words: str, letters_per_inch: float) -> None:
        self.text = text
        self._words = words
        self._letters_per_inch = letters_per_inch
        self._wrapped = text.get_text()

    def wrap(self, inches: float) -> None:
        """Wrap the words to a width, unless somebody changed the text since."""
        if self.text.get_text() == self._wrapped:
            self.text.set_text(wrap_text(self._words, round(inches * self._letters_per_inch)))
            self._wrapped = self.text.get_text()

    @property
    def n_lines(self) -> int:
        """How many lines the text has."""
        return self.text.get_text().count("\n") + 1


class Plot(Figure):
    """A figure that shows itself in any notebook, stacked where that is narrow, and leaves pyplot alone."""

    def __init__(self, panels: Sequence[Panel], across: int | None, title: str, note: str, wide: int) -> None:
        self._engine = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
        super().__init__(layout=self._engine)
        FigureCanvasAgg(self)
        self._panels = panels
        self._across = across
        self._wide = wide
        self._texts: list[_WrappedText] = []
        if title:
            text = self.suptitle("", x=0.012, ha="left", fontsize=11.5, fontweight="bold")
            self._texts.append(_WrappedText(text, title, BOLD_LETTERS_PER_INCH))
        if note:
            text = self.supxlabel("", x=0.012, ha="left", fontsize=SMALL_FONT_SIZE, fontweight="normal")
            self._texts.append(_WrappedText(text, note, SMALL_LETTERS_PER_INCH))
        self._panel_axes: list[Axes] = []
        for panel in panels:
            axes = self.add_subplot()
            self._panel_axes.append(axes)
            panel.draw(axes)
        self._panel_titles = [axes.set_title(axes.get_title(loc="left"), loc="left") for axes in self._panel_axes]
        self.arrange(across or DEFAULT_ACROSS)

    def arrange(self, across: int) -> None:
        """Put the panels beside each other, at most `across` in a row, or one more of small ones."""
        rows = arrange_in_rows(self._panels, across)
        heights = []
        for row in rows:
            heights.append(max([self._panels[number].height for number in row]))
        width = PANEL_WIDTH * min(across, max(self._wide, *map(len, rows)))
        for text in self._texts:
            text.wrap(width - 0.3)
        n_lines = sum(text.n_lines for text in self._texts)
        self.set_size_inches(width, sum(heights) + 0.2 * n_lines + 0.1)
        grid = GridSpec(len(rows), 1, figure=self, height_ratios=heights)
        for row_number, row in enumerate(rows):
            row_grid = grid[row_number].subgridspec(1, len(row))
            for column, number in enumerate(row):
                axes = self._panel_axes[number]
                axes.set_subplotspec(row_grid[column])
                if self._panels[number].shares:
                    axes.tick_params(labelleft=column == 0)
        self._wrap_panel_texts(rows)

    def _wrap_panel_texts(self, rows: Sequence[Sequence[int]]) -> None:
        """Wrap the titles and labels of the panels to the room that the names beside their rows leave."""
        self._engine.execute(self)
        for row in rows:
            for column, number in enumerate(row):
                axes = self._panel_axes[number]
                # In shares of the width of the figure: the room of the panel, and the middle of its axes.
                left = column / len(row)
                right = (column + 1) / len(row)
                position = axes.get_position()
                middle = (position.x0 + position.x1) / 2
                self._rewrap(self._panel_titles[number], right - position.x0, BOLD_LETTERS_PER_INCH)
                self._rewrap(axes.xaxis.label, 2 * min(middle - left, right - middle), LETTERS_PER_INCH)

    def _rewrap(self, text: Text, share: float, letters_per_inch: float) -> None:
        words = " ".join(text.get_text().split("\n"))
        text.set_text(_wrap_line(words, int(share * self.get_figwidth() * letters_per_inch)))

    def _repr_png_(self) -> bytes:
        from io import BytesIO  # noqa: PLC0415  (only needed in a notebook)

        page = BytesIO()
        self.savefig(page, format="png", dpi=2 * PIXELS_PER_INCH)
        return page.getvalue()

    def _repr_html_(self) -> str:
        image = (
            f'<img alt="{escape(self.describe)}" {self._source("src")} style="width:{self._width}px;max-width:100%">'
        )
        if self._across is not None or self._width <= PIXELS_PER_INCH * PANEL_WIDTH:
            return image
        self.arrange(1)
        narrow = f'<source media="(max-width: {NARROW_WINDOW}px)" {self._source("srcset")}>'
        self.arrange(DEFAULT_ACROSS)
        return f"<picture>{narrow}{image}</picture>"

    def _source(self, name: str) -> str:
        from base64 import b64encode  # noqa: PLC0415  (only needed in a notebook)

        return f'{name}="data:image/png;base64,{b64encode(self._repr_png_()).decode()}"'

    @property
    def _width(self) -> int:
        return round(self.get_figwidth() * PIXELS_PER_INCH)

    @property
    def describe(self) -> str:
        """What the figure says in words: its title, or the titles of its panels."""
        if self._texts:
            return " ".join(self._texts[0].text.get_text().split())
        titles = [axes.get_title(loc="left") for axes in self._panel_axes]
        return ", ".join(filter(None, titles))


def arrange_in_rows(panels: Sequence[Panel], across: int) -> list[list[int]]:
    """Return the numbers of the panels of each row; rows of one kind are filled evenly, so that none has a hole.

    Example:
        >>> large, small = Panel(print), Panel(print, small=True)
        >>> rows_of([large, large, small, small, small, small], 2)
        [[0, 1], [2, 3], [4, 5]]
        >>> rows_of([small] * 5, 2)
        [[0, 1, 2], [3, 4]]
    """
    rows: list[list[int]] = []
    start = 0
    while start < len(panels):
        end = start
        while end < len(panels) and panels[end].small == panels[start].small:
            end += 1
        max_across = across + 1 if panels[start].small and across > 1 else across
        n_panels = end - start
        n_rows = ceil(n_panels / max_across)
        for row in range(n_rows):
            first = ceil(start + n_panels * row / n_rows)
            following = ceil(start + n_panels * (row + 1) / n_rows)
            rows.append(list(range(first, following)))
        start = end
    return rows


def figure(
    panels: Sequence[Panel],
    across: int | None = None,
    *,
    title: str = "",
    note: str = "",
    wide: int = 1,
    key: NameKey | None = None,
) -> Plot:
    """Return a figure of panels, with a sentence above them, and below the names that have numbers and a note."""
    if key is not None:
        title = key(title)
        note = key(note)
        lines = key.lines
        if note:
            lines.append(note)
        note = "\n".join(lines)
    if across is not None:
        positive_integer(across, "across")
    with rc_context(_SETTINGS):
        return Plot(panels, across, title, note, wide)


def wrap_text(words: str, letters: int = 44) -> str:
    """Return words wrapped to lines, with dollar signs escaped; matplotlib would read them as a formula."""
    lines = [_wrap_line(line, letters) for line in words.split("\n")]
    return "\n".join(lines).replace("$", r"\$")


def _wrap_line(words: str, letters: int) -> str:
    return "\n".join(wrap(words, max(letters, 8)) or [""])


def simplify_axes(axes: Axes, *, grid: str) -> None:
    """Remove unused parts of the frame, and draw faint lines across `x` or `y`."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x" if grid == "x" else "y", alpha=0.3, linewidth=0.7)
    axes.set_axisbelow(True)


def add_title(axes: Axes, title: str) -> None:
    """Write a title above a panel, to its left; the figure wraps it to the room there is."""
    axes.set_title(title.replace("$", r"\$"), loc="left")


# Panels with lines, each named at its end: metrics over the cut-off, precision against recall, and over time.

NAME = 18
"""Letters of a name at the end of a line, after which it is wrapped."""
LINE = 0.19
"""Height of a line of letters, in inches."""
AROUND_CURVES = 1.1
"""Height of what is around the lines of a panel."""
PERFECT = 1.1
"""An axis that ends below this, and starts at 0, ends at 1: there is only room around a value of 1."""


def line_dashes(at: int) -> Any:
    """Return the dash of a series as matplotlib takes it."""
    pattern = line_style(at).dash
    return (0, tuple(float(part) / 1.8 for part in pattern.split())) if pattern else "-"


def start_y_at_zero(axes: Axes) -> None:
    """Start the y axis at 0, and end it at 1 if the values are between 0 and 1."""
    if axes.dataLim.y0 < 0:
        return
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] <= PERFECT:
        axes.set_ylim(0, 1)


def count_name_rows(names: Sequence[str]) -> float:
    """Return how many rows a panel needs so that the names at the ends of its lines are apart; 0 if any panel does."""
    lines = sum(wrap_text(name, NAME).count("\n") + 1 for name in names)
    return 0.0 if LINE * lines < HEIGHT - AROUND_CURVES - 0.4 else LINE * (lines + 2) / 0.3


def cutoffs_panel(chart: CutoffLines, *, small: bool = False) -> Panel:
    """Return a panel of means over the cut-off with the marked one highlighted; of many lines, intervals only there."""
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for at, line in enumerate(lines):
            _draw_means(axes, at, line, chart)
        if chart.marked is not None:
            axes.axvline(chart.marked, color=rcParams["text.color"], linewidth=0.9, linestyle=":")
        axes.set_xlabel(chart.label)
        start_y_at_zero(axes)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5 if small else 7, integer=True))
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")
        if len(lines) > 1:
            label_line_ends(axes, [(line.name, max(line.means), line.means[max(line.means)]) for line in lines])

    return Panel(draw, count_name_rows([line.name for line in lines]), small)


def _draw_means(axes: Axes, at: int, line: Line, chart: CutoffLines) -> None:
    ks, means = list(line.means), list(line.means.values())
    colour, marker, _ = line_style(at)
    every: Any = (at % 3, max(3, len(ks) // 5)) if len(ks) > 3 else 1
    axes.plot(
        ks, means, color=colour, marker=marker, markevery=every, linestyle=line_dashes(at), label=line.name,
        linewidth=1.8, markersize=5.5,
    )  # fmt: skip
    if chart.with_intervals:
        ends = np.array([line.intervals[k] for k in ks], dtype=np.float64)
        axes.fill_between(ks, ends[:, 0], ends[:, 1], color=colour, alpha=0.16, linewidth=0)
    elif chart.marked is not None:
        low, high = line.intervals[chart.marked]
        beside = chart.marked + (at - len(chart.lines) / 2) * 0.02 * ks[-1]
        axes.vlines(beside, low, high, color=colour, linewidth=1.2)


def label_line_ends(axes: Axes, ends: Sequence[tuple[str, float, float]]) -> None:
    """Write a name at the end of each line, in its colour's marker, apart from those of lines that end close to it."""
    (low, high), right = axes.get_ylim(), axes.get_xlim()[1]
    names = [wrap_text(name, NAME) for name, _, _ in ends]
    lines = [name.count("\n") + 1 for name in names]
    inches = max(HEIGHT, AROUND_CURVES + LINE * (sum(lines) + 2)) - AROUND_CURVES
    heights = apart([end for _, _, end in ends], [each * (high - low) * LINE / inches for each in lines], (low, high))
    axes.set(xlim=axes.get_xlim(), ylim=(low, high))  # the marks beside the lines do not stretch the axes
    beside = offset_copy(axes.transData, axes.get_figure(root=True), x=9, y=0, units="points")
    for at, height in heights.items():
        colour, marker, _ = line_style(at)
        _, x, end = ends[at]
        axes.annotate(
            "", (x, end), xytext=(right, height), textcoords=beside, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        axes.plot([right], [height], marker=marker, color=colour, markersize=5.5, transform=beside, clip_on=False)
        axes.annotate(
            names[at], (right, height), xytext=(16, 0), textcoords="offset points", va="center", annotation_clip=False
        )


def apart(places: Sequence[float], sizes: Sequence[float], room: tuple[float, float]) -> dict[int, float]:
    """Return places by number, as near as possible to those wanted, so that things of these sizes do not overlap.

    Example:
        >>> apart([0.5, 0.52, 0.9], [0.2, 0.2, 0.2], (0, 1))  # the first two move apart, by the same distance
        {0: 0.41, 1: 0.61, 2: 0.9}
    """
    blocks: list[tuple[list[int], float]] = []  # the numbers in a block, and the place of its lower end
    for at in sorted((at for at in range(len(places)) if np.isfinite(places[at])), key=lambda at: places[at]):
        members, start = [at], places[at] - sizes[at] / 2
        while True:
            height = sum(sizes[one] for one in members)
            start = max(min(start, room[1] - height), room[0])
            if not blocks or blocks[-1][1] + sum(sizes[one] for one in blocks[-1][0]) <= start:
                break
            members = [*blocks.pop()[0], *members]
            wanted, before = 0.0, 0.0
            for one in members:
                wanted += places[one] - before - sizes[one] / 2
                before += sizes[one]
            start = wanted / len(members)
        blocks.append((members, start))
    found = {}
    for members, start in blocks:
        for one in members:
            found[one] = round(start + sizes[one] / 2, 9)
            start += sizes[one]  # noqa: PLW2901  (the next begins where this one ends)
    return found


def points_panel(chart: PointLines) -> Panel:
    """Return a panel of points joined by lines, the lines named at their last points."""
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for at, (_, points) in enumerate(lines):
            ys = np.array([point.y for point in points], dtype=np.float64)
            colour, marker, _ = line_style(at)
            marked = [place for place, point in enumerate(points) if point.name] or [0]
            axes.plot(
                [point.x for point in points], ys, color=colour, marker=marker, markevery=marked, linestyle=line_dashes(at),
                linewidth=1.8, markersize=6,
            )  # fmt: skip
            if chart.named:
                shown = [points[place] for place in marked]
                lows, highs = zip(*(point.interval for point in shown), strict=True)
                axes.vlines([point.x for point in shown], lows, highs, color=colour, linewidth=1.2)
        start_y_at_zero(axes)
        if chart.named:
            _name_points(axes, [point for _, points in lines for point in points])
        if any(name for name, _ in lines):
            label_line_ends(axes, [(name, points[-1].x, points[-1].y) for name, points in lines])
        axes.set_xlabel(f"{chart.labels[0]}\n({chart.note})" if chart.named else chart.labels[0])
        axes.set_ylabel(chart.labels[1])
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")

    return Panel(draw, max(8.0, count_name_rows([name for name, _ in lines])))


def _name_points(axes: Axes, points: Sequence[Point]) -> None:
    """Write the names of points above them, but for those too close to one that is named."""
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    named: list[Point] = []
    for point in points:
        close = any(
            abs(point.x - one.x) < (right - left) / 10 and abs(point.y - one.y) < (high - low) / 10 for one in named
        )
        if point.name and not close and np.isfinite((point.x, point.y)).all():
            axes.annotate(
                point.name,
                (point.x, point.y),
                xytext=(0, 7),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL_FONT_SIZE,
            )
            named.append(point)


# Panels with a row for each thing: means or differences with their intervals, and shares as slim bars.

MARGIN = 0.04
"""How far a scale on which 0 is marked begins before the lowest value, which would touch its name."""
NAME_ROW_PANELS = 20
"""Letters of a name beside its row, after which it is wrapped."""


def rows_panel(chart: ChartRows, *, small: bool = False) -> Panel:
    """Return a panel of values with their intervals, each named where it is."""
    low, high = chart.ends
    names = [row.name for row in chart.rows]

    def draw(axes: Axes) -> None:
        for at, row in zip(_name_rows(axes, names), chart.rows, strict=True):
            _draw(axes, at, row, signed=any(one.sign.strip() for one in chart.rows))
        axes.set_xlim(low - MARGIN * (high - low) if chart.zero else low, high)
        if chart.zero:
            axes.axvline(0, color=rcParams["text.color"], linewidth=0.9, clip_on=False)  # it may be the edge
        axes.locator_params(axis="x", nbins=4 if small else 6)
        axes.set_xlabel("" if small else chart.label)
        if chart.title:
            add_title(axes, chart.title)
        simplify_axes(axes, grid="x")
        axes.spines["left"].set_visible(False)

    return Panel(draw, sum(_heights(names)), small, shares=small)


def _name_rows(axes: Axes, names: Sequence[str]) -> list[float]:
    """Name the rows of a panel, and return the places of their middles from the top."""
    heights = _heights(names)
    places = [sum(heights[:at]) + height / 2 for at, height in enumerate(heights)]
    axes.set_yticks(places, [wrap_text(name, NAME_ROW_PANELS) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(sum(heights), 0)
    return places


def _heights(names: Sequence[str]) -> list[float]:
    """Return the height of each row, in rows with a name of one line."""
    return [1 + 0.6 * wrap_text(name, NAME_ROW_PANELS).count("\n") for name in names]


def _draw(axes: Axes, at: float, row: ChartRow, *, signed: bool) -> None:
    colour, marker, _ = line_style(row.series)
    if not isnan(row.interval.low):
        axes.plot(row.interval, [at, at], color=colour, linewidth=2.4, solid_capstyle="round", clip_on=False)
    axes.plot([row.value], [at], marker=marker, color=colour, markersize=7, linestyle="", clip_on=False)
    for words, right in ((row.sign, 8), (row.note, 22 if signed else 8)):
        axes.annotate(
            words, (1, at), xycoords=("axes fraction", "data"), xytext=(right, -0.5), textcoords="offset points",
            va="center_baseline", annotation_clip=False,
        )  # fmt: skip


def _draw_shares(axes: Axes, rows: Sequence[tuple[str, tuple[int, int, int]]]) -> list[float]:
    """Draw queries won, tied and lost as slim bars, each over the whole width, and return their places."""
    places = _name_rows(axes, [name for name, _ in rows])
    for at, (_, counts) in zip(places, rows, strict=True):
        start = 0
        for number, colour in zip(counts, (GAIN, TIED_COLOUR, LOSS_COLOUR), strict=True):
            axes.barh(at, number, left=start, color=colour, height=0.5, linewidth=0, alpha=_alpha(colour))
            start += number
    axes.set_xlim(0, max((sum(counts) for _, counts in rows), default=1) or 1)
    axes.set_xticks([])
    axes.set_frame_on(False)
    return places


def _alpha(colour: str) -> float:
    return 0.45 if colour == TIED_COLOUR else 1


def _key_of_shares(axes: Axes, names: Sequence[str], below: float) -> None:
    """Write what the three colours are in a line below a panel, `below` points down."""
    places = ((0.0, GAIN), (0.5, TIED_COLOUR), (1.0, LOSS_COLOUR))
    for (place, colour), name in zip(places, names, strict=True):
        square = TextArea("■", textprops={"color": colour, "alpha": _alpha(colour)})
        packed = HPacker(children=[square, TextArea(wrap_text(name))], pad=0, sep=3)
        axes.add_artist(
            AnnotationBbox(
                packed, (place, 0), xycoords="axes fraction", xybox=(0, -below), boxcoords="offset points",
                box_alignment=(place, 1), frameon=False, pad=0, annotation_clip=False,
            )
        )  # fmt: skip


def shares_panel(chart: Shares) -> Panel:
    """Return a panel of queries won, tied and lost."""

    def draw(axes: Axes) -> None:
        for at, (_, (won, tied, lost)) in zip(_draw_shares(axes, chart.rows), chart.rows, strict=True):
            axes.annotate(
                f"{won:,} / {tied:,} / {lost:,}", (1, at), xycoords=("axes fraction", "data"),
                xytext=(8, 0), textcoords="offset points", va="center", annotation_clip=False,
            )  # fmt: skip
        add_title(axes, chart.title)
        _key_of_shares(axes, ("won", "tied", "lost"), 6)

    return Panel(draw, sum(_heights([name for name, _ in chart.rows])))


def changes_panel(chart: SortedChanges) -> Panel:
    """Return a panel of the change of every query, and of how many were won, tied and lost."""

    def draw(axes: Axes) -> None:
        gains = chart.sign * chart.changes
        edges = np.arange(len(gains) + 1)
        if len(gains):  # two outlines instead of one bar per query, of which there may be thousands
            axes.stairs(np.where(gains > 0, chart.changes, 0), edges, fill=True, color=GAIN)
            axes.stairs(np.where(gains < 0, chart.changes, 0), edges, fill=True, color=LOSS_COLOUR)
        text = rcParams["text.color"]
        axes.axhline(0, color=text, linewidth=0.8)
        if np.isfinite(chart.interval).all():
            axes.axhspan(*chart.interval, color=text, alpha=0.16, linewidth=0)
        if np.isfinite(chart.mean):
            axes.axhline(chart.mean, color=text, linewidth=1.2, linestyle="--")
        widest = np.abs(gains).max(initial=0.0) or 1.0
        axes.set_ylim(-1.3 * widest, 1.3 * widest)
        axes.set_xlim(0, max(len(gains), 1))
        axes.set_xticks([])
        axes.locator_params(axis="y", nbins=5)
        _name_moved(axes, chart)
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")
        axes.spines["bottom"].set_visible(False)
        bar = axes.inset_axes((0, -0.2, 1, 0.13), transform=_below(axes))
        _draw_shares(bar, [("", chart.counts)])
        bar.set_yticks([])
        _key_of_shares(bar, chart.counts_note, 4)
        axes.set_xlabel(f"{chart.label}, dashed" if chart.label else "", labelpad=36)

    return Panel(draw, 7.6)


def _below(axes: Axes) -> Transform:
    """Return places in shares of the width of a panel, and in inches above its lower edge."""
    figure: Any = axes.get_figure(root=True)
    edge: Any = axes.transAxes  # the types of matplotlib ask for less than it takes
    inches = figure.dpi_scale_trans + ScaledTranslation(0, 0, edge)
    return blended_transform_factory(axes.transAxes, inches)


LINE_ROW_PANELS, SHORT = 42, 12
"""Letters of the line that names those that moved most, and of each name: at least two fit."""


def _name_moved(axes: Axes, chart: SortedChanges) -> None:
    """Name the queries won most above the left end, and those lost most below the right one."""
    top = chart.sign > 0
    for moved, left in ((chart.gained, True), (chart.dropped, False)):
        if words := _listed(moved):
            axes.annotate(
                words, (0 if left else 1, 1 if left == top else 0), xycoords="axes fraction",
                xytext=(3 if left else -3, -2 if left == top else 2), textcoords="offset points",
                ha="left" if left else "right", va="top" if left == top else "bottom", fontsize=SMALL_FONT_SIZE,
            )  # fmt: skip


def _listed(moved: Sequence[tuple[str, float]]) -> str:
    """Return as many of the queries as a line holds, the most moved first."""
    line = ""
    for name, change in moved:
        short = name if len(name) <= SHORT else f"{name[: SHORT - 1]}…"
        said = f"{line}{', ' * bool(line)}{short} {numbers.signed(change)}"
        if len(said) > LINE_ROW_PANELS:
            break
        line = said
    return line.replace("$", r"\$")
