"""Convert the documents of frameworks into items: their own objects, plain objects, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, cast

from retrieval_metrics.inputs.hosts import find_host
from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from retrieval_metrics._internal.plain_types import DocumentId

    Items = list[Retrieved | DocumentId]


ID_KEYS = ("id", "id_", "node_id", "document_id", "doc_id", "docid", "docno", "chunk_id", "_id", "file_id")
TEXT_KEYS = ("page_content", "content", "text", "snippet")
METADATA_KEYS = ("metadata", "meta", "_source", "payload")
# The keys of the metadata under which frameworks keep the source of a document.
SOURCE_KEYS = ("doc_uri", "source", "file_path")
# The keys of a document under which it has its source if the metadata have none.
ADDRESS_KEYS = ("source", "url", "uri", "filename")
METADATA_AND_ADDRESS_KEYS = {*METADATA_KEYS, *ADDRESS_KEYS}
DOCUMENT_KEYS = {*ID_KEYS, *TEXT_KEYS, *METADATA_KEYS, *ADDRESS_KEYS}
WRAPPERS = ("document", "kwargs", "node")
WRAPPER_KEYS = {*WRAPPERS}
TYPE_KEYS = {"type", "block_type"}
# The keys that only messages have. Messages have ids and texts, too, and must not be taken for documents.
MESSAGE_KEYS = {"role", "tool_call_id", "tool_calls"}


def convert_to_items(answer: Any, where: str) -> Items:
    """Return a list of retrieved documents as items of the core, best first.

    Args:
        answer: Ids, items, documents of a host whose integration is installed, or other objects and their JSON with an
            `id` or `doc_id`, a text (`page_content`, `content` or `text`) and `metadata`, in which `doc_uri` or
            `source` is the source and `start_index` the offset in it; else its own `source` or `url` is the source.
        where: Where the list is, for messages.

    Raises:
        TypeError: If it is not a list, such as a set, which has no order, or holds something else.

    Example:
        >>> document = {"id": "with#2", "content": "The with statement", "metadata": {"source": "with"}}
        >>> convert_to_items([document], "the output")
        [Retrieved(id='with#2', text='The with statement', source='with', start=None, end=None, score=None, \
metadata={'source': 'with'}, tokens=None)]
    """
    if isinstance(answer, (str, bytes, Mapping, set, frozenset)) or not isinstance(answer, Iterable):
        raise TypeError(f"{where} must hold a list of documents or ids, got {answer!r} ({type(answer).__name__})")
    return [_convert_item(document, where) for document in answer]


def as_list_of(answer: object, classes: type | tuple[type, ...], requirement: str) -> Sequence[Any]:
    """Return the answer of a retriever if it is a list of the documents of a host.

    Args:
        answer: What the retriever returned.
        classes: The classes of the documents.
        requirement: The beginning of the error message, which says what the answer must be.

    Raises:
        TypeError: If the answer is not a list, or holds objects of other classes.

    Example:
        >>> as_list_of([{"id": "d7"}], str, "a retriever must return a list of texts")
        Traceback (most recent call last):
            ...
        TypeError: a retriever must return a list of texts; it holds {'id': 'd7'} (dict)
    """
    if isinstance(answer, (str, Mapping)) or not isinstance(answer, Sequence):
        raise TypeError(f"{requirement}, got {answer!r:.80} ({type(answer).__name__})")
    for document in answer:
        if not isinstance(document, classes):
            raise TypeError(f"{requirement}; it holds {document!r:.80} ({type(document).__name__})")
    return answer


def finite_score_or_none(score: object) -> float | None:
    """Return the score that a host gave a document if it is a finite number, which a file can hold; None otherwise.

    Example:
        >>> finite_score_or_none(0.5), finite_score_or_none(float("nan")), finite_score_or_none("0.5")
        (0.5, None, None)
    """
    if not isinstance(score, Real) or isinstance(score, bool) or not isfinite(score):
        return None
    return float(score)


def _convert_item(document: Any, where: str) -> Retrieved | DocumentId:
    if isinstance(document, (str, Integral, Retrieved)):
        return cast("Retrieved | DocumentId", document)  # whole numbers of numpy too
    if isinstance(document, Mapping):
        item = find_item(document)
    else:
        host = find_host(document)
        if host is not None and host.documents is not None:
            return host.documents([document])[0]
        item = find_item({key: getattr(document, key) for key in DOCUMENT_KEYS if hasattr(document, key)})
    if item is None:
        raise TypeError(f"{where} must hold documents or ids; it holds {document!r} ({type(document).__name__})")
    return item


@dataclass(slots=True)
class _DocumentFields:
    """What an object has under the keys of a document."""

    id: Any
    text: Any
    metadata: Any = None
    address: Any = None

    @property
    def is_document(self) -> bool:
        """Whether there is an id or a text, of a possible type."""
        if self.id is None and self.text is None:
            return False
        return not isinstance(self.id, (list, dict)) and (self.text is None or isinstance(self.text, str))


def find_item(value: Any) -> Retrieved | None:
    """Return the document in an object of any of the forms that frameworks write; None if it holds no document.

    Example:
        >>> find_item({"node": {"id_": "n1", "text": "A block.", "metadata": {"file_path": "with.md"}}, "score": 0.5})
        Retrieved(id='n1', text='A block.', source='with.md', start=None, end=None, score=None, \
metadata={'file_path': 'with.md'}, tokens=None)
        >>> find_item({"role": "tool", "content": "A block."})  # a message
    """
    if isinstance(value, Retrieved):
        return value
    if not isinstance(value, dict):
        return find_item(dict(value)) if isinstance(value, Mapping) else None
    value = _unwrap(value)
    document = _read_fields(value)
    if not document.is_document:
        return None
    metadata = _as_dict(document.metadata) if document.metadata else {}
    if not MESSAGE_KEYS.isdisjoint(value):
        return None
    if not metadata and not TYPE_KEYS.isdisjoint(value) and is_content_block(value):
        return None
    source = _find_first(metadata, SOURCE_KEYS) if metadata else None
    if source is None and isinstance(document.address, str):
        source = document.address
    start = metadata.get("start_index", value.get("start_char_idx"))
    if document.text is None or not isinstance(start, int) or start < 0:  # a splitter writes -1 where it finds nothing
        start = None
    return Retrieved(
        _read_id(document.id),
        document.text,
        None if source is None else str(source),
        start,
        metadata=metadata or None,
        offsets_unverified=True,
    )


def _read_id(document_id: Any) -> str | int | None:
    """Return the id of a document; None for an empty one, which hosts write for what has none."""
    if isinstance(document_id, str):
        return document_id if document_id.strip() else None
    if document_id is None or isinstance(document_id, int):
        return document_id
    if isinstance(document_id, float) and document_id.is_integer():
        return str(int(document_id))  # a frame turns whole numbers into floats where one is missing
    return str(document_id)


def _unwrap(value: dict[str, Any]) -> dict[str, Any]:
    """Return the object inside its wrappers, or itself."""
    if WRAPPER_KEYS.isdisjoint(value):
        return value
    for wrapper in WRAPPERS:
        inner = value.get(wrapper)
        if isinstance(inner, dict):
            value = inner
    return value


def _read_fields(value: dict[str, Any]) -> _DocumentFields:
    document = _DocumentFields(value.get("id"), _find_first(value, TEXT_KEYS))
    if document.id is None:
        document.id = _find_first(value, ID_KEYS)
    if not METADATA_AND_ADDRESS_KEYS.isdisjoint(value):
        document.metadata = _find_first(value, METADATA_KEYS)
        document.address = _find_first(value, ADDRESS_KEYS)
    if document.text is None and document.metadata:  # Pinecone, Elasticsearch and Qdrant keep the text there
        document.text = _find_first(_as_dict(document.metadata), TEXT_KEYS)
    if document.id != document.id:  # NaN, which frames write for what is missing
        document.id = None
    return document


def is_content_block(value: dict[str, Any]) -> bool:
    """Return whether an object is a text in the content of a message; LangChain gives such texts ids like `lc_6134`."""
    kind = value.get("type", value.get("block_type"))
    if kind in ("input_text", "output_text"):
        return True
    id_ = value.get("id")
    return kind == "text" and (id_ is None or str(id_).startswith("lc_"))


def _as_dict(metadata: Any) -> dict[str, Any]:
    if isinstance(metadata, str) and metadata.startswith("{"):  # OpenInference writes it as JSON
        try:
            metadata = json.loads(metadata)
        except RecursionError:
            raise ValueError("the metadata of a document is nested too deeply") from None
    return dict(metadata) if isinstance(metadata, Mapping) else {}


def _find_first(values: Mapping[str, Any], keys: Sequence[str]) -> Any:
    for key in keys:
        value = values.get(key)
        if value is not None:
            return value
    return None
