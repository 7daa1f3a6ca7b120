"""Fuse the rankings of several retrievers into one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum, isfinite, sqrt
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from retrieval_metrics._internal.validation import common_id_type, require_same_id_type
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.match_key import get_match_key
from retrieval_metrics.inputs.ranking_checks import as_list, is_missing_id
from retrieval_metrics.inputs.run import Run
from retrieval_metrics.matching.ranking_order import rank_ids
from retrieval_metrics.metrics.base.rules import STANDARD

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId, QueryId
    from retrieval_metrics.inputs.items import RunMapping
    from retrieval_metrics.inputs.match_key import Key


METHODS = ("rrf", "scores")
NORMS = ("minmax", "zscore", None)


def fuse(
    runs: Mapping[str, RunMapping | Run],
    method: str = "rrf",
    *,
    k: float = 60,
    norm: str | None = "minmax",
    weights: Mapping[str, float] | Sequence[float] | None = None,
    match: str | Key = "id",
) -> dict[Any, Any]:
    """Fuse several runs into one, by their ranks or by their scores.

    The fused score of a document is a sum over the runs that retrieved it, each with its weight w:

    * `method="rrf"`: w / (k + rank), with ranks from 1 and equal scores by id, descending (Cormack et al. 2009);
    * `method="scores"`: w times the score s as `norm` makes it over the documents of that list: `"minmax"` is
      (s - min) / (max - min), `"zscore"` is (s - min) / standard deviation, and None is s.

    A document or a query that a run lacks adds 0. A run with weight 0 adds no documents, so that the result is the
    fusion without it, as a tuning over weights compares it. After normalisation, the lowest score of a list is 0 as
    well; if all scores of a list are equal, all are 1. Sums are exact before they are rounded once, and equal sums are
    ordered by id, descending, as `evaluate` does. So the order of the runs never matters: where items of one document
    differ, that of the run with the largest weight is returned, then the one with the best rank, then the one with the
    longest text, then the smallest; the others are its `copies`, in which quotes, spans and metadata are looked for as
    well.

    Args:
        runs: The run of each retriever, by name, as `evaluate` takes them. Rankings in lists have ranks and no scores,
            unless they hold `Retrieved` with scores.
        method: `"rrf"` (reciprocal rank fusion) or `"scores"`.
        k: The constant of reciprocal rank fusion, at least 0: the larger it is, the less the first ranks count.
        norm: How the scores of each list are made comparable.
        weights: The weight of each run, by name or in the order of the runs, at least 0; None weighs all equally. A run
            with weight 0 is left out.
        match: What makes items one document, as in `evaluate`: `"id"`, `"source"`, `"metadata:<name>"` or a callable,
            such as `lambda item: item.text` for documents without ids. Each run has one vote for each document, by the
            best rank.

    Returns:
        Per query the documents with their fused scores, best first. Where a run holds `Retrieved`, a list of them with
        text, source, position and the fused score.

    Raises:
        TypeError: If `runs` is not a mapping of names to runs, or ids are partly str and partly int.
        ValueError: If an option is unknown or out of range, a score is missing, NaN or infinite, no weight is
            positive, or an item lacks what documents are matched by.

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
    identity = _Identity(match)
    points_by_query: dict[QueryId, dict[DocumentId, list[float]]] = {}
    copies_by_query: dict[QueryId, dict[DocumentId, list[_Copy]]] = {}
    id_types: list[_RunIdType] = []
    for name, run in runs.items():
        types: set[type] = set()
        for query, ranking in run.rankings() if isinstance(run, Run) else run.items():
            documents = identity.read(name, query, ranking)
            if weight_by_run[name] and not isinstance(ranking, Mapping):
                _keep_copies(weight_by_run[name], documents, ranking, copies_by_query.setdefault(query, {}))
            if method == "rrf":
                ranks = _rank_documents(name, query, ranking, documents)
                points = {document: weight_by_run[name] / (k + rank) for document, rank in ranks.items()}
            else:
                scores = _normalise(_read_scores(name, query, ranking, documents), norm)
                points = {document: weight_by_run[name] * score for document, score in scores.items()}
            types.update(map(type, points))
            if not weight_by_run[name]:
                continue  # a run without weight is checked like the others, but adds no document
            query_points = points_by_query.setdefault(query, {})
            for document, document_points in points.items():
                query_points.setdefault(document, []).append(document_points)
        id_types.append(_RunIdType(name, common_id_type(types, f"document ids of {name!r}")))
    _require_one_id_type(id_types)
    fused = {}
    for query, query_points in points_by_query.items():
        fused[query] = _add_up(query_points, copies_by_query.get(query, {}))
    return fused


class _Identity:
    """What makes the items of several rankings one document."""

    def __init__(self, match: str | Key) -> None:
        self._match = match
        self._key = get_match_key(match)

    def read(self, name: str, query: QueryId, ranking: Any) -> Sequence[DocumentId]:
        """Return the document of each element of a ranking, in its order.

        Raises:
            TypeError: If it is no ranking, or holds only ids where more is needed.
            ValueError: If an item has no value to match.
        """
        elements = list(ranking) if isinstance(ranking, Mapping) else as_list(ranking, query)
        documents = []
        for element in elements:
            document: Any = element
            if isinstance(element, Retrieved):
                document = self._key(element)
            elif self._match != "id":
                raise TypeError(
                    f"the ranking of {name!r} for query {query!r} holds only ids, such as {element!r}, but match= "
                    "needs more; pass Retrieved(id, text=..., source=...) for every document"
                )
            if is_missing_id(document):
                self._refuse_missing(name, query)
            documents.append(document)
        return documents

    def _refuse_missing(self, name: str, query: QueryId) -> NoReturn:
        if self._match == "id":
            raise ValueError(
                f"an item of {name!r} for query {query!r} has no id, by which documents are fused; fuse by what it "
                "has, with match='source', match='metadata:<name>' or match=lambda item: item.text"
            )
        raise ValueError(
            f"an item of {name!r} for query {query!r} has no value for match={self._match!r}, by which documents are "
            "fused"
        )


