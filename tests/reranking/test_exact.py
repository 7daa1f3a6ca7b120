"""Cosines: the same for equal vectors, and never further off than is said."""

from typing import Any

import numpy as np
import pytest

from mmr_reference import cosine
from retrieval_metrics.reranking.directions import Directions, GramDirections
from retrieval_metrics.reranking.exact import exact_cosines, rounding_error


@pytest.mark.parametrize("d", [1, 2, 7, 64, 1000, 4095, 4096, 4097, 8193, 20_000])
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


@pytest.mark.parametrize("d", [1, 3, 100, 1536, 10_000])
def test_fast_cosines_are_no_further_off_than_their_rounding_error(d: int) -> None:
    rng = np.random.default_rng(d)
    for vectors in (
        rng.normal(size=(6, d)),
        np.full((6, d), 0.1),  # every sum is rounded to the same side
        rng.choice([1e-8, 1.0], (6, d)),
        np.abs(rng.normal(size=(6, d))) ** 9,
    ):
        single = Directions(vectors.astype(np.float32), "vectors")
        double = GramDirections(vectors.astype(np.float32), "vectors")
        true = [cosine(vectors[0].astype(np.float32), row.astype(np.float32)) for row in vectors]
        assert abs(single.cosines(single.unit(0)) - true).max() <= rounding_error(np.dtype(np.float32), d)
        assert abs(double.cosines(double.unit(0)) - true).max() <= 2 * rounding_error(np.dtype(np.float64), d)


def test_an_error_of_any_size_is_admitted_for_vectors_beyond_counting() -> None:
    assert rounding_error(np.dtype(np.float32), 10**8) == np.inf


@pytest.mark.parametrize("kind", [Directions, GramDirections])
@pytest.mark.parametrize(
    ("dtype", "powers"), [(np.float32, (-120, -60, 60, 120)), (np.float64, (-900, -500, 500, 1000))]
)
def test_the_length_of_a_vector_does_not_matter_however_extreme(kind: Any, dtype: Any, powers: Any) -> None:
    vectors = np.random.default_rng(5).normal(size=(6, 9)).astype(dtype)
    plain = kind(vectors, "vectors")
    for power in powers:
        extreme = vectors.copy()
        extreme[1::2] = np.ldexp(vectors[1::2], power)
        stretched = kind(extreme, "vectors")
        cosines = stretched.cosines(stretched.unit(0).astype(np.float64))
        assert cosines == pytest.approx(plain.cosines(plain.unit(0).astype(np.float64)), abs=1e-6)
        rows = np.arange(6)
        exact = exact_cosines(stretched.vectors, rows, stretched.vectors, rows[::-1])
        assert (exact == exact_cosines(vectors, rows, vectors, rows[::-1])).all()


def test_numbers_too_small_to_be_squared_are_no_zero_vector() -> None:
    tiny = np.array([[5e-324, 0], [0, 5e-324], [5e-324, 5e-324]])
    directions = Directions(tiny, "vectors")
    assert directions.cosines(directions.unit(0)) == pytest.approx([1, 0, np.sqrt(0.5)])
