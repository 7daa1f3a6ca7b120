"""Panels with lines: what they draw, and names at their ends that do not overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from plot_gallery import comparison
from retrieval_metrics.reports.line_panels import line_dashes, spread_apart

if TYPE_CHECKING:
    from functools import partial

    from matplotlib.figure import Figure

    Drawing = tuple[str, partial[Figure]]


def test_precision_and_recall_are_those_at_each_cut_off() -> None:
    compared = comparison(2, 8)
    line = compared.plot("precision_recall").axes[0].get_lines()[0]
    evaluation = compared.evaluations["BM25"]
    precision = evaluation.at_cutoffs("precision")
    recall = evaluation.at_cutoffs("recall")
    drawn = dict(zip(np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist(), strict=True))
    assert drawn.keys() == set(recall.values())
    assert list(drawn.values())[-1] == list(precision.values())[-1]


@pytest.mark.parametrize("seed", range(5))
def test_names_at_the_ends_of_lines_never_overlap(seed: int) -> None:
    generator = np.random.default_rng(seed)
    places = generator.random(10)
    sizes = np.full(10, 0.09)
    spread = spread_apart(places.tolist(), sizes.tolist(), (0, 1))
    ordered = sorted(spread.values())
    assert min(np.diff(ordered)) > 0.09 - 1e-6
    assert ordered[0] >= 0.045 - 1e-6
    assert ordered[-1] <= 0.955 + 1e-6
    assert sorted(spread, key=spread.__getitem__) == np.argsort(places, kind="stable").tolist()


def test_lines_are_solid_until_the_colours_are_used_up() -> None:
    dashes = [line_dashes(series) for series in range(16)]
    n_solid = dashes.index(next(dash for dash in dashes if dash != "-"))
    assert dashes[:n_solid] == ["-"] * n_solid
    assert n_solid >= 4
    offset, lengths = dashes[n_solid]
    assert offset == 0
    assert min(lengths) > 0
