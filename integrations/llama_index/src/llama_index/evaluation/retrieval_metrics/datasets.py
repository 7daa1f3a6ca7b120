"""Questions and judgments of LlamaIndex: read, checked, and written for JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.schema import BaseNode, NodeWithScore

from retrieval_metrics import EvaluationSet, Text
from retrieval_metrics.types import Piece

if TYPE_CHECKING:
    from retrieval_metrics.types import Judgments


def content_of(dataset: Any) -> Any:
    """Return the content of a JSON file of an EmbeddingQAFinetuneDataset or a LabelledRagDataset; others as they are.

    Raises:
        ValueError: If it is not such a file.
        OSError: If it cannot be read.
    """
    if not isinstance(dataset, (str, Path)):
        return dataset
    try:
        content = json.loads(Path(dataset).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{dataset} is not JSON: {error}") from error
    if not isinstance(content, Mapping) or not ({"queries", "relevant_docs"} <= set(content) or "examples" in content):
        raise ValueError(
            f"{dataset} must hold a JSON object with 'queries' and 'relevant_docs', as EmbeddingQAFinetuneDataset saves"
        )
    return content


def mode_of(dataset: Any) -> RetrievalEvalMode:
    """Return the mode of a dataset, as in `mode` of EmbeddingQAFinetuneDataset and its JSON: texts or images.

    Raises:
        ValueError: If the mode is anything else.
    """
    if isinstance(dataset, Mapping):
        said = dataset.get("mode") if "queries" in dataset else None  # otherwise it maps query texts to judgments
    else:
        said = getattr(dataset, "mode", None) if hasattr(dataset, "queries") else None
    return RetrievalEvalMode.TEXT if said is None else RetrievalEvalMode(said)


def judged_by_text(dataset: Any) -> EvaluationSet:
    """Return a dataset with relevant ids replaced by their texts, so that it can judge other chunks.

    Node ids change whenever an index is built. The text of a relevant node becomes a `Text` of the core: it counts as
    retrieved once the retrieved nodes together hold enough of it, however they are cut.

    Args:
        dataset: An object or a mapping with `queries`, `corpus` and `relevant_docs` (ids), or the path of its JSON
            file, such as an EmbeddingQAFinetuneDataset.

    Raises:
        TypeError: If it has another shape.
        ValueError: If a relevant id is not in the corpus, or its text there is empty.
        OSError: If the file cannot be read.

    Example:
        >>> dataset = {"queries": {"q": "why?"}, "corpus": {"n1": "because of that"}, "relevant_docs": {"q": ["n1"]}}
        >>> judged_by_text(dataset).qrels
        {'q': [Text(text='because of that')]}
    """
    content = content_of(dataset)
    queries, corpus, relevant_docs = (_part(content, name) for name in ("queries", "corpus", "relevant_docs"))
    texts: dict[Any, list[Text]] = {}
    for query, relevant in relevant_docs.items():
        if lost := [name for name in relevant if name not in corpus]:
            raise ValueError(f"{lost[0]!r}, relevant to query {query!r}, is not in the corpus of {len(corpus)} texts")
        if empty := [name for name in relevant if not corpus[name].strip()]:
            raise ValueError(
                f"the text of {empty[0]!r}, relevant to query {query!r}, is empty, so nothing can be found by it"
            )
        texts[query] = [Text(corpus[name]) for name in relevant]
    return EvaluationSet.of({"queries": queries, "relevant_docs": texts})


def _part(dataset: Any, name: str) -> Mapping[Any, Any]:
    part = dataset.get(name) if isinstance(dataset, Mapping) else getattr(dataset, name, None)
    if not isinstance(part, Mapping):
        kind = type(dataset).__name__
        raise TypeError(f"a dataset needs queries, corpus and relevant_docs; {name} of the {kind} is {part!r}")
    return part


def refuse_nodes(dataset: EvaluationSet) -> None:
    """Raise if a node is given in place of its id; a node cannot be looked up.

    Raises:
        TypeError: If there is one; the message names it.
    """
    for query, judgments in dataset.qrels.items():
        waiting: list[Any] = [judgments]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, (list, tuple)):
                waiting += entry
            elif isinstance(entry, (BaseNode, NodeWithScore)):
                raise TypeError(
                    f"a {type(entry).__name__} is among the judgments of query {query!r}; pass its id, "
                    f"{entry.node_id!r}, or its text as rm.Text(...)"
                )


def single_question(query: str, expected_ids: Judgments | None, expected_texts: list[str] | None) -> EvaluationSet:
    """Return one question whose id is its text; without ids, the expected texts are its judgments.

    Raises:
        TypeError: If there is neither, or the query is not a text.
    """
    if not isinstance(query, str):
        raise TypeError(f"the query must be a str, got {query!r}")
    if expected_ids is not None:
        return EvaluationSet({query: query}, {query: expected_ids})
    if expected_texts is None:
        raise TypeError("evaluate needs expected_ids or expected_texts; if nothing is relevant, pass an empty list")
    if isinstance(expected_texts, str):
        raise TypeError(f"expected_texts is the bare string {expected_texts!r}; write a list: [{expected_texts!r}]")
    return EvaluationSet({query: query}, {query: [Text(text) for text in expected_texts]})


def plain(judgments: Any) -> Any:
    """Return judgments as values for JSON: dicts and lists, with a quote or a span as its repr."""
    if isinstance(judgments, Mapping):
        return {repr(entry) if isinstance(entry, Piece) else entry: grade for entry, grade in judgments.items()}
    if isinstance(judgments, Piece):
        return repr(judgments)
    if hasattr(judgments, "tolist"):
        return judgments.tolist()
    return [entry if isinstance(entry, (str, int)) else plain(entry) for entry in judgments]


def relevant_ids(judgments: Any) -> list[str]:
    """Return everything relevant in plain judgments as a flat list, for metrics without grades and groups."""
    if isinstance(judgments, dict):
        return [str(name) for name, grade in judgments.items() if grade > 0]
    flat = [[str(entry)] if isinstance(entry, (str, int)) else relevant_ids(entry) for entry in judgments]
    return list(dict.fromkeys(name for names in flat for name in names))
