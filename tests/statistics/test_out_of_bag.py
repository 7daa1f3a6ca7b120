"""What choosing the best setting is worth on new questions."""

import numpy as np
import pytest

from retrieval_metrics.statistics.out_of_bag import out_of_bag


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
