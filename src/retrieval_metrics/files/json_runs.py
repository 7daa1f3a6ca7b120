"""Read runs from JSON files: a mapping of queries to rankings, or the predictions of MTEB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from retrieval_metrics.inputs.batch import Batch
from retrieval_metrics.inputs.column_detection import DOCUMENT_COLUMNS, REQUIRED, SCORE_COLUMNS
from retrieval_metrics.inputs.dataframes import LongTable
from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.json_codec import decode_item
from retrieval_metrics.inputs.retrieved_run import RetrievedRun
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection

    from retrieval_metrics._internal.plain_types import IntArray

# The key that marks a file of predictions of MTEB; it stands beside the subsets.
MTEB_KEY = "mteb_model_meta"


def select_mteb_rankings(
    content: Mapping[str, Any], source: str, subset: str | None = None, split: str | None = None
) -> Mapping[str, Any]:
    """Return the rankings of a file of predictions of MTEB; any other content as it is."""
    if MTEB_KEY not in content:
        if subset is not None or split is not None:
            raise ValueError(f"{source} holds no predictions of MTEB, so it has no subset and no split to choose")
        return content
    rankings_by_subset = {name: value for name, value in content.items() if name != MTEB_KEY}
    rankings_by_split = _select_section(rankings_by_subset, source, "subset", subset)
    return _select_section(rankings_by_split, source, "split", split)


def _select_section(
    sections: Mapping[str, Any], source: str, option: Literal["subset", "split"], name: str | None
) -> Mapping[str, Any]:
    """Return the subset or split with a name; without a name, the only one."""
    if name is None:
        if len(sections) != 1:
            names = ", ".join(sections)
            raise ValueError(f"{source} holds {len(sections)} {option}s, {names}; choose one with {option}=")
        (name,) = sections
    elif name not in sections:
        raise ValueError(f"{source} holds no {option} {name!r}; it holds {', '.join(sections)}")
    section = sections[name]
    if not isinstance(section, Mapping):
        raise ValueError(f"{source}: a {option} must be an object, got {section!r}")
    return section


def read_run_mapping(rankings: Mapping[Any, Any], source: str, allow: Collection[str] = ("blanks",)) -> Run:
    """Return the run in a mapping of queries to documents with scores, or to documents best first."""
    scored: dict[Any, Mapping[Any, Any]] = {}
    ordered: dict[Any, Any] = {}
    for query, ranking in rankings.items():
        if isinstance(ranking, Mapping):
            scored[query] = ranking
        elif isinstance(ranking, (list, tuple)):
            _require_no_pairs(ranking, f"{source}, query {query!r}")
            ordered[query] = ranking
        else:
            raise ValueError(
                f"{source}, query {query!r}: a ranking must be a list of documents, best first, or an object of "
                f"documents with scores, got {ranking!r}"
            )
    batches = []
    if scored:
        batches.append(_read_scored(scored, source, allow))
    if ordered:
        batches.append(_read_ordered(ordered, source, allow))
    return Run(batches)


def _require_no_pairs(ranking: Collection[Any], where: str) -> None:
    """Raise if a ranking holds pairs of documents and scores, or other lists."""
    for element in ranking:
        if isinstance(element, (list, tuple)):
            raise ValueError(
                f"{where}: the ranking holds lists such as {element!r}; write an object of documents with scores, "
                '{"d1": 9.5}, or a list of documents, best first'
            )


def _read_scored(rankings: Mapping[Any, Mapping[Any, Any]], source: str, allow: Collection[str]) -> Batch:
    documents: list[Any] = []
    scores: list[Any] = []
    for ranking in rankings.values():
        documents.extend(ranking)
        scores.extend(ranking.values())
    columns = {"document": _as_column(documents), "score": scores}
    table = LongTable(columns, dict.fromkeys(columns, REQUIRED), None, source, allow=allow)
    return Batch(list(rankings), _compute_bounds(rankings), table.ids("document"), table.numbers("score"))


def _read_ordered(rankings: Mapping[Any, Any], source: str, allow: Collection[str]) -> Batch:
    documents: list[Any] = []
    for ranking in rankings.values():
        documents.extend(ranking)
    columns = {"document": _as_column(documents)}
    table = LongTable(columns, dict.fromkeys(columns, REQUIRED), None, source, allow=allow)
    return Batch(list(rankings), _compute_bounds(rankings), table.ids("document"), None)


def _as_column(documents: list[Any]) -> Any:
    """Return documents as a column; an empty column needs its type, text, to be stated."""
    import polars as pl

    return documents or pl.Series([], dtype=pl.String)


def _compute_bounds(rankings: Mapping[Any, Any]) -> IntArray:
    """Return where each ranking begins in the concatenation of all, and where the last ends."""
    return np.cumsum([0, *map(len, rankings.values())])


def read_json_run(content: Mapping[str, Any], source: str, allow: Collection[str]) -> Run | RetrievedRun:
    """Return the run of a JSON file.

    Its rankings are as in `read_run_mapping`, or lists of objects, or a list of documents beside one of scores.
    """
    rankings: dict[Any, Any] = {}
    for query, ranking in content.items():
        rankings[query] = _read_ranking(ranking, f"{source}, query {query!r}")
    if has_items(rankings, source):
        return RetrievedRun(rankings)
    return read_run_mapping(rankings, source, allow)


def _read_ranking(ranking: Any, where: str) -> Any:
    if isinstance(ranking, list) and any(isinstance(entry, dict) for entry in ranking):
        return _read_objects(ranking, where)
    if isinstance(ranking, dict) and isinstance(ranking.get("documents"), list):
        scores = ranking.get("scores")
        if not isinstance(scores, list) or len(scores) != len(ranking["documents"]) or len(ranking) > 2:
            raise ValueError(f"{where}: there must be as many 'scores' as 'documents', and nothing else")
        return _score_documents(ranking["documents"], scores, where)
    return ranking


def _read_objects(entries: list[Any], where: str) -> Any:
    """Return objects as items, or as documents with scores if they have nothing else."""
    for entry in entries:
        if not isinstance(entry, dict):
            raise ValueError(f"{where}: {entry!r} is among objects; a ranking must hold either IDs or objects")
    first = entries[0]
    id_keys: set[str] = set()
    if "id" not in first:
        id_keys = {key for key in first if key in DOCUMENT_COLUMNS}
    score_keys = [key for key in first if key in SCORE_COLUMNS]
    if len(id_keys) == 1 and score_keys:
        (id_key,) = id_keys
        score_key = score_keys[0]
        if all(entry.keys() == {id_key, score_key} for entry in entries):
            documents = [entry[id_key] for entry in entries]
            scores = [entry[score_key] for entry in entries]
            return _score_documents(documents, scores, where)
    items = []
    for entry in entries:
        fields = {"id" if key in id_keys else key: value for key, value in entry.items()}
        items.append(decode_item(fields, where))
    return items


def _score_documents(documents: list[Any], scores: list[Any], where: str) -> dict[Any, Any]:
    if len(set(map(repr, documents))) < len(documents):
        raise ValueError(f"{where}: a document appears twice, with a score each time")
    return dict(zip(documents, scores, strict=True))


def has_items(rankings: Mapping[Any, Any], source: str) -> bool:
    """Return whether the rankings hold retrieved items rather than ids."""
    run_has_items = None
    for query, ranking in rankings.items():
        is_list = isinstance(ranking, (list, tuple))
        if is_list and not ranking:
            continue
        ranking_has_items = is_list and isinstance(ranking[0], Retrieved)
        if run_has_items is None:
            run_has_items = ranking_has_items
        is_mixed = ranking_has_items and not all(isinstance(item, Retrieved) for item in ranking)
        if is_mixed or ranking_has_items != run_has_items:
            raise ValueError(f"{source}, query {query!r}: rankings must hold either IDs or retrieved items, not both")
    return bool(run_has_items)
