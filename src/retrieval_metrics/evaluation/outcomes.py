"""What became of each relevant document, and what was asked."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from retrieval_metrics.inputs.items import Metadata, Quote, Span, Text
from retrieval_metrics.inputs.search_history import SearchHistory
from retrieval_metrics.matching.budget import Budget
from retrieval_metrics.matching.character_ranges import intersect_ranges as common_stretches
from retrieval_metrics.matching.span_offsets import ItemLocation, SpanLocator
from retrieval_metrics.matching.text_normalisation import find_range
from retrieval_metrics.matching.text_rule import find_shared_words as shared
from retrieval_metrics.reports.tables import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from retrieval_metrics._internal.validation import BoolArray, DocumentId, FloatArray, IntArray
    from retrieval_metrics.inputs.items import Relevant, Retrieved
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.ranking_order import Matching, OrderedRankings


# The results of a query with their judgments.

_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)

State: TypeAlias = Literal["relevant", "not relevant", "repeated", "unjudged", "forbidden"]


@dataclass(frozen=True, slots=True)
class Result:
    """One retrieved item of a query.

    Attributes:
        rank: Its rank, from 1.
        id: What was compared with the ids of the judgments; None if it has none.
        state: Relevant; judged and not relevant; a repeat of a document above it; unjudged; or forbidden, whatever else
            it is.
        grade: Its grade; None if it is not judged. If it is forbidden, the smallest.
        satisfies: The judged ids or pieces that are found at this rank for the first time.
        text: Its text, if it is known.
        source: What it was cut from, if it is known.
        score: The score of the retriever, if the run has it.
        item: The item itself, if the run holds items.
        place: Which call of an agent found it, and its rank in that call, if the run is a view of its searches.
    """

    rank: int
    id: DocumentId | None
    judgment: State
    grade: float | None
    satisfies: tuple[Relevant, ...]
    text: str | None
    source: str | None
    score: float | None
    item: Retrieved | None
    place: tuple[int, int] | None = None

    @property
    def label(self) -> str:
        """What it is called in a table: its id, or its place where the id is missing or an invented UUID."""
        if self.source is None or not (self.id is None or _UUID.fullmatch(str(self.id))):
            return "-" if self.id is None else str(self.id)
        start = None if self.item is None else self.item.start
        return self.source if start is None else f"{self.source}@{start}"


class JudgedResults:
    """Compares what was retrieved with what is judged, query by query."""

    def __init__(self, judged: JudgedRun, rankings: OrderedRankings) -> None:
        self._judged = judged
        self._rankings = rankings

    def first(self, index: int, ranking: Any, k: int, texts: Mapping[Any, str]) -> list[Result]:
        """Return the first `k` results of a query."""
        judged = self._judged
        least = judged.smallest_grade
        grade = np.where(least < 0, least, judged.ranks.grade)
        grades = _grades(judged.ranks.query, judged.ranks.rank, grade, index)
        repeated = judged.duplicates.rank[_rows(judged.duplicates.query, index)].tolist()
        satisfied: dict[int, list[Relevant]] = {}
        rows = _rows(judged.items.query, index)
        found = judged.items.rank[rows], judged.items.document[rows], judged.items.grade[rows] > 0
        for rank, document, relevant in zip(*(column.tolist() for column in found), strict=True):
            if relevant:
                satisfied.setdefault(rank, []).append(judged.qrels.documents[document])
        results = []
        query, run = judged.qrels.queries[index], self._rankings.run
        for rank, (name, item) in enumerate(self._rankings.first_items(ranking, k), start=1):
            known = grades.get(rank)
            text = texts.get(name) if item is None or item.text is None else item.text
            score = ranking.get(name) if hasattr(ranking, "get") else getattr(item, "score", None)
            source = getattr(item, "source", None)
            state = _state(known, repeated=rank in repeated)
            needed = tuple(satisfied.get(rank, ()))
            place = run.origin_of(query, rank) if isinstance(run, SearchHistory) else None
            results.append(Result(rank, name, state, known, needed, text, source, score, item, place))
        return results


def _state(grade: float | None, *, repeated: bool) -> State:
    if grade is not None and grade != 0:
        return "relevant" if grade > 0 else "forbidden"
    if repeated:
        return "repeated"
    return "unjudged" if grade is None else "not relevant"


def _rows(query: IntArray, index: int) -> slice:
    first, last = np.searchsorted(query, [index, index + 1]).tolist()
    return slice(first, last)


def _grades(query: IntArray, rank: IntArray, grade: FloatArray, index: int) -> dict[int, float]:
    rows = _rows(query, index)
    return dict(zip(rank[rows].tolist(), grade[rows].tolist(), strict=True))


Failure = Literal[
    "lost_tie",
    "behind_duplicates",
    "behind_same_document",
    "below_cutoff",
    "over_budget",
    "id_granularity",
    "not_retrieved",
    "empty_ranking",
    "retriever_error",
]
Outcome = Literal["found", "alternative_found", "cutoff_full"] | Failure
FAILURES: tuple[Failure, ...] = get_args(Failure)
"""Ordered from the nearest miss to the farthest; of several alternatives, the nearest miss is reported."""
KINDS: tuple[Outcome, ...] = (*FAILURES, "found", "alternative_found", "cutoff_full")
OUTCOME_LABELS: dict[Outcome, str] = {
    "lost_tie": "lost a tie",
    "behind_duplicates": "behind repeats",
    "behind_same_document": "behind chunks of one document",
    "below_cutoff": "beyond the cut-off",
    "over_budget": "beyond the budget",
    "id_granularity": "another granularity",
    "not_retrieved": "never retrieved",
    "empty_ranking": "nothing retrieved",
    "retriever_error": "the retriever failed",
    "found": "found",
    "alternative_found": "not needed",
    "cutoff_full": "no room",
}
"""The outcomes as they are printed."""


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
        """Whether the document was needed and is missing."""
        return self.kind in FAILURES

    @property
    def label(self) -> str:
        """The name of what is needed; of a quote or a text, its beginning in quotation marks."""
        return RelevantTexts.name(self.document) or f"\u201c{shorten(self.text or '')}\u201d"


EVERYTHING = np.iinfo(np.int64).max
"""The cut-off of a metric that reads whole rankings."""
CODE_BY_OUTCOME: dict[Outcome, int] = {kind: code for code, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class ExplanationTarget:
    """What to check for every query: which documents are relevant, down to which rank, and whether one suffices.

    Attributes:
        cuts: The cut-offs, in items or as budgets, of which the one that keeps most of a ranking counts; empty takes
            the whole ranking.
        rel: The threshold of relevance; None counts every grade above 0.
        one_suffices: Whether a single relevant document is all that is needed.
        cuts_at_n_needed: Whether the cut-off is the number of documents or groups that each query needs, as in R-precision.
    """

    cutoffs: tuple[int | Budget, ...] = ()
    rel: float | None = None
    one_suffices: bool = False
    cuts_at_n_needed: bool = False


class QueryCutoffs:
    """How many items of each query count.

    Attributes:
        k: Shape (queries,), the number of items; `EVERYTHING` without a cut-off.
    """

    def __init__(self, judged: JudgedRun, question: ExplanationTarget, positions: IntArray) -> None:
        """Take the cut-off that keeps most, for each of some queries."""
        self._cuts = question.cutoffs
        kept = [judged.cutoff(cut) for cut in question.cutoffs]
        columns = [each[positions] if isinstance(each, np.ndarray) else np.full(len(positions), each) for each in kept]
        self._kept = np.argmax(columns, axis=0) if columns else np.zeros(len(positions), dtype=np.int64)
        self.k: IntArray = np.max(columns, axis=0) if columns else np.full(len(positions), EVERYTHING)

    def limits(self, at: int) -> tuple[int | None, Budget | None]:
        """Return how many items of a query count, None for all, and the budget that they fit into, if it is one."""
        k, budget = int(self.k[at]), self.find_budget(at)
        return (None if k == EVERYTHING else k), budget

    def find_budget(self, at: int) -> Budget | None:
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
        n_duplicates_above: Shape (rows,), how many repeated documents are above it.
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
        """How many of them were found, shape (queries,)."""
        return np.bincount(self.group_query[self.satisfied], minlength=len(self.positions))

    @cached_property
    def unsatisfied_groups(self) -> IntArray:
        """The row that stands for each unmet group: the nearest miss, of which the first."""
        return self.nearest_misses(self.kind, self.kind < len(FAILURES))

    def nearest_misses(self, far: IntArray, among: BoolArray) -> IntArray:
        """Return the row that stands for each group without a found document: of some rows the first least far."""
        missed = np.flatnonzero(among[self.member_row] & ~self.satisfied[self.member_group])
        row, group = self.member_row[missed], self.member_group[missed]
        order = np.lexsort((row, far[row], group))
        first = np.diff(group[order], prepend=-1) != 0
        nearest: IntArray = row[order][first]
        return nearest

    @cached_property
    def n_unsatisfied(self) -> IntArray:
        """How many groups of each query are missing, shape (queries,)."""
        return np.bincount(self.query[self.unsatisfied_groups], minlength=len(self.positions))

    def rows_in_query(self, at: int) -> slice:
        """Return the rows of a query, by its place in `positions`."""
        return slice(int(self.bounds[at]), int(self.bounds[at + 1]))

    def groups_in_query(self, row: int) -> tuple[int, ...]:
        """Return the numbers of the groups that a row belongs to."""
        first, last = np.searchsorted(self.member_row, [row, row + 1])
        return tuple(self.member_number[first:last].tolist())

    def failures(self, among: BoolArray | None = None) -> Counter[Outcome]:
        """Count what went wrong, one failure for each unmet group of some queries, or of all."""
        rows = (
            self.unsatisfied_groups
            if among is None
            else self.unsatisfied_groups[among[self.query[self.unsatisfied_groups]]]
        )
        counts = np.bincount(self.kind[rows], minlength=len(KINDS)).tolist()
        return Counter({kind: times for kind, times in zip(KINDS, counts, strict=True) if times})


class RelevantTexts:
    """Looks up the texts of what is needed.

    Attributes:
        texts: Texts by document id.
    """

    def __init__(self, matching: Matching, texts: Mapping[Relevant, str], moved: Mapping[Span, Span]) -> None:
        self.judged_texts = texts
        self._moved = moved
        self._matching = matching
        self._locator = SpanLocator(matching.sources)

    @staticmethod
    def name(document: Relevant) -> str:
        """Return the name of something needed; empty for a quote or a text, which are shown as they are."""
        if isinstance(document, Quote | Text):
            return ""
        if isinstance(document, Span):
            return f"{document.source}, characters {document.start:,} to {document.end:,}"
        if isinstance(document, Metadata):
            said = ", ".join(f"{name} {value}" for name, value in document.values)
            return f"not {said}" if document.negated else said
        return str(document)

    def text(self, document: Relevant) -> str | None:
        """Return the text of something needed; None if it is unknown."""
        if isinstance(document, Quote | Text):
            return document.text
        if isinstance(document, Span):
            source, span = self._locator.sources.get(document.source), self._moved.get(document, document)
            return None if source is None else source.text[span.start : span.end]
        return self.judged_texts.get(document)

    def marked_ranges(self, item: Retrieved | None, document: Relevant) -> list[tuple[int, int]]:
        """Return start and end of the needed text in the text of an item."""
        if item is None or item.text is None:
            return []
        if isinstance(document, Quote):
            place = find_range(document.text, item.text)
            return [] if place is None else [place]
        if isinstance(document, Text):
            return shared(document.text, item.text, self._matching.min_common_words)
        return self._covered(item, self._moved.get(document, document)) if isinstance(document, Span) else []

    def marked_parts(self, item: Retrieved | None, document: Relevant) -> list[tuple[int, int]]:
        """Return start and end of what the text of an item has of a needed text, be it a part of a quote."""
        if isinstance(document, Quote) and item is not None and item.text is not None:
            return shared(document.text, item.text, self._matching.min_common_words)
        return self.marked_ranges(item, document)

    def _covered(self, item: Retrieved, span: Span) -> list[tuple[int, int]]:
        place = self._locator.locate(item, {span.source: [(span, ())]})
        if not isinstance(place, ItemLocation) or item.text is None:
            return []
        common = common_stretches(place.ranges, [(span.start, span.end)])
        begins, ends = place.ranges[0][0], place.ranges[-1][1]
        if len(place.ranges) == 1 and ends - begins == len(item.text):
            return [(start - begins, end - begins) for start, end in common]
        source = self._locator.sources.get(span.source)  # the item is not verbatim, so the words are searched for
        found = [] if source is None else [find_range(source.text[start:end], item.text) for start, end in common]
        return [stretch for stretch in found if stretch is not None]
