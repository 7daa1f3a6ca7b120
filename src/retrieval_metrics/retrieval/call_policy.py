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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from retrieval_metrics._internal.validation import integer, positive_number

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    JobT = TypeVar("JobT")


# Seconds before a failed call is repeated; doubled for each further attempt, but never longer.
PAUSE = 0.5
MAX_PAUSE = 30.0


class FunctionCaller:
    """Calls one function; a synchronous function is called in a thread."""

    def __init__(self, function: Callable[..., Any], *, name: str, timeout: float | None, retries: int) -> None:
        """Take a function of a text, and what messages call it."""
        self._function = function
        self._name = name
        call_method = getattr(type(function), "__call__", None)  # noqa: B004  (what it is, not whether it is there)
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call_method)
        self._timeout = None if timeout is None else positive_number(timeout, "timeout")
        self._retries = integer(retries, "retries")
        if self._retries < 0:
            raise ValueError(f"retries must not be negative, got {retries!r}")
        self._threads = Threads()
        self._pacer = CallPacer()

    async def call(
        self,
        text: str,
        *,
        before: Callable[[], object] = lambda: None,
        after: Callable[[float], object],
        **options: Any,
    ) -> Any:
        """Return the result of the first attempt that succeeds; attempts refused by a rate limit do not count."""
        n_failed = 0
        while True:
            await self._pacer.start()
            try:
                before()
                try:
                    answer = await self._attempt(partial(self._function, text, **options), after)
                except Exception as error:
                    is_refused = is_rate_limit(error)
                    if is_refused:
                        may_retry = self._pacer.note_refusal(error)
                    else:
                        may_retry = n_failed < self._retries
                    if not may_retry:
                        raise
                else:
                    self._pacer.note_success()
                    return answer
            finally:
                self._pacer.end()
            if not is_refused:
                await asyncio.sleep(min(PAUSE * 2**n_failed, MAX_PAUSE))
                n_failed += 1

    async def _attempt(self, function: Callable[[], Any], after: Callable[[float], object]) -> Any:
        start = perf_counter()
        try:
            async with asyncio.timeout(self._timeout) as limit:
                if self._is_async:
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
                raise RuntimeError(f"the {self._name} cancelled the call itself") from error
            raise
        finally:
            after(perf_counter() - start)

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


# Recognise a service that asks for fewer calls, and let all its callers wait together.

# Seconds to wait where the service does not say how long; doubled as long as it goes on refusing.
FIRST_PAUSE = 1.0
MAX_REFUSAL_PAUSE = 60.0
# Seconds added to what a service asks for, which may be rounded down.
MARGIN = 0.02
# A service that asks for a longer wait than this has no quota left, which is an error and no limit of a rate.
MAX_WAIT = 300.0
# Refusals in a row after which the limit is reported as an error.
MAX_REFUSALS = 20
# Successful calls after which one more may be under way at once.
CALLS_BEFORE_ONE_MORE = 5
# How much shorter the intervals between calls are then.
FASTER = 0.9
# How much longer the intervals between calls are than those in which the service answered.
SLOWER = 1.1

