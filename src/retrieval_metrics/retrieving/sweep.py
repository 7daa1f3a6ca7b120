"""Relevance against diversity for a grid of lambdas."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.checks import RetrievalWarning, positive_integer, require
from retrieval_metrics.evaluation.evaluate import evaluate
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.qrels import as_qrels
from retrieval_metrics.judging.judge import judge
from retrieval_metrics.judging.ranking_order import ranked
from retrieval_metrics.presentation import numbers
from retrieval_metrics.presentation.charts import Point, Points
from retrieval_metrics.presentation.progress import progress
from retrieval_metrics.presentation.tables import Printed, Table
from retrieval_metrics.retrieving.mmr import intra_list_diversity, mmr_batch
from retrieval_metrics.retrieving.vectors import by_rank, matrix, scaled, trade_off
from retrieval_metrics.scoring.metric import as_metrics
from retrieval_metrics.scoring.rules import STANDARD
from retrieval_metrics.statistics.means import Sums

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.figure import Figure

    from retrieval_metrics.checks import FloatArray, QueryId
    from retrieval_metrics.evaluation.evaluation import Evaluation
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.qrels import QuestionsOrQrels
    from retrieval_metrics.scoring.metric import Metric


LAMBDAS = tuple(step / 10 for step in range(11))
_RETRIEVED = "as retrieved"


def mmr_sweep(
    qrels: QuestionsOrQrels,
    run: RunMapping,
    vectors: Mapping[Any, Any],
    *,
    query_vectors: Mapping[Any, Any] | None = None,
    k: int = 10,
    lambdas: Iterable[float] = LAMBDAS,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    show_progress: bool = False,
) -> MMRSweep:
    """Rerank an evaluation set by MMR with several lambdas, and measure relevance and diversity of the results.

    For each lambda, `mmr` selects `k` candidates of each judged query. They are evaluated, and their diversity is the
    mean of `intra_list_diversity` over the queries with at least two documents. The first `k` candidates as retrieved
    are measured in the same way.

    Args:
        qrels: The judgments per query, as in `evaluate`.
        run: The candidates per query, as in `evaluate`: ids best first, ids with scores, or `Retrieved`. MMR needs more
            than `k` of them to choose from.
        vectors: The vector of each document, by id.
        query_vectors: The vector of each query, by id: relevance is the cosine with it. None uses the run: its scores,
            scaled to [0, 1] per query, or its ranks, from 1 to 0 in equal steps.
        k: How many documents to select.
        lambdas: Weights of relevance, each from 0 (only diversity) to 1 (only relevance).
        metrics: Names such as `"ndcg@10"`; None uses ndcg, recall and alpha_ndcg at `k`.
        show_progress: Show a progress bar on stderr; needs rich.

    Returns:
        The measurements; print them as a table, or draw them with `plot()`.

    Raises:
        TypeError: As in `evaluate` and `mmr`.
        ValueError: As in `evaluate` and `mmr`; or if a candidate or a query has no vector, or `lambdas` is empty.
        ImportError: If `show_progress` is set and rich is not installed.

    Warns:
        RetrievalWarning: As in `evaluate`, once.

    Example:
        >>> vectors = {"a": [1, 0.1], "b": [1, 0.2], "c": [0.5, 1]}
        >>> qrels = {"q": [["a", "b"], ["c"]]}  # a and b are alternatives
        >>> print(mmr_sweep(qrels, {"q": ["a", "b", "c"]}, vectors, k=2, lambdas=[0.3, 1], metrics="recall@2"))
        lambda        recall@2  diversity
        0.3              1.000      0.466
        1                0.500    0.00477
        as retrieved     0.500    0.00477
        MMR of the first 2 of the candidates of 1 query
    """
    positive_integer(k, "k")
    weights = [trade_off(weight) for weight in lambdas]
    if not weights:
        raise ValueError("there are no lambdas to try; pass at least one, such as lambdas=[0.3, 0.5, 0.7]")
    chosen = as_metrics([f"ndcg@{k}", f"recall@{k}", f"alpha_ndcg@{k}"] if metrics is None else metrics)
    truth = as_qrels(qrels)
    judge(truth, run, "id", STANDARD.order)  # refuses invalid rankings and scores by name
    candidates = [_Candidates(query, run, vectors, query_vectors) for query in truth.queries if query in run]
    first: dict[Any, list[Any]] = {each.query: each.items[:k] for each in candidates}
    retrieved = evaluate(truth, first or run, chosen)
    points = []
    with progress("reranking", len(weights), enabled=show_progress) as advance:
        for done, weight in enumerate(weights, start=1):
            selected = _reranked(candidates, k, weight)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RetrievalWarning)  # the same as for the retrieved rankings
                rankings: dict[Any, list[Any]] = {query: items for query, (items, _) in selected.items()}
                evaluation = evaluate(truth, rankings, chosen)
            points.append((weight, evaluation, _mean([diversity for _, diversity in selected.values()])))
            advance(done)
    diversity = _mean([intra_list_diversity(each.vectors, k=k) for each in candidates])
    return MMRSweep(points, (retrieved, diversity), k)


class MMRSweep(Printed):
    """Relevance and diversity for several lambdas.

    Attributes:
        lambdas: The lambdas, in the order given.
        evaluations: The evaluation of each lambda.
        diversity: The mean intra-list diversity of each lambda; NaN if no query has two documents.
        retrieved: The evaluation of the first `k` candidates as retrieved.
        retrieved_diversity: Their mean intra-list diversity.
        k: How many documents were selected.
    """

    def __init__(
        self, points: Sequence[tuple[float, Evaluation, float]], retrieved: tuple[Evaluation, float], k: int
    ) -> None:
        self.lambdas = tuple(weight for weight, _, _ in points)
        self.evaluations = {weight: evaluation for weight, evaluation, _ in points}
        self.diversity = {weight: diversity for weight, _, diversity in points}
        self.retrieved, self.retrieved_diversity = retrieved
        self.k = k

    def __repr__(self) -> str:
        return f"<MMRSweep of {len(self.lambdas)} lambdas: {', '.join(map(str, self.retrieved.metrics))}>"

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row per lambda, and a last row, with lambda NaN, for the retrieved rankings.

        Raises:
            ImportError: If pandas is not installed; the message holds the command.
        """
        pandas = require("pandas", "to_pandas")
        rows = [{**evaluation.means, "diversity": diversity} for _, evaluation, diversity in self._rows()]
        frame: pd.DataFrame = pandas.DataFrame(rows, index=pandas.Index([*self.lambdas, nan], name="lambda"))
        return frame

    def plot(self, metric: str | Metric | None = None) -> Figure:
        """Return a figure of relevance against diversity: a point per lambda, and a cross for the retrieved rankings.

        Show it in a notebook, or save it with `figure.savefig(path)`.

        Args:
            metric: The metric on the vertical axis; None uses the first.

        Raises:
            ImportError: If matplotlib is not installed; the message holds the command.
            KeyError: If the metric was not computed.
        """
        require("matplotlib", "plot")
        from retrieval_metrics.presentation.plots import figure, points_panel  # noqa: PLC0415  (brings matplotlib)

        name = str(self.retrieved.metrics[0] if metric is None else metric)
        points = [
            Point(label, diversity, evaluation.means[name], evaluation.intervals()[name])
            for label, evaluation, diversity in self._rows()
        ]
        lines = [("MMR", points[:-1]), ("as retrieved", [points[-1]._replace(name="")])]
        labels = f"mean intra-list diversity of the first {self.k}", f"mean {name}"
        return figure([points_panel(Points(f"{name} against diversity", lines, labels, "the numbers are lambda"))])

    def _rows(self) -> list[tuple[str, Evaluation, float]]:
        rows = [(f"{weight:g}", self.evaluations[weight], self.diversity[weight]) for weight in self.lambdas]
        return [*rows, (_RETRIEVED, self.retrieved, self.retrieved_diversity)]

    def _tables(self) -> list[Table]:
        names = [str(metric) for metric in self.retrieved.metrics]
        rows = [
            [label, *(numbers.value(evaluation.means[name]) for name in names), numbers.value(diversity)]
            for label, evaluation, diversity in self._rows()
        ]
        note = f"MMR of the first {self.k} of the candidates of {numbers.queries(len(self.retrieved.queries))}"
        return [Table(["lambda", *names, "diversity"], rows, [note])]


