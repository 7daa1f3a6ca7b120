"""A service that asks for fewer calls is recognised, by whatever it says it with."""

from types import SimpleNamespace

import pytest

from retrieval_metrics.retrieval import call_policy as calling
from retrieval_metrics.retrieval.call_policy import (
    FIRST_PAUSE,
    MARGIN,
    MAX_WAIT,
    FunctionCaller,
    find_asked_wait,
    is_rate_limit,
)
from retrieval_metrics.retrieval.event_loop import run_until_complete


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


def test_a_wait_of_hours_is_an_error() -> None:
    calls: list[str] = []

    def spent(text: str) -> str:
        calls.append(text)
        raise with_response(429, {"retry-after": str(MAX_WAIT + 1)})

    caller = FunctionCaller(spent, name="model", timeout=None, retries=5)
    with pytest.raises(RuntimeError, match="no"):
        run_until_complete(caller.call("a", after=lambda _: None))
    assert calls == ["a"]


@pytest.mark.parametrize(
    ("header", "waits"),
    [("", [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]), (": retry after 20 seconds", [20 + MARGIN] * 3)],
)
def test_a_service_that_refuses_again_is_left_alone_for_longer_unless_it_says_how_long(
    monkeypatch: pytest.MonkeyPatch, header: str, waits: list[float]
) -> None:
    now = [100.0]
    waited = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(calling, "monotonic", lambda: now[0])
    monkeypatch.setattr(calling, "asyncio", SimpleNamespace(sleep=wait))
    pace = calling.CallPacer()
    for _ in range(4):
        run_until_complete(pace.start())
        assert pace.note_refusal(RuntimeError(f"429 Too Many Requests{header}"))
        pace.end()
    assert waited == pytest.approx(waits)
