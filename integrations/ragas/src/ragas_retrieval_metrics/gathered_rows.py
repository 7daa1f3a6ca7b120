"""Gather rows of ragas as questions and a run, so that the core evaluates them in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import retrieval_metrics as rm
from ragas_retrieval_metrics.judged_rows import (
    JudgedRow,
    aligned_texts,
    ids_as_items,
    read_judged_row,
    require_counted_texts,
)
from retrieval_metrics.integration_api import Scorer, row_error, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ragas_retrieval_metrics.metric_names import By
    from ragas_retrieval_metrics.references import References
    from ragas_retrieval_metrics.rows import Row

T = TypeVar("T")


class EveryRowFailedError(ValueError):
    """No row of a dataset could be scored."""


class RowWithoutJudgmentsError(ValueError):
    """The judgments of a row cannot be read."""


@dataclass(frozen=True)
class GatheredRows:
    """The rows of a dataset, each a query of the core.

    Attributes:
        questions: The texts and the judgments of the rows, by their names.
        run: What was retrieved for each row, with the errors of failed ones.
        unjudged: The queries that are not among the judgments that were passed.
        max_grade: The largest grade of the judgments that were passed; None if the rows hold the judgments.
        match: How judgments and retrieved documents are matched.
        without_references: The queries whose rows hold no judgments, where these are not passed.
    """

    questions: rm.EvaluationSet
    run: rm.RetrievedRun
    unjudged: Sequence[str | None]
    max_grade: float | None
    match: str | rm.Matching
    without_references: Sequence[Any] = ()

    @property
    def qrels(self) -> rm.Qrels:
        """The judgments in columns."""
        try:
            qrels = rm.Qrels(self.questions)
        except (TypeError, ValueError):
            self._raise_for_first_unreadable()
            raise
        if self.max_grade is None:
            return qrels
        return qrels.with_largest_grade(max(self.max_grade, qrels.largest_grade))

    def _raise_for_first_unreadable(self) -> None:
        """Raise an error that names the first row whose judgments cannot be read, alone or beside a readable row."""
        first_readable: dict[Any, Any] = {}
        for query, judgments in self.questions.qrels.items():
            try:
                rm.Qrels({**first_readable, query: judgments})
            except (TypeError, ValueError) as error:
                raise _without_judgments_error(error, query) from error
            first_readable = first_readable or {query: judgments}

    def refusals(self, metrics: Sequence[rm.Metric], queries: Collection[Any] | None = None) -> dict[Any, Exception]:
        """Return the errors of the rows that the core cannot score, among these queries or, with None, among all."""
        qrels = self.qrels
        if queries is not None:
            selected_judgments: dict[Any, Any] = _select_queries(self.questions.qrels, queries)
            qrels = rm.Qrels(selected_judgments).with_largest_grade(qrels.largest_grade)
        refusals = Scorer(metrics, match=self.match).refusals(qrels, self.run)
        return {query: row_error(error, query, f"row {query!r}") for query, error in refusals.items()}

    def with_failed(self, errors: Mapping[Any, Exception]) -> GatheredRows:
        """Return the rows with further failures."""
        run = {**self.run, **{query: [] for query in errors}}
        return replace(self, run=rm.RetrievedRun(run, {**self.run.errors, **errors}))

    def with_unknown_judgments(self, queries: Collection[Any]) -> GatheredRows:
        """Return the rows with something relevant to these queries that nothing retrieved is, so that they score 0."""
        if not queries:
            return self
        known_qrels = self.qrels
        # The grade is the largest one, so that the queries also count for a metric with a threshold such as `rel=2`.
        grade = max(1.0, known_qrels.largest_grade)
        judgments: dict[Any, Any] = {_make_unknown_document(known_qrels): grade}
        qrels: dict[Any, Any] = dict(self.questions.qrels)
        for query in queries:
            qrels[query] = judgments
        return replace(self, questions=rm.EvaluationSet(self.questions.queries, qrels, self.questions.provenance))


def _make_unknown_document(qrels: rm.Qrels) -> Any:
    """Return a document of the kind that is judged, but none of those judged."""
    if qrels.has_pieces:
        return rm.Text("(the relevant text of a dropped row, which is unknown)")
    if qrels.document_kind is int:
        whole_numbers = [document for document in qrels.documents if isinstance(document, int)]
        return min([0, *whole_numbers]) - 1
    return "(unknown, the row was dropped)"


def _without_judgments_error(error: Exception, query: Any) -> RowWithoutJudgmentsError:
    return RowWithoutJudgmentsError(str(row_error(error, query, f"row {query!r}")))


def gather_rows(rows: Sequence[Row], by: By, references: References | None) -> GatheredRows:
    """Return rows as questions and a run; a row that cannot be scored has failed."""
    # A row that cannot be read, or whose fields cannot be compared, has failed: it retrieved nothing.
    names = unique_row_names(rows, references)
    errors: dict[Any, Exception] = {}
    provenance: Mapping[Any, rm.Provenance] = {}
    max_grade: float | None = None
    match: str | rm.Matching = "id"
    if references is not None:
        errors = dict(references.errors)
        provenance = references.provenance
        max_grade = references.qrels.largest_grade
        match = references.match
    qrels: dict[Any, Any] = {}
    rankings: dict[Any, Any] = {}
    unjudged: list[str | None] = []
    without_references: list[Any] = []
    parsed_rows: list[Row] = []
    names_by_kind: dict[By, list[Any]] = {"ids": [], "texts": []}
    for name, row in zip(names, rows, strict=True):
        parsed_row = row
        try:
            parsed_row = row.read()
            judged = read_judged_row(parsed_row, by, references)
        except (TypeError, ValueError) as error:
            try:
                judged = JudgedRow(by, _judgments_alone(parsed_row, by, references, error), [])
            except (TypeError, ValueError) as judgment_error:
                raise _without_judgments_error(judgment_error, name) from judgment_error
            errors[name] = error
        else:
            # A row without judgments has no value, whatever is compared.
            if judged.judgments is not None:
                names_by_kind[judged.kind].append(name)
            elif references is None:
                without_references.append(name)
        parsed_rows.append(parsed_row)
        if judged.judgments is None and references is not None:
            unjudged.append(parsed_row.user_input)
        qrels[name] = [] if judged.judgments is None else judged.judgments
        rankings[name] = [] if name in errors or judged.ranking is None else judged.ranking
    _warn_about_mixed_kinds(names_by_kind)
    texts = {name: row.user_input or str(name) for name, row in zip(names, rows, strict=True)}
    return GatheredRows(
        questions=rm.EvaluationSet(texts, qrels, _select_queries(provenance, qrels)),
        run=rm.RetrievedRun(_with_texts(rankings, parsed_rows), _select_queries(errors, qrels)),
        unjudged=unjudged,
        max_grade=max_grade,
        match=match,
        without_references=without_references,
    )


def _warn_about_mixed_kinds(names_by_kind: Mapping[By, Sequence[Any]]) -> None:
    """Warn if some rows are compared by ids and others by texts: their values do not measure the same."""
    by_texts = names_by_kind["texts"]
    n_rows = len(by_texts) + len(names_by_kind["ids"])
    if 0 < len(by_texts) < n_rows:
        rows = f"(e.g. {by_texts[0]!r}) are compared by texts, because they have"
        if len(by_texts) == 1:
            rows = f"({by_texts[0]!r}) is compared by texts, because it has"
        warn(
            f"{len(by_texts)} of {n_rows} rows {rows} no IDs on both sides, and the others by IDs; pass by='texts' to "
            "compare all alike",
            host="ragas",
        )


def _select_queries(values: Mapping[Any, T], queries: Collection[Any]) -> dict[Any, T]:
    """Return the part of a mapping whose keys are among these queries."""
    return {query: value for query, value in values.items() if query in queries}


def score_gathered(
    gathered: GatheredRows, metrics: Sequence[rm.Metric], score: Callable[[rm.Qrels, rm.RetrievedRun], T]
) -> T:
    """Return the result of a pass of the core over all rows; rows that it refuses have failed."""
    gathered = gathered.with_failed(_find_uncounted(gathered.run, metrics))
    _require_scored_row(gathered.run)
    try:
        return score(gathered.qrels, gathered.run)
    except RowWithoutJudgmentsError:
        raise
    except (TypeError, ValueError):
        refusals = gathered.refusals(metrics)
        if not refusals:
            raise
    failed = gathered.with_failed(refusals)
    _require_scored_row(failed.run)
    return score(failed.qrels, failed.run)


def _find_uncounted(run: rm.RetrievedRun, metrics: Sequence[rm.Metric]) -> dict[Any, Exception]:
    """Return the errors of the rows that hold ids without texts, if a metric has a budget of characters."""
    budgets = [metric.k for metric in metrics if isinstance(metric.k, rm.Budget)]
    errors: dict[Any, Exception] = {}
    if not budgets:
        return errors
    for query, ranking in run.items():
        try:
            require_counted_texts(ranking, query, budgets[0])
        except ValueError as error:
            errors[query] = error
    return errors


def unique_row_names(rows: Iterable[Row], references: References | None = None) -> list[Any]:
    """Return a unique name for every row, because two rows may have the same query."""
    # It is the id of the query if the judgments have ids, or else the text of the query.
    occurrences: dict[Any, int] = {}
    names: list[Any] = []
    for number, row in enumerate(rows, start=1):
        query = row.user_input if references is None else references.query_id(row)
        name = f"row {number}" if query is None else query
        occurrences[name] = occurrences.get(name, 0) + 1
        if occurrences[name] > 1:
            name = f"{name} ({occurrences[name]})"
        names.append(name)
    if len(set(map(type, names))) == 1:
        return names
    return list(map(str, names))


def _judgments_alone(row: Row, by: By, references: References | None, error: Exception) -> Any:
    """Return the judgments of a row whose ranking cannot be read."""
    if references is not None:
        return references.judgments_for(row)
    unranked = row._replace(retrieved_context_ids=None, retrieved_contexts=None)
    judgments = read_judged_row(unranked.read(), row.kind(by), None).judgments
    if judgments is None:
        raise error  # a failed row scores 0, but its judgments are unknown
    return judgments


def _with_texts(rankings: dict[Any, Any], rows: Sequence[Row]) -> dict[Any, Any]:
    """Return the rankings as items with the texts of the rows.

    They stay as they are if no row has texts, or if a ranking is not a list.
    """
    has_texts = False
    for ids, row in zip(rankings.values(), rows, strict=True):
        if not isinstance(ids, (list, tuple)):
            return rankings
        if ids and (aligned_texts(ids, row) or isinstance(ids[0], rm.Retrieved)):
            has_texts = True
    if not has_texts:
        return rankings
    items = {}
    for (query, ids), row in zip(rankings.items(), rows, strict=True):
        items[query] = ids_as_items(ids, aligned_texts(ids, row))
    return items


def _require_scored_row(run: rm.RetrievedRun) -> None:
    """Raise if every row failed."""
    if len(run.errors) == len(run):
        query, error = next(iter(run.errors.items()))
        raise EveryRowFailedError(
            f"every row failed, {len(run)} of {len(run)}; the first, {query!r}: {type(error).__name__}: {error}"
        ) from error
