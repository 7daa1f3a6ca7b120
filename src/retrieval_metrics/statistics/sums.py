"""Sums of values that can be merged across parts of an evaluation and are rounded only once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.checks import FloatArray

_DIGITS = 53  # bits in the mantissa of a float
_HALF = 26  # half of them, so that sums of halves fit into a float
_SMALLEST = 1126  # every finite float, with its mantissa written out in full, is a multiple of 2**-1126
_AT_ONCE = 2**25  # the sum of this many halves is below 2**53, and so exact


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums from which a mean and its interval are computed; each is rounded once.

    Attributes:
        count: The number of values; for clustered queries, the number of independent queries they are worth.
        total: Their sum.
        total_of_squares: The sum of their squares, each rounded to a float.
        smallest: The smallest of them; NaN if there are none.
        largest: The largest of them; NaN if there are none.
    """

    count: float
    total: float
    total_of_squares: float
    smallest: float
    largest: float

    @classmethod
    def of(cls, values: FloatArray) -> Sums:
        """Return the sums of finite values.

        Example:
            >>> Sums.of(np.array([0.5, 1.0, 0.5]))
            Sums(count=3, total=2.0, total_of_squares=1.5, smallest=0.5, largest=1.0)
        """
        numbers = values.tolist()
        if not numbers:
            return cls(0, 0.0, 0.0, math.nan, math.nan)
        squares = (values * values).tolist()
        return cls(len(numbers), math.fsum(numbers), math.fsum(squares), float(values.min()), float(values.max()))

    @classmethod
    def of_defined(cls, values: FloatArray) -> Sums:
        """Return the sums of the values that are not NaN."""
        every = cls.of(values)
        return cls.of(values[~np.isnan(values)]) if math.isnan(every.total) else every

    @classmethod
    def of_nothing(cls) -> Sums:
        """Return the sums of no values."""
        return cls.of(np.empty(0))

    @property
    def mean(self) -> float:
        """The mean; NaN if there are no values."""
        return self.total / self.count if self.count else math.nan


@dataclass(frozen=True, slots=True)
class ExactSums:
    """The same sums before rounding: those of the parts add up to those of the whole, in any order.

    Attributes:
        count: How many values there are.
        total: Their sum, in units of 2**-1126.
        total_of_squares: The sum of their squares, in the same unit.
        smallest: The smallest of them; infinity if there are none.
        largest: The largest of them; minus infinity if there are none.
    """

    count: int = 0
    total: int = 0
    total_of_squares: int = 0
    smallest: float = math.inf
    largest: float = -math.inf

    @classmethod
    def of(cls, values: FloatArray) -> ExactSums:
        """Return the sums of the values that are not NaN.

        Raises:
            ValueError: If a value is infinite.

        Example:
            >>> whole, parts = np.array([0.1, 0.2, 0.3]), (np.array([0.3]), np.array([0.2, np.nan, 0.1]))
            >>> ExactSums.merged(map(ExactSums.of, parts)) == ExactSums.of(whole)
            True
        """
        values = values[~np.isnan(values)]
        if not len(values):
            return cls()
        if not np.isfinite(values).all():
            raise ValueError("values must be finite to be summed, but at least one is infinite")
        total, squares = _whole(values), _whole(values * values)
        return cls(len(values), total, squares, float(values.min()), float(values.max()))

    @classmethod
    def merged(cls, parts: Iterable[ExactSums]) -> ExactSums:
        """Return the sums of all values of all parts."""
        merged = cls()
        for part in parts:
            merged = cls(
                merged.count + part.count,
                merged.total + part.total,
                merged.total_of_squares + part.total_of_squares,
                min(merged.smallest, part.smallest),
                max(merged.largest, part.largest),
            )
        return merged

    def rounded(self) -> Sums:
        """Return the sums, each rounded to the nearest float, equal to those of `Sums.of` to the last bit.

        Example:
            >>> ExactSums.of(np.full(10, 0.1)).rounded().total
            1.0
        """
        if not self.count:
            return Sums.of_nothing()
        total, squares = (whole / 2**_SMALLEST for whole in (self.total, self.total_of_squares))
        return Sums(self.count, total, squares, self.smallest, self.largest)


def _whole(values: FloatArray) -> int:
    """Return the sum of finite values as a multiple of 2**-1126.

    The mantissas are summed exponent by exponent, in two halves whose sums are exact in a float.
    """
    total = 0
    for start in range(0, len(values), _AT_ONCE):
        mantissa, exponent = np.frexp(values[start : start + _AT_ONCE])
        digits = np.ldexp(mantissa, _DIGITS).astype(np.int64)
        shift = exponent.astype(np.int64) + _SMALLEST - _DIGITS
        base = int(shift.min())
        halves = [np.bincount(shift - base, half) for half in (digits >> _HALF, digits & (2**_HALF - 1))]
        for at in np.flatnonzero(np.any(halves, axis=0)).tolist():
            high, low = (int(half[at]) for half in halves)
            total += ((high << _HALF) + low) << (base + at)
    return total
