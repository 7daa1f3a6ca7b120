"""Questions and judgments as LlamaIndex users hold them, for the core and for JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode

from retrieval_metrics import EvaluationSet, Text
from retrieval_metrics.adapting import Piece

if TYPE_CHECKING:
    from retrieval_metrics.adapting import DocumentId, Judgments


def as_evaluation_set(dataset: Any) -> EvaluationSet:
    """Return questions with judgments from what LlamaIndex users have.

    Args:
        dataset: Whatever `EvaluationSet.of` reads, or the path of a JSON file with `queries` and `relevant_docs`, as
            EmbeddingQAFinetuneDataset used to save.

    Raises:
        TypeError: If it has another shape.
        ValueError: If it is empty or incomplete, or the file is no JSON of that kind.
        OSError: If the file cannot be read.
    """
    if not isinstance(dataset, (str, Path)):
        return EvaluationSet.of(dataset)
    content = _read_json(dataset)
    return EvaluationSet.of({"queries": content["queries"], "relevant_docs": content["relevant_docs"]})


def mode_of(dataset: Any) -> RetrievalEvalMode:
    """Return what a dataset is about, as EmbeddingQAFinetuneDataset and its JSON say in `mode`: texts or images.

    Raises:
        ValueError: If it says something else.
    """
    if isinstance(dataset, (str, Path)):
        dataset = _read_json(dataset)
    said = dataset.get("mode") if isinstance(dataset, Mapping) else getattr(dataset, "mode", None)
    if isinstance(dataset, Mapping) and "queries" not in dataset:
        said = None  # a mapping of query texts to judgments
    return RetrievalEvalMode.TEXT if said is None else RetrievalEvalMode(said)


def judged_by_text(dataset: Any) -> EvaluationSet:
    """Return a dataset whose relevant ids are replaced by their texts, so that other chunks can be judged by it.

    The ids of nodes are made anew whenever an index is built. The text of a relevant node is found by the core as a
    `Text`: it counts as retrieved once the retrieved nodes together hold enough of it, however they are cut.

    Args:
        dataset: An object or a mapping with `queries`, `corpus` and `relevant_docs` (ids), or the path of its JSON
            file, as EmbeddingQAFinetuneDataset has and saves them.

    Raises:
        TypeError: If it has another shape.
        ValueError: If a relevant id is not in the corpus, or its text there is empty.
        OSError: If the file cannot be read.

    Example:
        >>> dataset = {"queries": {"q": "why?"}, "corpus": {"n1": "because of that"}, "relevant_docs": {"q": ["n1"]}}
        >>> judged_by_text(dataset).qrels
        {'q': [Text(text='because of that')]}
    """
    content = _read_json(dataset) if isinstance(dataset, (str, Path)) else dataset
    queries, corpus, relevant_docs = (_part(content, name) for name in ("queries", "corpus", "relevant_docs"))
    texts: dict[Any, list[Text]] = {}
    for query, relevant in relevant_docs.items():
        if lost := [name for name in relevant if name not in corpus]:
            raise ValueError(f"{lost[0]!r}, relevant for query {query!r}, is not in the corpus of {len(corpus)} texts")
        if empty := [name for name in relevant if not corpus[name].strip()]:
            raise ValueError(
                f"the text of {empty[0]!r}, relevant for query {query!r}, is empty, so nothing can be found by it"
            )
        texts[query] = [Text(corpus[name]) for name in relevant]
    return EvaluationSet.of({"queries": queries, "relevant_docs": texts})


def _part(dataset: Any, name: str) -> Mapping[Any, Any]:
    part = dataset.get(name) if isinstance(dataset, Mapping) else getattr(dataset, name, None)
    if not isinstance(part, Mapping):
        kind = type(dataset).__name__
        raise TypeError(f"a dataset with texts has queries, corpus and relevant_docs; {name} of the {kind} is {part!r}")
    return part


def _read_json(dataset: str | Path) -> Mapping[str, Any]:
    try:
        content = json.loads(Path(dataset).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{dataset} is no JSON: {error}") from error
    if not isinstance(content, Mapping) or not {"queries", "relevant_docs"} <= set(content):
        raise ValueError(
            f"{dataset} must hold a JSON object with 'queries' and 'relevant_docs', as EmbeddingQAFinetuneDataset saves"
        )
    return content


def plain(judgments: Any) -> Any:
    """Return judgments as JSON has them: dicts and lists, in which a quote or a span is its repr."""
    if isinstance(judgments, Mapping):
        return {_name(entry): grade for entry, grade in judgments.items()}
    if hasattr(judgments, "tolist"):
        return judgments.tolist()
    return [_name(entry) if isinstance(entry, (str, int, Piece)) else plain(entry) for entry in judgments]


def _name(entry: DocumentId | Piece) -> DocumentId:
    return repr(entry) if isinstance(entry, Piece) else entry


def relevant_ids(judgments: Judgments) -> list[str]:
    """Return everything that is relevant, flattened: what a metric sees that knows neither grades nor groups."""
    entries = plain(judgments)
    if isinstance(entries, dict):
        return [str(name) for name, grade in entries.items() if grade > 0]
    flat = [[str(entry)] if isinstance(entry, (str, int)) else relevant_ids(entry) for entry in entries]
    return list(dict.fromkeys(name for names in flat for name in names))
