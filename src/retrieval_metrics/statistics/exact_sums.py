"""Sum values exactly, so that the sums of parts of an evaluation add up to those of the whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics._internal.plain_types import FloatArray


_MANTISSA_BITS = 53

# Half of the bits of a mantissa, so that sums of halves fit into a float.
_HALF_BITS = 26

# Every finite float, with its mantissa written out in full, is a multiple of 2**-1126.
_UNIT_EXPONENT = 1126

# The sum of this many halves is below 2**53, and so exact.
_MAX_HALVES = 2**25


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
    def from_values(cls, values: FloatArray) -> ExactSums:
        """Return the sums of the values that are not NaN.

        Raises:
            ValueError: If a value is infinite.

        Example:
            >>> whole = ExactSums.from_values(np.array([0.1, 0.2, 0.3]))
            >>> parts = np.array([0.3]), np.array([0.2, np.nan, 0.1])
            >>> ExactSums.merge(map(ExactSums.from_values, parts)) == whole
            True
        """
        values = values[~np.isnan(values)]
        if not len(values):
            return cls()
        if not np.isfinite(values).all():
            raise ValueError("values must be finite to be summed, but at least one is infinite")
        return cls(
            count=len(values),
            total=_exact_sum(values),
            total_of_squares=_exact_sum(values * values),
            smallest=float(values.min()),
            largest=float(values.max()),
        )

    @classmethod
    def merge(cls, parts: Iterable[ExactSums]) -> ExactSums:
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
        """Return the sums, each rounded to the nearest float, equal to those of `Sums.from_values` to the last bit.

        Example:
            >>> ExactSums.from_values(np.full(10, 0.1)).rounded().total
            1.0
        """
        if not self.count:
            return Sums.empty()
        units_per_1 = 2**_UNIT_EXPONENT
        return Sums(
            count=self.count,
            total=self.total / units_per_1,
            total_of_squares=self.total_of_squares / units_per_1,
            smallest=self.smallest,
            largest=self.largest,
        )


def _exact_sum(values: FloatArray) -> int:
    """Return the sum of finite values as a multiple of 2**-1126."""
    total = 0
    for start in range(0, len(values), _MAX_HALVES):
        mantissa, exponent = np.frexp(values[start : start + _MAX_HALVES])
        digits = np.ldexp(mantissa, _MANTISSA_BITS).astype(np.int64)
        shift = exponent.astype(np.int64) + _UNIT_EXPONENT - _MANTISSA_BITS
        smallest_shift = int(shift.min())
        # Values of one exponent are summed as floats, in two halves that stay exact; the exponents as Python integers.
        high_sums = np.bincount(shift - smallest_shift, digits >> _HALF_BITS)
        low_sums = np.bincount(shift - smallest_shift, digits & (2**_HALF_BITS - 1))
        for extra_shift in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist():
            digits_sum = (int(high_sums[extra_shift]) << _HALF_BITS) + int(low_sums[extra_shift])
            total += digits_sum << (smallest_shift + extra_shift)
    return total
