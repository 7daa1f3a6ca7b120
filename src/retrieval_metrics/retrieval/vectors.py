"""Read the numbers that rerankers receive as arrays, and refuse what is not finite or does not fit together."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy import typing as npt

from retrieval_metrics._internal.validation import positive_integer, proportion

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray


# float32 or float64.
Vectors: TypeAlias = npt.NDArray[np.floating[Any]]
Indices: TypeAlias = npt.NDArray[np.intp]


def resolve_k(k: int | None, n: int) -> int:
    """Return the number of candidates to select: `k`, or `n` if `k` is None or larger."""
    if k is None:
        return n
    return min(positive_integer(k, "k", or_none=True), n)


def require_lambda(lambda_mult: float) -> float:
    """Return `lambda_mult` as a float from 0 to 1."""
    return proportion(lambda_mult, "lambda_mult", allow_zero=True, allow_one=True)


def read_matrix(values: npt.ArrayLike, name: str) -> Vectors:
    """Return vectors as the rows of an array, shape (n, d): float32 as float32, everything else as float64."""
    array = _convert_lists(values)
    if array is None:
        array = _convert(values, name)
    if array.shape == (0,):
        return array.reshape(0, 1)
    if array.ndim != 2 or array.shape[1] == 0:  # the two of (n, d)
        raise ValueError(f"{name} must be a list of vectors, shape (n, d), got shape {array.shape}")
    return array


def read_vector(values: npt.ArrayLike, name: str, d: int | None = None) -> FloatArray:
    """Return one vector, of `d` numbers if `d` is given, as a float64 array."""
    array = _convert(values, name)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be one vector, shape (d,), got shape {array.shape}")
    if d is not None and len(array) != d:
        raise ValueError(f"{name} has {len(array)} dimensions but its candidates have {d}; embed both with one model")
    require_finite(array, name)
    return array.astype(np.float64)


def read_numbers(values: npt.ArrayLike, name: str, shape: tuple[int, ...] | None = None) -> Vectors:
    """Return finite numbers of a shape, or of any shape (n,): float32 as float32, everything else as float64."""
    array = _convert(values, name)
    if shape is None and array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, shape (n,), got shape {array.shape}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape} for {shape[0]} candidates, got shape {array.shape}")
    require_finite(array, name)
    return array


def require_finite(array: Vectors, name: str, rows: Indices | None = None) -> None:
    """Raise if a number is NaN or infinite; if `array` holds some rows of another, `rows` are their indices there."""
    finite = np.isfinite(array)
    if finite.all():
        return
    position = np.argwhere(~finite)[0].tolist()
    number = array[tuple(position)]
    if rows is not None:
        position[0] = int(rows[position[0]])
    raise ValueError(f"{name}[{', '.join(map(str, position))}] is {number}, but every number must be finite")


def _convert_lists(values: Any) -> Vectors | None:
    """Convert lists of Python numbers, in half of numpy's time; return None for anything else."""
    has_lists = isinstance(values, list) and values and isinstance(values[0], list)
    if not has_lists or not values[0]:
        return None
    d = len(values[0])
    pack = struct.Struct(f"{d}d").pack
    try:
        packed = b"".join([pack(*row) for row in values])
    except (struct.error, TypeError, OverflowError):
        return None
    return np.frombuffer(packed, dtype=np.float64).reshape(len(values), d)


def _convert(values: npt.ArrayLike, name: str) -> Vectors:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths; numpy's message does not say which
        array = _convert_rows(values, name)
    if array.dtype.kind not in "fiub":
        array = _convert_rows(values, name)
    is_single = array.dtype.kind == "f" and array.dtype.itemsize <= np.dtype(np.float32).itemsize
    return np.asarray(array, dtype=np.float32 if is_single else np.float64, order="C")


def _convert_rows(values: Any, name: str) -> FloatArray:
    """Convert row by row what numpy cannot convert as a whole, or name the first invalid row."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise TypeError(f"{name} must be numbers, got {shortened(values)}")
    rows: list[FloatArray] = []
    for index, row in enumerate(values):
        numbers = _convert_row(row, f"{name}[{index}]")
        rows.append(numbers)
        if numbers.shape != rows[0].shape:
            raise ValueError(
                f"{name}[{index}] has shape {numbers.shape} but {name}[0] has shape {rows[0].shape}; "
                "all must have the same length"
            )
    return np.array(rows, dtype=np.float64)


def _convert_row(row: Any, name: str) -> FloatArray:
    if row is None:
        raise TypeError(f"{name} must be numbers, got None (a missing embedding?)")
    try:
        array = np.asarray(row)
        # numpy would convert text to numbers and None to NaN.
        if array.dtype.kind in "fiub" or (array.dtype.kind == "O" and None not in array):
            return array.astype(np.float64)
    except OverflowError:
        raise ValueError(f"{name} holds a number that is too large for a float") from None
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} must be numbers, got {shortened(row)}")
