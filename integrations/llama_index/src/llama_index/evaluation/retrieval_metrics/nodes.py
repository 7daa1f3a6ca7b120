"""Convert nodes of LlamaIndex to items of the core, with their ids, texts, places and scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.schema import (
    BaseNode,
    Document,
    ImageNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    TextNode,
)

from retrieval_metrics import Retrieved
from retrieval_metrics.integration_api import as_list_of, finite_score_or_none

# Returns the name of a node's document, as used in a `Span`; None where there is none.
NameDocument: TypeAlias = Callable[[NodeWithScore], str | None]


class IdsAndTexts(NamedTuple):
    """The result of the hook of LlamaIndex's evaluators, which a subclass can override."""

    ids: list[str]
    texts: list[str]


def document_id(scored: NodeWithScore) -> str | None:
    """Return the id of the document that a node was cut from; of a document, its own id."""
    node = scored.node
    return node.node_id if isinstance(node, Document) else node.ref_doc_id


def as_retrieved(scored: NodeWithScore, name_document: NameDocument = document_id) -> Retrieved:
    """Return a node as an item of the core: its text, and its place in its document.

    Args:
        scored: A node; it is not changed.
        name_document: Returns the name of its document.
    """
    node = scored.node
    text = node_text(scored)
    offsets = _find_offsets(node, text)
    # A document is its own source. Nothing says whether the offsets of a node are those in its document: after a second
    # parser, they are those in a section, while the node still names the document.
    offsets_unverified = not isinstance(node, Document)
    return Retrieved(
        node.node_id,
        text,
        name_document(scored),
        offsets.start,
        offsets.end,
        finite_score_or_none(scored.score),
        node.metadata,
        offsets_unverified=offsets_unverified,
        contains=_find_children(node),
    )


def _find_children(node: BaseNode) -> tuple[str, ...]:
    """Return the ids of the nodes that were cut from a node, which an AutoMergingRetriever returns in their place."""
    children = node.relationships.get(NodeRelationship.CHILD)
    if not isinstance(children, list):
        return ()
    return tuple(child.node_id for child in children)


class _Offsets(NamedTuple):
    """Where a node begins and ends in the document that it was cut from; None where that is unknown."""

    start: int | None
    end: int | None


def _find_offsets(node: BaseNode, text: str) -> _Offsets:
    """Return the offsets of a node in the document that it was cut from."""
    if isinstance(node, Document):
        return _Offsets(0, len(text))  # a document is its own source, from its first character
    start = getattr(node, "start_char_idx", None)
    if start is None or start < 0:
        return _Offsets(None, None)
    end = getattr(node, "end_char_idx", None)
    # A node cut from another one, as by the HierarchicalNodeParser, has its place in that one, not in the document.
    if (end is not None and end < start) or node.parent_node is not None:
        return _Offsets(None, None)
    return _Offsets(start, end)


def get_nodes(answer: object) -> list[NodeWithScore]:
    """Return the nodes of an answer: a list of nodes, with or without scores, or a response with `source_nodes`."""
    nodes = as_list_of(
        getattr(answer, "source_nodes", answer),
        (NodeWithScore, BaseNode),
        "a retriever must return a list of nodes with scores, or a response with source_nodes",
    )
    return [node if isinstance(node, NodeWithScore) else NodeWithScore(node=node) for node in nodes]


def convert_items(answer: object) -> list[Retrieved]:
    """Return the nodes of an answer, or documents and nodes of a parser, as items with their own ids."""
    return [as_retrieved(scored) for scored in get_nodes(answer)]


def convert_nodes(
    answer: object, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT, name_document: NameDocument = document_id
) -> list[Retrieved]:
    """Return the nodes of an answer that count in a mode, as items of the core in their order."""
    if isinstance(answer, IdsAndTexts):
        return [Retrieved(node_id, text=text) for node_id, text in zip(answer.ids, answer.texts, strict=True)]
    counted_nodes = select_mode(get_nodes(answer), mode)
    return [as_retrieved(scored, name_document) for scored in counted_nodes]


def node_text(scored: NodeWithScore) -> str:
    """Return the text of any node, Documents included, for which `NodeWithScore.text` raises."""
    node = scored.node
    # Most nodes are plain TextNodes; calling their method takes three times as long as reading the attribute.
    text = node.text if type(node) is TextNode else node.get_content(metadata_mode=MetadataMode.NONE)
    # Readers keep the line ends of Windows, but spans are written against what `open` reads.
    return text.replace("\r\n", "\n") if isinstance(node, Document) else text


def select_mode(nodes: Sequence[NodeWithScore], mode: RetrievalEvalMode) -> Sequence[NodeWithScore]:
    """Return the nodes that count in a mode: only images, or everything, as in LlamaIndex's evaluators."""
    if mode != RetrievalEvalMode.IMAGE:
        return nodes
    return [scored for scored in nodes if isinstance(scored.node, ImageNode)]
