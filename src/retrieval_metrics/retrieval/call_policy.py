"""Call functions that may be slow or fail, several at a time, and wait where a service asks for it."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from retrieval_metrics._internal.rate_limits import find_asked_wait, is_rate_limit
from retrieval_metrics._internal.validation import integer, positive_number
from retrieval_metrics.retrieval.call_pacer import MAX_REFUSALS, CallPacer
from retrieval_metrics.retrieval.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    JobT = TypeVar("JobT")


# Seconds before a failed call is repeated; doubled for each further attempt, but never longer.
PAUSE = 0.5
MAX_PAUSE = 30.0


class FunctionCaller:
    """Calls one function; a synchronous function is called in a thread."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str,
        timeout: float | None,
        retries: int,
        keep: Callable[[Any], Any] | None = None,
        is_patient: bool = False,
    ) -> None:
        """Take a function of a text, and what messages call it.

        Args:
            function: The function to call.
            name: What messages call it.
            timeout: Seconds of an attempt, and of the longest pause for a rate limit; None sets no limit.
            retries: How many times a failed or refused call is repeated.
            keep: Copies an answer before another call begins; None keeps the answer itself.
            is_patient: Wait for a rate limit as long as it lasts, unless `retries` is 0, and as long as it asks.
        """
        self._function = function
        self._keep = keep
        self._name = name
        call_method = getattr(type(function), "__call__", None)  # noqa: B004  (what it is, not whether it is there)
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call_method)
        self._timeout = None if timeout is None else positive_number(timeout, "timeout")
        self._retries = integer(retries, "retries")
        if self._retries < 0:
            raise ValueError(f"retries must not be negative, got {retries!r}")
        self._threads = Threads()
        self._pacer = CallPacer(name)
        self._max_refusals = self._retries
        self._max_wait = self._timeout
        if is_patient and self._retries:
            self._max_refusals = MAX_REFUSALS
            self._max_wait = None

    async def call(
        self,
        text: str,
        *,
        before: Callable[[], object] = lambda: None,
        after: Callable[[float], object],
        **options: Any,
    ) -> Any:
        """Return the result of the first attempt that succeeds; refusals by a rate limit are counted apart."""
        n_failed = 0
        n_refused = 0
        while True:
            async with self._pacer.turn(was_refused=n_refused > 0):
                before()
                try:
                    return await self._attempt(partial(self._function, text, **options), after)
                except Exception as error:
                    if is_rate_limit(error):
                        n_refused += 1
                        if not self._may_repeat_refused(error, n_refused):
                            error.add_note(
                                f"the {self._name} refused the call because of a rate limit; {self._advise(error)}"
                            )
                            raise
                        continue  # the next turn begins when the service may answer again
                    if n_failed == self._retries:
                        raise
            await asyncio.sleep(min(PAUSE * 2**n_failed, MAX_PAUSE))
            n_failed += 1

    def _may_repeat_refused(self, error: Exception, n_refused: int) -> bool:
        """Return whether a call may be repeated that the service refused so often, the last time with this error."""
        return n_refused <= self._max_refusals and self._pacer.note_refusal(error, max_wait=self._max_wait)

    def _advise(self, error: BaseException) -> str:
        """Return how to get an answer from a service that refused the last attempt."""
        asked_wait = find_asked_wait(error)
        if asked_wait is not None and self._max_wait is not None and asked_wait > self._max_wait:
            return f"it asks to wait {asked_wait:g} s, which is longer than timeout={self._max_wait:g}"
        return f"to wait for it, raise retries={self._retries}; to call it less often, lower workers="

    async def _attempt(self, function: Callable[[], Any], after: Callable[[float], object]) -> Any:
        start = perf_counter()
        try:
            async with asyncio.timeout(self._timeout) as limit:
                if self._is_async:
                    answer = function()
                else:
                    answer = await self._threads.call(self._call_and_keep, function)
                if inspect.isawaitable(answer):
                    answer = await answer
                    if self._keep is not None:
                        answer = self._keep(answer)
        except TimeoutError as error:
            if limit.expired():
                raise TimeoutError(f"no answer within {self._timeout:g} s") from error
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():  # cancelled by the function itself
                raise RuntimeError(f"the {self._name} cancelled the call itself") from error
            raise
        finally:
            after(perf_counter() - start)
        self._pacer.note_success()
        return answer

    def _call_and_keep(self, function: Callable[[], Any]) -> Any:
        # In the thread of the call, because the function may be called again before the event loop sees the answer.
        answer = function()
        if self._keep is None or inspect.isawaitable(answer):
            return answer
        return self._keep(answer)

    def end(self) -> None:
        """End the threads."""
        self._threads.end()


async def run_concurrently(jobs: Iterator[JobT], work: Callable[[JobT], Awaitable[None]], workers: int) -> None:
    """Do `work` for each job, for at most `workers` of them at a time."""

    async def work_on_next() -> None:
        for job in jobs:  # one iterator for all workers: each takes the next
            await work(job)

    tasks = [asyncio.ensure_future(work_on_next()) for _ in range(workers)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
