"""Records of the outcomes of relevant documents, and of the cutoffs down to which queries are checked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from retrieval_metrics.evaluation.relevant_texts import RelevantTexts
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.reports.display_text import shorten

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import BoolArray, FloatArray, IntArray
    from retrieval_metrics.inputs.items import Relevant
    from retrieval_metrics.matching.judged_run import JudgedRun


Failure = Literal[
    "lost_tie",
    "behind_duplicates",
    "behind_same_document",
    "below_cutoff",
    "over_budget",
    "id_granularity",
    "dropped",
    "not_retrieved",
    "empty_ranking",
    "retriever_error",
]
Outcome = Literal["found", "alternative_found", "cutoff_full"] | Failure

# From the nearest miss to the farthest; for a group of alternatives, the nearest miss is reported.
FAILURES: tuple[Failure, ...] = get_args(Failure)

OUTCOME_KINDS: tuple[Outcome, ...] = (*FAILURES, "found", "alternative_found", "cutoff_full")

CODE_BY_OUTCOME: dict[Outcome, int] = {kind: code for code, kind in enumerate(OUTCOME_KINDS)}

# The cutoff of a metric that reads whole rankings.
WHOLE_RANKING = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one relevant document.

    Attributes:
        document: Its id, or the quote, text, span or metadata that is judged.
        grade: Its grade.
        kind: The outcome.
        rank: The rank at which it was retrieved; None if it was not.
        detail: The outcome in words, with its numbers.
        groups: The groups it belongs to, numbered within the query; with flat judgments, each document is a group.
        text: Its text, if it is known.
    """

    document: Relevant
    grade: float
    kind: Outcome
    rank: int | None
    detail: str
    groups: tuple[int, ...]
    text: str | None = None

    @property
    def is_failure(self) -> bool:
        """Whether the document is relevant and missing."""
        return self.kind in FAILURES

    @property
    def label(self) -> str:
        """The name of the document; for a quote or a text, its beginning in quotation marks."""
        return RelevantTexts.name(self.document) or f"\u201c{shorten(self.text or '')}\u201d"


@dataclass(frozen=True, slots=True)
class ExplanationTarget:
    """What to check for every query: which documents are relevant, down to which rank, and whether one suffices.

    Attributes:
        cutoffs: The cutoffs, in items or as budgets; for each query, the one that keeps most of its ranking counts.
            If empty, whole rankings count.
        rel: The threshold of relevance; None counts every grade above 0.
        one_suffices: Whether a single relevant document is all that is needed.
        cuts_at_n_needed: Whether the cutoff is the number of documents or groups that each query needs, as in
            R-precision.
    """

    cutoffs: tuple[int | Budget, ...] = ()
    rel: float | None = None
    one_suffices: bool = False
    cuts_at_n_needed: bool = False


class QueryCutoffs:
    """How many items of each query count.

    Attributes:
        k: Shape (queries,), the number of items; `WHOLE_RANKING` without a cutoff.
    """

    def __init__(self, judged: JudgedRun, target: ExplanationTarget, positions: IntArray) -> None:
        """Choose the cutoff that keeps most of its ranking for each query at the positions."""
        self._cutoffs = target.cutoffs
        self._chosen = np.zeros(len(positions), dtype=np.int64)
        self.k: IntArray = np.full(len(positions), WHOLE_RANKING)
        if target.cutoffs:
            ks = [_compute_k_by_query(judged, cutoff, positions) for cutoff in target.cutoffs]
            self._chosen = np.argmax(ks, axis=0)
            self.k = np.max(ks, axis=0)

    def find_k(self, query_index: int) -> int | None:
        """Return how many items of a query count, None for all."""
        k = int(self.k[query_index])
        return None if k == WHOLE_RANKING else k

    def find_budget(self, query_index: int) -> Budget | None:
        """Return the budget that the items of a query fit into, if its cutoff is one."""
        if not self._cutoffs:
            return None
        cutoff = self._cutoffs[int(self._chosen[query_index])]
        return cutoff if isinstance(cutoff, Budget) else None

    @cached_property
    def in_calls(self) -> BoolArray:
        """Which cutoffs are a number of an agent's calls, shape (queries,)."""
        return self._select_by_query([_is_call_budget(cutoff) for cutoff in self._cutoffs])

    @cached_property
    def in_text(self) -> BoolArray:
        """Which cutoffs are a budget of text, shape (queries,)."""
        return self._select_by_query([_is_text_budget(cutoff) for cutoff in self._cutoffs])

    def _select_by_query(self, by_cutoff: list[bool]) -> BoolArray:
        """Return for each query the value of its cutoff; False without a cutoff."""
        if not by_cutoff:
            by_cutoff = [False]
        by_query: BoolArray = np.array(by_cutoff)[self._chosen]
        return by_query