@dataclass(frozen=True, slots=True)
class _Copy:
    """An item of a document in one run.

    Attributes:
        weight: The weight of the run.
        rank: The rank of the item, from 1.
        item: The item.
    """

    weight: float
    rank: int
    item: Retrieved

    @property
    def preference(self) -> tuple[Any, ...]:
        """What the copies of a document are sorted by, so that no order of runs or of ranks changes which is first."""
        return -self.weight, self.rank, -len(self.item.text or ""), _passage(self.item)


def _passage(item: Retrieved) -> tuple[str, ...]:
    """Return all that an item says, in a form that can be compared and sorted."""
    metadata = sorted(map(repr, (item.metadata or {}).items()))
    return repr(item.text), repr(item.source), repr((item.start, item.end)), repr(item.id), repr(metadata)


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
    is_number = isinstance(number, Real) and not isinstance(number, bool)
    if not is_number:
        raise TypeError(f"{name} must be a number of at least 0, got {number!r} ({type(number).__name__})")
    if not 0 <= number <= sys.float_info.max:
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
        raise ValueError(
            f"all weights are 0, of {', '.join(map(repr, weights))}: a run with weight 0 is left out, so none is left; "
            "at least one weight must be positive"
        )
    return weights


def _keep_copies(
    weight: float, documents: Sequence[DocumentId], ranking: Sequence[Any], copies: dict[DocumentId, list[_Copy]]
) -> None:
    """Keep the items of a ranking, and the copies that an earlier fusion kept, by document."""
    for rank, (document, item) in enumerate(zip(documents, ranking, strict=True), start=1):
        if isinstance(item, Retrieved):
            for copy in (item, *item.copies):
                copies.setdefault(document, []).append(_Copy(weight, rank, copy))


def _rank_documents(name: str, query: QueryId, ranking: Any, documents: Sequence[DocumentId]) -> dict[DocumentId, int]:
    """Return the rank of each document, from 1; a duplicate keeps its rank without credit, as everywhere."""
    if isinstance(ranking, Mapping):
        _require_finite_scores(name, query, ranking)
        return {document: rank for rank, document in enumerate(rank_ids(ranking, STANDARD.order), start=1)}
    ranks: dict[DocumentId, int] = {}
    for rank, document in enumerate(documents, start=1):
        ranks.setdefault(document, rank)
    return ranks


def _read_scores(
    name: str, query: QueryId, ranking: Any, documents: Sequence[DocumentId]
) -> Mapping[DocumentId, float]:
    """Return the score of each document; the first of a repeated one."""
    scores: Mapping[DocumentId, float] = ranking
    if not isinstance(ranking, Mapping):
        scores = _read_item_scores(name, query, ranking, documents)
    _require_finite_scores(name, query, scores)
    return scores


def _read_item_scores(
    name: str, query: QueryId, items: Sequence[Any], documents: Sequence[DocumentId]
) -> dict[DocumentId, float]:
    scores: dict[DocumentId, float] = {}
    for document, item in zip(documents, items, strict=True):
        score = item.score if isinstance(item, Retrieved) else None
        if score is None:
            raise ValueError(
                f"{name!r} has no score for document {document!r} of query {query!r}; rankings without scores can "
                'be fused by method="rrf"'
            )
        scores.setdefault(document, score)
    return scores


def _require_finite_scores(name: str, query: QueryId, scores: Mapping[DocumentId, float]) -> None:
    try:
        if all(map(isfinite, scores.values())):
            return
    except OverflowError:
        pass  # the integer beyond all floats is named like infinity
    for document, score in scores.items():
        if not abs(score) <= sys.float_info.max:
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


def _add_up(points: Mapping[DocumentId, list[float]], copies: Mapping[DocumentId, list[_Copy]]) -> Any:
    """Return the documents of a query with their fused scores, best first; as items if a run holds any."""
    sums = {}
    for document, run_points in points.items():
        sums[document] = fsum(run_points) if len(run_points) > 1 else run_points[0]
    order = rank_ids(sums, STANDARD.order)
    if not copies:
        return {document: sums[document] for document in order}
    items = []
    for document in order:
        item = _join_copies(copies[document]) if document in copies else Retrieved(document)
        items.append(replace(item, score=sums[document]))
    return items


def _join_copies(copies: Sequence[_Copy]) -> Retrieved:
    """Return the preferred item of a document, with the others that say something else as its copies."""
    if len(copies) == 1:
        return copies[0].item
    items = [copy.item for copy in sorted(copies, key=attrgetter("preference"))]
    passages = {_passage(items[0])}
    others = []
    for item in items[1:]:
        passage = _passage(item)
        says_something = item.text is not None or item.start is not None or bool(item.metadata) or bool(item.source)
        if says_something and passage not in passages:
            passages.add(passage)
            others.append(replace(item, copies=()))
    return replace(items[0], copies=tuple(others))
