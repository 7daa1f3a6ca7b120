"""Collect what queries needed and what they retrieved, as data for the page of a report."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.outcomes import OUTCOME_KINDS
from retrieval_metrics.evaluation.page_data import JUDGMENT_STATES, DetailsRow, NeededRow, OutcomeRow, ResultRow
from retrieval_metrics.evaluation.relevant_texts import RelevantTexts
from retrieval_metrics.evaluation.report_texts import TextStore
from retrieval_metrics.inputs.pieces import Metadata
from retrieval_metrics.inputs.search_history import SearchHistory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from retrieval_metrics.evaluation.explainer import ExplainedQuery, Explainer
    from retrieval_metrics.evaluation.judged_results import Result
    from retrieval_metrics.evaluation.outcomes import Finding
    from retrieval_metrics.evaluation.page_data import TextRow
    from retrieval_metrics.evaluation.report_texts import CharacterRange, ShortenedTexts


# The number of decimals of numbers on the page.
_MAX_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class PageDetails:
    """The details of queries as a page holds them.

    Attributes:
        rows: What each query needed and retrieved, by the place of the query on the page.
        texts: The texts that the rows refer to by number.
        text_length: The length to which texts were cut, in characters.
    """

    rows: dict[int, DetailsRow]
    texts: list[TextRow]
    text_length: int


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
    satisfied: tuple[int, ...]
    marks: set[CharacterRange]
    call: tuple[int, ...]

    def as_row(self, texts: ShortenedTexts) -> ResultRow:
        """Return the result with its marks where they are in the shortened text."""
        return ResultRow(
            text_number=self.text_number,
            judgment=self.judgment,
            score=self.score,
            grade=self.grade,
            satisfied=self.satisfied,
            marks=texts.marks(self.text_number, self.marks),
            call=self.call,
        )


@dataclass(slots=True)
class _CollectedQuery:
    """What a query needed and what each system retrieved; filled in system by system.

    Attributes:
        needed: The needed documents, in the order in which they were met.
        results: The results in each system; None in systems that do not have the query.
        searches: The searches of an agent in each system; None if no system is an agent.
    """

    needed: dict[Any, NeededRow]
    results: list[list[_RetrievedDocument] | None]
    searches: list[list[tuple[str, str]] | None] | None = None

    def as_row(self, texts: ShortenedTexts) -> DetailsRow:
        """Return the query as the page holds it, with marks moved to the shortened texts."""
        results_by_system: list[list[ResultRow] | None] = []
        for documents in self.results:
            rows = None
            if documents is not None:
                rows = [document.as_row(texts) for document in documents]
            results_by_system.append(rows)
        return DetailsRow(list(self.needed.values()), results_by_system, self.searches)


class QueryDetails:
    """Collects the details of queries, system by system.

    Attributes:
        number_by_sentence: The number of each sentence about an outcome; equal sentences have one number.
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
        self._query_by_place: dict[int, _CollectedQuery] = {}
        self.number_by_sentence: dict[str, int] = {}

    def add(self, place: int, system: int, explainer: Explainer, explained: ExplainedQuery) -> None:
        """Keep what a query needed and what a system retrieved, under the place of the query on the page."""
        if place not in self._query_by_place:
            self._query_by_place[place] = _CollectedQuery({}, [None] * self._n_systems)
        collected = self._query_by_place[place]
        run = explainer.rankings.run
        if isinstance(run, SearchHistory):
            searches = run.search_notes(explained.query)
            if searches:
                if collected.searches is None:
                    collected.searches = [None] * self._n_systems
                collected.searches[system] = searches
        results = explainer.results(explained, self._depth)
        for finding in explainer.with_partial_matches(explained.findings, results):
            self._add_finding(collected, system, finding, explainer.relevant_texts)
        position_by_needed = {document: position for position, document in enumerate(collected.needed)}
        documents = []
        for result in results:
            documents.append(self._read_result(result, explained, explainer.relevant_texts, position_by_needed))
        collected.results[system] = documents

    def page_details(self, length: int | None) -> PageDetails:
        """Return the details, with texts cut to a length; None takes one that keeps the page small enough."""
        texts = self._texts.shortened(length)
        rows = {place: collected.as_row(texts) for place, collected in self._query_by_place.items()}
        return PageDetails(rows, texts.rows, texts.length)

    def _add_finding(
        self, collected: _CollectedQuery, system: int, finding: Finding, relevant_texts: RelevantTexts
    ) -> None:
        if finding.document not in collected.needed:
            name = RelevantTexts.name(finding.document) or None
            text_number = self._texts.add(name, None, relevant_texts.text(finding.document))
            shows_groups = len(finding.groups) > 1 or not self._is_flat
            collected.needed[finding.document] = NeededRow(
                text_number=text_number,
                grade=short_number(finding.grade),
                groups=list(finding.groups) if shows_groups else None,
                outcomes=[None] * self._n_systems,
            )
        sentence = self.number_by_sentence.setdefault(finding.detail, len(self.number_by_sentence))
        kind = OUTCOME_KINDS.index(finding.kind)
        collected.needed[finding.document].outcomes[system] = OutcomeRow(kind, finding.rank, sentence)

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
            satisfied=tuple(satisfied),
            marks=marks,
            call=result.place or (),
        )


def short_number(value: float) -> float | int | None:
    """Return a number in the form that is shortest in JSON; None if it is not finite."""
    if isnan(value) or isinf(value):
        return None
    rounded = round(value, _MAX_DECIMALS)
    whole = int(rounded)
    return whole if rounded == whole else rounded
