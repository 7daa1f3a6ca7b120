"""Retrieved nodes for the core: by which id they are judged, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from llama_index.core.evaluation.retrieval.base import RetrievalEvalMode
from llama_index.core.schema import BaseNode, Document, ImageNode, MetadataMode, NodeWithScore

from retrieval_metrics import Matching, Retrieved

if TYPE_CHECKING:
    from retrieval_metrics.adapting import DocumentId

Key: TypeAlias = Callable[[NodeWithScore], str | int]
Match: TypeAlias = str | Key | Matching

METADATA = "metadata:"


def key_of(match: Match) -> Key:
    """Return the function that gives a retrieved node the id it is judged by.

    Args:
        match: `"id"` (the node's), `"ref_doc_id"` (that of the document it was cut from), `"metadata:<key>"`, a
            function of a `NodeWithScore`, or the core's `Matching`.

    Raises:
        ValueError: If it is none of these.
    """
    if isinstance(match, Matching):
        return _node_id  # the core looks at the items itself
    if callable(match):
        return match
    if match == "id":
        return _node_id
    if match == "ref_doc_id":
        return _ref_doc_id
    if isinstance(match, str) and match.startswith(METADATA) and match != METADATA:
        return _metadata(match.removeprefix(METADATA))
    raise ValueError(
        "match must be 'id', 'ref_doc_id', 'metadata:<key>', a function of a NodeWithScore or a Matching, got "
        f"{match!r}; quotes, texts and spans in the judgments are found whatever match is"
    )


def _node_id(scored: NodeWithScore) -> DocumentId:
    return scored.node.node_id


def _ref_doc_id(scored: NodeWithScore) -> DocumentId:
    if isinstance(scored.node, Document):
        return scored.node.node_id  # a whole document was cut from none: it is the source itself
    if (source := scored.node.ref_doc_id) is None:
        raise ValueError(
            f"node {scored.node.node_id!r} has no ref_doc_id: it was not cut from a Document by a node parser; use "
            "match='id', match='metadata:<key>' or a function"
        )
    return source


def _metadata(key: str) -> Key:
    def value(scored: NodeWithScore) -> DocumentId:
        if scored.node.metadata.get(key) is None:
            has = ", ".join(map(repr, scored.node.metadata)) or "none"
            raise ValueError(
                f"node {scored.node.node_id!r} has no metadata {key!r}, by which it is to be judged; it has {has}"
            )
        found: DocumentId = scored.node.metadata[key]
        return found

    return value


def as_retrieved(scored: NodeWithScore, name: DocumentId | None = None) -> Retrieved:
    """Return a node as the core sees it: its text, and where it stands in the document it was cut from.

    Args:
        scored: A node; it is not changed.
        name: The id it is judged by; None takes its own.
    """
    node = scored.node
    text = text_of(scored)
    start, end = _offsets(node, text)
    return Retrieved(
        node.node_id if name is None else name,
        text=text,
        source=node.node_id if isinstance(node, Document) else node.ref_doc_id,
        start=start,
        end=end,
        score=scored.score,
        metadata=node.metadata,
    )


def _offsets(node: BaseNode, text: str) -> tuple[int | None, int | None]:
    """Return start and end in the document that a node was cut from; None where they are not known."""
    if isinstance(node, Document):
        return 0, len(text)  # it was cut from none: it is the source itself, from its first character
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    # Cut from another node, as by the HierarchicalNodeParser, it has its place in that one, not in the document.
    if node.parent_node is not None or start is None or start < 0 or (end is not None and end < start):
        return None, None
    return start, end


def items_of(nodes: Any) -> list[Retrieved]:
    """Return what a retriever returned, or documents and nodes as a parser makes them, each under its own id.

    Raises:
        TypeError: If they are neither.
    """
    if isinstance(nodes, (str, Mapping)) or not isinstance(nodes, Sequence):
        raise TypeError(f"a retriever must return a list of nodes with scores, got {type(nodes).__name__}")
    if stray := [one for one in nodes if not isinstance(one, (NodeWithScore, BaseNode))]:
        raise TypeError(f"a retriever must return a list of nodes with scores; it holds {stray[0]!r}")
    return [as_retrieved(one if isinstance(one, NodeWithScore) else NodeWithScore(node=one)) for one in nodes]


def ids_of(items: Sequence[Retrieved], match: Match) -> list[DocumentId | None]:
    """Return the ids by which items of `as_items` are judged; a `Matching` that finds none shows that of the node."""
    if not isinstance(match, Matching):
        return [item.id for item in items]
    return [item.id if (found := match.key(item)) is None else found for item in items]


def text_of(scored: NodeWithScore) -> str:
    """Return the text of any node, Documents included, for which `NodeWithScore.text` raises."""
    return scored.node.get_content(metadata_mode=MetadataMode.NONE)


class IdsAndTexts(NamedTuple):
    """What the hook of the host's evaluators returns, which a subclass may override."""

    ids: list[str]
    texts: list[str]


def of_mode(nodes: Sequence[NodeWithScore], mode: RetrievalEvalMode) -> Sequence[NodeWithScore]:
    """Return the nodes that count in a mode: images alone, or everything, as the host's evaluators do."""
    if mode != RetrievalEvalMode.IMAGE:
        return nodes
    return [scored for scored in nodes if isinstance(scored.node, ImageNode)]


def as_items(
    nodes: Sequence[NodeWithScore] | IdsAndTexts, match: Match, mode: RetrievalEvalMode = RetrievalEvalMode.TEXT
) -> list[Retrieved]:
    """Return retrieved nodes as items named by what `match` says, in the order they came in.

    Args:
        nodes: The nodes, or the ids and texts that stand for them.
        match: What identifies a node.
        mode: Which nodes count.

    Raises:
        ValueError: If a node lacks what it is to be judged by, or there are not as many texts as ids.
        TypeError: If a function of the user's gives something that is not an id.
    """
    if isinstance(nodes, IdsAndTexts):
        return [Retrieved(name, text=text) for name, text in zip(*nodes, strict=True)]
    nodes = of_mode(nodes, mode)
    key = key_of(match)
    names = [key(scored) for scored in nodes]
    for scored, found in zip(nodes, names, strict=True):
        if not isinstance(found, (str, int)):
            raise TypeError(
                f"match must give every node an id, a str or an int; for node {scored.node.node_id!r} it is {found!r}"
            )
    return [as_retrieved(scored, name) for scored, name in zip(nodes, names, strict=True)]
