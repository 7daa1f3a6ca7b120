"""What changed between two runs of the same queries, without one judgment: how far they agree, what could follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics._internal.validation import (
    common_id_type,
    format_argument,
    positive_integer,
    python_or_cli_text,
    require_same_id_type,
    warn,
)
from retrieval_metrics.comparison.change_measures import as_change_measure, is_change_bound
from retrieval_metrics.comparison.distinct_ranking import distinct_ranking
from retrieval_metrics.comparison.ranking_overlap import RBO_PERSISTENCE
from retrieval_metrics.datasets.pool import pool
from retrieval_metrics.evaluation.data_warnings import distances_note
from retrieval_metrics.evaluation.evaluation import Evaluation
from retrieval_metrics.evaluation.given_scores import make_given_scores
from retrieval_metrics.inputs.questions import Questions
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.ranking_order import TIES_BY_ID, OrderedRankings
from retrieval_metrics.metrics.base.metric import match_metric_name
from retrieval_metrics.reports import numbers
from retrieval_metrics.reports.tables import Printed, Table, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from retrieval_metrics._internal.validation import DocumentId, QueryId
    from retrieval_metrics.comparison.change_measures import ChangeMeasure
    from retrieval_metrics.comparison.distinct_ranking import DistinctRanking
    from retrieval_metrics.datasets.pool import Pool
    from retrieval_metrics.evaluation.scores import Scores
    from retrieval_metrics.inputs.items import Key, QueryTexts, RunMapping
    from retrieval_metrics.matching.ranking_order import Matching
    from retrieval_metrics.metrics.base.metric import Metric


DEPTH = 10
"""The number of first documents that are compared if no metric has a cut-off."""
_NEARLY = 1e-9
WIDE = 0.2
"""A possible change of a mean beyond which it says nothing."""
NAMED = 3


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
        after: The same queries, asked again. A query that is missing retrieved nothing; others are left out.
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
    named = [metrics] if isinstance(metrics, str) or not hasattr(metrics, "__iter__") else list(metrics)
    measures = {column: one for name in named for one in [as_change_measure(name, tolerance)] for column in one.columns}
    if not measures:
        raise ValueError("name at least one metric, such as 'overlap@10'")
    pairs = _pairs(before, after, match)
    columns: dict[str, dict[QueryId, float]] = {column: {} for column in measures}
    for query, (one, other) in pairs.items():
        for measure in dict.fromkeys(measures.values()):
            for column, value in zip(measure.columns, measure.compute(one, other), strict=True):
                columns[column][query] = value
    lower = [column for column in columns if is_change_bound(column)]
    scores = make_given_scores(columns, (0, 1), lower, clusters)
    runs = {"before": before, "after": after}
    return Changes(scores, runs=runs, match=match, pairs=pairs, measures=list(dict.fromkeys(measures.values())))


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
        pairs: Mapping[QueryId, tuple[DistinctRanking, DistinctRanking]],
        measures: Sequence[ChangeMeasure],
    ) -> None:
        """Set what was compared."""
        super().__init__(record)
        self._runs = runs
        self._match = match
        self._pairs = pairs
        self._measures = measures

    @property
    def depth(self) -> int:
        """How many first documents are compared and shown: the largest cut-off of the metrics."""
        return max((one.k for one in self._measures if one.k is not None), default=DEPTH)

    def moved(self, n: int = 3, metric: str | Metric | None = None) -> list[tuple[QueryId, float]]:
        """Return the `n` queries that changed most, with their values; equal rankings are left out.

        Args:
            n: How many.
            metric: The column; None takes the second of several, such as `rbo`, which sees every rank, or the first.

        Raises:
            KeyError: If it was not computed.
            ValueError: If `n` is not positive.
        """
        positive_integer(n, "n")
        names = list(map(str, self.metrics))
        name = names[min(1, len(names) - 1)] if metric is None else match_metric_name(metric, names)
        sign = -1 if is_change_bound(name) else 1
        same = 0.0 if sign < 0 else 1.0
        values = self.per_query[name]
        moved = (query for query in values if abs(values[query] - same) > _NEARLY)
        found = sorted(moved, key=lambda query: sign * values[query])
        return [(query, values[query]) for query in found[:n]]

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
            raise KeyError(f"query {query!r} was not compared; the queries begin with {list(self._pairs)[:NAMED]}")
        texts = _query_texts(queries)
        return Moves(query, str(texts.get(query, "")), self._moves(query, self._texts(corpus)), self.depth)

    def pool(self, questions: Questions | QueryTexts, corpus: Any = None) -> Pool:
        """Return what to grade: the documents that entered or left the first `depth`.

        Their grades settle the difference of `precision@depth` exactly. `pool.limited(24, "effect")` are the 24 that
        matter most to `ndcg@depth`.

        Args:
            questions: An `EvaluationSet`, or texts by query id.
            corpus: The texts, as in `pool`.
        """
        texts = _query_texts(questions)
        if untold := [query for query in self._changed if query not in texts]:
            warn(
                f"{len(untold)} of the {len(self._changed)} queries that changed have no text in questions, such as "
                f"{untold[0]!r}; their documents are not in the pool, so grading it does not settle the difference"
            )
        runs = {name: self._read(run) for name, run in self._runs.items()}
        found = pool(questions, runs, corpus, self.depth, metric=f"ndcg@{self.depth}", match=self._match)
        return replace(found, items=tuple(item for item in found if len(item.ranks) == 1))

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
        from retrieval_metrics.datasets.side_by_side import SideBySideQuery, write_side_by_side  # noqa: PLC0415  (seldom asked)

        texts, known = _query_texts(queries), self._texts(corpus)
        first = str(self.metrics[min(1, len(self.metrics) - 1)])
        shown = [
            SideBySideQuery(
                query, str(texts.get(query, "")), f"{first} {numbers.value(value)}", self._moves(query, known)
            )
            for query, value in self.moved(positive_integer(n, "n"))
        ]
        write_side_by_side(
            path, title or "Before and after", self.tables[0], shown, depth=self.depth, changed=len(self._changed)
        )

    @property
    def _changed(self) -> list[QueryId]:
        """The queries whose first documents are others, or in another order."""
        return [
            query
            for query, (one, other) in self._pairs.items()
            if list(one.documents[: self.depth]) != list(other.documents[: self.depth])
        ]

    def _read(self, run: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return run if isinstance(run, Run) else {query: run[query] for query in self._pairs if query in run}

    def _texts(self, corpus: Mapping[Any, str] | None) -> Mapping[DocumentId, str]:
        """Return the texts of documents: of the corpus, or of the retrieved items."""
        if corpus is not None:
            return corpus
        found: dict[DocumentId, str] = {}
        for run in self._runs.values():
            found |= OrderedRankings(run, self._match, TIES_BY_ID).texts()
        return found

    def _moves(self, query: QueryId, texts: Mapping[Any, str]) -> list[tuple[DocumentId, int | None, int | None, str]]:
        """Return the first documents of both rankings, in the order of the later one, with both ranks and texts."""
        before, after = ({each: at for at, each in enumerate(one.documents, start=1)} for one in self._pairs[query])
        firsts = dict.fromkeys([*list(after)[: self.depth], *list(before)[: self.depth]])
        return [(each, before.get(each), after.get(each), str(texts.get(each) or "")) for each in firsts]

    def _tables(self) -> list[Table]:
        (table,) = super()._tables()
        return [table._replace(notes=self._notes())]

    def _notes(self) -> list[str]:
        k, pairs, moved = self.depth, self._pairs, self.moved(NAMED)
        same = len(pairs) - len(self._changed)
        most = ", ".join(f"{query} {numbers.value(value)}" for query, value in moved)
        column = str(self.metrics[min(1, len(self.metrics) - 1)])
        said = [f"{same} of {numbers.format_query_count(len(pairs))} have the same first {k}, in the same order"]
        said[0] += f"; changed most in {column}: {most}" if moved else ""
        apart = sum(len(set(one.documents[:k]) ^ set(other.documents[:k])) for one, other in pairs.values())
        if apart:
            said.append(
                f"{numbers.format_count(apart, 'document')} entered or left the first {k}: their grades settle "
                f"precision@{k}" + python_or_cli_text("; .pool(questions) collects them")
            )
        wide = [name for name, mean in self.means.items() if is_change_bound(name) and mean > WIDE]
        if any(is_change_bound(name) for name in self.means):
            said.append("max_loss and max_gain: the most that any grades of the documents would make of the change")
        if wide:
            said.append(f"too wide to tell without grades: {numbers.join_names(wide)}")
        return said + self._unknown()

    def _unknown(self) -> list[str]:
        """Return what the two runs cannot show."""
        k, said = self.depth, []
        scored = {name for name, run in self._runs.items() if _is_scored(run)}
        cut = [
            query
            for query, both in self._pairs.items()
            for name, one in zip(self._runs, both, strict=True)
            if name in scored and len(one.documents) == k
        ]
        if cut and any(one.k is not None for one in self._measures):
            said.append(
                f"{numbers.format_count(len(set(cut)), 'query', 'queries')} end exactly at rank {k}, such as "
                f"{cut[0]!r}: what "
                f"ties with the last is not seen; keep more than {k}"
            )
        lengths = [min(len(one.documents), len(other.documents)) for one, other in self._pairs.values()]
        if any(column.startswith("rbo") for one in self._measures for column in one.columns):
            beyond = float(np.mean([RBO_PERSISTENCE**length for length in lengths]))
            if beyond > 0.01:
                said.append(f"rbo: {beyond:.0%} of its weight lies beyond the rankings and is extrapolated")
        lost = [query for query in self._pairs if query not in self._runs["after"]]
        added = sum(query not in self._pairs for query in self._runs["after"])
        if lost:
            said.append(
                f"{numbers.format_query_count(len(lost))} missing after, such as {lost[0]!r}, as if nothing was "
                f"retrieved"
            )
        if added:
            said.append(f"{numbers.format_query_count(added)} only after, left out")
        return said


class Moves(Printed):
    """The first documents of one query before and after.

    Attributes:
        query: The query.
        text: Its text; empty if unknown.
        rows: Each document with its rank before and after, None where it was not retrieved, and its text.
    """

    def __init__(
        self, query: QueryId, text: str, rows: Sequence[tuple[DocumentId, int | None, int | None, str]], depth: int
    ) -> None:
        """Set what is shown."""
        self.query, self.text, self.rows, self._depth = query, text, list(rows), depth

    def _tables(self) -> list[Table]:
        texts = any(text for *_, text in self.rows)
        rows = [
            [str(document), _rank(before), _rank(after), *([shorten(text)] if texts else [])]
            for document, before, after, text in self.rows
        ]
        header = ["document", "before", "after", *(["text"] if texts else [])]
        title = f"{self.query}: {self.text}" if self.text else str(self.query)
        return [Table(header, rows, title=title, words=(0, 3) if texts else (0,))]


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _query_texts(queries: QueryTexts | Questions | None) -> Mapping[Any, str]:
    return queries.queries if isinstance(queries, Questions) else queries or {}


def _is_scored(run: Mapping[Any, Any]) -> bool:
    first = next(iter(run.values()), None)
    return hasattr(first, "items")


def _pairs(
    before: Any, after: Any, match: str | Key | Matching
) -> dict[QueryId, tuple[DistinctRanking, DistinctRanking]]:
    """Return both rankings of each query of the first run."""
    for name, run in (("before", before), ("after", after)):
        if hasattr(run, "items") and not run:
            raise ValueError(f"{name} holds no query")
        if not hasattr(run, "items"):
            raise TypeError(
                f"{name} must map query ids to rankings, as in {{'q1': ['d7', 'd1']}}, got {type(run).__name__}"
            )
    kinds = [
        common_id_type(set(map(type, run)), f"query ids of {name}")
        for name, run in (("before", before), ("after", after))
    ]
    require_same_id_type(kinds[0], "query ids before", kinds[1], "those after")
    if not any(query in after for query in before):
        raise ValueError(
            f"no query is in both runs: before has {list(before)[:NAMED]!r}, after has {list(after)[:NAMED]!r}"
        )
    for name, run in (("before", before), ("after", after)):
        if said := distances_note(None, run):
            warn(f"{name}: {said}")
    both = [OrderedRankings(run, match, TIES_BY_ID) for run in (before, after)]
    read = [{query: distinct_ranking(one, ranking, query) for query, ranking in one.iterate(before)} for one in both]
    pairs = {query: (read[0][query], read[1][query]) for query in before}
    documents = [{each for one in of.values() for each in one.documents} for of in read]
    if all(documents) and not documents[0] & documents[1]:
        kinds = [common_id_type(set(map(type, one)), "document ids") for one in documents]
        require_same_id_type(kinds[0], "document ids before", kinds[1], "those after")
        some = " and ".join(repr(next(iter(one))) for one in documents)
        warn(
            f"no document is in both runs, which hold, for example, {some}. If ids are new after a change, say what "
            f"makes two items the same: {format_argument('match', 'source')}, or "
            f"{format_argument('match', 'metadata:<name>')}"
        )
    return pairs
