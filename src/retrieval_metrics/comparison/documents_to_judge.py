"""How much of each system is judged, and which documents to judge next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.comparison.difference_bounds import ToJudge
from retrieval_metrics.comparison.judged_coverage import JudgedCoverage
from retrieval_metrics.comparison.partly_judged import PURPOSE, largest_cutoff, open_queries, score_completions
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.metrics.base.score import score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.comparison.partly_judged import PartlyJudgedQuery
    from retrieval_metrics.evaluation.scores import Scores


def measure_judged_coverage(scores: Mapping[str, Scores], metrics: Sequence[Metric]) -> JudgedCoverage | None:
    """Return how much of each system's first documents is judged; None if that is unknown or meaningless."""
    for system_scores in scores.values():
        origin = system_scores.origin
        if origin is None or not origin.judged.is_by_id or origin.judged.qrels.has_pieces:
            return None
    k = largest_cutoff(metrics)
    judged_metric = Metric.parse(f"judged@{k}")
    shares = {}
    for system, system_scores in scores.items():
        judged = system_scores.require_origin("looked into").judged
        values = score(judged, judged_metric, system_scores.rules).values[system_scores.positions]
        defined = values[~np.isnan(values)]
        shares[system] = float(defined.mean()) if len(defined) else float("nan")
    first = next(iter(scores.values())).require_origin("looked into")
    return JudgedCoverage(k, shares, bool((first.judged.qrels.document_grade <= 0).any()))


def rank_documents_to_judge(
    scores: Mapping[str, Scores], metrics: Sequence[Metric], pairs: Sequence[tuple[str, str]], n: int
) -> list[ToJudge]:
    """Return the n unjudged documents, one at a time, whose grade would move a difference most; see `Comparison`."""
    k = largest_cutoff(metrics)
    qrels = next(iter(scores.values())).require_origin(PURPOSE).judged.qrels
    queries = open_queries(scores, k)
    extreme_grades = [max(qrels.largest_grade, 1.0)]
    if not all(metric.definition.higher_is_better for metric in metrics):
        extreme_grades.append(-1.0)
    completions = [(partly_judged, _single_grades(partly_judged, extreme_grades)) for partly_judged in queries]
    values = score_completions(scores, metrics, completions)
    n_queries = len(next(iter(scores.values())).queries)
    candidates = []
    start = 0
    for partly_judged in queries:
        n_documents = len(partly_judged.documents)
        rows = slice(start, start + 1 + n_documents * len(extreme_grades))
        start = rows.stop
        effects = np.zeros(n_documents)
        for system, baseline in pairs:
            difference = np.nan_to_num(values[system][rows] - values[baseline][rows])
            change = np.abs(difference[1:] - difference[0]).max(axis=1)
            effects = np.maximum(effects, change.reshape(len(extreme_grades), -1).max(axis=0))
        for document, effect in zip(partly_judged.documents, effects.tolist(), strict=True):
            ranks = partly_judged.ranks[document]
            candidates.append(ToJudge(partly_judged.query, document, float(effect) / n_queries, ranks))
    return sorted(candidates, key=lambda candidate: -candidate.effect)[:n]


def _single_grades(partly_judged: PartlyJudgedQuery, grades: Sequence[float]) -> list[dict[Any, float]]:
    """Return the judgments as they are, then with each grade of each single document."""
    completions: list[dict[Any, float]] = [{}]
    for grade in grades:
        completions += [{document: grade} for document in partly_judged.documents]
    return completions
