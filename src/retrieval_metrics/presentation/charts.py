"""Charts for a page: lines and bars are SVG, words are HTML, so that they wrap and keep their size on a phone."""

from __future__ import annotations

from html import escape
from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.series import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.presentation.series import Mean
    from retrieval_metrics.statistics.intervals import Interval

WIDE, HIGH = 400, 150
"""Units of the drawing, which is stretched to the available width."""
_NEARLY = 1e-9
MOVED = 3
"""Queries that are named at either end of the differences."""
FEW = 3
"""The largest number of lines drawn with intervals along them; more would hide each other."""
_KEPT = 'vector-effect="non-scaling-stroke"'
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
    drawn = _MARKS[style(at).marker].format(x=x, y=y, l=x - 3.3, r=x + 3.3, t=y - 3.3, b=y + 3.3)
    return f'<g fill="{style(at).colour}" stroke="{style(at).colour}">{drawn}</g>'


def means(title: str, rows: Sequence[Mean], level: float, high: float = 1.0, low: float = 0.0) -> str:
    """Return the means of one metric, one below the other, each with its interval on one scale."""
    cells = []
    for name, mean, interval, at, sign in rows:
        drawn = ""
        if not isnan(mean):
            ends = (mean, mean) if isnan(interval.low) else tuple(interval)
            left, right, middle = (
                f"{100 * min(max(end - low, 0) / ((high - low) or 1), 1):.4g}%" for end in (*ends, mean)
            )
            stroke = f'stroke="{style(at).colour}" stroke-width="2"'
            dot = _marker(at, 0, 0)
            drawn = (
                f'<line x1="{left}" x2="{right}" y1="9" y2="9" {stroke}/><svg x="{middle}" y="9" overflow="visible">'
                f"{dot}</svg>"
            )
        line = '<line class="rule" x1="0" x2="100%" y1="9" y2="9"/>'
        if low < 0 < high:  # a gain or a loss is told by the side of 0 it is on
            at_zero = f"{-100 * low / (high - low):.4g}%"
            line += f'<line class="zero" x1="{at_zero}" x2="{at_zero}" y2="18"/>'
        words = f"{escape(name)}: {numbers.mean(mean, interval)}"
        picture = f'<svg height="18" role="img" aria-label="{words}">{line}{drawn}</svg>'
        value = f"{sign} {numbers.value(mean)}".strip()
        cells.append(f'<span dir="auto">{escape(name)}</span>{picture}<span>{value}</span>')
    scale = f'<span></span><span class="axis"><span>{low:.3g}</span><span>{high:.3g}</span></span><span></span>'
    note = f"mean and {numbers.level_name(level)}"
    return _figure(title, f"{title}: {note}", f'<div class="bars">{"".join(cells)}{scale}</div>')


def counts(title: str, rows: Sequence[tuple[str, int]], total: int) -> str:
    """Return the number of queries for each value, as bars on one scale from 0."""
    most = max([number for _, number in rows], default=0) or 1
    cells = "".join(
        f'<span>{escape(name)}</span><svg height="14" role="img" aria-label="{number} of {total}"><rect '
        f'width="{100 * number / most:.4g}%" height="14" fill="var(--dot)"/></svg><span>{number:,}</span>'
        for name, number in rows
    )
    return _figure(title, title, f'<div class="bars">{cells}</div>')


