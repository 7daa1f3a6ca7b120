"""Explain single queries, and count the failures over all queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from retrieval_metrics._internal.optional_packages import import_optional
from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.evaluation.evaluation_wording import (
    NO_RELEVANT_DOCUMENT,
    NO_RESULT,
    NOTHING_MISSING,
    format_all_perfect,
    format_all_undefined,
    format_call,
    format_failures,
    format_forbidden,
    format_found,
    format_imperfect,
    format_losses,
    format_outcome_counts,
    format_queries_without_hit,
    format_query_value,
    format_standing,
    format_with_text,
)
from retrieval_metrics.evaluation.explainer import Explainer, find_metric_name
from retrieval_metrics.evaluation.ranking_depths import UNKNOWN_DEPTHS
from retrieval_metrics.evaluation.relevant_texts import RelevantTexts
from retrieval_metrics.evaluation.summary_wording import depth_notes
from retrieval_metrics.inputs.column_detection import FAILURE_COLUMNS
from retrieval_metrics.inputs.questions import choose_query_texts
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports.display_text import format_one_line, shorten
from retrieval_metrics.reports.numbers import format_count
from retrieval_metrics.reports.tables import Printed, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics._internal.plain_types import IntArray, QueryId
    from retrieval_metrics.evaluation.explainer import ExplainedQuery
    from retrieval_metrics.evaluation.judged_results import Result
    from retrieval_metrics.evaluation.outcomes import Finding, Outcome, Outcomes
    from retrieval_metrics.evaluation.ranking_depths import DepthCounts
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions


# The number of printed results of a query; all are in `Explanation.results`.
MAX_PRINTED_RESULTS = 10

# Characters of a text in the table of the worst queries.
MAX_CELL_LENGTH = 36

# Characters of the text of a query above its explanation.
MAX_QUERY_LENGTH = 100

# How far a value may lie below the best one because sums are rounded.
_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class Explanation(Printed):
    """The outcome of each relevant document of one query, and what was retrieved instead.

    Attributes:
        query: The query.
        values: The values of its metrics, or of the metric that was asked for.
        findings: One per relevant document, best grade first.
        failures: One per relevant document or group that is missing; for a group of alternatives, the nearest miss.
        n_relevant: How many documents, or groups, are relevant.
        n_found: How many of them were found; if the cutoff is full, some are neither found nor missing.
        results: What was retrieved, down to the cutoff: rank, id, text, and its judgment.
        text: The text of the query; empty if it is unknown.
    """

    query: QueryId
    values: Mapping[str, float]
    findings: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    n_relevant: int
    n_found: int
    results: tuple[Result, ...] = ()
    text: str = ""

    @property
    def forbidden(self) -> tuple[Result, ...]:
        """The forbidden documents that were retrieved, by rank."""
        return tuple(result for result in self.results if result.judgment == "forbidden")

    @property
    def n_cutoff_full(self) -> int:
        """How many relevant documents are neither found nor missing, because the cutoff has no room for them."""
        return self.n_relevant - self.n_found - len(self.failures)

    def standing_note(self, leaked: Result) -> str:
        """Return above which relevant result a forbidden document ranks, and its source, if known."""
        return format_standing(leaked, self._find_relevant_below(leaked.rank))

    def _find_relevant_below(self, rank: int) -> Result | None:
        for result in self.results[rank:]:
            if result.judgment == "relevant":
                return result
        return None

    def _tables(self) -> list[Table]:
        values = ", ".join(f"{name} {format_query_value(value)}" for name, value in self.values.items())
        title = f"{format_one_line(str(self.query))}: {values}"
        if self.text:
            title = f"{shorten(self.text, MAX_QUERY_LENGTH)}\n{title}"
        tables = [self._needed_table(title)]
        if self.results:
            tables.append(self._results_table())
        return tables

    def _needed_table(self, title: str) -> Table:
        if not self.findings:
            return Table((), (), [NO_RELEVANT_DOCUMENT], title)
        has_alternatives = self.n_relevant < len(self.findings)
        shows_groups = has_alternatives or any(len(finding.groups) > 1 for finding in self.findings)
        shows_texts = any(finding.text and RelevantTexts.name(finding.document) for finding in self.findings)
        header = ["relevant"]
        if shows_texts:
            header.append("text")
        if shows_groups:
            header.append("group")
        header += ["grade", "rank", "outcome"]
        rows = []
        for finding in self.findings:
            row = [finding.label]
            if shows_texts:
                row.append(shorten(finding.text or ""))
            if shows_groups:
                row.append(", ".join(map(str, finding.groups)))
            row += [f"{finding.grade:g}", "-" if finding.rank is None else str(finding.rank), finding.detail]
            rows.append(row)
        return Table(header, rows, (), title, (0, 1, -1) if shows_texts else (0, -1))

    def _results_table(self) -> Table:
        printed = self.results[:MAX_PRINTED_RESULTS]
        shows_texts = any(result.text for result in printed)
        shows_calls = any(result.place is not None for result in printed)
        header = ["rank"]
        if shows_calls:
            header.append("call")
        header += ["result", "judgment"]
        if shows_texts:
            header.append("text")
        rows = []
        for result in printed:
            row = [str(result.rank)]
            if shows_calls:
                row.append(format_call(result.place))
            row += [result.label, result.judgment]
            if shows_texts:
                row.append(shorten(result.text or ""))
            rows.append(row)
        notes = []
        n_further = len(self.results) - len(printed)
        if n_further:
            notes.append(f"and {format_count(n_further, 'more result')}")
        notes += [format_forbidden(leaked, self.standing_note(leaked)) for leaked in self.forbidden]
        # All columns but the rank hold words.
        return Table(header, rows, notes, "", tuple(range(1, len(header))))

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per relevant document: its grade, rank and outcome.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        pandas = import_optional("pandas", "to_pandas")
        frame: pd.DataFrame = pandas.DataFrame(
            [_finding_record(finding) for finding in self.findings], columns=FAILURE_COLUMNS
        )
        return frame

    def __repr__(self) -> str:
        return f"<Explanation of {self.query!r}: {len(self.failures)} of {self.n_relevant} relevant missing>"


@dataclass(frozen=True, repr=False)
class Worst(Printed, Sequence[Explanation]):
    """The queries with the lowest values, explained, and the failures of all queries.

    Queries with the best possible value are never among them, however few queries there are.

    Attributes:
        metric: The metric.
        explanations: The worst queries, explained, worst first.
        n: The number of queries for which the metric is defined.
        failures: How many relevant documents (or groups) are missing across all these queries, by reason, most frequent
            first.
        n_relevant: How many are relevant over all these queries; one per query if `one_suffices`.
        n_found: How many of them were found; if the cutoff leaves no room, some are neither found nor missing.
        unit: What is counted: a document, a passage where quotes, texts or spans are judged, or a fact where groups
            are.
        losses: The same failures by the stage that lost the document, if the run records its stages.
        depths: Where the rankings end.
        one_suffices: Whether a single relevant document per query suffices for the metric, as for the hit rate.
        n_imperfect: Of a metric in which lower is better, how many queries do not have the best value; else None.
    """

    metric: str
    explanations: tuple[Explanation, ...]
    n: int
    failures: Mapping[Outcome, int]
    n_relevant: int
    n_found: int
    unit: str = "document"
    losses: Mapping[str, int] = field(default_factory=dict)
    n_imperfect: int | None = None
    depths: DepthCounts = field(default_factory=UNKNOWN_DEPTHS.copy)
    one_suffices: bool = False

    @property
    def queries(self) -> tuple[QueryId, ...]:
        """The ids of the worst queries, worst first."""
        return tuple(explanation.query for explanation in self.explanations)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Explanation]: ...

    def __getitem__(self, index: int | slice) -> Explanation | Sequence[Explanation]:
        return self.explanations[index]

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def summary(self) -> str:
        """The failures of all queries: `1 of 20 relevant documents missing across 9 queries: 1 not retrieved`."""
        if self.n_imperfect is not None:
            return format_imperfect(self.metric, self.n_imperfect, self.n)
        if self.one_suffices:
            return format_queries_without_hit(self.failures, self.unit, self.n)
        return format_failures(self.failures, self.n_relevant, self.n_found, self.unit, self.n)

    def _tables(self) -> list[Table]:
        return [self._failures_table() if self.n_imperfect is None else self._forbidden_table()]

    def _failures_table(self) -> Table:
        notes = [self.summary]
        if self.losses:
            notes.append(format_losses(self.losses))
        if self.failures:
            notes += depth_notes(self.depths, [Metric.parse(self.metric)])
        if not self.explanations:
            return Table((), (), [*notes, self._say_why_empty()])
        rows = [self._failures_row(explanation) for explanation in self.explanations]
        header = ["query", self.metric, "found", "missing", "example", "top result"]
        return Table(header, rows, notes, words=(0, 3, 4, 5))

    def _say_why_empty(self) -> str:
        """Return why no query is among the worst."""
        return format_all_perfect(self.metric) if self.n else format_all_undefined(self.metric)

    def _failures_row(self, explanation: Explanation) -> list[str]:
        failures = explanation.failures
        missing = "none"
        if explanation.n_found == explanation.n_relevant:
            missing = NOTHING_MISSING
        example = ""
        if failures:
            counts = Counter(finding.kind for finding in failures)
            missing = format_outcome_counts(dict(counts.most_common()))
        if explanation.findings:
            beyond_cutoff = [finding for finding in explanation.findings if finding.kind == "cutoff_full"]
            finding = [*failures, *beyond_cutoff, *explanation.findings][0]
            example = format_with_text(finding.label, finding.text, MAX_CELL_LENGTH)
        return [
            shorten(f"{explanation.query} {explanation.text}", MAX_CELL_LENGTH),
            format_query_value(explanation.values[self.metric]),
            format_found(explanation.n_found, explanation.n_relevant, explanation.n_cutoff_full),
            missing,
            example,
            _format_result(explanation.results[0]) if explanation.results else NO_RESULT,
        ]

    def _forbidden_table(self) -> Table:
        """Return a table with the first forbidden result of each query, or its first result if none is forbidden."""
        if not self.explanations:
            notes = dict.fromkeys([self.summary, self._say_why_empty()])  # one may be the other
            return Table((), (), list(notes))
        rows = []
        for explanation in self.explanations:
            rank = "-"
            label = NO_RESULT
            standing = ""
            shown = explanation.forbidden or explanation.results
            if shown:
                result = shown[0]
                rank = str(result.rank)
                label = _format_result(result)
                standing = explanation.standing_note(result)
            query = shorten(f"{explanation.query} {explanation.text}", MAX_CELL_LENGTH)
            rows.append([query, format_query_value(explanation.values[self.metric]), label, rank, standing])
        return Table(["query", self.metric, "result", "rank", "where"], rows, [self.summary], words=(0, 2, 4))

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per missing document of the listed queries, the worst query first.

        For a metric in which lower is better, a row per forbidden result, whose outcome is `forbidden`.

        Raises:
            ImportError: If pandas is not installed; the message contains the command that installs it.
        """
        pandas = import_optional("pandas", "to_pandas")
        records = []
        for explanation in self.explanations:
            query_record: dict[str, Any] = {"query": explanation.query, "text": explanation.text}
            query_record[self.metric] = explanation.values[self.metric]
            if self.n_imperfect is None:
                records += [query_record | _finding_record(finding) for finding in explanation.failures]
            else:
                for result in explanation.forbidden:
                    records.append(query_record | _forbidden_record(result, explanation.standing_note(result)))
        columns = ["query", "text", self.metric, *FAILURE_COLUMNS]
        frame: pd.DataFrame = pandas.DataFrame(records, columns=columns)
        return frame

    def plot(self) -> Figure:
        """Return a figure of the failures of all queries by outcome.

        Raises:
            ImportError: If matplotlib is not installed; the message contains the command that installs it.
            ValueError: If there are no failures, as of a metric in which lower is better.
        """
        import_optional("matplotlib", "plot")
        from retrieval_metrics.evaluation.evaluation_plots import failures_figure

        if not self.failures:
            raise ValueError(f"there are no failures to draw: {self.summary}")
        return failures_figure(self.failures, f"failures: {self.metric}")

    def __repr__(self) -> str:
        return f"<Worst by {self.metric}: {self.summary}>"


