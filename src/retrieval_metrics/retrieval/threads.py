"""Call functions in reused threads that do not keep the program from ending.

A `ThreadPoolExecutor` waits for its threads, at the latest when the interpreter exits, so a call that hangs would
keep the program from ending.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Threads:
    """Threads that are reused, so that what a function keeps per thread, such as a connection, is reused."""

    def __init__(self) -> None:
        self._idle: list[_Thread] = []

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread, in the context of the caller, and return its result."""
        thread = self._idle.pop() if self._idle else _Thread()
        try:
            outcome = await thread.call(partial(copy_context().run, function, *arguments))
        except asyncio.CancelledError:
            thread.end()
            raise
        self._idle.append(thread)
        if outcome.error is not None:
            raise outcome.error
        return outcome.answer

    def end(self) -> None:
        """End the idle threads."""
        while self._idle:
            self._idle.pop().end()


class CallOutcome(NamedTuple):
    """What a call returned, or the error that it raised."""

    answer: Any = None
    error: BaseException | None = None


class _ThreadCall(NamedTuple):
    """A function to call, and the future that receives the outcome."""

    future: asyncio.Future[CallOutcome]
    function: Callable[[], Any]


class _Thread:
    """One thread, which calls the functions that it is given until it is told to end."""

    def __init__(self) -> None:
        # None ends the thread.
        self._calls: SimpleQueue[_ThreadCall | None] = SimpleQueue()
        threading.Thread(target=self._run, name="retrieval-metrics call", daemon=True).start()

    def call(self, function: Callable[[], Any]) -> asyncio.Future[CallOutcome]:
        future = asyncio.get_running_loop().create_future()
        self._calls.put(_ThreadCall(future, function))
        return future

    def end(self) -> None:
        self._calls.put(None)

    def _run(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                return
            try:
                outcome = CallOutcome(call.function())
            except BaseException as error:
                outcome = CallOutcome(error=error)
            with suppress(RuntimeError):  # the loop of an abandoned call may be closed
                call.future.get_loop().call_soon_threadsafe(_settle, call.future, outcome)
            del call, outcome  # an idle thread holds no references


def _settle(future: asyncio.Future[CallOutcome], outcome: CallOutcome) -> None:
    if not future.done():
        future.set_result(outcome)
