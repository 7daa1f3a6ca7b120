"""What choosing the best setting is worth on new questions."""

import numpy as np
import pytest

from retrieval_metrics.statistics.out_of_bag import out_of_bag, out_of_bag_of_tables


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
