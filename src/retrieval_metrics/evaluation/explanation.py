"""Explain the scores of single queries, and the failures over all queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.evaluation.outcome_search import OutcomeSearch, RunIds
from retrieval_metrics.evaluation.outcomes import (
    KINDS,
    OUTCOME_LABELS,
    ExplanationTarget,
    Finding,
    JudgedResults,
    RelevantTexts,
)
from retrieval_metrics.evaluation.scores import ByMetric
from retrieval_metrics.evaluation.stage_losses import StageLosses, judge_stages, loss_label
from retrieval_metrics.inputs.items import Piece, Retrieved, item_identity
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.questions import choose_query_texts
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.search_history import SearchHistory
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import TIES_BY_ID
from retrieval_metrics.metrics.base.metric import Metric
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.numbers import format_count, join_names
from retrieval_metrics.reports.tables import Printed, Table, format_one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from retrieval_metrics._internal.validation import QueryId
    from retrieval_metrics.evaluation.outcomes import Outcome, Outcomes, Result
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions


PRINTED = 10
"""The number of printed results of a query; all are in `Explanation.results`."""
SHORT = 36
"""Characters of a text in the table of the worst queries."""
LOW = "nothing missing, ranked low"


@dataclass(frozen=True, repr=False)
class Explanation(Printed):
    """The outcome of each relevant document of one query, and what was retrieved instead.

    Attributes:
        query: The query.
        values: The values of its metrics, or of the metric that was asked for.
        findings: One per relevant document, best grade first.
        failures: One per needed document or group that is missing; for a group of alternatives, the nearest miss.
        needed: How many relevant documents, or groups, are needed.
        results: What was retrieved, down to the cut-off: rank, id, text, and its judgment.
        text: The text of the query; empty if it is unknown.
    """

    query: QueryId
    values: Mapping[str, float]
    findings: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    n_relevant: int
    results: tuple[Result, ...] = ()
    text: str = ""

    @property
    def forbidden(self) -> tuple[Result, ...]:
        """What came back and must not, by rank."""
        return tuple(result for result in self.results if result.judgment == "forbidden")

    def standing_note(self, leaked: Result) -> str:
        """Return above which relevant result something forbidden stands, and where it comes from, if that is known."""
        below = (one for one in self.results[leaked.rank :] if one.judgment == "relevant")
        first = next(below, None)
        said = "above nothing relevant" if first is None else f"above {first.label} at rank {first.rank}"
        return said if leaked.source in {None, leaked.label} else f"from {leaked.source}, {said}"

    def _tables(self) -> list[Table]:
        values = ", ".join(f"{name} {_value(value)}" for name, value in self.values.items())
        title = f"{format_one_line(str(self.query))}: {values}"
        if self.text:
            title = f"{shorten(self.text, 100)}\n{title}"
        return [self._needed(title), *([self._results()] if self.results else [])]

    def _needed(self, title: str) -> Table:
        if not self.findings:
            return Table((), (), ["no document is relevant to this query"], title)
        groups = any(len(finding.groups) > 1 for finding in self.findings) or self.n_relevant < len(self.findings)
        texts = any(finding.text and RelevantTexts.name(finding.document) for finding in self.findings)
        header = ["needed", *(["text"] if texts else []), *(["group"] if groups else []), "grade", "rank"]
        rows = [
            [
                finding.label,
                *([shorten(finding.text or "")] if texts else []),
                *([", ".join(map(str, finding.groups))] if groups else []),
                f"{finding.grade:g}",
                "-" if finding.rank is None else str(finding.rank),
                finding.detail,
            ]
            for finding in self.findings
        ]
        return Table([*header, "what became of it"], rows, (), title, (0, 1, -1) if texts else (0, -1))

    def _results(self) -> Table:
        shown = self.results[:PRINTED]
        texts = any(result.text for result in shown)
        calls = any(result.place is not None for result in shown)
        rows = [
            [
                str(result.rank),
                *([_found_by(result.place)] if calls else []),
                result.label,
                result.judgment,
                *([shorten(result.text or "")] if texts else []),
            ]
            for result in shown
        ]
        more = len(self.results) - len(shown)
        notes = [f"and {numbers.format_count(more, 'further result')}"] if more else []
        notes += [
            f"must not come back: {leaked.label} at rank {leaked.rank}, {self.standing_note(leaked)}"
            for leaked in self.forbidden
        ]
        return Table(
            ["rank", *(["found by"] if calls else []), "came back", "judged", *(["text"] if texts else [])],
            rows,
            notes,
            "",
            tuple(range(1, 3 + calls + texts)),
        )

    def __repr__(self) -> str:
        return f"<Explanation of {self.query!r}: {len(self.failures)} of {self.n_relevant} needed are missing>"


@dataclass(frozen=True, repr=False)
class Worst(Printed, Sequence[Explanation]):
    """The queries with the lowest values, explained, and the failures of all queries.

    Queries with the best possible value are never among them, however few queries there are.

    Attributes:
        metric: The metric.
        explanations: The worst queries, explained, worst first.
        n: The number of queries for which the metric is defined.
        failures: How many needed documents (or groups) are missing over all these queries, by reason, most frequent
            first.
        n_relevant: How many are needed over all these queries.
        n_found: How many of them were found; if the cut-off leaves no room, some are neither found nor missing.
        unit: What is needed: a document, a passage where quotes, texts or spans are judged, or of groups a fact.
        losses: The same failures by the step that lost what was needed, if the run tells its steps.
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

    @property
    def queries(self) -> tuple[QueryId, ...]:
        """The ids of the worst queries, worst first."""
        return tuple(each.query for each in self.explanations)

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
        """The failures of all queries in one sentence: `12 of 17 failures: never retrieved; 5: beyond the cut-off`."""
        if self.n_imperfect is not None:
            return f"{self.metric} is not at its best in {self.n_imperfect:,} of {numbers.format_query_count(self.n)}"
        total = sum(self.failures.values())
        if not total:
            return f"no failures: {numbers.format_count(self.n_relevant, f'needed {self.unit}')} found"
        first, *others = self.failures.items()
        said = f"{first[1]:,} of {numbers.format_count(total, 'failure')}: {OUTCOME_LABELS[first[0]]}"
        return "; ".join([said, *(f"{number:,}: {OUTCOME_LABELS[kind]}" for kind, number in others)])

    def _tables(self) -> list[Table]:
        if self.n_imperfect is not None:
            return [self._leaks()]
        rows = []
        for each in self.explanations:
            kinds = Counter(finding.kind for finding in each.failures)
            why = ", ".join(f"{number} {OUTCOME_LABELS[kind]}" for kind, number in kinds.most_common()) or LOW
            found = each.n_relevant - len(each.failures)
            wanted = next(iter(each.failures or each.findings), None)
            rows.append(
                [
                    shorten(f"{each.query} {each.text}", SHORT),
                    _value(each.values[self.metric]),
                    f"{found}/{each.n_relevant}",
                    why,
                    "" if wanted is None else _in_short(wanted.label, wanted.text),
                    _in_short(each.results[0].label, each.results[0].text) if each.results else "nothing",
                ]
            )
        total = sum(self.failures.values())
        over = f"over {numbers.format_query_count(self.n)}, {total:,} of {self.n_relevant:,} needed {self.unit}s are missing"
        header = ["query", self.metric, "found", "missing", "needed", "came back first"]
        steps = [f"by step: {'; '.join(f'{number:,} {loss_label(fate)}' for fate, number in self.losses.items())}"]
        notes = [self.summary, *(steps if self.losses else []), over]
        if not rows:
            return [Table((), (), [*notes, f"every query has the best possible {self.metric}"])]
        return [Table(header, rows, notes, words=(0, 3, 4, 5))]

    def _leaks(self) -> Table:
        """Return what came back that must not for each query; without such a thing, what came first."""
        if not self.explanations:
            return Table((), (), [self.summary, f"every query has the best possible {self.metric}"])
        rows = []
        for each in self.explanations:
            first = next(iter(each.forbidden or each.results), None)
            rank, called, above = (
                ("-", "nothing", "")
                if first is None
                else (str(first.rank), _in_short(first.label, first.text), each.standing_note(first))
            )
            value = _value(each.values[self.metric])
            rows.append([shorten(f"{each.query} {each.text}", SHORT), value, called, rank, above])
        return Table(["query", self.metric, "came back", "rank", "where"], rows, [self.summary], words=(0, 2, 4))

    def __repr__(self) -> str:
        return f"<Worst of {numbers.format_query_count(self.n)} in {self.metric}: {self.summary}>"


