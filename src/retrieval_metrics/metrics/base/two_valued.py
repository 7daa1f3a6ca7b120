"""Find the queries for which a metric can only be 0 or 1, whatever is retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, Cut
    from retrieval_metrics.matching.judged_run import JudgedRun


def select_single_relevant(judged: JudgedRun, *, rel: float | None = None, **_: object) -> BoolArray:
    """Return which queries need a single document or group, which is found or not."""
    needs_one: BoolArray = judged.n_relevant(rel) == 1
    return needs_one


def select_all_at_cutoff_1(
    judged: JudgedRun, *, k: Cut, rel: float | None = None, per: str = "query", **_: object
) -> BoolArray | None:
    """Return all queries if the cutoff is one document, which is relevant or not; None for other cutoffs."""
    if k is None or isinstance(k, np.ndarray) or k != 1:
        return None
    if per == "group":
        return select_single_relevant(judged, rel=rel)
    return np.ones(judged.n_queries, bool)


def select_single_relevant_at_cutoff_1(
    judged: JudgedRun, *, k: Cut, rel: float | None = None, per: str = "query", **_: object
) -> BoolArray | None:
    """Return the queries that need a single document if the cutoff is one document.

    Return None for other cutoffs, and if alternatives are ranked separately, because each then counts by itself.
    """
    if per == "group" or select_all_at_cutoff_1(judged, k=k) is None:
        return None
    return select_single_relevant(judged, rel=rel)
