"""Know the texts of judged documents, by which one is recognised under another id, as after an index was rebuilt."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_metrics.inputs.items import Retrieved
from retrieval_metrics.inputs.run import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from retrieval_metrics._internal.plain_types import DocumentId
    from retrieval_metrics.inputs.match_key import Key
    from retrieval_metrics.inputs.qrels import Qrels

# How many results of each query are read for their texts.
MAX_RESULTS = 100

# The texts of a collection of documents, by id.
TextById = Mapping[Any, str]


class DocumentTexts(NamedTuple):
    """The texts of documents, as far as they are known.

    Attributes:
        collections: The texts of each collection of documents, such as a corpus or what a system retrieved.
        document_ids: The ids of the documents that the caller passed; empty if he passed none.
    """

    collections: Sequence[TextById]
    document_ids: Collection[Any] = ()

    def find_text(self, document_id: DocumentId) -> str | None:
        """Return the text of a document in the form in which texts are compared; None if it is unknown or empty."""
        for collection in self.collections:
            text = collection.get(document_id)
            if isinstance(text, str):
                return unify_text(text) or None
        return None

    def are_different(self, first: DocumentId, second: DocumentId) -> bool:
        """Return whether one collection holds both documents, so that they are not one document with two ids."""
        return any(first in collection and second in collection for collection in self.collections)


def unify_text(text: str) -> str:
    r"""Return a text with single blanks, which do not tell two documents apart.

    Example:
        >>> unify_text("Refunds take\r\n five days. ")
        'Refunds take five days.'
    """
    return " ".join(text.split())


def with_document_texts(qrels: Qrels, documents: Any) -> Qrels:
    """Return judgments that know the texts of their corpus and of the documents that the caller passed.

    Args:
        qrels: The judgments, which are returned as they are if there is no text, or no id is judged.
        documents: Texts by name, or documents, in a list; or None.
    """
    if qrels.document_kind is None:
        return qrels
    collections: list[TextById] = []
    document_ids: Collection[Any] = ()
    if documents is not None:
        named_documents = _read_documents(documents)
        collections.append(named_documents.text_by_name)
        document_ids = named_documents.document_ids
    if qrels.corpus:
        collections.append(qrels.corpus)
    return _add_collections(qrels, collections, document_ids)


def with_texts_of_runs(qrels: Qrels, runs: Iterable[Any], key: Key) -> Qrels:
    """Return judgments that also know the texts of the first results of each run that holds items with texts.

    Args:
        qrels: The judgments, which are returned as they are if there is no text, or no id is judged.
        runs: The runs.
        key: Returns the id of an item.
    """
    if qrels.document_kind is None:
        return qrels
    collections: list[TextById] = []
    for run in runs:
        text_by_id: dict[Any, str] = {}
        for item in iterate_items(run, MAX_RESULTS):
            if item.text is not None:
                text_by_id[key(item)] = item.text
        if text_by_id:
            collections.append(text_by_id)
    return _add_collections(qrels, collections)


def _add_collections(qrels: Qrels, collections: Sequence[TextById], document_ids: Collection[Any] = ()) -> Qrels:
    if not collections:
        return qrels
    known_collections: Sequence[TextById] = ()
    if qrels.document_texts is not None:
        known_collections = qrels.document_texts.collections
        document_ids = document_ids or qrels.document_texts.document_ids
    return qrels.with_document_texts(DocumentTexts([*known_collections, *collections], document_ids))


class _NamedDocuments(NamedTuple):
    """The texts of documents by their ids and sources, and the ids alone."""

    text_by_name: TextById
    document_ids: Collection[Any]


def _read_documents(documents: Any) -> _NamedDocuments:
    """Return the text of each document by its id and by its source."""
    if isinstance(documents, Mapping):
        return _NamedDocuments(documents, documents.keys())
    # Imported here because few evaluations are given documents.
    from retrieval_metrics.inputs.documents import DOCUMENTS_REQUIREMENT, documents_as_items

    text_by_name: dict[Any, str] = {}
    document_ids: set[Any] = set()
    for item in documents_as_items(documents, DOCUMENTS_REQUIREMENT):
        document_ids.add(item.id)
        for name in (item.id, item.source):
            if name is not None and item.text is not None:
                text_by_name.setdefault(name, item.text)
    document_ids.discard(None)
    return _NamedDocuments(text_by_name, document_ids)


def iterate_items(run: Any, depth: int | None) -> Iterable[Retrieved]:
    """Yield the first items of each query; nothing if the run holds ids."""
    if isinstance(run, Run) or not isinstance(run, Mapping):
        return
    for ranking in run.values():
        if not isinstance(ranking, (list, tuple)):
            continue
        if ranking and not isinstance(ranking[0], Retrieved):
            return
        for item in islice(ranking, depth):
            if isinstance(item, Retrieved):
                yield item
