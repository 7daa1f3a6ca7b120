"""Decide what `--retrieval-update` may store, and describe the changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_retrieval_metrics.failure import fitting, losers, named, texts_of, winners
from pytest_retrieval_metrics.gates import NOW, Verdict, p_of_drop
from retrieval_metrics.adapting.printing import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_retrieval_metrics.settings import Settings
    from retrieval_metrics import Comparison, Evaluation

HINT = "the baseline was not replaced; --retrieval-accept-worse replaces it"
STAYS = "the baseline was not replaced: nothing is stored below its floor, or where the retriever failed"


def approved(
    evaluation: Evaluation, verdicts: Sequence[Verdict], floors: Mapping[str, float | None], settings: Settings
) -> tuple[list[Verdict], bool]:
    """Return the verdicts before a baseline is written, and whether it may be written.

    It may not be written if retrieval failed for a query or is below a floor, or if it is significantly worse, unless
    that was accepted.
    """
    failed, first = evaluation.counts["failed"], next(iter(floors))
    found = list(verdicts)
    if failed:
        figures = f"the retriever failed for {failed} of {numbers.queries(evaluation.counts['queries'])}"
        found.insert(0, Verdict(metric=first, outcome="not stored", figures=figures))
    refused = {"below the floor", "not stored"} | (set() if settings.accept_worse else {"worse"})
    if any(verdict.outcome in refused for verdict in found):
        return [verdict for verdict in found if verdict.outcome in {*refused, "passed"}], False
    compared_to = {verdict.metric: verdict for verdict in found if verdict.difference is not None}
    stored = [
        Verdict(
            metric=metric,
            outcome="stored",
            figures=compared_to[metric].figures if metric in compared_to else "",
            difference=compared_to[metric].difference if metric in compared_to else None,
        )
        for metric in floors
    ]
    return stored, True


def stays(verdicts: Sequence[Verdict]) -> str:
    """Return the note that the baseline was not replaced, and how to replace it if that is possible."""
    return HINT if all(verdict.outcome in {"worse", "passed"} for verdict in verdicts) else STAYS


def changes(where: str, comparison: Comparison, show: int) -> list[str]:
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
