"""What became of each relevant document, and what was asked: down to which rank, and whether one suffices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.explaining.finding import FAILURES, KINDS
from retrieval_metrics.judging.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from retrieval_metrics.checks import BoolArray, FloatArray, IntArray
    from retrieval_metrics.explaining.finding import Outcome
    from retrieval_metrics.judging.judged_run import JudgedRun

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
