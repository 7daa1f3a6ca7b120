"""Evaluate a dataset of ragas, and convert its results, computed again where they must be, to an evaluation."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np
from pydantic import BaseModel

import retrieval_metrics as rm
from ragas_retrieval_metrics.metric import Named, RetrievalMetric, compared
from ragas_retrieval_metrics.reading import (
    EveryRowFailedError,
    RowWithoutJudgmentsError,
    ScoredRow,
    gather,
    names_of,
    of_result,
    of_rows,
    query_of,
    read_rows,
    row_of,
    scored,
)
from ragas_retrieval_metrics.rows import (
    FIELDS,
    DataTable,
    EvaluationDataset,
    EvaluationResult,
    References,
    RetrievedDataset,
    Row,
)
from retrieval_metrics.adapting import Scorer
from retrieval_metrics.adapting.distributed import said_of_systems, scored_run

if TYPE_CHECKING:
    import pandas as pd
    from ragas.executor import Executor

    from ragas_retrieval_metrics.metric import By, OnUnjudged
    from ragas_retrieval_metrics.reading import Gathered
    from ragas_retrieval_metrics.rows import Judged
    from retrieval_metrics.types import BoolArray, ClustersBy, Counts, FloatArray, Scores


def evaluate_dataset(
    dataset: EvaluationDataset | DataTable[Any] | pd.DataFrame | Iterable[Mapping[str, Any] | BaseModel],
    metrics: str | rm.Metric | RetrievalMetric | Iterable[str | rm.Metric | RetrievalMetric] = rm.DEFAULT_METRICS,
    *,
    by: By | None = None,
    qrels: Judged | None = None,
    on_unjudged: OnUnjudged | None = None,
    clusters: ClustersBy = "source",
) -> rm.Evaluation:
    """Score a dataset in one pass, hundreds of times as fast as `ragas.evaluate`, with the same numbers.

    The result equals `to_evaluation(ragas.evaluate(dataset, metrics))`. A row that `ragas.evaluate` cannot score has
    failed: it scores 0 and is counted, and its exception is in `errors` of the result.

    Args:
        dataset: An `EvaluationDataset`, its rows, a `Dataset` of experiments or a DataFrame of pandas or polars, with
            the columns to compare. One of `from_langchain` or `from_llama_index` also has grades, groups, offsets and
            sources.
        metrics: Names of the core such as `"ndcg@10"`, or metrics such as those of `metric_suite()`, all with the same
            `by`, `qrels` and `on_unjudged`.
        by: For names: `"ids"` (the default), `"texts"` or `"auto"`, as in `RetrievalMetric`.
        qrels: For names: the judgments, by the text of the query, instead of the reference columns.
        on_unjudged: For names: what a row without a relevant context scores.
        clusters: The clusters of the queries, for the intervals, as in `rm.evaluate`, by the ids of the queries in the
            result.

    Returns:
        An evaluation of the core, with intervals and `explain`, `worst`, `by`, `report` and so on. The ids of queries
        are their texts, or their ids if they are in the dataset or `qrels`.

    Raises:
        TypeError: If the dataset has another shape.
        ValueError: If a metric is unknown, metrics differ in what they compare, the dataset has no rows, the judgments
            of a row cannot be read, which it names, or every row failed; the message has the first error.

    Warns:
        RetrievalWarning: As in `rm.evaluate`, for queries for which nothing was retrieved, and for failed rows.

    Example:
        >>> rows = [
        ...     {"user_input": "a?", "retrieved_context_ids": ["d3", "d7"], "reference_context_ids": ["d7"]},
        ...     {"user_input": "b?", "retrieved_context_ids": ["d1"], "reference_context_ids": ["d1"]},
        ... ]
        >>> evaluate_dataset(rows, ["mrr"]).means["mrr"]  # (1/2 + 1) / 2
        0.75
    """
    rows = [row_of(row) for row in read_rows(dataset)]
    if not rows:
        raise ValueError("the dataset has no rows")
    chosen = _chosen(metrics, by, qrels, on_unjudged, dataset)
    if not chosen:
        raise ValueError("there are no metrics; pass for example metrics=['ndcg@10']")
    references = chosen[0].references
    if references is None and _keeps_more(dataset, chosen[0].by):
        references = References.of(dataset, chosen[0].by)
    gathered = gather(rows, chosen[0].by, references)
    if gathered.unknown and references is not None:
        references.warn_of_unjudged(gathered.unknown, stacklevel=2)
    cores = list(dict.fromkeys(metric.metric for metric in chosen))
    return scored(
        gathered,
        cores,
        lambda truth, run: rm.evaluate(
            truth,
            run,
            cores,
            semantics=rules_of(chosen[0].on_unjudged),
            match=gathered.match,
            clusters=clusters,
        ),
    )


def rules_of(on_unjudged: OnUnjudged) -> rm.Rules:
    """Return the rules for rows without a relevant context."""
    rules = rm.Rules(name="standard")
    return rules if on_unjudged == "nan" else replace(rules, no_relevant="zero")


def _chosen(
    metrics: Any, by: By | None, qrels: Judged | None, on_unjudged: OnUnjudged | None, dataset: Any
) -> list[RetrievalMetric]:
    if isinstance(metrics, (str, rm.Metric, RetrievalMetric)):
        metrics = [metrics]
    given = list(metrics)
    made = [one for one in given if isinstance(one, RetrievalMetric)]
    if made and (by is not None or qrels is not None or on_unjudged is not None):
        raise ValueError(
            f"{made[0]!r} already defines what it compares; leave by, qrels and on_unjudged out, or pass names such as "
            f"{str(made[0].metric)!r}"
        )
    if made:
        by, on_unjudged, shared = made[0].by, made[0].on_unjudged, made[0].references
    else:
        shared = References.of(dataset if qrels is None and _keeps_more(dataset, by) else qrels, by or "ids")
    chosen = [
        one if isinstance(one, RetrievalMetric) else RetrievalMetric(one, by=by, qrels=shared, on_unjudged=on_unjudged)
        for one in given
    ]
    for one in made:
        if (one.by, one.on_unjudged) != (chosen[0].by, chosen[0].on_unjudged) or not _same(one, chosen[0]):
            raise ValueError(
                f"{chosen[0]!r} and {one!r} differ in by, qrels or on_unjudged, which must be the same in one pass; "
                "evaluate them separately"
            )
    return chosen


def _keeps_more(dataset: Any, by: By | None) -> TypeGuard[RetrievedDataset]:
    """Return whether a dataset holds more than its rows, and this is used."""
    return isinstance(dataset, RetrievedDataset) and dataset.is_whole and by != "auto"


def _same(one: RetrievalMetric, other: RetrievalMetric) -> bool:
    left, right = (None if metric.references is None else metric.references.given for metric in (one, other))
    return left is right or (isinstance(left, Mapping) and isinstance(right, Mapping) and left == right)


SAME = 1e-9
"""The largest difference from the value computed again: a text file may have rounded it."""


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
        metrics: The columns to take; None takes all that are named like a metric, such as `ndcg_at_10`, and of
            `precision`, `recall` and `f1`, which are common names, those whose values the rows give.
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
        ValueError: If no column is named like a metric, there are no rows or more than expected, the judgments of a row
            cannot be read, or every row failed; the message has the first error if it is known.
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
    if names is None and (common := {one: columns[one] for one in columns if one in COMMON}):
        complete, columns = _without_foreign(complete, columns, common, references)
        if not columns:
            raise ValueError(f"no column but {', '.join(common)} is named like a retrieval metric; pass metrics=[...]")
    known = recomputed(complete, columns, references) or _values_alone(complete, columns, references)
    _warn_of_failures(complete, known)
    for said in said_of_systems({"": known}):
        warnings.warn(said, rm.RetrievalWarning, stacklevel=2)
    evaluation = rm.Evaluation(known.clustered(clusters))
    others = _others_of(complete, known.queries)
    return evaluation.with_scores(others, bounds=bounds) if others else evaluation


COMMON = {"precision", "recall", "f1"}
"""The names of metrics that other metrics have too."""


def _without_foreign(
    rows: Sequence[ScoredRow], columns: Mapping[str, Named], common: Mapping[str, Named], references: References | None
) -> tuple[Sequence[ScoredRow], dict[str, Named]]:
    """Return the rows and columns without those that have a common name, unless the rows give their values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = recomputed(rows, common, references) is not None
    if ours:
        return rows, dict(columns)
    warnings.warn(
        f"not taken: {', '.join(common)}, because the rows do not give such values; if they are of this package, pass "
        "metrics=[...]",
        rm.RetrievalWarning,
        stacklevel=3,
    )
    kept = {name: named for name, named in columns.items() if name not in common}
    return [one._replace(scores={name: one.scores[name] for name in kept}) for one in rows], kept


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
            query: (0.0 if named.metric.definition.higher_is_better else nan) if value is None else value
            for query, value in zip(queries, (one.scores[column] for one in rows), strict=True)
        }
        for column, named in columns.items()
    }
    scores = rm.Evaluation.of_scores(known).scores
    relying = [at for at, metric in enumerate(scores.metrics) if metric.definition.needs_relevant]
    unanswerable: list[Any] = (
        np.isnan(scores.values[:, relying]).all(axis=1).tolist() if relying else [False] * len(rows)
    )
    undefined = sum(unanswerable)
    rankings = [_retrieved(one.row) for one in rows]
    counts: Any = scores.counts | {
        "scored": len(rows) - undefined,
        "missing": sum(
            row.failed or (ranking == [] and not none)
            for row, ranking, none in zip(rows, rankings, unanswerable, strict=True)
        ),
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
    known = [] if isinstance(expected, int) else [_mapping(row) for row in expected]
    places = _places(rows, known)
    if len(places) == len(rows):
        here = {at: rows[number] for number, at in places.items()}
        read = [row_of(fields) for fields in known]
        found = [here.get(at, ScoredRow(Row(user_input=row.user_input), lost)) for at, row in enumerate(read)]
        return [one._replace(row=one.row.filled(row)) for one, row in zip(found, read, strict=True)]
    dropped = (ScoredRow(Row(user_input=f"dropped row {at}"), lost) for at in range(1, wanted - len(rows) + 1))
    return [*rows, *dropped]


def _places(rows: Sequence[ScoredRow], known: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the place of each row among those expected; some are missing if a query is not expected so often."""
    # Rows finish in any order, so equal queries say nothing. What tells them apart is every column that both sides
    # have and that was not changed; where none does, their order is taken, which is a guess.
    here, there = ([_cells(fields) for fields in some] for some in ([one.fields for one in rows], known))
    both = {key for cells in here for key in cells} & {key for cells in there for key in cells} - {*rows[0].scores}
    same = [key for key in both if {cells.get(key) for cells in here} <= {cells.get(key) for cells in there}]
    places: dict[int, int] = {}
    guessed: list[str | None] = []
    for columns in (same, []):
        waiting, free = (
            _by_key(cells, fields, columns, taken)
            for cells, fields, taken in (
                (here, [one.fields for one in rows], places.keys()),
                (there, known, places.values()),
            )
        )
        for key, numbers in waiting.items():
            found = free.get(key, [])
            alike = len(numbers) == len(found) and len({repr(rows[number].scores) for number in numbers}) == 1
            guessed += [rows[numbers[0]].row.user_input] if len(found) > 1 and not alike else []
            places.update(zip(numbers, found, strict=False))
    if guessed:
        warnings.warn(
            f"rows with the same query cannot be told apart, such as those of {guessed[0]!r} ({len(guessed)} in all), "
            "so they are paired by the order in which they finished; return an id, or the reference columns",
            rm.RetrievalWarning,
            stacklevel=4,
        )
    return places


def _cells(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of a row as texts, as a file has them, without empty ones."""
    values = {key: str(value.tolist() if hasattr(value, "tolist") else value) for key, value in fields.items()}
    return {key: value for key, value in values.items() if value not in {"", "None", "nan"}}


def _by_key(
    cells: Sequence[Mapping[str, str]],
    fields: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    taken: Iterable[int],
) -> dict[Any, list[int]]:
    """Return the places that are not taken, by query and columns."""
    found: dict[Any, list[int]] = {}
    done = set(taken)
    for at, (texts, row) in enumerate(zip(cells, fields, strict=True)):
        if at not in done:
            found.setdefault((query_of(row), *map(texts.get, columns)), []).append(at)
    return found


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


def recomputed(rows: Sequence[ScoredRow], columns: Mapping[str, Named], references: References | None) -> Scores | None:
    """Return the scores of a result with the run from which they were computed; None if the rows do not have it."""
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
    except (EveryRowFailedError, RowWithoutJudgmentsError):
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
    judged = origin.judged
    silent = (judged.n_retrieved == 0) & (judged.n_relevant() > 0)
    nothing = {query for query, missing in zip(scores.queries, silent.tolist(), strict=True) if missing}
    counts = {**scores.counts, "failed": len(errors), "missing": len(errors | nothing)}
    values: FloatArray = np.where(failed & partly[:, None], 0.0, scores.values)
    return replace(scores.with_values(values), counts=cast("Counts", counts))


def _warn(why: str) -> None:
    warnings.warn(
        f"the values computed from the rows differ from the result, so it cannot be explained: {why}. If the metrics "
        "had qrels=, pass it here too",
        rm.RetrievalWarning,
        stacklevel=4,
    )


def told_apart(
    rows: Sequence[ScoredRow], columns: Mapping[str, Named], references: References | None
) -> list[ScoredRow]:
    """Return the rows of a table, in which a NaN is a failure where the judgments have something relevant."""
    found, unknown = [], []
    for one in rows:
        nan = [column for column, value in one.scores.items() if value is not None and isnan(value)]
        needed = {column: _has_relevant(one, columns[column], references) for column in nan}
        if None in needed.values() and references is None:
            unknown.append(one)
        failed = dict.fromkeys(column for column, relevant in needed.items() if relevant)
        found.append(one._replace(scores={**one.scores, **failed}))
    if unknown:
        warnings.warn(
            f"{len(unknown)} of {len(rows)} rows have neither a value nor judgments, for example "
            f"{unknown[0].row.query!r}: they are left out as undefined, but their metrics may have failed; pass "
            "expected=dataset or qrels=",
            rm.RetrievalWarning,
            stacklevel=3,
        )
    return found


def _has_relevant(one: ScoredRow, named: Named, references: References | None) -> bool | None:
    """Whether something is relevant to a metric, so that it has a value; None if the judgments are unknown."""
    if named.on_unjudged == "zero" and named.metric.definition.higher_is_better:
        return True  # it has a value in every row
    if not named.metric.definition.needs_relevant:
        return False
    try:
        judgments = compared(one.row.read(), named.by, references).judgments
        if judgments is None:
            return None
        recall = rm.Metric.of("recall", None, **{key: value for key, value in named.metric.parameters if key == "rel"})
        return not isnan(Scorer(recall).queries({"row": judgments}, {"row": []})[recall]["row"].value)
    except (TypeError, ValueError):
        return True  # a row that cannot be read has failed
