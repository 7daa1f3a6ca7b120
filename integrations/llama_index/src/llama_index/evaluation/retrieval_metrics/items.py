"""Convert retrieved nodes for the core."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.schema import BaseNode, Document, ImageNode, MetadataMode, NodeWithScore, TextNode

from retrieval_metrics import Matching, Retrieved
from retrieval_metrics.adapting import known_score, listed

if TYPE_CHECKING:
    from retrieval_metrics.types import DocumentId, MatchBy

Source: TypeAlias = str | Callable[[NodeWithScore], str | None]

METADATA = "metadata:"


def source_of(source: Source) -> Callable[[NodeWithScore], str | None]:
    """Return the function that returns the name of a node's document, as used in a `Span`.

    Args:
        source: `"ref_doc_id"`, a key of the metadata such as `"file_name"`, or a function of a `NodeWithScore`.

    Raises:
        ValueError: If it is none of these.
    """
    if callable(source):
        return source
    if not isinstance(source, str) or not source:
        raise ValueError(
            f"source must be 'ref_doc_id', a metadata key such as 'file_name', or a function of a node; got {source!r}"
        )
    if source == "ref_doc_id":
        return _document_id
    name = source.removeprefix(METADATA)

    def value(scored: NodeWithScore) -> str:
        if (found := scored.node.metadata.get(name)) is None:
            has = ", ".join(map(repr, scored.node.metadata)) or "none"
            raise ValueError(
                f"node {scored.node.node_id!r} has no metadata {name!r} to name its document; it has {has}"
            )
        return str(found)

    return value


def _document_id(scored: NodeWithScore) -> str | None:
    node = scored.node
    return node.node_id if isinstance(node, Document) else node.ref_doc_id


def one_document_each(source: Source, judged: Collection[str]) -> Callable[[NodeWithScore], str | None]:
    """Return the function of `source_of`, which raises once two documents have one name that spans refer to.

    Args:
        source: The name of a node's document, as in `source_of`.
        judged: The sources of the judged spans.
    """
    named = source_of(source)
    documents: dict[str, str | None] = {}

    def name(scored: NodeWithScore) -> str | None:
        found = named(scored)
        if found is not None and found in judged:
            document = _document_id(scored)
            other = documents.setdefault(found, document)
            if other != document:
                raise ValueError(
                    f"the documents {other!r} and {document!r} are both named {found!r} by source={source!r}, as the "
                    f"pages of one file are, so a span of {found!r} could mean either; name the document of a span by "
                    "its doc_id and pass source='ref_doc_id', or use a function that tells pages apart: "
                    "source=lambda node: f\"{node.metadata['file_name']}#{node.metadata['page_label']}\""
                )
        return found

    return name


def source_texts(documents: Iterable[Document], source: Source = "ref_doc_id") -> dict[str, str]:
    """Return the texts of documents by name, for `Matching(sources=...)`, which searches for chunks in them.

    Args:
        documents: Documents, as returned by a reader.
        source: The name of a document, as in `RetrieverEvaluator`.

    Raises:
        ValueError: If two documents with different texts have the same name, or a document has none.

    Example:
        >>> source_texts([Document(text="Slots save memory.", metadata={"file_name": "slots.md"})], "file_name")
        {'slots.md': 'Slots save memory.'}
    """
    texts: dict[str, str] = {}
    name_of = source_of(source)
    for document in documents:
        scored = NodeWithScore(node=document)
        name, text = name_of(scored), text_of(scored)
        if name is None:
            raise ValueError(f"document {document.node_id!r} has no name by source={source!r}")
        if texts.setdefault(name, text) != text:
            raise ValueError(
                f"two documents are named {name!r} and have different texts, as the pages of one file do; name them by "
                "source=lambda node: f\"{node.metadata['file_name']}#{node.metadata['page_label']}\", or by ref_doc_id"
            )
    return texts


def texts_by_name(documents: Any, source: Source) -> Any:
    """Return the texts of documents by name; None, or a mapping of names to texts, as it is."""
    return documents if documents is None or isinstance(documents, Mapping) else source_texts(documents, source)


def as_retrieved(scored: NodeWithScore, source: Callable[[NodeWithScore], str | None] = _document_id) -> Retrieved:
    """Return a node as an item of the core: its text, and its place in its document.

    Args:
        scored: A node; it is not changed.
        source: The name of its document.
    """
    node = scored.node
    text = text_of(scored)
    start, end = _offsets(node, text)
    # A document is its own source. Nothing says whether the offsets of a node are those in its document: after a second
    # parser, they are those in a section, while the node still names the document.
    claimed = not isinstance(node, Document)
    return Retrieved(
        node.node_id, text, source(scored), start, end, known_score(scored.score), node.metadata, claimed=claimed
    )


def _offsets(node: BaseNode, text: str) -> tuple[int | None, int | None]:
    """Return start and end in the document that a node was cut from; None if they are unknown."""
    if isinstance(node, Document):
        return 0, len(text)  # a document is its own source, from its first character
    start = getattr(node, "start_char_idx", None)
    if start is None or start < 0:
        return None, None
    end = getattr(node, "end_char_idx", None)
    # A node cut from another one, as by the HierarchicalNodeParser, has its place in that one, not in the document.
    if (end is not None and end < start) or node.parent_node is not None:
        return None, None
    return start, end


def nodes_of(answer: Any) -> list[NodeWithScore]:
    """Return the nodes of an answer: a list of nodes, with or without scores, or a response with `source_nodes`.

    Raises:
        TypeError: If it is neither.
    """
    found = getattr(answer, "source_nodes", answer)
    said = "a retriever must return a list of nodes with scores, or a response with source_nodes"
    found = listed(found, (NodeWithScore, BaseNode), said)
    return [one if isinstance(one, NodeWithScore) else NodeWithScore(node=one) for one in found]


def items_of(answer: Any) -> list[Retrieved]:
    """Return the nodes of an answer, or documents and nodes of a parser, as items with their own ids.

    Raises:
        TypeError: If they are anything else.
    """
    return [as_retrieved(one) for one in nodes_of(answer)]


def named_by(match: MatchBy) -> Callable[[Retrieved], DocumentId | None]:
    """Return the function that returns what is compared with the ids of the judgments.

    Raises:
        ValueError: If it is unknown.
    """
    return (match if isinstance(match, Matching) else Matching(by=match)).key


def ids_of(items: Sequence[Retrieved], name_of: Callable[[Retrieved], DocumentId | None]) -> list[str]:
    """Return what items are judged by, as text; where a node lacks it, the id of the node."""
    return [str(item.id if (found := name_of(item)) is None else found) for item in items]


def text_of(scored: NodeWithScore) -> str:
    """Return the text of any node, Documents included, for which `NodeWithScore.text` raises."""
    node = scored.node
    # Most nodes are plain TextNodes; calling their method takes three times as long as reading the attribute.
    return node.text if type(node) is TextNode else node.get_content(metadata_mode=MetadataMode.NONE)


class IdsAndTexts(NamedTuple):
    """The result of the hook of LlamaIndex's evaluators, which a subclass can override."""

    ids: list[str]
    texts: list[str]


def of_mode(nodes: Sequence[NodeWithScore], mode: RetrievalEvalMode) -> Sequence[NodeWithScore]:
    """Return the nodes that count in a mode: only images, or everything, as in LlamaIndex's evaluators."""
    if mode != RetrievalEvalMode.IMAGE:
        return nodes
    return [scored for scored in nodes if isinstance(scored.node, ImageNode)]


def as_items(
    nodes: Any, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT, source: Source = "ref_doc_id"
) -> list[Retrieved]:
    """Return retrieved nodes as items of the core, in their order.

    Args:
        nodes: The nodes, a response with them, or ids and texts in their place.
        mode: Which nodes count.
        source: The name of a node's document.

    Raises:
        ValueError: If there are not as many texts as ids.
    """
    if isinstance(nodes, IdsAndTexts):
        return [Retrieved(name, text=text) for name, text in zip(*nodes, strict=True)]
    named = source_of(source)
    return [as_retrieved(scored, named) for scored in of_mode(nodes_of(nodes), mode)]
