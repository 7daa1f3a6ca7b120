"""Compare two runs of the same queries without judgments: how far they agree, and how much metrics can have changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import UnknownKeyError, positive_integer
from retrieval_metrics._internal.warn import warn
from retrieval_metrics.comparison.change_measures import MAX_GAIN, MAX_LOSS, as_change_measure, is_change_bound
from retrieval_metrics.comparison.rank_biased_overlap import RBO_PERSISTENCE
from retrieval_metrics.datasets.changes_wording import (
    format_added_queries,
    format_change_bounds_meaning,
    format_changed_documents,
    format_cut_rankings,
    format_extrapolated_weight,
    format_missing_queries,
    format_unchanged,
    format_wide_bounds,
)
from retrieval_metrics.datasets.moves import DocumentMove, MovedQueries, Moves
from retrieval_metrics.datasets.paired_rankings import pair_rankings
from retrieval_metrics.datasets.pool import pool
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.given_scores import make_given_scores
from retrieval_metrics.inputs.kept_rankings import copy_run
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings
from retrieval_metrics.metrics.base.metric import match_metric_name
from retrieval_metrics.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.comparison.change_measures import ChangeMeasure
    from retrieval_metrics.datasets.corpus_index import CorpusSource
    from retrieval_metrics.datasets.paired_rankings import PairedRankings
    from retrieval_metrics.datasets.pool import Pool
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import QueryTexts, RunMapping
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.matching.matching_options import Matching
    from retrieval_metrics.metrics.base.metric import Metric
    from retrieval_metrics.reports.tables import Table


# How many first documents are compared if no metric has a cutoff.
DEFAULT_DEPTH = 10

# If a mean can have changed by more than this, the bound is too large to be informative.
MAX_USEFUL_CHANGE = 0.2

# How many queries a note or an error names as examples.
N_NAMED = 3

# A note says how much of the weight of a measure is extrapolated, if it is more than this part.
MIN_EXTRAPOLATED_WEIGHT = 0.01

# How far the value of equal rankings may differ from 0 or 1 because of rounding.
_ROUNDING_ALLOWANCE = 1e-9


def changes(
    before: RunMapping | Run,
    after: RunMapping | Run,
    metrics: str | Metric | Iterable[str | Metric] = ("overlap@10", "rbo", "ndcg@10"),
    *,
    match: str | Key | Matching = "id",
    clusters: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
    tolerance: float = 0.0,
) -> Changes:
    """Compare two runs of the same queries without judgments: before and after a new index, filter, model or version.

    `overlap@k` is |A and B| / max(|A|, |B|), where A and B are the first k of each. Ties at rank k are broken in favour
    of agreement. Against exact search it is the recall of an index, whichever side is named first. Two empty rankings
    agree. `rbo` is rank-biased overlap with p = 0.9, or `rbo(p=0.8)`, extrapolated (Webber, Moffat, Zobel 2010; ties as
    in Corsi, Urbano 2024). `ndcg@k`, `precision@k`, `mrr`, `recall@k` and `hit_rate@k` stand for two columns: the most
    that they can have lost and gained, whatever the judgments; `max_loss(ndcg@10)` and `max_gain(ndcg@10)`
    are one each. All are in [0, 1].

    Args:
        before: The ranking of each query, as in `evaluate`.
        after: The same queries, run again. A query that is missing retrieved nothing; others are left out.
        metrics: Names, as above.
        match: What makes two items the same: `"id"`, or, where ids are new, `"source"`, `"metadata:<name>"` or a
            function, as in `evaluate`.
        clusters: The cluster of each query, as a mapping or a function of its id; None: they are independent.
        tolerance: Scores that differ by no more tie at rank k, in `overlap@k`.

    Raises:
        TypeError: If a run is not a mapping of query ids to rankings, or ids are str on one side and int on the other.
        ValueError: If there is no query in common, the largest change of a metric is unknown, such as that of MAP, or
            the tolerance is negative.

    Warns:
        RetrievalWarning: If no document is in both runs, or the scores of one seem to be distances.

    Example:
        >>> import retrieval_metrics as rm
        >>> exact = {"q1": ["a", "b", "c"], "q2": ["d", "e", "f"]}
        >>> index = {"q1": ["a", "b", "x"], "q2": ["e", "d", "f"]}
        >>> result = rm.changes(exact, index, ["overlap@3", "precision@3"])
        >>> result.per_query["overlap@3"]["q1"]  # 2 of 3
        0.6666666666666666
        >>> result.means["max_loss(precision@3)"]  # c may be relevant: (1/3 + 0) / 2
        0.16666666666666666
    """
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be 0 or more, got {tolerance!r}")
    measure_by_column = _read_measures(metrics, tolerance)
    measures = list(dict.fromkeys(measure_by_column.values()))
    pairs = pair_rankings(before, after, match)
    values_by_column: dict[str, dict[QueryId, float]] = {column: {} for column in measure_by_column}
    for query, pair in pairs.items():
        for measure in measures:
            values = measure.compute(pair.before, pair.after)
            for column, value in zip(measure.columns, values, strict=True):
                values_by_column[column][query] = value
    lower_is_better = [column for column in values_by_column if is_change_bound(column)]
    scores = make_given_scores(values_by_column, (0, 1), lower_is_better, clusters)
    runs = {"before": copy_run(before), "after": copy_run(after)}  # read again when documents are shown
    return Changes(scores, runs=runs, match=match, pairs=pairs, measures=measures)


def _read_measures(metrics: str | Metric | Iterable[str | Metric], tolerance: float) -> dict[str, ChangeMeasure]:
    """Return the measure that computes each column."""
    is_single = isinstance(metrics, str) or not hasattr(metrics, "__iter__")
    metric_list: list[Any] = [metrics] if is_single else list(metrics)  # type: ignore[arg-type]  # it is iterable then
    measure_by_column = {}
    for metric in metric_list:
        measure = as_change_measure(metric, tolerance)
        for column in measure.columns:
            measure_by_column[column] = measure
    if not measure_by_column:
        raise ValueError("name at least one metric, such as 'overlap@10'")
    return measure_by_column


class Changes(Evaluation):
    """How far two runs agree: an `Evaluation`, to be compared, sliced, saved and kept in a history like any other.

    What is loaded from a file is an `Evaluation` of the same numbers, without the rankings.
    """

    def __init__(
        self,
        record: Scores,
        *,
        runs: Mapping[str, Mapping[Any, Any]],
        match: str | Key | Matching,
        pairs: Mapping[QueryId, PairedRankings],
        measures: Sequence[ChangeMeasure],
    ) -> None:
        """Set the numbers, and the rankings that they were computed from.

        Args:
            record: The values of every query.
            runs: The runs as given, under `before` and `after`.
            match: What makes two items the same.
            pairs: Both rankings of each query.
            measures: The measures that were computed.
        """
        super().__init__(record)
        self._runs = runs
        self._match = match
        self._pairs = pairs
        self._measures = measures

    @property
    def depth(self) -> int:
        """How many first documents are compared and shown: the largest cutoff of the metrics."""
        cutoffs = [measure.k for measure in self._measures if measure.k is not None]
        return max(cutoffs, default=DEFAULT_DEPTH)

    def moved(self, n: int = 3, metric: str | Metric | None = None) -> MovedQueries:
        """Return the `n` queries that changed most, with their values, to print; equal rankings are left out.

        Args:
            n: How many.
            metric: The column; None takes the second of several, such as `rbo`, which sees every rank, or the first.

        Raises:
            KeyError: If it was not computed.
            ValueError: If `n` is not positive.
        """
        positive_integer(n, "n")
        name = self._main_column if metric is None else match_metric_name(metric, list(map(str, self.metrics)))
        values = self.per_query[name]
        is_bound = is_change_bound(name)
        value_of_equal = 0.0 if is_bound else 1.0
        moved = [query for query, value in values.items() if abs(value - value_of_equal) > _ROUNDING_ALLOWANCE]
        # The largest possible change first, or the lowest agreement first.
        moved.sort(key=values.__getitem__, reverse=is_bound)
        return MovedQueries(name, [(query, values[query]) for query in moved[:n]])

    @property
    def _main_column(self) -> str:
        """The column that orders queries: the second, usually `rbo`, which sees every rank, or else the only one."""
        return str(self.metrics[min(1, len(self.metrics) - 1)])

    def explain(  # type: ignore[override]  # there are no judgments to explain by
        self,
        query: QueryId,
        metric: str | Metric | None = None,  # noqa: ARG002  (the same arguments as for judged rankings)
        *,
        queries: QueryTexts | Questions | None = None,
        corpus: QueryTexts | None = None,
    ) -> Moves:
        """Return what was among the first documents of a query before or after, with both ranks.

        Raises:
            KeyError: If the query was not compared.
        """
        if query not in self._pairs:
            raise UnknownKeyError(
                f"query {query!r} was not compared; the queries include {list(self._pairs)[:N_NAMED]}"
            )
        query_texts = _query_texts(queries)
        moves = self._moves(query, self._document_texts(corpus))
        return Moves(query, str(query_texts.get(query, "")), moves)

    def pool(self, questions: Questions | QueryTexts, corpus: CorpusSource | None = None) -> Pool:
        """Return what to grade: the documents that entered or left the first `depth`.

        Their grades determine the difference of `precision@depth` exactly. `pool.top(24, "effect")` are the 24 that
        matter most to `ndcg@depth`.

        Args:
            questions: An `EvaluationSet`, or texts by query id.
            corpus: The texts, as in `pool`.
        """
        query_texts = _query_texts(questions)
        changed = self._changed
        without_text = [query for query in changed if query not in query_texts]
        if without_text:
            warn(
                f"{len(without_text)} of the {len(changed)} queries that changed have no text in questions, such as "
                f"{without_text[0]!r}; their documents are not in the pool, so grading it does not determine the "
                "difference"
            )
        runs = {name: self._compared_part(run) for name, run in self._runs.items()}
        pooled = pool(questions, runs, corpus, self.depth, metric=f"ndcg@{self.depth}", match=self._match)
        return replace(pooled, items=tuple(item for item in pooled if len(item.ranks) == 1))

    def report(  # type: ignore[override]  # rankings side by side, of which none is judged
        self,
        path: str | PathLike[str],
        *,
        title: str = "",
        queries: QueryTexts | Questions | None = None,
        corpus: QueryTexts | None = None,
        n: int = 100,
    ) -> None:
        """Write an HTML page with the rankings side by side, the queries that changed most first.

        Args:
            path: The file to write.
            title: The heading.
            queries: Query texts by query id, or the evaluation set that has them.
            corpus: Document texts by document id, if the rankings hold only ids.
            n: The largest number of queries shown.

        Raises:
            ValueError: If `n` is not positive.
        """
        from retrieval_metrics.datasets.side_by_side import SideBySideQuery, write_side_by_side

        query_texts = _query_texts(queries)
        document_texts = self._document_texts(corpus)
        shown = []
        for query, value in self.moved(positive_integer(n, "n")):
            moves = self._moves(query, document_texts)
            agreement = f"{self._main_column} {numbers.format_value(value)}"
            shown.append(SideBySideQuery(query, str(query_texts.get(query, "")), agreement, moves))
        write_side_by_side(
            path, title or "Before and after", self.tables[0], shown, depth=self.depth, n_changed=len(self._changed)
        )

    @property
    def _changed(self) -> list[QueryId]:
        """The queries whose first documents are not the same in the same order."""
        depth = self.depth
        return [query for query, pair in self._pairs.items() if pair.has_changed_first(depth)]

    def _compared_part(self, run: Mapping[Any, Any]) -> Mapping[Any, Any]:
        """Return a run without the queries that were not compared."""
        if isinstance(run, Run):
            return run
        return {query: run[query] for query in self._pairs if query in run}

    def _document_texts(self, corpus: Mapping[Any, str] | None) -> Mapping[DocumentId, str]:
        """Return the texts of documents: of the corpus, or of the retrieved items."""
        if corpus is not None:
            return corpus
        texts: dict[DocumentId, str] = {}
        for run in self._runs.values():
            texts |= OrderedRankings(run, self._match, TIES_BY_ID).texts()
        return texts

    def _moves(self, query: QueryId, texts: Mapping[Any, str]) -> list[DocumentMove]:
        """Return the first documents of both rankings, in the order of the later one, with both ranks and texts."""
        pair = self._pairs[query]
        rank_before = {document: rank for rank, document in enumerate(pair.before.documents, start=1)}
        rank_after = {document: rank for rank, document in enumerate(pair.after.documents, start=1)}
        first_documents = [*pair.after.documents[: self.depth], *pair.before.documents[: self.depth]]
        moves = []
        for document in dict.fromkeys(first_documents):
            text = str(texts.get(document) or "")
            moves.append(DocumentMove(document, rank_before.get(document), rank_after.get(document), text))
        return moves

    def _tables(self) -> list[Table]:
        (table,) = super()._tables()
        return [table._replace(notes=[*self._change_notes(), *self._limit_notes()])]

    def _change_notes(self) -> list[str]:
        """Return the notes about how much changed, and how much metrics can have changed."""
        depth = self.depth
        n_queries = len(self._pairs)
        n_unchanged = n_queries - len(self._changed)
        column = self._main_column
        is_bound = is_change_bound(column)
        moved = self.moved(N_NAMED)
        notes = [format_unchanged(n_unchanged, n_queries, depth, column, moved, is_bound=is_bound)]
        n_documents = sum(pair.count_changed_first(depth) for pair in self._pairs.values())
        if n_documents:
            notes.append(format_changed_documents(n_documents, depth))
        bounds = {name: mean for name, mean in self.means.items() if is_change_bound(name)}
        if bounds:
            has_loss = any(name.startswith(MAX_LOSS) for name in bounds)
            has_gain = any(name.startswith(MAX_GAIN) for name in bounds)
            notes.append(format_change_bounds_meaning(has_loss=has_loss, has_gain=has_gain))
        wide = [name for name, mean in bounds.items() if mean > MAX_USEFUL_CHANGE]
        if wide:
            notes.append(format_wide_bounds(wide))
        return notes

    def _limit_notes(self) -> list[str]:
        """Return the notes about what the two runs cannot show."""
        notes = []
        cut = self._cut_queries()
        if cut and any(measure.k is not None for measure in self._measures):
            notes.append(format_cut_rankings(cut, self.depth))
        extrapolated_weight = self._extrapolated_weight()
        if extrapolated_weight > MIN_EXTRAPOLATED_WEIGHT:
            notes.append(format_extrapolated_weight(extrapolated_weight))
        missing = [query for query in self._pairs if query not in self._runs["after"]]
        if missing:
            notes.append(format_missing_queries(missing))
        n_added = sum(query not in self._pairs for query in self._runs["after"])
        if n_added:
            notes.append(format_added_queries(n_added))
        return notes

    def _cut_queries(self) -> list[QueryId]:
        """Return the queries with a scored ranking that ends at `depth`, which hides ties with its last document."""
        depth = self.depth
        is_scored_before = _is_scored(self._runs["before"])
        is_scored_after = _is_scored(self._runs["after"])
        cut = []
        for query, pair in self._pairs.items():
            ends_before = is_scored_before and len(pair.before.documents) == depth
            ends_after = is_scored_after and len(pair.after.documents) == depth
            if ends_before or ends_after:
                cut.append(query)
        return cut

    def _extrapolated_weight(self) -> float:
        """Return the part of the weight of rank-biased overlap beyond the rankings; 0 if it was not asked for."""
        has_rbo = any(measure.columns[0].startswith("rbo") for measure in self._measures)
        if not has_rbo:
            return 0.0
        lengths = [min(len(pair.before.documents), len(pair.after.documents)) for pair in self._pairs.values()]
        return float(np.mean([RBO_PERSISTENCE**length for length in lengths]))


def _query_texts(queries: QueryTexts | Questions | None) -> Mapping[Any, str]:
    if isinstance(queries, Questions):
        return queries.queries
    if queries is None:
        return {}
    return queries


def _is_scored(run: Mapping[Any, Any]) -> bool:
    first_ranking = next(iter(run.values()), None)
    return hasattr(first_ranking, "items")
