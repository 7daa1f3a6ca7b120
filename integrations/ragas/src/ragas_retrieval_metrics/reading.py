"""Rows of ragas, of its results and their files, read and gathered for one pass of the core."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel

import retrieval_metrics as rm
from ragas_retrieval_metrics.metric import JudgedRow, MetricName, read_judged_row
from ragas_retrieval_metrics.rows import EvaluationResult, MetricResult, Row
from retrieval_metrics.integration_api import Scorer, row_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragas_retrieval_metrics.metric import By
    from ragas_retrieval_metrics.rows import References

QUERIES = ("user_input", "query", "question", "text")
"""The columns that may hold the text of a query; the first is that of ragas."""


class ScoredRow(NamedTuple):
    """One row of a result."""

    row: Row
    scores: Mapping[str, float | None]
    others: Mapping[str, float | None] = MappingProxyType({})
    fields: Mapping[str, Any] = MappingProxyType({})

    @property
    def failed(self) -> bool:
        """Whether one of its metrics failed."""
        return any(value is None for value in self.scores.values())

    @property
    def lost(self) -> bool:
        """Whether the row is missing from the result."""
        return all(value is None for value in self.scores.values())


def read_rows(result: Any) -> list[Mapping[str, Any]]:
    """Return the rows of an experiment, a DataFrame or a list as mappings."""
    if hasattr(result, "columns"):
        result = result.to_dicts() if hasattr(result, "to_dicts") else result.to_dict(orient="records")
    if not isinstance(result, Iterable) or isinstance(result, (str, bytes, Mapping)):
        raise TypeError(
            f"rows must be the result of evaluate() or an experiment, a list of mappings or a DataFrame, got "
            f"{type(result).__name__}"
        )
    # Not model_dump, which would convert a MetricResult.
    rows = [dict(row) if isinstance(row, BaseModel) else row for row in result]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} must be a mapping or a pydantic model, got {row!r}")
    return rows


def read_result(
    result: EvaluationResult, names: Sequence[str] | None, others: Collection[str] | None
) -> list[ScoredRow]:
    """Read the result of `evaluate()`, in which NaN means failed or undefined; the traces tell them apart."""
    foreign = _others(result.scores, others, names)
    columns = _columns(result.scores, names, foreign)
    rows = []
    samples = result.dataset.samples
    for scores, sample, trace in zip(result.scores, samples, result.traces, strict=True):
        returned = getattr(trace, "scores", {})
        values = {column: _returned(scores[column], returned.get(column)) for column in columns}
        fields = dict(sample)
        others_of_row = {one: _value(scores[one], one, fields) for one in foreign}
        rows.append(ScoredRow(get_row_fields(fields), values, others_of_row, fields))
    return rows


def _returned(score: Any, traced: Any) -> float | None:
    """Return a score; None for a NaN without a number in the trace, because the metric raised."""
    return None if isnan(score) and not isinstance(traced, Real) else float(score)


def read_experiment_rows(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None, others: Collection[str] | None
) -> list[ScoredRow]:
    """Read the rows of an experiment, in which a failed metric has no value."""
    # A number in a row of an experiment may be anything, so its columns are other metrics only if they are named.
    foreign = _others(rows, () if others is None else others, names)
    columns = _columns(rows, names, foreign)
    return [
        ScoredRow(
            get_row_fields(row),
            {column: _value(row.get(column), column, row) for column in columns},
            {column: _value(row.get(column), column, row) for column in foreign},
            row,
        )
        for row in rows
    ]


def _others(
    rows: Sequence[Mapping[str, Any]], wanted: Collection[str] | None, names: Sequence[str] | None
) -> list[str]:
    """Return the columns of other metrics."""
    if wanted is None:
        return [key for key in _keys(rows) if not _is_metric(key) and key not in (names or ())]
    return _required(rows, wanted)


def _columns(rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None, others: Sequence[str]) -> list[str]:
    if names is not None:
        for name in names:
            MetricName.parse(name)
        return _required(rows, names)
    there = _keys(rows)
    found = [key for key in there if _is_metric(key) and key not in others]
    if rows and not found and not others:
        raise ValueError(
            f"no column of the result is named like a retrieval metric, such as 'ndcg_at_10'; it has "
            f"{', '.join(map(repr, there))}. Columns of other metrics are kept if they are named: scores=[...]"
        )
    return found


def _required(rows: Sequence[Mapping[str, Any]], names: Collection[str]) -> list[str]:
    there = _keys(rows)
    for name in names:
        if rows and name not in there:
            raise ValueError(f"the result has no column {name!r}; it has {', '.join(map(repr, there))}")
    return list(names)


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _is_metric(column: Any) -> bool:
    """Whether a column has a name that metrics of this package write; aliases such as `success` are other columns."""
    try:
        named = MetricName.parse(column)
    except (TypeError, ValueError):
        return False
    return str(named) == column and not named.metric.definition.is_given


def _value(cell: Any, column: str, row: Mapping[str, Any]) -> float | None:
    """Return a cell as a float, None if it is empty; in a CSV file numbers are text."""
    value = cell.value if isinstance(cell, MetricResult) else cell
    if value is None or value == "":
        return None
    try:
        if isinstance(value, (Real, str)) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise TypeError(
        f"{column} of row {get_query_text(row)!r} is {value!r}, which is not a number; an experiment should return "
        "metric_result.value, which can be saved"
    )


def get_query_text(row: Mapping[str, Any]) -> str | None:
    """Return the text of the query of a row; None if it has none."""
    for key in QUERIES:
        if isinstance(row.get(key), str):
            return str(row[key])
    return None


def get_row_fields(fields: Mapping[str, Any]) -> Row:
    """Return the fields of a row that metrics read."""
    if isinstance(fields.get("user_input"), (list, tuple)):
        raise TypeError(
            "a row with several turns has no retrieved contexts; retrieval metrics need rows with a single turn"
        )
    return Row(*map(fields.get, Row._fields))._replace(user_input=get_query_text(fields))


T = TypeVar("T")


@dataclass(frozen=True)
class GatheredRows:
    """The rows of a dataset, each a query of the core."""

    questions: rm.EvaluationSet
    run: rm.RetrievedRun
    unknown: Sequence[str | None]
    scale: float | None
    match: str | rm.Matching

    @property
    def truth(self) -> rm.Qrels:
        """The judgments in columns."""
        try:
            truth = rm.Qrels(self.questions)
        except (TypeError, ValueError):
            read: dict[Any, Any] = {}
            for query, judgments in self.questions.qrels.items():  # find the row, by itself or beside the first
                try:
                    rm.Qrels({**read, query: judgments})
                except (TypeError, ValueError) as error:
                    raise _without_judgments(error, query) from error
                read = read or {query: judgments}
            raise
        return truth if self.scale is None else truth.with_largest_grade(max(self.scale, truth.largest_grade))

    def refusals(self, metrics: Sequence[rm.Metric], queries: Collection[Any] | None = None) -> dict[Any, Exception]:
        """Return why the core cannot score single rows: some of them, or any."""
        truth, judged = self.truth, self.questions.qrels
        if queries is not None:
            some: dict[Any, Any] = {query: of_one for query, of_one in judged.items() if query in queries}
            truth = rm.Qrels(some).with_largest_grade(truth.largest_grade)
        found = Scorer(metrics, match=self.match).refusals(truth, self.run)
        return {query: row_error(error, query, f"row {query!r}") for query, error in found.items()}

    def with_failed(self, errors: Mapping[Any, Exception]) -> GatheredRows:
        """Return the rows with further failures."""
        run = {**self.run, **{query: [] for query in errors}}
        return replace(self, run=rm.RetrievedRun(run, {**self.run.errors, **errors}))


class EveryRowFailedError(ValueError):
    """No row of a dataset could be scored."""


class RowWithoutJudgmentsError(ValueError):
    """The judgments of a row cannot be read."""


def _without_judgments(error: Exception, query: Any) -> RowWithoutJudgmentsError:
    return RowWithoutJudgmentsError(str(row_error(error, query, f"row {query!r}")))


def gather_rows(rows: Sequence[Row], by: By, references: References | None) -> GatheredRows:
    """Return rows as questions and a run."""
    # A row that cannot be read, or whose fields cannot be compared, has failed: it retrieved nothing.
    names = unique_row_names(rows, references)
    errors = {} if references is None else dict(references.errors)
    qrels: dict[Any, Any] = {}
    rankings: dict[Any, Any] = {}
    unknown: list[str | None] = []
    read: list[Row] = []
    for name, row in zip(names, rows, strict=True):
        try:
            row = row.read()  # noqa: PLW2901  (as it was meant)
            found = read_judged_row(row, by, references)
        except (TypeError, ValueError) as error:
            try:
                found = JudgedRow(by, _judgments_alone(row, by, references, error), [])
            except (TypeError, ValueError) as unjudged:
                raise _without_judgments(unjudged, name) from unjudged
            errors[name] = error
        read.append(row)
        if found.judgments is None and references is not None:
            unknown.append(row.user_input)
        qrels[name] = [] if found.judgments is None else found.judgments
        rankings[name] = [] if name in errors or found.ranking is None else found.ranking
    texts = {name: row.user_input or str(name) for name, row in zip(names, rows, strict=True)}
    provenance = {} if references is None else {q: m for q, m in references.provenance.items() if q in qrels}
    return GatheredRows(
        questions=rm.EvaluationSet(texts, qrels, provenance),
        run=rm.RetrievedRun(_with_texts(rankings, read), {q: e for q, e in errors.items() if q in qrels}),
        unknown=unknown,
        scale=None if references is None else references.truth.largest_grade,
        match="id" if references is None else references.match,
    )


def score_gathered(
    gathered: GatheredRows, metrics: Sequence[rm.Metric], score: Callable[[rm.Qrels, rm.RetrievedRun], T]
) -> T:
    """Return the result of a pass of the core over all rows; rows that it refuses have failed."""
    _require_one(gathered.run)
    try:
        return score(gathered.truth, gathered.run)
    except RowWithoutJudgmentsError:
        raise
    except (TypeError, ValueError):
        refused = gathered.refusals(metrics)
        if not refused:
            raise
    failed = gathered.with_failed(refused)
    _require_one(failed.run)
    return score(failed.truth, failed.run)


def unique_row_names(rows: Iterable[Row], references: References | None = None) -> list[Any]:
    """Return a unique name for every row, because two rows may have the same query."""
    # It is the id of the query if the judgments have ids, or else the text of the query.
    seen: dict[Any, int] = {}
    names: list[Any] = []
    for number, row in enumerate(rows, start=1):
        known = row.user_input if references is None else references.name_of(row)
        name = f"row {number}" if known is None else known
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names if len(set(map(type, names))) == 1 else list(map(str, names))


def _judgments_alone(row: Row, by: By, references: References | None, error: Exception) -> Any:
    """Return the judgments of a row whose ranking cannot be read."""
    if references is not None:
        return references.of_query(row)
    alone = row._replace(retrieved_context_ids=None, retrieved_contexts=None)
    judgments = read_judged_row(alone.read(), row.kind(by), None).judgments
    if judgments is None:
        raise error  # a failed row scores 0, but its judgments are unknown
    return judgments


def _with_texts(rankings: dict[Any, Any], rows: Sequence[Row]) -> dict[Any, Any]:
    """Return the rankings as items with the texts of the rows; unchanged if there are none, or one is not a list."""
    aligned = [
        (_listed(ranking), _listed(row.retrieved_contexts))
        for ranking, row in zip(rankings.values(), rows, strict=True)
    ]
    if any(ids is None for ids, _ in aligned) or not any(
        (texts and len(texts) == len(ids)) or isinstance(ids[0], rm.Retrieved) for ids, texts in aligned if ids
    ):
        return rankings
    return {query: _items(ids, texts) for query, (ids, texts) in zip(rankings, aligned, strict=True)}


def _listed(value: Any) -> Any:
    return value if isinstance(value, (list, tuple)) else None


def _items(ids: Sequence[Any], texts: Sequence[Any] | None) -> list[rm.Retrieved]:
    known: Sequence[Any] = texts if texts is not None and len(texts) == len(ids) else [None] * len(ids)
    return [
        one if isinstance(one, rm.Retrieved) else rm.Retrieved(one, text if isinstance(text, str) and text else None)
        for one, text in zip(ids, known, strict=True)
    ]


def _require_one(run: rm.RetrievedRun) -> None:
    if len(run.errors) == len(run):
        query, error = next(iter(run.errors.items()))
        raise EveryRowFailedError(
            f"every row failed, {len(run)} of {len(run)}; the first, {query!r}: {type(error).__name__}: {error}"
        ) from error
