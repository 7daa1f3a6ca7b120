"""Retrieved nodes for the core: by which id they are judged, and what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from llama_index.core.schema import Document, MetadataMode, NodeWithScore

from retrieval_metrics import Matching, Retrieved

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        return _by_matching(match)
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


def _by_matching(matching: Matching) -> Key:
    def value(scored: NodeWithScore) -> DocumentId:
        found = matching.key(as_retrieved(scored, scored.node.node_id))
        return scored.node.node_id if found is None else found

    return value


def as_retrieved(scored: NodeWithScore, name: DocumentId) -> Retrieved:
    """Return a node as the core sees it: its text, and where it stands in the document it was cut from."""
    node = scored.node
    text = text_of(scored)
    whole = isinstance(node, Document)  # it was cut from none: it is the source itself, from its first character
    start = 0 if whole else getattr(node, "start_char_idx", None)
    end = len(text) if whole else getattr(node, "end_char_idx", None)
    return Retrieved(
        name,
        text=text,
        source=node.node_id if whole else node.ref_doc_id,
        start=start,
        end=None if start is None else end,
        score=scored.score,
        metadata=node.metadata,
    )


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
            raise TypeError(
                f"match must give every node an id, a str or an int; for node {scored.node.node_id!r} it is {found!r}"
            )
    return ranking


def text_of(scored: NodeWithScore) -> str:
    """Return the text of any node, Documents included, for which `NodeWithScore.text` raises."""
    return scored.node.get_content(metadata_mode=MetadataMode.NONE)


def as_items(nodes: Sequence[NodeWithScore], match: Match) -> list[Retrieved]:
    """Return retrieved nodes with all the core can compare with quotes, texts and spans, named by what `match` says."""
    # A Matching of the core looks at the items itself.
    names = as_ranking(nodes, "id" if isinstance(match, Matching) else match)
    return [as_retrieved(scored, name) for scored, name in zip(nodes, names, strict=True)]
