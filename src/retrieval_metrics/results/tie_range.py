"""The range of means over all orders of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.presentation import numbers
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.scores import Column


class TieRange(NamedTuple):
    """The smallest and the largest mean over all orders of documents with equal scores.

    Attributes:
        means: The smallest and the largest mean of each metric.
        n_queries: The number of queries in which the value of each metric depends on the order.

    Example:
        >>> import retrieval_metrics as rm
        >>> result = rm.evaluate({"q": ["a"]}, {"q": {"a": 1.0, "x": 1.0}}, "mrr", ties="expected")
        >>> result.means["mrr"]  # (1/1 + 1/2) / 2
        0.75
        >>> result.tie_range.means
        {'mrr': (0.5, 1.0)}
    """

    means: dict[str, tuple[float, float]]
    n_queries: dict[str, int]

    @classmethod
    def of(cls, metrics: Sequence[Metric], sums: Callable[[Column, Metric], Sums | None]) -> TieRange | None:
        """Return the range from sums over the queries; None if they have none."""
        if sums("depends", metrics[0]) is None:
            return None

        def known(column: Column, metric: Metric) -> Sums:
            return sums(column, metric) or Sums.of_nothing()

        means = {str(metric): (known("lowest", metric).mean, known("highest", metric).mean) for metric in metrics}
        return cls(means, {str(metric): int(known("depends", metric).total) for metric in metrics})

    def notes(self) -> list[str]:
        """Return a line for each metric that depends on the order of equal scores."""
        return [
            f"{name}: between {' and '.join(map(numbers.value, self.means[name]))}, by the order of equal scores "
            f"in {count} {'query' if count == 1 else 'queries'}"
            for name, count in self.n_queries.items()
            if count
        ]
