"""Explain the queries of one evaluation: what each needed, whether it was found, and what was retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.evaluation.by_metric import ByMetric
from retrieval_metrics.evaluation.evaluation_wording import NOT_IN_ANY_STAGE, format_partial_match
from retrieval_metrics.evaluation.judged_results import JudgedResults
from retrieval_metrics.evaluation.outcome_facts import QueryFindings
from retrieval_metrics.evaluation.outcome_search import OutcomeSearch
from retrieval_metrics.evaluation.outcomes import ExplanationTarget
from retrieval_metrics.evaluation.relevant_texts import RelevantTexts
from retrieval_metrics.evaluation.stage_losses import StageLosses, find_stage_sources, judge_stages
from retrieval_metrics.inputs.items import Piece, Retrieved, item_identity
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.search_history import SearchHistory
from retrieval_metrics.matching.judge import judge
from retrieval_metrics.matching.ranking_order import TIES_BY_ID
from retrieval_metrics.metrics.base.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from retrieval_metrics._internal.plain_types import QueryId
    from retrieval_metrics.evaluation.judged_results import Result
    from retrieval_metrics.evaluation.outcomes import Finding, Outcomes
    from retrieval_metrics.evaluation.scores import Scores


# The number of results shown for a metric without a cutoff.
DEFAULT_N_RESULTS = 10


@dataclass(frozen=True)
class ExplainedQuery:
    """One query: what was needed, whether it was found, and what was retrieved.

    Attributes:
        query: The query.
        findings: One per relevant document, best grade first.
        failures: One per relevant document or group that is missing; for a group, the nearest miss.
        n_needed: How many relevant documents, or groups, are needed.
        n_found: How many of them were found.
        ranking: What was retrieved, as given.
        query_position: The position of the query among the judged ones.
        k: The cutoff of the metric in items; None if it has none.
    """

    query: QueryId
    findings: tuple[Finding, ...]
    failures: tuple[Finding, ...]
    n_needed: int
    n_found: int
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
    """Explains the queries of an evaluation for one metric, or at the largest cutoff of all.

    Attributes:
        names: The names of the metrics whose values are shown.
        target: Which documents are looked for, and down to which rank.
    """

    def __init__(
        self, scores: Scores, metric: str | Metric | None = None, corpus: Mapping[Any, str] | None = None
    ) -> None:
        """Prepare the explanation of scores for a metric; None takes the largest cutoff of all metrics."""
        origin = scores.require_origin("explained")
        self.scores = scores
        self.rankings = scores.rankings("explained")
        if metric is None:
            self.names = [str(computed) for computed in scores.metrics]
            self.target = _target_of_all_metrics(scores)
        else:
            name = find_metric_name(scores, metric)
            self.names = [name]
            self.target = target_of_metric(Metric.parse(name))
        self._corpus: Mapping[Any, str] = {} if corpus is None else corpus
        self._judged = origin.judged
        self._search = OutcomeSearch(origin.judged, self.rankings, self.target)
        self._judged_results = JudgedResults(origin.judged, self.rankings)
        self._losses: StageLosses | None = None

    @cached_property
    def relevant_texts(self) -> RelevantTexts:
        """The texts of the needed documents."""
        covered = self._judged.covered
        moved = {} if covered is None else covered.moved
        return RelevantTexts(self.rankings.matching, self._texts, moved)

    @cached_property
    def _texts(self) -> Mapping[Any, str]:
        return FallbackTexts(self._corpus, retrieved_texts(self.scores))

    def outcomes(self, positions: Iterable[int]) -> Outcomes:
        """Decide what became of everything that some queries need, given by their position among the judged ones."""
        outcomes = self._search.outcomes(positions)
        losses = self.stage_losses(outcomes)
        if losses is not None:
            losses.mark_dropped()
        return outcomes

    def stage_losses(self, outcomes: Outcomes) -> StageLosses | None:
        """Return the outcomes stage by stage; None if the run does not tell its stages."""
        if not judge_stages(self.scores):
            return None
        # The losses of the last outcomes are kept, because they are asked for again with the same outcomes.
        if self._losses is None or not self._losses.is_for(outcomes):
            self._losses = StageLosses(self.scores, outcomes, self.target, find_stage_sources(self.scores))
        return self._losses

    def explain(self, outcomes: Outcomes, query_indices: Iterable[int] | None = None) -> Iterator[ExplainedQuery]:
        """Explain some queries of the outcomes, given by index, in any order; None explains all."""
        queries = self._judged.qrels.queries
        if query_indices is None:
            query_indices = range(len(outcomes.positions))
        index_by_query = {queries[outcomes.positions[query_index]]: query_index for query_index in query_indices}
        unmet_rows = outcomes.nearest_miss_rows
        bounds = np.searchsorted(outcomes.query[unmet_rows], np.arange(len(outcomes.positions) + 1))
        losses = self.stage_losses(outcomes)
        for query, ranking in self.rankings.iterate(index_by_query):
            query_index = index_by_query[query]
            first_row = outcomes.rows_in_query(query_index).start
            findings = []
            query_findings = QueryFindings(self._search, outcomes, query_index, ranking, losses).findings()
            for row, finding in enumerate(query_findings, first_row):
                rank_history = "" if losses is None else losses.rank_history(row)
                findings.append(self._with_history(query, finding, rank_history))
            unmet_rows_of_query = unmet_rows[bounds[query_index] : bounds[query_index + 1]]
            yield ExplainedQuery(
                query=query,
                findings=tuple(findings),
                failures=tuple(findings[row - first_row] for row in unmet_rows_of_query.tolist()),
                n_needed=int(outcomes.n_needed[query_index]),
                n_found=int(outcomes.n_satisfied[query_index]),
                ranking=ranking,
                query_position=int(outcomes.positions[query_index]),
                k=None if self.target.cuts_at_n_needed else outcomes.cutoffs.find_k(query_index),
            )

    def _with_history(self, query: QueryId, finding: Finding, rank_history: str) -> Finding:
        """Return a finding that also says what stages, or the calls of an agent, did with the document, if known."""
        run = self.rankings.run
        if not isinstance(run, RetrievedRun) or finding.kind == "over_budget":
            return finding
        searches = ""
        if isinstance(run, SearchHistory):
            searches = self._describe_searches(run, query, finding.document)
        if searches and finding.kind in {"dropped", "not_retrieved", "empty_ranking"}:
            # The outcome is that of this view of the searches; their history says more.
            return replace(finding, detail=searches)
        if finding.kind == "found" and searches.startswith(finding.detail):
            # The history begins with the outcome: found by a call.
            return replace(finding, detail=searches)
        history = searches or rank_history
        if not history:
            return finding
        detail = finding.detail
        if finding.kind == "not_retrieved":
            detail = NOT_IN_ANY_STAGE
        return replace(finding, detail=f"{detail}; {history}")

    def _describe_searches(self, history: SearchHistory, query: QueryId, document: Any) -> str:
        """Describe what the searches behind a run did with a document."""
        if isinstance(document, Piece):
            matching_items = self._find_items_with_piece(history, query, document)

            def holds_piece(item: Any) -> bool:
                return (item_identity(item), getattr(item, "text", None)) in matching_items

            return history.document_story(query, holds_piece)
        key = self.rankings.matching.key

        def is_document(item: Any) -> bool:
            item_id = key(item) if isinstance(item, Retrieved) else item
            return bool(item_id == document)

        return history.document_story(query, is_document)

    def _find_items_with_piece(self, history: SearchHistory, query: QueryId, piece: Piece) -> set[Any]:
        """Return the identity and the text of each item that holds a whole piece.

        Each identity is also there with None for the text, because a history may hold an item without its text.
        """
        items: Any = history.all_retrieved(query)
        if not items:
            return set()
        qrels: Any = {query: [piece]}
        run_of_query: Any = {query: items}
        judged = judge(as_qrels(qrels), run_of_query, self.rankings.matching, TIES_BY_ID)
        matching_items = set()
        for rank in judged.ranks.rank.tolist():
            item = items[rank - 1]
            matching_items.add((item_identity(item), item.text))
            matching_items.add((item_identity(item), None))
        return matching_items

    def results(self, explained: ExplainedQuery, k: int | None = None) -> tuple[Result, ...]:
        """Return the first `k` results of a query; None takes the metric's cutoff."""
        if k is None:
            k = DEFAULT_N_RESULTS if explained.k is None else explained.k
        results = self._judged_results.first(explained.query_position, explained.ranking, max(k, 1), self._texts)
        return tuple(results)

    def with_partial_matches(self, findings: Sequence[Finding], results: Sequence[Result]) -> tuple[Finding, ...]:
        """Return the findings, which for a piece that no result holds whole name the results that hold a part of it."""
        return tuple(self._with_partial_match(finding, results) for finding in findings)

    def _with_partial_match(self, finding: Finding, results: Sequence[Result]) -> Finding:
        document = finding.document
        if finding.kind != "not_retrieved" or not isinstance(document, Piece):
            return finding
        ranks = [result.rank for result in results if self.relevant_texts.marked_parts(result.item, document)]
        return replace(finding, detail=format_partial_match(ranks)) if ranks else finding

    def with_texts(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return the findings with the texts of their documents."""
        return tuple(replace(finding, text=self.relevant_texts.text(finding.document)) for finding in findings)


def retrieved_texts(scores: Scores) -> Mapping[Any, str]:
    """Return the text of each id in the run, if the run has texts; cached, because it takes a pass over the run."""
    cache = scores.cache
    if cache.texts is None:
        cache.texts = scores.rankings("explained").texts()
    return cache.texts


def find_metric_name(scores: Scores, metric: str | Metric) -> str:
    """Return the canonical name of the metric; KeyError if it was not computed."""
    return ByMetric({str(computed): str(computed) for computed in scores.metrics})[metric]


def target_of_metric(metric: Metric) -> ExplanationTarget:
    """Return which documents a metric looks for, and down to which rank."""
    parameters: dict[str, Any] = dict(metric.parameters)
    rel = parameters.get("rel")
    return ExplanationTarget(
        cutoffs=() if metric.k is None else (metric.k,),
        rel=None if rel is None else float(rel),
        one_suffices=metric.definition.one_suffices(**parameters),
        cuts_at_n_needed=metric.definition.cuts_at_n_relevant,
    )


def _target_of_all_metrics(scores: Scores) -> ExplanationTarget:
    """Return the target without a metric: every document of a grade above 0, down to the largest cutoff."""
    cutoffs = [metric.k for metric in scores.metrics if metric.k is not None]
    return ExplanationTarget(cutoffs=tuple(dict.fromkeys(cutoffs)))
