"""Tell from queries that are evaluated one by one that no ranking reaches a cutoff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_metrics.integration_api import warn
from retrieval_metrics.integration_api.text import depth_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics import Metric

# One or two short rankings may be chance, such as those of a score threshold.
N_QUERIES = 3


class SingleQueries:
    """The lengths of the first rankings that an evaluator scored one by one."""

    def __init__(self) -> None:
        self._lengths: list[int] = []

    def add(self, n_retrieved: int, metrics: Sequence[Metric]) -> None:
        """Add a ranking, and warn at the third one, once, if none of them reaches the cutoff of some metric."""
        if len(self._lengths) >= N_QUERIES:
            return
        self._lengths.append(n_retrieved)
        if len(self._lengths) < N_QUERIES:
            return
        longest = max(self._lengths)
        notes = depth_notes(
            {
                "longest_ranking": longest,
                "rankings": N_QUERIES,
                "cut_rank": longest,
                "cut_rankings": self._lengths.count(longest),
            },
            metrics,
        )
        for note in notes:
            warn(f"in the first {N_QUERIES} queries, {note}", host="llama_index")
