"""Write the sentences about rare effects: large changes of few queries, which the compared queries may have missed."""

from __future__ import annotations

from collections import defaultdict
from math import isnan
from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparison.conclusions import Conclusion
    from retrieval_metrics.statistics.rare_changes import RareChange

# A note that names more pairs than this is hard to read.
MAX_PAIRS = 4


def format_rare_effect(
    queries: str,
    max_difference: float,
    rare: RareChange,
    *,
    level: float,
    query_change: str = "differ",
    mean_change: str = "changing",
    has_interval: bool = True,
) -> str:
    """Return which rare effects a sample of queries may have missed, as a statement without the full stop.

    Args:
        queries: The number of queries, in words.
        max_difference: The largest possible difference in one query.
        rare: The share of all queries that may be affected, and the effect on the mean.
        level: The confidence level of that share.
        query_change: What an affected query may do, such as `be worse`.
        mean_change: What that does to the mean, such as `lowering`.
        has_interval: Whether there is an interval that could have covered them.
    """
    limit = "are not covered by the CI" if has_interval else "are not excluded"
    query_difference = numbers.format_rounded(max_difference, 3)
    mean_shift = numbers.format_rounded(rare.mean_shift, 2)
    return (
        f"effects too rare to occur in {queries} {limit}: "
        f"up to {100 * rare.share:.2g}% of all queries ({100 * level:g}% confidence) could "
        f"{query_change} by {query_difference}, {mean_change} the mean by {mean_shift}"
    )


def rare_effect_note(conclusion: Conclusion) -> str:
    """Return which rare effects the queries of a conclusion may have missed, in a sentence."""
    if not conclusion.rare_effect_matters:
        return ""
    if conclusion.same_rankings and conclusion.margin is None:
        return ""  # it is one system, as far as anybody can see, and nobody asks whether it is as good as itself
    higher_is_better = conclusion.details.higher_is_better
    if conclusion.may_be_within_margin or conclusion.kind == "better":
        query_change = "be worse"
        mean_change = "lowering" if higher_is_better else "raising"
    elif conclusion.kind == "worse":
        query_change = "be better"
        mean_change = "raising" if higher_is_better else "lowering"
    else:
        query_change = "differ"
        mean_change = "changing"
    rare = conclusion.details.rare_effect
    if conclusion.is_better_or_worse and conclusion.sample_only and rare.mean_shift < abs(conclusion.difference):
        # The difference is undone only because the affected queries also lack it.
        rare = rare.opposing(conclusion.difference)
    effect = format_rare_effect(
        _format_queries(conclusion),
        conclusion.details.max_difference,
        rare,
        level=1 - conclusion.details.alpha,
        query_change=query_change,
        mean_change=mean_change,
        has_interval=not isnan(conclusion.interval.low),
    )
    return f"{effect[0].upper()}{effect[1:]}{_consequence(conclusion)}."


def _format_queries(conclusion: Conclusion) -> str:
    """Return the number of queries of a conclusion, and of their clusters, which carry less information."""
    queries = numbers.format_query_count(conclusion.n)
    if conclusion.details.clusters is None:
        return queries
    return f"{queries} in {numbers.format_count(conclusion.details.n_units, 'cluster')}"


def _consequence(conclusion: Conclusion) -> str:
    """Return what a rare effect would do to the conclusion that it opposes; empty if it opposes none."""
    mean_shift = conclusion.details.rare_effect.mean_shift
    opposes_worse = conclusion.kind == "worse" and not conclusion.may_be_within_margin
    if conclusion.kind == "better" or opposes_worse:
        return ", which could undo the difference" if conclusion.sample_only else ", not enough to undo the difference"
    if conclusion.noninferiority == "noninferior" and conclusion.margin is not None and mean_shift < conclusion.margin:
        return ", not enough to exceed the margin"
    return ""


def rare_effect_notes(conclusions: Sequence[Conclusion]) -> list[str]:
    """Return the rare effects that conclusions may have missed, each once; those of some pairs or metrics name them."""
    names_pairs = _differ_between_pairs(conclusions)
    metrics_by_note_and_pairs: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for note, metric, pairs in _pairs_by_note_and_metric(conclusions):
        pair_names = _name_pairs(pairs) if names_pairs else ""
        metrics_by_note_and_pairs[note, pair_names][metric] = None
    n_metrics = len({conclusion.metric for conclusion in conclusions})
    notes = []
    for (note, pair_names), metrics in metrics_by_note_and_pairs.items():
        metric_names = "" if len(metrics) == n_metrics else numbers.join_names(list(metrics))
        notes.append(_add_scope(note, pair_names, metric_names))
    return notes


def _differ_between_pairs(conclusions: Sequence[Conclusion]) -> bool:
    """Return whether the notes on one metric differ between the pairs that have one."""
    notes_by_metric: defaultdict[str, set[str]] = defaultdict(set)
    for conclusion in conclusions:
        note = rare_effect_note(conclusion)
        if note:
            notes_by_metric[conclusion.metric].add(note)
    return any(len(notes) > 1 for notes in notes_by_metric.values())


def _pairs_by_note_and_metric(conclusions: Sequence[Conclusion]) -> list[tuple[str, str, list[str]]]:
    """Return each note with a metric and the pairs for which it holds in that metric."""
    pairs_by_key: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for conclusion in conclusions:
        note = rare_effect_note(conclusion)
        if note:
            pairs_by_key[note, conclusion.metric].append(f"{conclusion.system} - {conclusion.baseline}")
    return [(note, metric, pairs) for (note, metric), pairs in pairs_by_key.items()]


def _name_pairs(pairs: list[str]) -> str:
    return f"{len(pairs):,} pairs" if len(pairs) > MAX_PAIRS else numbers.join_names(pairs)


def _add_scope(note: str, pair_names: str, metric_names: str) -> str:
    """Return a note that begins with the pairs and metrics for which it holds; empty names mean all."""
    if not pair_names and not metric_names:
        return note
    rest = f"{note[0].lower()}{note[1:]}"
    if not pair_names:
        return f"In {metric_names}, {rest}"
    if not metric_names:
        return f"{pair_names}: {rest}"
    return f"{pair_names} in {metric_names}: {rest}"
