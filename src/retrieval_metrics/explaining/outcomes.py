"""Decide the outcome of each relevant document, for all queries in one pass or for a single one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.explaining.finding import FAILURES, KINDS
from retrieval_metrics.explaining.granularity import Names
from retrieval_metrics.inputs.pieces import Piece
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.judging.judged_rows import count_above, is_relevant, ordinals
from retrieval_metrics.judging.matching.budget import Budget, no_lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from retrieval_metrics.aliases import BoolArray, DocumentId, FloatArray, IntArray
    from retrieval_metrics.explaining.finding import Outcome
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.ranking_order import Rankings

EVERYTHING = np.iinfo(np.int64).max
"""The cut-off of a metric that reads whole rankings."""
CODE: dict[Outcome, int] = {kind: code for code, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Question:
    """What to check for every query: which documents are relevant, down to which rank, and whether one suffices.

    Attributes:
        cuts: The cut-offs, in items or as budgets, of which the one that keeps most of a ranking counts; empty takes
            the whole ranking.
        rel: The threshold of relevance; None counts every grade above 0.
        one_suffices: Whether a single relevant document is all that is needed.
        at_needed: Whether the cut-off is the number of documents or groups that each query needs, as in R-precision.
    """

    cuts: tuple[int | Budget, ...] = ()
    rel: float | None = None
    one_suffices: bool = False
    at_needed: bool = False


class Cutoffs:
    """How many items of each query count.

    Attributes:
        k: Shape (queries,), the number of items; `EVERYTHING` without a cut-off.
    """

    def __init__(self, judged: JudgedRun, question: Question, positions: IntArray) -> None:
        """Take the cut-off that keeps most, for each of some queries."""
        self._cuts = question.cuts
        kept = [judged.cutoff(cut) for cut in question.cuts]
        columns = [each[positions] if isinstance(each, np.ndarray) else np.full(len(positions), each) for each in kept]
        self._kept = np.argmax(columns, axis=0) if columns else np.zeros(len(positions), dtype=np.int64)
        self.k: IntArray = np.max(columns, axis=0) if columns else np.full(len(positions), EVERYTHING)

    def of(self, at: int) -> tuple[int | None, Budget | None]:
        """Return how many items of a query count, None for all, and the budget that they fit into, if it is one."""
        k, budget = int(self.k[at]), self.budget(at)
        return (None if k == EVERYTHING else k), budget

    def budget(self, at: int) -> Budget | None:
        """Return the budget that the items of a query fit into, if its cut-off is one."""
        cut = self._cuts[int(self._kept[at])] if self._cuts else None
        return cut if isinstance(cut, Budget) else None

    @cached_property
    def in_calls(self) -> BoolArray:
        """Which cut-offs are a number of an agent's calls, shape (queries,)."""
        return self._where(lambda cut: isinstance(cut, Budget) and cut.unit == "calls")

    @cached_property
    def in_text(self) -> BoolArray:
        """Which cut-offs are a budget of text, shape (queries,)."""
        return self._where(lambda cut: isinstance(cut, Budget) and cut.unit != "calls")

    def _where(self, holds: Callable[[int | Budget], bool]) -> BoolArray:
        held: BoolArray = np.array([*map(holds, self._cuts or (0,))])[self._kept]
        return held


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """The outcome of every relevant document of some queries: rows by query, in each the best grade first.

    Attributes:
        positions: Shape (queries,), the queries, as positions among the judged ones, ascending.
        bounds: Shape (queries + 1,): query `i` owns the rows from `bounds[i]` to `bounds[i + 1]`.
        query: Shape (rows,), the query of each row, as its place in `positions`.
        document: Shape (rows,), the document, as its position in `Qrels.documents`.
        grade: Shape (rows,), its grade.
        kind: Shape (rows,), what became of it, as its place in `KINDS`.
        rank: Shape (rows,), the rank at which it was retrieved; 0 if it was not.
        tied: Shape (rows,), how many documents have its score, itself included.
        tied_from: Shape (rows,), the first rank of those.
        repeats: Shape (rows,), how many repeated documents are above it.
        cutoffs: How many items of each query count.
        member_row: Shape (members,), ascending: a row that belongs to a group.
        member_group: Shape (members,), that group; one satisfied document is all that a group needs.
        member_number: Shape (members,), its number within the query, from 1.
        group_query: Shape (groups,), the query of each group, as its place in `positions`.
        satisfied: Shape (groups,), whether one of its documents was found.
    """

    positions: IntArray
    bounds: IntArray
    query: IntArray
    document: IntArray
    grade: FloatArray
    kind: IntArray
    rank: IntArray
    tied: IntArray
    tied_from: IntArray
    repeats: IntArray
    cutoffs: Cutoffs
    member_row: IntArray
    member_group: IntArray
    member_number: IntArray
    group_query: IntArray
    satisfied: BoolArray

    @cached_property
    def needed(self) -> IntArray:
        """How many documents, or groups, each query needs, shape (queries,)."""
        return np.bincount(self.group_query, minlength=len(self.positions))

    @cached_property
    def met(self) -> IntArray:
        """How many of them were found, shape (queries,)."""
        return np.bincount(self.group_query[self.satisfied], minlength=len(self.positions))

    @cached_property
    def unmet(self) -> IntArray:
        """The row that stands for each unmet group: the nearest miss, of which the first. Ordered by query and group.

        A group of which every document had no room is neither met nor missing.
        """
        missed = np.flatnonzero((self.kind[self.member_row] < len(FAILURES)) & ~self.satisfied[self.member_group])
        row, group = self.member_row[missed], self.member_group[missed]
        order = np.lexsort((row, self.kind[row], group))
        first = np.diff(group[order], prepend=-1) != 0
        nearest: IntArray = row[order][first]
        return nearest

    @cached_property
    def n_unmet(self) -> IntArray:
        """How many groups of each query are missing, shape (queries,)."""
        return np.bincount(self.query[self.unmet], minlength=len(self.positions))

    def rows_of(self, at: int) -> slice:
        """Return the rows of a query, by its place in `positions`."""
        return slice(int(self.bounds[at]), int(self.bounds[at + 1]))

    def groups_of(self, row: int) -> tuple[int, ...]:
        """Return the numbers of the groups that a row belongs to."""
        first, last = np.searchsorted(self.member_row, [row, row + 1])
        return tuple(self.member_number[first:last].tolist())

    def failures(self, among: BoolArray | None = None) -> Counter[Outcome]:
        """Count what went wrong, one failure for each unmet group of some queries, or of all."""
        rows = self.unmet if among is None else self.unmet[among[self.query[self.unmet]]]
        counts = np.bincount(self.kind[rows], minlength=len(KINDS)).tolist()
        return Counter({kind: times for kind, times in zip(KINDS, counts, strict=True) if times})


