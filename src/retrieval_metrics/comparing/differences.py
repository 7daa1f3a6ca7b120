"""All differences of a comparison, printed as one table per pair of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.reporting.verdict import differences_table
from retrieval_metrics.results.difference import Difference

if TYPE_CHECKING:
    from retrieval_metrics.presentation.tables import Table


class Differences(tuple[Difference, ...], Printed):
    """The differences of every pair of systems in every metric, as a printable tuple."""

    __slots__ = ()

    def _tables(self) -> list[Table]:
        pairs = dict.fromkeys(each.pair for each in self)
        return [
            differences_table([each for each in self if each.pair == pair], 1 - self[0].alpha, whole=True)
            for pair in pairs
        ]

    def __str__(self) -> str:  # of two parents, tuple would win
        return Printed.__str__(self)

    def __repr__(self) -> str:
        return f"<{len(self)} differences>"
