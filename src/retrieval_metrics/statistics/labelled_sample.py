"""Check a sample of labelled queries, and fit the line that predicts people's values from a model's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.statistics.clustered_values import cluster_numbers
from retrieval_metrics.statistics.value_arrays import ROUNDING, finite, vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


# No slope is used if fewer labelled queries, of equal leverage, show it.
MIN_SHOWING_SLOPE = 1.5

# Of a difference it takes more without strata, which label the large ones: if a model likes one of two equal systems,
# half of its large differences are wrong, and a few labels may hold only such as are right.
MIN_SHOWING_SLOPE_OF_DIFFERENCE = 6.0

# No slope is used if it would make the weights of the labelled queries more uneven than this.
MAX_STRETCH = 2.0

# A value of the model is far outside the labelled ones if it is more than this share of their range beyond them.
FAR_OUTSIDE_SHARE = 0.25


# A labelled query that alone determines a parameter has leverage 1, by which a residual cannot be divided.
MAX_LEVERAGE = 1 - 1e-9


class FittedLine(NamedTuple):
    """A regression of people's values on the model's, as far as it does not depend on people's.

    Attributes:
        design: Shape (N, parameters), a column of each stratum, and perhaps the model's values about their mean.
        inverse: Shape (parameters, parameters), the inverse of the weighted squares over the labelled queries.
        share: Shape (n,), the weight of each labelled value in the estimate.
        leverage: Shape (n,), the leverage of each labelled query.
        has_slope: Whether the design contains the model's values.
    """

    design: NDArray[np.float64]
    inverse: NDArray[np.float64]
    share: NDArray[np.float64]
    leverage: NDArray[np.float64]
    has_slope: bool


class OutsideValues(NamedTuple):
    """The model's values far outside the labelled ones.

    Attributes:
        n_outside: How many there are.
        mean_distance: The sum of their distances from the labelled values, divided by the number of all queries.
    """

    n_outside: int
    mean_distance: float


class BetweenClusters(NamedTuple):
    """The variance between clusters, and how many clusters hold labelled queries."""

    variance: float
    n_labelled: int


@dataclass(frozen=True, slots=True)
class DrawnSample:
    """People's values of the labelled queries, the model's of all, and how the labelled were drawn; checked.

    Attributes:
        human: Shape (n,), people's values; NaN where undefined.
        model: Shape (N,), the model's values; NaN where undefined.
        labelled: Shape (n,), the positions of the labelled queries.
        weights: Shape (n,), 1 / the probability of drawing each.
        strata: Shape (N,), the number of each query's stratum.
        clusters: Shape (N,), the number of each query's cluster; None if queries are independent.
    """

    human: NDArray[np.float64]
    model: NDArray[np.float64]
    labelled: NDArray[np.int64]
    weights: NDArray[np.float64]
    strata: NDArray[np.int64]
    clusters: NDArray[np.int64] | None

    @classmethod
    def from_arguments(
        cls,
        human: ArrayLike,
        model: ArrayLike,
        labelled: ArrayLike,
        weights: ArrayLike | None,
        strata: ArrayLike | None,
        clusters: ArrayLike | None,
    ) -> DrawnSample:
        """Check the arguments of `corrected_mean`."""
        human_values = np.asarray(human, np.float64)
        model_values = np.asarray(model, np.float64)
        positions = np.asarray(labelled, np.int64)
        if human_values.ndim != 1 or model_values.ndim != 1 or positions.shape != human_values.shape:
            raise ValueError(
                f"human and labelled must have the shape (n,), model (N,); got {human_values.shape}, "
                f"{positions.shape} and {model_values.shape}"
            )
        for name, array in (("human", human_values), ("model", model_values)):
            finite(np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf), name)
        n_labelled = len(positions)
        n_queries = len(model_values)
        is_in_range = not positions.size or 0 <= positions.min() <= positions.max() < n_queries
        if len(np.unique(positions)) < n_labelled or not is_in_range:
            raise ValueError(f"labelled must be {n_labelled} different positions below {n_queries}, got {positions}")
        positive_weights = np.ones(n_labelled) if weights is None else vector(weights, "weights")
        if positive_weights.shape != positions.shape or not (positive_weights > 0).all():
            raise ValueError(f"weights must be {n_labelled} positive numbers, got {positive_weights}")
        stratum_numbers = _label_numbers(strata, n_queries, "strata")
        if stratum_numbers is None:
            stratum_numbers = np.zeros(n_queries, np.int64)
        else:
            _require_labels_in_each_stratum(stratum_numbers, positions)
        return cls(
            human=human_values,
            model=model_values,
            labelled=positions,
            weights=positive_weights,
            strata=stratum_numbers,
            clusters=_label_numbers(clusters, n_queries, "clusters"),
        )

    @property
    def centre(self) -> float:
        """The mean of the model's values; NaN if there is none."""
        defined = ~np.isnan(self.model)
        return float(self.model[defined].mean()) if defined.any() else math.nan

    def fit_line(self, min_showing: float) -> FittedLine:
        """Return the line that predicts people's values from the model's; without a slope where too few show it."""
        means_only = self.fit_means()
        centred = np.where(np.isnan(self.model), 0.0, self.model - self.centre)
        labelled_values = centred[self.labelled]
        strata = self.strata[self.labelled]
        means = np.bincount(strata, labelled_values) / np.maximum(np.bincount(strata), 1)
        if not np.abs(labelled_values - means[strata]).max(initial=0.0) > ROUNDING:
            return means_only
        line = self._fit(np.column_stack([means_only.design, centred]), has_slope=True)
        slope_leverage = line.leverage - means_only.leverage  # which sum to 1
        n_showing = 1 / float(slope_leverage @ slope_leverage)
        stretch = float(line.share @ line.share) / float(means_only.share @ means_only.share)
        return means_only if n_showing < min_showing or stretch > MAX_STRETCH else line

    def fit_means(self) -> FittedLine:
        """Return the mean of each stratum, which is the estimate from people's labels alone."""
        design = (self.strata[:, None] == np.unique(self.strata)[None, :]).astype(np.float64)
        return self._fit(design, has_slope=False)

    def measure_outside(self, defined: NDArray[np.bool_]) -> OutsideValues:
        """Return how many of the model's values lie far outside those labelled in their stratum, and by how much."""
        count = 0
        total = 0.0
        labelled_values = self.model[self.labelled]
        labelled_strata = self.strata[self.labelled]
        for stratum in np.unique(self.strata):
            labelled = labelled_values[(labelled_strata == stratum) & defined & ~np.isnan(labelled_values)]
            values = self.model[(self.strata == stratum) & ~np.isnan(self.model)]
            low = self.centre
            high = self.centre
            if labelled.size:
                low = labelled.min()
                high = labelled.max()
            distances = values - np.clip(values, low, high)
            far = distances[np.abs(distances) > FAR_OUTSIDE_SHARE * (high - low) + ROUNDING]
            count += len(far)
            total += float(far.sum())
        return OutsideValues(count, total / len(self.model))

    def _fit(self, design: NDArray[np.float64], *, has_slope: bool) -> FittedLine:
        rows = design[self.labelled]
        inverse = np.linalg.inv(rows.T @ (rows * self.weights[:, None])).astype(np.float64)
        share = (rows @ inverse @ design.mean(axis=0)) * self.weights
        leverage = self.weights * np.einsum("ij,jk,ik->i", rows, inverse, rows)
        return FittedLine(design, inverse, share, np.clip(leverage, 0.0, MAX_LEVERAGE), has_slope)

    def estimate_between_clusters(self, contributions: NDArray[np.float64]) -> BetweenClusters:
        """Return the variance of the sums of contributions by cluster, and how many clusters hold labelled queries."""
        clusters: NDArray[np.int64] = self.clusters  # type: ignore[assignment]  # only asked where there are some
        sums = np.bincount(clusters, contributions)
        n_labelled = len(np.unique(clusters[self.labelled]))
        variance = float(sums @ sums) * n_labelled / max(n_labelled - 1, 1)
        return BetweenClusters(variance, n_labelled)


def _require_labels_in_each_stratum(strata: NDArray[np.int64], labelled: NDArray[np.int64]) -> None:
    counts = np.bincount(strata[labelled], minlength=int(strata.max(initial=0)) + 1)
    too_small = np.flatnonzero(counts < 2)
    if too_small.size:
        raise ValueError(f"stratum {too_small[0]} has fewer than two labelled queries, which show no spread")


def _label_numbers(labels: ArrayLike | None, length: int, name: str) -> NDArray[np.int64] | None:
    if labels is None:
        return None
    array = np.asarray(labels)
    if array.shape != (length,):
        raise ValueError(f"{name} must have one label per query, shape ({length},); got {array.shape}")
    return cluster_numbers(array).astype(np.int64)
