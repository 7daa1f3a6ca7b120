"""Call functions that may be slow or fail: with a time limit, retries, and several calls at a time."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from retrieval_metrics.checks import integer, positive_number
from retrieval_metrics.retrieving.rate_limit import Pace, is_rate_limit
from retrieval_metrics.retrieving.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Thing = TypeVar("Thing")

PAUSE = 0.5
"""Seconds before a failed call is repeated; doubled for each further attempt."""
LONGEST_PAUSE = 30.0


class Caller:
    """Calls one function; a synchronous function is called in a thread.

    A rate limit is no failure: all calls wait as long as the service asks, and then go on with fewer at once.
    """

    def __init__(self, function: Callable[..., Any], *, what: str, timeout: float | None, retries: int) -> None:
        """Take a function of a text.

        Args:
            function: The function, synchronous or not.
            what: What it is, for messages ("retriever").
            timeout: Seconds that one attempt may take.
            retries: How often a failed call is repeated.

        Raises:
            TypeError: If `retries` is not an integer.
            ValueError: If `timeout` is not positive, or `retries` is negative.
        """
        self._function = function
        self._what = what
        self._asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(type(function), "__call__", None)  # noqa: B004  (what it is, not whether it is there)
        )
        self._timeout = None if timeout is None else positive_number(timeout, "timeout")
        self._retries = integer(retries, "retries")
        if self._retries < 0:
            raise ValueError(f"retries must not be negative, got {retries!r}")
        self._threads = Threads()
        self._pace = Pace()

    async def call(
        self,
        text: str,
        *,
        before: Callable[[], object] = lambda: None,
        after: Callable[[float], object],
        **options: Any,
    ) -> Any:
        """Return the result of the first attempt that succeeds; attempts refused by a rate limit do not count.

        Args:
            text: The argument of the function.
            before: Called before each attempt; what it raises ends the call.
            after: Called after each attempt, failed or not, with the seconds it took.
            **options: Further arguments of the function.

        Raises:
            Exception: The failure of the last attempt.
        """
        failed = 0
        while True:
            await self._pace.start()
            try:
                before()
                try:
                    answer = await self._attempt(partial(self._function, text, **options), after)
                except Exception as error:
                    limited = is_rate_limit(error)
                    if (not self._pace.refused(error)) if limited else failed == self._retries:
                        raise
                else:
                    self._pace.succeeded()
                    return answer
            finally:
                self._pace.end()
            if not limited:
                await asyncio.sleep(min(PAUSE * 2**failed, LONGEST_PAUSE))
                failed += 1

    async def _attempt(self, function: Callable[[], Any], after: Callable[[float], object]) -> Any:
        start = perf_counter()
        try:
            async with asyncio.timeout(self._timeout) as limit:
                if self._asynchronous:
                    answer = function()
                else:
                    answer = await self._threads.call(function)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError(f"no answer within {self._timeout:g} s") from error
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():  # cancelled by the function itself
                raise RuntimeError(f"the {self._what} cancelled the call itself") from error
            raise
        finally:
            after(perf_counter() - start)

    def end(self) -> None:
        """End the threads."""
        self._threads.end()


async def several_at_a_time(things: Iterator[Thing], work: Callable[[Thing], Awaitable[None]], workers: int) -> None:
    """Do `work` for each thing, for at most `workers` of them at a time.

    After a failure that is raised, or a cancellation, no worker takes another thing.

    Raises:
        Exception: The first that `work` raises.
    """

    async def take() -> None:
        for thing in things:  # one iterator for all workers: each takes the next
            await work(thing)

    tasks = [asyncio.ensure_future(take()) for _ in range(workers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
