"""Bound the rare, large differences that a sample of queries may not contain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from retrieval_metrics._internal.validation import positive_number, proportion

if TYPE_CHECKING:
    from retrieval_metrics.statistics.clustered_values import Units


class RareChange(NamedTuple):
    """How much a sample may have missed: queries that change a lot, none of which it happens to contain.

    Attributes:
        share: The largest share of all queries of which none would be in the sample with a probability of 1 - level.
        mean_shift: By how much the mean could differ if each of them changed by the largest possible difference.
    """

    share: float
    mean_shift: float

    def outweighs(self, mean: float) -> bool:
        """Return whether the mean difference would be 0 or have the other sign if each of them opposed it.

        They take the place of queries with the mean difference, so the mean also loses that share of itself.
        """
        return self.mean_shift >= (1 - self.share) * abs(mean)

    def opposing(self, mean: float) -> RareChange:
        """Return the change with the shift of the mean if each of them opposed this mean difference."""
        return RareChange(self.share, self.mean_shift + self.share * abs(mean))


def rare_change(units: Units, *, span: float = 1.0, level: float = 0.95) -> RareChange:
    """Return which rare, large differences a sample may not contain.

    With n queries and alpha = 1 - level it is the share 1 - alpha^(1 / n) of all queries, about 3 / n at 95%, of which
    a sample holds none with a probability of alpha. If each of them changed by the span, the mean would differ by that
    share of the span. Clusters count as n / design effect queries.

    Args:
        units: The differences.
        span: The largest possible difference.
        level: Confidence level, strictly between 0 and 1.

    Raises:
        ValueError: If an argument is out of range.

    Example:
        Of 7% of all queries, 40 queries hold none in 0.93^40 = 5% of samples.

        >>> from retrieval_metrics.statistics.clustered_values import Units
        >>> "{:.3f}, {:.3f}".format(*rare_change(Units.from_values([0.0] * 40), span=0.5))
        '0.072, 0.036'
    """
    n = units.effective_n if len(units.sizes) else 0
    return estimate_rare_change(n, span=span, level=level)


def estimate_rare_change(count: float, *, span: float = 1.0, level: float = 0.95) -> RareChange:
    """Return the `rare_change` of a number of independent queries; of none, the share is 1."""
    proportion(level, "level")
    positive_number(span, "span")
    share = 1 - (1 - level) ** (1 / count) if count else 1.0
    return RareChange(share, share * span)
