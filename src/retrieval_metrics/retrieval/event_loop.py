"""Run coroutines for synchronous callers, on one event loop per process.

An asynchronous client belongs to the event loop in which it was first used: its connections and locks break in any
other. `asyncio.run` creates a loop for every call and closes it, so the client is broken at the second call. The loop
here runs on a separate thread, lives as long as the interpreter and does not touch the caller's loop.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from retrieval_metrics._internal.warn import remember_user_line

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Coroutine

    ResultT = TypeVar("ResultT")

THREAD_NAME = "retrieval-metrics event loop"
# A waiting caller checks for an interrupt as often; on Windows nothing wakes it.
CHECK_SECONDS = 0.1
# An interrupted coroutine has as long to clean up before its caller continues.
CLEANUP_SECONDS = 1.0


class _EventLoops:
    """The loops of this process: one for all ordinary threads, and one for callers inside each of these loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_caller: dict[int | None, AbstractEventLoop] = {}
        self._threads: set[int | None] = set()

    def get_for_this_thread(self) -> AbstractEventLoop:
        """Return the running loop that serves the calling thread, started if there is none yet."""
        thread = threading.get_ident()
        with self._lock:
            caller = thread if thread in self._threads else None
            if caller not in self._by_caller:
                self._by_caller[caller] = self._start()
            return self._by_caller[caller]

    def serves_this_thread(self) -> bool:
        """Whether one of these loops runs in the calling thread."""
        return threading.get_ident() in self._threads

    def _start(self) -> AbstractEventLoop:
        import asyncio

        loop = asyncio.new_event_loop()

        def run() -> None:
            asyncio.set_event_loop(loop)
            while True:
                try:
                    loop.run_forever()
                except (KeyboardInterrupt, SystemExit):  # raised by a coroutine, whose caller receives it
                    continue

        thread = threading.Thread(target=run, name=THREAD_NAME, daemon=True)
        thread.start()
        self._threads.add(thread.ident)
        return loop


_loops = _EventLoops()
# A forked child keeps those of its parent, which must not be collected: their threads do not exist.
_parent_loops: list[_EventLoops] = []


def _replace_loops() -> None:
    """Replace the loops in a forked child, which has their memory but not their threads."""
    global _loops  # noqa: PLW0603  (one per process is what this module is for)
    _parent_loops.append(_loops)
    _loops = _EventLoops()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_replace_loops)


def serves_a_synchronous_caller() -> bool:
    """Return whether the running event loop is one of this module.

    Example:
        >>> async def is_served():
        ...     return serves_a_synchronous_caller()
        >>> serves_a_synchronous_caller(), run_until_complete(is_served())
        (False, True)
    """
    return _loops.serves_this_thread()


def run_until_complete(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run a coroutine on the event loop of this process and wait for its result.

    It works in a script, in any thread, and inside a running loop such as a notebook's, which waits meanwhile. The
    coroutine sees the context variables of the caller. Every call uses the same loop, so asynchronous clients can be
    used again. The caller's loop and the result of `asyncio.get_event_loop()` do not change. A forked child gets a new
    loop.

    Args:
        coroutine: The coroutine to run.

    Raises:
        BaseException: What the coroutine raises. If the caller is interrupted (`KeyboardInterrupt`), the coroutine is
            cancelled at once.

    Example:
        >>> async def answer():
        ...     return 42
        >>> run_until_complete(answer())
        42
    """
    import asyncio

    finished = threading.Event()
    # asyncio raises a copy of a time-out on this side, without the notes that name its query.
    timeouts: list[TimeoutError] = []

    async def work() -> ResultT:
        try:
            return await coroutine
        except TimeoutError as error:
            timeouts.append(error)
            raise
        finally:
            finished.set()

    # The call copies the context of the caller, in which the task then runs.
    with remember_user_line():
        future = asyncio.run_coroutine_threadsafe(work(), _loops.get_for_this_thread())
    try:
        while not finished.wait(CHECK_SECONDS):
            continue
    except BaseException:
        future.cancel()
        finished.wait(CLEANUP_SECONDS)
        raise
    if timeouts:
        raise timeouts[0]
    return future.result()
