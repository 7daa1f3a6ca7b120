"""What the statistics ask of their input, each question written once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

ROUNDING = 1e-12
"""Two per-query values closer than this, relative to the largest, differ by rounding only."""


def vector(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """A one-dimensional float64 array without NaN or infinities; the caller's own array is never written to."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, one number per query; got an array of shape {array.shape}.")
    return finite(array, name)


def finite(array: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """The array itself; ValueError names the first position whose value is NaN or infinite."""
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        position = place[0] if len(place) == 1 else place
        raise ValueError(
            f"{name}[{position}] is {array[place]}: leave out queries for which the metric is undefined "
            "before asking for statistics."
        )
    return array


def proportion(value: float, name: str) -> float:
    """A number strictly between 0 and 1, such as a level or a power."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, such as 0.95; got {value!r}.")
    return float(value)


def resample_count(value: int) -> int:
    """A positive number of random resamples."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"resamples must be an integer; got {value!r}.")
    if value < 1:
        raise ValueError(f"resamples must be at least 1; got {value!r}.")
    return int(value)


def positive_span(value: float) -> float:
    """The distance between a metric's bounds; infinite for an unbounded metric."""
    if not value > 0:
        raise ValueError(f"span must be positive, the distance between the metric's bounds; got {value!r}.")
    return float(value)


def ordered_bounds(bounds: tuple[float, float]) -> None:
    """Two numbers, the lower first; either may be infinite."""
    lower, upper = bounds
    if not lower < upper:
        raise ValueError(f"bounds must be (lower, upper) with lower < upper; got {bounds!r}.")
