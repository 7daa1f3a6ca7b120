"""Divide queries into two strata, by how far systems differ on them according to given grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparison.system_warnings import repeat_warnings_once
from retrieval_metrics.datasets.labels import Labels
from retrieval_metrics.datasets.sample import MIN_PER_STRATUM
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.metrics.base.metric import as_metrics, with_relevance_threshold

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import Qrels, QuestionsOrQrels
    from retrieval_metrics.inputs.run import Run
    from retrieval_metrics.metrics.base.metric import Metric

# The names of the two strata.
DIFFER_MOST = "differ most"
OTHERS = "others"

# The first stratum has at least an eighth of the queries, and at most half of them.
MIN_SHARE_DIVISOR = 8
MAX_SHARE_DIVISOR = 2

# The largest part of the labels that the first stratum can get.
MAX_SHARE_OF_LABELS = 0.6


@dataclass(frozen=True, slots=True)
class DisagreementStrata:
    """Two strata of queries, and how labels are divided between them.

    Attributes:
        stratum_by_query: The stratum of each query.
        share_of_labels: The part of the labels that each stratum gets.
    """

    stratum_by_query: dict[Any, str]
    share_of_labels: dict[str, float]


def stratify_by_disagreement(
    queries: Sequence[Any],
    graded: Labels | QuestionsOrQrels,
    runs: Mapping[str, RunMapping | Run],
    metrics: str | Metric | Iterable[str | Metric],
) -> DisagreementStrata:
    """Divide queries into those on which systems differ most by given grades, and the others.

    Raises:
        ValueError: If there are fewer than two systems, or they do not differ on any query.
    """
    if len(runs) < 2:
        raise ValueError(f"only two or more systems can differ, got {list(runs)}")
    resolved_metrics = as_metrics(metrics)
    qrels = as_qrels(graded.qrels if isinstance(graded, Labels) else graded)
    differences = _largest_differences(queries, qrels, runs, resolved_metrics)
    if not differences.any():
        names = ", ".join(map(str, with_relevance_threshold(resolved_metrics, qrels.relevant_from)))
        raise ValueError(
            f"by these grades the systems differ on none of the {len(queries)} queries in {names}; draw without them: "
            "sample(n)"
        )
    first_stratum = choose_first_stratum(np.sort(differences)[::-1])
    positions_in_first = np.argsort(-differences, kind="stable")[: first_stratum.size]
    stratum_by_query = dict.fromkeys(queries, OTHERS)
    for position in positions_in_first.tolist():
        stratum_by_query[queries[position]] = DIFFER_MOST
    share_of_labels = first_stratum.share_of_labels
    return DisagreementStrata(stratum_by_query, {DIFFER_MOST: share_of_labels, OTHERS: 1 - share_of_labels})


def _largest_differences(
    queries: Sequence[Any], qrels: Qrels, runs: Mapping[str, RunMapping | Run], metrics: Sequence[Metric]
) -> FloatArray:
    """Return for each query the largest difference of two systems in any metric; 0 where it is undefined."""
    values_by_system = []
    with repeat_warnings_once(len(runs)) as system_warnings:
        for name, run in runs.items():
            with system_warnings.record(name, f"while evaluating the system {name!r}"):
                scores = evaluate(qrels, run, metrics, clusters=None).scores
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
    # Neyman's allocation: labels in proportion to the size of a stratum times the spread of its differences.
    weight_of_first = np.sqrt(sizes * sums_of_squares[sizes - 1])
    squares_of_others = np.maximum(sums_of_squares[-1] - sums_of_squares[sizes - 1], 0.0)
    weight_of_others = np.sqrt((n_queries - sizes) * squares_of_others)
    best = int(np.argmin(weight_of_first + weight_of_others))
    share = float(weight_of_first[best] / (weight_of_first[best] + weight_of_others[best]))
    return FirstStratum(size=int(sizes[best]), share_of_labels=min(MAX_SHARE_OF_LABELS, share))