_REFUSAL_STATUSES = frozenset({429, 529})
_REFUSAL_CLASS = re.compile(r"ratelimit|toomanyrequests|resourceexhausted|throttl|overloaded", re.IGNORECASE)
_REFUSAL_TEXT = re.compile(r"\b(?:429|rate[ _-]?limit\w*|too many requests|throttl\w+)\b", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient[ _]quota|exceeded your current quota|billing", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)(?:ec\w*|in\w*|our\w*)?\s*", re.IGNORECASE)
_ASKED_WAIT = re.compile(rf"(?:again|retry\w*|wait)[^.\d]{{0,20}}((?:{_DURATION.pattern})+)", re.IGNORECASE)
STATUS_ATTRIBUTES = ("status_code", "status", "code", "http_status")
_SECONDS_BY_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class CallPacer:
    """How fast a service may be called: learnt from its refusals, and kept by all its callers together."""

    def __init__(self) -> None:
        self._n_running = 0
        # How many calls may be under way at once; None until the service first refuses one.
        self._max_running: int | None = None
        # Times of `monotonic`: no call begins before the first, and the next call begins at the second.
        self._resumed = 0.0
        self._next_start = 0.0
        # Seconds between the starts of two calls.
        self._interval = 0.0
        # Since when the successes are counted; None before the first call.
        self._counted_since: float | None = None
        self._pause = FIRST_PAUSE
        self._n_refusals = 0
        self._n_successes = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def start(self) -> None:
        """Wait until a call may begin, and count it as under way."""
        while True:
            now = monotonic()
            if now < self._resumed:
                await asyncio.sleep(self._resumed - now)
            elif self._is_full():
                turn = asyncio.get_running_loop().create_future()
                self._waiting.append(turn)
                await turn
            else:
                self._n_running += 1
                if self._counted_since is None:
                    self._counted_since = now
                begin = max(now, self._next_start)
                self._next_start = begin + self._interval
                if begin > now:
                    await asyncio.sleep(begin - now)
                return

    def _is_full(self) -> bool:
        if self._max_running is None:
            return False
        # After a refusal a single call tries whether the service answers again.
        max_running = 1 if self._n_refusals else self._max_running
        return self._n_running >= max_running

    def end(self) -> None:
        """Count a call as done, whatever came of it."""
        self._n_running -= 1
        self._wake()

    def note_success(self) -> None:
        """Learn from a call that was not refused."""
        self._n_refusals = 0
        self._n_successes += 1
        if self._max_running is not None and self._n_successes % CALLS_BEFORE_ONE_MORE == 0:
            self._max_running += 1
            self._interval *= FASTER

    def note_refusal(self, error: BaseException) -> bool:
        """Learn from a refusal; return whether it is worth waiting for."""
        asked_wait = find_asked_wait(error)
        self._n_refusals += 1
        if self._n_refusals > MAX_REFUSALS or (asked_wait or 0.0) > MAX_WAIT:
            return False
        now = monotonic()
        if self._n_refusals == 1:
            max_running = self._n_running
            if self._max_running is not None:
                max_running = min(self._max_running, self._n_running)
            self._max_running = max(1, max_running // 2)
        elif now >= self._resumed and asked_wait is None:  # not one of those that were under way at the first refusal
            self._pause = min(2 * self._pause, MAX_REFUSAL_PAUSE)
        wait = self._pause if asked_wait is None else MARGIN + asked_wait
        self._resumed = max(self._resumed, now + wait)
        self._next_start = max(self._next_start, self._resumed)
        if self._n_successes and self._counted_since is not None:
            # A service that asks for a short wait does not ask for longer ones between all calls.
            counted_seconds = self._resumed - self._counted_since
            self._interval = min(SLOWER * counted_seconds / self._n_successes, wait)
            self._n_successes = 0
            self._counted_since = self._resumed
        return True

    def _wake(self) -> None:
        waiting = self._waiting
        self._waiting = deque()
        for turn in waiting:
            if not turn.done() and not turn.get_loop().is_closed():
                turn.set_result(None)


def is_rate_limit(error: BaseException) -> bool:
    """Return whether an error says that a service was called too often."""
    for cause in iterate_causes(error):
        text = str(cause)
        if _NO_QUOTA.search(text):
            return False
        if _find_statuses(cause) & _REFUSAL_STATUSES:
            return True
        if _REFUSAL_CLASS.search(type(cause).__name__) or _REFUSAL_TEXT.search(text):
            return True
    return False


def find_asked_wait(error: BaseException) -> float | None:
    """Return the seconds that an error asks to wait, by a header, an attribute or its words; None if it does not.

    Example:
        >>> find_asked_wait(RuntimeError("Rate limit reached. Please try again in 1m2.5s."))
        62.5
    """
    for cause in iterate_causes(error):
        for holder in (getattr(cause, "response", None), cause):
            seconds = _read_wait_header(getattr(holder, "headers", None))
            if seconds is not None:
                return seconds
        seconds = _read_number(getattr(cause, "retry_after", None))
        if seconds is not None:
            return seconds
        asked_wait = _ASKED_WAIT.search(str(cause))
        if asked_wait is not None:
            durations = _DURATION.findall(asked_wait[1])
            return sum(float(number) * _SECONDS_BY_UNIT[unit.lower()] for number, unit in durations)
    return None


def _read_wait_header(headers: Any) -> float | None:
    """Return the seconds that the headers of a response ask to wait; None if they do not."""
    if headers is None or not hasattr(headers, "get"):
        return None
    milliseconds = _read_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after") or headers.get("Retry-After")
    seconds = _read_number(value)
    if seconds is None:
        seconds = _seconds_until(value)
    return seconds


def _find_statuses(error: BaseException) -> set[int]:
    """Return the HTTP statuses that an error and its response name."""
    statuses: set[int] = set()
    for holder in (error, getattr(error, "response", None)):
        for name in STATUS_ATTRIBUTES:
            status = getattr(holder, name, None)
            if isinstance(status, (int, str)) and str(status).isdigit():
                statuses.add(int(str(status)))
    return statuses


def _read_number(value: Any) -> float | None:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return None


def _seconds_until(date: Any) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


# Read an error with what caused it: clients wrap the errors of what they use.

_OTHER_LOOP = re.compile(r"(?:different|another|other) (?:event )?loop|event loop is closed", re.IGNORECASE)

# What to do where a client meets a second event loop.
TWO_LOOPS_HINT = (
    "an asynchronous client works in one event loop only, and this one was used in another before: a synchronous call "
    "such as rm.retrieve has a loop of its own, and so has every asyncio.run. Use one style for this retriever, await "
    "rm.aretrieve or rm.retrieve; or give it a synchronous way, or a client of its own"
)


def iterate_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, what caused that, and so on."""
    ids: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in ids:
        ids.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def is_event_loop_error(error: BaseException) -> bool:
    """Return whether an asynchronous client failed because it was used in two event loops.

    Example:
        >>> is_event_loop_error(RuntimeError("<asyncio.locks.Event object> is bound to a different event loop"))
        True
    """
    for cause in iterate_causes(error):
        if isinstance(cause, RuntimeError) and _OTHER_LOOP.search(str(cause)):
            return True
    return False
