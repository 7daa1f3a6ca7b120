"""The text of a failure: what is wrong, by how much, and in which queries."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.baseline import key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_retrieval_metrics.baseline import Baseline
    from pytest_retrieval_metrics.gates import Verdict
    from retrieval_metrics import Evaluation
    from retrieval_metrics.adapting import QueryId


def explained(evaluation: Evaluation, failed: Sequence[Verdict], known: Baseline | None, show: int) -> str:
    """Return the whole text of a failure.

    Args:
        evaluation: What was measured.
        failed: What failed.
        known: The baseline, if there is one.
        show: How many queries are shown of each metric.
    """
    lines = ["retrieval quality"]
    shown: set[QueryId] = set()
    worse = {verdict.metric for verdict in failed if verdict.outcome == "worse"}
    for verdict in failed:
        lines += ["", f"{verdict.metric}: {verdict.outcome}: {verdict.said}"]
        if verdict.outcome in {"worse", "cannot tell"}:
            lines += _worse(evaluation, verdict, known, show, shown)
        elif verdict.outcome == "below the floor" and verdict.metric not in worse and show:
            lines += _worst(evaluation, verdict.metric, show, shown)
    return "\n".join(lines)


def _worse(
    evaluation: Evaluation, verdict: Verdict, known: Baseline | None, show: int, shown: set[QueryId]
) -> Iterator[str]:
    """Say of the queries that lost most what each of their relevant documents was and is."""
    difference = verdict.difference
    if difference is None:
        return
    pairs = zip(difference.queries, difference.values.tolist(), strict=True)
    losers = sorted((pair for pair in pairs if pair[1] < 0), key=itemgetter(1))
    now = evaluation.per_query[verdict.metric]
    for query, change in losers[:show]:
        yield f"  {query}: {now[query] - change:.4f} -> {now[query]:.4f}"
        before = {} if known is None else known.ranks[key(query)]
        yield from _documents(evaluation, query, verdict.metric, before, shown)
    if len(losers) > show:
        yield f"  and {len(losers) - show} more that got worse"


def _worst(evaluation: Evaluation, metric: str, show: int, shown: set[QueryId]) -> Iterator[str]:
    worst = evaluation.worst(metric, show)
    for each in worst:
        if each.values[metric] < evaluation.means[metric]:
            yield f"  {each.query}: {each.values[metric]:.4f}"
            yield from _documents(evaluation, each.query, metric, None, shown)
    yield f"  all queries: {worst.summary}"


def _documents(
    evaluation: Evaluation, query: QueryId, metric: str, before: Mapping[str, int] | None, shown: set[QueryId]
) -> Iterator[str]:
    if query in shown:  # for another metric of the same check
        return
    shown.add(query)
    for finding in evaluation.explain(query, metric).findings:
        was = ""
        if before is not None:
            rank = before.get(str(finding.document))
            was = "was not retrieved; " if rank is None else f"was at rank {rank}; "
        place = "" if finding.rank is None else f"rank {finding.rank}, "
        yield f"      {finding.document} (grade {finding.grade:g}): {was}now {place}{finding.detail}"
