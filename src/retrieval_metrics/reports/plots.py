"""Figures of matplotlib: their layout, curves, and panels of rows."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, isnan
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

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
        from io import BytesIO

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
        from base64 import b64encode

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
        >>> arrange_in_rows([large, large, small, small, small, small], 2)
        [[0, 1], [2, 3], [4, 5]]
        >>> arrange_in_rows([small] * 5, 2)
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


def simplify_axes(axes: Axes, *, grid: Literal["x", "y"]) -> None:
    """Remove unused parts of the frame, and draw faint lines across `x` or `y`."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, alpha=0.3, linewidth=0.7)
    axes.set_axisbelow(True)


def add_title(axes: Axes, title: str) -> None:
    """Write a title above a panel, to its left; the figure wraps it to the room there is."""
    axes.set_title(title.replace("$", r"\$"), loc="left")


# Panels with lines, each named at its end: metrics over the cut-off, precision against recall, and over time.

# Letters of a name at the end of a line, after which it is wrapped.
MAX_END_NAME_LETTERS = 18

# Height of a line of letters, in inches.
LINE_HEIGHT = 0.19

# Height of what is around the lines of a panel, in inches.
HEIGHT_AROUND_CURVES = 1.1

# An axis that ends below this, and starts at 0, ends at 1: there is only room around a value of 1.
MAX_TOP_SHOWN_AS_1 = 1.1


def line_dashes(series: int) -> Any:
    """Return the dash of a series as matplotlib takes it."""
    pattern = line_style(series).dash
    if not pattern:
        return "-"
    return 0, tuple(float(length) / 1.8 for length in pattern.split())


def start_y_at_zero(axes: Axes) -> None:
    """Start the y axis at 0, and end it at 1 if the values are between 0 and 1."""
    if axes.dataLim.y0 < 0:
        return
    axes.set_ylim(bottom=0)
    if axes.get_ylim()[1] <= MAX_TOP_SHOWN_AS_1:
        axes.set_ylim(0, 1)


def count_name_rows(names: Sequence[str]) -> float:
    """Return how many rows a panel needs so that the names at the ends of its lines are apart; 0 if any panel does."""
    n_lines = sum(wrap_text(name, MAX_END_NAME_LETTERS).count("\n") + 1 for name in names)
    if LINE_HEIGHT * n_lines < PANEL_HEIGHT - HEIGHT_AROUND_CURVES - 0.4:
        return 0.0
    return LINE_HEIGHT * (n_lines + 2) / 0.3


def cutoffs_panel(chart: CutoffLines, *, small: bool = False) -> Panel:
    """Return a panel of means over the cut-off with the marked one highlighted; of many lines, intervals only there."""
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for series, line in enumerate(lines):
            _draw_means(axes, series, line, chart)
        if chart.marked is not None:
            axes.axvline(chart.marked, color=rcParams["text.color"], linewidth=0.9, linestyle=":")
        axes.set_xlabel(chart.label)
        start_y_at_zero(axes)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5 if small else 7, integer=True))
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")
        if len(lines) > 1:
            ends = []
            for line in lines:
                last_k = max(line.means)
                ends.append((line.name, last_k, line.means[last_k]))
            label_line_ends(axes, ends)

    return Panel(draw, count_name_rows([line.name for line in lines]), small)


