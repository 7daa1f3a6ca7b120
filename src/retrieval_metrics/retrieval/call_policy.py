"""Call functions that may be slow or fail, several at a time, and wait where a service asks for it."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections import deque
from contextlib import suppress
from contextvars import copy_context
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from queue import SimpleQueue
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from retrieval_metrics._internal.validation import integer, positive_number

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Thing = TypeVar("Thing")
    Outcome: TypeAlias = tuple[Any, BaseException | None]


PAUSE = 0.5
"""Seconds before a failed call is repeated; doubled for each further attempt."""
LONGEST_PAUSE = 30.0


class FunctionCaller:
    """Calls one function; a synchronous function is called in a thread."""

    def __init__(self, function: Callable[..., Any], *, what: str, timeout: float | None, retries: int) -> None:
        """Take a function of a text."""
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
        self._pace = CallPacer()

    async def call(
        self,
        text: str,
        *,
        before: Callable[[], object] = lambda: None,
        after: Callable[[float], object],
        **options: Any,
    ) -> Any:
        """Return the result of the first attempt that succeeds; attempts refused by a rate limit do not count."""
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


async def run_concurrently(things: Iterator[Thing], work: Callable[[Thing], Awaitable[None]], workers: int) -> None:
    """Do `work` for each thing, for at most `workers` of them at a time."""

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


# A `ThreadPoolExecutor` waits for its threads, at the latest when the interpreter exits, so a call that hangs would
# keep the program from ending.


class Threads:
    """Threads that are reused, so that what a function keeps per thread, such as a connection, is reused."""

    def __init__(self) -> None:
        self._idle: list[_Thread] = []

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread, in the context of the caller, and return its result."""
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


# Recognise a service that asks for fewer calls, and let all its callers wait together.

FIRST_PAUSE = 1.0
"""Seconds to wait where the service does not say how long; doubled as long as it goes on refusing."""
LONGEST_PAUSE_RATE_LIMIT = 60.0
MARGIN = 0.02
"""Seconds added to what a service asks for, which may be rounded down."""
LONGEST_WAIT = 300.0
"""A service that asks for a longer wait than this has no quota left, which is an error and no limit of a rate."""
MOST_REFUSALS = 20
"""Refusals in a row after which the limit is reported as an error."""
CALLS_BEFORE_ONE_MORE = 5
"""Successful calls after which one more may be under way at once."""
SLOWER = 1.1
"""How much longer the intervals between calls are than those in which the service answered."""

