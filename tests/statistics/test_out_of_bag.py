"""Multiple comparisons with the best."""

import numpy as np
import pytest

from retrieval_metrics.statistics.out_of_bag import find_possibly_best, out_of_bag


def test_the_best_is_held_as_often_as_promised_and_bad_ones_are_left_out() -> None:
    random = np.random.default_rng(1)
    held, sizes = [], []
    for seed in range(150):
        values = 0.2 * random.normal(size=(40, 1)) + 0.1 * random.normal(size=(40, 12))
        held.append(find_possibly_best(values, resamples=400, seed=seed)[0])  # all are equally good
        sizes.append(find_possibly_best(values - np.linspace(0, 0.2, 12), resamples=400, seed=seed).mean())
    assert np.mean(held) >= 0.9
    assert np.mean(sizes) < 0.5


def test_questions_of_one_cluster_are_one_observation() -> None:
    random = np.random.default_rng(2)
    values = random.normal(size=(8, 4)) + np.array([0.0, 0.4, 0.2, 0.9])
    tripled, labels = np.repeat(values, 3, axis=0), np.repeat(np.arange(8), 3)
    assert find_possibly_best(tripled, clusters=labels).tolist() == find_possibly_best(values).tolist()


def test_few_questions_and_constants() -> None:
    assert find_possibly_best([[0.1, 0.9, 0.5]]).all()
    assert find_possibly_best([[0.1, 0.9]] * 5).all()
    assert find_possibly_best([[0.1, 0.9]] * 6).tolist() == [False, True]
    assert find_possibly_best([[0.3, 0.3]] * 9).all()
    assert find_possibly_best([[0.5], [0.1]]).tolist() == [True]


@pytest.mark.parametrize(
    ("values", "message"), [([], "a row per question"), ([[np.nan, 1]], "finite"), ([1.0], "a row per question")]
)
def test_what_is_no_table_is_refused(values: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_possibly_best(values)


def test_out_of_bag_scores_only_what_a_resample_left_out() -> None:
    # One question decides: in the resamples that hold it, the second wins and scores nothing on the others.
    found = out_of_bag([[0.0, 1.0]] + [[0.1, 0.0]] * 9, default=0, resamples=4_000)
    assert found.best == 1
    assert found.gain < 0.0
    alike = out_of_bag(np.tile([[0.2, 0.5]], (12, 1)), default=0, clusters=[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    assert alike.gain == pytest.approx(0.3)
    assert alike.gain_interval == pytest.approx((0.3, 0.3))
    with pytest.raises(ValueError, match="no setting to choose but the default"):
        out_of_bag([[1.0]], default=0, keep=False)
