"""Which settings may be the best: the multiple comparisons with the best, and how often they hold what they promise."""

import numpy as np
import pytest

from retrieval_metrics.statistics.best_settings import find_possibly_best


def test_the_best_is_held_as_often_as_promised_and_bad_ones_are_left_out() -> None:
    random = np.random.default_rng(1)
    holds_first = []
    sizes = []
    for seed in range(150):
        values = 0.2 * random.normal(size=(40, 1)) + 0.1 * random.normal(size=(40, 12))
        holds_first.append(find_possibly_best(values, resamples=400, seed=seed)[0])  # all are equally good
        sizes.append(find_possibly_best(values - np.linspace(0, 0.2, 12), resamples=400, seed=seed).mean())
    assert np.mean(holds_first) >= 0.9
    assert np.mean(sizes) < 0.5


def test_questions_of_one_cluster_are_one_observation() -> None:
    random = np.random.default_rng(2)
    values = random.normal(size=(8, 4)) + np.array([0.0, 0.4, 0.2, 0.9])
    tripled = np.repeat(values, 3, axis=0)
    labels = np.repeat(np.arange(8), 3)
    assert find_possibly_best(tripled, clusters=labels).tolist() == find_possibly_best(values).tolist()


def test_few_questions_and_constants() -> None:
    assert find_possibly_best([[0.1, 0.9, 0.5]]).all()
    assert find_possibly_best([[0.1, 0.9]] * 5).all()
    assert find_possibly_best([[0.1, 0.9]] * 6).tolist() == [False, True]
    assert find_possibly_best([[0.3, 0.3]] * 9).all()
    assert find_possibly_best([[0.5], [0.1]]).tolist() == [True]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_unit_of_the_values_does_not_matter(scale: float) -> None:
    values = np.random.default_rng(4).uniform(size=(12, 3))
    assert find_possibly_best(scale * values).tolist() == [True, True, True]
    assert find_possibly_best(scale * np.array([[0.1, 0.9, 0.7]] * 6)).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("values", "message"), [([], "a row per question"), ([[np.nan, 1]], "finite"), ([1.0], "a row per question")]
)
def test_what_is_no_table_is_refused(values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_possibly_best(values)
