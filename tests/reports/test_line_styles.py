"""The look of systems in charts: readers of every colour vision tell them apart."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb

from retrieval_metrics.reports.line_styles import COLOURS, GAIN, LOSS_COLOUR, TIED_COLOUR, line_style

if TYPE_CHECKING:
    from functools import partial

    from matplotlib.figure import Figure

    Drawing = tuple[str, partial[Figure]]


# What remains of linear red, green and blue for a reader without red, green or blue cones (Machado et al. 2009).
VISIBLE_LIGHT = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def test_systems_gains_and_losses_have_a_colour_each_that_everybody_can_tell_apart() -> None:
    colours = [*COLOURS, GAIN, LOSS_COLOUR]
    for first, second in combinations(colours, 2):
        for reader, matrix in VISIBLE_LIGHT.items():
            distance = np.linalg.norm(lab(matrix @ linear(first)) - lab(matrix @ linear(second)))
            assert distance > 14, f"{first} and {second} look alike to a reader who sees {reader}"
    for colour in [*colours, TIED_COLOUR]:
        light = float(linear(colour) @ [0.2126, 0.7152, 0.0722])
        assert min(1.05 / (light + 0.05), (light + 0.05) / 0.05) > 2.6
    assert len({line_style(index) for index in range(12)}) == 12
    assert len({line_style(index).marker for index in range(12)}) == 12


def linear(colour: str) -> np.ndarray:
    part = np.array(to_rgb(colour))
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    """CIELAB of linear light, in which 2.3 is the least distance that is seen."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1, 1.089]
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])
