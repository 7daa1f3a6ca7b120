"""How two systems differ in one metric: the numbers, and what they allow to be said."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.statistics import detectable_difference, queries_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.statistics import Interval, PairedDifference
    from retrieval_metrics.types import FloatArray, QueryId

POWER = 0.8
SMALLEST_TEST = 2
"""Queries; one alone has no spread."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Difference:
    """One system minus another in one metric, on the queries for which both are defined.

    Attributes:
        metric: The metric.
        system: The system.
        baseline: The system it is compared with.
        queries: The queries for which both are defined.
        values: Shape (queries,), system minus baseline per query.
        paired: Mean, interval, both p values, effect size, wins, ties and losses.
        comparisons: How many differences were tested together.
        p_holm: The randomisation test's p value, corrected by Holm for all of them.
        p_tukey: Of three or more systems, the p value of Tukey's test of all pairs in this metric; None of two.
        span: The largest possible difference.
    """

    metric: str
    system: str
    baseline: str
    queries: Sequence[QueryId]
    values: FloatArray
    paired: PairedDifference
    comparisons: int
    p_holm: float
    p_tukey: float | None
    span: float

    @property
    def pair(self) -> tuple[str, str]:
        """The system and its baseline."""
        return self.system, self.baseline

    @property
    def n(self) -> int:
        """For how many queries both systems are defined."""
        return self.paired.count

    @property
    def mean(self) -> float:
        """The mean difference, system minus baseline."""
        return self.paired.mean

    @property
    def interval(self) -> Interval:
        """The confidence interval of the mean difference."""
        return self.paired.interval

    @property
    def p_value(self) -> float:
        """The p value of the randomisation test, as it is: not corrected for the number of comparisons."""
        return self.paired.p_randomisation

    @property
    def alpha(self) -> float:
        """The rate of false findings that is accepted over all comparisons together: 1 - level."""
        return 1 - self.paired.level

    @property
    def significant(self) -> bool:
        """Whether the data tell the two systems apart: the corrected p value is at most alpha."""
        # 1 - 0.95 is a hair above 0.05: a p value of exactly 0.05 must not hang on that.
        return self.p_holm <= self.alpha + 1e-12

    @property
    def identical(self) -> bool:
        """Whether both systems have the same value for every query."""
        return not self.values.any()

    @property
    def fewest_queries(self) -> int:
        """How many queries the corrected randomisation test needs before it can find anything.

        With n queries its smallest p value is 2 / 2^n, times the number of comparisons.
        """
        return max(SMALLEST_TEST, math.ceil(1 + math.log2(self.comparisons / self.alpha) - 1e-9))

    def detectable(self, power: float = POWER) -> float:
        """Return the smallest true difference that a comparison like this one finds with the given power.

        It is computed at the strictest level that Holm's correction asks of one of m comparisons, alpha / m, so that
        the power is promised whatever the other comparisons turn out to be. Infinite where no difference, however
        large, could be found.

        Args:
            power: Probability of finding it.
        """
        if self.n < self.fewest_queries:
            return math.inf
        return detectable_difference(self.values, power=power, level=self.alpha / self.comparisons, span=self.span)

    def queries_needed(self, difference: float | None = None, power: float = POWER) -> int:
        """Return on how many queries a comparison like this one finds a difference with the given power.

        Args:
            difference: The true mean difference to be found; None takes the one seen.
            power: Probability of finding it.

        Raises:
            ValueError: If there are fewer than two queries, or the difference is 0.
        """
        wanted = self.mean if difference is None else difference
        level = self.alpha / self.comparisons
        return max(self.fewest_queries, queries_needed(self.values, wanted, power=power, level=level, span=self.span))

    def moved(self, n: int = 5) -> list[tuple[QueryId, float]]:
        """Return the `n` queries with the largest difference either way, and that difference; without those equal."""
        order = np.argsort(-np.abs(self.values), kind="stable")[:n].tolist()
        return [(self.queries[at], float(self.values[at])) for at in order if self.values[at] != 0]

    def __repr__(self) -> str:
        return (
            f"<Difference {self.system} - {self.baseline} in {self.metric}: {self.mean:+.4f}, p {self.p_value:.4f}, "
            f"Holm {self.p_holm:.4f}, n={self.n}>"
        )
