"""Find which of several settings may be the best: multiple comparisons with the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics._internal.validation import positive_integer, proportion
from retrieval_metrics.statistics.clustered_values import sum_by_cluster
from retrieval_metrics.statistics.difference_intervals import min_significant_units
from retrieval_metrics.statistics.distributions import normal_cdf, t_quantile
from retrieval_metrics.statistics.value_arrays import settings_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


# Sums for pairs of settings that are held at once: 16 MB.
MAX_SUMS_AT_ONCE = 2**21


def find_possibly_best(
    values: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> NDArray[np.bool_]:
    """Return which settings may have the best mean on new questions: the multiple comparisons with the best.

    Setting i stays if `max_j n (mean_j - mean_i) / spread_ij <= critical_i`. Here n is the number of questions, and
    `spread_ij` the root of the sum of squared deviations of the differences of i and j, of clusters if there are any,
    times u / (u - 1) for u units. `critical_i` is the quantile at `level` of the largest such ratio over j if each unit
    has a random sign; it is then mapped from a normal to a Student's t distribution with u - 1 degrees of freedom.

    If two settings differ by a constant, the worse one is worse on every question, so it does not stay, unless there
    are too few units for any difference to be significant. The best mean of these questions always stays.

    Args:
        values: Shape (questions, settings), the value of each question under each setting.
        clusters: Shape (questions,), the cluster of each question; None if questions are independent.
        level: The probability that the best setting is among those that stay.
        resamples: How many random signs are drawn for each unit.
        seed: The seed of the random signs.

    Returns:
        Shape (settings,), whether each may be the best.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If the values are no table of finite numbers, the clusters are not one for each question, or `level`
            is not between 0 and 1.

    References:
        J. C. Hsu (1984). Constrained simultaneous confidence intervals for multiple comparisons with the best. Annals
        of Statistics 12.

    Example:
        The third setting loses on every question.

        >>> find_possibly_best([[0.5, 0.6, 0.1], [0.4, 0.3, 0.2], [0.6, 0.7, 0.1], [0.5, 0.4, 0.3]] * 3).tolist()
        [True, True, False]
    """
    proportion(level, "level")
    positive_integer(resamples, "resamples")
    array = settings_table(values)
    means = array.mean(axis=0)
    deviations, _ = sum_by_cluster(array - means, clusters)
    n_units = len(deviations)
    spread = _pairwise_spread(deviations, float(np.abs(array).max()))
    gaps = means[None, :] - means[:, None]
    deficit = (len(array) * gaps / spread).max(axis=1)
    largest = _largest_sums(deviations, spread, resamples, seed)
    df = max(n_units - 1, 1)
    critical = np.array([_to_t(df, value) for value in np.quantile(largest, level, axis=0).tolist()])
    # A setting that is worse by a constant is worse on every question.
    is_worse_by_constant = (np.isinf(spread) & (gaps > 0)).any(axis=1)
    if n_units < min_significant_units(level):
        is_worse_by_constant[:] = False
    is_within_chance = (deficit <= critical) & ~is_worse_by_constant
    is_best_here = means == means.max()
    possibly_best: NDArray[np.bool_] = is_within_chance | is_best_here
    return possibly_best


def _to_t(df: int, normal_value: float) -> float:
    """Return the value that Student's t exceeds as often as a normal variable exceeds this one."""
    return -t_quantile(df, normal_cdf(-normal_value))


def _pairwise_spread(deviations: NDArray[np.float64], largest_value: float) -> NDArray[np.float64]:
    """Return the root of the sum of squared differences of each two settings; infinite if they differ by a constant.

    Args:
        deviations: The deviations from the means, shape (units, settings).
        largest_value: The largest absolute value of any setting, whose rounding is in the deviations.
    """
    n_units = len(deviations)
    # Products of sums, so that no difference of each pair is needed.
    products = deviations.T @ deviations
    squares = np.diag(products)
    spread: NDArray[np.float64] = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0.0))
    spread *= np.sqrt(n_units / max(n_units - 1, 1))
    # Constant values have deviations of rounding errors, which are as small as the values are.
    rounding = np.sqrt(np.finfo(float).eps * max(float(squares.max()), largest_value**2))
    spread[spread <= rounding] = np.inf
    return spread


def _largest_sums(
    deviations: NDArray[np.float64], spread: NDArray[np.float64], resamples: int, seed: int
) -> NDArray[np.float64]:
    """Return by how much any setting exceeds each by chance, standardised, shape (resamples, settings)."""
    random = np.random.default_rng(seed)
    n_units, n_settings = deviations.shape
    block_size = max(1, MAX_SUMS_AT_ONCE // n_settings**2)
    blocks = []
    for start in range(0, resamples, block_size):
        signs = random.choice([-1.0, 1.0], size=(min(block_size, resamples - start), n_units))
        sums = signs @ deviations
        blocks.append(((sums[:, None, :] - sums[:, :, None]) / spread).max(axis=2))
    return np.concatenate(blocks)
