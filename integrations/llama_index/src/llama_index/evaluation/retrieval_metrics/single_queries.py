"""Tell from queries that are evaluated one by one that no ranking reaches a cutoff."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.integration_api import warn
from retrieval_metrics.integration_api.text import count_depths, depth_notes

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
        depths = count_depths(np.array(self._lengths), metrics)
        if depths["cut_rank"] < depths["longest_ranking"]:
            return  # a ranking reaches all cutoffs
        for note in depth_notes(depths, metrics):
            warn(f"in the first {N_QUERIES} queries, {note}", host="llama_index")
