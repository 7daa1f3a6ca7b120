"""The text of a failure: the metric, the difference, and the queries behind it."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.gates import BASELINE, NOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_retrieval_metrics.gates import Verdict
    from retrieval_metrics import Comparison, Evaluation
    from retrieval_metrics.types import Difference, QueryId


def explained(evaluation: Evaluation, failed: Sequence[Verdict], comparison: Comparison | None, show: int) -> str:
    """Return the whole text of a failure; its first line has a metric, the numbers and the verdict.

    Args:
        evaluation: The evaluation.
        failed: The failed verdicts.
        comparison: The comparison with the baseline, if there was one.
        show: How many queries are shown for each metric.
    """
    parts = []
    shown: set[QueryId] = set()
    worse = {verdict.metric for verdict in failed if verdict.outcome == "worse"}
    for verdict in failed:
        lines = [verdict.line, *([f"  {verdict.said}"] if verdict.said else [])]
        if verdict.difference is not None and comparison is not None:
            lines += _lost(comparison, verdict.difference, show, shown)
        elif verdict.outcome == "below the floor" and verdict.metric not in worse and show:
            lines += _worst(evaluation, verdict.metric, show, shown)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def losers(difference: Difference) -> list[tuple[QueryId, float]]:
    """Return the queries that became worse with their differences, the largest first."""
    pairs = zip(difference.queries, difference.values.tolist(), strict=True)
    return sorted((pair for pair in pairs if pair[1] < 0), key=itemgetter(1))


def winners(difference: Difference) -> list[tuple[QueryId, float]]:
    """Return the queries that became better with their differences, the largest first."""
    pairs = zip(difference.queries, difference.values.tolist(), strict=True)
    return sorted((pair for pair in pairs if pair[1] > 0), key=itemgetter(1), reverse=True)


def named(query: QueryId, texts: Mapping[QueryId, str]) -> str:
    """Return a query with its text, if that differs from its id."""
    text = texts.get(query, "")
    return str(query) if text in {"", query} else f"{query} ({text})"


def texts_of(evaluation: Evaluation) -> Mapping[QueryId, str]:
    """Return the texts of the questions, if they are known."""
    return evaluation.scores.needed_origin("shown").judged.qrels.texts


def _lost(comparison: Comparison, difference: Difference, show: int, shown: set[QueryId]) -> Iterator[str]:
    """Yield lines on the queries that lost most: where their relevant documents were and are."""
    lost, now = losers(difference), comparison.evaluations[NOW]
    values, texts = now.per_query[difference.metric], texts_of(now)
    for query, change in lost[:show]:
        yield f"  {named(query, texts)}: {values[query] - change:.4f} -> {values[query]:.4f}"
        findings = comparison.evaluations[BASELINE].explain(query, difference.metric).findings
        before = {str(finding.document): finding.rank for finding in findings}
        yield from _documents(now, query, difference.metric, before, shown)
    if len(lost) > show:
        yield f"  and {len(lost) - show} more that got worse"


def _worst(evaluation: Evaluation, metric: str, show: int, shown: set[QueryId]) -> Iterator[str]:
    worst, texts = evaluation.worst(metric, show), texts_of(evaluation)
    for each in worst:
        if each.values[metric] < evaluation.means[metric]:
            yield f"  {named(each.query, texts)}: {each.values[metric]:.4f}"
            yield from _documents(evaluation, each.query, metric, None, shown)
    yield f"  all queries: {worst.summary}"


def _documents(
    evaluation: Evaluation, query: QueryId, metric: str, before: Mapping[str, int | None] | None, shown: set[QueryId]
) -> Iterator[str]:
    if query in shown:  # shown for another metric of the same check
        return
    shown.add(query)
    for finding in evaluation.explain(query, metric).findings:
        was = ""
        if before is not None:
            rank = before.get(str(finding.document))
            was = "was not retrieved; " if rank is None else f"was at rank {rank}; "
        place = "" if finding.rank is None else f"rank {finding.rank}, "
        yield f"      {finding.document} (grade {finding.grade:g}): {was}now {place}{finding.detail}"
