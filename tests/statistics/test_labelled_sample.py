"""Labelled queries: which samples are refused, and when a slope is used."""

import math
from typing import Any

import numpy as np
import pytest

from retrieval_metrics.statistics import corrected_mean

RANDOM = np.random.default_rng(5)
MODEL = RANDOM.random(80)
LABELLED = np.arange(5, 29)
PEOPLE = np.clip(0.7 * MODEL[LABELLED] + RANDOM.normal(0.1, 0.1, 24), 0, 1)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"human": [math.nan] * 20 + [0.1] * 4}, "defined for 4 of 24 labelled queries; at least 5"),
        ({"human": [0.1] * 23 + [math.inf]}, "human\\[23\\] is inf"),
        ({"labelled": [0] * 24}, "24 different positions below 80"),
        ({"labelled": np.arange(70, 94)}, "24 different positions below 80"),
        ({"weights": [0.0] * 24}, "24 positive numbers"),
        ({"strata": np.arange(80) // 10}, "has fewer than two labelled queries"),
        ({"strata": [1, 2]}, "one label per query"),
        ({"clusters": [0] * 80}, "too few clusters"),
    ],
)
def test_what_cannot_be_estimated_says_why(change: dict[str, Any], error: str) -> None:
    arguments: dict[str, Any] = {"human": PEOPLE, "model": MODEL, "labelled": LABELLED} | change
    with pytest.raises(ValueError, match=error):
        corrected_mean(**arguments)


def test_a_slope_that_few_labels_show_is_used_for_a_mean_and_in_strata() -> None:
    random = np.random.default_rng(3)
    model = np.array([0.5, 0.5, -0.5, *random.normal(0, 0.02, 197)])
    people = model[:25] + random.normal(0, 0.02, 25)
    plain = corrected_mean(people, model, np.arange(25), of_difference=True)
    layers = [*[0] * 3, *[1] * 197]

    assert (plain.slope, plain.human_only) == (0, None)
    assert corrected_mean(people, model, np.arange(25)).slope > 0.9
    assert corrected_mean(people, model, np.arange(25), strata=layers, of_difference=True).slope > 0.9


def test_a_slope_that_one_query_makes_alone_is_not_used() -> None:
    """Of a model that finds nothing wrong but once, or of queries of which it says nothing, no line follows."""
    model = np.ones(80)
    model[LABELLED[0]] = 0.0
    estimate = corrected_mean(PEOPLE, model, LABELLED)
    assert estimate.slope == 0
    assert estimate.mean == pytest.approx(PEOPLE.mean())
    model = np.ones(80)
    model[70] = 0.0  # not labelled, so that two labelled queries without a value stand at the mean of all
    model[LABELLED[:2]] = np.nan
    estimate = corrected_mean(PEOPLE, model, LABELLED)
    assert estimate.slope == 0
    assert estimate.mean == pytest.approx(PEOPLE.mean())
