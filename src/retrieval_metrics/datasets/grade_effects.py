"""Compute how much the grade of a document could change a difference between systems."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from retrieval_metrics._internal.warn import RetrievalWarning
from retrieval_metrics.comparison.change_bounds import document_weights, require_known_bounds
from retrieval_metrics.comparison.compare import compare
from retrieval_metrics.comparison.distinct_ranking import make_distinct_ranking
from retrieval_metrics.comparison.documents_to_judge import rank_documents_to_judge
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.matching.ranking_order import OrderedRankings
from retrieval_metrics.metrics.base.rules import STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.metrics.base.metric import Metric


# More documents than any pool has, where a function asks how many to return.
ALL_DOCUMENTS = 10**9


def compute_effects(
    runs: dict[str, Any], questions: Any, texts: Mapping[Any, str], metric: Metric, match: Any
) -> dict[tuple[Any, Any], float]:
    """Return by query and document how much the highest grade would change a difference between two systems.

    Raises:
        ValueError: If there is a single system, or nothing is judged and the change in the metric has no known bounds.
    """
    if len(runs) < 2:
        raise ValueError("the effect of a grade on a difference needs two systems")
    if not isinstance(questions, Questions):
        return _compute_effects_unjudged(runs, texts, metric, match)
    with warnings.catch_warnings():
        # Warnings about missing judgments would not help: these are what the pool is for.
        warnings.simplefilter("ignore", RetrievalWarning)
        comparison = compare(questions, runs, metric, match=match, resamples=1)
    # Of all systems, also of those that are not comparable yet, because nothing they retrieved is judged.
    unjudged = rank_documents_to_judge(comparison.scores, comparison.metrics, comparison.differences, ALL_DOCUMENTS)
    return {(document.query, document.document): document.effect for document in unjudged}


def _compute_effects_unjudged(
    runs: dict[str, Any], texts: Mapping[Any, str], metric: Metric, match: Any
) -> dict[tuple[Any, Any], float]:
    """Return how much each document would change a difference if it alone were relevant, as nothing is judged."""
    require_known_bounds(metric)
    k = metric.k if isinstance(metric.k, int) else None
    weights: dict[tuple[Any, Any], dict[str, float]] = {}
    for system, run in runs.items():
        rankings = OrderedRankings(run, match, STANDARD.order)
        for query, ranking in rankings.iterate(texts):
            documents = make_distinct_ranking(rankings, ranking, query).documents
            for document, weight in document_weights(documents, metric.name, k).items():
                weight_by_system = weights.setdefault((query, document), dict.fromkeys(runs, 0.0))
                weight_by_system[system] = weight
    effects = {}
    for key, weight_by_system in weights.items():
        largest_difference = max(weight_by_system.values()) - min(weight_by_system.values())
        effects[key] = largest_difference / len(texts)
    return effects
