"""The errors of services that ask for fewer calls, and how long they ask to wait."""

from types import SimpleNamespace

import pytest

from retrieval_metrics.retrieval.rate_limits import find_asked_wait, is_rate_limit


class ThrottlingException(Exception):  # noqa: N818  (named as that of a cloud)
    pass


def with_response(status: int, headers: dict[str, str]) -> Exception:
    error = RuntimeError("no")
    error.response = SimpleNamespace(status_code=status, headers=headers)  # type: ignore[attr-defined]
    return error


def with_code(code: object) -> Exception:
    error = RuntimeError("no")
    error.code = code  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "limited", "seconds"),
    [
        (with_response(429, {"retry-after": "7"}), True, 7.0),
        (with_response(429, {"retry-after-ms": "250"}), True, 0.25),
        (with_response(529, {}), True, None),
        (with_response(500, {"retry-after": "7"}), False, 7.0),
        (with_code(429), True, None),
        (with_code("429"), True, None),
        (with_code("context_length_exceeded"), False, None),  # some clients name the reason there
        (with_code(-429), False, None),
        (with_code(429.0), False, None),
        (ThrottlingException("rate exceeded"), True, None),
        (RuntimeError("Rate limit reached for gpt. Please try again in 6m0s."), True, 360.0),
        (RuntimeError("429 Too Many Requests: retry after 20 seconds"), True, 20.0),
        (RuntimeError("Error code: 429 - insufficient_quota"), False, None),
        (RuntimeError("the 429th passage is broken: 4290"), False, None),
        (ValueError("HTTP 500"), False, None),
    ],
)
def test_errors_of_services(error: Exception, limited: bool, seconds: float | None) -> None:
    assert (is_rate_limit(error), find_asked_wait(error)) == (limited, seconds)


def test_what_caused_an_error_counts_too() -> None:
    error = ValueError("the chain failed")
    error.__cause__ = with_response(429, {"Retry-After": "2"})
    assert (is_rate_limit(error), find_asked_wait(error)) == (True, 2.0)
