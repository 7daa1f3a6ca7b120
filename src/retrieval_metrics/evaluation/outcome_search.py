"""Decide the outcome of each relevant document: whether it was found and, if not, why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.id_granularity import RunIds
from retrieval_metrics.evaluation.outcomes import CODE_BY_OUTCOME, Outcomes, QueryCutoffs
from retrieval_metrics.inputs.items import Piece
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.budget import missing_lengths_error
from retrieval_metrics.matching.rank_rows import count_above, is_relevant, ordinals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics._internal.plain_types import BoolArray, DocumentId, FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.outcomes import ExplanationTarget
    from retrieval_metrics.matching.budget import Budget
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.ranking_order import OrderedRankings


class OutcomeSearch:
    """Decides what became of the relevant documents of a run."""

    def __init__(self, judged: JudgedRun, rankings: OrderedRankings, target: ExplanationTarget) -> None:
        self.judged = judged
        self.rankings = rankings
        self.target = target

    def outcomes(self, positions: Iterable[int], *, reads_ids: bool = True) -> Outcomes:
        """Decide what became of each relevant document of some queries, given by position among the judged ones.

        Without `reads_ids`, the ids of the rankings are not read. That is faster, but leaves out the outcomes
        `id_granularity` and `behind_same_document`.
        """
        query_positions = np.array(sorted(positions), dtype=np.int64)
        relevant = self._find_relevant(query_positions)
        retrieved = find_retrieved_ranks(self.judged, query_positions, relevant.document)
        order = np.lexsort((relevant.document, -relevant.grade, relevant.query))
        relevant = relevant.take(order)
        retrieved = retrieved.take(order)
        memberships = self._find_memberships(query_positions, relevant)
        groups, member_group = np.unique(memberships.group, return_inverse=True)
        group_query = np.zeros(len(groups), dtype=np.int64)
        group_query[member_group] = relevant.query[memberships.row]
        cutoffs = QueryCutoffs(self.judged, self.target, query_positions)
        if self.target.cuts_at_n_needed:
            cutoffs.k = np.bincount(group_query, minlength=len(query_positions))
        is_found = (retrieved.rank > 0) & (retrieved.rank <= cutoffs.k[relevant.query])
        satisfied = np.zeros(len(groups), dtype=np.bool_)
        satisfied[member_group[is_found[memberships.row]]] = True
        duplicates = self.judged.duplicates
        n_duplicates_above = count_above(
            query_positions[relevant.query], retrieved.rank, duplicates.query, duplicates.rank
        )
        outcomes = Outcomes(
            positions=query_positions,
            bounds=np.searchsorted(relevant.query, np.arange(len(query_positions) + 1)),
            query=relevant.query,
            document=relevant.document,
            grade=relevant.grade,
            kind=np.full(len(relevant.document), CODE_BY_OUTCOME["not_retrieved"]),
            rank=retrieved.rank,
            tied=retrieved.n_tied,
            tied_from=retrieved.first_tied_rank,
            n_duplicates_above=n_duplicates_above,
            cutoffs=cutoffs,
            member_row=memberships.row,
            member_group=member_group,
            member_number=memberships.number,
            group_query=group_query,
            satisfied=satisfied,
        )
        unmet_rows = memberships.row[~satisfied[member_group]]
        is_needed = np.bincount(unmet_rows, minlength=len(relevant.document)) > 0
        self._decide(outcomes, is_found, is_needed, reads_ids=reads_ids)
        return outcomes

    def item_lengths(self, query_position: int, rank: int, budget: Budget) -> list[int]:
        """Return how much of a budget each item of a query takes, down to a rank; for calls, the number of its call."""
        lengths = self.judged.lengths
        if lengths is None:
            raise missing_lengths_error(budget)
        return lengths.item_lengths(self.judged.qrels.queries[query_position], rank, budget.unit)

    def _find_relevant(self, query_positions: IntArray) -> RelevantRows:
        """Return the relevant documents, each with the index of its query, ascending."""
        qrels = self.judged.qrels
        bounds = np.asarray(qrels.bounds)
        query, document = expand_ranges(bounds[query_positions], bounds[query_positions + 1])
        grade = qrels.document_grade[document]
        return RelevantRows(query, document, grade).take(is_relevant(grade, self.target.rel))

    def _find_memberships(self, query_positions: IntArray, relevant: RelevantRows) -> GroupMemberships:
        """Return the groups in which each document is relevant."""
        qrels = self.judged.qrels
        row = np.arange(len(relevant.document))
        if self.target.one_suffices:
            return GroupMemberships(row=row, group=relevant.query, number=np.ones_like(row))
        if qrels.is_flat:
            return GroupMemberships(row=row, group=row, number=ordinals(relevant.query))
        starts = np.searchsorted(qrels.member_document, relevant.document, "left")
        stops = np.searchsorted(qrels.member_document, relevant.document, "right")
        row, member = expand_ranges(starts, stops)
        is_counted = is_relevant(qrels.member_grade[member], self.target.rel)
        row = row[is_counted]
        group = qrels.member_group[member[is_counted]]
        first_group = np.searchsorted(qrels.group_query, query_positions[relevant.query[row]])
        return GroupMemberships(row=row, group=group, number=group - first_group + 1)

    def _decide(self, outcomes: Outcomes, is_found: BoolArray, is_needed: BoolArray, *, reads_ids: bool) -> None:
        """Set the kind of every row, which is `not_retrieved` before."""
        query = outcomes.query
        rank = outcomes.rank
        kind = outcomes.kind
        n_duplicates = outcomes.n_duplicates_above
        cutoffs = outcomes.cutoffs
        k = cutoffs.k[query]
        is_missing = is_needed & ~is_found & ~_has_no_room(outcomes, is_found)
        kind[~is_missing] = CODE_BY_OUTCOME["cutoff_full"]
        kind[~is_needed] = CODE_BY_OUTCOME["alternative_found"]
        kind[is_found] = CODE_BY_OUTCOME["found"]

        # Documents that were retrieved, but too late.
        is_late = is_missing & (rank > 0)
        has_text_budget = cutoffs.in_text[query]
        has_budget = has_text_budget | cutoffs.in_calls[query]
        kind[is_late & has_budget] = CODE_BY_OUTCOME["over_budget"]
        for row in np.flatnonzero(is_late & has_text_budget & (n_duplicates > 0)).tolist():
            if self._fits_without_duplicates(outcomes, row):
                kind[row] = CODE_BY_OUTCOME["behind_duplicates"]
        is_below_cutoff = is_late & ~has_budget
        kind[is_below_cutoff] = CODE_BY_OUTCOME["below_cutoff"]
        is_behind_duplicates = is_below_cutoff & (rank - n_duplicates <= k)
        kind[is_behind_duplicates] = CODE_BY_OUTCOME["behind_duplicates"]
        is_tied = is_below_cutoff & (outcomes.tied_from <= k)
        kind[is_tied] = CODE_BY_OUTCOME["lost_tie"]

        # Documents that were not retrieved.
        is_absent = is_missing & (rank == 0)
        is_empty = is_absent & (self.judged.n_retrieved[outcomes.positions] == 0)[query]
        kind[is_empty] = CODE_BY_OUTCOME["empty_ranking"]
        is_failed = is_absent & self._has_failed(outcomes.positions)[query]
        kind[is_failed] = CODE_BY_OUTCOME["retriever_error"]

        if reads_ids:
            is_absent &= ~is_empty & ~is_failed
            if self.judged.qrels.document_kind is not str:
                is_absent[:] = False  # ids that are numbers have no parts, and pieces have no ids
            self._decide_by_ids(outcomes, is_absent, is_below_cutoff & ~is_behind_duplicates & ~is_tied)

    def _has_failed(self, query_positions: IntArray) -> BoolArray:
        """Return for which queries the retriever failed, shape (queries,)."""
        run = self.rankings.run
        queries = self.judged.qrels.queries
        has_failed = np.zeros(len(query_positions), dtype=np.bool_)
        if isinstance(run, RetrievedRun) and run.errors:
            for query_index, query_position in enumerate(query_positions.tolist()):
                has_failed[query_index] = run.errors.get(queries[query_position]) is not None
        return has_failed

    def _fits_without_duplicates(self, outcomes: Outcomes, row: int) -> bool:
        """Return whether a document would fit into its budget of text if repeated documents took no room."""
        query_index = outcomes.query[row]
        query_position = int(outcomes.positions[query_index])
        rank = int(outcomes.rank[row])
        budget = outcomes.cutoffs.find_budget(query_index)
        assert budget is not None  # noqa: S101  (the row has a budget of text)
        lengths = self.item_lengths(query_position, rank, budget)
        duplicates = self.judged.duplicates
        is_above = (duplicates.query == query_position) & (duplicates.rank < rank)
        length_taken = sum(lengths)
        for duplicate_rank in duplicates.rank[is_above].tolist():
            length_taken -= lengths[duplicate_rank - 1]
        return length_taken <= budget.size

    def _decide_by_ids(self, outcomes: Outcomes, is_absent: BoolArray, is_late: BoolArray) -> None:
        """Decide the outcomes that depend on the spelling of ids.

        For absent documents, look for ids of another granularity; for late ones, for further parts of one document
        above them.
        """
        qrels = self.judged.qrels
        kind = outcomes.kind
        rows_by_query = self._group_by_query(outcomes, np.flatnonzero(is_absent | is_late))
        # How far a document is below its cutoff if repeats are not counted. Without at least as many further parts
        # above it, the document would still be below the cutoff.
        excess = outcomes.rank - outcomes.n_duplicates_above - outcomes.cutoffs.k[outcomes.query]
        rows_by_respelled: dict[DocumentId, list[int]] = {}
        for query, ranking in self.rankings.iterate(rows_by_query):
            ids = RunIds(self.rankings, ranking)
            for row in rows_by_query[query]:
                if is_late[row]:
                    n_above = int(outcomes.rank[row]) - 1
                    if not ids.are_plain and ids.has_further_parts(n_above, int(excess[row])):
                        kind[row] = CODE_BY_OUTCOME["behind_same_document"]
                    continue
                document = qrels.documents[outcomes.document[row]]
                if not isinstance(document, Piece) and ids.find_ids_of_other_granularity(document):
                    rows_by_respelled.setdefault(document, []).append(row)
        occurring = self.rankings.find_occurring(rows_by_respelled)
        for document, rows in rows_by_respelled.items():
            if document not in occurring:
                kind[rows] = CODE_BY_OUTCOME["id_granularity"]

    def _group_by_query(self, outcomes: Outcomes, rows: IntArray) -> dict[QueryId, list[int]]:
        """Return rows of the outcomes by the id of their query."""
        queries = self.judged.qrels.queries
        rows_by_query: dict[QueryId, list[int]] = {}
        query_positions = outcomes.positions[outcomes.query[rows]].tolist()
        for row, query_position in zip(rows.tolist(), query_positions, strict=True):
            rows_by_query.setdefault(queries[query_position], []).append(row)
        return rows_by_query


@dataclass(frozen=True, slots=True)
class RelevantRows:
    """Relevant documents as columns: the index of their query, their position in `Qrels.documents`, their grade."""

    query: IntArray
    document: IntArray
    grade: FloatArray

    def take(self, rows: IntArray | BoolArray) -> RelevantRows:
        """Return some rows, by their numbers or by a mask."""
        return RelevantRows(self.query[rows], self.document[rows], self.grade[rows])


@dataclass(frozen=True, slots=True)
class RetrievedRanks:
    """Where documents were retrieved: the rank (0 if absent), how many have its score, and the first rank of these."""

    rank: IntArray
    n_tied: IntArray
    first_tied_rank: IntArray

    def take(self, rows: IntArray) -> RetrievedRanks:
        """Return some rows."""
        return RetrievedRanks(self.rank[rows], self.n_tied[rows], self.first_tied_rank[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMemberships:
    """The groups in which documents are relevant: the row of the document, the group, its number in the query."""

    row: IntArray
    group: IntArray
    number: IntArray


def find_retrieved_ranks(judged: JudgedRun, query_positions: IntArray, document: IntArray) -> RetrievedRanks:
    """Return where documents of some queries were retrieved; the documents must be in ascending order."""
    items = judged.items
    starts = np.searchsorted(items.query, query_positions, "left")
    stops = np.searchsorted(items.query, query_positions, "right")
    _, item = expand_ranges(starts, stops)
    row = np.searchsorted(document, items.document[item])
    is_listed = np.append(document, -1)[row] == items.document[item]
    row = row[is_listed]
    item = item[is_listed]
    rank = np.zeros(len(document), dtype=np.int64)
    rank[row] = items.rank[item]
    n_tied = np.ones(len(document), dtype=np.int64)
    n_tied[row] = items.tied[item]
    first_tied_rank = np.zeros(len(document), dtype=np.int64)
    first_tied_rank[row] = items.tied_from[item]
    return RetrievedRanks(rank, n_tied, first_tied_rank)


def _has_no_room(outcomes: Outcomes, is_found: BoolArray) -> BoolArray:
    """Return which documents are no better than any of the first `k`, all of which are relevant."""
    query = outcomes.query
    cutoffs = outcomes.cutoffs
    n_queries = len(outcomes.positions)
    rows = np.flatnonzero(is_found)
    rows = rows[np.lexsort((-outcomes.grade[rows], outcomes.rank[rows], query[rows]))]
    is_new_query = np.diff(query[rows], prepend=-1) != 0
    is_new_rank = np.diff(outcomes.rank[rows], prepend=-1) != 0
    # If several documents are at one rank, only the best counts.
    best_rows = rows[is_new_query | is_new_rank]
    n_taken = np.bincount(query[best_rows], minlength=n_queries)
    lowest_grade = np.full(n_queries, np.inf)
    np.minimum.at(lowest_grade, query[best_rows], np.maximum(outcomes.grade[best_rows], 0.0))
    lowest_grade[n_taken == 0] = 0.0
    is_full = (n_taken == cutoffs.k) & ~cutoffs.in_calls  # a call has room for everything
    has_no_room: BoolArray = is_full[query] & (lowest_grade[query] >= outcomes.grade)
    return has_no_room


def expand_ranges(starts: IntArray, stops: IntArray) -> tuple[IntArray, IntArray]:
    """Return every number in several ranges: the index of its range, and the number itself.

    Example:
        >>> [column.tolist() for column in expand_ranges(np.array([3, 8]), np.array([5, 9]))]
        [[0, 0, 1], [3, 4, 8]]
    """
    sizes = stops - starts
    range_index = np.repeat(np.arange(len(sizes)), sizes)
    offset_in_range = np.arange(len(range_index)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return range_index, offset_in_range + starts[range_index]
