"""The queries of a report: a table that can be searched, and what a reader sees without scripts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from html import escape
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.evaluation.explanation import Explainer, FallbackTexts, retrieved_texts
from retrieval_metrics.evaluation.outcomes import KINDS, OUTCOME_LABELS, RelevantTexts
from retrieval_metrics.inputs.items import Metadata
from retrieval_metrics.inputs.questions import choose_query_texts
from retrieval_metrics.inputs.search_history import SearchHistory
from retrieval_metrics.reports import numbers, page
from retrieval_metrics.reports.progress import track_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from retrieval_metrics._internal.validation import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.explanation import ExplainedQuery
    from retrieval_metrics.evaluation.outcomes import Finding, Outcome, Outcomes, Result
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.metrics.base.metric import Metric

    Mark: TypeAlias = tuple[int, int]


SHOWN = 10
"""The least number of results shown for a query."""
MOST = 20_000
"""The largest number of queries on a page; of more, those with the lowest values, or that moved most."""
DETAILED = 1_000
"""Up to so many queries, each is on the page with what it needed and what came back."""
FIRST = 100
"""Of more queries, those are that the page lists first; the others are there with their values and what they miss."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report shows besides the numbers.

    Attributes:
        queries: Query texts by query id.
        corpus: Document texts by document id, for rankings without texts.
        labels: The slice of each query, by query id.
        k: How many results of each query; None takes the largest cut-off of the metrics, and at least 10.
        length: The number of characters shown of a text; None shows whole texts as long as the page stays small.
        show_progress: Whether to show a progress bar.
    """

    queries: Mapping[Any, str]
    corpus: Mapping[Any, str]
    labels: Mapping[Any, Any]
    k: int | None = None
    length: int | None = None
    show_progress: bool = False

    @classmethod
    def of(
        cls,
        queries: QueryTexts | Questions | None,
        corpus: Mapping[Any, str] | None,
        labels: Mapping[Any, Any] | None,
        *,
        k: int | None,
        length: int | None,
        known: QueryTexts,
        show_progress: bool = False,
    ) -> ReportOptions:
        """Take what a caller gave, with the query texts already known, and nothing for what else was left out."""
        for value, name in ((k, "k"), (length, "text_length")):
            if value is not None:
                positive_integer(value, name, or_none=True)
        return cls(
            queries=choose_query_texts(queries, known),
            corpus=corpus or {},
            labels=labels or {},
            k=k,
            length=length,
            show_progress=show_progress,
        )


class QueryData:
    """Collects the data of each query on the page, system by system.

    Attributes:
        order: The places of the queries on the page, the lowest values first, or of two systems those that moved most.
        of: The number of all queries.
        n: The number of queries on the page.
        detailed: The number of queries with what they needed and what came back.
        needed: How much all queries need, by system.
        found: How much of it was found.
        failures: Why the rest was not.
    """

    def __init__(
        self,
        systems: Mapping[str, Scores],
        metrics: Sequence[Metric],
        main: Metric,
        pair: tuple[str, str],
        shown: ReportOptions,
    ) -> None:
        self._systems = systems
        self._metrics = metrics
        self._main = main
        system, baseline = pair
        self._pair = [list(systems).index(baseline), list(systems).index(system)]
        self._shown = shown
        self._judged = next(iter(systems.values())).require_origin("shown").judged
        every, rows = _side_by_side(systems)
        order = _most_urgent(len(every), [(systems[name], rows[name]) for name in pair], main)
        kept = np.sort(order[:MOST])
        on_page = np.full(len(every), -1)
        on_page[kept] = np.arange(len(kept))
        self._places = {name: on_page[of_system] for name, of_system in rows.items()}
        self.of, self.n = len(every), len(kept)
        self.detailed = self.n if self.of <= DETAILED else FIRST
        self.order: list[int] = np.searchsorted(kept, order[:MOST]).tolist()
        self._queries = [every[at] for at in kept.tolist()]
        self._place = {query: at for at, query in enumerate(self._queries)}
        self._best = np.ones((self.n, len(metrics)))
        self._columns: dict[str, list[Any]] = {"values": [], "wanted": [], "missing": []}
        self._missed: dict[tuple[int, ...], int] = {(): 0}
        depth = shown.k or max([SHOWN, *(metric.k for metric in metrics if isinstance(metric.k, int))])
        self._details = QueryDetails(len(systems), depth, flat=self._judged.qrels.is_flat)
        self.needed = dict.fromkeys(systems, 0)
        self.found = dict.fromkeys(systems, 0)
        self.failures: dict[str, Counter[Outcome]] = {}
        # The text of a document that one system missed may be known from another.
        corpus = FallbackTexts(shown.corpus, *map(retrieved_texts, systems.values()))
        shown_of = (
            f"{numbers.format_query_count(self.detailed)}{f' of {len(systems):,} systems' if len(systems) > 1 else ''}"
        )
        less = f"fewer {'systems' if len(systems) > 1 else 'queries'} take less"
        total = self.detailed * len(systems)
        with track_steps(
            "explaining", total, f"explaining {shown_of}", less, show_progress=shown.show_progress
        ) as advance:
            for name in systems:
                self._add(name, corpus, advance)

    @property
    def unit(self) -> str:
        """What is needed, in a word."""
        return self._judged.qrels.unit

    def data(self) -> tuple[dict[str, Any], int]:
        """Return everything as values for JSON, and the length to which texts were cut."""
        slices: dict[str, int] = {}
        labels, texts = self._shown.labels, self._shown.queries
        details, documents, length = self._details.data(self._shown.length)
        reasons = sorted({kind for kinds in self._missed for kind in kinds})
        return {
            "metrics": list(map(str, self._metrics)),
            "systems": list(self._systems),
            "main": self._metrics.index(self._main),
            "pair": self._pair,
            "quoted": self._judged.qrels.has_pieces,
            "kinds": [OUTCOME_LABELS[kind] for kind in KINDS],
            "reasons": reasons,
            "details": list(self._details.said),
            "documents": documents,
            "ids": list(map(str, self._queries)),
            "texts": [str(texts[query]) if query in texts else None for query in self._queries] if texts else [],
            "slice": [
                slices.setdefault(str(labels[query]), len(slices)) if query in labels else None
                for query in self._queries
            ]
            if labels
            else [],
            "slices": list(slices),
            "best": None if (self._best == 1).all() else _shortest(self._best),
            **self._columns,
            "missed": list(self._missed),
            "shown": details,
        }, length

    def _add(self, name: str, corpus: Mapping[Any, str], advance: Callable[[int], None]) -> None:
        """Count the failures of a system, and explain the queries that are shown first."""
        scores = self._systems[name]
        explainer = Explainer(scores, self._main, corpus)
        outcomes = explainer.outcomes(scores.positions.tolist())
        rows = np.argsort(scores.positions)  # the queries of the outcomes, as rows of the scores
        defined = ~np.isnan(scores.column(self._main)[rows])
        self.failures[name] = outcomes.failures(defined)
        self.needed[name] = int(outcomes.n_needed[defined].sum())
        self.found[name] = int(outcomes.n_satisfied[defined].sum())
        place = self._places[name]
        values = np.full((self.n, len(self._metrics)), np.nan)
        kept = place >= 0
        for at, metric in enumerate(self._metrics):
            values[place[kept], at] = scores.column(metric)[kept]
            if metric.definition.higher_is_better:
                self._best[place[kept], at] = scores.best(metric)[kept]
            else:  # where lower is better, the page marks no query as perfect
                self._best[:, at] = np.nan
        wanted, missing = np.full(self.n, -1), np.zeros(self.n, dtype=np.int64)
        kept, place = kept[rows], place[rows]
        wanted[place[kept]] = outcomes.n_needed[kept]
        missing[place[kept]] = self._missed_by(outcomes)[kept]
        self._columns["values"].append(_shortest(values))
        self._columns["wanted"].append([None if number < 0 else number for number in wanted.tolist()])
        self._columns["missing"].append(missing.tolist())
        first = set(self.order[: self.detailed])
        shown = [at for at, on_page in enumerate(place.tolist()) if on_page in first]
        system = len(self._columns["values"]) - 1
        if not system:
            advance(0)
        for done, explained in enumerate(explainer.explain(outcomes, shown), start=1):
            self._details.add(self._place[explained.query], system, explainer, explained)
            advance(system * self.detailed + done)

    def _missed_by(self, outcomes: Outcomes) -> IntArray:
        """Return for each query of the outcomes the kinds of what it misses, as a place in `missed`."""
        kinds, ends = outcomes.kind[outcomes.unsatisfied_groups].tolist(), np.cumsum(outcomes.n_unsatisfied).tolist()
        each = (tuple(kinds[begin:end]) for begin, end in zip([0, *ends], ends, strict=False))
        known = self._missed
        return np.array([known.setdefault(missed, len(known)) for missed in each], dtype=np.int64)


def _shortest(table: FloatArray) -> list[list[float | int | None]]:
    """Return a table of numbers, column by column, as JSON holds them shortest."""
    distinct, at = np.unique(np.round(table.T, 6), return_inverse=True)  # the values of most metrics repeat
    shortest = np.array([None, *map(short_number, distinct.tolist())], dtype=np.object_)[1:]
    columns: list[list[float | int | None]] = shortest[at.reshape(table.T.shape)].tolist()
    return columns


def _side_by_side(systems: Mapping[str, Scores]) -> tuple[Sequence[QueryId], dict[str, IntArray]]:
    """Return the queries of all systems, and the places of those of each system among them."""
    first, *others = systems.values()
    if all(other.queries == first.queries for other in others):
        return first.queries, dict.fromkeys(systems, np.arange(len(first.queries)))
    every = list(dict.fromkeys(query for scores in systems.values() for query in scores.queries))
    place = {query: at for at, query in enumerate(every)}
    rows = {name: [place[query] for query in scores.queries] for name, scores in systems.items()}
    return every, {name: np.array(of_system, dtype=np.int64) for name, of_system in rows.items()}


def _most_urgent(n: int, pair: Sequence[tuple[Scores, IntArray]], main: Metric) -> IntArray:
    """Return the places of queries: the worst values first, or of two systems those that moved most."""
    one, other = columns = np.full((2, n), np.nan)
    for column, (scores, rows) in zip(columns, pair, strict=True):
        column[rows] = scores.column(main)
    urgency = main.definition.sign * one if pair[0][0] is pair[1][0] else -np.abs(one - other)
    return np.argsort(np.where(np.isnan(urgency), np.inf, urgency), kind="stable")


# The texts of a report: each stored once, and shortened around the needed words if there is too much text.

WHOLE = 5_000_000
"""The number of characters of text on a page, unless the caller limits the length of texts."""
SHORTEST = 120
GAP = " … "


class TextStore:
    """Collects texts and the places of needed words in them."""

    def __init__(self) -> None:
        self._places: dict[tuple[Any, ...], int] = {}
        self._marks: dict[int, set[Mark]] = {}

    def add(self, name: Any, source: str | None, text: str | None, marks: Iterable[Mark] = ()) -> int:
        """Return the number of a text; equal texts with equal names and sources have one number."""
        place = self._places.setdefault((name, source, text), len(self._places))
        if marks:
            self._marks.setdefault(place, set()).update(marks)
        return place

    def shortened(self, length: int | None) -> ShortenedTexts:
        """Return the texts, cut to `length` characters; None takes a length that keeps the page small enough."""
        if length is None:
            length = fitting([len(text) for _, _, text in self._places if text], WHOLE)
        return ShortenedTexts(list(self._places), self._marks, length)


class ShortenedTexts:
    """The texts of the page.

    Attributes:
        rows: Name, source, text and 1 if it was shortened, without what is missing at the end.
        length: The length of the longest text that was not cut, in characters.
    """

    def __init__(self, places: Sequence[tuple[Any, ...]], marks: dict[int, set[Mark]], length: int) -> None:
        self.length = length
        self._kept: dict[int, list[Mark]] = {}
        self.rows = []
        for at, (name, source, text) in enumerate(places):
            shown, short = text, 0
            if text is not None and len(text) > length:
                self._kept[at] = kept(len(text), sorted(marks.get(at, ())), length)
                shown, short = _joined(text, self._kept[at]), 1
            row = [name if name is None or isinstance(name, str) else str(name), source, shown, short]
            while len(row) > 1 and not row[-1]:
                row.pop()
            self.rows.append(row)

    def marks(self, at: int, marks: Iterable[Mark]) -> list[list[int]]:
        """Return places in a whole text as places in the shortened one, sorted and disjoint."""
        moved: list[list[int]] = []
        for start, end in sorted(marks):
            for left, right in self._moved(at, start, end):
                if moved and left <= moved[-1][1]:
                    moved[-1][1] = max(moved[-1][1], right)
                else:
                    moved.append([left, right])
        return moved

    def _moved(self, at: int, start: int, end: int) -> Iterable[Mark]:
        if at not in self._kept:
            return [(start, end)]
        found, before = [], 0
        for number, (left, right) in enumerate(self._kept[at]):
            before += len(GAP) if number or left else 0
            if max(start, left) < min(end, right):
                found.append((max(start, left) - left + before, min(end, right) - left + before))
            before += right - left
        return found


def fitting(lengths: Iterable[int], total: int) -> int:
    """Return the length to which texts must be cut so that all together are no longer than `total`.

    Example:
        >>> fitting([100, 800, 900], 1300)  # 100 and twice 600
        600
    """
    ordered = sorted(lengths)
    left = total
    for at, length in enumerate(ordered):
        share = left // (len(ordered) - at)
        if length > share:
            return max(share, SHORTEST)
        left -= length
    return max([SHORTEST, *ordered[-1:]])


def kept(size: int, marks: Sequence[Mark], length: int) -> list[Mark]:
    """Return the stretches of a text to keep: the needed words and the text around them, or the beginning.

    Example:
        >>> kept(1000, [], 100), kept(1000, [(500, 520)], 100)
        ([(0, 100)], [(460, 560)])
    """
    if not marks:
        return [(0, length)]
    share = max(length // len(marks), 2)
    stretches: list[Mark] = []
    left = length
    for start, end in marks:
        around = max(share - (end - start), 0) // 2
        first, last = max(0, start - around), min(size, start + max(share - around, 1))
        if stretches and first <= stretches[-1][1]:
            first = stretches[-1][1]
        last = min(last, first + left)
        if first >= last:
            continue
        left -= last - first
        if stretches and first == stretches[-1][1]:
            stretches[-1] = stretches[-1][0], last
        else:
            stretches.append((first, last))
    return stretches


def _joined(text: str, stretches: Sequence[Mark]) -> str:
    parts = GAP.join(text[start:end] for start, end in stretches)
    before = GAP if stretches[0][0] else ""
    return f"{before}{parts}{GAP if stretches[-1][1] < len(text) else ''}"


# The queries of a report for readers without JavaScript, from the same data as the script's.

SIGNS = ("✓", "✗", "↻", "○", "⛔")
"""Of a result that is relevant, not relevant, a repeat, unjudged or forbidden, as in the script."""
LETTERS = 1_500_000
"""Letters of texts that all queries together show."""
LONGEST = 300
"""The most letters of a text."""
FEW = 40
"""Letters that say nothing of a text."""


def format_static_queries(data: Mapping[str, Any], order: Sequence[int]) -> str:
    """Return every query of a page: its values, and folded in it what it needed and what came back."""
    shown, texts = data["shown"], data["texts"] or [None] * len(data["ids"])
    titles = [
        f"{values}  {query}  {text or ''}".rstrip()
        for values, query, text in zip(_values(data), data["ids"], texts, strict=True)
    ]
    missing, escaped = _missing(data), cache(escape)  # many queries miss the same
    n = sum(len(row["needed"]) + sum(len(found or ()) for found in row["results"]) for row in shown.values())
    length = min(LONGEST, LETTERS // max(n, 1))
    length = length if length > FEW else 0
    return "".join(
        [
            _folded(data, shown[at], titles[at], missing[at], length)
            if at in shown
            else f"<p>{escape(titles[at])}<br>{escaped(missing[at])}</p>"
            for at in order
        ]
    )


def _values(data: Mapping[str, Any]) -> list[str]:
    """Return the values of each query, worded once where many queries have the same."""

    def worded(system: str, value: float | None) -> str:
        return f"{f'{system} ' if system else ''}{'-' if value is None else numbers.value(value)}"

    named = zip(data["systems"], data["values"], strict=True)
    of_system = [map(cache(partial(worded, name)), columns[data["main"]]) for name, columns in named]
    return [*map(", ".join, zip(*of_system, strict=True))]


def _missing(data: Mapping[str, Any]) -> list[str]:
    """Return what was found of each query and why the rest was not, worded once likewise."""
    kinds = data["kinds"]

    def worded(system: str, wanted: int | None, missed: int) -> str:
        if wanted is None:
            return ""
        counted = Counter(data["missed"][missed])
        why = ", ".join(f"{times} {kinds[kind]}" for kind, times in counted.items())
        found = f"{wanted - counted.total()} of {wanted} found{f': {why}' if why else ''}"
        return f"{f'{system}: ' if system else ''}{found if wanted else 'nothing relevant is known'}"

    named = zip(data["systems"], data["wanted"], data["missing"], strict=True)
    of_system = [map(cache(partial(worded, name)), wanted, missing) for name, wanted, missing in named]
    return ["; ".join(filter(None, each)) for each in zip(*of_system, strict=True)]


def _folded(data: Mapping[str, Any], row: Mapping[str, Any], title: str, missing: str, length: int) -> str:
    return page.folded(
        title,
        f"<p>{escape(missing)}</p>",
        *(f"<p>{escape(line)}</p>" for line in _needed(data, row, length)),
        *_results(data, row, length),
    )


def _needed(data: Mapping[str, Any], row: Mapping[str, Any], length: int) -> list[str]:
    lines = []
    for place, grade, _, outcomes in row["needed"]:
        became = [
            (f"{name}: " if name else "") + data["details"][found[2]] + (f" (rank {found[1]})" if found[1] else "")
            for name, found in zip(data["systems"], outcomes, strict=True)
            if found is not None
        ]
        lines.append(f"Needed, grade {grade}: {_called(data, place, length)}. {'; '.join(became)}")
    return lines


def _results(data: Mapping[str, Any], row: Mapping[str, Any], length: int) -> list[str]:
    parts = []
    for name, found in zip(data["systems"], row["results"], strict=True):
        items = []
        for result in found or ():
            place, state = (result, 3) if isinstance(result, int) else (result[0], (*result, 3)[1])
            items.append(f"<li>{SIGNS[state]} {escape(_called(data, place, length))}</li>")
        said = f"{name} retrieved" if name else "Retrieved"
        parts.append(
            f"<p>{escape(said)}{':' if items else ' nothing.'}</p>{f'<ol>{chr(10).join(items)}</ol>' if items else ''}"
        )
    return parts


def _called(data: Mapping[str, Any], place: int, length: int) -> str:
    name, source, text, _ = (*data["documents"][place], None, None, None)[:4]
    words = " ".join((text or "")[: 2 * length].split())
    short = f"{words[:length]}…" if len(words) > length else words
    return ": ".join(str(part) for part in (name, source, short) if part not in {None, ""}) or "-"


def left_out_note(detailed: int, total: int) -> str:
    """Return what the page leaves out, in a sentence; an empty text if nothing."""
    if detailed == total:
        return ""
    return (
        f"What was needed and what came back is here for {numbers.format_query_count(detailed)}: those with the lowest values, or "
        "that moved most. Of the others, only the values."
    )


# What queries needed and what came back, as data for a page.

STATES = ("relevant", "not relevant", "repeated", "unjudged", "forbidden")
UNJUDGED = STATES.index("unjudged")


class QueryDetails:
    """Collects the details of queries, system by system.

    Attributes:
        said: The sentences of the outcomes, each once, with their numbers.
    """

    def __init__(self, systems: int, depth: int, *, flat: bool) -> None:
        """Begin with nothing."""
        self._systems = systems
        self._depth = depth
        self._flat = flat
        self._passages = TextStore()
        self._rows: dict[int, dict[str, Any]] = {}
        self.said: dict[str, int] = {}

    def add(self, place: int, system: int, explainer: Explainer, explained: ExplainedQuery) -> None:
        """Keep what a query needed and what a system retrieved, under the place of the query on the page."""
        new: dict[str, Any] = {"needed": {}, "results": [None] * self._systems}
        row, run = self._rows.setdefault(place, new), explainer.rankings.run
        if isinstance(run, SearchHistory) and (searches := run.search_notes(explained.query)):
            row.setdefault("searches", [None] * self._systems)[system] = [list(each) for each in searches]
        results = explainer.results(explained, self._depth)
        for finding in explainer.in_parts(explained.findings, results):
            self._needed(row, system, finding, explainer.needed)
        order = list(row["needed"])
        row["results"][system] = [self._result(result, explained, explainer.needed, order) for result in results]

    def data(self, length: int | None) -> tuple[dict[int, dict[str, Any]], list[list[Any]], int]:
        """Return the details by place, the documents they refer to, and the length to which texts were cut."""
        texts = self._passages.shortened(length)
        return {place: _finished(row, texts) for place, row in self._rows.items()}, texts.rows, texts.length

    def _needed(self, row: dict[str, Any], system: int, finding: Finding, needed: RelevantTexts) -> None:
        if finding.document not in row["needed"]:
            name, text = RelevantTexts.name(finding.document), needed.text(finding.document)
            place = self._passages.add(name or None, None, text)
            groups = list(finding.groups) if len(finding.groups) > 1 or not self._flat else None
            row["needed"][finding.document] = [place, short_number(finding.grade), groups, [None] * self._systems]
        detail = self.said.setdefault(finding.detail, len(self.said))
        row["needed"][finding.document][3][system] = [KINDS.index(finding.kind), finding.rank, detail]

    def _result(
        self, result: Result, explained: ExplainedQuery, needed: RelevantTexts, order: Sequence[Any]
    ) -> list[Any]:
        marks: set[tuple[int, int]] = set()
        if result.judgment == "relevant" and result.item is not None:
            pieces = (one.document for one in explained.findings if not isinstance(one.document, Metadata))
            marks = {mark for piece in pieces for mark in needed.marked_ranges(result.item, piece)}
        place = self._passages.add(result.id, result.source, result.text, marks)
        score = None if result.score is None else short_number(float(f"{result.score:.5g}"))
        satisfies = [order.index(document) for document in result.satisfies if document in order]
        found_by = [] if result.place is None else list(result.place)
        return [place, STATES.index(result.judgment), score, result.grade, satisfies, marks, found_by]


def _finished(row: dict[str, Any], texts: ShortenedTexts) -> dict[str, Any]:
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
