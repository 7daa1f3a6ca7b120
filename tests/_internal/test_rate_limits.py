"""The errors of services that ask for fewer calls, and how long they ask to wait."""

from types import SimpleNamespace

import pytest

from retrieval_metrics._internal.rate_limits import find_asked_wait, is_rate_limit


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


def with_attributes(text: str, **attributes: object) -> Exception:
    error = RuntimeError(text)
    for name, value in attributes.items():
        setattr(error, name, value)
    return error


BOTO_ERROR = with_attributes(
    "An error occurred (ThrottlingException)",
    response={"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPStatusCode": 400}},
)


class RpcError(Exception):
    """An error as gRPC raises it."""

    def code(self) -> SimpleNamespace:
        return SimpleNamespace(name="RESOURCE_EXHAUSTED")


def test_an_error_of_grpc_has_its_code_in_a_method() -> None:
    assert is_rate_limit(RpcError("no"))


@pytest.mark.parametrize(
    ("error", "limited", "seconds"),
    [
        (with_response(429, {"retry-after": "7"}), True, 7.0),
        (with_attributes("no", retry_after=10**400), False, None),
        (with_response(429, {"retry-after-ms": "250"}), True, 0.25),
        (with_response(529, {}), True, None),
        (with_response(500, {"retry-after": "7"}), False, 7.0),
        (with_code(429), True, None),
        (with_code("429"), True, None),
        (with_code("context_length_exceeded"), False, None),  # some clients name the reason there
        (with_code(-429), False, None),
        (with_code(429.0), False, None),
        (ThrottlingException("rate exceeded"), True, None),
        (ThrottlingException("Please try again in 6m0s."), True, 360.0),
        (with_response(503, {"retry-after": "3"}), True, 3.0),
        (with_response(503, {}), False, None),
        (with_attributes("slow down", retry_after=4), True, 4.0),
        (with_code("rate_limit_exceeded"), True, None),
        (BOTO_ERROR, True, None),
        (with_attributes("You exceeded your current quota", status_code=429), False, None),
        (with_attributes("no answer to: who pays for billing?", status_code=429), True, None),
        # Words alone tell nothing: they may be those of the query.
        (RuntimeError("429 Too Many Requests: retry after 20 seconds"), False, 20.0),
        (KeyError("doc_id 429 not found"), False, None),
        (RuntimeError("no node for query 'How do I handle HTTP 429?'"), False, None),
        (ValueError("query: how to throttle requests: parse error"), False, None),
        (ValueError("question about rate limiting: unexpected token"), False, None),
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
