"""Compute the values of a result again from its rows, so that the core can explain it, and compare both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragas_retrieval_metrics.gathered_rows import (
    EveryRowFailedError,
    RowWithoutJudgmentsError,
    gather_rows,
    score_gathered,
)
from ragas_retrieval_metrics.metric import rules_for
from retrieval_metrics.integration_api import warn
from retrieval_metrics.integration_api.batches import score_run

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import retrieval_metrics as rm
    from ragas_retrieval_metrics.gathered_rows import GatheredRows
    from ragas_retrieval_metrics.metric_names import MetricName, OnUnjudged
    from ragas_retrieval_metrics.references import References
    from ragas_retrieval_metrics.result_rows import ScoredRow
    from retrieval_metrics.types import BoolArray, Counts, FloatArray, Scores

# The largest difference between a value of the result and the value computed again: a text file may have rounded it.
TOLERANCE = 1e-9


def recompute_scores(
    rows: Sequence[ScoredRow], columns: Mapping[str, MetricName], references: References | None
) -> Scores | None:
    """Return the scores of a result with the run from which they were computed; None if the rows do not have it."""
    compared_by = {name.by for name in columns.values()}
    if len(compared_by) > 1 or not _have_rankings_and_judgments(rows, references):
        return None
    unjudged_options: set[OnUnjudged] = {name.on_unjudged for name in columns.values()}
    rules = rules_for(unjudged_options.pop() if len(unjudged_options) == 1 else "nan")
    metrics = [name.metric for name in columns.values()]
    try:
        gathered = gather_rows([row.row for row in rows], compared_by.pop(), references)
        gathered = gathered.with_unknown_judgments(_queries_without_judgments(gathered, rows))
        lost_queries = [query for query, row in zip(gathered.run, rows, strict=True) if row.is_lost]
        gathered = gathered.with_failed(_find_errors(gathered, lost_queries, metrics))

        def score_rows(qrels: rm.Qrels, run: rm.RetrievedRun) -> Scores:
            return score_run(qrels, run, metrics, rules, gathered.match)

        scores = score_gathered(gathered, metrics, score_rows)
    except (EveryRowFailedError, RowWithoutJudgmentsError):
        raise
    except (TypeError, ValueError) as error:
        _warn_not_explainable(str(error))
        return None
    failed = _failed_values(rows, columns)
    difference = _first_difference(rows, columns, scores, failed)
    if difference:
        _warn_not_explainable(difference)
        return None
    return _count_failures(scores, failed)


def _have_rankings_and_judgments(rows: Sequence[ScoredRow], references: References | None) -> bool:
    has_rankings = False
    has_judgments = False
    for scored_row in rows:
        row = scored_row.row
        if row.retrieved_context_ids is not None or row.retrieved_contexts is not None:
            has_rankings = True
        if row.reference_context_ids is not None or row.reference_contexts is not None:
            has_judgments = True
    if references is None:
        return has_rankings and has_judgments
    return has_rankings or bool(references.retrieved)


def _queries_without_judgments(gathered: GatheredRows, rows: Sequence[ScoredRow]) -> list[Any]:
    """Return the queries of lost rows of which nothing says whether something is relevant to them."""
    queries = []
    for query, row in zip(gathered.run, rows, strict=True):
        is_judged = query not in gathered.without_references
        if row.is_lost and (row.is_unknown or not is_judged):
            queries.append(query)
    return queries


def _find_errors(
    gathered: GatheredRows, lost_queries: Collection[Any], metrics: Sequence[rm.Metric]
) -> dict[Any, Exception]:
    """Return the error of each row without values, if it can be found."""
    if not lost_queries:
        return {}
    errors = {**gathered.refusals(metrics, lost_queries), **gathered.run.errors}
    unknown_error = RuntimeError("ragas has no value for it; see its output or log for the reason")
    return {query: errors.get(query, unknown_error) for query in lost_queries}


def _failed_values(rows: Sequence[ScoredRow], columns: Mapping[str, MetricName]) -> BoolArray:
    """Return which values failed. Shape (rows, columns)."""
    failed = np.zeros((len(rows), len(columns)), dtype=bool)
    for index, column in enumerate(columns):
        failed[:, index] = [row.scores[column] is None for row in rows]
    return failed


def _result_values(rows: Sequence[ScoredRow], columns: Mapping[str, MetricName]) -> FloatArray:
    """Return the values of the result, NaN where a metric failed. Shape (rows, columns)."""
    values = np.full((len(rows), len(columns)), np.nan)
    for column_index, column in enumerate(columns):
        for row_index, row in enumerate(rows):
            value = row.scores[column]
            if value is not None:
                values[row_index, column_index] = value
    return values


def _first_difference(
    rows: Sequence[ScoredRow], columns: Mapping[str, MetricName], scores: Scores, failed: BoolArray
) -> str:
    """Return a text about the first value that differs between the rows and the result; "" if they agree."""
    result = _result_values(rows, columns)
    computed = scores.values
    # For a metric with on_unjudged="zero" among others, the result has 0 where the core has no value.
    zero_if_undefined = np.array([name.on_unjudged == "zero" for name in columns.values()])
    is_close = np.abs(result - computed) <= TOLERANCE
    is_undefined_in_both = np.isnan(result) & np.isnan(computed)
    is_zero_for_undefined = np.isnan(computed) & (result == 0) & zero_if_undefined
    agrees: BoolArray = is_close | is_undefined_in_both | is_zero_for_undefined | failed
    differences = np.argwhere(np.logical_not(agrees))
    if not len(differences):
        return ""
    row_index, column_index = differences[0].tolist()
    return (
        f"{list(columns)[column_index]} of {scores.queries[row_index]!r} is {result[row_index, column_index]:.4g} in "
        f"the result and {computed[row_index, column_index]:.4g} by the rows"
    )


def _count_failures(scores: Scores, failed: BoolArray) -> Scores:
    """Return the scores with 0 where a single metric of a row failed, and with these rows counted."""
    origin = scores.require_origin("read")
    judged = origin.judged
    has_failure = failed.any(axis=1)
    queries_with_errors = set(getattr(origin.run, "errors", {}))
    queries_with_errors.update(query for query, row in zip(scores.queries, failed, strict=True) if row.any())
    is_empty = (judged.n_retrieved == 0) & (judged.n_relevant() > 0)
    empty_queries = {query for query, empty in zip(scores.queries, is_empty.tolist(), strict=True) if empty}
    counts = {
        **scores.counts,
        "failed": len(queries_with_errors),
        "missing": len(queries_with_errors | empty_queries),
    }
    # Rows in which every metric failed were scored as failed already.
    is_partial = has_failure & np.logical_not(failed.all(axis=1))
    values: FloatArray = np.where(failed & is_partial[:, None], 0.0, scores.values)
    return replace(scores.with_values(values), counts=cast("Counts", counts))


def _warn_not_explainable(reason: str) -> None:
    warn(
        f"the values computed from the rows differ from the result, so it cannot be explained: {reason}. If the "
        "metrics had qrels=, pass it here too",
        host="ragas",
    )
