"""Collect what queries needed and what they retrieved, as data for the page of a report."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

from retrieval_metrics.evaluation.outcomes import OUTCOME_KINDS
from retrieval_metrics.evaluation.relevant_texts import RelevantTexts
from retrieval_metrics.evaluation.report_texts import TextStore
from retrieval_metrics.inputs.items import Metadata
from retrieval_metrics.inputs.search_history import SearchHistory

if TYPE_CHECKING:
    from collections.abc import Sequence

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


@dataclass(slots=True)
class _NeededDocument:
    """A needed document of a query; its outcomes are filled in system by system.

    Attributes:
        text_number: The number of its text.
        grade: Its grade.
        groups: The numbers of its groups; None if each document is a group.
        outcomes: Kind, rank and number of the sentence of its outcome, by system.
    """

    text_number: int
    grade: float | None
    groups: list[int] | None
    outcomes: list[list[Any] | None]

    def as_row(self) -> list[Any]:
        """Return the document as the page holds it."""
        return [self.text_number, self.grade, self.groups, self.outcomes]


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
        self._row_by_place: dict[int, dict[str, Any]] = {}
        self.number_by_detail: dict[str, int] = {}

    def add(self, place: int, system: int, explainer: Explainer, explained: ExplainedQuery) -> None:
        """Keep what a query needed and what a system retrieved, under the place of the query on the page."""
        empty: dict[str, Any] = {"needed": {}, "results": [None] * self._n_systems}
        row = self._row_by_place.setdefault(place, empty)
        run = explainer.rankings.run
        if isinstance(run, SearchHistory):
            searches = run.search_notes(explained.query)
            if searches:
                searches_by_system = row.setdefault("searches", [None] * self._n_systems)
                searches_by_system[system] = [list(search) for search in searches]
        results = explainer.results(explained, self._depth)
        for finding in explainer.with_partial_matches(explained.findings, results):
            self._add_finding(row, system, finding, explainer.relevant_texts)
        needed_documents = list(row["needed"])
        row["results"][system] = [
            self._result_entry(result, explained, explainer.relevant_texts, needed_documents) for result in results
        ]

    def page_details(self, length: int | None) -> PageDetails:
        """Return the details, with texts cut to a length; None takes one that keeps the page small enough."""
        texts = self._texts.shortened(length)
        rows = {place: _finish_row(row, texts) for place, row in self._row_by_place.items()}
        return PageDetails(rows, texts.rows, texts.length)

    def _add_finding(self, row: dict[str, Any], system: int, finding: Finding, relevant_texts: RelevantTexts) -> None:
        if finding.document not in row["needed"]:
            name = RelevantTexts.name(finding.document) or None
            text_number = self._texts.add(name, None, relevant_texts.text(finding.document))
            shows_groups = len(finding.groups) > 1 or not self._is_flat
            row["needed"][finding.document] = _NeededDocument(
                text_number=text_number,
                grade=short_number(finding.grade),
                groups=list(finding.groups) if shows_groups else None,
                outcomes=[None] * self._n_systems,
            )
        detail = self.number_by_detail.setdefault(finding.detail, len(self.number_by_detail))
        needed_document: _NeededDocument = row["needed"][finding.document]
        needed_document.outcomes[system] = [OUTCOME_KINDS.index(finding.kind), finding.rank, detail]

    def _result_entry(
        self,
        result: Result,
        explained: ExplainedQuery,
        relevant_texts: RelevantTexts,
        needed_documents: Sequence[Any],
    ) -> list[Any]:
        marks: set[CharacterRange] = set()
        if result.judgment == "relevant" and result.item is not None:
            for finding in explained.findings:
                if not isinstance(finding.document, Metadata):
                    marks.update(relevant_texts.marked_ranges(result.item, finding.document))
        text_number = self._texts.add(result.id, result.source, result.text, marks)
        score = None if result.score is None else short_number(float(f"{result.score:.5g}"))
        satisfied = []
        for document in result.satisfies:
            if document in needed_documents:
                satisfied.append(needed_documents.index(document))
        call = [] if result.place is None else list(result.place)
        return [text_number, JUDGMENT_STATES.index(result.judgment), score, result.grade, satisfied, marks, call]


def _finish_row(row: dict[str, Any], texts: ShortenedTexts) -> dict[str, Any]:
    """Return a row with its marks moved to the shortened texts, and without empty values."""
    results_by_system = []
    for entries in row["results"]:
        results = None
        if entries is not None:
            results = [_compact_result(entry, texts) for entry in entries]
        results_by_system.append(results)
    needed = [needed_document.as_row() for needed_document in row["needed"].values()]
    return row | {"needed": needed, "results": results_by_system}


def _compact_result(entry: list[Any], texts: ShortenedTexts) -> Any:
    """Return a result without default values at its end; if only its text is left, the number of the text."""
    text_number, state, score, grade, satisfied, marks, call = entry
    compact = [text_number, state, score, grade, satisfied, texts.marks(text_number, marks), call]
    while len(compact) > 1 and compact[-1] == _DEFAULT_RESULT[len(compact) - 1]:
        compact.pop()
    return compact[0] if len(compact) == 1 else compact


def short_number(value: float) -> float | int | None:
    """Return a number in the form that is shortest in JSON; None if it is not finite."""
    if isnan(value) or isinf(value):
        return None
    rounded = round(value, _MAX_DECIMALS)
    whole = int(rounded)
    return whole if rounded == whole else rounded