def _value(value: float) -> str:
    return "undefined" if isnan(value) else numbers.value(value)


def _found_by(place: tuple[int, int] | None) -> str:
    return "no call" if place is None else f"call {place[0]}, rank {place[1]}"


def _in_short(called: str, text: str | None) -> str:
    return shorten(f"{called}: {text}" if text and not called.startswith("\u201c") else called, SHORT)


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
    return _explanation(explainer, explained, choose_query_texts(queries, scores.query_texts))


def worst(
    scores: Scores,
    metric: str | Metric,
    n: int,
    queries: QueryTexts | Questions | None = None,
    corpus: Mapping[Any, str] | None = None,
) -> Worst:
    """Explain the worst queries and sum the failures of all; see `Evaluation.worst`."""
    wanted = positive_integer(n, "n")
    name = name_of(scores, metric)
    explainer = Explainer(scores, metric, corpus)
    at = scores.metrics.index(Metric.parse(name))
    sign = scores.metrics[at].definition.sign
    values, best = sign * scores.values[:, at], sign * scores.best(scores.metrics[at])
    defined = np.flatnonzero(~np.isnan(values))
    outcomes = explainer.outcomes(scores.positions[defined].tolist())
    rows = defined[np.argsort(scores.positions[defined])]  # the queries of the outcomes, as rows of the scores
    short = values[rows] < best[rows] - 1e-12
    # What is missing says nothing where lower is better.
    candidates = np.flatnonzero((outcomes.n_unsatisfied > 0) | short if sign > 0 else short)
    chosen = candidates[np.lexsort((rows[candidates], values[rows[candidates]]))][:wanted].tolist()
    explained = {each.query_position: each for each in explainer.explain(outcomes, chosen)}
    texts = choose_query_texts(queries, scores.query_texts)
    explanations = tuple(
        _explanation(explainer, explained[index], texts) for index in outcomes.positions[chosen].tolist()
    )
    unit = scores.require_origin("explained").judged.qrels.unit
    failures = dict(outcomes.failures().most_common())
    faulty = len(candidates) if sign < 0 else None
    needed, met = int(outcomes.n_needed.sum()), int(outcomes.n_satisfied.sum())
    fates = explainer.fates(outcomes)
    losses = {} if fates is None else dict(fates.losses())
    return Worst(name, explanations, len(defined), failures, needed, met, unit, losses, faulty)


