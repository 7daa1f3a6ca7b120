"""Choose the queries on the page of a report, and collect the data of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import positive_integer
from retrieval_metrics.evaluation.evaluation_wording import OUTCOME_LABELS
from retrieval_metrics.evaluation.explainer import Explainer, FallbackTexts, retrieved_texts
from retrieval_metrics.evaluation.outcomes import CODE_BY_OUTCOME, OUTCOME_KINDS
from retrieval_metrics.evaluation.page_data import PageData
from retrieval_metrics.evaluation.query_details import QueryDetails, short_number
from retrieval_metrics.inputs.questions import choose_query_texts
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.progress import track_steps

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence

    from retrieval_metrics._internal.plain_types import FloatArray, IntArray, QueryId
    from retrieval_metrics.evaluation.outcomes import Outcome, Outcomes
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import QueryTexts
    from retrieval_metrics.inputs.questions import Questions
    from retrieval_metrics.metrics.base.metric import Metric


# The least number of results shown for a query.
MIN_RESULTS = 10

# The largest number of queries on a page. If there are more, it holds those with the lowest values, or the largest
# changes.
MAX_QUERIES = 20_000

# Up to this number of queries, the page shows for each what it needed and retrieved.
MAX_DETAILED = 1_000

# If there are more queries, only this number, listed first, has these details; the others have their values.
N_DETAILED_OF_MANY = 100

# The number of decimals of a value on the page.
_DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a report shows besides the numbers.

    Attributes:
        queries: Query texts by query id.
        corpus: Document texts by document id, for rankings without texts.
        labels: The slice of each query, by query id.
        k: How many results of each query; None takes the largest cutoff of the metrics, and at least 10.
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
    def read(
        cls,
        queries: QueryTexts | Questions | None,
        corpus: Mapping[Any, str] | None,
        labels: Mapping[Any, Any] | None,
        *,
        k: int | None,
        length: int | None,
        judged_texts: QueryTexts,
        show_progress: bool = False,
    ) -> ReportOptions:
        """Read the arguments of a report; query texts that were not passed are those of the judgments."""
        if k is not None:
            positive_integer(k, "k", or_none=True)
        if length is not None:
            positive_integer(length, "text_length", or_none=True)
        return cls(
            queries=choose_query_texts(queries, judged_texts),
            corpus=corpus or {},
            labels=labels or {},
            k=k,
            length=length,
            show_progress=show_progress,
        )


class QueryData:
    """Collects the data of each query on the page, system by system.

    Attributes:
        order: The places of the queries on the page, the lowest values first, or the largest changes of two systems.
        n_all: The number of all queries.
        n: The number of queries on the page.
        n_detailed: The number of queries with what they needed and what came back.
        n_needed: The number of needed documents, or groups, of all queries, by system.
        n_found: How many of them were found, by system.
        failures: The failures for those not found, by system.
    """

    def __init__(
        self,
        systems: Mapping[str, Scores],
        metrics: Sequence[Metric],
        main: Metric,
        pair: tuple[str, str],
        options: ReportOptions,
    ) -> None:
        self._systems = systems
        self._metrics = metrics
        self._main = main
        system, baseline = pair
        names = list(systems)
        self._pair = (names.index(baseline), names.index(system))
        self._options = options
        self._judged = next(iter(systems.values())).require_origin("shown").judged
        all_queries, rows_by_system = _collect_queries(systems)
        urgency = _compute_urgency(
            main,
            _main_values(systems[system], rows_by_system[system], main, len(all_queries)),
            _main_values(systems[baseline], rows_by_system[baseline], main, len(all_queries)),
            is_one_system=systems[system] is systems[baseline],
        )
        most_urgent = np.argsort(urgency, kind="stable")[:MAX_QUERIES]
        rows_on_page = np.sort(most_urgent)
        place_by_row = np.full(len(all_queries), -1)
        place_by_row[rows_on_page] = np.arange(len(rows_on_page))
        self._places = {name: place_by_row[rows] for name, rows in rows_by_system.items()}
        self.n_all = len(all_queries)
        self.n = len(rows_on_page)
        self.n_detailed = self.n if self.n_all <= MAX_DETAILED else N_DETAILED_OF_MANY
        self.order: list[int] = np.searchsorted(rows_on_page, most_urgent).tolist()
        self._queries = [all_queries[row] for row in rows_on_page.tolist()]
        self._place_by_query = {query: place for place, query in enumerate(self._queries)}
        self._best = np.ones((self.n, len(metrics)))
        # Of each system that was added:
        self._values: list[list[list[float | int | None]]] = []
        self._n_needed_by_query: list[list[int | None]] = []
        self._missed_numbers: list[list[int]] = []
        self._number_by_missed: dict[tuple[int, ...], int] = {(): 0}
        depth = options.k or max([MIN_RESULTS, *(metric.k for metric in metrics if isinstance(metric.k, int))])
        self._details = QueryDetails(len(systems), depth, is_flat=self._judged.qrels.is_flat)
        self.n_needed = dict.fromkeys(systems, 0)
        self.n_found = dict.fromkeys(systems, 0)
        self.failures: dict[str, Counter[Outcome]] = {}
        self._add_systems()

    @property
    def unit(self) -> str:
        """The word for a needed document: document, passage or fact."""
        return self._judged.qrels.unit

    def page_data(self) -> PageData:
        """Return everything that the page shows of the queries."""
        texts = self._options.queries
        details = self._details.page_details(self._options.length)
        missed_kinds = sorted(set(chain.from_iterable(self._number_by_missed)))
        query_texts: list[str | None] = []
        if texts:
            query_texts = [str(texts[query]) if query in texts else None for query in self._queries]
        slice_numbers, slices = self._slices()
        best = None
        if (self._best != 1).any():
            best = _compact_columns(self._best)
        return PageData(
            metrics=list(map(str, self._metrics)),
            systems=list(self._systems),
            main=self._metrics.index(self._main),
            pair=self._pair,
            has_pieces=self._judged.qrels.has_pieces,
            outcome_labels=[OUTCOME_LABELS[kind] for kind in OUTCOME_KINDS],
            missed_kinds=missed_kinds,
            outcome_sentences=list(self._details.number_by_sentence),
            texts=details.texts,
            query_ids=list(map(str, self._queries)),
            query_texts=query_texts,
            slice_numbers=slice_numbers,
            slices=slices,
            best=best,
            values=self._values,
            n_needed=self._n_needed_by_query,
            missed_numbers=self._missed_numbers,
            missed=list(self._number_by_missed),
            details=details.rows,
            text_length=details.text_length,
        )

    def _slices(self) -> tuple[list[int | None], list[str]]:
        """Return the number of the slice of each query, and the labels; both empty without labels."""
        labels = self._options.labels
        number_by_label: dict[str, int] = {}
        slice_by_query: list[int | None] = []
        for query in self._queries if labels else ():
            number = None
            if query in labels:
                number = number_by_label.setdefault(str(labels[query]), len(number_by_label))
            slice_by_query.append(number)
        return slice_by_query, list(number_by_label)

    def _add_systems(self) -> None:
        # The text of a document that one system missed may be known from another.
        corpus = FallbackTexts(self._options.corpus, *map(retrieved_texts, self._systems.values()))
        n_systems = len(self._systems)
        label = f"explaining {numbers.format_query_count(self.n_detailed)}"
        advice = "fewer queries take less"
        if n_systems > 1:
            label += f" of {n_systems:,} systems"
            advice = "fewer systems take less"
        n_steps = self.n_detailed * n_systems
        with track_steps("explaining", n_steps, label, advice, show_progress=self._options.show_progress) as advance:
            for name in self._systems:
                self._add_system(name, corpus, advance)

    def _add_system(self, name: str, corpus: Mapping[Any, str], advance: Callable[[int], None]) -> None:
        """Count the failures of a system, and explain the queries that are shown first."""
        scores = self._systems[name]
        explainer = Explainer(scores, self._main, corpus)
        outcomes = explainer.outcomes(scores.positions.tolist())
        # The queries of the outcomes, as rows of the scores.
        rows = np.argsort(scores.positions)
        is_defined = ~np.isnan(scores.column(self._main)[rows])
        self.failures[name] = outcomes.failures(is_defined)
        self.n_needed[name] = int(outcomes.n_needed[is_defined].sum())
        self.n_found[name] = int(outcomes.n_satisfied[is_defined].sum())
        system = len(self._values)
        self._add_values(scores, self._places[name])
        places = self._places[name][rows]
        self._add_counts(outcomes, places)
        detailed = set(self.order[: self.n_detailed])
        shown = [query_index for query_index, place in enumerate(places.tolist()) if place in detailed]
        if system == 0:
            advance(0)
        for n_done, explained in enumerate(explainer.explain(outcomes, shown), start=1):
            self._details.add(self._place_by_query[explained.query], system, explainer, explained)
            advance(system * self.n_detailed + n_done)

    def _add_values(self, scores: Scores, places: IntArray) -> None:
        """Add the values of a system, and the best ones, at the places of its queries."""
        values = np.full((self.n, len(self._metrics)), np.nan)
        is_on_page = places >= 0
        for column, metric in enumerate(self._metrics):
            values[places[is_on_page], column] = scores.column(metric)[is_on_page]
            if metric.definition.higher_is_better:
                self._best[places[is_on_page], column] = scores.best(metric)[is_on_page]
            else:  # where lower is better, the page marks no query as perfect
                self._best[:, column] = np.nan
        self._values.append(_compact_columns(values))

    def _add_counts(self, outcomes: Outcomes, places: IntArray) -> None:
        """Add how much each query needs and what was not found, at the places of the queries of the outcomes."""
        is_on_page = places >= 0
        n_needed: list[int | None] = [None] * self.n
        missed = np.zeros(self.n, dtype=np.int64)
        for place, count in zip(places[is_on_page].tolist(), outcomes.n_needed[is_on_page].tolist(), strict=True):
            n_needed[place] = count
        missed[places[is_on_page]] = self._number_missed_kinds(outcomes)[is_on_page]
        self._n_needed_by_query.append(n_needed)
        self._missed_numbers.append(missed.tolist())

    def _number_missed_kinds(self, outcomes: Outcomes) -> IntArray:
        """Return for each query of the outcomes the number that stands for the outcomes of what was not found.

        These are its failures, and what a full cutoff has no room for.
        """
        kinds = outcomes.kind[outcomes.nearest_miss_rows].tolist()
        n_cutoff_full = (outcomes.n_needed - outcomes.n_satisfied - outcomes.n_unsatisfied).tolist()
        missed_numbers = np.zeros(len(outcomes.positions), dtype=np.int64)
        start = 0
        for query_index, stop in enumerate(np.cumsum(outcomes.n_unsatisfied).tolist()):
            missed = (*kinds[start:stop], *[CODE_BY_OUTCOME["cutoff_full"]] * n_cutoff_full[query_index])
            missed_numbers[query_index] = self._number_by_missed.setdefault(missed, len(self._number_by_missed))
            start = stop
        return missed_numbers


def _compact_columns(table: FloatArray) -> list[list[float | int | None]]:
    """Return a table of numbers column by column, in the form that is shortest in JSON."""
    # Most metrics have few different values, so each is converted once.
    distinct, index = np.unique(np.round(table.T, _DECIMALS), return_inverse=True)
    compact = np.empty(len(distinct), dtype=np.object_)
    compact[:] = [short_number(value) for value in distinct.tolist()]
    columns: list[list[float | int | None]] = compact[index.reshape(table.T.shape)].tolist()
    return columns


def _collect_queries(systems: Mapping[str, Scores]) -> tuple[Sequence[QueryId], dict[str, IntArray]]:
    """Return the queries of all systems, and by system the rows of its queries among them."""
    first_queries = next(iter(systems.values())).queries
    if all(scores.queries == first_queries for scores in systems.values()):
        return first_queries, dict.fromkeys(systems, np.arange(len(first_queries)))
    row_by_query: dict[QueryId, int] = {}
    for scores in systems.values():
        for query in scores.queries:
            row_by_query.setdefault(query, len(row_by_query))
    rows_by_system = {}
    for name, scores in systems.items():
        rows_by_system[name] = np.array([row_by_query[query] for query in scores.queries], dtype=np.int64)
    return list(row_by_query), rows_by_system


def _main_values(scores: Scores, rows: IntArray, metric: Metric, n_queries: int) -> FloatArray:
    """Return the value of a system for each of all queries; NaN where it has none."""
    values = np.full(n_queries, np.nan)
    values[rows] = scores.column(metric)
    return values


def _compute_urgency(
    metric: Metric, values: FloatArray, baseline_values: FloatArray, *, is_one_system: bool
) -> FloatArray:
    """Return the sort key of the queries: the worst values first, or the largest changes between two systems."""
    if is_one_system:
        urgency = metric.definition.sign * values
    else:
        urgency = -np.abs(values - baseline_values)
    return np.where(np.isnan(urgency), np.inf, urgency)
