"""Labelled queries drawn from all queries, and the line that predicts people's values from a model's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.statistics import arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LARGEST_LEVERAGE = 0.8
"""No slope is used if a single labelled query has a larger share of it than this, or"""
LONGEST_STRETCH = 2.0
"""if it would make the weights of the labelled queries more uneven than this."""
FAR = 0.25
"""A value of the model is far outside the labelled ones if it is more than this part of their range beyond them."""


class FittedLine(NamedTuple):
    """A regression of people's values on the model's, as far as it does not depend on people's.

    Attributes:
        design: Shape (N, parameters), a column of each stratum, and perhaps the model's values about their mean.
        inverse: Shape (parameters, parameters), the inverse of the weighted squares over the labelled queries.
        share: Shape (n,), the weight of each labelled value in the estimate.
        leverage: Shape (n,), the leverage of each labelled query.
        slope: Whether the design contains the model's values.
    """

    design: NDArray[np.float64]
    inverse: NDArray[np.float64]
    share: NDArray[np.float64]
    leverage: NDArray[np.float64]
    slope: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """People's values of the labelled queries, the model's of all, and how the labelled were drawn; checked.

    Attributes:
        people: Shape (n,), people's values; NaN where undefined.
        model: Shape (N,), the model's values; NaN where undefined.
        labelled: Shape (n,), the positions of the labelled queries.
        weights: Shape (n,), 1 / the probability of drawing each.
        strata: Shape (N,), the number of each query's stratum.
        clusters: Shape (N,), the number of each query's cluster; None if queries are independent.
    """

    people: NDArray[np.float64]
    model: NDArray[np.float64]
    labelled: NDArray[np.int64]
    weights: NDArray[np.float64]
    strata: NDArray[np.int64]
    clusters: NDArray[np.int64] | None

    @classmethod
    def of(  # noqa: PLR0917  (as many as it checks)
        cls,
        people: ArrayLike,
        model: ArrayLike,
        labelled: ArrayLike,
        weights: ArrayLike | None,
        strata: ArrayLike | None,
        clusters: ArrayLike | None,
    ) -> Drawn:
        """Check the arguments of `corrected_mean`.

        Raises:
            ValueError: As `corrected_mean`.
        """
        values, predicted = np.asarray(people, np.float64), np.asarray(model, np.float64)
        at = np.asarray(labelled, np.int64)
        if values.ndim != 1 or predicted.ndim != 1 or at.shape != values.shape:
            raise ValueError(
                f"people and labelled must have the shape (n,), model (N,); got {values.shape}, {at.shape} and "
                f"{predicted.shape}"
            )
        for name, array in (("people", values), ("model", predicted)):
            arrays.finite(np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf), name)
        if len(np.unique(at)) < len(at) or (at.size and not 0 <= at.min() <= at.max() < len(predicted)):
            raise ValueError(f"labelled must be {len(at)} different positions below {len(predicted)}, got {at}")
        weight = np.ones(len(at)) if weights is None else arrays.vector(weights, "weights")
        if weight.shape != at.shape or not (weight > 0).all():
            raise ValueError(f"weights must be {len(at)} positive numbers, got {weight}")
        layer = _numbered(strata, len(predicted), "strata")
        layers = np.zeros(len(predicted), np.int64) if layer is None else layer
        few = np.flatnonzero(np.bincount(layers[at], minlength=int(layers.max(initial=0)) + 1) < 2)  # noqa: PLR2004
        if layer is not None and few.size:
            raise ValueError(f"stratum {few[0]} has fewer than two labelled queries, which show no spread")
        return cls(values, predicted, at, weight, layers, _numbered(clusters, len(predicted), "clusters"))

    @property
    def centre(self) -> float:
        """The mean of the model's values; NaN if there is none."""
        known = ~np.isnan(self.model)
        return float(self.model[known].mean()) if known.any() else math.nan

    def line(self) -> FittedLine:
        """Return the line that predicts people's values from the model's.

        The design has a column for each stratum, and the model's values about their mean. The latter are left out if
        the labelled queries do not show a slope: if the values are all equal, if one or two queries determine the
        slope, or if the labelled queries differ so much from all queries that the estimate would extrapolate. This is
        decided from the model's values only, so it does not bias the estimate.
        """
        without = self.without_slope()
        layers = without.design
        centred = np.where(np.isnan(self.model), 0.0, self.model - self.centre)
        here, strata = centred[self.labelled], self.strata[self.labelled]
        means = np.bincount(strata, here) / np.maximum(np.bincount(strata), 1)
        if not np.abs(here - means[strata]).max(initial=0.0) > arrays.ROUNDING:
            return without
        fitted = self._fitted(np.column_stack([layers, centred]), slope=True)
        alone = float((fitted.leverage - without.leverage).max())
        stretched = float(fitted.share @ fitted.share) / float(without.share @ without.share)
        return without if alone > LARGEST_LEVERAGE or stretched > LONGEST_STRETCH else fitted

    def without_slope(self) -> FittedLine:
        """Return the mean of each stratum, which is the estimate from people's labels alone."""
        return self._fitted((self.strata[:, None] == np.unique(self.strata)[None, :]).astype(np.float64), slope=False)

    def outside(self, defined: NDArray[np.bool_]) -> tuple[int, float]:
        """Return how many of the model's values lie far outside those labelled in their stratum, and by how much.

        The largest of many values almost always lies a little outside; far is more than a quarter of their range.

        Args:
            defined: Shape (n,), whether people's value of a labelled query is defined.

        Returns:
            The number, and the sum of how far they lie above less how far below, divided by the number of all queries.
        """
        count, total = 0, 0.0
        here, strata = self.model[self.labelled], self.strata[self.labelled]
        for stratum in np.unique(self.strata):
            held = here[(strata == stratum) & defined & ~np.isnan(here)]
            values = self.model[(self.strata == stratum) & ~np.isnan(self.model)]
            ends = (held.min(), held.max()) if held.size else (self.centre, self.centre)
            far = values - np.clip(values, *ends)
            far = far[np.abs(far) > FAR * (ends[1] - ends[0]) + arrays.ROUNDING]
            count += len(far)
            total += float(far.sum())
        return count, total / len(self.model)

    def _fitted(self, design: NDArray[np.float64], *, slope: bool) -> FittedLine:
        rows = design[self.labelled]
        inverse = np.linalg.inv(rows.T @ (rows * self.weights[:, None])).astype(np.float64)
        share = (rows @ inverse @ design.mean(axis=0)) * self.weights
        leverage = self.weights * np.einsum("ij,jk,ik->i", rows, inverse, rows)
        return FittedLine(design, inverse, share, np.clip(leverage, 0.0, 1 - 1e-9), slope)

    def between_clusters(self, parts: NDArray[np.float64]) -> tuple[float, int]:
        """Return the variance of the sum of all parts by cluster, and how many clusters hold labelled queries."""
        clusters: NDArray[np.int64] = self.clusters  # type: ignore[assignment]  # only asked where there are some
        sums = np.bincount(clusters, parts)
        there = len(np.unique(clusters[self.labelled]))
        return float(sums @ sums) * there / max(there - 1, 1), there


def _numbered(labels: ArrayLike | None, length: int, name: str) -> NDArray[np.int64] | None:
    if labels is None:
        return None
    array = np.asarray(labels)
    if array.shape != (length,):
        raise ValueError(f"{name} must have one label per query, shape ({length},); got {array.shape}")
    numbers = np.unique(array, return_inverse=True)[1].reshape(-1)
    return numbers.astype(np.int64)
