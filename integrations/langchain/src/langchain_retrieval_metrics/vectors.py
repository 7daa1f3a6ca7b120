"""Vectors of texts: known, or embedded once for all retrievers of a model and for concurrent calls."""

from __future__ import annotations

import asyncio
import weakref
from collections import OrderedDict
from concurrent.futures import Future
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy import typing as npt

from langchain_retrieval_metrics.host import shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from langchain_core.documents import Document


STATE = "embedded_doc"
"""The name under which embedding compressors of LangChain keep the vector in the state of a document."""


class WantedVectors:
    """The vectors of documents: the known ones, and the texts to embed for the others."""

    def __init__(self, documents: Sequence[Document], known: Sequence[Any]) -> None:
        self._documents = documents
        self._known = known
        self._first: dict[str, Document] = {}
        for document, vector in zip(documents, known, strict=True):
            if vector is None:
                self._first.setdefault(document.page_content, document)
        self.texts = list(self._first)

    def checked(self, texts: Sequence[str], embedded: Sequence[Any]) -> list[Vector]:
        """Return the embeddings of some of the texts as float32."""
        if len(embedded) != len(texts):
            raise ValueError(f"embeddings returned {len(embedded)} vectors for {len(texts)} texts")
        return [as_vector(vector, shown(self._first[text])) for text, vector in zip(texts, embedded, strict=True)]

    def stacked(self, embedded: Mapping[str, Vector]) -> Vector:
        """Return all vectors as rows, shape (documents, d), given those of `texts`."""
        rows = [
            embedded[document.page_content] if vector is None else _array(vector, document)
            for document, vector in zip(self._documents, self._known, strict=True)
        ]
        for document, row in zip(self._documents, rows, strict=True):
            if row.shape != rows[0].shape:
                raise ValueError(
                    f"{shown(document)} has a vector of {row.size} numbers, and {shown(self._documents[0])} one of "
                    f"{rows[0].size}; all must come from one embedding model"
                )
        stacked = np.stack(rows)
        if not np.isfinite(stacked).all():  # check all rows at once, and look for the wrong one only if there is one
            for document, row in zip(self._documents, rows, strict=True):
                as_vector(row, shown(document))
        return stacked


def as_vector(given: Any, whose: str) -> Vector:
    """Return a vector as float32."""
    try:
        vector = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the vector of {whose} must be a list of numbers, got {given!r:.80}") from error
    if given is None or vector.ndim != 1 or not vector.size:
        raise ValueError(f"the vector of {whose} must be a list of numbers, got {given!r:.80}")
    if not np.isfinite(vector).all():
        at = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ValueError(f"the vector of {whose} holds {vector[at]} at position {at}; every number must be finite")
    return vector


def _array(given: Any, document: Document) -> Vector:
    """Return a vector as float32; whether its numbers are finite is checked for all vectors at once."""
    if isinstance(given, np.ndarray) and given.dtype == np.float32 and given.ndim == 1 and given.size:
        return given
    return as_vector(given, shown(document))


def state_vector(document: Document) -> Any:
    """Return the vector that an earlier compressor kept in the state of the document, if there is one."""
    state = getattr(document, "state", None)
    return state.get(STATE) if isinstance(state, dict) else None


Vector: TypeAlias = npt.NDArray[np.float32]
Kind: TypeAlias = Literal["document", "query"]
"""Models may embed queries and documents differently."""
Flight: TypeAlias = "Future[Vector | None]"
"""The vector of a text that is being embedded; None if that failed."""


class _Claimed(NamedTuple):
    """How each text is obtained."""

    known: dict[str, Vector]
    mine: dict[str, Flight | None]
    """Those that the caller embeds; with None, nobody waits for these."""
    others: dict[str, Flight]
    """Those that another caller is embedding."""


