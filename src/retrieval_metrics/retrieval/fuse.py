"""Fuse the rankings of several retrievers into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum, isfinite, sqrt
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.ranking_order import rank_ids
from retrieval_metrics.metrics.base.rules import STANDARD

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.inputs.items import RunMapping


METHODS = ("rrf", "scores")
NORMS = ("minmax", "zscore", None)


def fuse(
    runs: Mapping[str, RunMapping | Run],
    method: str = "rrf",
    *,
    k: float = 60,
    norm: str | None = "minmax",
    weights: Mapping[str, float] | Sequence[float] | None = None,
) -> dict[Any, Any]:
    """Return one run made of several: by their ranks, or by their scores.

    The fused score of a document is a sum over the runs that retrieved it, each with its weight w:

    * `method="rrf"`: w / (k + rank), with ranks from 1 and equal scores by id, descending (Cormack et al. 2009);
    * `method="scores"`: w times the score s as `norm` makes it over the documents of that list: `"minmax"` is
      (s - min) / (max - min), `"zscore"` is (s - min) / standard deviation, and None is s.

    A document or a query that a run lacks adds 0. After norming, the lowest score of a list is 0 as well; if all scores
    of a list are equal, all are 1. Sums are exact before they are rounded once, and equal sums are ordered by id,
    descending, as `evaluate` does. So the order of the runs never matters.

    Args:
        runs: The run of each retriever, by name, as `evaluate` takes them. Rankings in lists have ranks and no scores,
            unless they hold `Retrieved` with scores.
        method: `"rrf"` (reciprocal rank fusion) or `"scores"`.
        k: The constant of reciprocal rank fusion, at least 0: the larger it is, the less the first ranks count.
        norm: How the scores of each list are made comparable.
        weights: The weight of each run, by name or in the order of the runs, at least 0; None weighs all alike.

    Returns:
        Per query the documents with their fused scores, best first. Where a run holds `Retrieved`, a list of them with
        text, source, place and the fused score.

    Raises:
        TypeError: If `runs` is not a mapping of names to runs, or ids are partly str and partly int.
        ValueError: If an option is unknown or out of range, a score is missing, NaN or infinite, or no weight is
            positive.

    Example:
        b: 1 / (60 + 2) + 1 / (60 + 1) = 0.03252, and so has a. Equal sums are ordered by id, descending.

        >>> fused = fuse({"bm25": {"q": {"a": 12.0, "b": 9.0}}, "dense": {"q": ["b", "a", "e"]}})
        >>> {document: round(score, 5) for document, score in fused["q"].items()}
        {'b': 0.03252, 'a': 0.03252, 'e': 0.01587}

    References:
        G. V. Cormack, C. L. A. Clarke, S. Büttcher (2009). Reciprocal rank fusion outperforms Condorcet and individual
        rank learning methods. SIGIR.
        E. A. Fox, J. A. Shaw (1994). Combination of multiple searches. TREC-2.
    """
    _require_options(runs, method, k, norm)
    weight_by_run = _read_weights(runs, weights)
    points_by_query: dict[QueryId, dict[DocumentId, list[float]]] = {}
    items_by_query: dict[QueryId, dict[DocumentId, Retrieved]] = {}
    id_types: list[_RunIdType] = []
    for name, run in runs.items():
        types: set[type] = set()
        for query, ranking in run.rankings() if isinstance(run, Run) else run.items():
            if not isinstance(ranking, Mapping):
                _keep_items(name, query, ranking, items_by_query)
            if method == "rrf":
                ranks = _rank_documents(name, query, ranking)
                points = {document: weight_by_run[name] / (k + rank) for document, rank in ranks.items()}
            else:
                scores = _normalise(_read_scores(name, query, ranking), norm)
                points = {document: weight_by_run[name] * score for document, score in scores.items()}
            types.update(map(type, points))
            query_points = points_by_query.setdefault(query, {})
            for document, document_points in points.items():
                query_points.setdefault(document, []).append(document_points)
        id_types.append(_RunIdType(name, common_id_type(types, f"document ids of {name!r}")))
    _require_one_id_type(id_types)
    fused = {}
    for query, query_points in points_by_query.items():
        fused[query] = _add_up(query_points, items_by_query.get(query, {}))
    return fused


class _RunIdType(NamedTuple):
    """The type of the document ids of a run; None if it holds none."""

    name: str
    id_type: type | None


def _require_options(runs: object, method: str, k: float, norm: str | None) -> None:
    if not isinstance(runs, Mapping) or isinstance(runs, Run) or not all(map(_is_run, runs.values())):
        raise TypeError("runs must map the name of each retriever to its run, such as {'bm25': run, 'dense': run}")
    if not runs:
        raise ValueError("there is no run to fuse")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}")
    if norm not in NORMS:
        raise ValueError(f"norm must be one of {', '.join(map(repr, NORMS))}, got {norm!r}")
    _require_non_negative(k, "k")


def _is_run(value: object) -> bool:
    return isinstance(value, Mapping)


def _require_non_negative(number: Any, name: str) -> None:
    if isinstance(number, bool) or not isinstance(number, Real):
        raise TypeError(f"{name} must be a number of at least 0, got {number!r} ({type(number).__name__})")
    if not (float(number) >= 0 and isfinite(number)):
        raise ValueError(f"{name} must be a number of at least 0, got {number!r}")


def _require_one_id_type(id_types: Sequence[_RunIdType]) -> None:
    """Raise if the document ids of two runs differ in type; a run without ids fits every other."""
    last = id_types[0]
    for current in id_types[1:]:
        require_same_id_type(
            last.id_type, f"document ids of {last.name!r}", current.id_type, f"those of {current.name!r}"
        )
        if current.id_type is not None:
            last = current


def _read_weights(
    runs: Mapping[str, Any], weights: Mapping[str, float] | Sequence[float] | None
) -> Mapping[str, float]:
    if weights is None:
        return dict.fromkeys(runs, 1.0)
    if not isinstance(weights, Mapping):
        if len(weights) != len(runs):
            raise ValueError(f"there must be one weight per run; got {len(weights)} for {len(runs)} runs")
        weights = dict(zip(runs, weights, strict=True))
    if weights.keys() != runs.keys():
        raise ValueError(
            f"weights are of {', '.join(map(repr, weights))}, but the runs are {', '.join(map(repr, runs))}"
        )
    for name, weight in weights.items():
        _require_non_negative(weight, f"the weight of {name!r}")
    if not any(weights.values()):
        raise ValueError("at least one weight must be positive")
    return weights


def _keep_items(
    name: str, query: QueryId, ranking: Sequence[Any], items: dict[QueryId, dict[DocumentId, Retrieved]]
) -> None:
    for item in ranking:
        if isinstance(item, Retrieved):
            if item.id is None:
                raise ValueError(f"an item of {name!r} for query {query!r} has no id, by which documents are fused")
            items.setdefault(query, {}).setdefault(item.id, item)


def _rank_documents(name: str, query: QueryId, ranking: Any) -> dict[DocumentId, int]:
    """Return the rank of each document, from 1; a repeat keeps its rank and earns nothing, as everywhere."""
    if isinstance(ranking, Mapping):
        _require_finite_scores(name, query, ranking)
        return {document: rank for rank, document in enumerate(rank_ids(ranking, STANDARD.order), start=1)}
    ranks: dict[Any, int] = {}
    for rank, item in enumerate(ranking, start=1):
        ranks.setdefault(item.id if isinstance(item, Retrieved) else item, rank)
    return ranks


def _read_scores(name: str, query: QueryId, ranking: Any) -> Mapping[DocumentId, float]:
    """Return the score of each document; the first of a repeated one."""
    scores: Mapping[DocumentId, float] = ranking
    if not isinstance(ranking, Mapping):
        scores = _read_item_scores(name, query, ranking)
    _require_finite_scores(name, query, scores)
    return scores


def _read_item_scores(name: str, query: QueryId, items: Sequence[Any]) -> dict[DocumentId, float]:
    scores: dict[Any, float] = {}
    for item in items:
        document = item
        score = None
        if isinstance(item, Retrieved):
            document = item.id
            score = item.score
        if score is None:
            raise ValueError(
                f"{name!r} has no score for document {document!r} of query {query!r}; rankings without scores can "
                'be fused by method="rrf"'
            )
        scores.setdefault(document, score)
    return scores


def _require_finite_scores(name: str, query: QueryId, scores: Mapping[DocumentId, float]) -> None:
    if all(map(isfinite, scores.values())):
        return
    for document, score in scores.items():
        if not isfinite(score):
            raise ValueError(f"the score of document {document!r} for query {query!r} in {name!r} is {score}")


def _normalise(scores: Mapping[DocumentId, float], norm: str | None) -> Mapping[DocumentId, float]:
    if norm is None or not scores:
        return scores
    values = list(scores.values())
    lowest = min(values)
    highest = max(values)
    if lowest == highest:
        return dict.fromkeys(scores, 1.0)
    width = highest - lowest if norm == "minmax" else _standard_deviation(values)
    return {document: (score - lowest) / width for document, score in scores.items()}


def _standard_deviation(values: list[float]) -> float:
    mean = fsum(values) / len(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / len(values))


def _add_up(points: Mapping[DocumentId, list[float]], items: Mapping[DocumentId, Retrieved]) -> Any:
    """Return the documents of a query with their fused scores, best first; as items if a run holds any."""
    sums = {}
    for document, run_points in points.items():
        sums[document] = fsum(run_points) if len(run_points) > 1 else run_points[0]
    order = rank_ids(sums, STANDARD.order)
    if not items:
        return {document: sums[document] for document in order}
    return [replace(items.get(document) or Retrieved(document), score=sums[document]) for document in order]
