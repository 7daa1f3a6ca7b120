"""Quantiles of the population mean, given a sample and an unseen query at either end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from retrieval_metrics.statistics.clusters import Units

DRAWS = 5_000
UNITS_AT_ONCE = 512  # 20 MB of weights


def mean_quantiles(
    samples: Sequence[Units], ends: Sequence[float], *, share: float, above: float, below: float = 0.0
) -> NDArray[np.float64]:
    """Return a quantile of the mean of each sample under random weights of its units and of an unseen unit.

    The weights of n units are Dirichlet(1, ..., 1), those of the Bayesian bootstrap (Rubin 1981). A unit of average
    size whose every value is `end` has the weight `above`, and one at -`end` the weight `below`. With `above` = 1 and
    `below` = 0 the quantile is the upper confidence bound of Gaffke (2005), for which no sample from [-end, end] is
    known whose mean exceeds it too often.

    The weights go to the units in the order of their means, so neither the order of the queries nor the other samples
    matter. They come from a fixed seed: the bound is a continuous function of the sample.

    Args:
        samples: The units of each sample; none may be empty.
        ends: The largest distance of a value from 0, one per sample.
        share: Which quantile.
        above: Weight of the unseen unit at `end`.
        below: Weight of the unseen unit at -`end`.

    Returns:
        Shape (samples,).
    """
    longest = max((len(units.sizes) for units in samples), default=0)
    totals, sizes = np.zeros((longest, len(samples))), np.zeros((longest, len(samples)))
    for at, units in enumerate(samples):
        order = np.lexsort((units.sizes, units.totals / units.sizes))
        totals[: len(order), at], sizes[: len(order), at] = units.totals[order], units.sizes[order]
    random = np.random.default_rng(0)
    unseen_above, unseen_below = (random.standard_gamma(max(weight, 0.0), DRAWS) for weight in (above, below))
    sums, weights = np.zeros((DRAWS, len(samples))), np.zeros((DRAWS, len(samples)))
    single = all((units.sizes == 1).all() for units in samples) and len({len(units.sizes) for units in samples}) == 1
    for start in range(0, longest, UNITS_AT_ONCE):
        drawn = random.standard_exponential((min(UNITS_AT_ONCE, longest - start), DRAWS)).T
        rows = slice(start, start + UNITS_AT_ONCE)
        sums += drawn @ totals[rows]
        # One column serves all samples of as many single queries.
        weights += drawn.sum(axis=1, keepdims=True) if single else drawn @ sizes[rows]
    average = np.array([units.sizes.mean() for units in samples])
    far = average * np.asarray(ends)
    sums += np.outer(unseen_above, far) - np.outer(unseen_below, far)
    weights += np.outer(unseen_above + unseen_below, average)
    quantiles: NDArray[np.float64] = np.quantile(sums / weights, share, axis=0)
    return quantiles
