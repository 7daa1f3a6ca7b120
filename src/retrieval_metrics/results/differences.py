"""All differences of a comparison, printed as one table per pair of systems."""

from __future__ import annotations

from retrieval_metrics.checks import grouped
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.printed import Printed
from retrieval_metrics.presentation.tables import Table
from retrieval_metrics.results.difference import Difference
from retrieval_metrics.scoring.metric import Metric, first_telling

MOVED = 3
"""The number of queries named as those that moved most."""


class Differences(tuple[Difference, ...], Printed):
    """The differences of every pair of systems in every metric, as a printable tuple."""

    __slots__ = ()

    @property
    def by_pair(self) -> dict[tuple[str, str], Differences]:
        """The differences of each pair of systems, under system and baseline."""
        return {pair: Differences(those) for pair, those in grouped((each.pair, each) for each in self).items()}

    @property
    def telling(self) -> Difference:
        """The first whose metric is computed and not binary, or else the first."""
        main = str(first_telling([Metric.parse(each.metric) for each in self]))
        return next(each for each in self if each.metric == main)

    def table(self, *, whole: bool = False) -> Table:
        """Return the differences of a single pair of systems, a row per metric.

        Args:
            whole: Whether effect sizes and detectable differences are shown too.
        """
        header = ["metric", "difference", numbers.level_name(1 - self[0].alpha), "p", "won/tied/lost"]
        header += ["effect", "detects"] if whole else []
        main = self.telling
        moved = ", ".join(f"{query} {numbers.signed(change)}" for query, change in main.moved(MOVED))
        notes = [f"moved most in {main.metric}: {moved or 'none'}"]
        return Table(header, [_row(each, whole=whole) for each in self], notes, f"{main.system} - {main.baseline}")

    def _tables(self) -> list[Table]:
        return [those.table(whole=True) for those in self.by_pair.values()]

    def __str__(self) -> str:  # of two parents, tuple would win
        return Printed.__str__(self)

    def __repr__(self) -> str:
        return f"<{len(self)} differences>"


def _row(each: Difference, *, whole: bool) -> list[str]:
    paired = each.paired
    cells = [
        each.metric,
        numbers.signed(each.mean),
        numbers.interval(each.interval, difference=True),
        numbers.p_value(each.p_corrected),
        f"{paired.wins}/{paired.ties}/{paired.losses}",
    ]
    return [*cells, numbers.signed(paired.effect_size), numbers.size(each.detectable().low)] if whole else cells
