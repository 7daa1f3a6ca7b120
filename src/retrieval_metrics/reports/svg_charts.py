"""Draw charts for a page: lines and bars are SVG, words are HTML, so that they wrap and keep their size on a phone."""

from __future__ import annotations

from html import escape
from math import isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.line_styles import Style, line_style
from retrieval_metrics.statistics.mean_intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.reports.charts import (
        ChartRows,
        CutoffLines,
        Line,
        NamedChange,
        SortedChanges,
        StageFlow,
        ValueCounts,
    )


# Units of the drawing, which is stretched to the available width; the changes of queries take less height.
WIDTH = 400
HEIGHT = 150
CHANGES_HEIGHT = 110

# Two changes closer than this are drawn as one step, and one closer to 0 not at all.
_TOLERANCE = 1e-9

# A line keeps its width where the drawing is stretched.
_UNSCALED = 'vector-effect="non-scaling-stroke"'
_DOTTED = f'stroke-dasharray="2 3" {_UNSCALED}'
_DASHED = f'stroke-dasharray="6 4" {_UNSCALED}'
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


def arrange_charts(*charts: str) -> str:
    """Return charts side by side if there is room, and below each other on a phone."""
    return f'<div class="charts">{"".join(charts)}</div>'


def _figure(title: str, description: str, content: str) -> str:
    caption = f"<figcaption>{escape(title)}</figcaption>"
    return f'<figure class="chart" aria-label="{escape(description)}">{caption}{content}</figure>'


def _marker(series: int, x: float, y: float) -> str:
    style = line_style(series)
    mark = _MARKS[style.marker].format(x=x, y=y, l=x - 3.3, r=x + 3.3, t=y - 3.3, b=y + 3.3)
    return f'<g fill="{style.colour}" stroke="{style.colour}">{mark}</g>'


def draw_rows(chart: ChartRows) -> str:
    """Return values with their intervals."""
    low, high = chart.ends

    def x_position(value: float) -> str:
        return f"{100 * min(max((value - low) / (high - low), 0), 1):.4g}%"

    background = '<line class="rule" x1="0" x2="100%" y1="9" y2="9"/>'
    if chart.zero:
        background += f'<line class="zero" x1="{x_position(0)}" x2="{x_position(0)}" y2="18"/>'
    cells = []
    for row in chart.rows:
        drawing = ""
        if not isnan(row.value):
            ends = Interval(row.value, row.value) if isnan(row.interval.low) else row.interval
            stroke = f'stroke="{line_style(row.series).colour}" stroke-width="2"'
            drawing = (
                f'<line x1="{x_position(ends.low)}" x2="{x_position(ends.high)}" y1="9" y2="9" {stroke}/>'
                f'<svg x="{x_position(row.value)}" y="9" overflow="visible">{_marker(row.series, 0, 0)}</svg>'
            )
        name = escape(row.name)
        words = f"{name}: {numbers.format_mean(row.value, row.interval)}"
        picture = f'<svg height="18" role="img" aria-label="{words}">{background}{drawing}</svg>'
        note = escape(f"{row.note} {row.sign}".strip())
        cells.append(f'<span dir="auto">{name}</span>{picture}<span>{note}</span>')
    scale = f'<span></span><span class="axis"><span>{low:.3g}</span><span>{high:.3g}</span></span><span></span>'
    return _figure(chart.title, f"{chart.title}: {chart.label}", f'<div class="bars">{"".join(cells)}{scale}</div>')


def draw_value_counts(chart: ValueCounts) -> str:
    """Return the number of queries for each value, as bars on one scale from 0."""
    largest = max([count for _, count in chart.rows], default=0) or 1
    cells = []
    for name, count in chart.rows:
        cells.append(
            f'<span>{escape(name)}</span><svg height="14" role="img" aria-label="{count} of {chart.total}"><rect '
            f'width="{100 * count / largest:.4g}%" height="14" fill="var(--dot)"/></svg><span>{count:,}</span>'
        )
    return _figure(chart.title, chart.title, f'<div class="bars">{"".join(cells)}</div>')


