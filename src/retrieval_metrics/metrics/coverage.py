"""Coverage: how much of the needed text was retrieved?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.definition import Definition

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray
    from retrieval_metrics.matching.judged_run import JudgedRun


def score(judged: JudgedRun, *, k: Cut) -> FloatArray:
    """Return the share of the relevant characters that the first `k` items cover, shape (queries,).

        coverage@k = c / n

    where n is the number of characters of the relevant spans and texts, and c how many of them the first k items
    contain together, each counted once. For groups of alternatives, both are those of the choice with the largest
    value. White space does not count if the sources are known. Range [0, 1]. A query without retrieved items scores 0.
    Undefined (NaN) if something relevant is not a `Span` or `Text`, or an item has no offsets.
    """
    if judged.covered is None:
        return np.full(judged.n_queries, np.nan)
    covered, total = judged.covered.count_at_cutoff(k)
    return covered / total


DEFINITION = Definition(
    name="coverage",
    score=score,
    summary="characters of the relevant spans among the first k / all of them",
    plain_summary="share of the relevant text that is in {first}",
    only_cuts_ranking=True,
    needs_relevant=False,
    needs_places=True,
)
