"""Documents as hosts write them: their own objects, plain ones, and their JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from retrieval_metrics.inputs.hosts import host_of
from retrieval_metrics.inputs.retrieved import Retrieved

if TYPE_CHECKING:
    from retrieval_metrics.checks import DocumentId

    Items = list[Retrieved | DocumentId]

_ID, _TEXT, _METADATA = (
    ("id", "id_", "node_id", "document_id"),
    ("page_content", "content", "text"),
    ("metadata", "meta"),
)
_KEYS = {*_ID, *_TEXT, *_METADATA}
_SOURCE = ("doc_uri", "source", "file_path")
_MESSAGE = {"role", "tool_call_id", "tool_calls"}
"""The keys of messages, which have ids and texts as documents have; a block of their content has a text alone."""


def items_in(found: Any, where: str) -> Items:
    """Return a list of retrieved documents as items of the core, best first.

    Args:
        found: Ids, items, documents of a host whose integration is installed, or other objects and their JSON with an
            `id`, a text (`page_content`, `content` or `text`) and `metadata`, in which `doc_uri` or `source` is the
            source and `start_index` the offset in it.
        where: Where the list is, for messages.

    Raises:
        TypeError: If it is not a list, such as a set, which has no order, or holds something else.

    Example:
        >>> items_in([{"id": "with#2", "content": "The with statement", "metadata": {"source": "with"}}], "the output")
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
    host = None if isinstance(found, Mapping) else host_of(found)
    if host is not None and host.documents is not None:
        return host.documents([found])[0]
    values = found if isinstance(found, Mapping) else {key: getattr(found, key) for key in _KEYS if hasattr(found, key)}
    item = item_of(values)
    if item is None:
        raise TypeError(f"{where} must hold documents or ids; it holds {found!r} ({type(found).__name__})")
    return item


def item_of(said: Any) -> Retrieved | None:
    """Return the document in an object of any of the forms in which frameworks write one; None if it holds none.

    Example:
        >>> item_of({"node": {"id_": "n1", "text": "A block.", "metadata": {"file_path": "with.md"}}, "score": 0.5})
        Retrieved(id='n1', text='A block.', source='with.md', start=None, end=None, score=None, \
metadata={'file_path': 'with.md'}, tokens=None)
        >>> item_of({"role": "tool", "content": "A block."})  # a message
    """
    if not isinstance(said, dict):
        return said if isinstance(said, Retrieved) else item_of(dict(said)) if isinstance(said, Mapping) else None
    for wrapper in ("document", "kwargs", "node"):
        if isinstance(inner := said.get(wrapper), dict):
            said = inner
    id_, text, metadata = _first(said, _ID), _first(said, _TEXT), _first(said, _METADATA)
    if isinstance(metadata, str) and metadata.startswith("{"):  # OpenInference writes it as JSON
        metadata = json.loads(metadata)
    metadata = dict(metadata) if metadata and isinstance(metadata, Mapping) else {}
    if id_ is text is None or isinstance(id_, (list, dict)) or not isinstance(text, (str, NoneType)):
        return None
    if not said.keys().isdisjoint(_MESSAGE) or (id_ is None and not metadata and said.get("type") == "text"):
        return None
    start = metadata.get("start_index", said.get("start_char_idx"))
    if text is None or not isinstance(start, int) or start < 0:  # a splitter writes -1 where it does not find it
        start = None
    source = _first(metadata, _SOURCE)
    return Retrieved(
        id_ if isinstance(id_, (str, int, NoneType)) else str(id_),
        text,
        source=None if source is None else str(source),
        start=start,
        metadata=metadata or None,
        claimed=True,
    )


def _first(values: Mapping[str, Any], keys: Sequence[str]) -> Any:
    for key in keys:
        if (found := values.get(key)) is not None:
            return found
    return None
