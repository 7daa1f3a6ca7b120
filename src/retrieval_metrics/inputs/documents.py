"""Documents of frameworks, their texts by source, and the chunks in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, cast

from retrieval_metrics._internal.validation import format_argument
from retrieval_metrics.inputs.items import Retrieved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from importlib.metadata import EntryPoint

    from retrieval_metrics._internal.validation import DocumentId

    Items = list[Retrieved | DocumentId]


WANTED = (
    "documents must be texts by the name of their source, as in {'guide.md': text}, or a list of documents of a "
    "framework or of Retrieved(id, text=..., source=...)"
)
BEGINNING = 30
"""How many characters of a document without an id an error shows."""


@dataclass(frozen=True, slots=True)
class SourceDocuments:
    """The sources that questions were made from.

    Attributes:
        texts: The text of each source; empty if only the digests were kept.
        digests: The digest of each text, by which a changed source is recognised.
    """

    texts: Mapping[str, str] = field(repr=False)
    digests: Mapping[str, str]

    @classmethod
    def from_documents(cls, texts: Mapping[str, str]) -> SourceDocuments:
        """Return texts with their digests."""
        return cls(texts, {name: digest_of(text) for name, text in texts.items()})

    def find_changed(self, texts: Mapping[str, str]) -> list[str]:
        """Return the names of sources whose text is another one now, sorted."""
        return sorted(
            name for name, digest in self.digests.items() if name in texts and digest_of(texts[name]) != digest
        )


def source_text_by_name(documents: Any, judged: Collection[str] = ()) -> dict[str, str]:
    """Return the text of each source by its name in spans and in retrieved items.

    A document is named by its source, as its chunks are, and else by its id.

    Args:
        documents: Texts by name; or whole documents: `Retrieved` with texts, or those of an installed host.
        judged: The sources of judged spans. Other documents may share a name, and are then left out.

    Raises:
        TypeError: If they are anything else.
        ValueError: If two different documents have the name of a judged source, or none has such a name.

    Example:
        >>> source_text_by_name([Retrieved("doc7", "Keys are hashed.", source="keys.md")])
        {'keys.md': 'Keys are hashed.'}
    """
    if isinstance(documents, Mapping):
        stray = next((name for name, text in documents.items() if not isinstance(text, str)), None)
        if stray is not None:
            raise TypeError(f"documents must map the name of each source to its text, got {documents[stray]!r}")
        texts = dict(documents)
    elif isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
        raise TypeError(f"{WANTED}, got {type(documents).__name__}")
    else:
        texts = _named(documents_as_items(documents, WANTED), set(judged))
    if judged and not set(judged) & texts.keys():
        raise ValueError(
            f"{format_argument('documents')} has no text of {min(judged)!r}, nor of any other source of the judged spans; it "
            f"has {', '.join(map(repr, list(texts)[:3])) or 'none'}"
        )
    return texts


def documents_as_items(documents: Iterable[Any], wanted: str) -> list[Retrieved]:
    """Return documents, of an installed host or of the core, as items of the core."""
    items: list[Retrieved] = []
    for one in documents:
        host = None if isinstance(one, Retrieved) else find_host(one)
        if isinstance(one, Retrieved):
            items.append(one)
        elif host is not None and host.documents is not None:
            items.extend(host.documents([one]))
        else:
            raise TypeError(f"{wanted}; the list holds {one!r:.80}")
    return items


def _named(items: list[Retrieved], judged: set[str]) -> dict[str, str]:
    first: dict[str, Retrieved] = {}
    shared: set[str] = set()
    for item in items:
        if item.text is None:
            raise TypeError(f"document {item.id!r} has no text")
        if item.start:
            raise ValueError(
                f"document {item.id!r} begins at {item.start} of {item.source!r}, so it is a chunk; pass the documents "
                "that the chunks were cut from"
            )
        name = str(item.id) if item.source is None else item.source
        other = first.setdefault(name, item)
        if other.text != item.text:
            if name in judged:
                raise ValueError(
                    f"two documents, {_named_alone(other)} and {_named_alone(item)}, are both named {name!r}, as "
                    "the pages of one file are, so a span of it could be in either; give each its own source, such as "
                    "its doc_id, in spans, chunks and documents"
                )
            shared.add(name)
    return {name: item.text for name, item in first.items() if item.text is not None and name not in shared}


def _named_alone(item: Retrieved) -> str:
    """Return how to tell a document from another of its source: its id, or how it begins."""
    return repr(item.id) if item.id is not None else f"one that begins with {(item.text or '')[:BEGINNING]!r}"


def digest_of(text: str) -> str:
    r"""Return the digest by which a changed source is recognised; "\r\n" and "\n" are one newline."""
    from hashlib import sha256  # noqa: PLC0415  (only sets that keep their sources need it)

    return sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()


# Frameworks whose retrievers, documents and models the core accepts; installed integrations register them.

GROUP = "retrieval_metrics.hosts"
"""The entry point group. Each entry point has the name of a top-level module of the framework and loads a `HostAdapter`."""


@dataclass(frozen=True, kw_only=True)
class HostAdapter:
    """What an integration converts for the core.

    An integration creates one and registers it as an entry point of the group `retrieval_metrics.hosts`, under the name
    of the framework's top-level module. An object belongs to the framework if one of its base classes, or its
    metaclass, is defined in that module. The entry point is loaded on the first such object, so users of other
    frameworks do not wait for it.

    Attributes:
        name: The name of the framework, which is also that of the core's extra.
        ask: `ask(retriever)` returns a function from a query text to the answer, synchronous or asynchronous, or both
            as `RetrieverFunctions`; None for an object that is not a retriever.
        items: `items(answer)` converts what such a function returns into items, best first, or into the `Steps` to it.
        model: `model(model)` returns a function from a prompt to a reply, or both ways; None for an object that is not
            a model.
        documents: `documents(objects)` converts documents or nodes into items.
    """

    name: str
    resolve_retriever: Callable[[Any], Any]
    convert_items: Callable[[Any], Any]
    model: Callable[[Any], Any] | None = None
    documents: Callable[[Any], Sequence[Retrieved]] | None = None


FRAMEWORKS = {
    "langchain_core": "langchain",
    "llama_index": "llama-index",
    "haystack": "haystack",
    "haystack_integrations": "haystack",
}
"""The extra that installs the integration of each framework, by the framework's top-level module."""


