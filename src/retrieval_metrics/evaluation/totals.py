"""What an evaluation comes down to, in sums that those of other queries can be added to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

import numpy as np

from retrieval_metrics.checks import id_kind
from retrieval_metrics.definition.largest_grade import divides_by_largest_grade
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.results.tie_range import TieMeans, TieRange
from retrieval_metrics.statistics.sums import ExactSums

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.results.counts import Counts
    from retrieval_metrics.scoring.rules import Rules
    from retrieval_metrics.statistics.sums import Sums
    from retrieval_metrics.types import FloatArray, QueryId

Kind: TypeAlias = Literal["value", "ideal", "residual", "lowest", "highest", "depends"]
"""What there is for a query and a metric: see `Evaluation.column`."""

KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Totals:
    """The exact sums and the counts of an evaluation: as small for a billion queries as for ten.

    They can be pickled, kept and sent; `merge` makes an evaluation of any number of them.

    Attributes:
        metrics: The metrics.
        rules: The rule set they were computed under.
        counts: What was met.
        sums: The exact sums over all queries, of each metric and of each kind of number that is known.
        scale: The largest grade of the judgments, which some metrics divide by; None if it is not known.
    """

    metrics: tuple[Metric, ...]
    rules: Rules
    counts: Counts
    sums: Mapping[tuple[Kind, Metric], ExactSums]
    scale: float | None


def totals_of(evaluation: Evaluation) -> Totals:
    """Return the totals of an evaluation that holds its queries."""
    columns = {(kind, metric): evaluation.column(kind, metric) for metric in evaluation.metrics for kind in KINDS}
    return Totals(
        evaluation.metrics,
        evaluation.rules,
        evaluation.counts,
        {key: ExactSums.of(column) for key, column in columns.items() if column is not None},
        None if evaluation.judged is None else evaluation.judged.qrels.largest_grade,
    )


def merge(parts: Iterable[Evaluation | Totals]) -> Evaluation:
    """Return one evaluation of the queries of all parts: to the last bit what evaluating them together gives.

    Means, intervals and counts come from sums that are rounded only after the last part was added, so neither the cut
    nor the order of the parts matters. If every part is an `Evaluation`, the result holds the values of every query. If
    parts are `Totals`, it holds sums alone, however many queries there are: what asks for a single query raises.

    Args:
        parts: Evaluations of different queries, or their totals, by the same metrics and rules; consumed one by one.

    Raises:
        TypeError: If a part is neither, or query ids are str in one part and int in another.
        ValueError: If there is no part, parts differ in metrics or rules, a query is in two parts, or a metric divides
            by the largest grade there is and the parts have different ones.

    Example:
        >>> import retrieval_metrics as rm
        >>> monday = rm.evaluate({"q1": ["d7"]}, {"q1": ["d3", "d7"]}, "mrr")
        >>> tuesday = rm.evaluate({"q2": ["d1"]}, {"q2": ["d1"]}, "mrr")
        >>> both = rm.merge([monday, tuesday])
        >>> both.means["mrr"], both.per_query["mrr"]  # (1/2 + 1) / 2
        (0.75, {'q1': 0.5, 'q2': 1.0})
    """
    whole: Totals | None = None
    held: list[Evaluation] | None = []
    if isinstance(parts, (Mapping, Evaluation, Totals)):
        advice = "pass its values()" if isinstance(parts, Mapping) else "write a list"
        raise TypeError(f"parts must be several evaluations or totals, got one {type(parts).__name__}; {advice}")
    for part in parts:
        if not isinstance(part, (Evaluation, Totals)):
            raise TypeError(f"parts are evaluations or their totals, got {type(part).__name__}")
        totals = part.totals() if isinstance(part, Evaluation) else part
        whole = totals if whole is None else _added(whole, totals)
        if isinstance(part, Totals) or not part.holds_queries:
            held = None
        elif held is not None:
            held.append(part)
    if whole is None:
        raise ValueError("there is nothing to merge: no part was given")
    if held is None:
        return Evaluation(
            metrics=whole.metrics,
            queries=None,
            values=None,
            counts=whole.counts,
            rules=whole.rules,
            tie_range=_tie_means(whole),
            totals=whole,
        )
    ranges = [part.tie_range for part in held if isinstance(part.tie_range, TieRange)]
    return Evaluation(
        metrics=whole.metrics,
        queries=_all_queries(held),
        values=np.concatenate([part.values for part in held]),
        counts=whole.counts,
        rules=whole.rules,
        residuals=_all_residuals(held),
        tie_range=TieRange.joined(ranges) if len(ranges) == len(held) else None,
        totals=whole,
    )


def _added(one: Totals, other: Totals) -> Totals:
    if one.metrics != other.metrics:
        raise ValueError(f"parts must have the same metrics, got {_names(one.metrics)} and {_names(other.metrics)}")
    if one.rules != other.rules:
        raise ValueError(f"parts must be computed under the same rules, got {_difference(one.rules, other.rules)}")
    _check_scale(one, other)
    counts = {name: number + cast("dict[str, int]", other.counts)[name] for name, number in one.counts.items()}  # type: ignore[operator]  # all are numbers
    known = [key for key in one.sums if key in other.sums]  # what one part does not know, the whole does not
    sums = {key: ExactSums.merged([one.sums[key], other.sums[key]]) for key in known}
    scale = None if one.scale is None or other.scale is None else max(one.scale, other.scale)
    return Totals(one.metrics, one.rules, cast("Counts", counts), sums, scale)


def _check_scale(one: Totals, other: Totals) -> None:
    if one.scale is None or other.scale is None or one.scale == other.scale:
        return
    for metric in one.metrics:
        if divides_by_largest_grade(metric):
            raise ValueError(
                f"{metric} divides by the largest grade there is, which is {one.scale:g} in one part and "
                f"{other.scale:g} in another; say it: {metric.name}(max_grade={max(one.scale, other.scale):g})"
            )


def _difference(one: Rules, other: Rules) -> str:
    """Return in words what two rule sets differ in first; their names may be the same, as ties= changes no name."""
    name = next(field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name))
    if name == "name":
        return f"{one.name} and {other.name}"
    return f"{one.name} with {name}={getattr(one, name)!r} and with {name}={getattr(other, name)!r}"


def _names(metrics: Sequence[Metric]) -> str:
    return ", ".join(map(str, metrics))


def _tie_means(totals: Totals) -> TieMeans | None:
    if ("depends", totals.metrics[0]) not in totals.sums:
        return None

    def sums(kind: Kind, metric: Metric) -> Sums:
        return totals.sums[kind, metric].rounded()

    return TieMeans.of(totals.metrics, sums)


def _all_queries(parts: Sequence[Evaluation]) -> list[QueryId]:
    seen: set[QueryId] = set()
    for part in parts:
        if twice := seen.intersection(part.queries):
            raise ValueError(f"query {min(twice, key=str)!r} is in two parts; parts must be of different queries")
        seen.update(part.queries)
    id_kind(set(map(type, seen)), "query ids in the parts")
    return [query for part in parts for query in part.queries]


def _all_residuals(parts: Sequence[Evaluation]) -> dict[Metric, FloatArray]:
    columns = {metric: [part.column("residual", metric) for part in parts] for metric in parts[0].metrics}
    return {
        metric: np.concatenate([one for one in each if one is not None])
        for metric, each in columns.items()
        if all(one is not None for one in each)
    }
