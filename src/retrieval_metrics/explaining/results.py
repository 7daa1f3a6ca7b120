"""The results of a query with their judgments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from retrieval_metrics.inputs.run import RetrievedRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.checks import DocumentId, FloatArray, IntArray
    from retrieval_metrics.inputs.items import Relevant, Retrieved
    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.ranking_order import Rankings

_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)

State: TypeAlias = Literal["relevant", "not relevant", "repeated", "unjudged"]


@dataclass(frozen=True, slots=True)
class Result:
    """One retrieved item of a query.

    Attributes:
        rank: Its rank, from 1.
        id: What was compared with the ids of the judgments; None if it has none.
        state: Relevant; judged and not relevant; a repeat of a document above it; or unjudged.
        grade: Its grade; None if it is not judged.
        satisfies: The judged ids or pieces that are found at this rank for the first time.
        text: Its text, if it is known.
        source: What it was cut from, if it is known.
        score: The score of the retriever, if the run has it.
        item: The item itself, if the run holds items.
        place: Which call of an agent found it, and its rank in that call, if the run is a view of its searches.
    """

    rank: int
    id: DocumentId | None
    state: State
    grade: float | None
    satisfies: tuple[Relevant, ...]
    text: str | None
    source: str | None
    score: float | None
    item: Retrieved | None
    place: tuple[int, int] | None = None

    @property
    def called(self) -> str:
        """What it is called in a table: its id, or its place where the id is missing or an invented UUID."""
        if self.source is None or not (self.id is None or _UUID.fullmatch(str(self.id))):
            return "-" if self.id is None else str(self.id)
        start = None if self.item is None else self.item.start
        return self.source if start is None else f"{self.source}@{start}"


class CameBack:
    """Compares what was retrieved with what is judged, query by query."""

    def __init__(self, judged: JudgedRun, rankings: Rankings) -> None:
        self._judged = judged
        self._rankings = rankings

    def first(self, index: int, ranking: Any, k: int, texts: Mapping[Any, str]) -> list[Result]:
        """Return the first `k` results of a query.

        Args:
            index: The position of the query among the judged ones.
            ranking: What was retrieved for it.
            k: How many.
            texts: Texts by id, for items without texts.
        """
        judged = self._judged
        grades = _grades(judged.ranks.query, judged.ranks.rank, judged.ranks.grade, index)
        repeated = judged.repeats.rank[_rows(judged.repeats.query, index)].tolist()
        satisfied: dict[int, list[Relevant]] = {}
        rows = _rows(judged.items.query, index)
        found = judged.items.rank[rows], judged.items.document[rows], judged.items.grade[rows] > 0
        for rank, document, relevant in zip(*(column.tolist() for column in found), strict=True):
            if relevant:
                satisfied.setdefault(rank, []).append(judged.qrels.documents[document])
        results = []
        query, run = judged.qrels.queries[index], self._rankings.run
        for rank, (name, item) in enumerate(self._rankings.first(ranking, k), start=1):
            grade = grades.get(rank)
            text = texts.get(name) if item is None or item.text is None else item.text
            score = ranking.get(name) if hasattr(ranking, "get") else getattr(item, "score", None)
            source = getattr(item, "source", None)
            state = _state(grade, repeated=rank in repeated)
            needed = tuple(satisfied.get(rank, ()))
            place = run.place(query, rank) if isinstance(run, RetrievedRun) else None
            results.append(Result(rank, name, state, grade, needed, text, source, score, item, place))
        return results


def _state(grade: float | None, *, repeated: bool) -> State:
    if grade is not None and grade > 0:
        return "relevant"
    if repeated:
        return "repeated"
    return "unjudged" if grade is None else "not relevant"


def _rows(query: IntArray, index: int) -> slice:
    first, last = np.searchsorted(query, [index, index + 1]).tolist()
    return slice(first, last)


def _grades(query: IntArray, rank: IntArray, grade: FloatArray, index: int) -> dict[int, float]:
    rows = _rows(query, index)
    return dict(zip(rank[rows].tolist(), grade[rows].tolist(), strict=True))