class Investigation:
    """Looks for the relevant documents of a run."""

    def __init__(self, judged: JudgedRun, rankings: Rankings, question: Question) -> None:
        self.judged = judged
        self.rankings = rankings
        self.question = question

    def outcomes(self, positions: Iterable[int]) -> Outcomes:
        """Decide what became of each relevant document of some queries, given by position among the judged ones."""
        at = np.array(sorted(positions), dtype=np.int64)
        query, document = self._relevant(at)
        grade = self.judged.qrels.document_grade[document]
        rank, tied, tied_from = self._retrieved(at, document)
        order = np.lexsort((document, -grade, query))
        query, document, grade = query[order], document[order], grade[order]
        rank, tied, tied_from = rank[order], tied[order], tied_from[order]
        row, group, number = self._groups(at, query, document)
        groups, group = np.unique(group, return_inverse=True)
        group_query = np.zeros(len(groups), dtype=np.int64)
        group_query[group] = query[row]
        cutoffs = Cutoffs(self.judged, self.question, at)
        if self.question.at_needed:
            cutoffs.k = np.bincount(group_query, minlength=len(at))
        found = (rank > 0) & (rank <= cutoffs.k[query])
        satisfied = np.zeros(len(groups), dtype=np.bool_)
        satisfied[group[found[row]]] = True
        repeats = self.judged.repeats
        outcomes = Outcomes(
            positions=at,
            bounds=np.searchsorted(query, np.arange(len(at) + 1)),
            query=query,
            document=document,
            grade=grade,
            kind=np.full(len(document), CODE["never retrieved"]),
            rank=rank,
            tied=tied,
            tied_from=tied_from,
            repeats=np.where(rank > 0, count_above(at[query], rank, repeats.query, repeats.rank), 0),
            cutoffs=cutoffs,
            member_row=row,
            member_group=group,
            member_number=number,
            group_query=group_query,
            satisfied=satisfied,
        )
        needed = np.bincount(row[~satisfied[group]], minlength=len(document)) > 0
        self._decide(outcomes, found, needed)
        return outcomes

    def _relevant(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        """Return the relevant documents, each with its query as a place in `positions`, ascending."""
        bounds = np.asarray(self.judged.qrels.bounds)
        query, document = _ranges(bounds[positions], bounds[positions + 1])
        relevant = is_relevant(self.judged.qrels.document_grade[document], self.question.rel)
        return query[relevant], document[relevant]

    def _retrieved(self, positions: IntArray, document: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return rank (0 if not retrieved), number of equal scores and their first rank of each document."""
        items = self.judged.items
        begins, ends = (np.searchsorted(items.query, positions, side) for side in ("left", "right"))
        _, at = _ranges(begins, ends)
        place = np.searchsorted(document, items.document[at])
        same = np.append(document, -1)[place] == items.document[at]
        place, at = place[same], at[same]
        rank, tied, tied_from = (np.full(len(document), usual) for usual in (0, 1, 0))
        rank[place], tied[place], tied_from[place] = items.rank[at], items.tied[at], items.tied_from[at]
        return rank, tied, tied_from

    def _groups(self, positions: IntArray, query: IntArray, document: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the groups in which each document is relevant: its row, the group, and its number in the query."""
        qrels, row = self.judged.qrels, np.arange(len(document))
        if self.question.one_suffices:
            return row, query, np.ones_like(row)
        if qrels.is_flat:
            return row, row, ordinals(query)
        begins, ends = (np.searchsorted(qrels.member_document, document, side) for side in ("left", "right"))
        row, member = _ranges(begins, ends)
        counts = is_relevant(qrels.member_grade[member], self.question.rel)
        row, group = row[counts], qrels.member_group[member[counts]]
        return row, group, group - np.searchsorted(qrels.group_query, positions[query[row]]) + 1

    def _decide(self, outcomes: Outcomes, found: BoolArray, needed: BoolArray) -> None:
        """Set the kind of every row; what was never retrieved is so already."""
        query, rank, kind, cutoffs = outcomes.query, outcomes.rank, outcomes.kind, outcomes.cutoffs
        k, repeats = cutoffs.k[query], outcomes.repeats
        missing = needed & ~found & ~_no_room(outcomes, found)
        kind[~missing] = CODE["no room"]
        kind[~needed] = CODE["not needed"]
        kind[found] = CODE["found"]
        absent, late = missing & (rank == 0), missing & (rank > 0)
        of_text, of_calls = cutoffs.in_text[query], cutoffs.in_calls[query]
        kind[late] = np.where(of_text | of_calls, CODE["beyond the budget"], CODE["beyond the cut-off"])[late]
        for row in np.flatnonzero(late & of_text & (repeats > 0)).tolist():
            if self._fits_without_repeats(outcomes, row):
                kind[row] = CODE["behind repeats"]
        late &= ~(of_text | of_calls)
        behind = late & (rank - repeats <= k)
        kind[behind] = CODE["behind repeats"]
        tied = late & (outcomes.tied > 1) & (outcomes.tied_from <= k)
        kind[tied] = CODE["lost a tie"]
        empty = absent & (self.judged.n_retrieved[outcomes.positions] == 0)[query]
        kind[empty] = CODE["nothing retrieved"]
        failed = absent & self._failed(outcomes.positions)[query]
        kind[failed] = CODE["the retriever failed"]
        self._decide_by_names(outcomes, absent & ~empty & ~failed, late & ~behind & ~tied)

    def _failed(self, positions: IntArray) -> BoolArray:
        """Return for which queries the retriever failed, shape (queries,)."""
        run, queries = self.rankings.run, self.judged.qrels.queries
        errors = run.errors if isinstance(run, RetrievedRun) else {}
        failed = (errors.get(queries[at]) is not None for at in positions.tolist()) if errors else ()
        return np.fromiter(failed, np.bool_) if errors else np.zeros(len(positions), dtype=np.bool_)

    def _fits_without_repeats(self, outcomes: Outcomes, row: int) -> bool:
        """Return whether a document would fit into its budget of text if repeated documents took no room."""
        repeats, at = self.judged.repeats, outcomes.query[row]
        budget, rank, index = outcomes.cutoffs.budget(at), int(outcomes.rank[row]), int(outcomes.positions[at])
        assert budget is not None  # noqa: S101  (asked of budgets only)
        of_each = self.lengths(index, rank, budget)
        again = repeats.rank[(repeats.query == index) & (repeats.rank < rank)]
        return sum(of_each) - sum(of_each[int(one) - 1] for one in again) <= budget.size

    def lengths(self, index: int, rank: int, budget: Budget) -> list[int]:
        """Return how much of a budget each item of a query takes, down to a rank; for calls, which one found it."""
        lengths = self.judged.lengths
        if lengths is None:
            raise no_lengths(budget)
        return lengths.of_items(self.judged.qrels.queries[index], rank, budget.unit)

    def _decide_by_names(self, outcomes: Outcomes, absent: BoolArray, late: BoolArray) -> None:
        """Look for other names of what was never retrieved, and for parts of one document above what came too late."""
        qrels, kind = self.judged.qrels, outcomes.kind
        if qrels.document_kind is not str:
            absent = np.zeros_like(absent)  # numbers have no parts, and pieces no names
        rows = np.flatnonzero(absent | late)
        begins = np.flatnonzero(np.diff(outcomes.query[rows], prepend=-1))
        places = zip(begins.tolist(), [*begins.tolist()[1:], len(rows)], strict=False)
        at = outcomes.positions[outcomes.query[rows[begins]]].tolist()
        asked = dict(zip([qrels.queries[one] for one in at], places, strict=True))
        listed, is_late, documents = rows.tolist(), late[rows].tolist(), outcomes.document[rows].tolist()
        # How many ranks are too many, if repeated documents took none: as many parts above must be further ones.
        excess = (outcomes.rank - outcomes.repeats - outcomes.cutoffs.k[outcomes.query])[rows].tolist()
        above = (outcomes.rank[rows] - 1).tolist()
        related: dict[DocumentId, list[int]] = {}
        for query, ranking in self.rankings.of(asked):
            names = Names(self.rankings, ranking)
            for place in range(*asked[query]):
                if not is_late[place]:
                    document = qrels.documents[documents[place]]
                    if not isinstance(document, Piece) and names.relatives(document):
                        related.setdefault(document, []).append(listed[place])
                elif not names.are_plain and names.has_further_parts(above[place], excess[place]):
                    kind[listed[place]] = CODE["behind chunks of one document"]
        occurring = self.rankings.occurring(related)
        for document, of_it in related.items():
            if document not in occurring:
                kind[of_it] = CODE["another granularity"]


def _no_room(outcomes: Outcomes, found: BoolArray) -> BoolArray:
    """Return which documents are no better than any of the first `k`, all of which are relevant.

    Several pieces at one rank take one place; the best of them counts.
    """
    cutoffs, query = outcomes.cutoffs, outcomes.query
    rows = np.flatnonzero(found)
    rows = rows[np.lexsort((-outcomes.grade[rows], outcomes.rank[rows], query[rows]))]
    first = (np.diff(query[rows], prepend=-1) != 0) | (np.diff(outcomes.rank[rows], prepend=-1) != 0)
    best = rows[first]
    taken = np.bincount(query[best], minlength=len(outcomes.positions))
    least = np.full(len(outcomes.positions), np.inf)
    np.minimum.at(least, query[best], np.maximum(outcomes.grade[best], 0.0))
    least[taken == 0] = 0.0
    full = (taken == cutoffs.k) & ~cutoffs.in_calls  # a call has room for everything
    no_room: BoolArray = full[query] & (least[query] >= outcomes.grade)
    return no_room


def _ranges(begins: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return every number of several ranges, each with the place of its range.

    Example:
        >>> [each.tolist() for each in _ranges(np.array([3, 8]), np.array([5, 9]))]
        [[0, 0, 1], [3, 4, 8]]
    """
    sizes = ends - begins
    place = np.repeat(np.arange(len(sizes)), sizes)
    return place, np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + begins[place]
