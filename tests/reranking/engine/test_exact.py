"""Cosines: the same for equal vectors, however long these are."""

from typing import Any

import numpy as np
import pytest

from retrieval_metrics.retrieving.engine import ALL, Directions, exact_cosines


@pytest.mark.parametrize("d", [1, 2, 7, 64, 1000, 4095, 4096, 4097, 5000, 8192, 8193, 20_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cosine_depends_on_its_two_vectors_alone(d: int, dtype: Any) -> None:
    vectors = np.random.default_rng(d).normal(size=(9, d)).astype(dtype)
    rows, others = (place.ravel() for place in np.indices((9, 9)))
    whole = exact_cosines(vectors, rows, vectors, others).reshape(9, 9)
    assert (whole == whole.T).all()
    for i in range(9):
        for some in ([i], [i, 3], [8, i, 0, 2]):
            places = np.array(some)
            alone = exact_cosines(vectors[places].copy(), np.arange(len(some)), vectors, np.full(len(some), 4))
            assert (alone == whole[places, 4]).all()
    backwards = exact_cosines(np.asfortranarray(vectors[::-1]), 8 - rows, vectors, others).reshape(9, 9)
    assert (backwards == whole).all()


def test_it_is_the_cosine_and_0_beside_a_zero_vector() -> None:
    vectors = np.array([[3, 4], [4, 3], [0, 0], [-3, -4]])
    first = np.zeros(4, dtype=np.intp)
    assert exact_cosines(vectors, first, vectors, np.arange(4)).tolist() == [1, 24 / 25, 0, -1]


@pytest.mark.parametrize(
    ("dtype", "powers"), [(np.float32, (-120, -60, 60, 120)), (np.float64, (-900, -500, 500, 1000))]
)
def test_the_length_of_a_vector_does_not_matter_however_extreme(dtype: Any, powers: Any) -> None:
    vectors = np.random.default_rng(5).normal(size=(6, 9)).astype(dtype)
    plain = Directions(vectors, "vectors")
    for power in powers:
        extreme = vectors.copy()
        extreme[1::2] = np.ldexp(vectors[1::2], power)
        stretched = Directions(extreme, "vectors")
        assert stretched.cosines(ALL, ALL) == pytest.approx(plain.cosines(ALL, ALL), abs=1e-6)
        assert stretched.units() == pytest.approx(plain.units(), abs=1e-15)
        rows = np.arange(6)
        exact = exact_cosines(stretched.vectors, rows, stretched.vectors, rows[::-1])
        assert (exact == exact_cosines(vectors, rows, vectors, rows[::-1])).all()


def test_numbers_too_small_to_be_squared_are_no_zero_vector() -> None:
    tiny = np.array([[5e-324, 0], [0, 5e-324], [5e-324, 5e-324]])
    directions = Directions(tiny, "vectors")
    assert directions.cosines(ALL, ALL)[0] == pytest.approx([1, 0, np.sqrt(0.5)])