class VectorCache:
    """The float32 vectors of the last used texts, by the hash of the text; each text is embedded by one caller.

    A caller that needs a text which another thread or task is embedding waits for it. If that fails, the caller embeds
    the text itself.

    Example:
        >>> cache = VectorCache(2)
        >>> embed = lambda texts: [np.ones(2, dtype=np.float32) for text in texts if not print("embedding", text)]
        >>> sorted(cache.vectors("document", ["a", "b"], embed))
        embedding a
        embedding b
        ['a', 'b']
        >>> sorted(cache.vectors("document", ["b", "c"], embed))
        embedding c
        ['b', 'c']
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._flights: dict[bytes, tuple[Flight, bool]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def vectors(
        self, kind: Kind, texts: Iterable[str], embed: Callable[[list[str]], list[Vector]]
    ) -> dict[str, Vector]:
        """Return the vector of each text."""
        found: dict[str, Vector] = {}
        missing = list(dict.fromkeys(texts))
        while missing:
            claimed = self._claim(kind, missing, asynchronous=False)
            found |= claimed.known
            if claimed.mine:
                try:
                    embedded = embed(list(claimed.mine))
                except BaseException:
                    self._give_up(kind, claimed.mine)
                    raise
                found |= self._keep(kind, claimed.mine, embedded)
            landed = {text: flight.result() for text, flight in claimed.others.items()}
            found |= {text: vector for text, vector in landed.items() if vector is not None}
            missing = [text for text in missing if text not in found]
        return found

    async def avectors(
        self, kind: Kind, texts: Iterable[str], embed: Callable[[list[str]], Awaitable[list[Vector]]]
    ) -> dict[str, Vector]:
        """Return the vector of each text; the asynchronous twin of `vectors`."""
        found: dict[str, Vector] = {}
        missing = list(dict.fromkeys(texts))
        while missing:
            claimed = self._claim(kind, missing, asynchronous=True)
            found |= claimed.known
            if claimed.mine:
                try:
                    embedded = await embed(list(claimed.mine))
                except BaseException:
                    self._give_up(kind, claimed.mine)
                    raise
                found |= self._keep(kind, claimed.mine, embedded)
            landed = {text: await asyncio.wrap_future(flight) for text, flight in claimed.others.items()}
            found |= {text: vector for text, vector in landed.items() if vector is not None}
            missing = [text for text in missing if text not in found]
        return found

    def _claim(self, kind: Kind, texts: Iterable[str], *, asynchronous: bool) -> _Claimed:
        claimed = _Claimed({}, {}, {})
        with self._lock:
            for text in texts:
                key = _key(kind, text)
                if (vector := self._vectors.get(key)) is not None:
                    self._vectors.move_to_end(key)
                    claimed.known[text] = vector
                elif key not in self._flights:
                    flight: Flight = Future()
                    flight.set_running_or_notify_cancel()  # a cancelled waiter must not cancel it for all
                    self._flights[key] = flight, asynchronous
                    claimed.mine[text] = flight
                elif self._flights[key][1] and not asynchronous:
                    # A task may need this thread to return to its event loop, so never wait for one here.
                    claimed.mine[text] = None
                else:
                    claimed.others[text] = self._flights[key][0]
        return claimed

    def _keep(self, kind: Kind, mine: dict[str, Flight | None], embedded: list[Vector]) -> dict[str, Vector]:
        found = dict(zip(mine, embedded, strict=True))
        with self._lock:
            for text, flight in mine.items():
                key = _key(kind, text)
                if self._size:
                    self._vectors[key] = found[text]
                if flight is not None:
                    del self._flights[key]
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        for text, flight in mine.items():
            if flight is not None:
                flight.set_result(found[text])
        return found

    def _give_up(self, kind: Kind, mine: dict[str, Flight | None]) -> None:
        flights = {text: flight for text, flight in mine.items() if flight is not None}
        with self._lock:
            for text in flights:
                del self._flights[_key(kind, text)]
        for flight in flights.values():
            flight.set_result(None)


def _key(kind: Kind, text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=kind.encode()).digest()


_shared: dict[tuple[int, int], tuple[VectorCache, Any]] = {}
_guard = Lock()


def shared_cache(embeddings: Any, size: int) -> VectorCache:
    """Return the cache of an embedding model, the same for every retriever that uses this object."""
    # It lives as long as that object. A retriever configured for one call is a new object and would start with an empty
    # cache if the cache belonged to the retriever.
    key = id(embeddings), size
    with _guard:
        if key not in _shared:
            held = None
            try:
                weakref.finalize(embeddings, _shared.pop, key, None).atexit = False
            except TypeError:  # has no weak references: then it lives as long as the program, so its id stays unique
                held = embeddings
            _shared[key] = VectorCache(size), held
        return _shared[key][0]
