"""Describe what the charts of reports and plots show, before anything draws it."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.statistics.mean_intervals import Interval


# More lines with intervals along them, or with named points, would hide each other.
MAX_DETAILED_LINES = 3

# Queries that are named at either end of the changes.
MAX_LARGEST_CHANGES = 3


class ChartRow(NamedTuple):
    """A value with its interval, under a name.

    Attributes:
        name: What it belongs to.
        value: The value.
        interval: Its interval; NaN if it has none.
        note: The value in words.
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
    def scaled(
        cls, title: str, label: str, rows: Sequence[ChartRow], least: float = 0.0, *, gains: bool = False
    ) -> ChartRows:
        """Return rows on a scale that has 0, `least`, and every value with its interval."""
        shown = [0.0, least]
        for row in rows:
            shown.extend(filter(isfinite, (row.value, row.interval.low, row.interval.high)))
        low = min(shown)
        high = max(shown)
        if high <= low:
            high = low + 1
        return cls(title, label, rows, (low, high), gains or low < 0)


class Line(NamedTuple):
    """The means of one system over the cutoff, with the interval of each."""

    name: str
    means: Mapping[int, float]
    intervals: Mapping[int, Interval]


class CutoffLines(NamedTuple):
    """A metric over its cutoff, a line for each system.

    Attributes:
        title: What stands above.
        lines: The lines, all at the same cutoffs; one without a name stands alone.
        marked: The cutoff that was asked for; None if there is none, or it is not among those drawn.
        unit: What the cutoff counts: `k` documents, `characters` or `tokens`.
    """

    title: str
    lines: Sequence[Line]
    marked: int | None
    unit: str

    @property
    def with_intervals(self) -> bool:
        """Whether there is room for intervals along the lines."""
        return len(self.lines) <= MAX_DETAILED_LINES

    @property
    def label(self) -> str:
        """What the axis of cutoffs is called."""
        cutoff = "cutoff k" if self.unit == "k" else f"cutoff in {self.unit}"
        return cutoff if self.marked is None else f"{cutoff} (dotted: {self.marked:,})"


class StageLoss(NamedTuple):
    """The share of what is needed that a stage lost, with the way in which it lost it."""

    label: str
    share: float


class StageShares(NamedTuple):
    """The share of what is needed that is left after a stage, and the shares that the stage lost."""

    name: str
    left: float
    losses: Sequence[StageLoss]


class StageFlow(NamedTuple):
    """What is left of what is needed after each stage, and what the stage lost.

    Attributes:
        title: What stands above.
        stages: The stages, in order.
    """

    title: str
    stages: Sequence[StageShares]


class QueryCounts(NamedTuple):
    """How many queries one system won, tied and lost against another."""

    won: int
    tied: int
    lost: int


class NamedChange(NamedTuple):
    """A query with the change of its value."""

    query: str
    change: float


class SortedChanges(NamedTuple):
    """How much one system changed the value of every query.

    Attributes:
        title: What stands above.
        changes: Shape (queries,), the largest gain first.
        sign: -1 where a lower value is better: then a gain is a change below 0.
        mean: The mean change; NaN shows none.
        interval: Its interval; NaN shows none.
        counts: How many queries were won, tied and lost.
        gained: The queries that gained most, with their changes.
        dropped: Those that lost most.
    """

    title: str
    changes: FloatArray
    sign: int
    mean: float
    interval: Interval
    counts: QueryCounts
    gained: Sequence[NamedChange]
    dropped: Sequence[NamedChange]

    @property
    def counts_note(self) -> tuple[str, str, str]:
        """How many queries were won, tied and lost, in words."""
        return f"{self.counts.won:,} won", f"{self.counts.tied:,} tied", f"{self.counts.lost:,} lost"

    @property
    def label(self) -> str:
        """The mean change with its interval, in words; empty if there is no query, or no mean."""
        if not len(self.changes) or isnan(self.mean):
            return ""
        interval = numbers.format_interval(self.interval, difference=True).removesuffix("-")
        return f"mean {numbers.format_signed(self.mean)} {interval}".rstrip()

    @property
    def dashed_label(self) -> str:
        """The label where the mean is a dashed line; empty if there is no label."""
        return f"{self.label}, dashed" if self.label else ""


class SharesRow(NamedTuple):
    """The queries won, tied and lost under a name, such as that of a metric."""

    name: str
    counts: QueryCounts


class Shares(NamedTuple):
    """How many queries one system won, tied and lost against another, a row for each name."""

    title: str
    rows: Sequence[SharesRow]


class Point(NamedTuple):
    """A point with its name, if it has one, and the interval of its height."""

    name: str
    x: float
    y: float
    interval: Interval


class PointLine(NamedTuple):
    """Points joined by a line, and its name; a line of one point is a single mark."""

    name: str
    points: Sequence[Point]


class PointLines(NamedTuple):
    """Several lines of points on the same axes.

    Attributes:
        title: What stands above.
        lines: The lines.
        labels: What the two axes are.
        note: What the names of the points are; they stand where there are few lines.
    """

    title: str
    lines: Sequence[PointLine]
    labels: tuple[str, str]
    note: str

    @property
    def named(self) -> bool:
        """Whether there is room for names of points, and their intervals."""
        return len(self.lines) <= MAX_DETAILED_LINES


class ValueCounts(NamedTuple):
    """How many of `total` queries have each value."""

    title: str
    rows: Sequence[tuple[str, int]]
    total: int
