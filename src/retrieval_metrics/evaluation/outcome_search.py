"""Decide the outcome of each relevant document, and notice ids of parts where documents are judged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from retrieval_metrics.evaluation.outcomes import CODE_BY_OUTCOME, Outcomes, QueryCutoffs
from retrieval_metrics.inputs.items import Piece, Retrieved
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.matching.budget import missing_lengths_error
from retrieval_metrics.matching.rank_rows import count_above, is_relevant, ordinals

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from retrieval_metrics._internal.validation import BoolArray, DocumentId, IntArray
    from retrieval_metrics.evaluation.outcomes import ExplanationTarget
    from retrieval_metrics.matching.budget import Budget
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.ranking_order import OrderedRankings


class OutcomeSearch:
    """Looks for the relevant documents of a run."""

    def __init__(self, judged: JudgedRun, rankings: OrderedRankings, question: ExplanationTarget) -> None:
        self.judged = judged
        self.rankings = rankings
        self.question = question

    def outcomes(self, positions: Iterable[int], *, by_names: bool = True) -> Outcomes:
        """Decide what became of each relevant document of some queries, given by position among the judged ones.

        Without `by_names`, the ids of the rankings are not read, which takes longest.
        """
        at = np.array(sorted(positions), dtype=np.int64)
        query, document = self._relevant(at)
        grade = self.judged.qrels.document_grade[document]
        rank, tied, tied_from = retrieved_ranks(self.judged, at, document)
        order = np.lexsort((document, -grade, query))
        query, document, grade = query[order], document[order], grade[order]
        rank, tied, tied_from = rank[order], tied[order], tied_from[order]
        row, group, number = self._groups(at, query, document)
        groups, group = np.unique(group, return_inverse=True)
        group_query = np.zeros(len(groups), dtype=np.int64)
        group_query[group] = query[row]
        cutoffs = QueryCutoffs(self.judged, self.question, at)
        if self.question.cuts_at_n_needed:
            cutoffs.k = np.bincount(group_query, minlength=len(at))
        found = (rank > 0) & (rank <= cutoffs.k[query])
        satisfied = np.zeros(len(groups), dtype=np.bool_)
        satisfied[group[found[row]]] = True
        repeats = self.judged.duplicates
        outcomes = Outcomes(
            positions=at,
            bounds=np.searchsorted(query, np.arange(len(at) + 1)),
            query=query,
            document=document,
            grade=grade,
            kind=np.full(len(document), CODE_BY_OUTCOME["not_retrieved"]),
            rank=rank,
            tied=tied,
            tied_from=tied_from,
            n_duplicates_above=count_above(at[query], rank, repeats.query, repeats.rank),
            cutoffs=cutoffs,
            member_row=row,
            member_group=group,
            member_number=number,
            group_query=group_query,
            satisfied=satisfied,
        )
        needed = np.bincount(row[~satisfied[group]], minlength=len(document)) > 0
        self._decide(outcomes, found, needed, by_names=by_names)
        return outcomes

    def _relevant(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        """Return the relevant documents, each with its query as a place in `positions`, ascending."""
        bounds = np.asarray(self.judged.qrels.bounds)
        query, document = _ranges(bounds[positions], bounds[positions + 1])
        relevant = is_relevant(self.judged.qrels.document_grade[document], self.question.rel)
        return query[relevant], document[relevant]

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

    def _decide(self, outcomes: Outcomes, found: BoolArray, needed: BoolArray, *, by_names: bool) -> None:
        """Set the kind of every row; what was never retrieved is so already."""
        query, rank, kind, cutoffs = outcomes.query, outcomes.rank, outcomes.kind, outcomes.cutoffs
        k, repeats = cutoffs.k[query], outcomes.n_duplicates_above
        missing = needed & ~found & ~_no_room(outcomes, found)
        kind[~missing] = CODE_BY_OUTCOME["cutoff_full"]
        kind[~needed] = CODE_BY_OUTCOME["alternative_found"]
        kind[found] = CODE_BY_OUTCOME["found"]
        absent, late = missing & (rank == 0), missing & (rank > 0)
        of_text, of_calls = cutoffs.in_text[query], cutoffs.in_calls[query]
        kind[late] = np.where(of_text | of_calls, CODE_BY_OUTCOME["over_budget"], CODE_BY_OUTCOME["below_cutoff"])[late]
        for row in np.flatnonzero(late & of_text & (repeats > 0)).tolist():
            if self._fits_without_repeats(outcomes, row):
                kind[row] = CODE_BY_OUTCOME["behind_duplicates"]
        late &= ~(of_text | of_calls)
        behind = late & (rank - repeats <= k)
        kind[behind] = CODE_BY_OUTCOME["behind_duplicates"]
        tied = late & (outcomes.tied_from <= k)
        kind[tied] = CODE_BY_OUTCOME["lost_tie"]
        empty = absent & (self.judged.n_retrieved[outcomes.positions] == 0)[query]
        kind[empty] = CODE_BY_OUTCOME["empty_ranking"]
        failed = absent & self._failed(outcomes.positions)[query]
        kind[failed] = CODE_BY_OUTCOME["retriever_error"]
        if by_names:
            self._decide_by_names(outcomes, absent & ~empty & ~failed, late & ~behind & ~tied)

    def _failed(self, positions: IntArray) -> BoolArray:
        """Return for which queries the retriever failed, shape (queries,)."""
        run, queries = self.rankings.run, self.judged.qrels.queries
        errors = run.errors if isinstance(run, RetrievedRun) else {}
        failed = (errors.get(queries[at]) is not None for at in positions.tolist()) if errors else ()
        return np.fromiter(failed, np.bool_) if errors else np.zeros(len(positions), dtype=np.bool_)

    def _fits_without_repeats(self, outcomes: Outcomes, row: int) -> bool:
        """Return whether a document would fit into its budget of text if repeated documents took no room."""
        repeats, at = self.judged.duplicates, outcomes.query[row]
        budget, rank, index = outcomes.cutoffs.find_budget(at), int(outcomes.rank[row]), int(outcomes.positions[at])
        assert budget is not None  # noqa: S101  (asked of budgets only)
        of_each = self.lengths(index, rank, budget)
        again = repeats.rank[(repeats.query == index) & (repeats.rank < rank)]
        return sum(of_each) - sum(of_each[int(one) - 1] for one in again) <= budget.size

    def lengths(self, index: int, rank: int, budget: Budget) -> list[int]:
        """Return how much of a budget each item of a query takes, down to a rank; for calls, which one found it."""
        lengths = self.judged.lengths
        if lengths is None:
            raise missing_lengths_error(budget)
        return lengths.item_lengths(self.judged.qrels.queries[index], rank, budget.unit)

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
        excess = (outcomes.rank - outcomes.n_duplicates_above - outcomes.cutoffs.k[outcomes.query])[rows].tolist()
        above = (outcomes.rank[rows] - 1).tolist()
        related: dict[DocumentId, list[int]] = {}
        for query, ranking in self.rankings.iterate(asked):
            names = RunIds(self.rankings, ranking)
            for place in range(*asked[query]):
                if not is_late[place]:
                    document = qrels.documents[documents[place]]
                    if not isinstance(document, Piece) and names.ids_of_other_granularity(document):
                        related.setdefault(document, []).append(listed[place])
                elif not names.are_plain and names.has_further_parts(above[place], excess[place]):
                    kind[listed[place]] = CODE_BY_OUTCOME["behind_same_document"]
        occurring = self.rankings.find_occurring(related)
        for document, of_it in related.items():
            if document not in occurring:
                kind[of_it] = CODE_BY_OUTCOME["id_granularity"]


def retrieved_ranks(judged: JudgedRun, positions: IntArray, document: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return rank (0 if not retrieved), number of equal scores and their first rank of documents, given ascending."""
    items = judged.items
    begins, ends = (np.searchsorted(items.query, positions, side) for side in ("left", "right"))
    _, at = _ranges(begins, ends)
    place = np.searchsorted(document, items.document[at])
    same = np.append(document, -1)[place] == items.document[at]
    place, at = place[same], at[same]
    rank, tied, tied_from = (np.full(len(document), usual) for usual in (0, 1, 0))
    rank[place], tied[place], tied_from[place] = items.rank[at], items.tied[at], items.tied_from[at]
    return rank, tied, tied_from


