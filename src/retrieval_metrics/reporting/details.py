"""What queries needed and what came back, as data for a page."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING, Any

from retrieval_metrics.explaining.outcomes import KINDS, Needed
from retrieval_metrics.inputs.items import Metadata
from retrieval_metrics.inputs.run import RetrievedRun
from retrieval_metrics.reporting.shortened import StoredTexts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.explaining.explanation import Explained, Explainer
    from retrieval_metrics.explaining.outcomes import Finding, Result
    from retrieval_metrics.reporting.shortened import Shortened

STATES = ("relevant", "not relevant", "repeated", "unjudged")
UNJUDGED = STATES.index("unjudged")


class Details:
    """Collects the details of queries, system by system.

    Attributes:
        said: The sentences of the outcomes, each once, with their numbers.
    """

    def __init__(self, systems: int, depth: int, *, flat: bool) -> None:
        """Begin with nothing.

        Args:
            systems: How many systems there are.
            depth: How many results of a query are kept.
            flat: Whether each needed document is a group of its own.
        """
        self._systems = systems
        self._depth = depth
        self._flat = flat
        self._passages = StoredTexts()
        self._rows: dict[int, dict[str, Any]] = {}
        self.said: dict[str, int] = {}

    def add(self, place: int, system: int, explainer: Explainer, explained: Explained) -> None:
        """Keep what a query needed and what a system retrieved, under the place of the query on the page."""
        new: dict[str, Any] = {"needed": {}, "results": [None] * self._systems}
        row, run = self._rows.setdefault(place, new), explainer.rankings.run
        if isinstance(run, RetrievedRun) and (searches := run.searches(explained.query)):
            row.setdefault("searches", [None] * self._systems)[system] = [list(each) for each in searches]
        results = explainer.results(explained, self._depth)
        for finding in explainer.in_parts(explained.findings, results):
            self._needed(row, system, finding, explainer.needed)
        order = list(row["needed"])
        row["results"][system] = [self._result(result, explained, explainer.needed, order) for result in results]

    def data(self, length: int | None) -> tuple[dict[int, dict[str, Any]], list[list[Any]], int]:
        """Return the details by place, the documents they refer to, and the length to which texts were cut.

        Args:
            length: The number of characters shown of a text; None shows whole texts as long as the page stays small.
        """
        texts = self._passages.shortened(length)
        return {place: _finished(row, texts) for place, row in self._rows.items()}, texts.rows, texts.length

    def _needed(self, row: dict[str, Any], system: int, finding: Finding, needed: Needed) -> None:
        if finding.document not in row["needed"]:
            name, text = Needed.name(finding.document), needed.text(finding.document)
            place = self._passages.add(name or None, None, text)
            groups = list(finding.groups) if len(finding.groups) > 1 or not self._flat else None
            row["needed"][finding.document] = [place, short_number(finding.grade), groups, [None] * self._systems]
        detail = self.said.setdefault(finding.detail, len(self.said))
        row["needed"][finding.document][3][system] = [KINDS.index(finding.kind), finding.rank, detail]

    def _result(self, result: Result, explained: Explained, needed: Needed, order: Sequence[Any]) -> list[Any]:
        marks: set[tuple[int, int]] = set()
        if result.state == "relevant" and result.item is not None:
            pieces = (one.document for one in explained.findings if not isinstance(one.document, Metadata))
            marks = {mark for piece in pieces for mark in needed.marks(result.item, piece)}
        place = self._passages.add(result.id, result.source, result.text, marks)
        score = None if result.score is None else short_number(float(f"{result.score:.5g}"))
        satisfies = [order.index(document) for document in result.satisfies if document in order]
        found_by = [] if result.place is None else list(result.place)
        return [place, STATES.index(result.state), score, result.grade, satisfies, marks, found_by]


def _finished(row: dict[str, Any], texts: Shortened) -> dict[str, Any]:
    """Return a row with its marks moved to the shortened texts, and without empty values."""
    results = [
        None if found is None else [_compact([*one[:5], texts.marks(one[0], one[5]), one[6]]) for one in found]
        for found in row["results"]
    ]
    return row | {"needed": list(row["needed"].values()), "results": results}


def _compact(result: list[Any]) -> Any:
    """Return a result without default values: unjudged, no score, grade or call, nothing satisfied or marked."""
    usual: list[Any] = [None, UNJUDGED, None, None, [], [], []]
    while len(result) > 1 and result[-1] == usual[len(result) - 1]:
        result.pop()
    return result[0] if len(result) == 1 else result


def short_number(value: float) -> float | int | None:
    """Return a number as JSON holds it shortest; None if it is not finite."""
    if isnan(value) or isinf(value):
        return None
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
