"""Name the documents that nodes were cut from, as spans and judgments refer to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NoReturn, TypeAlias
from uuid import UUID

from llama_index.core.schema import Document, NodeWithScore

from llama_index.evaluation.retrieval_metrics.datasets import list_relevant_ids, to_json_judgments
from llama_index.evaluation.retrieval_metrics.nodes import NameDocument, document_id, node_text
from retrieval_metrics import Matching

if TYPE_CHECKING:
    from retrieval_metrics import EvaluationSet
    from retrieval_metrics.integration_api import EvaluationTask
    from retrieval_metrics.types import MatchBy

Source: TypeAlias = str | Callable[[NodeWithScore], str | None]
# The documents that nodes were cut from, as a reader returns them, or their texts by name.
LoadedDocuments: TypeAlias = Iterable[Document] | Mapping[str, str]

METADATA_PREFIX = "metadata:"


def resolve_source(source: Source) -> NameDocument:
    """Return the function that returns the name of a node's document, as used in a `Span`."""
    if callable(source):
        return source
    if not isinstance(source, str) or not source:
        raise ValueError(
            f"source must be 'ref_doc_id', a metadata key such as 'file_name', or a function of a node; got {source!r}"
        )
    if source == "ref_doc_id":
        return document_id
    key = source.removeprefix(METADATA_PREFIX)

    def name_document(scored: NodeWithScore) -> str:
        name = scored.node.metadata.get(key)
        if name is None:
            keys = ", ".join(map(repr, scored.node.metadata)) or "none"
            raise ValueError(
                f"node {scored.node.node_id!r} has no metadata {key!r} to name its document; it has {keys}"
            )
        return str(name)

    return name_document


def resolve_judged_source(
    task: EvaluationTask, questions: EvaluationSet, match: MatchBy, source: Source
) -> NameDocument:
    """Return the function that names a node's document; it raises if a random id would meet judged names."""
    name_document = _require_one_document_per_name(source, task.sources)
    match_by = match.by if isinstance(match, Matching) else match
    if match_by != "source" or source != "ref_doc_id" or task.qrels.document_kind is None:
        return name_document
    judged_names: set[str] = set()
    for judgments in questions.qrels.values():
        judged_names.update(list_relevant_ids(to_json_judgments(judgments)))
    if not judged_names or any(map(_is_random, judged_names)):
        return name_document

    def name_known_document(scored: NodeWithScore) -> str | None:
        name = name_document(scored)
        if name is not None and _is_random(name):
            _refuse_random_name(scored, name, judged_names)
        return name

    return name_known_document


def _is_random(name: str) -> bool:
    """Return whether a name is a UUID, as readers make up for the id of a document at every load."""
    try:
        return str(UUID(name)) == name.lower()
    except ValueError:
        return False


def _refuse_random_name(scored: NodeWithScore, name: str, judged_names: Collection[str]) -> NoReturn:
    metadata = scored.node.metadata
    key_of_name = "file_name"
    for key, value in metadata.items():
        if value in judged_names:
            key_of_name = key
            break
    raise ValueError(
        f"match='source' would compare the judged {min(judged_names)!r} with {name!r}, the ref_doc_id that a reader "
        f"made up for the document: write match='metadata:{key_of_name}'; node {scored.node.node_id!r} has the "
        f"metadata {', '.join(map(repr, metadata)) or 'none'}"
    )


def _require_one_document_per_name(source: Source, judged_names: Collection[str]) -> NameDocument:
    """Return the function of `resolve_source`; it raises if two documents share a name that spans refer to."""
    name_document = resolve_source(source)
    id_by_name: dict[str, str | None] = {}

    def name_one_document(scored: NodeWithScore) -> str | None:
        name = name_document(scored)
        if name is not None and name in judged_names:
            node_document_id = document_id(scored)
            known_id = id_by_name.setdefault(name, node_document_id)
            if known_id != node_document_id:
                raise ValueError(
                    f"the documents {known_id!r} and {node_document_id!r} are both named {name!r} by "
                    f"source={source!r}, as the pages of one file are, so a span of {name!r} could mean either; name "
                    "the document of a span by its doc_id and pass source='ref_doc_id', or use a function that tells "
                    "pages apart: "
                    "source=lambda node: f\"{node.metadata['file_name']}#{node.metadata['page_label']}\""
                )
        return name

    return name_one_document


def source_text_by_name(documents: Iterable[Document], source: Source = "ref_doc_id") -> dict[str, str]:
    """Return the texts of documents by name, for `Matching(sources=...)`, which searches for chunks in them.

    Args:
        documents: Documents, as returned by a reader.
        source: The name of a document, as in `RetrieverEvaluator`.

    Raises:
        ValueError: If two documents with different texts have the same name, or a document has none.

    Example:
        >>> source_text_by_name([Document(text="Slots save memory.", metadata={"file_name": "slots.md"})], "file_name")
        {'slots.md': 'Slots save memory.'}
    """
    texts: dict[str, str] = {}
    name_document = resolve_source(source)
    for document in documents:
        scored = NodeWithScore(node=document)
        name = name_document(scored)
        text = node_text(scored)
        if name is None:
            raise ValueError(f"document {document.node_id!r} has no name by source={source!r}")
        if texts.setdefault(name, text) != text:
            raise ValueError(
                f"two documents are named {name!r} and have different texts, as the pages of one file do; name them by "
                "source=lambda node: f\"{node.metadata['file_name']}#{node.metadata['page_label']}\", or by ref_doc_id"
            )
    return texts


def read_source_texts(documents: LoadedDocuments | None, source: Source) -> Mapping[str, str] | None:
    """Return the texts of documents by name; a mapping of names to texts, or None, is returned as it is."""
    if documents is None or isinstance(documents, Mapping):
        return documents
    return source_text_by_name(documents, source)
