"""Hold the exact sums of an evaluation, which are as small for a billion queries as for ten."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeAlias

from retrieval_metrics.evaluation.counts import merge_counts
from retrieval_metrics.evaluation.scores import Scores
from retrieval_metrics.metrics.base.grade_scale import divides_by_largest_grade
from retrieval_metrics.statistics.exact_sums import ExactSums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.counts import Counts
    from retrieval_metrics.evaluation.scores import Column
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.metrics.base.rules import Rules
    from retrieval_metrics.statistics.sums import Sums


@dataclass(frozen=True, slots=True)
class Totals:
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

    origin: ClassVar[None] = None
    clusters: ClassVar[None] = None
    labels: ClassVar[None] = None

    def sums(self, column: Column, metric: Metric) -> Sums | None:
        """Return the sums over the queries of one column, or None if it is not known."""
        exact = self.exact.get((column, metric))
        return None if exact is None else exact.rounded()

    def totals(self) -> Totals:
        """Return these totals."""
        return self

    @property
    def per_query_scores(self) -> NoReturn:
        """The values of single queries, which totals do not hold.

        Raises:
            ValueError: Always.
        """
        raise ValueError(
            "this evaluation was merged from totals, which have no per-query values; merge evaluations instead"
        )

    def merged_with(self, other: Totals) -> Totals:
        """Return the totals of the queries of both, without changing either.

        Raises:
            ValueError: If they have different metrics or rules, or a metric divides by the largest grade and that
                differs.
        """
        if self.metrics != other.metrics:
            raise ValueError(
                f"parts must have the same metrics, got {_join_names(self.metrics)} and {_join_names(other.metrics)}"
            )
        # Imported here because only merging needs it.
        from retrieval_metrics.metrics.base.given_metrics import require_same_properties

        require_same_properties(self.metrics, other.metrics)
        if self.rules != other.rules:
            raise ValueError(
                f"parts must be computed under the same rules, got {_format_difference(self.rules, other.rules)}"
            )
        _require_same_scale(self, other)
        counts = merge_counts(self.counts, other.counts)
        exact = {}
        # A column that is unknown in one part is unknown in the whole.
        for key in self.exact:
            if key in other.exact:
                exact[key] = ExactSums.merge([self.exact[key], other.exact[key]])
        scale = None
        if self.scale is not None and other.scale is not None:
            scale = max(self.scale, other.scale)
        return Totals(self.metrics, self.rules, counts, exact, scale)


# The numbers of an evaluation, whether those of single queries are kept or only their sums.
Record: TypeAlias = Scores | Totals


def _require_same_scale(totals: Totals, other: Totals) -> None:
    if totals.scale is None or other.scale is None or totals.scale == other.scale:
        return
    for metric in totals.metrics:
        if divides_by_largest_grade(metric):
            raise ValueError(
                f"{metric} divides by the largest grade, which is {totals.scale:g} in one part and {other.scale:g} in "
                f"another; set it: {metric.name}(max_grade={max(totals.scale, other.scale):g})"
            )


def _format_difference(rules: Rules, other: Rules) -> str:
    """Return the first difference of two rule sets; their names can be equal, as ties= changes no name."""
    differing_fields = [
        field.name for field in fields(rules) if getattr(rules, field.name) != getattr(other, field.name)
    ]
    name = differing_fields[0]
    if name == "name":
        return f"{rules.name} and {other.name}"
    return f"{rules.name} with {name}={getattr(rules, name)!r} and with {name}={getattr(other, name)!r}"


def _join_names(metrics: Sequence[Metric]) -> str:
    return ", ".join(map(str, metrics))
