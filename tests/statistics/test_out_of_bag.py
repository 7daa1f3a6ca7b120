"""What choosing the best setting is worth on new questions."""

import numpy as np
import pytest

from retrieval_metrics.statistics import joint_sign_flips
from retrieval_metrics.statistics.mean_intervals import Interval
from retrieval_metrics.statistics.out_of_bag import gain_interval_by_test, out_of_bag, out_of_bag_of_tables


def test_out_of_bag_scores_only_what_a_resample_left_out() -> None:
    # One question decides: in the resamples that hold it, the second wins and scores nothing on the others.
    estimate = out_of_bag([[0.0, 1.0]] + [[0.1, 0.0]] * 9, default=0, resamples=4_000)
    assert estimate.best == 1
    assert estimate.gain < 0.0
    constant_gain = out_of_bag(np.tile([[0.2, 0.5]], (12, 1)), default=0, clusters=[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    assert constant_gain.gain == pytest.approx(0.3)
    assert constant_gain.gain_interval == pytest.approx((0.3, 0.3))
    with pytest.raises(ValueError, match="no setting to choose but the default"):
        out_of_bag([[1.0]], default=0, keep=False)


def test_tables_that_share_resamples_have_the_estimates_of_each_alone() -> None:
    random = np.random.default_rng(3)
    tables = [random.random((60, 4)) for _ in range(3)]
    for clusters in (None, np.arange(60) // 4):
        together = out_of_bag_of_tables(tables, [0, 1, 3], clusters=clusters, resamples=500)
        for table, default, estimate in zip(tables, [0, 1, 3], together, strict=True):
            alone = out_of_bag(table, default, clusters=clusters, resamples=500)
            assert estimate.best == alone.best
            # Sums of more columns at once may differ in the last bit.
            assert (estimate.mean, estimate.gain) == pytest.approx((alone.mean, alone.gain), rel=1e-12)
            assert estimate.mean_interval == pytest.approx(alone.mean_interval, rel=1e-12)
            assert estimate.selection_rates.tolist() == alone.selection_rates.tolist()


@pytest.mark.parametrize(
    ("interval", "gain", "is_significant", "expected"),
    [
        ((0.1, 0.3), 0.2, True, (0.1, 0.3)),
        ((0.1, 0.3), 0.2, False, (0.0, 0.3)),
        ((-0.1, 0.3), 0.2, True, (0.0, 0.3)),
        ((-0.2, -0.1), 0.2, True, (0.0, 0.0)),
        ((0.1, 0.3), 0.0, None, (0.0, 0.3)),
        ((-0.3, -0.1), 0.0, None, (-0.3, 0.0)),
        ((-0.3, -0.1), -0.2, True, (-0.3, -0.1)),
        ((-0.3, -0.1), -0.2, False, (-0.3, 0.0)),
        ((0.1, 0.2), -0.2, True, (0.0, 0.0)),
    ],
)
def test_the_interval_and_the_test_agree(
    interval: tuple[float, float], gain: float, is_significant: bool | None, expected: tuple[float, float]
) -> None:
    assert gain_interval_by_test(Interval(*interval), gain=gain, is_significant=is_significant) == expected


@pytest.mark.parametrize("better_by", [0.0, 0.1, 0.3])
def test_the_interval_of_the_gain_covers(better_by: float) -> None:
    """Eight settings, the last of which is better; the truth is what the choice gains on average."""
    random = np.random.default_rng(3)
    intervals = []
    gains = []
    for seed in range(150):
        values = random.normal(0, 0.3, (25, 8)) + random.normal(0, 0.3, (25, 1))
        values[:, -1] += better_by
        estimate = out_of_bag(values, default=0, resamples=200, seed=seed)
        gains.append(better_by * (estimate.best == 7))
        is_significant = None
        if estimate.best:
            differences = values[:, 1:] - values[:, [0]]
            p = joint_sign_flips(differences, resamples=199, seed=seed).corrected[estimate.best - 1]
            is_significant = bool(p <= 0.05)
        gain = float(values[:, estimate.best].mean() - values[:, 0].mean())
        intervals.append(gain_interval_by_test(estimate.gain_interval, gain=gain, is_significant=is_significant))
    low, high = np.array(intervals).T
    assert np.mean((low <= np.mean(gains)) & (np.mean(gains) <= high)) >= 0.93
