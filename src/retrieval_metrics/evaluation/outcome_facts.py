"""Find the numbers that explain what became of each relevant document of a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.evaluation_wording import format_outcome
from retrieval_metrics.evaluation.id_granularity import RunIds
from retrieval_metrics.evaluation.outcomes import OUTCOME_KINDS, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.evaluation.outcome_search import OutcomeSearch
    from retrieval_metrics.evaluation.outcomes import Outcome, Outcomes
    from retrieval_metrics.evaluation.stage_losses import StageLosses
    from retrieval_metrics.matching.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeFacts:
    """What became of one relevant document, with the numbers that its kind of outcome has.

    Attributes:
        kind: The outcome.
        k: How many items of its query count; None for all.
        budget: The budget that they fit into, if the cutoff is one.
        n_tied: For a lost tie, the number of documents with its score, itself included.
        first_tied_rank: For a lost tie, the first rank of these documents.
        n_duplicates_above: How many repeated documents are above it.
        sibling_document: If chunks of other documents are above it, the document with most of these chunks.
        n_sibling_chunks: The number of chunks of `sibling_document` above it, without the first.
        n_other_sibling_chunks: The number of such chunks of other documents.
        item_lengths: If it is over a budget, how much of the budget each item down to its rank takes; for a budget of
            calls, the number of the call that found each item.
        related_id: The first retrieved id of another granularity that looks like the same document.
        related_id_rank: The rank of `related_id`.
        stage: The name of the stage that dropped it.
        n_retrieved: How many documents the ranking has.
        error: What the retriever raised.
    """

    kind: Outcome
    k: int | None = None
    budget: Budget | None = None
    n_tied: int = 0
    first_tied_rank: int = 0
    n_duplicates_above: int = 0
    sibling_document: str = ""
    n_sibling_chunks: int = 0
    n_other_sibling_chunks: int = 0
    item_lengths: Sequence[int] = ()
    related_id: DocumentId | None = None
    related_id_rank: int = 0
    stage: str = ""
    n_retrieved: int = 0
    error: Exception | None = None


class QueryFindings:
    """The outcomes of one query with the numbers that explain them."""

    def __init__(
        self,
        search: OutcomeSearch,
        outcomes: Outcomes,
        query_index: int,
        ranking: Any,
        losses: StageLosses | None = None,
    ) -> None:
        """Take the query by its index in the outcomes, its ranking as given, and the outcomes stage by stage."""
        self._search = search
        self._losses = losses
        self._outcomes = outcomes
        self._query_index = query_index
        self._query_position = int(outcomes.positions[query_index])
        self._ids = RunIds(search.rankings, ranking)
        self._k = outcomes.cutoffs.find_k(query_index)
        self._budget = outcomes.cutoffs.find_budget(query_index)

    def findings(self) -> list[Finding]:
        """Return the outcome of each relevant document in words, best grade first."""
        outcomes = self._outcomes
        documents = self._search.judged.qrels.documents
        first_row = outcomes.rows_in_query(self._query_index).start
        findings = []
        for row, facts in enumerate(self.facts(), first_row):
            finding = Finding(
                document=documents[outcomes.document[row]],
                grade=outcomes.grade[row].item(),
                kind=facts.kind,
                rank=outcomes.rank[row].item() or None,
                detail=format_outcome(facts),
                groups=outcomes.groups_in_query(row),
            )
            findings.append(finding)
        return findings

    def facts(self) -> list[OutcomeFacts]:
        """Return the outcome of each relevant document with its numbers, best grade first."""
        rows = self._outcomes.rows_in_query(self._query_index)
        return [self._facts(row) for row in range(rows.start, rows.stop)]

    def _facts(self, row: int) -> OutcomeFacts:
        outcomes = self._outcomes
        judged = self._search.judged
        kind: Outcome = OUTCOME_KINDS[int(outcomes.kind[row])]
        match kind:
            case "found" | "alternative_found" | "empty_ranking":
                return OutcomeFacts(kind=kind)
            case "cutoff_full" | "below_cutoff":
                return OutcomeFacts(kind=kind, k=self._k, budget=self._budget)
            case "lost_tie":
                return OutcomeFacts(
                    kind=kind, n_tied=int(outcomes.tied[row]), first_tied_rank=int(outcomes.tied_from[row])
                )
            case "behind_duplicates":
                return OutcomeFacts(kind=kind, n_duplicates_above=int(outcomes.n_duplicates_above[row]))
            case "behind_same_document":
                return self._sibling_facts(row)
            case "over_budget":
                return self._budget_facts(row)
            case "id_granularity":
                related_id = self._ids.find_ids_of_other_granularity(judged.qrels.documents[outcomes.document[row]])[0]
                rank = self._ids.ranked_ids.index(related_id) + 1
                return OutcomeFacts(kind=kind, related_id=related_id, related_id_rank=rank)
            case "dropped":
                assert self._losses is not None  # noqa: S101  (nothing is dropped without stages)
                return OutcomeFacts(kind=kind, stage=self._losses.losing_stage(row))
            case "not_retrieved":
                return OutcomeFacts(kind=kind, n_retrieved=int(judged.n_retrieved[self._query_position]))
            case "retriever_error":
                run: Any = self._search.rankings.run
                return OutcomeFacts(kind=kind, error=run.errors[judged.qrels.queries[self._query_position]])

    def _sibling_facts(self, row: int) -> OutcomeFacts:
        rank = int(self._outcomes.rank[row])
        sibling_counts = self._ids.count_sibling_chunks(rank - 1)
        ((document, n_chunks),) = sibling_counts.most_common(1)
        return OutcomeFacts(
            kind="behind_same_document",
            sibling_document=document,
            n_sibling_chunks=n_chunks,
            n_other_sibling_chunks=sibling_counts.total() - n_chunks,
        )

    def _budget_facts(self, row: int) -> OutcomeFacts:
        budget = self._budget
        assert budget is not None  # noqa: S101  (nothing is over a budget without one)
        lengths = self._search.item_lengths(self._query_position, int(self._outcomes.rank[row]), budget)
        return OutcomeFacts(kind="over_budget", budget=budget, item_lengths=lengths)
