"""Check per-query values and convert them to arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


# Two per-query values closer than this, relative to the largest, differ only by rounding.
ROUNDING = 1e-12


def vector(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """Return one number per query as a float64 array; the caller's array is never written to."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, one number per query; got an array of shape {array.shape}")
    return finite(array, name)


def finite(array: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the array unchanged if all its numbers are finite."""
    non_finite = np.argwhere(~np.isfinite(array))
    if len(non_finite):
        index = tuple(int(axis_index) for axis_index in non_finite[0])
        position = index[0] if len(index) == 1 else index
        raise ValueError(
            f"{name}[{position}] is {array[index]}; leave out the queries for which the metric is undefined"
        )
    return array


def settings_table(values: ArrayLike) -> NDArray[np.float64]:
    """Return values of several settings as a float64 array, shape (questions, settings)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"values must have a row per question and a column per setting; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("values must be finite; leave out the questions for which the metric is undefined")
    return array
