"""Recognise a service that asks for fewer calls, and let all its callers wait together."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any

from retrieval_metrics.retrieving.causes import causes

FIRST_PAUSE = 1.0
"""Seconds to wait where the service does not say how long; doubled as long as it goes on refusing."""
LONGEST_PAUSE = 60.0
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


class Pace:
    """How fast a service may be called: learnt from its refusals, and kept by all its callers together.

    After a refusal nobody calls until the pause is over; then one call goes first. The pause is what the service asks
    for, or else the one that was long enough last time, doubled as long as it is too short. From then on calls begin at
    even intervals: those in which the service answered before, waiting included. For every five calls that succeed,
    the interval is a tenth shorter and one more call may be under way; half as many may after a refusal.
    """

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
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
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
