"""Estimate what choosing the best of several settings is worth on new questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics._internal.validation import positive_integer, proportion
from retrieval_metrics.statistics.clustered_values import sum_by_cluster
from retrieval_metrics.statistics.mean_intervals import Interval
from retrieval_metrics.statistics.value_arrays import settings_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


# Weights of questions in resamples that are held at once: 16 MB.
MAX_NUMBERS_AT_ONCE = 2**21

# Two means closer than this are equal, and equal means keep the default.
TOLERANCE = 1e-12


class OutOfBagEstimate(NamedTuple):
    """The estimate for new questions.

    Attributes:
        best: The setting with the best mean on these questions; the default if none is better than it.
        mean: The mean of the chosen setting on new questions.
        mean_interval: Its confidence interval.
        gain: The mean of the chosen setting minus that of the default, on new questions.
        gain_interval: Its confidence interval.
        selection_rates: Shape (settings,), the share of the resamples in which each setting is the best.
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

        >>> estimate = out_of_bag([[0.5, 0.7], [0.1, 0.3], [0.6, 0.8]], default=0)
        >>> estimate.best, round(estimate.gain, 6)
        (1, 0.2)
    """
    (estimate,) = out_of_bag_of_tables(
        [values], [default], keep=keep, clusters=clusters, level=level, resamples=resamples, seed=seed
    )
    return estimate


def out_of_bag_of_tables(
    tables: Sequence[ArrayLike],
    defaults: Sequence[int],
    *,
    keep: bool = True,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> list[OutOfBagEstimate]:
    """Return `out_of_bag` of several tables of the same questions and settings, such as one for each metric.

    All tables share the resamples, which take longer to draw and to sum up than one table.

    Example:
        >>> first, second = out_of_bag_of_tables([[[0.5, 0.7], [0.1, 0.3]], [[1.0, 0.0], [1.0, 0.0]]], [0, 0])
        >>> first.best, second.best
        (1, 0)
    """
    proportion(level, "level")
    positive_integer(resamples, "resamples")
    arrays = [settings_table(values) for values in tables]
    n_settings = arrays[0].shape[1]
    for default in defaults:
        if not 0 <= default < n_settings:
            raise ValueError(f"default must be the place of a setting, from 0 to {n_settings - 1}, got {default}")
    if not keep and n_settings == 1:
        raise ValueError("there is no setting to choose but the default, which cannot be chosen")
    totals, sizes = sum_by_cluster(np.concatenate(arrays, axis=1), clusters)
    choices = [_Choices(n_settings, default, keep=keep) for default in defaults]
    random = np.random.default_rng(seed)
    block_size = max(1, MAX_NUMBERS_AT_ONCE // max(len(sizes), n_settings))
    for start in range(0, resamples, block_size):
        times_drawn = _count_draws(random, len(sizes), min(block_size, resamples - start))
        is_out_of_bag = times_drawn == 0
        # A resample that holds every question leaves none to score on.
        is_usable = is_out_of_bag.any(axis=1)
        in_bag_weights = times_drawn[is_usable].astype(np.float64)
        out_of_bag_weights = is_out_of_bag[is_usable].astype(np.float64)
        in_bag_means = (in_bag_weights @ totals) / (in_bag_weights @ sizes)[:, None]
        out_of_bag_means = (out_of_bag_weights @ totals) / (out_of_bag_weights @ sizes)[:, None]
        for table, choice in enumerate(choices):
            columns = slice(table * n_settings, (table + 1) * n_settings)
            choice.add(in_bag_means[:, columns], out_of_bag_means[:, columns])
    estimates = []
    for array, choice in zip(arrays, choices, strict=True):
        best = find_best_setting(array, choice.default, keep=keep)
        estimates.append(choice.estimate(best, level))
    return estimates


def find_best_setting(values: NDArray[np.float64], default: int, *, keep: bool) -> int:
    """Return the setting with the best mean of its column; the default, if it can be chosen and none is better."""
    return int(_best_settings(values.mean(axis=0)[None], default, keep=keep)[0])


class _Choices:
    """The settings that resamples of one table choose, and what these are worth on the questions left out."""

    def __init__(self, n_settings: int, default: int, *, keep: bool) -> None:
        self.default = default
        self._keep = keep
        self._means: list[NDArray[np.float64]] = []
        self._gains: list[NDArray[np.float64]] = []
        self._selections = np.zeros(n_settings)

    def add(self, in_bag_means: NDArray[np.float64], out_of_bag_means: NDArray[np.float64]) -> None:
        """Add resamples, with the means of each setting on the questions drawn and on those left out."""
        selected = _best_settings(in_bag_means, self.default, keep=self._keep)
        selected_means = out_of_bag_means[np.arange(len(selected)), selected]
        self._means.append(selected_means)
        self._gains.append(selected_means - out_of_bag_means[:, self.default])
        self._selections += np.bincount(selected, minlength=len(self._selections))

    def estimate(self, best: int, level: float) -> OutOfBagEstimate:
        """Return the estimate from all resamples."""
        mean, mean_interval = _mean_with_interval(np.concatenate(self._means), level)
        gain, gain_interval = _mean_with_interval(np.concatenate(self._gains), level)
        selection_rates = self._selections / max(self._selections.sum(), 1.0)
        return OutOfBagEstimate(best, mean, mean_interval, gain, gain_interval, selection_rates)


def _count_draws(random: np.random.Generator, n_units: int, size: int) -> NDArray[np.int64]:
    """Return how often each unit is drawn in each resample, shape (size, units)."""
    drawn = random.integers(n_units, size=(size, n_units))
    drawn += np.arange(size)[:, None] * n_units
    return np.bincount(drawn.ravel(), minlength=size * n_units).reshape(size, n_units)


def gain_interval_by_test(interval: Interval, *, gain: float, is_significant: bool | None) -> Interval:
    """Return the interval of an expected gain that excludes 0 if and only if the test of the chosen setting does.

    The interval of `out_of_bag` comes from resamples, the decision from a test corrected for all settings. Where the
    two disagree, the interval ends at 0, so that nobody reads a decision from it which the test does not support.

    Args:
        interval: The interval from the resamples.
        gain: The gain of the chosen setting over the default on these questions. It is below 0 if the default cannot be
            chosen and is better.
        is_significant: Whether the test says that the two differ; None if the default was chosen, whose gain is 0.

    Example:
        >>> gain_interval_by_test(Interval(-0.01, 0.2), gain=0.1, is_significant=True)
        Interval(low=0.0, high=0.2)
        >>> gain_interval_by_test(Interval(0.01, 0.2), gain=0.1, is_significant=False)
        Interval(low=0.0, high=0.2)
    """
    low, high = interval
    if is_significant is None:
        low = min(low, 0.0)
        high = max(high, 0.0)
    elif gain < 0:
        if (high < 0) != is_significant:
            high = 0.0
    elif (low > 0) != is_significant:
        low = 0.0
        high = max(high, 0.0)
    return Interval(min(low, high), high)


def _best_settings(means: NDArray[np.float64], default: int, *, keep: bool) -> NDArray[np.int64]:
    """Return the setting with the best mean of each row; the default, if it can be chosen and none is better."""
    alternatives = means.copy()
    alternatives[:, default] = -np.inf
    best: NDArray[np.int64] = alternatives.argmax(axis=1)
    if not keep:
        return best
    is_better = alternatives.max(axis=1) > means[:, default] + TOLERANCE
    return np.where(is_better, best, default)


def _mean_with_interval(values: NDArray[np.float64], level: float) -> tuple[float, Interval]:
    if not len(values):
        return np.nan, Interval(np.nan, np.nan)
    mean = float(values.mean())
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return mean, Interval(low, high)
