"""Keep the vectors of texts, so that each text is embedded once for all who use the same model."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence

    from retrieval_metrics.retrieval.vectors import Vectors

# Models may embed documents and queries differently.
TextKind: TypeAlias = Literal["document", "query"]
# The vector of a text that is being embedded; None if that failed.
PendingVector: TypeAlias = "Future[Vectors | None]"


class TextKey(NamedTuple):
    """A text, and the kind as which it is embedded."""

    kind: str
    text: str


class SharedCache(NamedTuple):
    """The vectors of a model, and the model itself if nothing tells when it is gone."""

    cache: VectorCache
    model: object


# By the id of the model and the size of the cache.
_shared: dict[tuple[int, int], SharedCache] = {}
_shared_lock = Lock()


def vector_cache(model: object, size: int = 10_000) -> VectorCache:
    """Return the vectors that are kept for an embedding model, the same for all who use this object.

    They live as long as the model. Another model starts empty, also one at the address of a model that is gone.

    Args:
        model: The embedding model of a host.
        size: How many vectors are kept; those that were not used for longest go first.

    Example:
        >>> import numpy as np
        >>> model = lambda texts: [np.array([len(text), 1.0]) for text in texts if not print("embeds", text)]
        >>> vectors = vector_cache(model).vectors("document", ["a"], model)
        embeds a
        >>> vector_cache(model).vectors("document", ["a"], model)["a"]
        array([1., 1.])
    """
    key = id(model), size
    with _shared_lock:
        if key not in _shared:
            kept_model = None
            try:
                weakref.finalize(model, _shared.pop, key, None).atexit = False
            except TypeError:  # has no weak references: then it lives as long as the program, so its id stays unique
                kept_model = model
            _shared[key] = SharedCache(VectorCache(size), kept_model)
        return _shared[key].cache


class VectorCache:
    """The vectors of the last used texts of one model, by kind and text.

    A thread that needs a text which another thread is embedding waits for it, and a task waits for those of its own
    running loop: another loop may have stopped for good. If the other fails, the caller embeds the text itself.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        # Those that were not used for longest come first.
        self._vectors: OrderedDict[TextKey, Vectors] = OrderedDict()
        self._pending_in_threads: dict[TextKey, PendingVector] = {}
        self._pending_by_loop: weakref.WeakKeyDictionary[Any, dict[TextKey, PendingVector]] = (
            weakref.WeakKeyDictionary()
        )
        self._lock = Lock()

    def vectors(
        self, kind: TextKind, texts: Sequence[str], embed: Callable[[list[str]], Iterable[Vectors]]
    ) -> dict[str, Vectors]:
        """Return the vector of each text; `embed` makes those of some texts, in their order."""
        with closing(self._obtain(kind, texts, self._pending_in_threads)) as requests:
            answer: Any = None
            while True:
                try:
                    request = requests.send(answer)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]  # untyped in the exception
                answer = request.result() if isinstance(request, Future) else embed(request)

    async def avectors(
        self, kind: TextKind, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[Iterable[Vectors]]]
    ) -> dict[str, Vectors]:
        """Return the vector of each text; the asynchronous version of `vectors`."""
        import asyncio

        with self._lock:
            pending = self._pending_by_loop.setdefault(asyncio.get_running_loop(), {})
        with closing(self._obtain(kind, texts, pending)) as requests:
            answer: Any = None
            while True:
                try:
                    request = requests.send(answer)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]  # as above
                answer = await (asyncio.wrap_future(request) if isinstance(request, Future) else embed(request))

    def _obtain(
        self, kind: str, texts: Sequence[str], pending: dict[TextKey, PendingVector]
    ) -> Generator[list[str] | PendingVector, Any, dict[str, Vectors]]:
        """Yield the texts to embed and what to wait for; whoever runs it sends back the vectors, or closes it."""
        vectors: dict[str, Vectors] = {}
        while missing := [text for text in dict.fromkeys(texts) if text not in vectors]:
            texts_to_embed: list[str] = []
            awaited: dict[str, PendingVector] = {}
            with self._lock:
                for text in missing:
                    key = TextKey(kind, text)
                    if key in self._vectors:
                        self._vectors.move_to_end(key)
                        vectors[text] = self._vectors[key]
                    elif key in pending:
                        awaited[text] = pending[key]
                    else:
                        pending[key] = Future()
                        pending[key].set_running_or_notify_cancel()  # a cancelled waiter must not cancel it for all
                        texts_to_embed.append(text)
            if texts_to_embed:
                embedded: dict[str, Vectors] = {}
                try:
                    embedded = dict(zip(texts_to_embed, (yield texts_to_embed), strict=True))
                finally:
                    self._settle(pending, {TextKey(kind, text): embedded.get(text) for text in texts_to_embed})
                vectors |= embedded
            for text, pending_vector in awaited.items():
                vector = yield pending_vector
                if vector is not None:
                    vectors[text] = vector
        return vectors

    def _settle(self, pending: dict[TextKey, PendingVector], vectors: dict[TextKey, Vectors | None]) -> None:
        """Keep the vectors that were embedded, and hand them to whoever waits for them."""
        settled: list[tuple[PendingVector, Vectors | None]] = []
        with self._lock:
            for key, vector in vectors.items():
                settled.append((pending.pop(key), vector))
                if vector is not None:
                    self._vectors[key] = vector
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        for pending_vector, vector in settled:
            pending_vector.set_result(vector)
