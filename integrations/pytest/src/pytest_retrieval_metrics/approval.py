"""Decide what `--retrieval-update` may store, store it, and describe the changes."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from pytest_retrieval_metrics.baseline import write
from pytest_retrieval_metrics.best import forget_best, keep_best
from pytest_retrieval_metrics.failure import fitting, named, texts_of
from pytest_retrieval_metrics.gates import NOW, Verdict, losers, p_of_drop, winners
from retrieval_metrics.adapting.printing import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_retrieval_metrics.baseline import Baseline
    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation

HINT = "the baseline was not replaced; --retrieval-accept-worse replaces it"
STAYS = "the baseline was not replaced: nothing is stored below its floor, or where the retriever failed"


def approved(
    evaluation: Evaluation, verdicts: Sequence[Verdict], metrics: Iterable[str], settings: Settings
) -> tuple[list[Verdict], str]:
    """Return the verdicts before a baseline is written, and why it may not be; an empty text if it may.

    It may not be written if retrieval failed for a query or is below a floor, or if it is significantly worse, unless
    that was accepted.
    """
    failed, found = evaluation.counts["failed"], list(verdicts)
    if failed:
        figures = f"the retriever failed for {failed} of {numbers.queries(evaluation.counts['queries'])}"
        found.insert(0, Verdict(metric=next(iter(metrics)), outcome="not stored", figures=figures))
    refused = {"below the floor", "not stored"} | (set() if settings.accept_worse else {"worse"})
    if outcomes := refused & {verdict.outcome for verdict in found}:
        left = HINT if outcomes == {"worse"} else STAYS
        return [verdict for verdict in found if verdict.outcome in {*refused, "passed"}], left
    compared_to = {verdict.metric: verdict for verdict in found if verdict.difference is not None}
    return [
        replace(
            compared_to.get(metric, Verdict(metric=metric, outcome="stored")), outcome="stored", said="", fails_at=inf
        )
        for metric in metrics
    ], ""


def store(
    baseline: Baseline,
    evaluation: Evaluation,
    comparison: Comparison | None,
    labels: Mapping[str, str | int],
    *,
    alpha: float,
    show: int,
) -> list[str]:
    """Write a baseline, and return lines on what it replaces.

    Args:
        baseline: The baseline until now.
        evaluation: The evaluation.
        comparison: The comparison of the two, if they can be compared.
        labels: The test, the name of the check, and its repeats.
        alpha: The accepted rate of false alarms of the check.
        show: How many queries are named in each direction.
    """
    if baseline.known is None:
        forget_best(baseline.path)
    elif comparison is None or not all(each.identical for each in comparison.differences):
        keep_best(evaluation, baseline, alpha)
    written = write(baseline.path, evaluation, labels)
    if baseline.known is None:
        return [f"{baseline.where}: new"]
    if comparison is None:
        return [f"{baseline.where}: replaced; nothing of it could be compared"]
    return _changes(baseline.where, comparison, show) if written else []


def _changes(where: str, comparison: Comparison, show: int) -> list[str]:
    """Return lines on how a new baseline differs from the one it replaces: old and new means, and changed queries.

    Args:
        where: The file.
        comparison: The new evaluation compared with the baseline.
        show: How many queries are named in each direction.
    """
    lines = [where, *(f"  {note}" for note in comparison.notes)]
    texts = texts_of(comparison.evaluations[NOW])
    before, now = (comparison.evaluations[name] for name in (comparison.baseline or "", NOW))
    for each in comparison.differences:
        means = numbers.change(before.means[each.metric], now.means[each.metric])
        lines.append(
            f"  {each.metric} {means} (p {numbers.p_value(p_of_drop(each))}): {len(losers(each))} lost, "
            f"{len(winners(each))} won of {numbers.queries(each.n)}"
        )
    moved = next((each for each in comparison.differences if not each.identical), None)
    if moved is not None:
        values = now.per_query[moved.metric]
        for how, found in (("lost", losers(moved)), ("won", winners(moved))):
            blocks = (
                [f"    {how} {named(query, texts)}: {numbers.change(values[query] - change, values[query])}"]
                for query, change in found[:show]
            )
            lines += fitting(blocks, len(found), how, None)
    return lines