def _explanation(explainer: Explainer, explained: ExplainedQuery, queries: Mapping[Any, str]) -> Explanation:
    query, results = explained.query, explainer.results(explained)
    findings, failures = (
        explainer.in_parts(explainer.with_texts(each), results) for each in (explained.findings, explained.failures)
    )
    return Explanation(
        query,
        {name: explainer.scores.per_query[name][query] for name in explainer.names},
        findings,
        failures,
        explained.n_needed,
        results,
        str(queries.get(query, "")),
    )


# Explain the queries of one evaluation.

SHOWN = 10
"""The number of results shown for a metric without a cut-off."""


@dataclass(frozen=True)
class ExplainedQuery:
    """One query: what was needed, whether it was found, and what was retrieved.

    Attributes:
        query: The query.
        findings: One per relevant document, best grade first.
        failures: One per needed document or group that is missing; for a group, the nearest miss.
        needed: How many relevant documents, or groups, are needed.
        ranking: What was retrieved, as given.
        index: The position of the query among the judged ones.
        k: The cut-off of the metric in items; None if it has none.
    """

    query: QueryId
    findings: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    n_needed: int
    ranking: Any
    query_position: int
    k: int | None


class FallbackTexts(Mapping[Any, str]):
    """Looks up a text in one mapping, then in another, without copying either."""

    def __init__(self, *mappings: Mapping[Any, str]) -> None:
        self._mappings = mappings

    def __getitem__(self, key: Any) -> str:
        for mapping in self._mappings:
            if key in mapping:
                return mapping[key]
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(set().union(*self._mappings))

    def __len__(self) -> int:
        return len(set().union(*self._mappings))


