"""Sum values, each sum rounded once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import FloatArray


# The squares of larger values are infinite, or their sum is.
LARGEST_SUMMED_VALUE = 1e150


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
    def from_values(cls, values: FloatArray) -> Sums:
        """Return the sums of finite values.

        Example:
            >>> Sums.from_values(np.array([0.5, 1.0, 0.5]))
            Sums(count=3, total=2.0, total_of_squares=1.5, smallest=0.5, largest=1.0)
        """
        if not len(values):
            return cls(0, 0.0, 0.0, math.nan, math.nan)
        smallest = float(values.min())
        largest = float(values.max())
        squares = values * values
        if largest <= 1 and (squares == values).all():
            # Every value is 0 or 1, so counting gives the same sums in a tenth of the time.
            total = float(np.count_nonzero(values))
            return cls(len(values), total, total, smallest, largest)
        total = math.fsum(values.tolist())
        total_of_squares = math.fsum(squares.tolist())
        return cls(len(values), total, total_of_squares, smallest, largest)

    @classmethod
    def from_defined_values(cls, values: FloatArray) -> Sums:
        """Return the sums of the values that are not NaN."""
        sums = cls.from_values(values)
        if math.isnan(sums.total):
            return cls.from_values(values[~np.isnan(values)])
        return sums

    @classmethod
    def empty(cls) -> Sums:
        """Return the sums of no values."""
        return cls.from_values(np.empty(0))

    @property
    def mean(self) -> float:
        """The mean; NaN if there are no values."""
        return self.total / self.count if self.count else math.nan
