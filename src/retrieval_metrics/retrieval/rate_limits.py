"""Recognise the errors with which services ask for fewer calls, and read how long to wait."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from retrieval_metrics.retrieval.error_causes import iterate_causes

_REFUSAL_STATUSES = frozenset({429, 529})
_REFUSAL_CLASS = re.compile(r"ratelimit|toomanyrequests|resourceexhausted|throttl|overloaded", re.IGNORECASE)
_REFUSAL_TEXT = re.compile(r"\b(?:429|rate[ _-]?limit\w*|too many requests|throttl\w+)\b", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient[ _]quota|exceeded your current quota|billing", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)(?:ec\w*|in\w*|our\w*)?\s*", re.IGNORECASE)
_ASKED_WAIT = re.compile(rf"(?:again|retry\w*|wait)[^.\d]{{0,20}}((?:{_DURATION.pattern})+)", re.IGNORECASE)
STATUS_ATTRIBUTES = ("status_code", "status", "code", "http_status")
_SECONDS_BY_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


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
