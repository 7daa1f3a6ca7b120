"""Read the values of other metrics beside those of retrieval: their bounds, and the rows without a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from retrieval_metrics.integration_api import warn

if TYPE_CHECKING:
    from ragas_retrieval_metrics.result_rows import ScoredRow

# What a row without a value scores.
Failed: TypeAlias = Literal["zero", "drop"]

# The metrics of ragas 0.4 whose values are from 0 to 1, by name. Similarities of embeddings can be negative.
UNIT_METRICS = frozenset(
    {
        "agent_goal_accuracy",
        "bleu_score",
        "chrf_score",
        "context_entity_recall",
        "context_precision",
        "context_recall",
        "context_utilization",
        "exact_match",
        "factual_correctness",
        "faithful_rate",
        "faithfulness",
        "faithfulness_with_hhem",
        "id_based_context_precision",
        "id_based_context_recall",
        "llm_context_precision_with_reference",
        "llm_context_precision_without_reference",
        "llm_sql_equivalence_with_reference",
        "noise_sensitivity",
        "non_llm_context_precision_with_reference",
        "non_llm_context_recall",
        "non_llm_string_similarity",
        "nv_accuracy",
        "nv_context_relevance",
        "nv_response_groundedness",
        "relevance_rate",
        "rouge_score",
        "string_present",
        "tool_call_accuracy",
        "tool_call_f1",
        "topic_adherence",
    }
)


def read_other_scores(
    rows: Sequence[ScoredRow], queries: Sequence[Any], failed: Failed
) -> dict[str, dict[Any, float | None]]:
    """Return the values of other metrics, by metric and query, and warn of rows without one."""
    scores: dict[str, dict[Any, float | None]] = {}
    for row in rows:
        for metric in row.other_scores:
            scores.setdefault(metric, {})
    for metric, values in scores.items():
        n_failed = 0
        for query, row in zip(queries, rows, strict=True):
            value = row.other_scores.get(metric)
            if value is None or isnan(value):
                n_failed += 1
                value = 0.0 if failed == "zero" else None
            values[query] = value
        if n_failed:
            _warn_about_missing_values(metric, n_failed, len(rows), failed)
    return scores


def _warn_about_missing_values(metric: str, n_failed: int, n_rows: int, failed: Failed) -> None:
    treatment = "they are left out of its mean, as in ragas; failed='zero' scores them 0"
    if failed == "zero":
        treatment = "they score 0 here, although ragas leaves them out of its mean"
    warn(f"{metric}: {n_failed} of {n_rows} rows have no value; {treatment}", host="ragas")


def find_bounds(
    scores: Mapping[str, Mapping[Any, float | None]],
    requested: Collection[str] | Mapping[str, tuple[float | None, float | None]] | None,
) -> dict[str, tuple[float | None, float | None]]:
    """Return the bounds of other metrics: those passed, or 0 and 1 for metrics of ragas whose values are so.

    A metric of another origin may have the name of one of ragas; values outside 0 to 1 show that it is one.
    """
    if isinstance(requested, Mapping):
        return dict(requested)
    bounds: dict[str, tuple[float | None, float | None]] = {}
    for metric, values in scores.items():
        if metric.partition("(")[0] not in UNIT_METRICS:  # ragas writes the mode behind: rouge_score(mode=fmeasure)
            continue
        numbers = [value for value in values.values() if value is not None]
        if all(0 <= number <= 1 for number in numbers):
            bounds[metric] = (0.0, 1.0)
    return bounds
