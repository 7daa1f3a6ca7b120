"""What became of each relevant document: found, or why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retrieval_metrics.inputs.retrieve import RetrievedRun
from retrieval_metrics.judging.granularity import further_parts, relatives
from retrieval_metrics.judging.judged_run import is_relevant
from retrieval_metrics.presentation.numbers import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.types import DocumentId

Kind = Literal[
    "found",
    "not needed",
    "no room",
    "lost a tie",
    "behind repeats",
    "behind chunks of one document",
    "beyond the cut-off",
    "another granularity",
    "never retrieved",
    "nothing retrieved",
    "the retriever failed",
]
FAILURES: tuple[Kind, ...] = (
    "lost a tie",
    "behind repeats",
    "behind chunks of one document",
    "beyond the cut-off",
    "another granularity",
    "never retrieved",
    "nothing retrieved",
    "the retriever failed",
)
"""Ordered by how little is missing: of several alternatives the nearest miss stands for all."""

ONE_SUFFICES = frozenset({"hit_rate", "mrr"})
"""Metrics that look at the first relevant document alone, so that the others are not missed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one relevant document.

    Attributes:
        document: Its id.
        grade: Its grade.
        kind: What became of it.
        rank: Where it was retrieved; None if it was not.
        detail: The kind in words, with its numbers.
        groups: The groups it belongs to, counted within the query; flat judgments are groups of one.
    """

    document: DocumentId
    grade: float
    kind: Kind
    rank: int | None
    detail: str
    groups: tuple[int, ...]

    @property
    def is_failure(self) -> bool:
        """Whether the document was needed and is missing."""
        return self.kind in FAILURES


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every query: which documents count as relevant, down to which rank, and whether one is enough.

    Attributes:
        k: The cut-off; None looks at the whole ranking.
        rel: The threshold of relevance; None counts every grade above 0.
        one_suffices: Whether a single relevant document is all that is needed.
        at_r: Whether the cut-off is, for each query, the number of things it needs, as in R-precision.
    """

    k: int | None = None
    rel: float | None = None
    one_suffices: bool = False
    at_r: bool = False


