"""Strata by where a model's grades say that systems differ: the queries that people should grade first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparison.compare import evaluate_system
from retrieval_metrics.datasets.labels import Labels
from retrieval_metrics.datasets.sample import MIN_PER_STRATUM
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.metrics.base.metric import as_metrics, with_relevance_threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels, QuestionsOrQrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.metrics.base.metric import Metric

DIFFER_MOST = "differ most"
OTHERS = "others"
# The first stratum has at least one query of 8 ...
MIN_SHARE_DIVISOR = 8
# ... and at most one of 2.
MAX_SHARE_DIVISOR = 2
# The largest part of the labels for the first stratum.
MAX_SHARE_OF_LABELS = 0.6


def stratify_by_disagreement(
    queries: Sequence[Any],
    graded: Labels | QuestionsOrQrels,
    runs: Mapping[str, RunMapping | Run],
    metrics: str | Metric | Iterable[str | Metric],
) -> tuple[dict[Any, str], dict[str, float]]:
    """Return two strata, the queries on which systems differ most by these grades and the others, and their shares."""
    if len(runs) < 2:
        raise ValueError(f"only two or more systems can differ, got {list(runs)}")
    resolved_metrics = as_metrics(metrics)
    qrels = as_qrels(graded.qrels if isinstance(graded, Labels) else graded)
    differences = _largest_differences(queries, qrels, runs, resolved_metrics)
    if not differences.any():
        names = map(str, with_relevance_threshold(resolved_metrics, qrels.relevant_from))
        raise ValueError(
            f"by these grades the systems differ on none of the {len(queries)} queries in "
            f"{', '.join(names)}; draw without them: "
            "sample(n)"
        )
    first = choose_first_stratum(np.sort(differences)[::-1])
    in_first = np.argsort(-differences, kind="stable")[: first.size]
    strata = dict.fromkeys(queries, OTHERS)
    strata.update({queries[position]: DIFFER_MOST for position in in_first.tolist()})
    return strata, {DIFFER_MOST: first.share_of_labels, OTHERS: 1 - first.share_of_labels}


def _largest_differences(
    queries: Sequence[Any], qrels: Qrels, runs: Mapping[str, RunMapping | Run], metrics: Sequence[Metric]
) -> FloatArray:
    """Return for each query the largest difference of two systems in any metric; 0 where it is undefined."""
    values_by_system = []
    for name, run in runs.items():
        scores = evaluate_system(name, partial(evaluate, qrels, run, metrics, clusters=None)).scores
        values_by_metric = []
        for metric in metrics:
            value_by_query = scores.per_query[str(metric)]
            values_by_metric.append([value_by_query.get(query, np.nan) for query in queries])
        values_by_system.append(values_by_metric)
    values = np.array(values_by_system)
    differences: FloatArray = np.nan_to_num(values.max(axis=0) - values.min(axis=0)).max(axis=0)
    return differences


@dataclass(frozen=True, slots=True)
class FirstStratum:
    """The queries on which systems differ most.

    Attributes:
        size: How many queries it has.
        share_of_labels: The part of the labels that it gets.
    """

    size: int
    share_of_labels: float


def choose_first_stratum(differences: FloatArray) -> FirstStratum:
    """Choose the size of the first stratum and its part of the labels, from differences in falling order."""
    n_queries = len(differences)
    min_size = max(MIN_PER_STRATUM, n_queries // MIN_SHARE_DIVISOR)
    max_size = max(MIN_PER_STRATUM, n_queries // MAX_SHARE_DIVISOR)
    sizes = np.arange(min_size, max_size + 1)
    sums_of_squares = np.cumsum(differences**2)
    first = np.sqrt(sizes * sums_of_squares[sizes - 1])
    squares_of_others = np.maximum(sums_of_squares[-1] - sums_of_squares[sizes - 1], 0.0)
    second = np.sqrt((n_queries - sizes) * squares_of_others)
    best = int(np.argmin(first + second))
    share = float(first[best] / (first[best] + second[best]))
    return FirstStratum(size=int(sizes[best]), share_of_labels=min(MAX_SHARE_OF_LABELS, share))
