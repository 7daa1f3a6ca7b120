"""Checks of arrays of per-query values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-12
"""Two per-query values closer than this, relative to the largest, differ only by rounding."""


def vector(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """Return one number per query as a float64 array; the caller's array is never written to.

    Raises:
        ValueError: If it does not have one dimension, or a number is NaN or infinite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, one number per query; got an array of shape {array.shape}")
    return finite(array, name)


def finite(array: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return the array unchanged if all its numbers are finite.

    Raises:
        ValueError: If one is NaN or infinite; the message names the first.
    """
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        position = place[0] if len(place) == 1 else place
        raise ValueError(
            f"{name}[{position}] is {array[place]}; leave out the queries for which the metric is undefined"
        )
    return array


def settings_table(values: ArrayLike) -> NDArray[np.float64]:
    """Return values of several settings as a float64 array, shape (questions, settings).

    Raises:
        ValueError: If it does not have two dimensions, is empty, or a number is NaN or infinite.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not array.size:  # noqa: PLR2004  (dimensions)
        raise ValueError(f"values must have a row per question and a column per setting; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("values must be finite; leave out the questions for which the metric is undefined")
    return array


def summed_by_cluster(
    array: NDArray[np.float64], clusters: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of the rows of each cluster, and how many rows it has; every row is one if there are none."""
    labels = np.arange(len(array)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    labels = labels.reshape(-1)
    sums = np.zeros((int(labels.max()) + 1, array.shape[1]))
    np.add.at(sums, labels, array)
    return sums, np.bincount(labels).astype(np.float64)
