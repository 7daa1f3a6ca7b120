"""Gains of grades."""

import numpy as np
import pytest

from retrieval_metrics.metrics.base.gains import exponential


def test_the_exponential_gain_of_any_grade() -> None:
    grades = np.array([0.0, 0.5, 1.0, 1.25, 1.5, 1.999, 2.0, 2.5, 10.0])
    assert exponential(grades).tolist() == pytest.approx([2**grade - 1 for grade in grades.tolist()], rel=1e-12)
    assert exponential(np.arange(54.0)).tolist() == [2**grade - 1 for grade in range(54)]  # to the last bit
    tiny = np.array([1e-12])  # of which 2^grade - 1 would lose most digits
    assert exponential(tiny).tolist() == pytest.approx([1e-12 * np.log(2)], rel=1e-11)
