"""The look of each system in every chart."""

from __future__ import annotations

from typing import NamedTuple

COLOURS = ("#2f7fc1", "#c2701a", "#7a2be0", "#998c4c", "#b20094", "#fe4c88")
"""One for each system: mid tones with a contrast of 3:1 to white and to black."""
GAIN, LOSS, TIED = "#2f684c", "#b21a1a", "#8a9097"
"""Queries won, lost and tied; no system has one of these, and colour-blind readers can tell all of them apart."""
MARKERS = "os^DvPX<>*ph"
DASHES = ("", "6 3", "2 2", "8 3 2 3")
"""In units of the drawing: solid, dashed, dotted, dash and dot."""


class Style(NamedTuple):
    """One way of drawing a line: no two of the first twelve have more than one of the three in common."""

    colour: str
    marker: str
    dash: str


def style(at: int) -> Style:
    """Return the style of the series with this number.

    Example:
        >>> style(0)
        Style(colour='#2f7fc1', marker='o', dash='')
        >>> style(6)
        Style(colour='#2f7fc1', marker='X', dash='6 3')
    """
    return Style(COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)], DASHES[(at // len(COLOURS)) % len(DASHES)])