class Explainer:
    """Explains the queries of an evaluation for one metric, or at the largest cut-off of all.

    Attributes:
        names: The metrics whose values are shown.
        needed: Looks up the texts of what is needed.
    """

    def __init__(
        self, scores: Scores, metric: str | Metric | None = None, corpus: Mapping[Any, str] | None = None
    ) -> None:
        """Take the scores."""
        origin = scores.require_origin("explained")
        self.scores = scores
        self.rankings = scores.rankings("explained")
        self.question = _question(scores, metric)
        self.names = [*map(str, scores.metrics)] if metric is None else [name_of(scores, metric)]
        self._corpus: Mapping[Any, str] = {} if corpus is None else corpus
        self._judged = origin.judged
        self._investigation = OutcomeSearch(origin.judged, self.rankings, self.question)
        self._came_back = JudgedResults(origin.judged, self.rankings)

    @cached_property
    def needed(self) -> RelevantTexts:
        """Looks up the texts of what is needed."""
        covered = self._judged.covered
        return RelevantTexts(self.rankings.matching, self._texts, {} if covered is None else covered.moved)

    @cached_property
    def _texts(self) -> Mapping[Any, str]:
        return FallbackTexts(self._corpus, retrieved_texts(self.scores))

    def outcomes(self, positions: Iterable[int]) -> Outcomes:
        """Decide what became of everything that some queries need, given by their position among the judged ones."""
        return self._investigation.outcomes(positions)

    def fates(self, outcomes: Outcomes) -> StageLosses | None:
        """Return the outcomes step by step; None if the run does not tell its steps."""
        return StageLosses(self.scores, outcomes, self.question) if judge_stages(self.scores) else None

    def explain(self, outcomes: Outcomes, places: Iterable[int] | None = None) -> Iterator[ExplainedQuery]:
        """Tell the outcomes of some of their queries, given by place, in any order; None tells all."""
        queries = self._judged.qrels.queries
        chosen = range(len(outcomes.positions)) if places is None else places
        place = {queries[outcomes.positions[at]]: at for at in chosen}
        unmet = outcomes.unsatisfied_groups
        begins = np.searchsorted(outcomes.query[unmet], np.arange(len(outcomes.positions) + 1))
        fates = self.fates(outcomes)
        for query, ranking in self.rankings.iterate(place):
            at = place[query]
            first = outcomes.rows_in_query(at).start
            told = OutcomeTexts(self._investigation, outcomes, at, ranking).findings()
            findings = tuple(
                self._told(query, one, fates.rank_history(row) if fates else "") for row, one in enumerate(told, first)
            )
            yield ExplainedQuery(
                query,
                findings,
                tuple(findings[row - first] for row in unmet[begins[at] : begins[at + 1]].tolist()),
                int(outcomes.n_needed[at]),
                ranking,
                int(outcomes.positions[at]),
                None if self.question.cuts_at_n_needed else outcomes.cutoffs.limits(at)[0],
            )

    def _told(self, query: QueryId, finding: Finding, by_step: str) -> Finding:
        """Return a finding with what steps, or the calls of an agent, did with the document, if the run tells them."""
        run = self.rankings.run
        if not isinstance(run, RetrievedRun) or finding.kind == "over_budget":
            return finding
        story = by_step
        if isinstance(run, SearchHistory):
            story = self._search_story(run, query, finding.document) or by_step
        if not story:
            return finding
        # "Never retrieved" is said of this view; what the calls did with the document says more.
        return replace(finding, detail=story if finding.kind == "not_retrieved" else f"{finding.detail}; {story}")

    def _search_story(self, history: SearchHistory, query: QueryId, document: Any) -> str:
        """Return what the searches behind a run did with a document."""
        if isinstance(document, Piece):
            holding = self._holding(history, query, document)
            return history.document_story(
                query, lambda item: (item_identity(item), getattr(item, "text", None)) in holding
            )
        key = self.rankings.matching.key
        return history.document_story(
            query, lambda item: (key(item) if isinstance(item, Retrieved) else item) == document
        )

    def _holding(self, history: SearchHistory, query: QueryId, piece: Piece) -> set[Any]:
        """Return identity and text of the items that hold a piece by themselves; an id alone may stand for them."""
        items = history.all_retrieved(query)
        if not items:
            return set()
        truth: Any = {query: [piece]}
        found: Any = {query: items}
        ranks = judge(as_qrels(truth), found, self.rankings.matching, TIES_BY_ID).ranks
        found = [items[rank - 1] for rank in ranks.rank.tolist()]
        return {(item_identity(item), text) for item in found for text in (item.text, None)}

    def results(self, explained: ExplainedQuery, k: int | None = None) -> tuple[Result, ...]:
        """Return the first `k` results of a query; None takes the metric's cut-off."""
        if k is None:
            k = SHOWN if explained.k is None else explained.k
        return tuple(self._came_back.first(explained.query_position, explained.ranking, max(k, 1), self._texts))

    def in_parts(self, findings: Sequence[Finding], results: Sequence[Result]) -> tuple[Finding, ...]:
        """Return the findings; of a piece that no result holds whole, those say so that hold a part of it."""
        return tuple(self._in_parts(one, results) for one in findings)

    def _in_parts(self, finding: Finding, results: Sequence[Result]) -> Finding:
        if finding.kind != "not_retrieved" or not isinstance(finding.document, Piece):
            return finding
        ranks = [str(one.rank) for one in results if self.needed.marked_parts(one.item, finding.document)]
        if not ranks:
            return finding
        said = f"not retrieved whole: {'rank' if len(ranks) == 1 else 'ranks'} {join_names(ranks)} hold"
        return replace(finding, detail=f"{said}{'s' if len(ranks) == 1 else ''} a part of it")

    def with_texts(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return the findings with the texts of what is needed."""
        return tuple(replace(one, text=self.needed.text(one.document)) for one in findings)


def retrieved_texts(scores: Scores) -> Mapping[Any, str]:
    """Return the text of each id in the run, if the run has texts; cached, because it is a pass over the run."""
    known = scores.cache
    if "texts" not in known:
        known["texts"] = scores.rankings("explained").texts()
    texts: Mapping[Any, str] = known["texts"]
    return texts


def name_of(scores: Scores, metric: str | Metric) -> str:
    """Return the canonical name of the metric; KeyError if it was not computed."""
    return str(ByMetric({str(each): each for each in scores.metrics})[metric])


def _question(scores: Scores, metric: str | Metric | None) -> ExplanationTarget:
    if metric is None:
        return ExplanationTarget(cutoffs=tuple(dict.fromkeys(each.k for each in scores.metrics if each.k is not None)))
    return target_of_metric(Metric.parse(name_of(scores, metric)))


def target_of_metric(chosen: Metric) -> ExplanationTarget:
    """Return what a metric looks at."""
    parameters: dict[str, Any] = dict(chosen.parameters)
    rel = parameters.get("rel")
    return ExplanationTarget(
        cutoffs=() if chosen.k is None else (chosen.k,),
        rel=None if rel is None else float(rel),
        one_suffices=chosen.definition.one_suffices(**parameters),
        cuts_at_n_needed=chosen.definition.cuts_at_n_relevant,
    )


class OutcomeTexts:
    """The outcomes of one query, told in words."""

    def __init__(self, investigation: OutcomeSearch, outcomes: Outcomes, at: int, ranking: Any) -> None:
        """Take the query by its place among those of the outcomes, and its ranking as given."""
        self._investigation = investigation
        self._outcomes = outcomes
        self._at = at
        self._index = int(outcomes.positions[at])
        self._names = RunIds(investigation.rankings, ranking)
        self._k, self._budget = outcomes.cutoffs.limits(at)

    def findings(self) -> list[Finding]:
        """Return the outcome of each relevant document, best grade first."""
        outcomes, documents = self._outcomes, self._investigation.judged.qrels.documents
        rows = outcomes.rows_in_query(self._at)
        columns = (each[rows].tolist() for each in (outcomes.document, outcomes.grade, outcomes.kind, outcomes.rank))
        found = []
        for row, (document, grade, kind, rank) in enumerate(zip(*columns, strict=True), rows.start):
            said = self._said(KINDS[kind], row, rank)
            found.append(
                Finding(documents[document], grade, KINDS[kind], rank or None, said, outcomes.groups_in_query(row))
            )
        return found

    def _said(self, kind: Outcome, row: int, rank: int) -> str:
        outcomes = self._outcomes
        match kind:
            case "alternative_found":
                return "not needed: an alternative was found"
            case "cutoff_full":
                first = self._k if self._budget is None else self._budget.in_words
                return f"no room: the first {first} are as relevant"
            case "lost_tie":
                tied, tied_from = outcomes.tied[row], outcomes.tied_from[row]
                return f"lost a tie: {tied} documents have its score, from rank {tied_from} on"
            case "behind_duplicates":
                return f"behind {format_count(int(outcomes.n_duplicates_above[row]), 'repeated document')}"
            case "behind_same_document":
                parts = self._names.sibling_chunks(rank - 1)
                document, most = parts.most_common(1)[0]
                others = parts.total() - most
                return f"behind {format_count(most, 'further chunk')} of {document}" + (
                    f" and {others} of other documents" if others else ""
                )
            case "below_cutoff":
                return f"beyond the cut-off {self._k}"
            case "over_budget":
                return self._beyond_the_budget(rank)
            case "id_granularity":
                other = self._names.ids_of_other_granularity(
                    self._investigation.judged.qrels.documents[outcomes.document[row]]
                )[0]
                at = self._names.close_ids.index(other) + 1
                return f"its id occurs nowhere in the run, but {other!r} does, at rank {at}"
            case "not_retrieved":
                retrieved = int(self._investigation.judged.n_retrieved[self._index])
                return f"never retrieved; the ranking has {format_count(retrieved, 'document')}"
            case "empty_ranking":
                return "nothing was retrieved for this query"
            case "retriever_error":
                run: Any = self._investigation.rankings.run
                error = run.errors[self._investigation.judged.qrels.queries[self._index]]
                return f"the retriever failed: {type(error).__name__}: {error}"
            case "found":
                return "found"

    def _beyond_the_budget(self, rank: int) -> str:
        budget: Any = self._budget
        of_each = self._investigation.lengths(self._index, rank, budget)
        if budget.unit == "calls":
            return f"beyond the first {budget.in_words}: call {of_each[-1]} found it"
        return f"does not fit into the first {budget.in_words}: it ends at {sum(of_each):,}"
