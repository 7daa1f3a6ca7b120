"""Slow down all callers of a service together when it asks for fewer calls."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING

from retrieval_metrics._internal.rate_limits import find_asked_wait
from retrieval_metrics._internal.warn import find_user_line, warn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Seconds to wait where the service does not say how long; doubled as long as it goes on refusing.
FIRST_PAUSE = 1.0
MAX_REFUSAL_PAUSE = 60.0

# Seconds added to what a service asks for, which may be rounded down.
MARGIN = 0.02

# A service that asks for a longer wait than this has no quota left, which is an error and no limit of a rate.
MAX_WAIT = 300.0

# Pauses of so many seconds are announced before they begin: the first one, and those after it.
LONG_PAUSE = 5.0
LONG_LATER_PAUSE = 1.0

# Seconds by which a refused call lets the others begin first: what is refused may be this call alone.
DEFERENCE = 0.01

# Refusals in a row after which the limit is reported as an error.
MAX_REFUSALS = 20

# Successful calls after which one more may run at once.
CALLS_BEFORE_ONE_MORE = 5

# How much shorter the intervals between calls are then.
FASTER = 0.9

# How much longer the intervals between calls are than those in which the service answered.
SLOWER = 1.1


class CallPacer:
    """How fast a service may be called: learnt from its refusals, and kept by all its callers together."""

    def __init__(self, name: str = "service") -> None:
        """Take what a warning calls the service."""
        self._name = name
        # Calls are made in another thread, where no line of user code is to be found.
        self._user_line = find_user_line()
        self._has_announced = False
        self._n_running = 0
        # How many calls may run at once; None until the service first refuses one.
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

    @asynccontextmanager
    async def turn(self, *, was_refused: bool = False) -> AsyncIterator[None]:
        """Wait until a call may begin, and count it as under way inside an `async with` statement.

        Args:
            was_refused: Whether the service has refused the call before; then others begin first.
        """
        await self.start(was_refused=was_refused)
        try:
            yield
        finally:
            self.end()

    async def start(self, *, was_refused: bool = False) -> None:
        """Wait until a call may begin, and count it as under way; one that was refused lets others begin first."""
        deference = DEFERENCE if was_refused else 0.0
        while True:
            now = monotonic()
            if now < self._resumed + deference:
                await asyncio.sleep(self._resumed + deference - now)
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
        self._pause = FIRST_PAUSE
        self._n_successes += 1
        if self._max_running is not None and self._n_successes % CALLS_BEFORE_ONE_MORE == 0:
            self._max_running += 1
            self._interval *= FASTER

    def note_refusal(self, error: BaseException, *, max_wait: float | None = None) -> bool:
        """Learn from a refusal; return whether it is worth waiting for.

        Args:
            error: The refusal, which may say how long to wait.
            max_wait: The longest pause in seconds: a service that asks for a longer one is not waited for.
        """
        asked_wait = find_asked_wait(error)
        self._n_refusals += 1
        longest = MAX_WAIT if max_wait is None else min(max_wait, MAX_WAIT)
        if self._n_refusals > MAX_REFUSALS or (asked_wait or 0.0) > longest:
            return False
        now = monotonic()
        is_after_pause = self._n_refusals > 1 and now >= self._resumed
        if self._n_refusals == 1:
            max_running = self._n_running
            if self._max_running is not None:
                max_running = min(self._max_running, self._n_running)
            self._max_running = max(1, max_running // 2)
        elif is_after_pause and asked_wait is None:  # not one of those that were under way at the first refusal
            self._pause = min(2 * self._pause, MAX_REFUSAL_PAUSE)
        wait = min(self._pause, longest) if asked_wait is None else MARGIN + asked_wait
        if wait >= (LONG_LATER_PAUSE if is_after_pause else LONG_PAUSE):
            self._announce(wait, error)
        self._resumed = max(self._resumed, now + wait)
        self._next_start = max(self._next_start, self._resumed)
        if self._n_successes and self._counted_since is not None:
            # A service that asks for a short wait does not ask for longer ones between all calls.
            counted_seconds = self._resumed - self._counted_since
            self._interval = min(SLOWER * counted_seconds / self._n_successes, wait)
            self._n_successes = 0
            self._counted_since = self._resumed
        return True

    def _announce(self, wait: float, error: BaseException) -> None:
        """Warn once that calls are waiting."""
        if self._has_announced:
            return
        self._has_announced = True
        warn(
            f"the {self._name} refuses calls because of a rate limit ({type(error).__name__}): waiting {wait:.3g} s "
            "before the next one, and again for as long as it refuses. To stop, press Ctrl+C; to fail at once, pass "
            "retries=0; to be refused less often, lower workers=",
            user_line=self._user_line,
        )

    def _wake(self) -> None:
        waiting = self._waiting
        self._waiting = deque()
        for turn in waiting:
            if not turn.done() and not turn.get_loop().is_closed():
                turn.set_result(None)
