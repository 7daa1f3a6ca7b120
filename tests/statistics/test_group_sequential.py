"""Levels of several looks: against published bounds, and against simulation of all looks together."""

import numpy as np
import pytest
from scipy import stats

from retrieval_metrics.statistics import spending_levels


def test_bounds_are_the_published_ones() -> None:
    """Lan and DeMets's bounds of Pocock's kind, as gsDesign's sfLDPocock prints them for two-sided .05."""
    bounds = stats.norm.ppf((1 + np.array(spending_levels([10, 20, 30, 40]))) / 2)
    assert bounds == pytest.approx([2.368, 2.368, 2.358, 2.350], abs=6e-4)
    assert stats.norm.ppf((1 + np.array(spending_levels([1, 2]))) / 2) == pytest.approx([2.157, 2.201], abs=6e-4)


@pytest.mark.parametrize("looks", [[7], [15, 60], [15, 25, 40, 60], [15, 20, 25, 30, 35, 40, 50, 60]])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_all_looks_together_keep_the_level(looks: list[int], level: float) -> None:
    walks = np.random.default_rng(5).normal(size=(40_000, looks[-1])).cumsum(axis=1)
    scores = walks[:, np.array(looks) - 1] / np.sqrt(looks)
    is_significant = np.abs(scores) > stats.norm.ppf((1 + np.array(spending_levels(looks, level))) / 2)
    assert is_significant.any(axis=1).mean() == pytest.approx(1 - level, abs=0.005)


def test_one_look_has_the_level_itself() -> None:
    (level,) = spending_levels([40], 0.8)
    assert level == pytest.approx(0.8, abs=1e-12)


@pytest.mark.parametrize(
    ("looks", "words"), [([], "increasing"), ([5, 5], "increasing"), ([9, 3], "increasing"), ([0, 3], "a look")]
)
def test_looks_that_make_no_sense_are_refused(looks: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        spending_levels(looks)
