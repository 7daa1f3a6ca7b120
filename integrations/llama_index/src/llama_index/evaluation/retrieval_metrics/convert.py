"""What LlamaIndex users hold, for the core: nodes as rankings, datasets as questions with judgments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from llama_index.core.schema import Document, MetadataMode, NodeWithScore

from retrieval_metrics import EvaluationSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from retrieval_metrics.types import DocumentId, Judgments

Key: TypeAlias = Callable[[NodeWithScore], str | int]
Match: TypeAlias = str | Key

METADATA = "metadata:"


def key_of(match: Match) -> Key:
    """Return the function that gives a retrieved node the id it is judged by.

    Args:
        match: `"id"` (the node's), `"ref_doc_id"` (that of the document it was cut from), `"metadata:<key>"`, or a
            function of a `NodeWithScore`.

    Raises:
        ValueError: If it is none of these.
    """
    if callable(match):
        return match
    if match == "id":
        return _node_id
    if match == "ref_doc_id":
        return _ref_doc_id
    if isinstance(match, str) and match.startswith(METADATA) and match != METADATA:
        return _metadata(match.removeprefix(METADATA))
    msg = f"match must be 'id', 'ref_doc_id', 'metadata:<key>' or a function of a NodeWithScore, got {match!r}"
    raise ValueError(msg)


def _node_id(scored: NodeWithScore) -> DocumentId:
    return scored.node.node_id


def _ref_doc_id(scored: NodeWithScore) -> DocumentId:
    if isinstance(scored.node, Document):
        return scored.node.node_id  # a whole document was cut from none: it is the source itself
    if (source := scored.node.ref_doc_id) is None:
        msg = (
            f"node {scored.node.node_id!r} has no ref_doc_id: it was not cut from a Document by a node parser; use "
            "match='id', match='metadata:<key>' or a function"
        )
        raise ValueError(msg)
    return source


def _metadata(key: str) -> Key:
    def value(scored: NodeWithScore) -> DocumentId:
        if scored.node.metadata.get(key) is None:
            has = ", ".join(map(repr, scored.node.metadata)) or "none"
            msg = f"node {scored.node.node_id!r} has no metadata {key!r}, by which it is to be judged; it has {has}"
            raise ValueError(msg)
        found: DocumentId = scored.node.metadata[key]
        return found

    return value


def as_ranking(nodes: Sequence[NodeWithScore], match: Match) -> list[DocumentId]:
    """Return retrieved nodes as the ids they are judged by, in the order they came in: their scores are not looked at.

    Raises:
        ValueError: If a node lacks what it is to be judged by.
        TypeError: If a function of the user's gives something that is no id.
    """
    key = key_of(match)
    ranking = [key(scored) for scored in nodes]
    for scored, found in zip(nodes, ranking, strict=True):
        if not isinstance(found, (str, int)):
            msg = f"match must give every node an id, a str or an int; for node {scored.node.node_id!r} it is {found!r}"
            raise TypeError(msg)
    return ranking


def text_of(scored: NodeWithScore) -> str:
    """Return the text of any node, Documents included, for which `NodeWithScore.text` raises."""
    return scored.node.get_content(metadata_mode=MetadataMode.NONE)


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
    try:
        content = json.loads(Path(dataset).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        msg = f"{dataset} is no JSON: {error}"
        raise ValueError(msg) from error
    if not isinstance(content, Mapping) or not {"queries", "relevant_docs"} <= set(content):
        msg = (
            f"{dataset} must hold a JSON object with 'queries' and 'relevant_docs', as EmbeddingQAFinetuneDataset saves"
        )
        raise ValueError(msg)
    return EvaluationSet.of({"queries": content["queries"], "relevant_docs": content["relevant_docs"]})


def plain(judgments: Any) -> Any:
    """Return judgments as JSON has them: dicts and lists."""
    if isinstance(judgments, Mapping):
        return dict(judgments)
    if hasattr(judgments, "tolist"):
        return judgments.tolist()
    return [entry if isinstance(entry, (str, int)) else plain(entry) for entry in judgments]


def relevant_ids(judgments: Judgments) -> list[str]:
    """Return every id that is relevant, flattened: what a metric sees that knows neither grades nor groups."""
    found: dict[str, None] = {}
    for entry in (judgments := plain(judgments)):
        if isinstance(judgments, dict):
            found |= {str(entry): None} if judgments[entry] > 0 else {}
        elif isinstance(entry, (str, int)):
            found[str(entry)] = None
        else:
            found |= dict.fromkeys(relevant_ids(entry))
    return list(found)
