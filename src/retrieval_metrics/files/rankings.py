"""Runs in JSON files: a mapping of queries to rankings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from retrieval_metrics.inputs.columns import Batch
from retrieval_metrics.inputs.entries import item_of
from retrieval_metrics.inputs.frames import LongTable
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import RetrievedRun, Run

if TYPE_CHECKING:
    from collections.abc import Collection


PREDICTED = {"documents": "corpus_id", "scores": "score"}
"""The keys of a result in the predictions of sentence-transformers."""
OF_MTEB = "mteb_model_meta"
"""The key beside the predictions of MTEB."""


def of_mteb(
    content: Mapping[str, Any], source: str, subset: str | None = None, split: str | None = None
) -> Mapping[str, Any]:
    """Return the rankings of a file of predictions of MTEB; any other content as it is.

    Raises:
        ValueError: If there are several subsets or splits and none was chosen, or what was chosen is not there.
    """
    if OF_MTEB not in content:
        if (subset, split) != (None, None):
            raise ValueError(f"{source} holds no predictions of MTEB, so it has no subset and no split to choose")
        return content
    chosen = _chosen({name: part for name, part in content.items() if name != OF_MTEB}, source, "subset", subset)
    return _chosen(chosen, source, "split", split)


def _chosen(parts: Mapping[str, Any], source: str, what: str, name: str | None) -> Mapping[str, Any]:
    if name is None and len(parts) != 1:
        raise ValueError(f"{source} holds {len(parts)} {what}s, {', '.join(parts)}; choose one with {what}=")
    if name is not None and name not in parts:
        raise ValueError(f"{source} holds no {what} {name!r}; it holds {', '.join(parts)}")
    found = parts[next(iter(parts)) if name is None else name]
    if not isinstance(found, Mapping):
        raise ValueError(f"{source}: a {what} must be an object, got {found!r}")  # noqa: TRY004  (of a file)
    return found


def run_of_mapping(rankings: Mapping[Any, Any], source: str, allow: Collection[str] = ("blanks",)) -> Run:
    """Return the run in a mapping of queries to documents with scores, or to documents best first.

    Raises:
        ValueError: If a ranking is neither, an id is missing, or a score is not finite.
    """
    scored, listed = {}, {}
    for query, ranking in rankings.items():
        if isinstance(ranking, Mapping):
            scored[query] = ranking
        elif isinstance(ranking, (list, tuple)):
            listed[query] = ranking
        else:
            raise ValueError(  # noqa: TRY004  (anything wrong in a file is a ValueError)
                f"{source}, query {query!r}: a ranking must be a list of documents, best first, or an object of "
                f"documents with scores, got {ranking!r}"
            )
    return Run(_batch(part, source, allow, scores=part is scored) for part in (scored, listed) if part)


def _batch(rankings: Mapping[Any, Any], source: str, allow: Collection[str], *, scores: bool) -> Batch:
    import polars as pl

    documents = [document for ranking in rankings.values() for document in ranking]
    columns: dict[str, Any] = {"document": documents or pl.Series([], dtype=pl.String)}
    if scores:
        columns["score"] = [score for ranking in rankings.values() for score in ranking.values()]
    table = LongTable(columns, dict.fromkeys(columns, True), None, source, allow=allow)
    bounds = np.cumsum([0, *map(len, rankings.values())])
    return Batch(list(rankings), bounds, table.ids("document"), table.numbers("score") if scores else None)


def run_of_json(content: Mapping[str, Any], source: str, allow: Collection[str]) -> Run | RetrievedRun:
    """Return the run of a JSON file, whose rankings can also be items as objects, or lists of documents and scores.

    Raises:
        ValueError: If a ranking is none of these.
    """
    rankings: dict[Any, Any] = {
        query: _ranking(ranking, f"{source}, query {query!r}") for query, ranking in content.items()
    }
    if items_of(rankings, source):
        return RetrievedRun(rankings)
    return run_of_mapping(rankings, source, allow)


def _ranking(ranking: Any, where: str) -> Any:
    if isinstance(ranking, list) and any(isinstance(entry, dict) for entry in ranking):
        if stray := [entry for entry in ranking if not isinstance(entry, dict)]:
            raise ValueError(f"{where}: {stray[0]!r} is among objects; a ranking must hold either ids or objects")
        if all(entry.keys() == set(PREDICTED.values()) for entry in ranking):
            ranking = {
                "documents": [entry["corpus_id"] for entry in ranking],
                "scores": [entry["score"] for entry in ranking],
            }
            return _ranking(ranking, where)
        return [item_of(entry, where) for entry in ranking]
    if isinstance(ranking, dict) and isinstance(ranking.get("documents"), list):
        documents, scores = ranking["documents"], ranking.get("scores")
        if not isinstance(scores, list) or len(scores) != len(documents) or len(ranking) > 2:  # noqa: PLR2004  (the two)
            raise ValueError(f"{where}: there must be as many 'scores' as 'documents', and nothing else")
        if len(set(map(repr, documents))) < len(documents):
            raise ValueError(f"{where}: a document appears twice, with a score each time")
        return dict(zip(documents, scores, strict=True))
    return ranking


def items_of(rankings: Mapping[Any, Any], source: str) -> bool:
    """Return whether the rankings hold retrieved items rather than ids.

    Raises:
        ValueError: If only some of them do.
    """
    with_items = None
    for query, ranking in rankings.items():
        if isinstance(ranking, (list, tuple)) and not ranking:
            continue
        has = isinstance(ranking, (list, tuple)) and isinstance(ranking[0], Retrieved)
        if with_items is None:
            with_items = has
        if has != with_items or (has and not all(isinstance(item, Retrieved) for item in ranking)):
            raise ValueError(f"{source}, query {query!r}: rankings must hold either ids or retrieved items, not both")
    return bool(with_items)