def lines(
    title: str,
    series: Mapping[str, Mapping[int, float]],
    intervals: Mapping[str, Mapping[int, Interval]],
    marked: int | None,
    unit: str = "k",
) -> str:
    """Return means over the cut-off, a line each, few with their intervals, and the one that was asked for marked.

    The unit is what the cut-off counts: `k` documents, `characters` or `tokens`.
    """
    ks = list(next(iter(series.values())))
    drawn_to = [mean for each in series.values() for mean in each.values()]
    if len(series) <= FEW:
        drawn_to += [intervals[name][k].high for name, each in series.items() for k in each]
    top = max([height for height in drawn_to if not isnan(height)], default=1.0) or 1.0
    top = 1.0 if 0.5 < top <= 1 else top  # noqa: PLR2004  (more than half of the scale is filled anyway)

    def place(k: int, mean: float) -> tuple[float, float]:
        return round((k - ks[0]) / max(ks[-1] - ks[0], 1) * WIDE, 1), round(HIGH * (1 - mean / top), 1)

    drawn = [f'<line class="rule" x1="0" x2="{WIDE}" y1="{HIGH * at}" y2="{HIGH * at}" {_KEPT}/>' for at in (0, 0.5, 1)]
    if marked is not None and ks[0] <= marked <= ks[-1]:
        x = place(marked, 0)[0]
        drawn.append(f'<line class="zero" x1="{x}" x2="{x}" y1="0" y2="{HIGH}" stroke-dasharray="2 3" {_KEPT}/>')
    markers = []
    for at, (name, means_) in enumerate(series.items()):
        points = [place(k, mean) for k, mean in means_.items() if not isnan(mean)]
        colour, _, pattern = style(at)
        if len(series) <= FEW:
            ends = [(k, intervals[name][k]) for k in means_ if not isnan(intervals[name][k].low)]
            band = [place(k, end.low) for k, end in ends] + [place(k, end.high) for k, end in reversed(ends)]
            drawn.append(f'<polygon points="{_joined(band)}" fill="{colour}" opacity=".16"/>')
        dash = f' stroke-dasharray="{pattern}"' if pattern else ""
        drawn.append(
            f'<polyline points="{_joined(points)}" fill="none" stroke="{colour}" stroke-width="2"{dash} {_KEPT}/>'
        )
        for x, y in points[at % 3 :: max(3, len(points) // 4)]:  # lines on each other keep their markers apart
            markers.append(f'<svg x="{100 * x / WIDE:.4g}%" y="{y}" overflow="visible">{_marker(at, 0, 0)}</svg>')
    cutoff = numbers.cutoff(unit)
    first, asked = (f"k = {k}" if unit == "k" else f"{k:,} {unit}" for k in (ks[0], marked or 0))
    at_k = cutoff if marked is None else f"{asked} marked"
    axis = f'<div class="axis"><span>{first}</span><span>{at_k}</span><span>{ks[-1]:,}</span></div>'
    above = f'<div class="axis"><span>{top:.3g}</span></div>'
    stretched = (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" width="100%" height="{HIGH}" preserveAspectRatio="none">'
        f"{''.join(drawn)}</svg>"
    )
    label = f"{escape(title)} over the {cutoff}"
    picture = f'<svg height="{HIGH}" role="img" aria-label="{label}">{stretched}{"".join(markers)}</svg>'
    return _figure(title, f"{title} over the {cutoff}", above + picture + axis + key(list(series)))


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def key(names: Sequence[str]) -> str:
    """Return the key of the lines; an empty text for a single line."""
    if len(names) == 1:
        return ""
    items = []
    for at, name in enumerate(names):
        dash = f' stroke-dasharray="{style(at).dash}"' if style(at).dash else ""
        line = f'<line x1="0" x2="36" y1="7" y2="7" stroke="{style(at).colour}" stroke-width="2"{dash}/>'
        items.append(
            f'<li><svg viewBox="0 0 36 14" aria-hidden="true">{line}{_marker(at, 18, 7)}</svg>'
            f'<span dir="auto">{escape(name)}</span></li>'
        )
    return f'<ul class="key">{"".join(items)}</ul>'


def differences(title: str, gains: Sequence[float], names: Sequence[str], said: str, sign: int = 1) -> str:
    """Return the difference of every query, the largest gain first, with those moved most named.

    A slim bar below has the queries won, tied and lost, on the same scale.

    Args:
        title: The heading.
        gains: How much better the system is for each query, largest first.
        names: The names of these queries.
        said: The mean difference, in words.
        sign: -1 where a lower value is better: then a gain is a difference below 0.
    """
    widest = max((abs(gain) for gain in gains), default=0.0) or 1.0
    high, middle = 110, 55
    step = WIDE / max(len(gains), 1)
    won, lost = sum(gain > _NEARLY for gain in gains), sum(gain < -_NEARLY for gain in gains)
    paths = {"gain": "", "loss": ""}
    for at, end, gain in _steps(gains):
        if abs(gain) > _NEARLY:
            top = middle - sign * gain / widest * middle
            paths["gain" if gain > 0 else "loss"] += f"M{at * step:.5g} {middle}V{top:.4g}H{end * step:.5g}V{middle}"
    drawn = "".join(f'<path d="{path}" class="{kind}"/>' for kind, path in paths.items())
    drawn += f'<line class="zero" x1="0" x2="{WIDE}" y1="{middle}" y2="{middle}" {_KEPT}/>'
    picture = (
        f'<svg viewBox="0 0 {WIDE} {high}" height="{high}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(said)}">{drawn}</svg>'
    )
    parts = (("gain", won), ("tie", len(gains) - won - lost), ("loss", lost))
    bar = "".join(f'<span class="{kind}" style="flex:{number}"></span>' for kind, number in parts if number)
    key = "".join(
        f'<span><i class="{kind}"></i>{number:,} {word}</span>'
        for (kind, number), word in zip(parts, ("won", "tied", "lost"), strict=True)
    )
    up = _moved(gains, names, sign)
    losses = sorted(zip((-gain for gain in gains), names, strict=True), key=lambda loss: -loss[0])
    down = _moved([loss for loss, _ in losses], [name for _, name in losses], -sign)
    content = (
        f'<div class="moved">{escape(up)}</div>{picture}<div class="moved last">{escape(down)}</div>'
        f'<div class="shares" aria-hidden="true">{bar}</div><div class="axis counts">{key}</div>'
    )
    return _figure(title, said, f'{content}<p class="notes">{escape(said)}</p>')


def _moved(gains: Sequence[float], names: Sequence[str], sign: int) -> str:
    """Return the first queries with their differences, in words."""
    moved = [(name, gain) for name, gain in zip(names[:MOVED], gains[:MOVED], strict=True) if gain > _NEARLY]
    return ", ".join(f"{name} {numbers.signed(sign * gain)}" for name, gain in moved)


def _steps(values: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return where each run of equal values starts and ends, so that each run is one step."""
    steps: list[tuple[int, int, float]] = []
    for at, value in enumerate(values):
        if steps and abs(value - steps[-1][2]) < _NEARLY:
            steps[-1] = steps[-1][0], at + 1, value
        else:
            steps.append((at, at + 1, value))
    return steps
