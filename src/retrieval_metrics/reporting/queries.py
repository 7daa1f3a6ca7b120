"""The queries of a report as data: their values and what they miss in columns, and the details of those shown first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.explaining.explanation import Explainer, FirstOf, texts_of
from retrieval_metrics.explaining.outcomes import KINDS
from retrieval_metrics.inputs.questions import texts_to_show
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.progress import watched
from retrieval_metrics.reporting.details import Details, short_number

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics.checks import FloatArray, IntArray, QueryId
    from retrieval_metrics.explaining.outcomes import Outcome, Outcomes
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.results.scores import Scores
    from retrieval_metrics.scoring.metric import Metric

SHOWN = 10
"""The least number of results shown for a query."""
MOST = 20_000
"""The largest number of queries on a page; of more, those with the lowest values, or that moved most."""
DETAILED = 1_000
"""Up to so many queries, each is on the page with what it needed and what came back."""
FIRST = 100
"""Of more queries, those are that the page lists first; the others are there with their values and what they miss."""


@dataclass(frozen=True, kw_only=True)
class ShownQueries:
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
    ) -> ShownQueries:
        """Take what a caller gave, with the query texts already known, and nothing for what else was left out.

        Raises:
            TypeError: If k or the length is not an integer.
            ValueError: If k or the length is not positive.
        """
        for value, name in ((k, "k"), (length, "text_length")):
            if value is not None:
                positive_integer(value, name, or_none=True)
        return cls(
            queries=texts_to_show(queries, known),
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
        shown: ShownQueries,
    ) -> None:
        self._systems = systems
        self._metrics = metrics
        self._main = main
        system, baseline = pair
        self._pair = [list(systems).index(baseline), list(systems).index(system)]
        self._shown = shown
        self._judged = next(iter(systems.values())).needed_origin("shown").judged
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
        self._details = Details(len(systems), depth, flat=self._judged.qrels.is_flat)
        self.needed = dict.fromkeys(systems, 0)
        self.found = dict.fromkeys(systems, 0)
        self.failures: dict[str, Counter[Outcome]] = {}
        # The text of a document that one system missed may be known from another.
        corpus = FirstOf(shown.corpus, *map(texts_of, systems.values()))
        shown_of = f"{numbers.queries(self.detailed)}{f' of {len(systems):,} systems' if len(systems) > 1 else ''}"
        less = f"fewer {'systems' if len(systems) > 1 else 'queries'} take less"
        total = self.detailed * len(systems)
        with watched("explaining", total, f"explaining {shown_of}", less, show_progress=shown.show_progress) as advance:
            for name in systems:
                self._add(name, corpus, advance)

    @property
    def unit(self) -> str:
        """What is needed: a document, or a group of alternatives."""
        return "document" if self._judged.qrels.is_flat else "group"

    def data(self) -> tuple[dict[str, Any], int]:
        """Return everything as values for JSON, and the length to which texts were cut.

        `ids`, `texts` and `slice` have a value for each query; `values` has them by system and metric, and `wanted` and
        `missing` by system: how many documents or groups were needed, and why some are missing, as the place of their
        kinds in `missed`. `shown` has the details of some queries, by place.
        """
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
            "kinds": KINDS,
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
        defined = ~np.isnan(scores.of_metric(self._main)[rows])
        self.failures[name] = outcomes.failures(defined)
        self.needed[name] = int(outcomes.needed[defined].sum())
        self.found[name] = int(outcomes.met[defined].sum())
        place = self._places[name]
        values = np.full((self.n, len(self._metrics)), np.nan)
        kept = place >= 0
        for at, metric in enumerate(self._metrics):
            values[place[kept], at] = scores.of_metric(metric)[kept]
            if metric.definition.higher_is_better:
                self._best[place[kept], at] = scores.best(metric)[kept]
            else:  # where lower is better, the page marks no query as perfect
                self._best[:, at] = np.nan
        wanted, missing = np.full(self.n, -1), np.zeros(self.n, dtype=np.int64)
        kept, place = kept[rows], place[rows]
        wanted[place[kept]] = outcomes.needed[kept]
        missing[place[kept]] = self._missed_by(outcomes)[kept]
        self._columns["values"].append(_shortest(values))
        self._columns["wanted"].append([None if number < 0 else number for number in wanted.tolist()])
        self._columns["missing"].append(missing.tolist())
        first = set(self.order[: self.detailed])
        shown = [at for at, on_page in enumerate(place.tolist()) if on_page in first]
        system = len(self._columns["values"]) - 1
        if not system:
            advance(0)
        for done, explained in enumerate(explainer.of(outcomes, shown), start=1):
            self._details.add(self._place[explained.query], system, explainer, explained)
            advance(system * self.detailed + done)

    def _missed_by(self, outcomes: Outcomes) -> IntArray:
        """Return for each query of the outcomes the kinds of what it misses, as a place in `missed`."""
        kinds, ends = outcomes.kind[outcomes.unmet].tolist(), np.cumsum(outcomes.n_unmet).tolist()
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
    """Return the places of queries: the lowest values first, or of two systems those that moved most."""
    one, other = columns = np.full((2, n), np.nan)
    for column, (scores, rows) in zip(columns, pair, strict=True):
        column[rows] = scores.of_metric(main)
    urgency = one if pair[0][0] is pair[1][0] else -np.abs(one - other)
    return np.argsort(np.where(np.isnan(urgency), np.inf, urgency), kind="stable")
