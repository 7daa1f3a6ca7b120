"""How well a search ranks what is relevant, and what counts as not found."""

import math

import numpy as np
import pytest

from retrieval_metrics.datasets.search_quality import SearchQuality

# One passage is found best, one second, and 18 not at all.
SCORES = np.array([4.0, 3.0, *[0.0] * 18])


@pytest.mark.parametrize(
    ("groups", "chance"),
    [
        ([[0]], 0.5 / 20),
        ([[1]], 1.5 / 20),
        ([[0, 1]], 1 - (1 - 0.5 / 20) ** 2),  # the better of two
        # Fisher: p (1 - ln p) for the product p of two probabilities.
        ([[0], [1]], 0.025 * 0.075 * (1 - math.log(0.025 * 0.075))),
    ],
)
def test_the_chance_is_that_of_as_many_random_passages(groups: list[list[int]], chance: float) -> None:
    assert SearchQuality.from_scores(SCORES, groups).chance == pytest.approx(chance)


@pytest.mark.parametrize(
    ("groups", "share", "is_easy"), [([[0]], 1.0, True), ([[1]], 0.75, False), ([[5]], 0.0, False)]
)
def test_only_what_is_ranked_first_is_easy(groups: list[list[int]], share: float, is_easy: bool) -> None:
    quality = SearchQuality.from_scores(SCORES, groups)
    assert (quality.share, quality.is_easy) == (share, is_easy)


@pytest.mark.parametrize(
    ("chance", "share", "is_unanswered"),
    [(0.13, 0.69, True), (0.13, 0.7, False), (0.005, 0.34, True), (0.005, 0.35, False), (0.004, 0.1, False)],
)
def test_unanswered_is_what_ranks_by_chance_and_scores_low(chance: float, share: float, is_unanswered: bool) -> None:
    assert SearchQuality(chance, share, is_easy=False).is_unanswered is is_unanswered
    assert SearchQuality(chance, 0.0, is_easy=False).is_unanswered
