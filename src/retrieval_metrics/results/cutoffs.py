"""A metric over its cut-off: what would a longer, or a shorter, list of results be worth?"""

from __future__ import annotations

from math import fsum, nan
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.definition.metric import Metric
from retrieval_metrics.scoring.score import score_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.evaluation.evaluation import Evaluation

EVERY_CUTOFF = 20
"""Up to here every k is taken; beyond, steps grow with k, as the metrics change ever less."""
STEPS_PER_DOUBLING = 8
FEWEST = 10


def over_cutoffs(
    evaluation: Evaluation, metric: str | Metric, cutoffs: Sequence[int] | None = None
) -> dict[int, float]:
    """Return the mean of a metric at several cut-offs; see `Evaluation.over_cutoffs`."""
    judged, _ = evaluation.source("scored at other cut-offs")
    chosen = metric if isinstance(metric, Metric) else Metric.parse(metric)
    if not chosen.definition.takes_cutoff:
        raise ValueError(f"{chosen} takes no cut-off; {chosen.definition.summary}")
    ks = usual_cutoffs([evaluation]) if cutoffs is None else [positive_integer(k, "a cut-off") for k in cutoffs]
    kept = np.array([evaluation.position(query) for query in evaluation.queries], dtype=np.int64)
    means = {}
    for k in ks:
        at_k = Metric(chosen.name, k, chosen.parameters)
        values = score_metric(judged, at_k, evaluation.rules)[kept]
        defined = values[~np.isnan(values)].tolist()
        means[k] = fsum(defined) / len(defined) if defined else nan
    return means


def usual_cutoffs(evaluations: Sequence[Evaluation]) -> list[int]:
    """Return 1, 2, 3 and so on, to twice the largest cut-off of the metrics, no further than the longest ranking."""
    asked = max((metric.k for one in evaluations for metric in one.metrics if isinstance(metric.k, int)), default=0)
    longest = max(int(one.source("scored at other cut-offs")[0].n_retrieved.max(initial=1)) for one in evaluations)
    last = max(1, min(longest, max(2 * asked, FEWEST)))
    ks = list(range(1, min(last, EVERY_CUTOFF) + 1))
    while ks[-1] < last:
        ks.append(min(last, max(ks[-1] + 1, round(ks[-1] * 2 ** (1 / STEPS_PER_DOUBLING)))))
    return ks
