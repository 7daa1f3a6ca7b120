"""The synchronous and the asynchronous way of what can be asked, and one event loop per process for the first."""

from __future__ import annotations

import os
import threading
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Coroutine

    ResultT = TypeVar("ResultT")


class RetrieverFunctions(NamedTuple):
    """The ways of asking one thing; the core takes the one that suits its caller.

    Synchronous callers prefer the synchronous way, in threads, because an asynchronous client works in one event loop
    only. What has no synchronous way after all says so when it is called: it raises NotImplementedError, or another
    error from one. It is called once, and then only by the asynchronous way.

    Attributes:
        synchronous: The synchronous function; None if there is none.
        asynchronous: The function that returns what must be awaited, with the same arguments; None if there is none.
        n_requested: How many items a store is asked for; None if fewer are in order, as with a threshold, or it is unknown.
        candidate_option: What of the host lets a store look at more items, such as `"vector_store_kwargs={...}"`.

    Example:
        >>> def unknown(text):
        ...     raise NotImplementedError
        >>> async def known(text):
        ...     return [text]
        >>> from retrieval_metrics import retrieve
        >>> retrieve(RetrieverFunctions(unknown, known), {"q1": "d1"})["q1"]
        ['d1']
    """

    synchronous: Callable[..., Any] | None = None
    asynchronous: Callable[..., Any] | None = None
    n_requested: int | None = None
    candidate_option: str = ""

    @property
    def prefer_sync(self) -> Callable[..., Any]:
        """The synchronous way; where there is none, it returns what must be awaited."""
        synchronous, asynchronous = self[:2]
        if synchronous is None or asynchronous is None:
            return self.prefer_async
        only_asynchronous = False

        @wraps(synchronous)
        def ask(*args: Any, **options: Any) -> Any:
            nonlocal only_asynchronous
            if not only_asynchronous:
                try:
                    return synchronous(*args, **options)
                except Exception as error:
                    if not any(isinstance(one, NotImplementedError) for one in (error, error.__cause__)):
                        raise
                only_asynchronous = True
            return asynchronous(*args, **options)

        return ask

    @property
    def prefer_async(self) -> Callable[..., Any]:
        """The asynchronous way; where there is none, the synchronous one, which is called in a thread.

        Raises:
            ValueError: If there is neither.
        """
        found = self.asynchronous or self.synchronous
        if found is None:
            raise ValueError("there is neither a synchronous nor an asynchronous way")
        return found


def choose_function(found: Callable[..., Any] | RetrieverFunctions) -> Callable[..., Any]:
    """Return the function to call: of several ways that which suits the caller behind the running event loop."""
    if not isinstance(found, RetrieverFunctions):
        return found
    return found.prefer_sync if serves_a_synchronous_caller() else found.prefer_async


# One event loop per process, on a separate thread, for synchronous callers.
#
# An asynchronous client belongs to the event loop in which it was first used: its connections and locks break in any
# other. `asyncio.run` creates a loop for every call and closes it, so the client is broken at the second call. The loop
# here lives as long as the interpreter and does not touch the caller's loop.

NAME = "retrieval-metrics event loop"
SLICE = 0.1
"""Seconds after which a waiting caller checks for an interrupt; on Windows nothing wakes it."""
GRACE = 1.0
"""Seconds that an interrupted coroutine has to clean up before its caller continues."""


class _EventLoops:
    """The loops of this process: one for all ordinary threads, and one for callers inside each of these loops."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._by_caller: dict[int | None, AbstractEventLoop] = {}
        self._threads: set[int | None] = set()

    def of_this_thread(self) -> AbstractEventLoop:
        """Return the running loop that serves the calling thread, started if there is none yet."""
        me = threading.get_ident()
        with self._guard:
            caller = me if me in self._threads else None
            if caller not in self._by_caller:
                self._by_caller[caller] = self._started()
            return self._by_caller[caller]

    def has_this_thread(self) -> bool:
        """Whether one of these loops runs in the calling thread."""
        return threading.get_ident() in self._threads

    def _started(self) -> AbstractEventLoop:
        import asyncio  # noqa: PLC0415  (costs as much as numpy's import, and not everybody retrieves)

        loop = asyncio.new_event_loop()

        def run() -> None:
            asyncio.set_event_loop(loop)
            while True:
                try:
                    loop.run_forever()
                except (
                    KeyboardInterrupt,
                    SystemExit,
                ):  # raised by a coroutine, whose caller receives it
                    continue

        thread = threading.Thread(target=run, name=NAME, daemon=True)
        thread.start()
        self._threads.add(thread.ident)
        return loop


_loops = _EventLoops()
_of_the_parent: list[_EventLoops] = []


def _start_afresh() -> None:
    """Replace the loops in a forked child, which has their memory but not their threads."""
    global _loops  # noqa: PLW0603  (one per process is what this module is for)
    _of_the_parent.append(_loops)
    _loops = _EventLoops()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_start_afresh)


def serves_a_synchronous_caller() -> bool:
    """Return whether the running event loop is one of this module.

    Example:
        >>> async def asked():
        ...     return serves_a_synchronous_caller()
        >>> serves_a_synchronous_caller(), run_until_complete(asked())
        (False, True)
    """
    return _loops.has_this_thread()


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
    import asyncio  # noqa: PLC0415  (as above)

    finished = threading.Event()

    async def work() -> ResultT:
        try:
            return await coroutine
        finally:
            finished.set()

    # The call copies the context of the caller, in which the task then runs.
    future = asyncio.run_coroutine_threadsafe(work(), _loops.of_this_thread())
    try:
        while not finished.wait(SLICE):
            continue
    except BaseException:
        future.cancel()
        finished.wait(GRACE)
        raise
    return future.result()
