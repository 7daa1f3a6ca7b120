"""Cut-offs by documents that hide what the later searches of an agent found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.inputs.retrieved_run import RetrievedRun

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.definition.metric import Metric


def hidden_calls(metrics: Iterable[Metric], run: object) -> str:
    """Return a sentence if one call fills a cut-off, so that the later ones cannot show in a metric; else nothing."""
    calls = run.calls if isinstance(run, RetrievedRun) else {}
    for k, metric in [(one.k, one) for one in metrics if isinstance(one.k, int)]:
        filled = [query for query, found in calls.items() if len(found) > k and found[0] == found[k - 1] != found[-1]]
        if filled:
            return (
                f"for {len(filled)} of {len(calls)} queries, for example {filled[0]!r}, one call alone fills the first "
                f"{k}, so {metric} sees nothing of the later calls; evaluate {metric.name}@ncalls, such as "
                f"{metric.name}@3calls, or the interleaved view"
            )
    return ""
