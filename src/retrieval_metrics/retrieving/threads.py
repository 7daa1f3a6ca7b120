"""Threads for synchronous functions, awaited from an event loop and abandoned if a call takes too long.

A `ThreadPoolExecutor` waits for its threads, at the latest when the interpreter exits, so a call that hangs would keep
the program from ending.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Outcome: TypeAlias = tuple[Any, BaseException | None]


class Threads:
    """Threads that are reused, so that what a function keeps per thread, such as a connection, is reused."""

    def __init__(self) -> None:
        self._idle: list[_Thread] = []

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread, in the context of the caller, and return its result.

        A cancelled call continues in its thread, which ends after it and is not reused.

        Raises:
            BaseException: What the function raises.
        """
        thread = self._idle.pop() if self._idle else _Thread()
        try:
            answer, error = await thread.call(partial(copy_context().run, function, *arguments))
        except asyncio.CancelledError:
            thread.end()
            raise
        self._idle.append(thread)
        if error is not None:
            raise error
        return answer

    def end(self) -> None:
        """End the idle threads."""
        while self._idle:
            self._idle.pop().end()


class _Thread:
    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[asyncio.Future[Outcome], Callable[[], Any]] | None] = SimpleQueue()
        threading.Thread(target=self._run, name="retrieval-metrics call", daemon=True).start()

    def call(self, function: Callable[[], Any]) -> asyncio.Future[Outcome]:
        future = asyncio.get_running_loop().create_future()
        self._calls.put((future, function))
        return future

    def end(self) -> None:
        self._calls.put(None)

    def _run(self) -> None:
        while (job := self._calls.get()) is not None:
            future, function = job
            outcome: Outcome
            try:
                outcome = function(), None
            except BaseException as error:  # noqa: BLE001  (raised where the call is awaited)
                outcome = None, error
            with suppress(RuntimeError):  # the loop of an abandoned call may be closed
                future.get_loop().call_soon_threadsafe(_settle, future, outcome)
            del job, future, function, outcome  # an idle thread holds no references


def _settle(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not future.done():
        future.set_result(outcome)