def _finding_record(finding: Finding) -> dict[str, Any]:
    return {
        "document": finding.label,
        "grade": finding.grade,
        "rank": finding.rank,
        "outcome": finding.kind,
        "detail": finding.detail,
    }


def _forbidden_record(result: Result, standing: str) -> dict[str, Any]:
    return {
        "document": result.label,
        "grade": result.grade,
        "rank": result.rank,
        "outcome": "forbidden",
        "detail": standing,
    }


def _format_result(result: Result) -> str:
    return format_with_text(result.label, result.text, MAX_CELL_LENGTH)


def explain(
    scores: Scores,
    query: QueryId,
    metric: str | Metric | None,
    queries: QueryTexts | Questions | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> Explanation:
    """Explain one query; see `Evaluation.explain`."""
    explainer = Explainer(scores, metric, corpus)
    (explained,) = explainer.explain(explainer.outcomes([scores.position(query)]))
    return _make_explanation(explainer, explained, choose_query_texts(queries, scores.query_texts))


def worst(
    scores: Scores,
    metric: str | Metric | None,
    n: int,
    queries: QueryTexts | Questions | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> Worst:
    """Explain the worst queries and sum the failures of all; see `Evaluation.worst`."""
    n_worst = positive_integer(n, "n")
    if metric is None:
        metric = scores.metrics[0]
    name = find_metric_name(scores, metric)
    explainer = Explainer(scores, metric, corpus)
    scored_metric = scores.metrics[scores.metrics.index(Metric.parse(name))]
    values = scores.column(scored_metric)
    defined_rows = np.flatnonzero(~np.isnan(values))
    outcomes = explainer.outcomes(scores.positions[defined_rows].tolist())
    # The queries of the outcomes, as rows of the scores.
    rows = defined_rows[np.argsort(scores.positions[defined_rows])]
    imperfect = _find_imperfect_queries(scores, scored_metric, outcomes, rows)
    # The lowest value first, then in the order of the scores.
    urgency = scored_metric.definition.sign * values[rows[imperfect]]
    worst_first = imperfect[np.lexsort((rows[imperfect], urgency))]
    chosen = worst_first[:n_worst].tolist()
    explained_by_position = {explained.query_position: explained for explained in explainer.explain(outcomes, chosen)}
    texts = choose_query_texts(queries, scores.query_texts)
    explanations = []
    for query_position in outcomes.positions[chosen].tolist():
        explanations.append(_make_explanation(explainer, explained_by_position[query_position], texts))
    losses = explainer.stage_losses(outcomes)
    return Worst(
        metric=name,
        explanations=tuple(explanations),
        n=len(defined_rows),
        failures=dict(outcomes.failures().most_common()),
        n_relevant=int(outcomes.n_needed.sum()),
        n_found=int(outcomes.n_satisfied.sum()),
        unit=scores.require_origin("explained").judged.qrels.unit,
        losses={} if losses is None else dict(losses.losses()),
        depths=scores.counts,
        one_suffices=explainer.target.one_suffices,
        n_imperfect=None if scored_metric.definition.higher_is_better else len(imperfect),
    )


def _find_imperfect_queries(scores: Scores, metric: Metric, outcomes: Outcomes, rows: IntArray) -> IntArray:
    """Return the indices of the queries that miss something, or whose value is not the best one.

    Missing documents do not count where lower is better.
    """
    sign = metric.definition.sign
    values = sign * scores.column(metric)[rows]
    best = sign * scores.best(metric)[rows]
    is_imperfect = values < best - _ROUNDING
    if metric.definition.higher_is_better:
        is_imperfect |= outcomes.n_unsatisfied > 0
    return np.flatnonzero(is_imperfect)


def _make_explanation(explainer: Explainer, explained: ExplainedQuery, texts: Mapping[Any, str]) -> Explanation:
    query = explained.query
    results = explainer.results(explained)
    return Explanation(
        query=query,
        values={name: explainer.scores.per_query[name][query] for name in explainer.names},
        findings=explainer.with_partial_matches(explainer.with_texts(explained.findings), results),
        failures=explainer.with_partial_matches(explainer.with_texts(explained.failures), results),
        n_relevant=explained.n_needed,
        n_found=explained.n_found,
        results=results,
        text=str(texts.get(query, "")),
    )
