"""Collect what queries needed and what they retrieved, as data for the page of a report."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.evaluation.outcomes import OUTCOME_KINDS
from retrieval_metrics.evaluation.relevant_texts import RelevantTexts
from retrieval_metrics.evaluation.report_texts import TextStore
from retrieval_metrics.inputs.items import Metadata
from retrieval_metrics.inputs.search_history import SearchHistory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.explainer import ExplainedQuery, Explainer
    from retrieval_metrics.evaluation.judged_results import Result
    from retrieval_metrics.evaluation.outcomes import Finding
    from retrieval_metrics.evaluation.report_texts import CharacterRange, ShortenedTexts


# The judgments of results, by their codes on the page.
JUDGMENT_STATES = ("relevant", "not relevant", "duplicate", "unjudged", "forbidden")
UNJUDGED = JUDGMENT_STATES.index("unjudged")

# The values that a result leaves out at its end: text, judgment, score, grade, satisfied, marks and call.
_DEFAULT_RESULT: list[Any] = [None, UNJUDGED, None, None, [], [], []]

# The number of decimals of numbers on the page.
_MAX_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class PageDetails:
    """The details of queries as a page holds them.

    Attributes:
        rows: What each query needed and retrieved, by the place of the query on the page.
        documents: The texts that the rows refer to by number.
        text_length: The length to which texts were cut, in characters.
    """

    rows: dict[int, dict[str, Any]]
    documents: list[list[Any]]
    text_length: int


class _DocumentOutcome(NamedTuple):
    """What became of a needed document in one system.

    Attributes:
        kind: The number of the kind of outcome.
        rank: Its rank; None if it has none.
        detail: The number of the sentence about it.
    """

    kind: int
    rank: int | None
    detail: int


@dataclass(slots=True)
class _NeededDocument:
    """A needed document of a query; its outcomes are filled in system by system.

    Attributes:
        text_number: The number of its text.
        grade: Its grade.
        groups: The numbers of its groups; None if each document is a group.
        outcomes: Its outcome in each system; None in systems that do not have the query.
    """

    text_number: int
    grade: float | None
    groups: list[int] | None
    outcomes: list[_DocumentOutcome | None]

    def as_row(self) -> list[Any]:
        """Return the document as the page holds it."""
        outcomes: list[list[Any] | None] = [None] * len(self.outcomes)
        for system, outcome in enumerate(self.outcomes):
            if outcome is not None:
                outcomes[system] = list(outcome)
        return [self.text_number, self.grade, self.groups, outcomes]


@dataclass(frozen=True, slots=True)
class _RetrievedDocument:
    """A result of a query in one system.

    Attributes:
        text_number: The number of its text.
        judgment: The number of its judgment.
        score: Its score, in five digits; None if it has none.
        grade: Its grade; None if it is not judged.
        satisfied: The positions of the needed documents that it satisfies.
        marks: Where needed words are in its whole text.
        call: The call of an agent that found it, with its place there; empty if that is unknown.
    """

    text_number: int
    judgment: int
    score: float | None
    grade: float | None
    satisfied: list[int]
    marks: set[CharacterRange]
    call: list[int]

    def as_row(self, texts: ShortenedTexts) -> Any:
        """Return the result as the page holds it: without default values at its end, and a lone number as it is."""
        marks = texts.marks(self.text_number, self.marks)
        row = [self.text_number, self.judgment, self.score, self.grade, self.satisfied, marks, self.call]
        while len(row) > 1 and row[-1] == _DEFAULT_RESULT[len(row) - 1]:
            row.pop()
        return row[0] if len(row) == 1 else row


@dataclass(slots=True)
class _QueryRow:
    """What a query needed and what each system retrieved; filled in system by system.

    Attributes:
        needed: The needed documents, in the order in which they were met.
        results: The results in each system; None in systems that do not have the query.
        searches: The searches of an agent in each system; None if no system is an agent.
    """

    needed: dict[Any, _NeededDocument]
    results: list[list[_RetrievedDocument] | None]
    searches: list[list[list[Any]] | None] | None = None

    def as_row(self, texts: ShortenedTexts) -> dict[str, Any]:
        """Return the row as the page holds it, with marks moved to the shortened texts."""
        results_by_system: list[list[Any] | None] = []
        for documents in self.results:
            rows = None
            if documents is not None:
                rows = [document.as_row(texts) for document in documents]
            results_by_system.append(rows)
        needed = [needed_document.as_row() for needed_document in self.needed.values()]
        row: dict[str, Any] = {"needed": needed, "results": results_by_system}
        if self.searches is not None:
            row["searches"] = self.searches
        return row


class QueryDetails:
    """Collects the details of queries, system by system.

    Attributes:
        number_by_detail: The number of each sentence about an outcome; equal sentences have one number.
    """

    def __init__(self, n_systems: int, depth: int, *, is_flat: bool) -> None:
        """Prepare the collection.

        Args:
            n_systems: The number of systems.
            depth: The number of results kept of each query.
            is_flat: Whether judgments have no groups.
        """
        self._n_systems = n_systems
        self._depth = depth
        self._is_flat = is_flat
        self._texts = TextStore()
        self._row_by_place: dict[int, _QueryRow] = {}
        self.number_by_detail: dict[str, int] = {}

    def add(self, place: int, system: int, explainer: Explainer, explained: ExplainedQuery) -> None:
        """Keep what a query needed and what a system retrieved, under the place of the query on the page."""
        if place not in self._row_by_place:
            self._row_by_place[place] = _QueryRow({}, [None] * self._n_systems)
        row = self._row_by_place[place]
        run = explainer.rankings.run
        if isinstance(run, SearchHistory):
            searches = run.search_notes(explained.query)
            if searches:
                if row.searches is None:
                    row.searches = [None] * self._n_systems
                row.searches[system] = [list(search) for search in searches]
        results = explainer.results(explained, self._depth)
        for finding in explainer.with_partial_matches(explained.findings, results):
            self._add_finding(row, system, finding, explainer.relevant_texts)
        position_by_needed = {document: position for position, document in enumerate(row.needed)}
        documents = []
        for result in results:
            documents.append(self._read_result(result, explained, explainer.relevant_texts, position_by_needed))
        row.results[system] = documents

    def page_details(self, length: int | None) -> PageDetails:
        """Return the details, with texts cut to a length; None takes one that keeps the page small enough."""
        texts = self._texts.shortened(length)
        rows = {place: row.as_row(texts) for place, row in self._row_by_place.items()}
        return PageDetails(rows, texts.rows, texts.length)

    def _add_finding(self, row: _QueryRow, system: int, finding: Finding, relevant_texts: RelevantTexts) -> None:
        if finding.document not in row.needed:
            name = RelevantTexts.name(finding.document) or None
            text_number = self._texts.add(name, None, relevant_texts.text(finding.document))
            shows_groups = len(finding.groups) > 1 or not self._is_flat
            row.needed[finding.document] = _NeededDocument(
                text_number=text_number,
                grade=short_number(finding.grade),
                groups=list(finding.groups) if shows_groups else None,
                outcomes=[None] * self._n_systems,
            )
        detail = self.number_by_detail.setdefault(finding.detail, len(self.number_by_detail))
        kind = OUTCOME_KINDS.index(finding.kind)
        row.needed[finding.document].outcomes[system] = _DocumentOutcome(kind, finding.rank, detail)

    def _read_result(
        self,
        result: Result,
        explained: ExplainedQuery,
        relevant_texts: RelevantTexts,
        position_by_needed: Mapping[Any, int],
    ) -> _RetrievedDocument:
        marks: set[CharacterRange] = set()
        if result.judgment == "relevant" and result.item is not None:
            for finding in explained.findings:
                if not isinstance(finding.document, Metadata):
                    marks.update(relevant_texts.marked_ranges(result.item, finding.document))
        satisfied = []
        for document in result.satisfies:
            if document in position_by_needed:
                satisfied.append(position_by_needed[document])
        return _RetrievedDocument(
            text_number=self._texts.add(result.id, result.source, result.text, marks),
            judgment=JUDGMENT_STATES.index(result.judgment),
            score=None if result.score is None else short_number(float(f"{result.score:.5g}")),
            grade=result.grade,
            satisfied=satisfied,
            marks=marks,
            call=[] if result.place is None else list(result.place),
        )


def short_number(value: float) -> float | int | None:
    """Return a number in the form that is shortest in JSON; None if it is not finite."""
    if isnan(value) or isinf(value):
        return None
    rounded = round(value, _MAX_DECIMALS)
    whole = int(rounded)
    return whole if rounded == whole else rounded