def _no_room(outcomes: Outcomes, found: BoolArray) -> BoolArray:
    """Return which documents are no better than any of the first `k`, all of which are relevant."""
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


# Recognise ids of documents and ids of their parts, such as `d7` and `d7#3`, by their spelling.

_PART = r"(?:chunks?|parts?|passages?|paragraphs?|pages?|sections?|segments?|nodes?|sents?|p|c|s)"
_MARKED = re.compile(
    rf"""(?P<document>.+?)
    (?: (?:\#|::) .+                                # d7#3, d7::p2, page.html#section
      | [-_:/|.@\ ]+ {_PART} [-_:.\ ]* \d+          # d7_chunk_3, d7-p2
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<document>.*\d.*?)[-_:/|.@ ]+\d+(?:[-_:.]\d+)?")
"""`d7_3`: a number after a number. A number after a word, as in MED-10, is more likely part of the document id."""
_USUAL = re.compile(r"\n([^-_:/|.@#~ \n]+)#[^\n]+")
"""`d7#3`, the usual spelling, on a line of its own."""
_SEPARATORS = "-_:/|.@#~ "
_AMBIGUOUS = "-_ "
"""Separators that also occur inside ids: `closure-2` may be a part of `closure`, but `closure-scope` hardly is."""
_SEPARATOR = re.compile(rf"[{re.escape(_SEPARATORS)}]")


@lru_cache(2**16)  # the same documents come back for many queries
def document_of(part: DocumentId) -> str | None:
    """Return the id of the document that a part's id refers to; None if it does not look like the id of a part.

    Example:
        >>> [document_of(part) for part in ("d7#3", "d7_chunk_3", "d7::p2", "d7-3", "MED-10", "d7")]
        ['d7', 'd7', 'd7', 'd7', None, None]
    """
    if not isinstance(part, str):
        return None
    found = _MARKED.fullmatch(part) or _NUMBERED.fullmatch(part)
    return found["document"] if found else None


def same_document(one: DocumentId, other: DocumentId) -> bool:
    """Return whether two different ids look like a document and a part of it, either way round.

    Example:
        >>> same_document("d7", "d7#3"), same_document("d7_chunk_3", "d7"), same_document("d7", "corpus/d7")
        (True, True, True)
        >>> same_document("d7", "d70"), same_document("closure", "closure-scope"), same_document("d7#1", "d7#2")
        (False, False, False)
    """
    short, long = sorted((str(one), str(other)), key=len)
    if not short or len(short) == len(long):
        return False
    if long.startswith(short):
        return _separates(long[len(short)], long[len(short) + 1 :])
    return long.endswith(short) and _separates(long[-len(short) - 1], long[: -len(short) - 1])


def _separates(separator: str, rest: str) -> bool:
    if separator not in _SEPARATORS or not rest:
        return False
    return separator not in _AMBIGUOUS or any(map(str.isdigit, rest))


class RunIds:
    """The ids of a ranking, searched by their spelling.

    Attributes:
        are_plain: Whether nothing in the ranking can be a part of a document: no id has a separator, no item a source.
    """

    __slots__ = ("_ids", "_items", "_joined", "_most", "_ranking", "_rankings", "_separated", "are_plain")

    def __init__(self, rankings: OrderedRankings, ranking: Any) -> None:
        """Take a ranking, as given in the run of `rankings`."""
        self._rankings = rankings
        self._ranking = ranking
        self._ids: list[DocumentId] | None = None
        self._most: int | None = None
        is_scored = isinstance(ranking, Mapping)
        held = ranking if is_scored else self.close_ids
        try:
            self._joined = "\n".join(("", *held, ""))
        except TypeError:  # numbers, or items without an id
            self._joined = "\n".join(("", *map(str, held), ""))
        items = not is_scored and isinstance(next(iter(ranking), None), Retrieved)
        self._items: dict[DocumentId, Retrieved] = rankings.items(ranking) if items else {}  # the first with each id
        self._separated = _SEPARATOR.search(self._joined) is not None
        self.are_plain = not self._separated and not self._items

    @property
    def close_ids(self) -> list[DocumentId]:
        """The ids of the ranking, in rank order."""
        if self._ids is None:
            self._ids = self._rankings.ids(self._ranking)
        return self._ids

    def ids_of_other_granularity(self, document: DocumentId) -> list[DocumentId]:
        """Return the ids that look like parts of a document, or like the document that it is a part of."""
        name = str(document)
        parts = self._separated and (f"\n{name}" in self._joined or f"{name}\n" in self._joined)
        if not parts and not any(map(self._joined.__contains__, _wholes(name))):
            return []
        # `in` is a search in C, and rules out nearly every id before the slower check.
        return [
            other
            for other in self.close_ids
            if other != document and (name in (text := str(other)) or text in name) and same_document(document, other)
        ]

    def sibling_chunks(self, above: int) -> Counter[str]:
        """Count, per document, the parts beyond the first among the first ids; repeated ids count once."""
        documents = Counter(document for document in self._documents(self.close_ids[:above]) if document is not None)
        return Counter({document: count - 1 for document, count in documents.items() if count > 1})

    def has_further_parts(self, above: int, least: int) -> bool:
        """Return whether these are so many or more."""
        if self._most is None:
            self._most = self._most_further_parts()
        if self._most < least:
            return False
        documents = [document for document in self._documents(self.close_ids[:above]) if document is not None]
        return len(documents) - len(set(documents)) >= least

    def _most_further_parts(self) -> int:
        """Return how many these are at most, whatever the order: one search finds the documents of usual spellings."""
        documents, lines = _USUAL.findall(self._joined), self._joined.count("\n") - 1
        if self._items or len(documents) < lines:
            return lines
        return lines - len(set(documents))

    def _documents(self, ids: Iterable[DocumentId]) -> list[str | None]:
        """Return the document of each of some ids; None for an id that is no part."""
        names, items = dict.fromkeys(ids), self._items
        return [items[name].source or document_of(name) for name in names] if items else [*map(document_of, names)]


def _wholes(name: str) -> list[str]:
    """Return the lines with the ids of which `name` may be a part: what stands before or after a separator."""
    places = [(at.start(), at.end()) for at in _SEPARATOR.finditer(name)]
    return [f"\n{part}\n" for start, end in places for part in (name[:start], name[end:])]