class _Candidates:
    """The candidates of one query with their vectors and relevance."""

    def __init__(
        self, query: QueryId, run: Mapping[Any, Any], vectors: Mapping[Any, Any], of_queries: Mapping[Any, Any] | None
    ) -> None:
        ranking = run[query]
        self.query = query
        scores = ranking if isinstance(ranking, Mapping) else None
        self.items: list[Any] = list(ranking) if scores is None else ranked(scores, STANDARD.order)
        names = [item.id if isinstance(item, Retrieved) else item for item in self.items]
        rows = [_vector(vectors, name, f"candidate {name!r} of query {query!r}") for name in names]
        self.vectors = matrix(rows, f"the vectors of the candidates of query {query!r}")
        self.of_query = None if of_queries is None else _vector(of_queries, query, f"query {query!r}")
        self.relevance: FloatArray | None = None
        if of_queries is None:
            listed = None if scores is None else np.array([scores[name] for name in names], dtype=np.float64)
            self.relevance = by_rank(len(names)) if listed is None else scaled(listed)


def _vector(vectors: Mapping[Any, Any], name: Any, what: str) -> FloatArray:
    try:
        return np.asarray(vectors[name])
    except KeyError:
        raise ValueError(f"{what} has no vector; every candidate and every query needs one") from None


def _reranked(candidates: Sequence[_Candidates], k: int, weight: float) -> dict[QueryId, tuple[list[Any], float]]:
    """Return the items that MMR selects for each query, and their diversity."""
    asked = [each for each in candidates if each.items]
    vectors = [each.vectors for each in asked]
    stated = [each.relevance for each in asked if each.relevance is not None]
    if stated:
        selections = mmr_batch(None, vectors, k=k, lambda_mult=weight, relevance=stated)
    else:
        of_queries = [each.of_query for each in asked if each.of_query is not None]
        selections = mmr_batch(matrix(of_queries, "queries"), vectors, k=k, lambda_mult=weight) if asked else []
    selected: dict[QueryId, tuple[list[Any], float]] = {each.query: ([], nan) for each in candidates}
    for each, selection in zip(asked, selections, strict=True):
        diversity = intra_list_diversity(each.vectors[selection.indices])
        selected[each.query] = ([each.items[at] for at in selection], diversity)
    return selected


def _mean(diversities: list[float]) -> float:
    """Return the mean over the queries that have a diversity; NaN if none has."""
    values = np.array(diversities, dtype=np.float64)
    return Sums.of(values[~np.isnan(values)]).mean
