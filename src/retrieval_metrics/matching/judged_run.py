"""The judgments and rankings of all queries, joined: the structure from which every metric is computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.matching.group_credits import (
    hits_of_documents,
    hits_of_groups,
    list_credits,
    number_ranks,
    settled_rows,
)
from retrieval_metrics.matching.judged_columns import NO_DUPLICATES, IdealRanking, Items
from retrieval_metrics.matching.rank_rows import is_forbidden, is_relevant, ordinals, within

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics._internal.plain_types import BoolArray, Cut, FloatArray, IntArray
    from retrieval_metrics.inputs.pieces import Span
    from retrieval_metrics.inputs.qrels import Qrels
    from retrieval_metrics.matching.budget import Budget, BudgetFills, Lengths
    from retrieval_metrics.matching.covered_characters import CoveredCharacters
    from retrieval_metrics.matching.judged_columns import (
        Credits,
        Duplicates,
        Hits,
        JudgedRanks,
        NewCoverage,
        SettledRows,
        Unlocated,
    )
    from retrieval_metrics.matching.near_misses import NearMisses
    from retrieval_metrics.matching.read_scores import ReadScores
    from retrieval_metrics.matching.value_types import TypeMismatch


@dataclass(eq=False)
class JudgedRun:
    """The judgments and rankings of all queries, joined in columns that hold only what is judged.

    Attributes:
        qrels: The judgments.
        items: The judged documents or pieces that were retrieved.
        n_retrieved: Shape (queries,), how many documents were retrieved, duplicates included.
        duplicates: The ranks of documents that appear earlier in the ranking.
        credits_duplicates: Whether the items hold duplicates as further hits.
        piece_ranks: The ranks that hold a judged item, if pieces were matched; None if documents were found by id, so
            that each judged one has its own rank.
        new_coverage: The ranks that extend the covered part of a piece; None if no piece can be covered in part.
        covered: Counts the covered characters of pieces; None if no piece can be covered in part.
        lengths: The lengths of the retrieved items; None if only their ids are known.
        unlocated: The retrieved items that could not be compared with a span, because their position is unknown.
        line_ending_spans: The spans that were probably written against a text with other line endings.
        invalid_offsets: How many retrieved items have offsets that do not fit their text or their source, if spans are
            judged.
        ambiguous_locations: How many items were located at one of several positions that hold their text.
        without_match_value: How many retrieved items have no value, or an empty one, that ids could be compared with.
        unanswered: Shape (queries,), which queries the retriever failed for or the run does not hold; None if each was
            answered, even if with an empty ranking.
        near_misses: The relevant documents that were retrieved under nearly their ids; None if none were looked for.
        type_mismatches: The judgments that differ from results only in the type of a value; None before a search.
        n_excluded: Shape (queries,), how many documents were left out of the rankings; None if none were to be.
        corpus_size: The number of documents that can be retrieved; 0 if it is unknown.
        read_scores: What was read of the mappings of scores that are too long to copy; None if there are none.
    """

    qrels: Qrels
    items: Items
    n_retrieved: IntArray
    duplicates: Duplicates = NO_DUPLICATES
    credits_duplicates: bool = False
    piece_ranks: JudgedRanks | None = None
    new_coverage: NewCoverage | None = None
    covered: CoveredCharacters | None = None
    lengths: Lengths | None = None
    unlocated: Sequence[Unlocated] = ()
    line_ending_spans: Sequence[Span] = ()
    invalid_offsets: int = 0
    ambiguous_locations: int = 0
    without_match_value: int = 0
    unanswered: BoolArray | None = None
    near_misses: NearMisses | None = None
    type_mismatches: tuple[TypeMismatch, ...] | None = None
    n_excluded: IntArray | None = None
    corpus_size: int = 0
    read_scores: ReadScores | None = None
    # Results that several metrics of one evaluation share, by relevance threshold.
    _hits: dict[float | None, Hits] = field(init=False, default_factory=dict)
    _n_relevant: dict[float | None, FloatArray] = field(init=False, default_factory=dict)
    _without_relevant: dict[float | None, BoolArray | None] = field(init=False, default_factory=dict)
    _ideal: dict[bool, IdealRanking] = field(init=False, default_factory=dict)

    @property
    def n_queries(self) -> int:
        """The number of judged queries."""
        return len(self.qrels.queries)

    @property
    def is_by_id(self) -> bool:
        """Whether documents were found by id, so that each judged one has its own rank."""
        return self.piece_ranks is None

    @property
    def ranks(self) -> JudgedRanks | Items:
        """The ranks that hold a judged item, each once."""
        return self.items if self.piece_ranks is None else self.piece_ranks

    @property
    def smallest_grade(self) -> FloatArray:
        """The smallest grade of each of the `ranks`, which may be relevant and forbidden."""
        if self.piece_ranks is None:
            return self.qrels.smallest_grade[self.items.document]
        return self.piece_ranks.smallest_grade

    @property
    def is_empty(self) -> bool:
        """Whether something is relevant, but nothing that was retrieved is judged for its query."""
        return not len(self.items.rank) and not len(self.ranks.rank) and bool(self.n_relevant().any())

    # How much was retrieved.

    @cached_property
    def longest_ranking(self) -> int:
        """How many documents were retrieved for the query that has the most."""
        return int(self.n_retrieved.max(initial=0))

    @cached_property
    def without_results(self) -> list[int]:
        """The positions of the queries for which nothing was retrieved, ascending."""
        if self.n_retrieved.all():  # the usual case
            return []
        positions: list[int] = np.flatnonzero(self.n_retrieved == 0).tolist()
        return positions

    @property
    def n_duplicates(self) -> IntArray:
        """How many of the retrieved documents repeat an earlier one, shape (queries,)."""
        return np.bincount(self.duplicates.query, minlength=self.n_queries)

    def count_queries_in(self, run: Mapping[Any, Any]) -> int:
        """Count the judged queries in the run that was judged; those with results are."""
        n_without_results = len(self.without_results)
        queries = map(self.qrels.queries.__getitem__, self.without_results)
        return self.n_queries - n_without_results + sum(map(run.__contains__, queries))

    def n_within(self, k: Cut) -> IntArray:
        """Return how many of the first `k` ranks are filled, shape (queries,)."""
        return self.n_retrieved if k is None else np.minimum(self.n_retrieved, k)

    def n_distinct(self, k: Cut) -> IntArray:
        """Return how many distinct documents there are among the first `k`, shape (queries,)."""
        if not self.is_by_id:
            return self.n_within(k)
        query = self.duplicates.query
        if k is not None:
            query = query[within(query, self.duplicates.rank, k)]
        return self.n_within(k) - np.bincount(query, minlength=self.n_queries)

    def tied_queries(self) -> IntArray:
        """Return the queries in which a judged document has the same score as another document, ascending."""
        is_tied = self.items.tied > 1
        if not is_tied.any():  # the usual case, and faster than sorting nothing
            return self.items.query[:0]
        return np.unique(self.items.query[is_tied])

    def cutoff(self, k: int | Budget | None) -> Cut:
        """Return a cutoff as a number of items; for a budget, the number that fits, per query."""
        if k is None or isinstance(k, int):
            return k
        return self.filled(k).n_fitting

    def filled(self, budget: Budget) -> BudgetFills:
        """Return how the first items of each query fill a budget."""
        if self.lengths is None:
            # Imported here because only an error needs it.
            from retrieval_metrics.matching.budget import missing_lengths_error

            raise missing_lengths_error(budget)
        return self.lengths.fill_budget(budget)

    # The same judgments with other rankings.

    def with_items(self, items: Items, *, credits_duplicates: bool = False) -> JudgedRun:
        """Return the judged run with the judged documents at other ranks."""
        return JudgedRun(
            self.qrels,
            items,
            self.n_retrieved,
            self.duplicates,
            credits_duplicates,
            covered=self.covered,
            lengths=self.lengths,
            unanswered=self.unanswered,
        )

    def with_duplicate_rule(self, rule: str) -> JudgedRun:
        """Return the judged run with duplicates treated by a rule; see `Rules.duplicates`."""
        # With pieces, duplicates are not counted as hits: other items, too, may satisfy a piece more than once.
        if rule == "count" and self.is_by_id and len(self.duplicates.query):
            return self._with_duplicates_credited
        return self

    @cached_property
    def _with_duplicates_credited(self) -> JudgedRun:
        """The judged run in which every duplicate of a judged document counts as a further hit."""
        items = self.items
        duplicates = self.duplicates.judged()
        merged = Items.ordered(
            self.qrels,
            document=np.concatenate([items.document, duplicates.document]),
            rank=np.concatenate([items.rank, duplicates.rank]),
            tied=np.concatenate([items.tied, np.ones_like(duplicates.rank)]),
            tied_from=np.concatenate([items.tied_from, duplicates.rank]),
        )
        return self.with_items(merged, credits_duplicates=True)

    def condensed(self) -> JudgedRun:
        """Return the judged run with unjudged documents removed from the rankings; documents below them move up."""
        if not self.is_by_id or self.qrels.has_pieces:
            raise ValueError("unjudged documents can be removed from rankings only if documents are judged by ID")
        return self._condensed

    @cached_property
    def _condensed(self) -> JudgedRun:
        # Imported here because few rules remove unjudged documents.
        from retrieval_metrics.matching.condensed import condense

        condensed = condense(self)
        return JudgedRun(
            self.qrels, condensed.items, condensed.n_retrieved, condensed.duplicates, self.credits_duplicates
        )

    # Relevant and forbidden documents.

    def sum_by_query(self, query: IntArray, weights: FloatArray | None = None) -> FloatArray:
        """Return the sum of the weights (or the count) of each query, shape (queries,)."""
        return np.bincount(query, weights, minlength=self.n_queries).astype(np.float64, copy=False)

    def n_relevant(self, rel: float | None = None) -> FloatArray:
        """Return how many groups each query needs: those with a document relevant at threshold `rel`."""
        if rel not in self._n_relevant:
            relevant = is_relevant(self.qrels.group_grade, rel)
            self._n_relevant[rel] = self.sum_by_query(self.qrels.group_query[relevant])
        return self._n_relevant[rel]

    def without_relevant(self, rel: float | None = None) -> BoolArray | None:
        """Return which queries have no relevant document, shape (queries,); None if all have one."""
        if rel not in self._without_relevant:
            lacks_relevant = self.n_relevant(rel) == 0
            self._without_relevant[rel] = lacks_relevant if lacks_relevant.any() else None
        return self._without_relevant[rel]

    def relevant_item_queries(self, k: Cut, rel: float | None = None) -> IntArray:
        """Return the query of each distinct relevant item among the first `k` retrieved."""
        ranks = self.ranks
        mask = is_relevant(ranks.grade, rel)
        if k is not None:
            mask &= within(ranks.query, ranks.rank, k)
        return ranks.query[mask]

    def has_forbidden(self, grade: float | None = None) -> BoolArray:
        """Return for which queries something is forbidden, shape (queries,)."""
        forbidden = is_forbidden(self.qrels.smallest_grade, grade)
        return self.sum_by_query(self.qrels.document_query[forbidden]) > 0

    def forbidden_ranks(self, grade: float | None = None) -> tuple[IntArray, IntArray]:
        """Return query and rank of the retrieved items that are forbidden, even if another group needs them."""
        forbidden = is_forbidden(self.smallest_grade, grade)
        return self.ranks.query[forbidden], self.ranks.rank[forbidden]

    def where_answered(self, defined: BoolArray, value: BoolArray) -> FloatArray:
        """Return 0 or 1 for the queries for which a metric is defined and an answer came, and NaN for the others."""
        answered = defined if self.unanswered is None else defined & ~self.unanswered
        return np.where(answered, value, np.nan)

    # The expanded ranking, and the ideal one.

    @cached_property
    def credits(self) -> Credits:
        """Which groups the retrieved items satisfy, including groups already satisfied."""
        return list_credits(self.qrels, self.items)

    @cached_property
    def rank_number(self) -> IntArray:
        """A number for the rank of each item, ascending over all queries; items at the same rank share one."""
        return number_ranks(self)

    @cached_property
    def rows_are_ranks(self) -> bool:
        """Whether the expanded ranking is the ranking itself: documents are found by id, each a group of its own."""
        return self.qrels.is_flat and self.is_by_id

    def hits(self, rel: float | None = None) -> Hits:
        """Return the hit rows of the expanded ranking at relevance threshold `rel` (None: grades above 0)."""
        if rel not in self._hits:
            if self.rows_are_ranks:
                self._hits[rel] = hits_of_documents(self.items, rel)
            else:
                self._hits[rel] = hits_of_groups(self, rel)
        return self._hits[rel]

    def hits_within(self, k: Cut, rel: float | None = None) -> Hits:
        """Return the hit rows within cutoff `k`, which limits items and rows; a budget limits items only."""
        if self.rows_are_ranks and isinstance(k, int) and k >= self.longest_ranking:
            return self.hits(rel)  # nothing is below the cutoff
        return self.hits(rel).cut(k)

    def settled_rows(self) -> SettledRows:
        """Return every row of the expanded ranking whose gain is settled, in no particular order."""
        return settled_rows(self)

    def ideal(self, *, of_documents: bool = False) -> IdealRanking:
        """Return the ideal ranking of every query: its relevant groups, or documents, best first."""
        if of_documents not in self._ideal:
            self._ideal[of_documents] = self._sort_ideal(of_documents=of_documents)
        return self._ideal[of_documents]

    def _sort_ideal(self, *, of_documents: bool) -> IdealRanking:
        qrels = self.qrels
        if of_documents:
            query = qrels.document_query[qrels.member_document]
            grade = qrels.member_grade
        else:
            query = qrels.group_query
            grade = qrels.group_grade
        relevant = grade > 0
        if not relevant.all():
            query = query[relevant]
            grade = grade[relevant]
        rises = grade[1:] > grade[:-1]
        # Binary judgments, and all that are written best first, need not be sorted.
        if rises.any() and (rises & (query[1:] == query[:-1])).any():
            best_first = np.lexsort((-grade, query))
            query = query[best_first]
            grade = grade[best_first]
        return IdealRanking(query, grade, ordinals(query))
