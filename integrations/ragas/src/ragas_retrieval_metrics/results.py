"""Convert results of ragas to an evaluation of the core, in which failures count as 0."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

import retrieval_metrics as rm
from ragas_retrieval_metrics.gathering import names_of
from ragas_retrieval_metrics.imports import DataTable, EvaluationDataset, EvaluationResult
from ragas_retrieval_metrics.metric import RetrievalMetric
from ragas_retrieval_metrics.missing_values import told_apart
from ragas_retrieval_metrics.names import Named
from ragas_retrieval_metrics.reading import ScoredRow, of_result, of_rows, read_rows, row_of
from ragas_retrieval_metrics.recomputed import recomputed
from ragas_retrieval_metrics.references import References
from ragas_retrieval_metrics.retrieved import RetrievedDataset
from ragas_retrieval_metrics.rows import FIELDS, Row

if TYPE_CHECKING:
    import pandas as pd
    from ragas.executor import Executor

    from ragas_retrieval_metrics.references import Judged
    from retrieval_metrics.types import ClustersBy, Scores


def to_evaluation(
    result: EvaluationResult | Executor | DataTable[Any] | pd.DataFrame | Iterable[Mapping[str, Any] | BaseModel],
    expected: int | Sequence[Any] | DataTable[Any] | EvaluationDataset | None = None,
    *,
    metrics: Iterable[str] | None = None,
    qrels: Judged | None = None,
    clusters: ClustersBy = "source",
    scores: Collection[str] | Mapping[str, tuple[float | None, float | None]] | None = None,
) -> rm.Evaluation:
    """Return a result of ragas as an evaluation of the core that counts failures.

    Ragas averages only rows with a value: a row on which a metric raised becomes NaN in `evaluate()` and is skipped,
    and `@experiment` drops it, so a retriever looks better the more often it fails. Here failed and missing rows score
    0 and are counted as failed; only rows for which nothing is relevant are left out, and counted too.

    If the rows, `expected` or `qrels` have the judgments and what was retrieved, the result is that of `rm.evaluate`,
    with its intervals, and it can be explained. Otherwise it holds only the values.

    Args:
        result: The result of `evaluate()` or an experiment, its rows, or their DataFrame. The Executor that
            `evaluate(return_executor=True)` returns has no result yet and is refused.
        expected: The dataset of the experiment, or its length; without it, rows dropped by an experiment cannot be
            counted.
        metrics: The columns to take; None takes all that are named like a metric, such as `ndcg_at_10`.
        qrels: The `qrels=` of the metrics, if they had it.
        clusters: The clusters of the queries, for the intervals, as in `rm.evaluate`, by the ids of the queries in the
            result.
        scores: The columns of other metrics that stand beside those of retrieval, such as `["faithfulness"]`, or a
            mapping to their bounds, such as `{"faithfulness": (0, 1)}`. A row without a value is undefined there, as in
            the mean of ragas. None takes all other metrics of `evaluate()`; the rows of an experiment and tables also
            hold numbers that are no metrics, and none of them is taken.

    Returns:
        The values per query, in the order of `expected` if it is a dataset, with means and counts. The ids of queries
        are their texts, or their ids if they are in `qrels` or in a dataset of `from_langchain` or `from_llama_index`.

    Raises:
        ValueError: If no column is named like a metric, there are no rows or more than expected, or every row failed;
            the message has the first error if it is known.
        TypeError: If the result or a value in it has another type.

    Warns:
        RetrievalWarning: If rows failed or are missing, an experiment comes without `expected`, or the values computed
            from the rows differ from the result, so that it cannot be explained.

    Example:
        >>> rows = [{"user_input": "what is a closure?", "mrr": 0.5}, {"user_input": "what is a cell?", "mrr": 1.0}]
        >>> print(to_evaluation(rows, expected=2))
        metric   mean   95 % interval  n
        mrr     0.750  [0.265, 0.955]  2
        2 queries
        n too small: an interval of fewer than 4 queries says little
    """
    names = None if metrics is None else list(metrics)
    if isinstance(result, EvaluationResult):
        rows = of_result(result, names, scores)
    else:
        rows = of_rows(read_rows(result), names, scores)
    if not rows:
        raise ValueError(
            f"the result has no rows: every row failed or was dropped; {_first_error(expected, names, qrels)}"
        )
    if expected is None and isinstance(result, DataTable):
        warnings.warn(
            "an experiment drops rows that raise without a trace; pass expected=dataset to count them",
            rm.RetrievalWarning,
            stacklevel=2,
        )
    columns = {column: Named.parse(column) for column in rows[0].scores}
    if len({named.metric for named in columns.values()}) < len(columns):
        raise ValueError(f"several of the columns {', '.join(columns)} are the same metric; choose with metrics=[...]")
    complete = _complete(rows, list(columns), expected)
    bounds = dict(scores) if isinstance(scores, Mapping) else None
    if not columns:
        queries = names_of(one.row for one in complete)
        return rm.Evaluation.of_scores(_others_of(complete, queries), bounds=bounds)
    references = _references(qrels, columns, expected, result)
    if not isinstance(result, EvaluationResult):
        complete = told_apart(complete, columns, references)
    known = recomputed(complete, columns, references) or _values_alone(complete, columns, references)
    _warn_of_failures(complete, known)
    evaluation = rm.Evaluation(known.clustered(clusters))
    others = _others_of(complete, known.queries)
    return evaluation.with_scores(others, bounds=bounds) if others else evaluation


def _others_of(rows: Sequence[ScoredRow], queries: Sequence[Any]) -> dict[str, dict[Any, float | None]]:
    """Return the values of other metrics, by metric and query."""
    names = dict.fromkeys(name for one in rows for name in one.others)
    return {name: {query: one.others.get(name) for query, one in zip(queries, rows, strict=True)} for name in names}


def _references(qrels: Judged | None, columns: Mapping[str, Named], *holders: Any) -> References | None:
    """Return the judgments that are not in the rows: those given, or those kept by a converted dataset."""
    by = next(iter(columns.values())).by
    datasets = (getattr(holder, "dataset", holder) for holder in holders)
    kept = [one for one in datasets if isinstance(one, RetrievedDataset) and one.is_whole]
    return References.of(kept[0] if qrels is None and kept and by != "auto" else qrels, by)


def _values_alone(rows: Sequence[ScoredRow], columns: Mapping[str, Named], references: References | None) -> Scores:
    """Return the values of a result whose rankings or judgments are unknown."""
    queries = names_of((one.row for one in rows), references)
    known = {
        str(named.metric): {
            query: 0.0 if one.scores[column] is None else one.scores[column]
            for query, one in zip(queries, rows, strict=True)
        }
        for column, named in columns.items()
    }
    scores = rm.Evaluation.of_scores(known).scores
    relying = [at for at, metric in enumerate(scores.metrics) if metric.definition.needs_relevant]
    undefined = int(np.isnan(scores.values[:, relying]).all(axis=1).sum()) if relying else 0  # noqa: PD011  (of Scores)
    rankings = [_retrieved(one.row) for one in rows]
    counts: Any = scores.counts | {
        "scored": len(rows) - undefined,
        "missing": sum(row.failed or ranking == [] for row, ranking in zip(rows, rankings, strict=True)),
        "failed": sum(row.failed for row in rows),
        "no_relevant": undefined,
        "duplicates": sum(len(ranking) - len(set(ranking)) for ranking in rankings if ranking is not None),
    }
    return replace(scores, counts=counts)


def _retrieved(row: Row) -> list[Any] | None:
    for field, _ in FIELDS.values():
        try:
            retrieved = getattr(row.read(), field)
        except (TypeError, ValueError):
            return None  # it made the row fail, which is counted
        if retrieved is not None:
            return list(retrieved)
    return None


def _complete(rows: Sequence[ScoredRow], columns: Sequence[str], expected: Any) -> Sequence[ScoredRow]:
    """Return the rows including missing ones, which failed, and with the fields that only the dataset has."""
    if expected is None:
        return rows
    wanted = expected if isinstance(expected, int) else len(expected)
    if wanted < len(rows):
        raise ValueError(f"the result has {len(rows)} rows, more than the {wanted} expected")
    lost: dict[str, float | None] = dict.fromkeys(columns)
    known = [] if isinstance(expected, int) else [row_of(_mapping(row)) for row in expected]
    by_query: dict[str | None, list[ScoredRow]] = {}
    for scored in rows:
        by_query.setdefault(scored.row.user_input, []).append(scored)
    if known and set(by_query) <= {row.user_input for row in known}:
        in_order = []
        for row in known:
            here = by_query.get(row.user_input)
            found = here.pop(0) if here else ScoredRow(Row(user_input=row.user_input), lost)
            in_order.append(found._replace(row=found.row.filled(row)))
        if not any(by_query.values()):
            return in_order
    dropped = (ScoredRow(Row(user_input=f"dropped row {at}"), lost) for at in range(1, wanted - len(rows) + 1))
    return [*rows, *dropped]


def _mapping(row: Any) -> Mapping[str, Any]:
    return dict(row) if isinstance(row, BaseModel) else row if isinstance(row, Mapping) else {}


def _warn_of_failures(rows: Sequence[ScoredRow], scores: Scores) -> None:
    failed = [(query, row) for query, row in zip(scores.queries, rows, strict=True) if row.failed]
    if not failed:
        return
    errors: Mapping[Any, Exception] = {} if scores.origin is None else getattr(scores.origin.run, "errors", {})
    query, error = failed[0][0], errors.get(failed[0][0])
    why = "" if error is None else f": {type(error).__name__}: {error}"
    if len(failed) == len(rows):
        raise ValueError(f"every row failed or was dropped, {len(rows)} of {len(rows)}; the first is {query!r}{why}")
    warnings.warn(
        f"{len(failed)} of {len(rows)} rows failed or were dropped, for example {query!r}{why}; they score 0 "
        "here, although ragas leaves them out of its mean",
        rm.RetrievalWarning,
        stacklevel=3,
    )


def _first_error(expected: Any, names: Sequence[str] | None, qrels: Judged | None) -> str:
    """Return the first error if the expected rows can be scored here, or else where to look for it."""
    look = "what ragas printed, 'Task failed with error', says why"
    if expected is None or isinstance(expected, int):
        return look
    metric = RetrievalMetric(
        names[0] if names else "mrr", by=None if names or qrels is not None else "auto", qrels=qrels
    )
    for fields in expected:
        row = row_of(_mapping(fields))
        if row.retrieved_context_ids is None and row.retrieved_contexts is None:
            return look
        try:
            metric.score(**row._asdict())
        except (TypeError, ValueError) as error:
            return f"row {row.query!r} raises {type(error).__name__}: {error}"
    return look
