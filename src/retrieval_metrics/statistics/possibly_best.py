"""Which settings can still be the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_integer, proportion
from retrieval_metrics.statistics.arrays import settings_table, summed_by_cluster
from retrieval_metrics.statistics.interval_of_difference import fewest_units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

NUMBERS_AT_ONCE = 2**21


def possibly_best(
    values: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> NDArray[np.bool_]:
    """Return which settings may have the best mean on new questions: the multiple comparisons with the best.

    A setting i is out if its largest standardised deficit is more than chance gives it:

        max over j of (mean_j - mean_i) / s_ij  >  the `level` quantile of the same of deviations with random signs

    where s_ij is the standard error of the difference, and the quantile, which is nearly normal, is converted to the
    one of Student's t with the same probability. The set holds the truly best setting in at least about `level`
    of all evaluations, however many settings there are.

    Args:
        values: Shape (questions, settings), finite.
        clusters: The cluster of each question, shape (questions,); their deviations change signs together.
        level: How often the set holds the best setting.
        resamples: Number of draws of the signs.
        seed: Seed of the signs.

    Returns:
        Shape (settings,). The setting with the best mean is always in it, and so is one that equals it everywhere.

    Raises:
        ValueError: If the array is empty or not finite, or an argument is out of range.

    Example:
        The third setting loses on every question.

        >>> possibly_best([[0.5, 0.6, 0.1], [0.4, 0.3, 0.2], [0.6, 0.7, 0.1], [0.5, 0.4, 0.3]] * 3).tolist()
        [True, True, False]

    References:
        J. C. Hsu (1981). Simultaneous confidence intervals for all distances from the "best". Annals of Statistics 9.
    """
    from scipy import stats  # noqa: PLC0415  (takes long to import)

    proportion(level, "level")
    positive_integer(resamples, "resamples")
    array = settings_table(values)
    means = array.mean(axis=0)
    deviations, _ = summed_by_cluster(array - means, clusters)
    products = deviations.T @ deviations  # of sums, so that no difference of each pair is needed
    squares = np.diag(products)
    spread = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0.0))
    units = len(deviations)
    spread *= np.sqrt(units / max(units - 1, 1))
    spread[spread <= np.sqrt(np.finfo(float).eps * max(float(squares.max()), 1.0))] = np.inf  # equal but for a constant
    size = len(array)
    gaps = means[None, :] - means[:, None]
    deficit = (size * gaps / spread).max(axis=1)
    random = np.random.default_rng(seed)
    rows = max(1, NUMBERS_AT_ONCE // array.shape[1] ** 2)
    largest = []
    for start in range(0, resamples, rows):
        signs = random.choice([-1.0, 1.0], size=(min(rows, resamples - start), len(deviations)))
        sums = signs @ deviations
        largest.append(((sums[:, None, :] - sums[:, :, None]) / spread).max(axis=2))
    allowed = stats.t.isf(stats.norm.sf(np.quantile(np.concatenate(largest), level, axis=0)), max(units - 1, 1))
    constant = (np.isinf(spread) & (gaps > 0)).any(axis=1) & (units >= fewest_units(level))  # on every question
    found: NDArray[np.bool_] = (deficit <= allowed) & ~constant | (means == means.max())
    return found
