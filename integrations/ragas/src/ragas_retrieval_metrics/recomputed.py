"""Compute a result of ragas again in one pass of the core, so that it can be explained."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import retrieval_metrics as rm
from ragas_retrieval_metrics.evaluating import rules_of
from ragas_retrieval_metrics.gathering import EveryRowFailedError, gather, scored
from retrieval_metrics.adapting.distributed import scored_run

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ragas_retrieval_metrics.gathering import Gathered
    from ragas_retrieval_metrics.names import Named, OnUnjudged
    from ragas_retrieval_metrics.reading import ScoredRow
    from ragas_retrieval_metrics.references import References
    from retrieval_metrics.types import BoolArray, Counts, FloatArray, Scores

SAME = 1e-9
"""The largest difference from the value computed again: a text file may have rounded it."""


def recomputed(rows: Sequence[ScoredRow], columns: Mapping[str, Named], references: References | None) -> Scores | None:
    """Return the scores of a result with the run from which they were computed; None if the rows do not have it.

    Args:
        rows: The rows of the result, in order, including missing ones.
        columns: The metrics.
        references: The judgments that are not in the rows.

    Raises:
        EveryRowFailedError: If every row failed.

    Warns:
        RetrievalWarning: If the values computed from the rows differ from the result.
    """
    by = {named.by for named in columns.values()}
    if len(by) > 1 or not _is_known(rows, references):
        return None
    unjudged: set[OnUnjudged] = {named.on_unjudged for named in columns.values()}
    rules = rules_of(unjudged.pop() if len(unjudged) == 1 else "nan")
    metrics = [named.metric for named in columns.values()]
    try:
        gathered = gather([row.row for row in rows], by.pop(), references)
        lost = [query for query, row in zip(gathered.run, rows, strict=True) if row.lost]
        gathered = gathered.with_failed(_errors(gathered, lost, metrics))
        scores = scored(gathered, metrics, lambda truth, run: scored_run(truth, run, metrics, rules, gathered.match))
    except EveryRowFailedError:
        raise
    except (TypeError, ValueError) as error:
        _warn(str(error))
        return None
    failed: BoolArray = np.array([[row.scores[column] is None for column in columns] for row in rows])
    if (difference := _difference(rows, columns, scores, failed)) is not None:
        _warn(difference)
        return None
    return _with_failures(scores, failed)


def _errors(gathered: Gathered, lost: Collection[Any], metrics: Sequence[rm.Metric]) -> dict[Any, Exception]:
    """Return the error of each row without values, if it can be found."""
    found = {**(gathered.refusals(metrics, lost) if lost else {}), **gathered.run.errors}
    unknown = RuntimeError("ragas has no value for it; see its output or log for the reason")
    return {query: found.get(query, unknown) for query in lost}


def _is_known(rows: Sequence[ScoredRow], references: References | None) -> bool:
    """Return whether the rows have judgments and what was retrieved."""
    fields = [one.row for one in rows]
    retrieved = any(row.retrieved_context_ids is not None or row.retrieved_contexts is not None for row in fields)
    judged = any(row.reference_context_ids is not None or row.reference_contexts is not None for row in fields)
    if references is None:
        return retrieved and judged
    return retrieved or bool(references.retrieved)


def _difference(
    rows: Sequence[ScoredRow], columns: Mapping[str, Named], scores: Scores, failed: BoolArray
) -> str | None:
    """Return a value that differs between the rows and the result; None if they agree."""
    said = np.array(
        [[np.nan if (value := row.scores[column]) is None else value for column in columns] for row in rows]
    )
    here = scores.values
    # For a metric with on_unjudged="zero" among others, the result has 0 where the core has no value.
    zero = np.array([named.on_unjudged == "zero" for named in columns.values()])
    same: BoolArray = (
        (np.abs(said - here) <= SAME) | (np.isnan(said) & np.isnan(here)) | (np.isnan(here) & (said == 0) & zero)
    )
    wrong = np.argwhere(np.logical_not(same | failed))
    if not len(wrong):
        return None
    at, column = wrong[0].tolist()
    return (
        f"{list(columns)[column]} of {scores.queries[at]!r} is {said[at, column]:.4g} in the result and "
        f"{here[at, column]:.4g} by the rows"
    )


def _with_failures(scores: Scores, failed: BoolArray) -> Scores:
    """Return the scores with 0 where a single metric of a row failed, and with these rows counted."""
    origin = scores.needed_origin("read")
    partly = failed.any(axis=1) & np.logical_not(failed.all(axis=1))
    raised = {query for query, row in zip(scores.queries, failed, strict=True) if row.any()}
    errors = {*getattr(origin.run, "errors", {}), *raised}
    nothing = {query for query, n in zip(scores.queries, origin.judged.n_retrieved.tolist(), strict=True) if n == 0}
    counts = {**scores.counts, "failed": len(errors), "missing": len(errors | nothing)}
    values: FloatArray = np.where(failed & partly[:, None], 0.0, scores.values)
    return replace(scores, values=values, counts=cast("Counts", counts))


def _warn(why: str) -> None:
    warnings.warn(
        f"the values computed from the rows differ from the result, so it cannot be explained: {why}. If the metrics "
        "had qrels=, pass it here too",
        rm.RetrievalWarning,
        stacklevel=4,
    )
