"""Hold the data of the queries on the page of a report, and write them as the script of the page reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.evaluation.report_texts import CharacterRange


# The judgments of results, by their codes on the page.
JUDGMENT_STATES = ("relevant", "not relevant", "duplicate", "unjudged", "forbidden")
UNJUDGED = JUDGMENT_STATES.index("unjudged")

# Numbers by column, then by query; None where a query has none.
ValueColumns: TypeAlias = "Sequence[Sequence[float | None]]"


class TextRow(NamedTuple):
    """A text with the name and the source of its document, as far as they are known.

    Attributes:
        name: The document id, or another name of it.
        source: Where it is from.
        text: Its text, shortened if it is too long.
        is_shortened: Whether the text was shortened.
    """

    name: str | None
    source: str | None = None
    text: str | None = None
    is_shortened: bool = False

    def as_json(self) -> list[Any]:
        """Return the values without empty ones at the end: the page reads a missing value as empty."""
        values = [self.name, self.source, self.text, int(self.is_shortened)]
        while len(values) > 1 and not values[-1]:
            values.pop()
        return values


class OutcomeRow(NamedTuple):
    """What became of a needed document in one system.

    Attributes:
        kind: The number of the kind of outcome.
        rank: Its rank; None if it has none.
        sentence: The number of the sentence about it.
    """

    kind: int
    rank: int | None
    sentence: int


class NeededRow(NamedTuple):
    """A document that a query needs.

    Attributes:
        text_number: The number of its text.
        grade: Its grade; None if it is not finite.
        groups: The numbers of its groups; None if each document is a group.
        outcomes: Its outcome in each system; None in systems that do not have the query.
    """

    text_number: int
    grade: float | None
    groups: list[int] | None
    outcomes: list[OutcomeRow | None]


class ResultRow(NamedTuple):
    """A result of a query in one system.

    Attributes:
        text_number: The number of its text.
        judgment: The position of its judgment in `JUDGMENT_STATES`.
        score: Its score; None if it has none.
        grade: Its grade; None if it is not judged.
        satisfied: The positions of the needed documents that it satisfies.
        marks: Where needed words are in its text.
        call: The call of an agent that found it, with its rank there; empty if that is unknown.
    """

    text_number: int
    judgment: int = UNJUDGED
    score: float | None = None
    grade: float | None = None
    satisfied: tuple[int, ...] = ()
    marks: tuple[CharacterRange, ...] = ()
    call: tuple[int, ...] = ()

    def as_json(self) -> int | list[Any]:
        """Return the values without default ones at the end, which the page fills in; a lone number as it is."""
        values: list[Any] = list(self)
        while len(values) > 1 and values[-1] == _DEFAULT_RESULT[len(values) - 1]:
            values.pop()
        if len(values) == 1:
            return self.text_number
        return values


_DEFAULT_RESULT = ResultRow(text_number=0)


@dataclass(frozen=True, slots=True)
class DetailsRow:
    """What a query needed and what each system retrieved.

    Attributes:
        needed: The documents that the query needs.
        results: The results in each system; None in systems that do not have the query.
        searches: The searches of an agent in each system, each with the reason why it added nothing, which is empty
            if it did; None if no system is an agent.
    """

    needed: Sequence[NeededRow]
    results: Sequence[Sequence[ResultRow] | None]
    searches: Sequence[Sequence[tuple[str, str]] | None] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the row as the page reads it."""
        results_by_system: list[list[int | list[Any]] | None] = []
        for results in self.results:
            values = None
            if results is not None:
                values = [result.as_json() for result in results]
            results_by_system.append(values)
        row: dict[str, Any] = {"needed": self.needed, "results": results_by_system}
        if self.searches is not None:
            row["searches"] = self.searches
        return row


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """The data of the queries on a page. A query is known by its place on the page.

    Attributes:
        metrics: The names of the metrics.
        systems: The names of the systems.
        main: The position of the metric by which the queries are sorted.
        pair: The positions of the two systems that are compared, the baseline first.
        has_pieces: Whether texts or metadata are judged rather than ids.
        outcome_labels: The label of each kind of outcome.
        missed_kinds: The kinds of outcome of what the queries miss.
        outcome_sentences: The sentences about outcomes.
        texts: The texts of documents, to which the rows refer by number.
        query_ids: The ids of the queries.
        query_texts: The texts of the queries, None where unknown; empty if none is known.
        slice_numbers: The number of the slice of each query, None where unknown; empty without slices.
        slices: The labels of the slices.
        best: The best possible value of each query, metric by metric; None if all are 1.
        values: The value of each query, metric by metric, system by system.
        n_needed: How many documents each query needs, system by system; None where the system lacks the query.
        missed_numbers: The number in `missed` of what each query misses, system by system.
        missed: The kinds of outcome of what a query misses, each combination once.
        details: What queries needed and retrieved, by place; not all queries have it.
        text_length: The length to which texts were cut, in characters.
    """

    metrics: Sequence[str]
    systems: Sequence[str]
    main: int
    pair: tuple[int, int]
    has_pieces: bool
    outcome_labels: Sequence[str]
    missed_kinds: Sequence[int]
    outcome_sentences: Sequence[str]
    texts: Sequence[TextRow]
    query_ids: Sequence[str]
    query_texts: Sequence[str | None]
    slice_numbers: Sequence[int | None]
    slices: Sequence[str]
    best: ValueColumns | None
    values: Sequence[ValueColumns]
    n_needed: Sequence[Sequence[int | None]]
    missed_numbers: Sequence[Sequence[int]]
    missed: Sequence[Sequence[int]]
    details: Mapping[int, DetailsRow]
    text_length: int

    def as_json(self) -> dict[str, Any]:
        """Return the data under the names by which the script of the page reads them."""
        return {
            "metrics": self.metrics,
            "systems": self.systems,
            "main": self.main,
            "pair": self.pair,
            "quoted": self.has_pieces,
            "kinds": self.outcome_labels,
            "reasons": self.missed_kinds,
            "details": self.outcome_sentences,
            "documents": [text.as_json() for text in self.texts],
            "ids": self.query_ids,
            "texts": self.query_texts,
            "slice": self.slice_numbers,
            "slices": self.slices,
            "best": self.best,
            "values": self.values,
            "wanted": self.n_needed,
            "missing": self.missed_numbers,
            "missed": self.missed,
            "shown": {place: row.as_json() for place, row in self.details.items()},
        }