@cache
def _announced() -> dict[str, EntryPoint]:
    """Return the entry points of installed integrations, by the top-level module of their framework."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (costs as much to import as half of this package)

    return {found.name: found for found in entry_points(group=GROUP)}


def find_host(thing: Any) -> HostAdapter | None:
    """Return the host that an object belongs to, or None if it is a plain Python object.

    Raises:
        ImportError: If the object is of a framework whose integration is not installed; the message says how to
            install it.
    """
    kinds = (*type(thing).__mro__, type(type(thing)))  # some frameworks mark classes only by a metaclass
    roots = dict.fromkeys(kind.__module__.partition(".")[0] for kind in kinds)
    if roots.keys() <= {"builtins", "abc", "typing", "collections", "functools", "types", "retrieval_metrics"}:
        return None
    announced = _announced()
    for root in roots:
        if root in announced:
            host: HostAdapter = announced[root].load()
            return host
    for root, extra in FRAMEWORKS.items():
        if root in roots:
            raise ImportError(
                f"{type(thing).__name__} is of {extra}, whose integration is not installed: "
                f"pip install 'retrieval-metrics[{extra}]'"
            )
    return None


# Documents as hosts write them: their own objects, plain ones, and their JSON.

_ID, _TEXT, _METADATA = (
    ("id", "id_", "node_id", "document_id", "doc_id", "docid", "docno", "chunk_id", "_id", "file_id"),
    ("page_content", "content", "text", "snippet"),
    ("metadata", "meta", "_source", "payload"),
)
_SOURCE = ("doc_uri", "source", "file_path")
_ADDRESS = ("source", "url", "uri", "filename")
"""Where metadata have the source of a document, and where a document without any has it."""
_BESIDE = {*_METADATA, *_ADDRESS}
_KEYS = {*_ID, *_TEXT, *_METADATA, *_ADDRESS}
_WRAPPERS = ("document", "kwargs", "node")
_WRAPPED = {*_WRAPPERS}
_TYPE = {"type", "block_type"}
_MESSAGE = {"role", "tool_call_id", "tool_calls"}
"""The keys of messages, which have ids and texts as documents have."""


def convert_to_items(found: Any, where: str) -> Items:
    """Return a list of retrieved documents as items of the core, best first.

    Args:
        found: Ids, items, documents of a host whose integration is installed, or other objects and their JSON with an
            `id` or `doc_id`, a text (`page_content`, `content` or `text`) and `metadata`, in which `doc_uri` or
            `source` is the source and `start_index` the offset in it; else its own `source` or `url` is the source.
        where: Where the list is, for messages.

    Raises:
        TypeError: If it is not a list, such as a set, which has no order, or holds something else.

    Example:
        >>> convert_to_items([{"id": "with#2", "content": "The with statement", "metadata": {"source": "with"}}], "the output")
        [Retrieved(id='with#2', text='The with statement', source='with', start=None, end=None, score=None, \
metadata={'source': 'with'}, tokens=None)]
    """
    if isinstance(found, (str, bytes, Mapping, set, frozenset)) or not isinstance(found, Iterable):
        raise TypeError(f"{where} must hold a list of documents or ids, got {found!r} ({type(found).__name__})")
    return [_item(one, where) for one in found]


def listed(found: Any, kinds: type | tuple[type, ...], said: str) -> Sequence[Any]:
    """Return what was retrieved if it is a list of the documents of a host.

    Args:
        found: What was retrieved.
        kinds: The classes of the documents.
        said: What it must be, for the message.

    Raises:
        TypeError: If it is anything else.

    Example:
        >>> listed([{"id": "d7"}], str, "a retriever must return a list of texts")
        Traceback (most recent call last):
            ...
        TypeError: a retriever must return a list of texts; it holds {'id': 'd7'} (dict)
    """
    if isinstance(found, (str, Mapping)) or not isinstance(found, Sequence):
        raise TypeError(f"{said}, got {found!r:.80} ({type(found).__name__})")
    for one in found:
        if not isinstance(one, kinds):
            raise TypeError(f"{said}; it holds {one!r:.80} ({type(one).__name__})")
    return found


def known_score(score: Any) -> float | None:
    """Return the score that a host gave a document if it is a finite number, which a file can hold; None otherwise.

    Example:
        >>> known_score(0.5), known_score(float("nan")), known_score("0.5")
        (0.5, None, None)
    """
    is_number = isinstance(score, Real) and not isinstance(score, bool)
    return float(score) if is_number and isfinite(score) else None


def _item(found: Any, where: str) -> Retrieved | DocumentId:
    if isinstance(found, (str, Integral, Retrieved)):
        return cast("Retrieved | DocumentId", found)  # whole numbers of numpy too
    host = None if isinstance(found, Mapping) else find_host(found)
    if host is not None and host.documents is not None:
        return host.documents([found])[0]
    values = found if isinstance(found, Mapping) else {key: getattr(found, key) for key in _KEYS if hasattr(found, key)}
    item = find_item(values)
    if item is None:
        raise TypeError(f"{where} must hold documents or ids; it holds {found!r} ({type(found).__name__})")
    return item


def find_item(said: Any) -> Retrieved | None:
    """Return the document in an object of any of the forms in which frameworks write one; None if it holds none.

    Example:
        >>> find_item({"node": {"id_": "n1", "text": "A block.", "metadata": {"file_path": "with.md"}}, "score": 0.5})
        Retrieved(id='n1', text='A block.', source='with.md', start=None, end=None, score=None, \
metadata={'file_path': 'with.md'}, tokens=None)
        >>> find_item({"role": "tool", "content": "A block."})  # a message
    """
    if not isinstance(said, dict):
        return said if isinstance(said, Retrieved) else find_item(dict(said)) if isinstance(said, Mapping) else None
    if not _WRAPPED.isdisjoint(said):
        for wrapper in _WRAPPERS:
            if isinstance(inner := said.get(wrapper), dict):
                said = inner
    id_, text = said.get("id"), _first(said, _TEXT)
    if id_ is None:
        id_ = _first(said, _ID)
    metadata, address = (None, None) if _BESIDE.isdisjoint(said) else (_first(said, _METADATA), _first(said, _ADDRESS))
    if text is None and metadata:  # as Pinecone, Elasticsearch and Qdrant keep it
        text = _first(_as_dict(metadata), _TEXT)
    id_ = None if id_ != id_ else id_  # noqa: PLR0124  (NaN, which frames write for what is missing)
    if id_ is text is None or isinstance(id_, (list, dict)) or not (text is None or isinstance(text, str)):
        return None
    metadata = _as_dict(metadata) if metadata else {}
    if not _MESSAGE.isdisjoint(said) or (not metadata and not _TYPE.isdisjoint(said) and is_content_block(said)):
        return None
    source = _first(metadata, _SOURCE) if metadata else None
    source = address if source is None and isinstance(address, str) else source
    start = metadata.get("start_index", said.get("start_char_idx"))
    if text is None or not isinstance(start, int) or start < 0:  # a splitter writes -1 where it does not find it
        start = None
    return Retrieved(
        id_ if id_ is None or isinstance(id_, (str, int)) else str(id_),
        text,
        None if source is None else str(source),
        start,
        metadata=metadata or None,
        offsets_unverified=True,
    )


def is_content_block(said: dict[str, Any]) -> bool:
    """Return whether an object is a text in the content of a message; LangChain gives it an id, as `lc_6134`."""
    kind, id_ = said.get("type", said.get("block_type")), said.get("id")
    return kind in ("input_text", "output_text") or (kind == "text" and (id_ is None or str(id_).startswith("lc_")))


def _as_dict(metadata: Any) -> dict[str, Any]:
    if isinstance(metadata, str) and metadata.startswith("{"):  # OpenInference writes it as JSON
        metadata = json.loads(metadata)
    return dict(metadata) if isinstance(metadata, Mapping) else {}


def _first(values: Mapping[str, Any], keys: Sequence[str]) -> Any:
    for key in keys:
        if (found := values.get(key)) is not None:
            return found
    return None