def draw_cutoffs(chart: CutoffLines) -> str:
    """Return a metric over its cutoff."""
    ks = list(chart.lines[0].means)
    top = _top_of_scale(chart)

    def position(k: int, mean: float) -> tuple[float, float]:
        return round((k - ks[0]) / max(ks[-1] - ks[0], 1) * WIDTH, 1), round(HEIGHT * (1 - mean / top), 1)

    shapes = []
    for share in (0, 0.5, 1):
        y = HEIGHT * share
        shapes.append(f'<line class="rule" x1="0" x2="{WIDTH}" y1="{y}" y2="{y}" {_UNSCALED}/>')
    if chart.marked is not None:
        x, _ = position(chart.marked, 0)
        shapes.append(f'<line class="zero" x1="{x}" x2="{x}" y1="0" y2="{HEIGHT}" {_DOTTED}/>')
    markers = []
    for series, line in enumerate(chart.lines):
        points = [position(k, mean) for k, mean in line.means.items() if not isnan(mean)]
        style = line_style(series)
        if chart.with_intervals:
            shapes.append(_band(line, position, style.colour))
        shapes.append(
            f'<polyline points="{_join_points(points)}" fill="none" stroke="{style.colour}" stroke-width="2"'
            f"{_dash_attribute(style)} {_UNSCALED}/>"
        )
        for x, y in points[series % 3 :: max(3, len(points) // 4)]:  # lines on each other keep their markers apart
            markers.append(f'<svg x="{100 * x / WIDTH:.4g}%" y="{y}" overflow="visible">{_marker(series, 0, 0)}</svg>')
    axis = f'<div class="axis"><span>{ks[0]:,}</span><span>{chart.label}</span><span>{ks[-1]:,}</span></div>'
    above = f'<div class="axis"><span>{top:.3g}</span></div>'
    stretched = (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" height="{HEIGHT}" preserveAspectRatio="none">'
        f"{''.join(shapes)}</svg>"
    )
    label = escape(f"{chart.title}, {chart.label}")
    picture = f'<svg height="{HEIGHT}" role="img" aria-label="{label}">{stretched}{"".join(markers)}</svg>'
    return _figure(chart.title, chart.title, above + picture + axis + draw_key([line.name for line in chart.lines]))


def _top_of_scale(chart: CutoffLines) -> float:
    """Return the largest mean, or end of an interval that is drawn; 1 if it is above 0.5 and at most 1."""
    heights: list[float] = []
    for line in chart.lines:
        heights.extend(line.means.values())
        if chart.with_intervals:
            heights.extend(interval.high for interval in line.intervals.values())
    top = max([height for height in heights if not isnan(height)], default=1.0) or 1.0
    if 0.5 < top <= 1:
        return 1.0
    return top


def _band(line: Line, position: Callable[[int, float], tuple[float, float]], colour: str) -> str:
    """Return the area between the ends of the intervals of a line."""
    upper = []
    lower = []
    for k, interval in line.intervals.items():
        if not isnan(interval.low):
            lower.append(position(k, interval.low))
            upper.append(position(k, interval.high))
    return f'<polygon points="{_join_points(lower + upper[::-1])}" fill="{colour}" opacity=".16"/>'


def draw_stage_flow(chart: StageFlow) -> str:
    """Draw what is left after each stage from left to right, and below each other where there is no room for that."""
    items = []
    for stage in chart.stages:
        lost_share = sum(loss.share for loss in stage.losses)
        notes = ""
        for loss in stage.losses:
            if loss.share:
                notes += f"<em>\u2212{_format_percent(loss.share)} {escape(loss.label)}</em>"
        bar = (
            f'<i class="loss" style="flex-basis:{100 * lost_share:.2f}%"></i>'
            f'<i class="left" style="flex-basis:{100 * stage.left:.2f}%"></i>'
        )
        left_note = f"<span>{_format_percent(stage.left)} left</span>"
        items.append(f"<li><b>{escape(stage.name)}</b><div>{bar}</div>{left_note}{notes}</li>")
    return _figure(chart.title, chart.title, f'<ol class="flow">{"".join(items)}</ol>')


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _join_points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _dash_attribute(style: Style) -> str:
    return f' stroke-dasharray="{style.dash}"' if style.dash else ""


def draw_key(names: Sequence[str]) -> str:
    """Return the key of the lines; an empty text for a single line."""
    if len(names) == 1:
        return ""
    items = []
    for series, name in enumerate(names):
        style = line_style(series)
        line = f'<line x1="0" x2="36" y1="7" y2="7" stroke="{style.colour}" stroke-width="2"{_dash_attribute(style)}/>'
        items.append(
            f'<li><svg viewBox="0 0 36 14" aria-hidden="true">{line}{_marker(series, 18, 7)}</svg>'
            f'<span dir="auto">{escape(name)}</span></li>'
        )
    return f'<ul class="key">{"".join(items)}</ul>'


def draw_changes(chart: SortedChanges) -> str:
    """Return the change of every query, the largest gain first, with those that moved most named."""
    words = escape("; ".join((chart.label, *chart.counts_note)))
    picture = (
        f'<svg viewBox="0 0 {WIDTH} {CHANGES_HEIGHT}" height="{CHANGES_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{words}">{_change_shapes(chart)}</svg>'
    )
    bar = ""
    counts_key = ""
    for style, count, note in zip(("gain", "tie", "loss"), chart.counts, chart.counts_note, strict=True):
        if count:
            bar += f'<span class="{style}" style="flex:{count}"></span>'
        counts_key += f'<span><i class="{style}"></i>{note}</span>'
    gained = _name_changes(chart.gained, "moved")
    dropped = _name_changes(chart.dropped, "moved last")
    # Each beside the bars of its queries.
    if chart.sign > 0:
        content = gained + picture + dropped
    else:
        content = dropped + picture + gained
    content += (
        f'<div class="shares" aria-hidden="true">{bar}</div><div class="axis counts">{counts_key}</div>'
        f'<p class="notes">{escape(chart.dashed_label)}</p>'
    )
    return _figure(chart.title, chart.title, content)


def _change_shapes(chart: SortedChanges) -> str:
    """Return the outlines of gains and losses, the line at 0, and the mean with its interval."""
    widest = float(np.abs(chart.changes).max(initial=0.0)) or 1.0
    query_width = WIDTH / max(len(chart.changes), 1)

    def y_position(change: float) -> str:
        return f"{CHANGES_HEIGHT / 2 * (1 - min(max(change / widest, -1), 1)):.4g}"

    zero = y_position(0)
    paths = {"gain": "", "loss": ""}
    for run in _equal_runs(chart.changes.tolist()):
        if abs(run.value) > _TOLERANCE:
            kind = "gain" if run.value * chart.sign > 0 else "loss"
            left = f"{run.start * query_width:.5g}"
            right = f"{run.end * query_width:.5g}"
            paths[kind] += f"M{left} {zero}V{y_position(run.value)}H{right}V{zero}"
    shapes = "".join(f'<path d="{path}" class="{kind}"/>' for kind, path in paths.items())
    shapes += f'<line class="zero" x1="0" x2="{WIDTH}" y1="{zero}" y2="{zero}" {_UNSCALED}/>'
    if isfinite(chart.mean):
        mean = y_position(chart.mean)
        shapes += f'<line class="mean" x1="0" x2="{WIDTH}" y1="{mean}" y2="{mean}" {_DASHED}/>'
    if np.isfinite(chart.interval).all():
        low = float(y_position(chart.interval.low))
        high = float(y_position(chart.interval.high))
        shapes += f'<rect class="mean" y="{high}" width="{WIDTH}" height="{low - high:.4g}"/>'
    return shapes


def _name_changes(changes: Sequence[NamedChange], style: str) -> str:
    """Return a line with the names of queries and their changes."""
    words = ", ".join(f"{moved.query} {numbers.format_signed(moved.change)}" for moved in changes)
    return f'<div class="{style}">{escape(words)}</div>'


class _EqualRun(NamedTuple):
    """Queries beside each other with the same change: from `start` up to, and without, `end`."""

    start: int
    end: int
    value: float


def _equal_runs(values: Sequence[float]) -> list[_EqualRun]:
    """Return the runs of equal values, so that each is drawn as one step."""
    runs: list[_EqualRun] = []
    for index, value in enumerate(values):
        if runs and abs(value - runs[-1].value) < _TOLERANCE:
            runs[-1] = _EqualRun(runs[-1].start, index + 1, value)
        else:
            runs.append(_EqualRun(index, index + 1, value))
    return runs
