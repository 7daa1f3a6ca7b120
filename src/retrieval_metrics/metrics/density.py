"""Density: how much of the retrieved text is needed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.metrics.base.definition import Definition

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import Cut, FloatArray
    from retrieval_metrics.matching.judged_run import JudgedRun


def score(judged: JudgedRun, *, k: Cut) -> FloatArray:
    """Return the share of the characters of the first `k` items that are relevant, shape (queries,).

        density@k = c / m

    where c is the number of characters of the relevant spans and texts that the first k items contain together, each
    counted once, as in coverage@k, and m the number of all characters of these items. Text that is retrieved twice
    counts twice in m and once in c. White space does not count if the sources are known. Range [0, 1]. A query without
    retrieved items scores 0. Undefined (NaN) if coverage@k is.
    """
    if judged.covered is None:
        return np.full(judged.n_queries, np.nan)
    covered, _ = judged.covered.count_at_cutoff(k)
    # A text is measured in words and a span in characters, so a query with both may need more than was retrieved.
    return np.minimum(covered / np.maximum(judged.covered.lengths(k), 1), 1.0)


DEFINITION = Definition(
    name="density",
    score=score,
    summary="characters of the relevant spans among the first k / all characters of the first k",
    plain_summary="share of the text of {first} that is relevant",
    only_cuts_ranking=True,
    needs_relevant=False,
    needs_places=True,
)
