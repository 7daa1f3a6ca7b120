"""The smallest and the largest means over all orders of documents with equal scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics.evaluation.summary_wording import tie_range_notes
from retrieval_metrics.statistics.sums import Sums

if TYPE_CHECKING:
    from retrieval_metrics.evaluation.totals import Record


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
    def from_record(cls, record: Record) -> TieRange | None:
        """Return the range of the means of an evaluation; None if it has none."""
        if record.sums("depends", record.metrics[0]) is None:
            return None
        means: dict[str, tuple[float, float]] = {}
        n_queries: dict[str, int] = {}
        for metric in record.metrics:
            name = str(metric)
            lowest = record.sums("lowest", metric) or Sums.empty()
            highest = record.sums("highest", metric) or Sums.empty()
            depends = record.sums("depends", metric) or Sums.empty()
            means[name] = (lowest.mean, highest.mean)
            n_queries[name] = int(depends.total)
        return cls(means, n_queries)

    def notes(self) -> list[str]:
        """Return a line for each metric that depends on the order of equal scores."""
        return tie_range_notes(self)
