"""The queries of a report as data: values, needed documents, their outcomes, and the results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import positive_integer
from retrieval_metrics.explaining.explainer import Explainer, FirstOf, texts_of
from retrieval_metrics.explaining.finding import FAILURES, KINDS
from retrieval_metrics.explaining.needed import Needed
from retrieval_metrics.inputs.pieces import Metadata
from retrieval_metrics.inputs.questions import texts_to_show
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.reporting.shortened import StoredTexts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from retrieval_metrics.aliases import FloatArray, IntArray, QueryId
    from retrieval_metrics.definition.metric import Metric
    from retrieval_metrics.explaining.explainer import Explained
    from retrieval_metrics.explaining.finding import Finding, Outcome
    from retrieval_metrics.explaining.results import Result
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.inputs.shapes import QueryTexts
    from retrieval_metrics.reporting.shortened import Shortened
    from retrieval_metrics.results.scores import Scores

SHOWN = 10
"""The least number of results shown for a query."""
MOST = 20_000
"""The largest number of queries on a page; of more, those with the lowest values, or that moved most."""
DETAILED = 1_000
"""Up to so many queries, each is on the page with what it needed and what came back."""
FIRST = 200
"""Of more queries, as many are; the others are on the page with their values."""
STATES = ("relevant", "not relevant", "repeated", "unjudged")
UNJUDGED = STATES.index("unjudged")


@dataclass(frozen=True, kw_only=True)
class ShownQueries:
    """What a report shows besides the numbers.

    Attributes:
        queries: Query texts by query id.
        corpus: Document texts by document id, for rankings without texts.
        labels: The slice of each query, by query id.
        k: How many results of each query; None takes the largest cut-off of the metrics, and at least 10.
        length: The number of characters shown of a text; None shows whole texts as long as the page stays small.
    """

    queries: Mapping[Any, str]
    corpus: Mapping[Any, str]
    labels: Mapping[Any, Any]
    k: int | None = None
    length: int | None = None

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
        )


class QueryData:
    """Collects the data of each query on the page, system by system.

    Attributes:
        order: The places of the queries on the page, the lowest values first, or of two systems those that moved most.
        of: The number of all queries.
        detailed: The queries with what they needed and what came back.
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
        self._depth = shown.k or max([SHOWN, *(metric.k for metric in metrics if isinstance(metric.k, int))])
        self._passages = StoredTexts()
        self._kinds: dict[str, int] = {"found": 0}
        self._details: dict[str, int] = {}
        self._slices: dict[str, int] = {}
        self.needed = dict.fromkeys(systems, 0)
        self.found = dict.fromkeys(systems, 0)
        self.failures: dict[str, Counter[Outcome]] = {name: Counter() for name in systems}
        every = list(dict.fromkeys(query for scores in systems.values() for query in scores.queries))
        order = _most_urgent(every, [systems[name] for name in pair], main)
        self.of = len(every)
        self.detailed = {every[at] for at in order[: DETAILED if len(every) <= DETAILED else FIRST].tolist()}
        kept = np.sort(order[:MOST])
        self._rows = {every[at]: self._row(every[at]) for at in kept.tolist()}
        self.order: list[int] = np.searchsorted(kept, order[:MOST]).tolist()
        # The text of a document that one system missed may be known from another.
        corpus = FirstOf(shown.corpus, *map(texts_of, systems.values()))
        for at, scores in enumerate(systems.values()):
            self._add(at, scores, corpus)

    @property
    def unit(self) -> str:
        """What is needed: a document, or a group of alternatives."""
        return "document" if self._flat else "group"

    @property
    def n(self) -> int:
        """The number of queries on the page."""
        return len(self._rows)

    def data(self) -> tuple[dict[str, Any], int]:
        """Return everything as values for JSON, and the length to which texts were cut."""
        texts = self._passages.shortened(self._shown.length)
        reasons = sorted(at for kind, at in self._kinds.items() if kind in FAILURES)
        judged = next(iter(self._systems.values())).needed_origin("shown").judged
        return {
            "metrics": list(map(str, self._metrics)),
            "systems": list(self._systems),
            "main": self._metrics.index(self._main),
            "pair": self._pair,
            "quoted": judged.qrels.has_pieces,
            "kinds": list(self._kinds),
            "details": list(self._details),
            "reasons": reasons,
            "slices": list(self._slices),
            "documents": texts.rows,
            "queries": [self._finished(row, texts) for row in self._rows.values()],
        }, texts.length

    def _row(self, query: QueryId) -> dict[str, Any]:
        row: dict[str, Any] = {"id": str(query)}
        if query in self._shown.queries:
            row["text"] = str(self._shown.queries[query])
        if query in self._shown.labels:
            row["slice"] = self._slices.setdefault(str(self._shown.labels[query]), len(self._slices))
        by_system = {name: [None] * len(self._systems) for name in ("values", "wanted", "missing", "results")}
        return row | by_system | ({"needed": {}} if query in self.detailed else {})

    def _add(self, system: int, scores: Scores, corpus: Mapping[Any, str]) -> None:
        """Count the failures of a system, and explain the queries that are shown first."""
        explainer = Explainer(scores, self._main, corpus)
        name, columns = list(self._systems)[system], [scores.metrics.index(metric) for metric in self._metrics]
        outcomes = explainer.outcomes(scores.positions.tolist())
        rows = np.argsort(scores.positions)  # the queries of the outcomes, as rows of the scores
        defined = ~np.isnan(scores.values[rows, scores.metrics.index(self._main)])
        self.failures[name] = outcomes.failures(defined)
        self.needed[name] = int(outcomes.needed[defined].sum())
        self.found[name] = int(outcomes.met[defined].sum())
        unknown = np.full(len(scores.queries), np.nan)
        best = np.column_stack(  # where lower is better, the page marks no query as perfect
            [scores.best(metric) if metric.definition.higher_is_better else unknown for metric in self._metrics]
        )
        values, best_values = _rounded(scores.values[:, columns]), _rounded(best)
        for at in np.flatnonzero((best != 1).any(axis=1)).tolist():
            if (row := self._rows.get(scores.queries[at])) is not None:
                row["best"] = best_values[at]
        of_unmet = outcomes.kind[outcomes.unmet].tolist()
        kinds = {kind: self._kind(KINDS[kind]) for kind in dict.fromkeys(of_unmet)}
        missing = [kinds[kind] for kind in of_unmet]
        ends = np.cumsum(outcomes.n_unmet).tolist()
        shown = []
        for place, (at, wanted, begin, end) in enumerate(
            zip(rows.tolist(), outcomes.needed.tolist(), [0, *ends], ends, strict=False)
        ):
            query = scores.queries[at]
            if (row := self._rows.get(query)) is None:
                continue
            row["values"][system] = values[at]
            row["wanted"][system] = wanted
            row["missing"][system] = missing[begin:end]
            if query in self.detailed:
                shown.append(place)
        for explained in explainer.of(outcomes, shown):
            self._explain(system, explainer, explained)

    def _explain(self, system: int, explainer: Explainer, explained: Explained) -> None:
        """Keep what a query needed and what came back."""
        row, run = self._rows[explained.query], explainer.rankings.run
        if isinstance(run, RetrievedRun) and (searches := run.searches(explained.query)):
            row.setdefault("searches", [None] * len(self._systems))[system] = [list(each) for each in searches]
        results = explainer.results(explained, self._depth)
        for finding in explainer.in_parts(explained.findings, results):
            self._needed(row, system, finding, explainer.needed)
        order = list(row["needed"])
        row["results"][system] = [self._result(result, explained, explainer.needed, order) for result in results]

    def _needed(self, row: dict[str, Any], system: int, finding: Finding, needed: Needed) -> None:
        if finding.document not in row["needed"]:
            name, text = Needed.name(finding.document), needed.text(finding.document)
            place = self._passages.add(name or None, None, text)
            groups = list(finding.groups) if len(finding.groups) > 1 or not self._flat else None
            row["needed"][finding.document] = [place, _number(finding.grade), groups, [None] * len(self._systems)]
        detail = self._details.setdefault(finding.detail, len(self._details))
        row["needed"][finding.document][3][system] = [self._kind(finding.kind), finding.rank, detail]

    @property
    def _flat(self) -> bool:
        return next(iter(self._systems.values())).needed_origin("shown").judged.qrels.is_flat

    def _result(self, result: Result, explained: Explained, needed: Needed, order: Sequence[Any]) -> list[Any]:
        marks: set[tuple[int, int]] = set()
        if result.state == "relevant" and result.item is not None:
            pieces = (one.document for one in explained.findings if not isinstance(one.document, Metadata))
            marks = {mark for piece in pieces for mark in needed.marks(result.item, piece)}
        place = self._passages.add(result.id, result.source, result.text, marks)
        score = None if result.score is None else _number(float(f"{result.score:.5g}"))
        satisfies = [order.index(document) for document in result.satisfies if document in order]
        found_by = [] if result.place is None else list(result.place)
        return [place, STATES.index(result.state), score, result.grade, satisfies, marks, found_by]

    def _kind(self, kind: str) -> int:
        return self._kinds.setdefault(kind, len(self._kinds))

    @staticmethod
    def _finished(row: dict[str, Any], texts: Shortened) -> dict[str, Any]:
        """Return a row with its marks moved to the shortened texts, and without empty values."""
        if "needed" not in row:
            return {name: value for name, value in row.items() if name != "results"}
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


def _rounded(table: FloatArray) -> list[list[float | int | None]]:
    """Return a table of numbers as JSON holds them shortest."""
    distinct, at = np.unique(np.round(table, 6), return_inverse=True)  # the values of most metrics repeat
    shortest = np.array([None, *map(_number, distinct.tolist())], dtype=np.object_)[1:]
    rows: list[list[float | int | None]] = shortest[at.reshape(table.shape)].tolist()
    return rows


def _number(value: float) -> float | int | None:
    if isnan(value) or isinf(value):
        return None
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded


def _most_urgent(queries: Sequence[QueryId], pair: Sequence[Scores], main: Metric) -> IntArray:
    """Return the places of queries: the lowest values first, or of two systems those that moved most."""
    place = {query: at for at, query in enumerate(queries)}
    one, other = columns = np.full((2, len(queries)), np.nan)
    for column, scores in zip(columns, pair, strict=True):
        column[[place[query] for query in scores.queries]] = scores.values[:, scores.metrics.index(main)]
    urgency = one if pair[0] is pair[1] else -np.abs(one - other)
    return np.argsort(np.where(np.isnan(urgency), np.inf, urgency), kind="stable")
