"""The sums of an evaluation, to which those of other queries can be added."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NoReturn, cast

from retrieval_metrics.results.record import Record
from retrieval_metrics.scoring.definition import divides_by_largest_grade
from retrieval_metrics.scoring.metric import refuse_other_facts
from retrieval_metrics.statistics.means import ExactSums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.results.record import Column
    from retrieval_metrics.scoring.metric import Metric
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.statistics.means import Sums


@dataclass(frozen=True, slots=True)
class Totals(Record):
    """The exact sums and the counts of an evaluation: as small for a billion queries as for ten.

    They can be pickled, saved and sent. `merge` makes an evaluation from any number of them.

    Attributes:
        metrics: The metrics.
        rules: The rule set they were computed under.
        counts: How many queries and documents were missing, repeated, unjudged, tied or undefined.
        exact: The exact sums over all queries, of each metric and of each known column.
        scale: The largest grade of the judgments, which some metrics divide by; None if it is unknown.
    """

    metrics: tuple[Metric, ...]
    rules: Rules
    counts: Counts
    exact: Mapping[tuple[Column, Metric], ExactSums]
    scale: float | None

    def sums(self, column: Column, metric: Metric) -> Sums | None:
        """Return the sums over the queries of one column, or None if it is not known."""
        exact = self.exact.get((column, metric))
        return None if exact is None else exact.rounded()

    def totals(self) -> Totals:
        """Return these totals."""
        return self

    @property
    def of_queries(self) -> NoReturn:
        """The values of single queries, which totals do not hold.

        Raises:
            ValueError: Always.
        """
        raise ValueError(
            "this evaluation was merged from totals, which hold no single queries; merge evaluations instead"
        )

    def plus(self, other: Totals) -> Totals:
        """Return the totals of the queries of both.

        Raises:
            ValueError: If they have different metrics or rules, or a metric divides by the largest grade and that
                differs.
        """
        if self.metrics != other.metrics:
            raise ValueError(
                f"parts must have the same metrics, got {_names(self.metrics)} and {_names(other.metrics)}"
            )
        refuse_other_facts(self.metrics, other.metrics)
        if self.rules != other.rules:
            raise ValueError(f"parts must be computed under the same rules, got {_difference(self.rules, other.rules)}")
        _check_scale(self, other)
        theirs = cast("dict[str, int]", other.counts)
        counts = {name: number + theirs[name] for name, number in cast("dict[str, int]", self.counts).items()}
        known = [key for key in self.exact if key in other.exact]  # what is unknown of one part is unknown of the whole
        exact = {key: ExactSums.merged([self.exact[key], other.exact[key]]) for key in known}
        scale = None if self.scale is None or other.scale is None else max(self.scale, other.scale)
        return Totals(self.metrics, self.rules, cast("Counts", counts), exact, scale)


def _check_scale(one: Totals, other: Totals) -> None:
    if one.scale is None or other.scale is None or one.scale == other.scale:
        return
    for metric in one.metrics:
        if divides_by_largest_grade(metric):
            raise ValueError(
                f"{metric} divides by the largest grade, which is {one.scale:g} in one part and {other.scale:g} in "
                f"another; set it: {metric.name}(max_grade={max(one.scale, other.scale):g})"
            )


def _difference(one: Rules, other: Rules) -> str:
    """Return the first difference of two rule sets in words; their names can be equal, as ties= changes no name."""
    name = next(field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name))
    if name == "name":
        return f"{one.name} and {other.name}"
    return f"{one.name} with {name}={getattr(one, name)!r} and with {name}={getattr(other, name)!r}"


def _names(metrics: Sequence[Metric]) -> str:
    return ", ".join(map(str, metrics))
