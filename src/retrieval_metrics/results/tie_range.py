"""The range of means over all orders of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.presentation import numbers
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from retrieval_metrics.results.record import Column, Record
    from retrieval_metrics.scoring.metric import Metric


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
    def of(cls, record: Record) -> TieRange | None:
        """Return the range of the means of an evaluation; None if it has none."""
        if record.sums("depends", record.metrics[0]) is None:
            return None

        def known(column: Column, metric: Metric) -> Sums:
            return record.sums(column, metric) or Sums.of_nothing()

        means = {str(one): (known("lowest", one).mean, known("highest", one).mean) for one in record.metrics}
        return cls(means, {str(one): int(known("depends", one).total) for one in record.metrics})

    def notes(self) -> list[str]:
        """Return a line for each metric that depends on the order of equal scores."""
        return [
            f"{name}: between {' and '.join(map(numbers.value, self.means[name]))}, by the order of equal scores "
            f"in {count} {'query' if count == 1 else 'queries'}"
            for name, count in self.n_queries.items()
            if count
        ]
