"""Tell rows that failed from undefined ones, find their errors, and warn about them."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import retrieval_metrics as rm
from ragas_retrieval_metrics.expected_rows import row_fields
from ragas_retrieval_metrics.judged_rows import read_judged_row
from ragas_retrieval_metrics.metric import RetrievalMetric
from ragas_retrieval_metrics.rows import get_row_fields
from retrieval_metrics.integration_api import Scorer, warn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ragas_retrieval_metrics.expected_rows import ExpectedRows
    from ragas_retrieval_metrics.metric_names import MetricName
    from ragas_retrieval_metrics.references import JudgmentSource, References
    from ragas_retrieval_metrics.result_rows import ScoredRow
    from retrieval_metrics.types import Scores


def mark_failed_values(
    rows: Sequence[ScoredRow], columns: Mapping[str, MetricName], references: References | None
) -> list[ScoredRow]:
    """Return the rows of a table with None for each NaN that is a failure, because something was relevant."""
    marked_rows = []
    rows_without_judgments = []
    for row in rows:
        scores = dict(row.scores)
        has_unknown = False
        for column, value in row.scores.items():
            if value is None or not isnan(value):
                continue
            has_relevant = _has_relevant(row, columns[column], references)
            if has_relevant:
                scores[column] = None
            elif has_relevant is None and references is None:
                has_unknown = True
        if has_unknown:
            rows_without_judgments.append(row)
        marked_rows.append(row._replace(scores=scores))
    if rows_without_judgments:
        warn(
            f"{len(rows_without_judgments)} of {len(rows)} rows have neither a value nor judgments, for example "
            f"{rows_without_judgments[0].row.query!r}: they are left out as undefined, but their metrics may have "
            "failed; pass expected=dataset or qrels=",
            host="ragas",
        )
    return marked_rows


def _has_relevant(row: ScoredRow, name: MetricName, references: References | None) -> bool | None:
    """Return whether something is relevant to a metric, so that it has a value; None if the judgments are unknown."""
    if name.on_unjudged == "zero" and name.metric.definition.higher_is_better:
        return True  # it has a value in every row
    if not name.metric.definition.needs_relevant:
        return False
    try:
        judgments = read_judged_row(row.row.read(), name.by, references).judgments
        if judgments is None:
            return None
        # Recall is undefined exactly where nothing is relevant, at the same threshold `rel`.
        parameters = {key: value for key, value in name.metric.parameters if key == "rel"}
        recall = rm.Metric("recall", None, **parameters)
        scores = Scorer(recall).queries({"row": judgments}, {"row": []})
        return not isnan(scores[recall]["row"].value)
    except (TypeError, ValueError):
        return True  # a row that cannot be read has failed


def warn_about_failures(rows: Sequence[ScoredRow], scores: Scores) -> None:
    """Warn of failed rows with the first error, or raise it if every row failed."""
    failed_queries = [query for query, row in zip(scores.queries, rows, strict=True) if row.has_failed]
    if not failed_queries:
        return
    query = failed_queries[0]
    errors: Mapping[Any, Exception] = {}
    if scores.origin is not None:
        errors = getattr(scores.origin.run, "errors", {})
    reason = ""
    if query in errors:
        error = errors[query]
        reason = f": {type(error).__name__}: {error}"
    if len(failed_queries) == len(rows):
        raise ValueError(f"every row failed or was dropped, {len(rows)} of {len(rows)}; the first is {query!r}{reason}")
    warn(
        f"{len(failed_queries)} of {len(rows)} rows failed or were dropped, for example {query!r}{reason}; they score "
        "0 here, although ragas leaves them out of its mean",
        host="ragas",
    )


def first_error_text(expected: ExpectedRows, names: Sequence[str] | None, qrels: JudgmentSource | None) -> str:
    """Return the first error if the expected rows can be scored here, or else where to look for it."""
    where_to_look = "what ragas printed, 'Task failed with error', says why"
    if expected is None or isinstance(expected, int):
        return where_to_look
    metric_name = names[0] if names else "mrr"
    metric = RetrievalMetric(metric_name, qrels=qrels)
    for expected_row in expected:
        row = get_row_fields(row_fields(expected_row))
        if row.retrieved_context_ids is None and row.retrieved_contexts is None:
            return where_to_look
        try:
            metric.score(**row._asdict())
        except (TypeError, ValueError) as error:
            return f"row {row.query!r} raises {type(error).__name__}: {error}"
    return where_to_look