class Investigation:
    """Looks for the relevant documents of a run, query by query."""

    def __init__(self, judged: JudgedRun, run: Mapping[Any, Any], question: Question) -> None:
        self.judged = judged
        self.run = run
        self.question = question
        self._elsewhere: dict[DocumentId, bool] = {}

    def findings(self, index: int) -> list[Finding]:
        """Return what became of each relevant document of a query, best grade first."""
        places = self._relevant(index)
        first, last = np.searchsorted(self.judged.items.query, [index, index + 1])
        items = self.judged.items
        at = dict(zip(items.document[first:last].tolist(), range(first, last), strict=True))
        ranks = {place: int(items.rank[at[place]]) for place in places if place in at}
        groups = self._groups(index, places)
        k = len({group for each in groups.values() for group in each}) if self.question.at_r else self.question.k
        satisfied = {group for place, rank in ranks.items() if k is None or rank <= k for group in groups[place]}
        case = _Case(self, index, k, {place: (rank, int(items.tied[at[place]])) for place, rank in ranks.items()})
        found = []
        for place in places:
            grade = float(self.judged.qrels.document_grade[place])
            kind, detail = case.judge(place, grade, needed=not satisfied.issuperset(groups[place]))
            document = self.judged.qrels.documents[place]
            found.append(Finding(document, grade, kind, ranks.get(place), detail, groups[place]))
        return found

    def _relevant(self, index: int) -> list[int]:
        qrels = self.judged.qrels
        grades = qrels.document_grade[qrels.bounds[index] : qrels.bounds[index + 1]]
        order = np.argsort(-grades, kind="stable")
        places: list[int] = (order[is_relevant(grades[order], self.question.rel)] + qrels.bounds[index]).tolist()
        return places

    def _groups(self, index: int, places: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Return the groups that each document belongs to and is relevant in, counted from 1 within the query."""
        qrels = self.judged.qrels
        if self.question.one_suffices:
            return dict.fromkeys(places, (1,))
        if qrels.is_flat:
            return {place: (number,) for number, place in enumerate(places, start=1)}
        before = int(np.searchsorted(qrels.group_query, index))
        groups = {}
        for place in places:
            first, last = np.searchsorted(qrels.member_document, [place, place + 1])
            counts = is_relevant(qrels.member_grade[first:last], self.question.rel)
            groups[place] = tuple((qrels.member_group[first:last][counts] - before + 1).tolist())
        return groups

    def occurs(self, document: DocumentId) -> bool:
        """Return whether any ranking of the run holds this very id."""
        if document not in self._elsewhere:
            self._elsewhere[document] = any(
                document in (ranking if isinstance(ranking, Mapping) else ids_of(ranking))
                for ranking in self.run.values()
            )
        return self._elsewhere[document]


def ids_of(ranking: Any) -> list[DocumentId]:
    """Return the ids of a ranking in rank order: scores descending, among equal scores ids descending."""
    if isinstance(ranking, Mapping):
        by_id = sorted(ranking, key=str, reverse=True)
        return sorted(by_id, key=ranking.__getitem__, reverse=True)
    return [getattr(item, "id", item) for item in ranking]


class _Case:
    """One query, whose ranking is put in order only if something is missing from it."""

    def __init__(
        self, investigation: Investigation, index: int, k: int | None, places: Mapping[int, tuple[int, int]]
    ) -> None:
        self.k = k
        self.all = investigation
        self.judged = investigation.judged
        self.query = self.judged.qrels.queries[index]
        self.index = index
        self.places = places
        self._ids: list[DocumentId] | None = None

    @property
    def ranking(self) -> Any:
        return self.all.run[self.query]

    @property
    def ids(self) -> list[DocumentId]:
        if self._ids is None:
            self._ids = ids_of(self.ranking)
        return self._ids

    def judge(self, place: int, grade: float, *, needed: bool) -> tuple[Kind, str]:
        rank, tied = self.places.get(place, (None, 1))
        if rank is not None and (self.k is None or rank <= self.k):
            return "found", "found"
        if not needed:
            return "not needed", "not needed: an alternative was found"
        if self._no_room(grade):
            return "no room", f"no room: the first {self.k} are as relevant"
        return self._not_retrieved(place) if rank is None else self._too_late(place, rank, tied)

    def _no_room(self, grade: float) -> bool:
        k = self.k
        as_good = [at for at, (rank, _) in self.places.items() if k is not None and rank <= k]
        grades = self.judged.qrels.document_grade
        return k is not None and len(as_good) == k and all(grades[at] >= grade for at in as_good)

    def _too_late(self, place: int, rank: int, tied: int) -> tuple[Kind, str]:
        k, ranking = self.k or 0, self.ranking
        if tied > 1 and isinstance(ranking, Mapping):
            score = ranking[self.judged.qrels.documents[place]]
            best = 1 + sum(other > score for other in ranking.values())
            if best <= k:
                return "lost a tie", f"lost a tie: {tied} documents have its score, from rank {best} on"
        above = self.ids[: rank - 1]
        repeats = len(above) - len(set(above)) if self.judged.n_repeated[self.index] else 0
        if rank - repeats <= k:
            return "behind repeats", f"behind {count(repeats, 'repeated document')}"
        parts = self._parts_above(above)
        surplus = sum(parts.values())
        if surplus and rank - repeats - surplus <= k:
            document, most = parts.most_common(1)[0]
            rest = f" and {surplus - most} of other documents" if surplus > most else ""
            return "behind chunks of one document", f"behind {count(most, 'further chunk')} of {document}{rest}"
        return "beyond the cut-off", f"beyond the cut-off {k}"

    def _parts_above(self, above: Sequence[DocumentId]) -> Any:
        distinct = dict.fromkeys(above)
        ranking = self.ranking
        items = distinct if isinstance(ranking, Mapping) else {getattr(one, "id", one): one for one in ranking}
        return further_parts((items.get(one) for one in distinct), distinct)

    def _not_retrieved(self, place: int) -> tuple[Kind, str]:
        errors = self.all.run.errors if isinstance(self.all.run, RetrievedRun) else {}
        if self.query in errors:
            error = errors[self.query]
            return "the retriever failed", f"the retriever failed: {type(error).__name__}: {error}"
        retrieved = int(self.judged.n_retrieved[self.index])
        if not retrieved:
            return "nothing retrieved", "nothing was retrieved for this query"
        document = self.judged.qrels.documents[place]
        other = relatives(document, self.ids)
        if other and not self.all.occurs(document):
            rank = self.ids.index(other[0]) + 1
            return "another granularity", f"its id occurs nowhere in the run, but {other[0]!r} does, at rank {rank}"
        return "never retrieved", f"never retrieved; the ranking has {count(retrieved, 'document')}"


def failures(findings: Sequence[Finding]) -> list[Finding]:
    """Return one finding for each need that is not met: the nearest miss among its alternatives."""
    nearest: dict[int, Finding] = {}
    for finding in findings:
        if not finding.is_failure:
            continue
        for group in finding.groups:
            known = nearest.get(group)
            if known is None or FAILURES.index(finding.kind) < FAILURES.index(known.kind):
                nearest[group] = finding
    met = {group for finding in findings if finding.kind == "found" for group in finding.groups}
    return [nearest[group] for group in sorted(nearest) if group not in met]


def needs(findings: Sequence[Finding]) -> int:
    """Return how many things the query needs: its relevant documents, or its groups."""
    return len({group for finding in findings for group in finding.groups})
