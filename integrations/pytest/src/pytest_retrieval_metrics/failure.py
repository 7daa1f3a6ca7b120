"""The text of a failure: the metric, the difference, and the queries behind it."""

from __future__ import annotations

from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.gates import BASELINE, NOW, losers
from retrieval_metrics.adapting.printing import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_retrieval_metrics.gates import Verdict
    from retrieval_metrics import Comparison, Evaluation
    from retrieval_metrics.types import Difference, Finding, QueryId

LINES = 20
"""The number of lines of a failure, unless more queries are asked for than usual."""
USUAL = 5
"""The number of queries that are shown if nothing else is said."""
DOCUMENTS = 4
"""The number of relevant documents that are shown for a query."""


def explained(
    evaluation: Evaluation,
    failed: Sequence[Verdict],
    comparison: Comparison | None,
    show: int,
    notes: Sequence[str] = (),
) -> str:
    """Return the whole text of a failure; its first line has a metric, the numbers and the verdict.

    It has at most `LINES` lines, unless more queries are asked for than `USUAL`. A query is told of once, for the first
    metric in which it failed.

    Args:
        evaluation: The evaluation.
        failed: The failed verdicts.
        comparison: The comparison with the baseline, if there was one.
        show: How many queries are shown.
        notes: Lines that stand at the end.
    """
    heads = [[verdict.line, *([f"  {verdict.said}"] if verdict.said else [])] for verdict in failed]
    room = LINES - len(notes) - sum(map(len, heads)) if show <= USUAL else None
    if room is not None and room < LINES // 2:  # the queries say more than the intervals of further metrics
        heads[1:] = [[verdict.line] for verdict in failed[1:]]
        room = max(LINES - len(notes) - sum(map(len, heads)), 2)
    worse = {verdict.metric for verdict in failed if verdict.outcome == "worse"}
    lines, told = [], False
    for verdict, head in zip(failed, heads, strict=True):
        lines += head
        if told or not show:
            continue
        if verdict.difference is not None and comparison is not None:
            blocks, more = _lost(comparison, verdict.difference, show), len(losers(verdict.difference))
            lines += fitting(blocks, more, "that got worse", room)
            told = True
        elif verdict.outcome == "below the floor" and verdict.metric not in worse:
            lines += _worst(evaluation, verdict.metric, show, room)
            told = True
    return "\n".join([*lines, *notes])


def fitting(blocks: Iterable[Sequence[str]], n: int, what: str, room: int | None) -> list[str]:
    """Return the blocks that fit into so many lines, and a line on how many of all are left out.

    Args:
        blocks: The lines of each query that may be shown.
        n: How many queries there are.
        what: What they have in common, after "and 3 more".
        room: How many lines there are; None for any number.
    """
    lines: list[str] = []
    shown = 0
    for block in blocks:
        last = shown + 1 == n
        if room is not None and len(lines) + len(block) + (not last) > room:
            break
        lines += block
        shown += 1
    return lines if shown == n else [*lines, f"  and {n - shown} more {what}" if shown else f"  {n} queries {what}"]


def named(query: QueryId, texts: Mapping[QueryId, str]) -> str:
    """Return a query with its text, if that differs from its id."""
    text = texts.get(query, "")
    return str(query) if text in {"", query} else f"{query} ({text})"


def texts_of(evaluation: Evaluation) -> Mapping[QueryId, str]:
    """Return the texts of the questions, if they are known."""
    return evaluation.scores.needed_origin("shown").judged.qrels.texts


def _lost(comparison: Comparison, difference: Difference, show: int) -> Iterator[list[str]]:
    """Yield the lines of each query that lost most: where its relevant documents were and are."""
    now = comparison.evaluations[NOW]
    values, texts = now.per_query[difference.metric], texts_of(now)
    for query, change in losers(difference)[:show]:
        findings = comparison.evaluations[BASELINE].explain(query, difference.metric).findings
        before = {str(finding.document): finding.rank for finding in findings}
        head = f"  {named(query, texts)}: {numbers.change(values[query] - change, values[query])}"
        yield [head, *_documents(now, query, difference.metric, before)]


def _worst(evaluation: Evaluation, metric: str, show: int, room: int | None) -> list[str]:
    worst, texts = evaluation.worst(metric, show), texts_of(evaluation)
    low = [each for each in worst if each.values[metric] < evaluation.means[metric]]
    blocks = (
        [
            f"  {named(each.query, texts)}: {numbers.value(each.values[metric])}",
            *_documents(evaluation, each.query, metric, None),
        ]
        for each in low
    )
    lines = fitting(blocks, len(low), "below the mean", None if room is None else room - 1)
    return [*lines, f"  all queries: {worst.summary}"]


def _documents(
    evaluation: Evaluation, query: QueryId, metric: str, before: Mapping[str, int | None] | None
) -> Iterator[str]:
    """Yield a line for each relevant document, and one for all alternatives of a group."""
    groups: dict[tuple[int, ...], list[Finding]] = {}
    for finding in evaluation.explain(query, metric).findings:
        groups.setdefault(finding.groups or (-len(groups) - 1,), []).append(finding)
    was_at = {} if before is None else before
    for found in islice(groups.values(), DOCUMENTS):
        one = min(found, key=lambda each: (each.rank or inf, was_at.get(str(each.document)) or inf))
        ranks = [rank for each in found if (rank := was_at.get(str(each.document))) is not None]
        was = "" if before is None else f"was at rank {min(ranks)}; " if ranks else "was not retrieved; "
        place = "" if one.rank is None else f"rank {one.rank}, "
        yield f"      {one.called} (grade {one.grade:g}): {was}now {place}{one.detail}"
    if len(groups) > DOCUMENTS:
        yield f"      and {len(groups) - DOCUMENTS} more relevant"
