"""Vectors of texts: each text is embedded once for all who use the same model, and its vector goes with the model."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from concurrent.futures import Future
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence

    from retrieval_metrics.retrieval.similarity import Vectors

Kind: TypeAlias = Literal["document", "query"]  # models may embed them differently
KindOfText: TypeAlias = tuple[str, str]
Flight: TypeAlias = "Future[Vectors | None]"
"""The vector of a text that is being embedded; None if that failed."""
_shared: dict[tuple[int, int], tuple[VectorCache, Any]] = {}
_guard = Lock()


def vector_cache(model: Any, size: int = 10_000) -> VectorCache:
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
    with _guard:
        if key not in _shared:
            held = None
            try:
                weakref.finalize(model, _shared.pop, key, None).atexit = False
            except TypeError:  # has no weak references: then it lives as long as the program, so its id stays unique
                held = model
            _shared[key] = VectorCache(size), held
        return _shared[key][0]


class VectorCache:
    """The vectors of the last used texts of one model, by kind and text.

    A thread that needs a text which another thread is embedding waits for it, and a task waits for those of its own
    running loop: another loop may have stopped for good. If the other fails, the caller embeds the text itself.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[KindOfText, Vectors] = OrderedDict()
        self._of_threads: dict[KindOfText, Flight] = {}
        self._of_loops: weakref.WeakKeyDictionary[Any, dict[KindOfText, Flight]] = weakref.WeakKeyDictionary()
        self._lock = Lock()

    def vectors(
        self, kind: Kind, texts: Sequence[str], embed: Callable[[list[str]], Iterable[Vectors]]
    ) -> dict[str, Vectors]:
        """Return the vector of each text; `embed` makes those of some texts, in their order."""
        with closing(self._obtained(kind, texts, self._of_threads)) as steps:
            answer: Any = None
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]  # untyped in the exception
                answer = step.result() if isinstance(step, Future) else embed(step)

    async def avectors(
        self, kind: Kind, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[Iterable[Vectors]]]
    ) -> dict[str, Vectors]:
        """Return the vector of each text; the asynchronous twin of `vectors`."""
        import asyncio  # noqa: PLC0415  (costs as much as numpy's import, and not everybody reranks)

        with self._lock:
            flights = self._of_loops.setdefault(asyncio.get_running_loop(), {})
        with closing(self._obtained(kind, texts, flights)) as steps:
            answer: Any = None
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]  # as above
                answer = await (asyncio.wrap_future(step) if isinstance(step, Future) else embed(step))

    def _obtained(
        self, kind: str, texts: Sequence[str], flights: dict[KindOfText, Flight]
    ) -> Generator[list[str] | Flight, Any, dict[str, Vectors]]:
        """Yield the texts to embed and what to wait for; whoever runs it sends back the vectors, or closes it."""
        found: dict[str, Vectors] = {}
        while missing := [text for text in dict.fromkeys(texts) if text not in found]:
            mine, others = [], {}
            with self._lock:
                for text in missing:
                    if (key := (kind, text)) in self._kept:
                        self._kept.move_to_end(key)
                        found[text] = self._kept[key]
                    elif key in flights:
                        others[text] = flights[key]
                    else:
                        flights[key] = Future()
                        flights[key].set_running_or_notify_cancel()  # a cancelled waiter must not cancel it for all
                        mine.append(text)
            if mine:
                embedded: dict[str, Vectors] = {}
                try:
                    embedded = dict(zip(mine, (yield mine), strict=True))
                finally:
                    self._land(flights, {(kind, text): embedded.get(text) for text in mine})
                found |= embedded
            for text, flight in others.items():
                if (vector := (yield flight)) is not None:
                    found[text] = vector
        return found

    def _land(self, flights: dict[KindOfText, Flight], landed: dict[KindOfText, Vectors | None]) -> None:
        with self._lock:
            waited_for = [(flights.pop(key), vector) for key, vector in landed.items()]
            self._kept |= {key: vector for key, vector in landed.items() if vector is not None}
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        for flight, vector in waited_for:
            flight.set_result(vector)
