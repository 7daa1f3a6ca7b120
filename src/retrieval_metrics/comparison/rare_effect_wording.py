"""Write the sentences about rare effects: large changes of few queries, which the compared queries may have missed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.comparison.conclusions import Conclusion
    from retrieval_metrics.statistics.rare_changes import RareChange


def format_rare_effect(
    n: int, max_difference: float, rare: RareChange, *, query_change: str = "differ", mean_change: str = "changing"
) -> str:
    """Return which rare effects so many queries may have missed, as a statement without the full stop.

    Args:
        n: The number of queries.
        max_difference: The largest possible difference in one query.
        rare: The share of all queries that may be affected, and the effect on the mean.
        query_change: What an affected query may do, such as `be worse`.
        mean_change: What that does to the mean, such as `lowering`.
    """
    return (
        f"rare effects may be missed with {numbers.format_query_count(n)}: "
        f"up to {100 * rare.share:.2g}% of all queries could {query_change} by {max_difference:.3g}, "
        f"{mean_change} the mean by {rare.mean_shift:.2g}"
    )


def rare_effect_note(conclusion: Conclusion) -> str:
    """Return which rare effects the queries of a conclusion may have missed, in a sentence."""
    if not conclusion.rare_effect_matters:
        return ""
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
    effect = format_rare_effect(
        conclusion.n,
        conclusion.details.max_difference,
        conclusion.details.rare_effect,
        query_change=query_change,
        mean_change=mean_change,
    )
    return f"{effect[0].upper()}{effect[1:]}."


def rare_effect_notes(conclusions: Sequence[Conclusion]) -> list[str]:
    """Return the rare effects that conclusions may have missed, each once; those of some metrics name them."""
    metrics_by_note: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for conclusion in conclusions:
        if conclusion.rare_effect_note:
            metrics_by_note[conclusion.rare_effect_note][conclusion.metric] = None
    n_metrics = len({conclusion.metric for conclusion in conclusions})
    notes = []
    for note, metrics in metrics_by_note.items():
        if len(metrics) == n_metrics:
            notes.append(note)
        else:
            notes.append(f"In {numbers.join_names(list(metrics))}, {note[0].lower()}{note[1:]}")
    return notes
