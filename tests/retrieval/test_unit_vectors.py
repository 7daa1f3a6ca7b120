"""Cosines are exact for every length, and no further off than their rounding error."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval_metrics.retrieval.unit_vectors import (
    ALL,
    BLOCK,
    DOUBLE,
    SINGLE,
    UnitVectors,
    dot_products,
    exact_cosines,
    rounding_error,
    squared_lengths,
)

SIZES = [1, 3, 100, BLOCK - 1, BLOCK, BLOCK + 1, 1000, 1536, 10_000]


def hard(d: int) -> list[Any]:
    """Vectors whose products are as wrong as rounding makes them."""
    rng = np.random.default_rng(d)
    return [
        rng.normal(size=(6, d)),
        np.full((6, d), 0.1),  # every sum is rounded to the same side
        rng.choice([1e-8, 1.0], (6, d)),
        np.abs(rng.normal(size=(6, d))) ** 9,
        np.sort(np.abs(rng.normal(size=(6, d))), axis=1)[:, ::-1],  # the small ones come to a large sum, and are lost
    ]


def true_cosines(vectors: Any) -> Any:
    """In long double, where the machine has one."""
    wide = vectors.astype(np.longdouble)
    lengths = np.sqrt((wide * wide).sum(axis=1))
    return (wide[:, np.newaxis] * wide).sum(axis=2) / np.outer(lengths, lengths)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_a_cosine_is_no_further_off_than_its_rounding_error(d: int, dtype: Any) -> None:
    for vectors in hard(d):
        single = vectors.astype(np.float32)
        true = true_cosines(single)
        for block in (1, 7, BLOCK, d):
            directions = UnitVectors(single.astype(dtype), "vectors", block=block)
            error = rounding_error(dtype, d, block)
            assert abs(directions.cosines(ALL, ALL) - true).max() <= error
            for exact in (directions.units(), single[:1].astype(np.float64)):  # rounded to float32 for the product
                unit = exact[0] / np.sqrt(exact[0] @ exact[0])
                assert abs(directions.products(unit) * directions.inverse_lengths - true[0]).max() <= error


@pytest.mark.parametrize("d", SIZES)
def test_unit_vectors_are_float64(d: int) -> None:
    for vectors in hard(d):
        single = vectors.astype(np.float32)
        for vectors_ in (single, single.astype(np.float64)):
            units = UnitVectors(vectors_, "vectors").units()
            assert units.dtype == DOUBLE
            assert abs(units @ units.T - true_cosines(single)).max() <= rounding_error(DOUBLE, d, d)
            assert (UnitVectors(vectors_, "vectors").units(np.array([2, 4])) == units[[2, 4]]).all()


def test_in_blocks_the_error_is_smaller_than_what_plain_products_are_allowed() -> None:
    d = 100 * BLOCK
    row = np.full((1, d), 0.1, dtype=np.float32)
    true = d * float(row[0, 0]) ** 2
    assert rounding_error(SINGLE, d) < rounding_error(SINGLE, d, block=d) / 30
    assert abs(squared_lengths(row)[0] / true - 1) <= rounding_error(SINGLE, d)
    assert abs(dot_products(row, row)[0, 0] / true - 1) <= rounding_error(SINGLE, d)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 40), block=st.integers(1, 45))
@settings(max_examples=100, deadline=None)
def test_products_of_whole_numbers_are_exact_whatever_the_blocks(seed: int, d: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    left: Any = rng.integers(-9, 10, (rng.integers(1, 6), d))
    right: Any = rng.integers(-9, 10, (rng.integers(1, 6), d))
    for dtype in (SINGLE, DOUBLE):
        a = left.astype(dtype)
        b = right.astype(dtype)
        products = dot_products(a, b, block)
        assert products.dtype == dtype
        assert (products == left @ right.T).all()
        assert (dot_products(a, b[0], block) == left @ right[0]).all()
        assert (dot_products(a, a, block) == left @ left.T).all()
        assert (squared_lengths(a) == (left * left).sum(axis=1)).all()


@pytest.mark.parametrize("n", [3, 200])
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE])
def test_cosines_between_some_are_those_between_all(n: int, dtype: Any) -> None:
    vectors = np.random.default_rng(n).normal(size=(n, 900)).astype(dtype)
    vectors[1] = 0
    directions = UnitVectors(vectors, "vectors")
    rows = np.array([0, n - 1])
    other_rows = np.array([1, 2, 0])
    all_cosines = directions.cosines(ALL, ALL)
    assert directions.cosines(rows, other_rows) == pytest.approx(all_cosines[np.ix_(rows, other_rows)], abs=1e-6)
    assert directions.cosines(rows, rows) == pytest.approx(all_cosines[np.ix_(rows, rows)], abs=1e-6)
    assert not all_cosines[1].any()
    assert not directions.units()[1].any()


@pytest.mark.parametrize("d", [1, 2, 7, 64, 1000, 4095, 4096, 4097, 5000, 8192, 8193, 20_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cosine_depends_on_its_two_vectors_alone(d: int, dtype: Any) -> None:
    vectors = np.random.default_rng(d).normal(size=(9, d)).astype(dtype)
    rows, other_rows = (place.ravel() for place in np.indices((9, 9)))
    all_cosines = exact_cosines(vectors, rows, vectors, other_rows).reshape(9, 9)
    assert (all_cosines == all_cosines.T).all()
    for i in range(9):
        for subset in ([i], [i, 3], [8, i, 0, 2]):
            places = np.array(subset)
            alone = exact_cosines(vectors[places].copy(), np.arange(len(subset)), vectors, np.full(len(subset), 4))
            assert (alone == all_cosines[places, 4]).all()
    backwards = exact_cosines(np.asfortranarray(vectors[::-1]), 8 - rows, vectors, other_rows).reshape(9, 9)
    assert (backwards == all_cosines).all()


def test_it_is_the_cosine_and_0_beside_a_zero_vector() -> None:
    vectors = np.array([[3, 4], [4, 3], [0, 0], [-3, -4]])
    first = np.zeros(4, dtype=np.intp)
    assert exact_cosines(vectors, first, vectors, np.arange(4)).tolist() == [1, 24 / 25, 0, -1]


@pytest.mark.parametrize(
    ("dtype", "powers"), [(np.float32, (-120, -60, 60, 120)), (np.float64, (-900, -500, 500, 1000))]
)
def test_the_length_of_a_vector_does_not_matter_however_extreme(dtype: Any, powers: Any) -> None:
    vectors = np.random.default_rng(5).normal(size=(6, 9)).astype(dtype)
    plain = UnitVectors(vectors, "vectors")
    for power in powers:
        extreme = vectors.copy()
        extreme[1::2] = np.ldexp(vectors[1::2], power)
        stretched = UnitVectors(extreme, "vectors")
        assert stretched.cosines(ALL, ALL) == pytest.approx(plain.cosines(ALL, ALL), abs=1e-6)
        assert stretched.units() == pytest.approx(plain.units(), abs=1e-15)
        rows = np.arange(6)
        exact = exact_cosines(stretched.vectors, rows, stretched.vectors, rows[::-1])
        assert (exact == exact_cosines(vectors, rows, vectors, rows[::-1])).all()


def test_numbers_too_small_to_be_squared_are_no_zero_vector() -> None:
    tiny = np.array([[5e-324, 0], [0, 5e-324], [5e-324, 5e-324]])
    directions = UnitVectors(tiny, "vectors")
    assert directions.cosines(ALL, ALL)[0] == pytest.approx([1, 0, np.sqrt(0.5)])
