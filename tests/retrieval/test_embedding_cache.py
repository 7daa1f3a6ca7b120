"""Each text is embedded once for a model; nobody waits for what may never end; and what is kept goes with the model."""

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from retrieval_metrics.retrieval import embedding_cache as embedded
from retrieval_metrics.retrieval.embedding_cache import VectorCache, vector_cache
from retrieval_metrics.retrieval.vectors import Vectors


class Model:
    """Embeds a text by its letters, and remembers what it was asked."""

    def __init__(self) -> None:
        self.texts_embedded: list[str] = []

    def embed(self, texts: list[str]) -> list[Vectors]:
        self.texts_embedded += texts
        return [np.array([float(ord(text[0])), 1.0]) for text in texts]

    async def aembed(self, texts: list[str]) -> list[Vectors]:
        await asyncio.sleep(0)
        return self.embed(texts)


def test_what_is_kept_is_bounded_and_queries_are_not_documents() -> None:
    cache = VectorCache(3)
    model = Model()
    cache.vectors("document", ["a", "b", "c", "d", "e", "a"], model.embed)
    vectors = cache.vectors("document", ["e", "c"], model.embed)
    assert {text: vector.tolist() for text, vector in vectors.items()} == {"e": [101.0, 1.0], "c": [99.0, 1.0]}
    cache.vectors("query", ["e"], model.embed)  # "d" goes, which was not used for longest
    cache.vectors("document", ["c", "d"], model.embed)
    assert model.texts_embedded == ["a", "b", "c", "d", "e", "e", "d"]


def test_a_failure_is_raised_to_its_caller_and_the_others_go_on() -> None:
    cache = VectorCache(10)
    model = Model()
    together = threading.Barrier(2, timeout=10)

    def fail(texts: list[str]) -> list[Vectors]:
        together.wait()
        raise ConnectionError(texts)

    with ThreadPoolExecutor(2) as threads:
        failing = threads.submit(cache.vectors, "document", ["a"], fail)
        while not cache._pending_in_threads:
            threading.Event().wait(0.001)
        waiting = threads.submit(cache.vectors, "document", ["a", "b"], model.embed)
        together.wait()
        assert sorted(waiting.result(10)) == ["a", "b"]
        assert isinstance(failing.exception(10), ConnectionError)
    assert cache._pending_in_threads == {}


def test_a_cancelled_task_leaves_its_texts_to_the_others() -> None:
    cache = VectorCache(10)
    model = Model()

    async def never(_: list[str]) -> list[Vectors]:
        await asyncio.sleep(60)
        raise AssertionError("slept for a minute")

    async def cancelled() -> list[str]:
        first = asyncio.ensure_future(cache.avectors("document", ["a"], never))
        await asyncio.sleep(0)
        gives_up = asyncio.ensure_future(cache.avectors("document", ["a"], model.aembed))
        second = asyncio.ensure_future(cache.avectors("document", ["a"], model.aembed))
        await asyncio.sleep(0)
        gives_up.cancel()  # one that waits does not take the others with it
        await asyncio.sleep(0)
        first.cancel()
        return list(await second)

    assert asyncio.run(asyncio.wait_for(cancelled(), 20)) == ["a"]


def interrupted(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until an interrupt comes through it, as that of Ctrl-C does."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    loop.call_soon(interrupt)
    with pytest.raises(KeyboardInterrupt):
        loop.run_forever()


def stopped(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped."""
    loop.call_soon(loop.stop)
    loop.run_forever()


def await_cancelled(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop in a thread until somebody stops it from outside."""
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("end", [interrupted, stopped, await_cancelled])
def test_nobody_waits_for_a_loop_that_has_ended(
    end: Callable[[asyncio.AbstractEventLoop], None],
    closes: bool,
) -> None:
    cache = VectorCache(10)
    model = Model()
    begun = threading.Event()

    async def slow(_: list[str]) -> list[Vectors]:
        begun.set()
        await asyncio.sleep(60)
        raise AssertionError("slept for a minute")

    loop = asyncio.new_event_loop()
    task = loop.create_task(cache.avectors("document", ["a"], slow))
    loop.run_until_complete(asyncio.to_thread(begun.wait, 10))
    end(loop)
    assert not task.done()
    if closes:
        loop.close()
    again = asyncio.run(asyncio.wait_for(cache.avectors("document", ["a"], model.aembed), 20))
    assert list(again) == list(cache.vectors("document", ["a"], model.embed)) == model.texts_embedded == ["a"]
    if not closes:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()
    del task, loop
    gc.collect()
    assert not cache._pending_by_loop


def test_what_is_kept_for_a_model_goes_with_it() -> None:
    model = Model()
    cache = vector_cache(model, 100)
    assert vector_cache(model, 100) is cache
    assert vector_cache(Model(), 100) is not cache
    name = id(model)
    del model
    gc.collect()
    assert (name, 100) not in embedded._shared


def test_a_model_that_nobody_can_watch_lives_as_long_as_its_vectors() -> None:
    class Slots:
        __slots__ = ()

    model = Slots()
    cache = vector_cache(model, 7)
    name = id(model)
    del model
    assert vector_cache(embedded._shared[name, 7].model, 7) is cache
    del embedded._shared[name, 7]
