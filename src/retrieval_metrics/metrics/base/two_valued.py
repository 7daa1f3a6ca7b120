"""Find the queries for which a metric can only be 0 or 1, whatever is retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, Cut
    from retrieval_metrics.matching.judged_run import JudgedRun


def needs_one_document(judged: JudgedRun, *, rel: float | None = None, **_: object) -> BoolArray:
    """Return which queries need one document, or group: it is found or not."""
    needs_one: BoolArray = judged.n_relevant(rel) == 1
    return needs_one


def is_first_only(
    judged: JudgedRun, *, k: Cut, rel: float | None = None, per: str = "query", **_: object
) -> BoolArray | None:
    """Return all queries at a cut-off of one document: it is relevant or not."""
    if k is None or isinstance(k, np.ndarray) or k != 1:
        return None
    if per == "group":
        return needs_one_document(judged, rel=rel)
    return np.ones(judged.n_queries, bool)


def needs_one_at_first_rank(
    judged: JudgedRun, *, k: Cut, rel: float | None = None, per: str = "query", **_: object
) -> BoolArray | None:
    """Return the queries that need one document, at a cut-off of one; alternatives ranked separately are several."""
    if per == "group" or is_first_only(judged, k=k) is None:
        return None
    return needs_one_document(judged, rel=rel)
