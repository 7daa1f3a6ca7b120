"""Charts in reports: drawn as SVG by the package itself."""

from __future__ import annotations

import re
from html import escape
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.statistics.means import Interval


FEW = 3
"""The largest number of lines with intervals along them, or named points; more would hide each other."""
MAX_LARGEST_CHANGES = 3
"""Queries that are named at either end of the changes."""


class ChartRow(NamedTuple):
    """A value with its interval, under a name.

    Attributes:
        name: What it belongs to.
        value: The value.
        interval: Its interval; NaN if it has none.
        said: The value in words.
        series: The number of the system, which decides how it is drawn.
        sign: How it stands to the best or to the baseline.
    """

    name: str
    value: float
    interval: Interval
    note: str
    series: int = 0
    sign: str = ""


class ChartRows(NamedTuple):
    """Values with their intervals, one below the other on one scale.

    Attributes:
        title: What stands above them.
        label: What the values and their intervals are.
        rows: The rows, from the top.
        ends: The ends of the scale.
        zero: Whether 0 is marked: it parts gains from losses, or lies within the scale.
    """

    title: str
    label: str
    rows: Sequence[ChartRow]
    ends: tuple[float, float]
    zero: bool

    @classmethod
    def of(
        cls, title: str, label: str, rows: Sequence[ChartRow], least: float = 0.0, *, gains: bool = False
    ) -> ChartRows:
        """Return rows on a scale that has 0, `least`, and every value with its interval."""
        found = [0.0, least, *(end for row in rows for end in (row.value, *row.interval) if isfinite(end))]
        low, high = min(found), max(found)
        return cls(title, label, rows, (low, high if high > low else low + 1), gains or low < 0)


class Line(NamedTuple):
    """The means of one system over the cut-off, with the interval of each."""

    name: str
    means: Mapping[int, float]
    intervals: Mapping[int, Interval]


class CutoffLines(NamedTuple):
    """A metric over its cut-off, a line for each system.

    Attributes:
        title: What stands above.
        lines: The lines, all at the same cut-offs; one without a name stands alone.
        marked: The cut-off that was asked for; None if there is none, or it is not among those drawn.
        unit: What the cut-off counts: `k` documents, `characters` or `tokens`.
    """

    title: str
    lines: Sequence[Line]
    marked: int | None
    unit: str

    @property
    def with_intervals(self) -> bool:
        """Whether there is room for intervals along the lines."""
        return len(self.lines) <= FEW

    @property
    def label(self) -> str:
        """What the axis of cut-offs is called."""
        cutoff = "cut-off k" if self.unit == "k" else f"cut-off in {self.unit}"
        return cutoff if self.marked is None else f"{cutoff}, {self.marked:,} marked"


class Flow(NamedTuple):
    """What is left of what is needed after each step, and what the step lost.

    Attributes:
        title: What stands above.
        steps: The name of each step, the share that is left after it, and the shares that it lost, each in words.
    """

    title: str
    steps: Sequence[tuple[str, float, Sequence[tuple[str, float]]]]


class SortedChanges(NamedTuple):
    """How much one system changed the value of every query.

    Attributes:
        title: What stands above.
        changes: Shape (queries,), the largest gain first.
        sign: -1 where a lower value is better: then a gain is a change below 0.
        mean: The mean change.
        interval: Its interval.
        counts: How many queries were won, tied and lost.
        gained: The queries that gained most, with their changes.
        dropped: Those that lost most.
    """

    title: str
    changes: FloatArray
    sign: int
    mean: float
    interval: Interval
    counts: tuple[int, int, int]
    gained: Sequence[tuple[str, float]]
    dropped: Sequence[tuple[str, float]]

    @property
    def counts_note(self) -> tuple[str, str, str]:
        """How many queries were won, tied and lost, in words."""
        won, tied, lost = (f"{count:,}" for count in self.counts)
        return f"{won} won", f"{tied} tied", f"{lost} lost"

    @property
    def label(self) -> str:
        """The mean change with its interval, in words; empty if there is no query."""
        ends = numbers.interval(self.interval, difference=True).removesuffix("-")
        return f"mean {numbers.signed(self.mean)} {ends}".rstrip() if len(self.changes) else ""


