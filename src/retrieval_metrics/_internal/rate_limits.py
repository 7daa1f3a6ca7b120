"""Recognise the errors with which services ask for fewer calls, and read how long to wait."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from retrieval_metrics._internal.error_causes import iterate_causes

_REFUSAL_STATUSES = frozenset({429, 529})
# A busy service answers so too; it asks for a pause only if it says how long (Retry-After).
_UNAVAILABLE_STATUS = 503
# Names of classes of errors, and of codes that services give beside the status.
_REFUSAL_NAME = re.compile(r"rate_?limit|too_?many_?requests|resource_?exhausted|throttl|overloaded", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient[ _]quota|exceeded your current quota", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)(?:ec\w*|in\w*|our\w*)?\s*", re.IGNORECASE)
_ASKED_WAIT = re.compile(rf"(?:again|retry\w*|wait)[^.\d]{{0,20}}((?:{_DURATION.pattern})+)", re.IGNORECASE)
STATUS_ATTRIBUTES = ("status_code", "status", "code", "http_status")
_SECONDS_BY_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def is_rate_limit(error: BaseException) -> bool:
    """Return whether an error says that a service was called too often.

    Its status, its code, its class and its `Retry-After` tell so, those of its causes included. Its words do not: many
    errors repeat the query, which may be about rate limits or hold the number 429.

    Example:
        >>> is_rate_limit(KeyError("doc_id 429 not found"))
        False
    """
    for cause in iterate_causes(error):
        if _refuses(cause):
            return not _NO_QUOTA.search(str(cause))
    return False


def _refuses(error: BaseException) -> bool:
    statuses = _find_statuses(error)
    if statuses & _REFUSAL_STATUSES:
        return True
    if any(_REFUSAL_NAME.search(name) for name in (type(error).__name__, *_find_codes(error))):
        return True
    may_ask_to_wait = not statuses or _UNAVAILABLE_STATUS in statuses
    return may_ask_to_wait and _find_declared_wait(error) is not None


def find_asked_wait(error: BaseException) -> float | None:
    """Return the seconds that an error asks to wait, by a header, an attribute or its words; None if it does not.

    Example:
        >>> find_asked_wait(RuntimeError("Rate limit reached. Please try again in 1m2.5s."))
        62.5
    """
    for cause in iterate_causes(error):
        seconds = _find_declared_wait(cause)
        if seconds is not None:
            return seconds
        asked_wait = _ASKED_WAIT.search(str(cause))
        if asked_wait is not None:
            durations = _DURATION.findall(asked_wait[1])
            return sum(float(number) * _SECONDS_BY_UNIT[unit.lower()] for number, unit in durations)
    return None


def _find_declared_wait(error: BaseException) -> float | None:
    """Return the seconds that the headers or the `retry_after` of an error ask to wait; None if they do not."""
    for holder in (getattr(error, "response", None), error):
        seconds = _read_wait_header(getattr(holder, "headers", None))
        if seconds is not None:
            return seconds
    return _read_number(getattr(error, "retry_after", None))


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
    response = getattr(error, "response", None)
    for holder in (error, response):
        for name in STATUS_ATTRIBUTES:
            _add_status(getattr(holder, name, None), statuses)
    if isinstance(response, Mapping):  # as botocore has it
        metadata = response.get("ResponseMetadata")
        if isinstance(metadata, Mapping):
            _add_status(metadata.get("HTTPStatusCode"), statuses)
    return statuses


def _add_status(status: Any, statuses: set[int]) -> None:
    if isinstance(status, (int, str)) and str(status).isdigit():
        statuses.add(int(str(status)))


def _find_codes(error: BaseException) -> list[str]:
    """Return the names that services give to the reason: of botocore in the response, of gRPC in a method."""
    codes = []
    code = getattr(error, "code", None)
    if isinstance(code, str):
        codes.append(code)
    if any(base.__name__ == "RpcError" for base in type(error).__mro__) and callable(code):
        codes.append(str(getattr(code(), "name", "")))
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        reason = response.get("Error")
        if isinstance(reason, Mapping):
            codes.append(str(reason.get("Code", "")))
    return codes


def _read_number(value: Any) -> float | None:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def _seconds_until(date: Any) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
