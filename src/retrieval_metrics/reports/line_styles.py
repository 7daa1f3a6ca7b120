"""Give each system one colour, marker and dash in every chart."""

from __future__ import annotations

from typing import NamedTuple

# One for each system: mid tones with a contrast of 3:1 to white and to black.
COLOURS = ("#2f7fc1", "#c2701a", "#7a2be0", "#998c4c", "#b20094", "#fe4c88")

# Queries won, lost and tied; no system has one of these, and colour-blind readers can tell all of them apart.
GAIN = "#2f684c"
LOSS_COLOUR = "#b21a1a"
TIED_COLOUR = "#8a9097"
MARKERS = "os^DvPX<>*ph"

# In units of the drawing: solid, dashed, dotted, dash and dot.
DASHES = ("", "6 3", "2 2", "8 3 2 3")


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
        colour=COLOURS[index % len(COLOURS)],
        marker=MARKERS[index % len(MARKERS)],
        dash=DASHES[(index // len(COLOURS)) % len(DASHES)],
    )