def _compute_k_by_query(judged: JudgedRun, cutoff: int | Budget, positions: IntArray) -> IntArray:
    k = judged.cutoff(cutoff)
    return k[positions] if isinstance(k, np.ndarray) else np.full(len(positions), k)


def _is_call_budget(cutoff: int | Budget) -> bool:
    return isinstance(cutoff, Budget) and cutoff.unit == "calls"


def _is_text_budget(cutoff: int | Budget) -> bool:
    return isinstance(cutoff, Budget) and cutoff.unit != "calls"


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """The outcome of every relevant document of some queries: rows by query, in each the best grade first.

    A query is referred to by its index in `positions`.

    Attributes:
        positions: Shape (queries,), the queries, as positions among the judged ones, ascending.
        bounds: Shape (queries + 1,): query `i` owns the rows from `bounds[i]` to `bounds[i + 1]`.
        query: Shape (rows,), the query of each row.
        document: Shape (rows,), the document, as its position in `Qrels.documents`.
        grade: Shape (rows,), its grade.
        kind: Shape (rows,), its outcome, as its position in `OUTCOME_KINDS`. Stages change absent documents to
            dropped in place, before a cached property of the outcomes is read.
        rank: Shape (rows,), the rank at which it was retrieved; 0 if it was not.
        tied: Shape (rows,), how many documents have its score, itself included.
        tied_from: Shape (rows,), the first rank of the documents that have its score.
        n_duplicates_above: Shape (rows,), how many repeated documents are above it.
        cutoffs: How many items of each query count.
        member_row: Shape (members,), ascending: a row that belongs to a group.
        member_group: Shape (members,), that group; one satisfied document is all that a group needs.
        member_number: Shape (members,), its number within the query, from 1.
        group_query: Shape (groups,), the query of each group.
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
    n_duplicates_above: IntArray
    cutoffs: QueryCutoffs
    member_row: IntArray
    member_group: IntArray
    member_number: IntArray
    group_query: IntArray
    satisfied: BoolArray

    @cached_property
    def n_needed(self) -> IntArray:
        """How many documents, or groups, each query needs, shape (queries,)."""
        return np.bincount(self.group_query, minlength=len(self.positions))

    @cached_property
    def n_satisfied(self) -> IntArray:
        """How many of the needed documents, or groups, of each query were found, shape (queries,)."""
        return np.bincount(self.group_query[self.satisfied], minlength=len(self.positions))

    @property
    def is_failure(self) -> BoolArray:
        """Whether the document of each row was not found, shape (rows,)."""
        is_failure: BoolArray = self.kind < len(FAILURES)
        return is_failure

    @cached_property
    def nearest_miss_rows(self) -> IntArray:
        """The row that stands for each unmet group: its nearest miss, the first one if several are equally near."""
        return self.find_nearest_misses(self.kind, self.is_failure)

    def find_nearest_misses(self, distance: IntArray, is_candidate: BoolArray) -> IntArray:
        """Return the row that stands for each group without a found document.

        Args:
            distance: Shape (rows,), how far each row missed.
            is_candidate: Shape (rows,), whether a row can stand for its group; the first nearest one does.
        """
        is_missing = is_candidate[self.member_row] & ~self.satisfied[self.member_group]
        row = self.member_row[is_missing]
        group = self.member_group[is_missing]
        order = np.lexsort((row, distance[row], group))
        is_first_of_group = np.diff(group[order], prepend=-1) != 0
        nearest: IntArray = row[order][is_first_of_group]
        return nearest

    @cached_property
    def n_unsatisfied(self) -> IntArray:
        """How many groups of each query are missing, shape (queries,)."""
        return np.bincount(self.query[self.nearest_miss_rows], minlength=len(self.positions))

    def rows_in_query(self, query_index: int) -> slice:
        """Return the rows of a query."""
        return slice(int(self.bounds[query_index]), int(self.bounds[query_index + 1]))

    def groups_in_query(self, row: int) -> tuple[int, ...]:
        """Return the numbers of the groups that a row belongs to."""
        start, stop = np.searchsorted(self.member_row, [row, row + 1])
        return tuple(self.member_number[start:stop].tolist())

    def failures(self, is_counted: BoolArray | None = None) -> Counter[Outcome]:
        """Count the failures by kind, one for each unmet group.

        Args:
            is_counted: Shape (queries,), whether the failures of a query count; None counts all.
        """
        rows = self.nearest_miss_rows
        if is_counted is not None:
            rows = rows[is_counted[self.query[rows]]]
        counts = np.bincount(self.kind[rows], minlength=len(OUTCOME_KINDS)).tolist()
        failures: Counter[Outcome] = Counter()
        for kind, count in zip(OUTCOME_KINDS, counts, strict=True):
            if count:
                failures[kind] = count
        return failures
