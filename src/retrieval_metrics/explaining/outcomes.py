"""Find the outcome of each relevant document, for any number of queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.explaining.case import Case, never
from retrieval_metrics.explaining.finding import FAILURES, Finding
from retrieval_metrics.judging.judged_rows import is_relevant
from retrieval_metrics.judging.matching.budget import Budget

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from retrieval_metrics.judging.judged_run import JudgedRun
    from retrieval_metrics.judging.ranking_order import Rankings


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


class Investigation:
    """Looks for the relevant documents of a run, query by query."""

    def __init__(self, judged: JudgedRun, rankings: Rankings, question: Question) -> None:
        self.judged = judged
        self.rankings = rankings
        self.question = question
        self._cuts = [(cut, judged.cutoff(cut)) for cut in question.cuts]

    def settled(self, positions: Iterable[int]) -> Iterator[tuple[int, list[Finding], Any]]:
        """Yield the outcomes of the relevant documents of the given queries, in any order.

        Queries are given by position, and each comes with its position and ranking. Whether an id occurs anywhere in
        the run is looked up once for all queries, at the end.
        """
        queries = self.judged.qrels.queries
        place = {queries[at]: at for at in positions}
        open_: dict[int, tuple[list[Finding], Any]] = {}
        for query, ranking in self.rankings.of(place):
            found = self.findings(place[query], ranking)
            if any(one.kind == "another granularity" for one in found):
                open_[place[query]] = found, ranking
            else:
                yield place[query], found, ranking
        asked = {one.document for found, _ in open_.values() for one in found if one.kind == "another granularity"}
        occurring = self.rankings.occurring(asked)  # type: ignore[arg-type]  # only ids have this kind
        for at, (found, ranking) in open_.items():
            yield at, [self._never(at, one) if one.document in occurring else one for one in found], ranking

    def _never(self, index: int, finding: Finding) -> Finding:
        if finding.kind != "another granularity":
            return finding
        return replace(finding, kind="never retrieved", detail=never(int(self.judged.n_retrieved[index])))

    def findings(self, index: int, ranking: Any) -> list[Finding]:
        """Return the outcome of each relevant document of a query, best grade first.

        An id found at another granularity is reported before it is known whether the id itself occurs elsewhere in the
        run.
        """
        places = self._relevant(index)
        retrieved = self._retrieved(index)
        ranks = {place: retrieved[place][0] for place in places if place in retrieved}
        groups = self._groups(index, places)
        needed = len({group for each in groups.values() for group in each})
        k, budget = (needed, None) if self.question.at_needed else self.cutoff(index)
        satisfied = {group for place, rank in ranks.items() if k is None or rank <= k for group in groups[place]}
        known = {place: retrieved[place] for place in ranks}
        case = Case(
            judged=self.judged,
            rankings=self.rankings,
            index=index,
            ranking=ranking,
            k=k,
            budget=budget,
            places=known,
        )
        found = []
        for place in places:
            grade = float(self.judged.qrels.document_grade[place])
            kind, detail = case.judge(place, grade, needed=not satisfied.issuperset(groups[place]))
            document = self.judged.qrels.documents[place]
            found.append(Finding(document, grade, kind, ranks.get(place), detail, groups[place]))
        return found

    def cutoff(self, index: int) -> tuple[int | None, Budget | None]:
        """Return how many items of a query count, None for all, and the budget that they fit into, if it is one."""
        kept: tuple[int | None, Budget | None] = None, None
        for cut, items in self._cuts:
            k = cut if isinstance(cut, int) else int(items[index])  # type: ignore[index]  # budgets count per query
            if kept[0] is None or k > kept[0]:
                kept = k, cut if isinstance(cut, Budget) else None
        return kept

    @cached_property
    def _columns(self) -> tuple[list[int], list[int], list[float], list[bool]]:
        """Where the items and the judgments of each query begin, and the grade and relevance of each document."""
        qrels, items = self.judged.qrels, self.judged.items
        begins = np.searchsorted(items.query, np.arange(len(qrels.queries) + 1))
        relevant = is_relevant(qrels.document_grade, self.question.rel)
        return begins.tolist(), list(map(int, qrels.bounds)), qrels.document_grade.tolist(), relevant.tolist()

    def _retrieved(self, index: int) -> dict[int, tuple[int, int]]:
        """Return the rank and the ties of each judged document that was retrieved for a query."""
        first, last = self._columns[0][index : index + 2]
        items = self.judged.items
        columns = (each[first:last].tolist() for each in (items.document, items.rank, items.tied))
        return {document: (rank, tied) for document, rank, tied in zip(*columns, strict=True)}

    def _relevant(self, index: int) -> list[int]:
        """Return the places of the relevant documents of a query among the judged ones, best grade first."""
        _, bounds, grades, relevant = self._columns
        places = [place for place in range(bounds[index], bounds[index + 1]) if relevant[place]]
        return sorted(places, key=lambda place: -grades[place])

    def _groups(self, index: int, places: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Return the groups in which each document is relevant, numbered from 1 within the query."""
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


def unmet(findings: Sequence[Finding]) -> list[Finding]:
    """Return one finding for each unmet need: the nearest miss among its alternatives."""
    nearest: dict[int, Finding] = {}
    for finding in findings:
        if not finding.is_failure:
            continue
        for group in finding.groups:
            known = nearest.get(group)
            if known is None or FAILURES.index(finding.kind) < FAILURES.index(known.kind):
                nearest[group] = finding
    satisfied = met(findings)
    return [nearest[group] for group in sorted(nearest) if group not in satisfied]


def met(findings: Sequence[Finding]) -> set[int]:
    """Return the groups with a document that was found."""
    return {group for finding in findings if finding.kind == "found" for group in finding.groups}


def needs(findings: Sequence[Finding]) -> int:
    """Return how many relevant documents, or groups, the query needs."""
    return len({group for finding in findings for group in finding.groups})
