"""The best of several settings: what it is worth on new questions, and which may be best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_integer, proportion
from retrieval_metrics.statistics.means import Interval, settings_table, sum_by_cluster
from retrieval_metrics.statistics.paired import min_significant_units

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


NUMBERS_AT_ONCE = 2**21
EQUAL = 1e-12
"""Two means closer than this are equal, and equal means keep the default."""


class OutOfBagEstimate(NamedTuple):
    """The estimate for new questions.

    Attributes:
        winner: The setting with the best mean on these questions; the default if none is better than it.
        mean: The mean of what is chosen, on new questions.
        mean_interval: Its confidence interval.
        gain: The same minus the default.
        gain_interval: Its confidence interval.
        chosen: Shape (settings,), in which share of the resamples each setting is the best.
    """

    best: int
    mean: float
    mean_interval: Interval
    gain: float
    gain_interval: Interval
    selection_rates: NDArray[np.float64]


def out_of_bag(
    values: ArrayLike,
    default: int,
    *,
    keep: bool = True,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> OutOfBagEstimate:
    """Estimate what choosing the best of several settings by its mean is worth on new questions.

    Example:
        The second setting is better by .2 on every question, here and on those left out.

        >>> found = out_of_bag([[0.5, 0.7], [0.1, 0.3], [0.6, 0.8]], default=0)
        >>> found.winner, round(found.gain, 6)
        (1, 0.2)
    """
    proportion(level, "level")
    positive_integer(resamples, "resamples")
    array = settings_table(values)
    if not 0 <= default < array.shape[1]:
        raise ValueError(f"default must be the place of a setting, from 0 to {array.shape[1] - 1}, got {default}")
    if not keep and array.shape[1] == 1:
        raise ValueError("there is no setting to choose but the default, which cannot be chosen")
    totals, sizes = sum_by_cluster(array, clusters)
    winner = int(_best(array.mean(axis=0)[None], default, keep=keep)[0])
    means, gains, chosen = [], [], np.zeros(array.shape[1])
    random = np.random.default_rng(seed)
    at_once = max(1, NUMBERS_AT_ONCE // max(totals.shape))
    for start in range(0, resamples, at_once):
        size = min(at_once, resamples - start)
        drawn = random.integers(len(sizes), size=(size, len(sizes)))
        times = np.zeros((size, len(sizes)))
        np.add.at(times, (np.arange(size)[:, None], drawn), 1.0)
        left = times == 0
        some = left.any(axis=1)
        times, left = times[some], left[some].astype(np.float64)
        best = _best((times @ totals) / (times @ sizes)[:, None], default, keep=keep)
        outside = (left @ totals) / (left @ sizes)[:, None]
        scored = outside[np.arange(len(best)), best]
        means.append(scored)
        gains.append(scored - outside[:, default])
        chosen += np.bincount(best, minlength=len(chosen))
    mean, mean_interval = _with_quantiles(np.concatenate(means), level)
    gain, gain_interval = _with_quantiles(np.concatenate(gains), level)
    return OutOfBagEstimate(winner, mean, mean_interval, gain, gain_interval, chosen / max(chosen.sum(), 1.0))


def _best(means: NDArray[np.float64], default: int, *, keep: bool) -> NDArray[np.int64]:
    """Return the setting with the best mean of each row; the default, if it can be chosen and none is better."""
    others = means.copy()
    others[:, default] = -np.inf
    best: NDArray[np.int64] = others.argmax(axis=1)
    return np.where(others.max(axis=1) > means[:, default] + EQUAL, best, default) if keep else best


def _with_quantiles(values: NDArray[np.float64], level: float) -> tuple[float, Interval]:
    if not len(values):
        return np.nan, Interval(np.nan, np.nan)
    mean = float(values.mean())
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return mean, Interval(low, high)


NUMBERS_AT_ONCE_POSSIBLY_BEST = 2**21


def find_possibly_best(
    values: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> NDArray[np.bool_]:
    """Return which settings may have the best mean on new questions: the multiple comparisons with the best.

    Example:
        The third setting loses on every question.

        >>> find_possibly_best([[0.5, 0.6, 0.1], [0.4, 0.3, 0.2], [0.6, 0.7, 0.1], [0.5, 0.4, 0.3]] * 3).tolist()
        [True, True, False]
    """
    from scipy import stats  # noqa: PLC0415  (takes long to import)

    proportion(level, "level")
    positive_integer(resamples, "resamples")
    array = settings_table(values)
    means = array.mean(axis=0)
    deviations, _ = sum_by_cluster(array - means, clusters)
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
    rows = max(1, NUMBERS_AT_ONCE_POSSIBLY_BEST // array.shape[1] ** 2)
    largest = []
    for start in range(0, resamples, rows):
        signs = random.choice([-1.0, 1.0], size=(min(rows, resamples - start), len(deviations)))
        sums = signs @ deviations
        largest.append(((sums[:, None, :] - sums[:, :, None]) / spread).max(axis=2))
    allowed = stats.t.isf(stats.norm.sf(np.quantile(np.concatenate(largest), level, axis=0)), max(units - 1, 1))
    constant = (np.isinf(spread) & (gaps > 0)).any(axis=1) & (
        units >= min_significant_units(level)
    )  # on every question
    found: NDArray[np.bool_] = (deficit <= allowed) & ~constant | (means == means.max())
    return found
