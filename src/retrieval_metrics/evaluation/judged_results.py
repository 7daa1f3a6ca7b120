"""List the results of a query, each with its judgment."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from retrieval_metrics._internal.patterns import lazy_pattern
from retrieval_metrics.inputs.search_history import SearchHistory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics._internal.plain_types import DocumentId, FloatArray, IntArray
    from retrieval_metrics.inputs.items import Relevant, Retrieved
    from retrieval_metrics.matching.judged_run import JudgedRun
    from retrieval_metrics.matching.ranking_order import OrderedRankings


_UUID = lazy_pattern(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)

State: TypeAlias = Literal["relevant", "not relevant", "duplicate", "unjudged", "forbidden"]


@dataclass(frozen=True, slots=True)
class Result:
    """One retrieved item of a query.

    Attributes:
        rank: Its rank, from 1.
        id: The id that was compared with the ids of the judgments; None if it has none.
        judgment: Its judgment; `duplicate` is a repeat of a document above it, and a forbidden result is always
            `forbidden`.
        grade: Its grade; None if it is not judged. The smallest of its grades if it is forbidden.
        satisfies: The judged ids or pieces that are first found at this rank.
        text: Its text, if it is known.
        source: The document that it was cut from, if it is known.
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
        """The name of the result in a table: its id, or its location if the id is missing or a generated UUID."""
        has_telling_id = self.id is not None and not _UUID.fullmatch(str(self.id))
        if self.source is None or has_telling_id:
            return "-" if self.id is None else str(self.id)
        start = None if self.item is None else self.item.start
        return self.source if start is None else f"{self.source}@{start}"


class JudgedResults:
    """Compares what was retrieved with what is judged, query by query."""

    def __init__(self, judged: JudgedRun, rankings: OrderedRankings) -> None:
        self._judged = judged
        self._rankings = rankings

    def first(self, query_position: int, ranking: Any, k: int, texts: Mapping[Any, str]) -> list[Result]:
        """Return the first `k` results of a query, given by its position among the judged ones."""
        query = self._judged.qrels.queries[query_position]
        run = self._rankings.run
        grade_by_rank = self._grade_by_rank(query_position)
        duplicates = self._judged.duplicates
        duplicate_ranks = duplicates.rank[_query_rows(duplicates.query, query_position)].tolist()
        satisfied_by_rank = self._satisfied_by_rank(query_position)
        results = []
        for rank, (document_id, item) in enumerate(self._rankings.first_items(ranking, k), start=1):
            grade = grade_by_rank.get(rank)
            result = Result(
                rank=rank,
                id=document_id,
                judgment=_get_state(grade, is_duplicate=rank in duplicate_ranks),
                grade=grade,
                satisfies=tuple(satisfied_by_rank.get(rank, ())),
                text=texts.get(document_id) if item is None or item.text is None else item.text,
                source=getattr(item, "source", None),
                score=ranking.get(document_id) if hasattr(ranking, "get") else getattr(item, "score", None),
                item=item,
                place=run.origin_of(query, rank) if isinstance(run, SearchHistory) else None,
            )
            results.append(result)
        return results

    def _grade_by_rank(self, query_position: int) -> dict[int, float]:
        """Return the grade of each judged rank; for a forbidden result, its smallest grade."""
        judged = self._judged
        smallest = judged.smallest_grade
        grades: FloatArray = np.where(smallest < 0, smallest, judged.ranks.grade)
        rows = _query_rows(judged.ranks.query, query_position)
        return dict(zip(judged.ranks.rank[rows].tolist(), grades[rows].tolist(), strict=True))

    def _satisfied_by_rank(self, query_position: int) -> dict[int, list[Relevant]]:
        """Return the relevant documents or pieces that are found first at each rank."""
        items = self._judged.items
        qrels = self._judged.qrels
        rows = _query_rows(items.query, query_position)
        is_relevant = items.grade[rows] > 0
        satisfied: dict[int, list[Relevant]] = {}
        ranks = items.rank[rows][is_relevant].tolist()
        documents = items.document[rows][is_relevant].tolist()
        for rank, document in zip(ranks, documents, strict=True):
            satisfied.setdefault(rank, []).append(qrels.documents[document])
        return satisfied


def _get_state(grade: float | None, *, is_duplicate: bool) -> State:
    if grade is not None and grade != 0:
        return "relevant" if grade > 0 else "forbidden"
    if is_duplicate:
        return "duplicate"
    return "unjudged" if grade is None else "not relevant"


def _query_rows(sorted_queries: IntArray, query_position: int) -> slice:
    """Return the rows of a query in columns that are sorted by query."""
    start, stop = np.searchsorted(sorted_queries, [query_position, query_position + 1]).tolist()
    return slice(start, stop)