class Shares(NamedTuple):
    """How many queries one system won, tied and lost against another, a row for each name."""

    title: str
    rows: Sequence[tuple[str, tuple[int, int, int]]]


class Point(NamedTuple):
    """A point with its name, if it has one, and the interval of its height."""

    name: str
    x: float
    y: float
    interval: Interval


class PointLines(NamedTuple):
    """Points joined by lines.

    Attributes:
        title: What stands above.
        lines: The name of each line, and its points; a line of one point is a single mark.
        labels: What the two axes are.
        note: What the names of the points are; they stand where there are few lines.
    """

    title: str
    lines: Sequence[tuple[str, Sequence[Point]]]
    labels: tuple[str, str]
    note: str

    @property
    def named(self) -> bool:
        """Whether there is room for names of points, and their intervals."""
        return len(self.lines) <= FEW


class ValueCounts(NamedTuple):
    """How many of `total` queries have each value."""

    title: str
    rows: Sequence[tuple[str, int]]
    total: int


# Names that are too long for a chart.

LONG = 28
"""Letters of a name; a longer one has a number in charts, and stands in the key below them."""
SaidT = TypeVar("SaidT")


class NameKey:
    """Numbers in place of long names, in charts and in words on them; those used are listed with their names.

    Example:
        >>> key = NameKey(["bm25", "text-embedding-3-large + reranker"])
        >>> key("text-embedding-3-large + reranker is better than bm25"), key.lines
        ('#2 is better than bm25', ['#2: text-embedding-3-large + reranker'])
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.numbers = {name: f"#{at}" for at, name in enumerate(names, start=1) if len(name) > LONG}
        self._used: set[str] = set()
        longest_first = sorted(self.numbers, key=len, reverse=True)  # one may be the beginning of another
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def __call__(self, said: SaidT) -> SaidT:
        """Return words, or a chart, with numbers in place of long names."""
        shown: Any = said
        if isinstance(shown, str):
            shown = self._pattern.sub(self._numbered, shown)
        elif isinstance(shown, list) or (isinstance(shown, tuple) and not hasattr(shown, "_fields")):
            shown = type(shown)(map(self, shown))
        elif isinstance(shown, tuple):
            shown = type(shown)(*map(self, shown))
        return shown  # type: ignore[no-any-return]  # of the same type

    def _numbered(self, found: re.Match[str]) -> str:
        self._used.add(found[0])
        return self.numbers[found[0]]

    @property
    def lines(self) -> list[str]:
        """The numbers that were used, with their names."""
        return [f"{number}: {name}" for name, number in self.numbers.items() if name in self._used]


# Charts for a page: lines and bars are SVG, words are HTML, so that they wrap and keep their size on a phone.

WIDE, HIGH, LOW = 400, 150, 110
"""Units of the drawing, which is stretched to the available width; the changes of queries take less height."""
_NEARLY = 1e-9
_KEPT = 'vector-effect="non-scaling-stroke"'
_DOTTED, _DASHED = (f'stroke-dasharray="{pattern}" {_KEPT}' for pattern in ("2 3", "6 4"))
_MARKS = {
    "o": '<circle cx="{x}" cy="{y}" r="3.6"/>',
    "s": '<rect x="{l}" y="{t}" width="6.6" height="6.6"/>',
    "^": '<path d="M{x} {t}l4 7h-8z"/>',
    "D": '<path d="M{x} {t}l4.2 4.2-4.2 4.2-4.2-4.2z"/>',
    "v": '<path d="M{x} {b}l4-7h-8z"/>',
    "P": '<path d="M{x} {t}v7M{l} {y}h7" stroke-width="2.6"/>',
    "X": '<path d="M{l} {t}l6.6 6.6m0-6.6l-6.6 6.6" stroke-width="2.2"/>',
    "<": '<path d="M{l} {y}l7-4v8z"/>',
    ">": '<path d="M{r} {y}l-7-4v8z"/>',
    "*": '<path d="M{x} {t}v7M{l} {t}l6.6 6.6m0-6.6l-6.6 6.6" stroke-width="1.4"/>',
    "p": '<circle cx="{x}" cy="{y}" r="3" fill="none" stroke-width="1.8"/>',
    "h": '<rect x="{l}" y="{t}" width="6.2" height="6.2" fill="none" stroke-width="1.8"/>',
}


def grid(*charts: str) -> str:
    """Return charts side by side if there is room, and below each other on a phone."""
    return f'<div class="charts">{"".join(charts)}</div>'


def _figure(title: str, description: str, content: str) -> str:
    caption = f"<figcaption>{escape(title)}</figcaption>"
    return f'<figure class="chart" aria-label="{escape(description)}">{caption}{content}</figure>'


def _marker(at: int, x: float, y: float) -> str:
    drawn = _MARKS[line_style(at).marker].format(x=x, y=y, l=x - 3.3, r=x + 3.3, t=y - 3.3, b=y + 3.3)
    return f'<g fill="{line_style(at).colour}" stroke="{line_style(at).colour}">{drawn}</g>'


def rows(chart: ChartRows) -> str:
    """Return values with their intervals."""
    low, high = chart.ends

    def place(value: float) -> str:
        return f"{100 * min(max((value - low) / (high - low), 0), 1):.4g}%"

    line = '<line class="rule" x1="0" x2="100%" y1="9" y2="9"/>'
    if chart.zero:
        line += f'<line class="zero" x1="{place(0)}" x2="{place(0)}" y2="18"/>'
    cells = []
    for name, value, interval, said, at, sign in chart.rows:
        drawn = ""
        if not isnan(value):
            left, right = map(place, (value, value) if isnan(interval.low) else interval)
            stroke = f'stroke="{line_style(at).colour}" stroke-width="2"'
            drawn = (
                f'<line x1="{left}" x2="{right}" y1="9" y2="9" {stroke}/><svg x="{place(value)}" y="9" '
                f'overflow="visible">{_marker(at, 0, 0)}</svg>'
            )
        words = f"{escape(name)}: {numbers.mean(value, interval)}"
        picture = f'<svg height="18" role="img" aria-label="{words}">{line}{drawn}</svg>'
        cells.append(f'<span dir="auto">{escape(name)}</span>{picture}<span>{escape(f"{sign} {said}".strip())}</span>')
    scale = f'<span></span><span class="axis"><span>{low:.3g}</span><span>{high:.3g}</span></span><span></span>'
    return _figure(chart.title, f"{chart.title}: {chart.label}", f'<div class="bars">{"".join(cells)}{scale}</div>')


def counts(chart: ValueCounts) -> str:
    """Return the number of queries for each value, as bars on one scale from 0."""
    most = max([number for _, number in chart.rows], default=0) or 1
    cells = "".join(
        f'<span>{escape(name)}</span><svg height="14" role="img" aria-label="{number} of {chart.total}"><rect '
        f'width="{100 * number / most:.4g}%" height="14" fill="var(--dot)"/></svg><span>{number:,}</span>'
        for name, number in chart.rows
    )
    return _figure(chart.title, chart.title, f'<div class="bars">{cells}</div>')


def cutoffs(chart: CutoffLines) -> str:
    """Return a metric over its cut-off."""
    ks = list(chart.lines[0].means)
    heights = [mean for line in chart.lines for mean in line.means.values()]
    if chart.with_intervals:
        heights += [interval.high for line in chart.lines for interval in line.intervals.values()]
    top = max([height for height in heights if not isnan(height)], default=1.0) or 1.0
    top = 1.0 if 0.5 < top <= 1 else top

    def place(k: int, mean: float) -> tuple[float, float]:
        return round((k - ks[0]) / max(ks[-1] - ks[0], 1) * WIDE, 1), round(HIGH * (1 - mean / top), 1)

    drawn = [f'<line class="rule" x1="0" x2="{WIDE}" y1="{HIGH * at}" y2="{HIGH * at}" {_KEPT}/>' for at in (0, 0.5, 1)]
    if chart.marked is not None:
        x = place(chart.marked, 0)[0]
        drawn.append(f'<line class="zero" x1="{x}" x2="{x}" y1="0" y2="{HIGH}" {_DOTTED}/>')
    markers = []
    for at, line in enumerate(chart.lines):
        points = [place(k, mean) for k, mean in line.means.items() if not isnan(mean)]
        colour, _, pattern = line_style(at)
        if chart.with_intervals:
            ends = [(k, ends) for k, ends in line.intervals.items() if not isnan(ends.low)]
            band = [place(k, each.low) for k, each in ends] + [place(k, each.high) for k, each in reversed(ends)]
            drawn.append(f'<polygon points="{_joined(band)}" fill="{colour}" opacity=".16"/>')
        dash = f' stroke-dasharray="{pattern}"' if pattern else ""
        drawn.append(
            f'<polyline points="{_joined(points)}" fill="none" stroke="{colour}" stroke-width="2"{dash} {_KEPT}/>'
        )
        for x, y in points[at % 3 :: max(3, len(points) // 4)]:  # lines on each other keep their markers apart
            markers.append(f'<svg x="{100 * x / WIDE:.4g}%" y="{y}" overflow="visible">{_marker(at, 0, 0)}</svg>')
    axis = f'<div class="axis"><span>{ks[0]:,}</span><span>{chart.label}</span><span>{ks[-1]:,}</span></div>'
    above = f'<div class="axis"><span>{top:.3g}</span></div>'
    stretched = (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" width="100%" height="{HIGH}" preserveAspectRatio="none">'
        f"{''.join(drawn)}</svg>"
    )
    label = escape(f"{chart.title}, {chart.label}")
    picture = f'<svg height="{HIGH}" role="img" aria-label="{label}">{stretched}{"".join(markers)}</svg>'
    return _figure(chart.title, chart.title, above + picture + axis + key([line.name for line in chart.lines]))


def flow(chart: Flow) -> str:
    """Draw what is left after each step from left to right, and below each other where there is no room for that."""
    parts = []
    for name, left, lost in chart.steps:
        gone = sum(share for _, share in lost)
        said = "".join(f"<em>\u2212{_percent(share)} {escape(words)}</em>" for words, share in lost if share)
        sizes = {"loss": gone, "left": left}.items()
        bar = "".join(f'<i class="{kind}" style="flex-basis:{100 * size:.2f}%"></i>' for kind, size in sizes)
        parts.append(f"<li><b>{escape(name)}</b><div>{bar}</div><span>{_percent(left)} left</span>{said}</li>")
    return _figure(chart.title, chart.title, f'<ol class="flow">{"".join(parts)}</ol>')


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def key(names: Sequence[str]) -> str:
    """Return the key of the lines; an empty text for a single line."""
    if len(names) == 1:
        return ""
    items = []
    for at, name in enumerate(names):
        dash = f' stroke-dasharray="{line_style(at).dash}"' if line_style(at).dash else ""
        line = f'<line x1="0" x2="36" y1="7" y2="7" stroke="{line_style(at).colour}" stroke-width="2"{dash}/>'
        items.append(
            f'<li><svg viewBox="0 0 36 14" aria-hidden="true">{line}{_marker(at, 18, 7)}</svg>'
            f'<span dir="auto">{escape(name)}</span></li>'
        )
    return f'<ul class="key">{"".join(items)}</ul>'


def changes(chart: SortedChanges) -> str:
    """Return the change of every query, the largest gain first, with those that moved most named."""
    widest = float(np.abs(chart.changes).max(initial=0.0)) or 1.0
    step = WIDE / max(len(chart.changes), 1)

    def height(change: float) -> str:
        return f"{LOW / 2 * (1 - min(max(change / widest, -1), 1)):.4g}"

    zero, paths = height(0), {"gain": "", "loss": ""}
    for at, end, change in _steps(chart.changes.tolist()):
        if abs(change) > _NEARLY:
            kind = "gain" if change * chart.sign > 0 else "loss"
            paths[kind] += f"M{at * step:.5g} {zero}V{height(change)}H{end * step:.5g}V{zero}"
    drawn = "".join(f'<path d="{path}" class="{kind}"/>' for kind, path in paths.items())
    drawn += f'<line class="zero" x1="0" x2="{WIDE}" y1="{zero}" y2="{zero}" {_KEPT}/>'
    if isfinite(chart.mean):
        mean = height(chart.mean)
        drawn += f'<line class="mean" x1="0" x2="{WIDE}" y1="{mean}" y2="{mean}" {_DASHED}/>'
    if np.isfinite(chart.interval).all():
        low, high = (float(height(end)) for end in chart.interval)
        drawn += f'<rect class="mean" y="{high}" width="{WIDE}" height="{low - high:.4g}"/>'
    label, said = (f"{chart.label}, dashed" if chart.label else ""), chart.counts_note
    in_words = escape("; ".join((chart.label, *said)))
    picture = (
        f'<svg viewBox="0 0 {WIDE} {LOW}" height="{LOW}" preserveAspectRatio="none" role="img" '
        f'aria-label="{in_words}">{drawn}</svg>'
    )
    parts = list(zip(("gain", "tie", "loss"), chart.counts, said, strict=True))
    bar = "".join(f'<span class="{kind}" style="flex:{number}"></span>' for kind, number, _ in parts if number)
    key = "".join(f'<span><i class="{kind}"></i>{words}</span>' for kind, _, words in parts)
    gained, dropped = (
        f'<div class="{style}">{escape(", ".join(f"{name} {numbers.signed(change)}" for name, change in moved))}</div>'
        for style, moved in (("moved", chart.gained), ("moved last", chart.dropped))
    )
    above, below = (gained, dropped) if chart.sign > 0 else (dropped, gained)  # beside the bars of those queries
    content = (
        f'{above}{picture}{below}<div class="shares" aria-hidden="true">{bar}</div><div class="axis counts">{key}</div>'
    )
    return _figure(chart.title, chart.title, f'{content}<p class="notes">{escape(label)}</p>')


def _steps(values: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return where each run of equal values starts and ends, so that each run is one step."""
    steps: list[tuple[int, int, float]] = []
    for at, value in enumerate(values):
        if steps and abs(value - steps[-1][2]) < _NEARLY:
            steps[-1] = steps[-1][0], at + 1, value
        else:
            steps.append((at, at + 1, value))
    return steps


# The look of each system in every chart.

COLOURS = ("#2f7fc1", "#c2701a", "#7a2be0", "#998c4c", "#b20094", "#fe4c88")
"""One for each system: mid tones with a contrast of 3:1 to white and to black."""
GAIN, LOSS_COLOUR, TIED_COLOUR = "#2f684c", "#b21a1a", "#8a9097"
"""Queries won, lost and tied; no system has one of these, and colour-blind readers can tell all of them apart."""
MARKERS = "os^DvPX<>*ph"
DASHES = ("", "6 3", "2 2", "8 3 2 3")
"""In units of the drawing: solid, dashed, dotted, dash and dot."""


class Style(NamedTuple):
    """One way of drawing a line: no two of the first twelve have more than one of the three in common."""

    colour: str
    marker: str
    dash: str


def line_style(index: int) -> Style:
    """Return the style of the series with this number.

    Example:
        >>> line_style(0)
        Style(colour='#2f7fc1', marker='o', dash='')
        >>> line_style(6)
        Style(colour='#2f7fc1', marker='X', dash='6 3')
    """
    return Style(
        COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)], DASHES[(index // len(COLOURS)) % len(DASHES)]
    )