def _draw_means(axes: Axes, series: int, line: Line, chart: CutoffLines) -> None:
    ks = list(line.means)
    style = line_style(series)
    marked_points: Any = 1
    if len(ks) > 3:  # lines on each other keep their markers apart
        marked_points = (series % 3, max(3, len(ks) // 5))
    axes.plot(
        ks, list(line.means.values()), color=style.colour, marker=style.marker, markevery=marked_points,
        linestyle=line_dashes(series), label=line.name, linewidth=1.8, markersize=5.5,
    )  # fmt: skip
    if chart.with_intervals:
        ends = np.array([line.intervals[k] for k in ks], dtype=np.float64)
        axes.fill_between(ks, ends[:, 0], ends[:, 1], color=style.colour, alpha=0.16, linewidth=0)
    elif chart.marked is not None:
        low, high = line.intervals[chart.marked]
        x = chart.marked + (series - len(chart.lines) / 2) * 0.02 * ks[-1]
        axes.vlines(x, low, high, color=style.colour, linewidth=1.2)


def label_line_ends(axes: Axes, ends: Sequence[tuple[str, float, float]]) -> None:
    """Write a name at the end of each line, in its colour's marker, apart from those of lines that end close to it."""
    low, high = axes.get_ylim()
    right = axes.get_xlim()[1]
    names = [wrap_text(name, MAX_END_NAME_LETTERS) for name, _, _ in ends]
    n_lines = [name.count("\n") + 1 for name in names]
    panel_height = max(PANEL_HEIGHT, HEIGHT_AROUND_CURVES + LINE_HEIGHT * (sum(n_lines) + 2))
    inches = panel_height - HEIGHT_AROUND_CURVES
    sizes = [count * (high - low) * LINE_HEIGHT / inches for count in n_lines]
    heights = spread_apart([y for _, _, y in ends], sizes, (low, high))
    axes.set(xlim=axes.get_xlim(), ylim=(low, high))  # the marks beside the lines do not stretch the axes
    beside_axes = offset_copy(axes.transData, axes.get_figure(root=True), x=9, y=0, units="points")
    for series, height in heights.items():
        style = line_style(series)
        _, x, y = ends[series]
        axes.annotate(
            "", (x, y), xytext=(right, height), textcoords=beside_axes, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": style.colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        axes.plot(
            [right], [height], marker=style.marker, color=style.colour, markersize=5.5, transform=beside_axes,
            clip_on=False,
        )  # fmt: skip
        axes.annotate(
            names[series], (right, height), xytext=(16, 0), textcoords="offset points", va="center",
            annotation_clip=False,
        )  # fmt: skip


@dataclass(slots=True)
class _Block:
    """Things that touch: their numbers from below, and where the block starts and ends."""

    members: list[int]
    start: float
    height: float


def spread_apart(positions: Sequence[float], sizes: Sequence[float], room: tuple[float, float]) -> dict[int, float]:
    """Return positions by number, as near as possible to those wanted, so that things of these sizes do not overlap.

    Example:
        >>> spread_apart([0.5, 0.52, 0.9], [0.2, 0.2, 0.2], (0, 1))  # the first two move apart, by the same distance
        {0: 0.41, 1: 0.61, 2: 0.9}
    """
    low, high = room
    numbers_in_order = [number for number, position in enumerate(positions) if np.isfinite(position)]
    numbers_in_order.sort(key=positions.__getitem__)
    blocks: list[_Block] = []
    for number in numbers_in_order:
        block = _Block([number], positions[number] - sizes[number] / 2, sizes[number])
        block.start = max(min(block.start, high - block.height), low)
        while blocks and blocks[-1].start + blocks[-1].height > block.start:
            members = [*blocks.pop().members, *block.members]
            block = _Block(members, _mean_start(members, positions, sizes), sum(sizes[member] for member in members))
            block.start = max(min(block.start, high - block.height), low)
        blocks.append(block)
    spread = {}
    for block in blocks:
        start = block.start
        for member in block.members:
            spread[member] = round(start + sizes[member] / 2, 9)
            start += sizes[member]
    return spread


def _mean_start(members: Sequence[int], positions: Sequence[float], sizes: Sequence[float]) -> float:
    """Return where a block of things has to start so that their mean distance from where they should be is 0."""
    total = 0.0
    height_below = 0.0
    for member in members:
        total += positions[member] - height_below - sizes[member] / 2
        height_below += sizes[member]
    return total / len(members)


def points_panel(chart: PointLines) -> Panel:
    """Return a panel of points joined by lines, the lines named at their last points."""
    lines = chart.lines

    def draw(axes: Axes) -> None:
        for series, (_, points) in enumerate(lines):
            _draw_points(axes, series, points, with_intervals=chart.named)
        start_y_at_zero(axes)
        x_label, y_label = chart.labels
        if chart.named:
            _name_points(axes, lines)
            x_label = f"{x_label}\n({chart.note})"
        if any(name for name, _ in lines):
            label_line_ends(axes, [(name, points[-1].x, points[-1].y) for name, points in lines])
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")

    return Panel(draw, max(8.0, count_name_rows([name for name, _ in lines])))


def _draw_points(axes: Axes, series: int, points: Sequence[Point], *, with_intervals: bool) -> None:
    ys = np.array([point.y for point in points], dtype=np.float64)
    style = line_style(series)
    marked = [index for index, point in enumerate(points) if point.name] or [0]
    axes.plot(
        [point.x for point in points], ys, color=style.colour, marker=style.marker, markevery=marked,
        linestyle=line_dashes(series), linewidth=1.8, markersize=6,
    )  # fmt: skip
    if with_intervals:
        marked_points = [points[index] for index in marked]
        lows = [point.interval.low for point in marked_points]
        highs = [point.interval.high for point in marked_points]
        axes.vlines([point.x for point in marked_points], lows, highs, color=style.colour, linewidth=1.2)


def _name_points(axes: Axes, lines: Sequence[tuple[str, Sequence[Point]]]) -> None:
    """Write the names of points above them, but for those too close to one that is named."""
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    named: list[Point] = []

    def is_close(point: Point, neighbour: Point) -> bool:
        return abs(point.x - neighbour.x) < (right - left) / 10 and abs(point.y - neighbour.y) < (high - low) / 10

    for _, points in lines:
        for point in points:
            if not point.name or not np.isfinite((point.x, point.y)).all():
                continue
            if any(is_close(point, neighbour) for neighbour in named):
                continue
            axes.annotate(
                point.name, (point.x, point.y), xytext=(0, 7), textcoords="offset points", ha="center",
                fontsize=SMALL_FONT_SIZE,
            )  # fmt: skip
            named.append(point)


# Panels with a row for each thing: means or differences with their intervals, and shares as slim bars.

# A scale on which 0 is marked begins this share of it before the lowest value, which would touch its name.
SCALE_MARGIN = 0.04

# Letters of a name beside its row, after which it is wrapped.
MAX_ROW_NAME_LETTERS = 20


def rows_panel(chart: ChartRows, *, small: bool = False) -> Panel:
    """Return a panel of values with their intervals, each named where it is."""
    low, high = chart.ends
    names = [row.name for row in chart.rows]
    has_signs = any(row.sign.strip() for row in chart.rows)

    def draw(axes: Axes) -> None:
        for y, row in zip(_name_rows(axes, names), chart.rows, strict=True):
            _draw_row(axes, y, row, note_offset=22 if has_signs else 8)
        axes.set_xlim(low - SCALE_MARGIN * (high - low) if chart.zero else low, high)
        if chart.zero:
            axes.axvline(0, color=rcParams["text.color"], linewidth=0.9, clip_on=False)  # it may be the edge
        axes.locator_params(axis="x", nbins=4 if small else 6)
        axes.set_xlabel("" if small else chart.label)
        if chart.title:
            add_title(axes, chart.title)
        simplify_axes(axes, grid="x")
        axes.spines["left"].set_visible(False)

    return Panel(draw, sum(_row_heights(names)), small, shares=small)


def _name_rows(axes: Axes, names: Sequence[str]) -> list[float]:
    """Name the rows of a panel, and return the places of their middles from the top."""
    middles = []
    bottom = 0.0
    for height in _row_heights(names):
        middles.append(bottom + height / 2)
        bottom += height
    axes.set_yticks(middles, [wrap_text(name, MAX_ROW_NAME_LETTERS) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(bottom, 0)
    return middles


def _row_heights(names: Sequence[str]) -> list[float]:
    """Return the height of each row, in rows with a name of one line."""
    return [1 + 0.6 * wrap_text(name, MAX_ROW_NAME_LETTERS).count("\n") for name in names]


def _draw_row(axes: Axes, y: float, row: ChartRow, *, note_offset: int) -> None:
    style = line_style(row.series)
    if not isnan(row.interval.low):
        axes.plot(row.interval, [y, y], color=style.colour, linewidth=2.4, solid_capstyle="round", clip_on=False)
    axes.plot([row.value], [y], marker=style.marker, color=style.colour, markersize=7, linestyle="", clip_on=False)
    for words, offset in ((row.sign, 8), (row.note, note_offset)):
        axes.annotate(
            words, (1, y), xycoords=("axes fraction", "data"), xytext=(offset, -0.5), textcoords="offset points",
            va="center_baseline", annotation_clip=False,
        )  # fmt: skip


# The colour and the opacity of queries won, tied and lost.
_SHARE_STYLES = ((GAIN, 1.0), (TIED_COLOUR, 0.45), (LOSS_COLOUR, 1.0))


def _draw_shares(axes: Axes, rows: Sequence[tuple[str, tuple[int, int, int]]]) -> list[float]:
    """Draw queries won, tied and lost as slim bars, each over the whole width, and return their places."""
    middles = _name_rows(axes, [name for name, _ in rows])
    for y, (_, counts) in zip(middles, rows, strict=True):
        start = 0
        for count, (colour, alpha) in zip(counts, _SHARE_STYLES, strict=True):
            axes.barh(y, count, left=start, color=colour, height=0.5, linewidth=0, alpha=alpha)
            start += count
    axes.set_xlim(0, max([sum(counts) for _, counts in rows], default=1) or 1)
    axes.set_xticks([])
    axes.set_frame_on(False)
    return middles


def _add_shares_key(axes: Axes, names: Sequence[str], below: float) -> None:
    """Write what the three colours are in a line below a panel, `below` points down."""
    for x, (colour, alpha), name in zip((0.0, 0.5, 1.0), _SHARE_STYLES, names, strict=True):
        square = TextArea("■", textprops={"color": colour, "alpha": alpha})
        packed = HPacker(children=[square, TextArea(wrap_text(name))], pad=0, sep=3)
        axes.add_artist(
            AnnotationBbox(
                packed, (x, 0), xycoords="axes fraction", xybox=(0, -below), boxcoords="offset points",
                box_alignment=(x, 1), frameon=False, pad=0, annotation_clip=False,
            )
        )  # fmt: skip


def shares_panel(chart: Shares) -> Panel:
    """Return a panel of queries won, tied and lost."""

    def draw(axes: Axes) -> None:
        for y, (_, (won, tied, lost)) in zip(_draw_shares(axes, chart.rows), chart.rows, strict=True):
            axes.annotate(
                f"{won:,} / {tied:,} / {lost:,}", (1, y), xycoords=("axes fraction", "data"),
                xytext=(8, 0), textcoords="offset points", va="center", annotation_clip=False,
            )  # fmt: skip
        add_title(axes, chart.title)
        _add_shares_key(axes, ("won", "tied", "lost"), 6)

    return Panel(draw, sum(_row_heights([name for name, _ in chart.rows])))


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
        _name_largest_changes(axes, chart)
        add_title(axes, chart.title)
        simplify_axes(axes, grid="y")
        axes.spines["bottom"].set_visible(False)
        bar = axes.inset_axes((0, -0.2, 1, 0.13), transform=_inches_above(axes))
        _draw_shares(bar, [("", chart.counts)])
        bar.set_yticks([])
        _add_shares_key(bar, chart.counts_note, 4)
        axes.set_xlabel(chart.dashed_label, labelpad=36)

    return Panel(draw, 7.6)


def _inches_above(axes: Axes) -> Transform:
    """Return places in shares of the width of a panel, and in inches above its lower edge."""
    figure: Any = axes.get_figure(root=True)
    edge: Any = axes.transAxes  # the types of matplotlib ask for less than it takes
    inches = figure.dpi_scale_trans + ScaledTranslation(0, 0, edge)
    return blended_transform_factory(axes.transAxes, inches)


# Letters of the line that names those that changed most, and of each name: at least two fit.
MAX_LINE_LETTERS = 42
MAX_SHORT_NAME_LETTERS = 12


def _name_largest_changes(axes: Axes, chart: SortedChanges) -> None:
    """Name the queries won most above the left end, and those lost most below the right one."""
    gained_end, dropped_end = ("top", "bottom") if chart.sign > 0 else ("bottom", "top")
    gained = _join_changes(chart.gained)
    if gained:
        _annotate_corner(axes, gained, "left", gained_end)
    dropped = _join_changes(chart.dropped)
    if dropped:
        _annotate_corner(axes, dropped, "right", dropped_end)


# The edges of a panel: each as a share of its width or height, and how many points inside it a text starts.
_EDGES = {"left": (0, 3), "right": (1, -3), "bottom": (0, 2), "top": (1, -2)}


def _annotate_corner(axes: Axes, words: str, horizontal: str, vertical: str) -> None:
    x, x_offset = _EDGES[horizontal]
    y, y_offset = _EDGES[vertical]
    axes.annotate(
        words, (x, y), xycoords="axes fraction", xytext=(x_offset, y_offset), textcoords="offset points",
        ha=horizontal, va=vertical, fontsize=SMALL_FONT_SIZE,
    )  # fmt: skip


def _join_changes(changes: Sequence[tuple[str, float]]) -> str:
    """Return as many of the queries as a line holds, those that changed most first."""
    line = ""
    for name, change in changes:
        short_name = name
        if len(name) > MAX_SHORT_NAME_LETTERS:
            short_name = f"{name[: MAX_SHORT_NAME_LETTERS - 1]}…"
        entry = f"{short_name} {numbers.format_signed(change)}"
        longer = f"{line}, {entry}" if line else entry
        if len(longer) > MAX_LINE_LETTERS:
            break
        line = longer
    return line.replace("$", r"\$")
