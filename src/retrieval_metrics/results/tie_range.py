"""What the order of equal scores decides: the mean over all their orders, the smallest and the largest value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from retrieval_metrics.scoring.score import parameters_of
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.evaluation.totals import Kind
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.types import FloatArray, IntArray


class TieRange(NamedTuple):
    """The smallest and the largest values over all orders of documents with equal scores.

    Attributes:
        metrics: The metrics.
        lowest: Shape (queries, metrics), the smallest value of each query.
        highest: Shape (queries, metrics), the largest.

    Example:
        >>> import retrieval_metrics as rm
        >>> result = rm.evaluate({"q": ["a"]}, {"q": {"a": 1.0, "x": 1.0}}, "mrr", ties="expected")
        >>> result.means["mrr"]  # (1/1 + 1/2) / 2
        0.75
        >>> result.tie_range.means
        {'mrr': (0.5, 1.0)}
    """

    metrics: tuple[Metric, ...]
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[TieRange]) -> TieRange:
        """Return the ranges of the queries of all parts."""
        lowest, highest = (np.concatenate(columns) for columns in zip(*(part[1:] for part in parts), strict=True))
        return cls(parts[0].metrics, lowest, highest)

    def of(self, queries: IntArray) -> TieRange:
        """Return the range for some of the queries."""
        return TieRange(self.metrics, self.lowest[queries], self.highest[queries])

    def column(self, kind: Kind, metric: Metric) -> FloatArray:
        """Return the smallest or the largest value of each query, or (1 or 0) whether they differ."""
        lowest, highest = (values[:, self.metrics.index(metric)] for values in (self.lowest, self.highest))
        # Two orders that differ in nothing that counts may differ in the last bits of a sum.
        depends = (highest - lowest > 1e-12).astype(np.float64)  # noqa: PLR2004  (said in the line above)
        return lowest if kind == "lowest" else highest if kind == "highest" else depends

    @property
    def means(self) -> dict[str, tuple[float, float]]:
        """The smallest and the largest mean of each metric."""
        return self._summary().means

    @property
    def n_queries(self) -> dict[str, int]:
        """For how many queries the value of each metric depends on the order of equal scores."""
        return self._summary().n_queries

    def notes(self) -> list[str]:
        """Return a line for each metric that depends on the order of equal scores."""
        return self._summary().notes()

    def _summary(self) -> TieMeans:
        def sums(kind: Kind, metric: Metric) -> Sums:
            column = self.column(kind, metric)
            return Sums.of(column[~np.isnan(column)])

        return TieMeans.of(self.metrics, sums)


class TieMeans(NamedTuple):
    """What the order of equal scores decides for the means alone.

    Attributes:
        means: The smallest and the largest mean of each metric.
        n_queries: For how many queries the value of each metric depends on the order of equal scores.
    """

    means: dict[str, tuple[float, float]]
    n_queries: dict[str, int]

    @classmethod
    def of(cls, metrics: Iterable[Metric], sums: Callable[[Kind, Metric], Sums]) -> TieMeans:
        """Return the means that some sums of the columns of a `TieRange` give."""
        means = {str(metric): (sums("lowest", metric).mean, sums("highest", metric).mean) for metric in metrics}
        return cls(means, {str(metric): int(sums("depends", metric).total) for metric in metrics})

    def column(self, kind: Kind, metric: Metric) -> None:  # as TieRange has it
        """Return None: there is nothing per query."""

    def notes(self) -> list[str]:
        """Return a line for each metric that depends on the order of equal scores."""
        return [
            f"{name}: between {self.means[name][0]:.4f} and {self.means[name][1]:.4f}, by the order of equal scores "
            f"in {count} {'query' if count == 1 else 'queries'}"
            for name, count in self.n_queries.items()
            if count
        ]


def over_tie_orders(
    blocks: JudgedRun, metrics: Sequence[Metric], rules: Rules, values: FloatArray
) -> tuple[FloatArray, TieRange]:
    """Return the mean over all orders of equal scores, and the range, of every query and metric.

    Args:
        blocks: The judged run in which tied documents all stand at the first rank of their block.
        metrics: The metrics.
        rules: The rule set.
        values: Shape (queries, metrics), the values in any one order; NaN stays NaN, and what has no ties stays.

    Raises:
        ValueError: If a metric has no closed form for a query that has too many orders to try them all.
    """
    from retrieval_metrics.scoring.ties.over_orders import over_orders  # noqa: PLC0415  (who has no ties needs it not)

    expected, lowest, highest = values.copy(), values.copy(), values.copy()
    affected = np.unique(blocks.items.query[blocks.items.tied > 1])
    if len(affected):
        for column, metric in enumerate(metrics):
            defined = affected[~np.isnan(values[affected, column])]
            if not len(defined):
                continue
            found = over_orders(blocks, defined, metric, parameters_of(metric, rules))
            for target, source in zip((expected, lowest, highest), found, strict=True):
                target[defined, column] = source[defined]
    return expected, TieRange(tuple(metrics), lowest, highest)
