"""Correct the mean of a model's values on all queries by people's values on some, by regression."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.statistics import arrays
from retrieval_metrics.statistics.corrected import CorrectedMean
from retrieval_metrics.statistics.drawn import Drawn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from retrieval_metrics.statistics.drawn import FittedLine

FEWEST = 5
"""The fewest labelled queries for an estimate: a slope and a spread need a few."""
FEW_DISAGREEMENTS = 3
"""If people and model differ on fewer labelled queries than this, the variance allows for unseen differences."""
BORROWED = 4.0
"""The variance of a stratum counts that of all strata as so many degrees of freedom more (Smyth 2004): a few labels
cannot have shown its rare large residuals."""


def corrected_mean(
    people: ArrayLike,
    model: ArrayLike,
    labelled: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    span: float = 1.0,
) -> CorrectedMean:
    r"""Return the mean that people's values would have on all queries, estimated by regression on a model's values.

    For n labelled of N queries, people's values y and the model's values f:

        b = sum (f - mean f)(y - mean y) / sum (f - mean f)^2                            over the labelled
        estimate = mean y over the labelled + b (mean f over all N - mean f over the labelled)

    The model may be biased in any way: b corrects its scale, and the labelled queries its level. An uninformative model
    gets a slope near 0, and the estimate is the mean of people's values. With c the weight of each labelled query in
    the estimate (sum c y), e its residual and h its leverage, the variance is

        max(sum c^2 e^2 / (1 - h), sum e^2 / (n - 2) sum c^2) + b^2 s_f^2 / N

    the larger of the HC2 and the least-squares variance, plus the variance from the N queries being a sample. If the
    values of people and the model differ on only k < 3 labelled queries, (1 - k / 3) span^2 / (2 n^2) is added: queries
    on which they differ may not have been drawn. If the line passes through all labelled values, k is 0.
    The interval uses Student's t with n - 2 degrees of freedom.

    Each stratum has its own mean and its own residual variance, moderated by that of all labels, which counts as 4
    degrees of freedom more; the slope is common. With weights (1 / the probability of being drawn) the least
    squares are weighted. With clusters, the variance is the largest of the two above and one that sums within clusters.
    Queries without a value from people are left out of the mean, which is then a ratio with the variance of
    y - estimate. A query without a value from the model counts as the mean of the others. If the model's values do
    not show a slope (a single labelled query determines it, or the labelled queries are unlike the others), b is 0.

    Args:
        people: Shape (n,), people's value of each labelled query; NaN where it is undefined.
        model: Shape (N,), the model's value of each query; NaN where it is undefined.
        labelled: Shape (n,), the positions of the labelled queries among all N.
        weights: Shape (n,), positive: 1 / the probability of drawing each labelled query. None: all equal.
        strata: Shape (N,), the stratum of each query; each needs at least two labelled queries.
        clusters: Shape (N,), the cluster of each query. None: queries are independent.
        span: The largest possible difference of two values.

    Raises:
        ValueError: If fewer than 5 labelled queries have a value, shapes do not match, a position is out of range or
            occurs twice, a weight is not positive, a stratum has fewer than two labelled queries, or there are too few
            clusters.

    Example:
        The model is .2 above people everywhere, so the estimate is the model's mean over all queries, .6, less .2.

        >>> found = corrected_mean([0.1, 0.5, 0.3, 0.7, 0.4], [0.3, 0.7, 0.5, 0.9, 0.6, 0.6], [0, 1, 2, 3, 4])
        >>> round(found.mean, 12), round(found.people, 12), round(found.model, 12)
        (0.4, 0.4, 0.6)

    References:
        W. G. Cochran (1977). Sampling Techniques, chapter 7.
        J. G. MacKinnon, H. White (1985). Some heteroskedasticity-consistent covariance matrix estimators.
        G. K. Smyth (2004). Linear models and empirical Bayes methods for assessing differential expression.
        A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023). PPI++: efficient prediction-powered inference.
    """
    drawn = Drawn.of(people, model, labelled, weights, strata, clusters)
    defined = ~np.isnan(drawn.people)
    count = int(defined.sum())
    if count < FEWEST:
        raise ValueError(
            f"people's values are defined for {count} of {len(defined)} labelled queries; at least {FEWEST} are needed"
        )
    chosen = drawn.line()
    found = _estimated(drawn, chosen, defined, span)
    if not chosen.slope:
        return found
    outside, beyond = drawn.outside(defined)
    alone = _estimated(drawn, drawn.without_slope(), defined, span)
    return replace(found, outside=outside, beyond=found.slope * beyond, alone=alone)


def _estimated(drawn: Drawn, fitted_line: FittedLine, defined: NDArray[np.bool_], span: float) -> CorrectedMean:
    design, inverse, share_of, leverage, has_slope = fitted_line
    count = int(defined.sum())
    rows, weight = design[drawn.labelled], drawn.weights
    values = np.where(defined, drawn.people, 0.0)
    share = float(share_of @ defined)
    mean = float(share_of @ values) / share
    rounding = arrays.ROUNDING * max(1.0, float(np.abs(values).max()))
    alike = float(np.ptp(values[defined])) <= rounding
    outcome = np.where(defined & (not alike), drawn.people - mean, 0.0)
    line = inverse @ rows.T @ (weight * outcome)
    residuals = outcome - rows @ line
    residuals[np.abs(residuals) <= rounding] = 0.0
    parameters = rows.shape[1]
    length = len(residuals)
    unexplained = float(weight @ residuals**2 / weight.sum()) * length / (length - parameters)
    robust = float(np.sum(share_of**2 * residuals**2 / (1 - leverage)))
    squares = float(share_of @ share_of)
    layers = [drawn.strata[drawn.labelled] == stratum for stratum in np.unique(drawn.strata[drawn.labelled])]
    common = (parameters - len(layers)) / length  # what the slope, which is common, costs each label
    sampled = max(
        robust, sum(_of_stratum(residuals[at], weight[at], share_of[at], unexplained, common) for at in layers)
    )
    fitted = design @ line
    explained = float(fitted.var(ddof=1)) / len(fitted)
    variance, degrees, independent = sampled + explained, count - parameters, count / length / squares
    if drawn.clusters is not None:
        parts = fitted / len(fitted)
        parts[drawn.labelled] += share_of * residuals / np.sqrt(1 - leverage)
        between, groups = drawn.between_clusters(parts)
        variance, degrees = max(variance, between), min(count, groups) - parameters
        independent = min(independent, groups)
    if degrees < 1:
        raise ValueError(
            f"the labelled queries come from too few clusters to show a variance: {degrees + parameters} for "
            f"{parameters} parameters"
        )
    model_here = drawn.model[drawn.labelled]
    apart = np.abs(values - model_here)[defined & ~np.isnan(model_here)] > rounding
    differing = int(np.sum(apart)) if residuals.any() else 0
    unseen = max(0.0, 1 - differing / FEW_DISAGREEMENTS) * span**2 / (2 * count**2)
    people_mean = float(weight @ values) / float(weight @ defined)
    spread = float(weight[defined] @ (values[defined] - people_mean) ** 2 / weight[defined].sum()) * count / (count - 1)
    return CorrectedMean(
        mean=mean,
        variance=variance / share**2 + unseen,
        degrees=degrees,
        labelled=count,
        queries=len(fitted),
        people=people_mean,
        model=drawn.centre,
        slope=float(line[-1]) if has_slope else 0.0,
        spread=0.0 if alike else spread,
        sampled=sampled / share**2,
        explained_part=explained / share**2,
        unseen=unseen,
        span=span,
        independent=independent,
        alike=alike,
    )


def _of_stratum(
    residuals: NDArray[np.float64],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
    overall: float,
    common: float,
) -> float:
    """Return the part of the variance of an estimate that comes from the labels of one stratum."""
    count = len(residuals)
    degrees = count - 1 - common * count
    own = float(weights @ residuals**2 / weights.sum()) * count / degrees
    return (own + (overall - own) * BORROWED / (BORROWED + degrees)) * float(shares @ shares)
