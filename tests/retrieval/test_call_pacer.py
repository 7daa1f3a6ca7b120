"""The pace of calls to a service that refuses some."""

import warnings
from types import SimpleNamespace

import pytest

from retrieval_metrics.retrieval import call_pacer
from retrieval_metrics.retrieval.call_pacer import FIRST_PAUSE, MARGIN, CallPacer
from retrieval_metrics.retrieval.event_loop import run_until_complete


@pytest.mark.parametrize(
    ("header", "waits"),
    [("", [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]), (": retry after 20 seconds", [20 + MARGIN] * 3)],
)
def test_a_service_that_refuses_again_is_left_alone_for_longer_unless_it_says_how_long(
    monkeypatch: pytest.MonkeyPatch, header: str, waits: list[float]
) -> None:
    now = [100.0]
    waited = []
    announced = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(call_pacer, "monotonic", lambda: now[0])
    monkeypatch.setattr(call_pacer, "asyncio", SimpleNamespace(sleep=wait))
    pace = CallPacer()
    for _ in range(4):
        run_until_complete(pace.start())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert pace.note_refusal(RuntimeError(f"429 Too Many Requests{header}"))
        announced.append(len(caught))
        pace.end()
    assert waited == pytest.approx(waits)
    assert announced == ([0, 1, 0, 0] if header == "" else [1, 0, 0, 0])  # once, unless the first pause is short
