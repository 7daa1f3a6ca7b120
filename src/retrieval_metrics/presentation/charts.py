"""What charts show, whatever draws them: `plots` for figures, `charts_in_html` for reports."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.presentation import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.checks import FloatArray
    from retrieval_metrics.statistics.means import Interval

FEW = 3
"""The largest number of lines with intervals along them, or named points; more would hide each other."""
MOVED = 3
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
    said: str
    series: int = 0
    sign: str = ""


class Rows(NamedTuple):
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
    def of(cls, title: str, label: str, rows: Sequence[ChartRow], least: float = 0.0, *, gains: bool = False) -> Rows:
        """Return rows on a scale that has 0, `least`, and every value with its interval.

        Args:
            title: What stands above them.
            label: What the values and their intervals are.
            rows: The rows.
            least: What the scale has at least.
            gains: Whether the values are gains and losses, told apart by the side of 0 they are on.
        """
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


class Changes(NamedTuple):
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
    def said_of_counts(self) -> tuple[str, str, str]:
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


class Points(NamedTuple):
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
