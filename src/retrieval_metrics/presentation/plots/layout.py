"""A figure of panels that fill their rows, beside each other on a page and below each other on a phone."""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine

from retrieval_metrics.checks import positive_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

PANEL = 4.6
"""Width of a panel in inches: the widest that a phone shows without shrinking the letters."""
HEIGHT = 3.1
"""Height of a panel without rows, in inches."""
LOW = 2.5
"""Height of a small panel without rows."""
PER_ROW = 0.3
"""Height of a row in a panel with rows, in inches."""
AROUND = 1.0
"""Height of what is around the rows of a panel: its title, its ticks and its label."""
SIZE, SMALL = 10.5, 9.5
"""Points of the letters, and of those of a note: on a phone at least 11 pixels."""
LETTERS, BOLD, TINY = 11.5, 9.8, 12.5
"""Letters in an inch, those of a title, and those of a note: after them, a line is wrapped."""
ACROSS = 2
"""Panels in a row, if nothing else is asked for."""
NARROW = 900
"""Pixels of a window below which a notebook shows the panels below each other."""
PIXELS = 85
"""Pixels of an inch as a notebook shows it."""
_SETTINGS: dict[Any, Any] = {
    "font.size": SIZE,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.labelsize": SIZE,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
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
            return AROUND + PER_ROW * self.rows
        return LOW if self.small else HEIGHT


class Plot(Figure):
    """A figure that shows itself in any notebook, stacked where that is narrow, and leaves pyplot alone."""

    def __init__(self, panels: Sequence[Panel], across: int | None, title: str, note: str, wide: int) -> None:
        self._engine = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
        super().__init__(layout=self._engine)
        FigureCanvasAgg(self)
        self._panels = panels
        self._drawn: list[Axes] = []
        self._across, self._wide = across, wide
        self._texts: list[tuple[Text, str, str]] = []
        for words, add, weight, size in ((title, self.suptitle, "bold", 11.5), (note, self.supxlabel, "normal", SMALL)):
            if words:
                self._texts.append((add("", x=0.012, ha="left", fontsize=size, fontweight=weight), "", words))
        for panel in panels:
            self._drawn.append(self.add_subplot())
            panel.draw(self._drawn[-1])
        self._wrapped = [
            (axes.set_title(axes.get_title(loc="left"), loc="left"), axes.xaxis.label) for axes in self._drawn
        ]
        self.arrange(across or ACROSS)

    def arrange(self, across: int) -> None:
        """Put the panels beside each other, at most `across` in a row, or one more of small ones."""
        rows = rows_of(self._panels, across)
        heights = [max(self._panels[at].height for at in row) for row in rows]
        width = PANEL * min(across, max(self._wide, *map(len, rows)))
        for at, (text, before, words) in enumerate(self._texts):
            if text.get_text() == before:  # else it was changed, and stays as it is
                text.set_text(broken(words, round((width - 0.3) * (BOLD if text.get_fontweight() == "bold" else TINY))))
                self._texts[at] = text, text.get_text(), words
        lines = sum(text.get_text().count("\n") + 1 for text, _, _ in self._texts)
        self.set_size_inches(width, sum(heights) + 0.2 * lines + 0.1)
        grid = GridSpec(len(rows), 1, figure=self, height_ratios=heights)
        for at, row in enumerate(rows):
            inside = grid[at].subgridspec(1, len(row))
            for column, number in enumerate(row):
                axes = self._drawn[number]
                axes.set_subplotspec(inside[column])
                if self._panels[number].shares:
                    axes.tick_params(labelleft=column == 0)
        self._wrap(rows)

    def _wrap(self, rows: Sequence[Sequence[int]]) -> None:
        """Wrap the titles and labels of the panels to the room that the names beside their rows leave."""
        self._engine.execute(self)
        for row in rows:
            for column, number in enumerate(row):
                room = column / len(row), (column + 1) / len(row)
                place = self._drawn[number].get_position()
                middle = (place.x0 + place.x1) / 2
                shares = room[1] - place.x0, 2 * min(middle - room[0], room[1] - middle)
                for text, share, letters in zip(self._wrapped[number], shares, (BOLD, LETTERS), strict=True):
                    words = " ".join(text.get_text().split("\n"))
                    text.set_text(_filled(words, int(share * self.get_figwidth() * letters)))

    def _repr_png_(self) -> bytes:
        from io import BytesIO  # noqa: PLC0415  (only needed in a notebook)

        page = BytesIO()
        self.savefig(page, format="png", dpi=2 * PIXELS)
        return page.getvalue()

    def _repr_html_(self) -> str:
        shown = f'<img alt="{escape(self.said)}" {self._source("src")} style="width:{self._width}px;max-width:100%">'
        if self._across is not None or self._width <= PIXELS * PANEL:
            return shown
        self.arrange(1)
        narrow = f'<source media="(max-width: {NARROW}px)" {self._source("srcset")}>'
        self.arrange(ACROSS)
        return f"<picture>{narrow}{shown}</picture>"

    def _source(self, name: str) -> str:
        from base64 import b64encode  # noqa: PLC0415  (only needed in a notebook)

        return f'{name}="data:image/png;base64,{b64encode(self._repr_png_()).decode()}"'

    @property
    def _width(self) -> int:
        return round(self.get_figwidth() * PIXELS)

    @property
    def said(self) -> str:
        """What the figure says in words: its title, or the titles of its panels."""
        titles = [axes.get_title(loc="left") for axes in self._drawn]
        return " ".join(self._texts[0][0].get_text().split()) if self._texts else ", ".join(filter(None, titles))


def rows_of(panels: Sequence[Panel], across: int) -> list[list[int]]:
    """Return the numbers of the panels of each row; rows of one kind are filled evenly, so that none has a hole.

    Example:
        >>> large, small = Panel(print), Panel(print, small=True)
        >>> rows_of([large, large, small, small, small, small], 2)
        [[0, 1], [2, 3], [4, 5]]
        >>> rows_of([small] * 5, 2)
        [[0, 1, 2], [3, 4]]
    """
    found: list[list[int]] = []
    at = 0
    while at < len(panels):
        alike = at
        while alike < len(panels) and panels[alike].small == panels[at].small:
            alike += 1
        most = across + 1 if panels[at].small and across > 1 else across
        count = -(-(alike - at) // most)
        for row in range(count):
            first, last = (at + (alike - at) * (row + end) / count for end in (0, 1))
            found.append(list(range(-int(-first // 1), -int(-last // 1))))
        at = alike
    return found


def figure(
    panels: Sequence[Panel], across: int | None = None, *, title: str = "", note: str = "", wide: int = 1
) -> Plot:
    """Return a figure of panels, with a sentence above them and a note below.

    Args:
        panels: The panels, in reading order.
        across: How many panels are in a row; None takes two, and one where a notebook is narrow.
        title: The sentence.
        note: The note.
        wide: The least width of the figure, in panels, where there is room.

    Raises:
        TypeError: If `across` is not an integer.
        ValueError: If it is not positive.
    """
    if across is not None:
        positive_integer(across, "across")
    with rc_context(_SETTINGS):
        return Plot(panels, across, title, note, wide)


def broken(words: str, letters: int = 44) -> str:
    """Return words wrapped to lines, with dollar signs escaped; matplotlib would read them as a formula."""
    return _filled(words, letters).replace("$", r"\$")


def _filled(words: str, letters: int) -> str:
    return "\n".join(wrap(words, max(letters, 8)) or [""])


def plain(axes: Axes, *, grid: str) -> None:
    """Remove unused parts of the frame, and draw faint lines across `x` or `y`."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x" if grid == "x" else "y", alpha=0.3, linewidth=0.7)
    axes.set_axisbelow(True)


def entitle(axes: Axes, title: str) -> None:
    """Write a title above a panel, to its left; the figure wraps it to the room there is."""
    axes.set_title(title.replace("$", r"\$"), loc="left")
