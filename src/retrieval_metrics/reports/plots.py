"""Lay out the panels of a matplotlib figure, for notebooks and files."""

from __future__ import annotations

from html import escape
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine

from retrieval_metrics._internal.validation import positive_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

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