_STATUSES = frozenset({429, 529})
_NAMES = re.compile(r"ratelimit|toomanyrequests|resourceexhausted|throttl|overloaded", re.IGNORECASE)
_WORDS = re.compile(r"\b(?:429|rate[ _-]?limit\w*|too many requests|throttl\w+)\b", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient[ _]quota|exceeded your current quota|billing", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)(?:ec\w*|in\w*|our\w*)?\s*", re.IGNORECASE)
_SAID = re.compile(rf"(?:again|retry\w*|wait)[^.\d]{{0,20}}((?:{_PART.pattern})+)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class CallPacer:
    """How fast a service may be called: learnt from its refusals, and kept by all its callers together."""

    def __init__(self) -> None:
        self._under_way = 0
        self._most: int | None = None
        self._resumed = 0.0
        self._next = 0.0
        self._interval = 0.0
        self._since: float | None = None
        self._pause = FIRST_PAUSE
        self._refusals = 0
        self._successes = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def start(self) -> None:
        """Wait until a call may begin, and count it as under way."""
        while True:
            now = monotonic()
            if now < self._resumed:
                await asyncio.sleep(self._resumed - now)
            elif self._most is not None and self._under_way >= (1 if self._refusals else self._most):
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                await turn
            else:
                self._under_way += 1
                self._since = now if self._since is None else self._since
                begin = max(now, self._next)
                self._next = begin + self._interval
                if begin > now:
                    await asyncio.sleep(begin - now)
                return

    def end(self) -> None:
        """Count a call as done, whatever came of it."""
        self._under_way -= 1
        self._wake()

    def succeeded(self) -> None:
        """Learn from a call that was not refused."""
        self._refusals = 0
        self._successes += 1
        if self._most is not None and self._successes % CALLS_BEFORE_ONE_MORE == 0:
            self._most += 1
            self._interval *= 0.9

    def refused(self, error: BaseException) -> bool:
        """Learn from a refusal; return whether it is worth waiting for."""
        said = wait_asked_for(error)
        self._refusals += 1
        if self._refusals > MOST_REFUSALS or (said or 0.0) > LONGEST_WAIT:
            return False
        now = monotonic()
        if self._refusals == 1:
            self._most = max(1, (self._under_way if self._most is None else min(self._most, self._under_way)) // 2)
        elif now >= self._resumed and said is None:  # not one of those that were under way at the first refusal
            self._pause = min(2 * self._pause, LONGEST_PAUSE_RATE_LIMIT)
        wait = self._pause if said is None else MARGIN + said
        self._resumed = max(self._resumed, now + wait)
        self._next = max(self._next, self._resumed)
        if self._successes and self._since is not None:
            # A service that asks for a short wait does not ask for longer ones between all calls.
            self._interval = min(SLOWER * (self._resumed - self._since) / self._successes, wait)
            self._successes, self._since = 0, self._resumed
        return True

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for turn in waiting:
            if not turn.done() and not turn.get_loop().is_closed():
                turn.set_result(None)


def is_rate_limit(error: BaseException) -> bool:
    """Return whether an error says that a service was called too often."""
    for one in causes(error):
        if _NO_QUOTA.search(str(one)):
            return False
        if _statuses(one) & _STATUSES or _NAMES.search(type(one).__name__) or _WORDS.search(str(one)):
            return True
    return False


def wait_asked_for(error: BaseException) -> float | None:
    """Return the seconds that an error asks to wait, by a header, an attribute or its words; None if it does not.

    Example:
        >>> wait_asked_for(RuntimeError("Rate limit reached. Please try again in 1m2.5s."))
        62.5
    """
    for one in causes(error):
        for holder in (getattr(one, "response", None), one):
            headers = getattr(holder, "headers", None)
            if headers is None or not hasattr(headers, "get"):
                continue
            if (seconds := _number(headers.get("retry-after-ms"))) is not None:
                return seconds / 1000
            value = headers.get("retry-after") or headers.get("Retry-After")
            if (seconds := _number(value)) is not None or (seconds := _until_date(value)) is not None:
                return seconds
        if (seconds := _number(getattr(one, "retry_after", None))) is not None:
            return seconds
        if said := _SAID.search(str(one)):
            return sum(float(number) * _SECONDS[unit.lower()] for number, unit in _PART.findall(said[1]))
    return None


def _statuses(error: BaseException) -> set[int]:
    holders = (error, getattr(error, "response", None))
    names = ("status_code", "status", "code", "http_status")
    found = [getattr(holder, name, None) for holder in holders for name in names]
    return {int(str(status)) for status in found if isinstance(status, (int, str)) and str(status).isdigit()}


def _number(value: Any) -> float | None:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return None


def _until_date(value: Any) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


# Read an error with what caused it: clients wrap the errors of what they use.

_OTHER_LOOP = re.compile(r"(?:different|another|other) (?:event )?loop|event loop is closed", re.IGNORECASE)

TWO_LOOPS_HINT = (
    "an asynchronous client works in one event loop only, and this one was used in another before: a synchronous call "
    "such as rm.retrieve has a loop of its own, and so has every asyncio.run. Use one style for this retriever, await "
    "rm.aretrieve or rm.retrieve; or give it a synchronous way, or a client of its own"
)
"""What to do where a client meets a second event loop."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, what caused that, and so on."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


def is_event_loop_error(error: BaseException) -> bool:
    """Return whether an asynchronous client failed because it was used in two event loops.

    Example:
        >>> is_event_loop_error(RuntimeError("<asyncio.locks.Event object> is bound to a different event loop"))
        True
    """
    return any(isinstance(one, RuntimeError) and _OTHER_LOOP.search(str(one)) for one in causes(error))
