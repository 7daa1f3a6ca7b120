"""Read datasets of LlamaIndex, and convert the judgments in them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.schema import BaseNode, NodeWithScore

from retrieval_metrics import EvaluationSet, Text, read_questions
from retrieval_metrics.integration_api import warn
from retrieval_metrics.integration_api.text import read_json
from retrieval_metrics.types import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable

    from retrieval_metrics.types import DocumentId, Judgments, QuestionDataset

# Judgments as JSON holds them: grades by id, or relevant ids, or groups of them.
JsonJudgments: TypeAlias = "dict[DocumentId, float] | list[DocumentId | JsonJudgments]"


def read_dataset_content(dataset: QuestionDataset) -> Any:
    """Return what the JSON file of a dataset of LlamaIndex holds, with its corpus; questions of any other file.

    A dataset that is no path is returned as it is.
    """
    if not isinstance(dataset, (str, PathLike)):
        return dataset
    path = Path(dataset)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; a dataset is read from a file, or passed as it is")
    questions = read_questions(path)  # names the line of what it cannot read
    if path.suffix.lower() != ".json":
        return questions
    content = read_json(path)
    if isinstance(content, Mapping) and {"queries", "relevant_docs"} <= content.keys():
        return content
    return questions


def get_dataset_mode(dataset: object) -> RetrievalEvalMode:
    """Return the mode of a dataset, texts or images, as datasets of LlamaIndex and their JSON files hold it."""
    mode = None
    if not isinstance(dataset, Mapping):
        if hasattr(dataset, "queries"):
            mode = getattr(dataset, "mode", None)
    elif "queries" in dataset:  # a mapping without this key maps query texts to judgments
        mode = dataset.get("mode")
    return RetrievalEvalMode.TEXT if mode is None else RetrievalEvalMode(mode)


def match_by_text(dataset: QuestionDataset) -> EvaluationSet:
    """Return a dataset with relevant ids replaced by their texts, so that it can judge other chunks.

    Node ids change whenever an index is built. The text of a relevant node becomes a `Text` of the core: it counts as
    retrieved once the retrieved nodes together hold enough of it, however they are cut.

    Args:
        dataset: An object or a mapping with `queries`, `corpus` and `relevant_docs` (ids), or the path of its JSON
            file, as an EmbeddingQAFinetuneDataset wrote it, a class that llama-index-core has removed.

    Raises:
        TypeError: If it has another shape.
        ValueError: If a relevant id is not in the corpus, or its text there is empty.
        OSError: If the file cannot be read.

    Example:
        >>> dataset = {"queries": {"q": "why?"}, "corpus": {"n1": "because of that"}, "relevant_docs": {"q": ["n1"]}}
        >>> match_by_text(dataset).qrels
        {'q': [Text(text='because of that')]}
    """
    content = read_dataset_content(dataset)
    queries = _get_mapping(content, "queries")
    corpus = _get_mapping(content, "corpus")
    relevant_docs = _get_mapping(content, "relevant_docs")
    texts_by_query: dict[Any, list[Text]] = {}
    for query, relevant_ids in relevant_docs.items():
        for relevant_id in relevant_ids:
            if relevant_id not in corpus:
                raise ValueError(
                    f"{relevant_id!r}, relevant to query {query!r}, is not in the corpus of {len(corpus)} texts"
                )
        for relevant_id in relevant_ids:
            if not corpus[relevant_id].strip():
                raise ValueError(
                    f"the text of {relevant_id!r}, relevant to query {query!r}, is empty, so nothing can be found by it"
                )
        texts_by_query[query] = [Text(corpus[relevant_id]) for relevant_id in relevant_ids]
    return EvaluationSet.from_dataset({"queries": queries, "relevant_docs": texts_by_query})


def _get_mapping(dataset: object, name: str) -> Mapping[Any, Any]:
    """Return a mapping of a dataset by its name, such as its corpus."""
    mapping = dataset.get(name) if isinstance(dataset, Mapping) else getattr(dataset, name, None)
    if not isinstance(mapping, Mapping):
        raise TypeError(
            f"a dataset needs queries, corpus and relevant_docs; {name} of the {type(dataset).__name__} is {mapping!r}"
        )
    return mapping


def refuse_nodes(dataset: EvaluationSet) -> None:
    """Raise if the judgments hold a node instead of its id, because nodes cannot be compared."""
    for query, judgments in dataset.qrels.items():
        pending: list[Any] = [judgments]
        while pending:
            entry = pending.pop()
            if isinstance(entry, (list, tuple)):
                pending += entry
            elif isinstance(entry, (BaseNode, NodeWithScore)):
                raise TypeError(
                    f"a {type(entry).__name__} is among the judgments of query {query!r}; pass its ID, "
                    f"{entry.node_id!r}, or its text as rm.Text(...)"
                )


def make_single_question(query: str, expected_ids: Judgments | None, expected_texts: list[str] | None) -> EvaluationSet:
    """Return a set of one question, whose id is its text, with the expected ids or else the texts as judgments."""
    if not isinstance(query, str):
        raise TypeError(f"the query must be a str, got {query!r}")
    if expected_ids is not None:
        return EvaluationSet({query: query}, {query: expected_ids})
    if expected_texts is None:
        raise TypeError("evaluate needs expected_ids or expected_texts; if nothing is relevant, pass an empty list")
    if isinstance(expected_texts, str):
        raise TypeError(f"expected_texts is the bare string {expected_texts!r}; write a list: [{expected_texts!r}]")
    return EvaluationSet({query: query}, {query: [Text(text) for text in expected_texts]})


def to_json_judgments(judgments: Judgments) -> JsonJudgments:
    """Return judgments as values for JSON: dicts and lists, with a quote or a span as its repr."""
    if isinstance(judgments, Mapping):
        return {_to_json_id(entry): grade for entry, grade in judgments.items()}
    if hasattr(judgments, "tolist"):
        values: list[DocumentId | JsonJudgments] = judgments.tolist()
        return values
    return [_to_json_entry(entry) for entry in judgments]


def _to_json_entry(entry: DocumentId | Piece | Judgments) -> DocumentId | JsonJudgments:
    """Return an id, or the repr of a piece, or a group of them as a dict or a list."""
    if isinstance(entry, (str, int, Piece)):
        return _to_json_id(entry)
    return to_json_judgments(entry)


def _to_json_id(entry: DocumentId | Piece) -> DocumentId:
    if isinstance(entry, Piece):
        return repr(entry)
    return entry


def list_relevant_ids(judgments: JsonJudgments) -> list[str]:
    """Return the relevant ids of JSON judgments as a flat list, for metrics without grades and groups."""
    if isinstance(judgments, dict):
        return [str(document_id) for document_id, grade in judgments.items() if grade > 0]
    relevant_ids: dict[str, None] = {}
    for entry in judgments:
        entry_ids = [str(entry)] if isinstance(entry, (str, int)) else list_relevant_ids(entry)
        relevant_ids.update(dict.fromkeys(entry_ids))
    return list(relevant_ids)


def was_rebuilt(dataset: object, run: Mapping[Any, Any]) -> bool:
    """Return whether the ids of all nodes are unknown to the corpus of a dataset, which holds what is judged."""
    corpus = _get_any(dataset, "corpus")
    relevant_docs = _get_any(dataset, "relevant_docs")
    if not isinstance(corpus, Mapping) or not isinstance(relevant_docs, Mapping):
        return False
    for relevant_ids in relevant_docs.values():
        if not isinstance(relevant_ids, (list, tuple)) or not _have_texts(relevant_ids, corpus):
            return False
    has_text = False
    for items in run.values():
        for item in items:
            if item.id in corpus:
                return False
            has_text = has_text or bool(item.text)
    return has_text


def _get_any(dataset: object, name: str) -> Any:
    if isinstance(dataset, Mapping):
        return dataset.get(name)
    return getattr(dataset, name, None)


def _have_texts(relevant_ids: Iterable[Any], corpus: Mapping[Any, Any]) -> bool:
    for relevant_id in relevant_ids:
        if not isinstance(relevant_id, (str, int)):
            return False
        text = corpus.get(relevant_id)
        if not isinstance(text, str) or not text.strip():
            return False
    return True


def warn_about_rebuilt_index() -> None:
    """Warn that a dataset judges by its texts, because its ids are those of another index."""
    warn(
        "no retrieved node has an ID of the dataset's corpus: the index was probably rebuilt. Nodes are judged by the "
        "texts of the corpus; match_by_text(dataset) does so without this warning"
    )
